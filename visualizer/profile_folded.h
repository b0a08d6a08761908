/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_FOLDED_H
#define VISUALIZER_PROFILE_FOLDED_H
/* profile_folded.h - a stack as one line, outermost first: "make;main;(blocked) file x". */
#include "profile_rows.h"

/** profile_folded_ns() - the time in @node that --folded=on, off or all counts */
uint64_t profile_folded_ns(const struct profile_node *node, enum profile_part part);
/** profile_folded_text() - the names on the way to @node; a semicolon in a name becomes a colon */
void profile_folded_text(const struct profile_node *node, struct string *text);
/** profile_folded_put() - a line for each stack with time, and the time in ns */
void profile_folded_put(FILE *out, const struct profile_rows *rows, enum profile_part part);
#endif
