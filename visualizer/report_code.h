/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_CODE_H
#define VISUALIZER_REPORT_CODE_H
/* report_code.h - --asm: the instructions of a function with the time of each. */
#include "profile_code.h"

/**
 * report_code() - the instructions of a function as text
 * @code: from profile_code_of(), which also told @nr_others
 */
void report_code(const struct report *report, const struct pointers *code, size_t nr_others);
#endif
