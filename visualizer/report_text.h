/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_TEXT_H
#define VISUALIZER_REPORT_TEXT_H
/* report_text.h - the text report of -a. */
#include "report.h"

/**
 * report_text() - the first paragraphs, the tables, the summary of the original, and a page for
 * each process
 */
void report_text(const struct report *report);
#endif
