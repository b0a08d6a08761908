/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_JSON_H
#define VISUALIZER_PROFILE_JSON_H
/* profile_json.h - schema trace-profile/1. Keys may be added, but never renamed. */
#include "json.h"
#include "profile_contexts.h"

/**
 * profile_json() - the profile, with the list that the chosen form has: "rows", "nodes", "callers",
 * "callees" or "folded"
 * @neighbours: of the chosen function; NULL for other forms
 */
void profile_json(const struct report *report, const struct profile_rows *rows,
		  const struct profile_neighbours *neighbours);
/** profile_code_json() - the profile, with the instructions of one function that have time */
void profile_code_json(const struct report *report, const struct profile_rows *rows, const struct pointers *code);
/** profile_lines_json() - the profile, with the lines of one source */
void profile_lines_json(const struct report *report, const struct profile_rows *rows, const struct pointers *lines);
#endif
