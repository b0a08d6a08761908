/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_DIFF_CAUSE_H
#define VISUALIZER_DIFF_CAUSE_H
/*
 * diff_cause.h - why one run of a command took longer than another: --diff, --fail-above
 *
 * The critical path of a command covers its run without hole or overlap. So the differences of the
 * rows of two paths add up to the difference of the run times, to the nanosecond. Example: gzip,
 * sleep and sync ran one after another, and B took 190 ms longer: sleep (timeout) +200 ms, gzip
 * (user mode) -7 ms, sync (file) -3 ms.
 */
#include "json.h"
#include "report.h"

/**
 * diff_cause_begin() - before the pass: keep what the critical path of the recorded command needs
 * Sets @side->history, or leaves it NULL: no command was recorded.
 */
void diff_cause_begin(struct report *side);
/**
 * diff_title() - the name under which the times of the program @title of one trace are compared
 * Returns "the command" for the recorded commands, if that of A and that of B have two names, such
 * as ./old and ./new; else @title.
 */
const char *diff_title(const struct report sides[2], int side, const char *title);
/** diff_cause_put() - the greatest differences of the two critical paths, if there are two */
void diff_cause_put(const struct report sides[2]);
/**
 * diff_cause_json() - the run times, all rows of that table, and what --fail-above says
 */
void diff_cause_json(struct json *json, const struct report sides[2]);
/**
 * diff_is_above() - did the command of B run longer than the option --fail-above allows?
 * Returns 0; 1 after a message if it did, or if the run times are not known.
 */
int diff_is_above(const struct report sides[2]);
#endif
