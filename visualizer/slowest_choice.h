/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SLOWEST_CHOICE_H
#define VISUALIZER_SLOWEST_CHOICE_H
/*
 * slowest_choice.h - the parts of the search of slowest_find.h: what is searched for, and what of
 * it is chosen.
 */
#include "slowest_find.h"

/** slowest_parse() - the kinds and the name of NAME, scope:NAME, call:NAME or command:NAME */
void slowest_parse(struct slowest *slowest, const char *text);
/** slowest_finish() - after the pass: the instances that have not ended, and the losses */
void slowest_finish(struct slowest *slowest);
#endif
