/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PROFILE_TREE_H
#define VISUALIZER_REPORT_PROFILE_TREE_H
/* report_profile_tree.h - --profile=tree, --callers and --callees as text. */
#include "profile_contexts.h"

/** profile_tree_put() - the contexts with the most time, each below its caller */
void profile_tree_put(const struct report *report, const struct profile_rows *rows);
/** profile_neighbours_put() - the callers or the callees of the chosen function */
void profile_neighbours_put(const struct report *report, const struct profile_neighbours *neighbours);
#endif
