/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_TABLES_H
#define VISUALIZER_VIEW_TABLES_H
/*
 * view_tables.h - the tables of calls, files, locks, scopes and costs of a span, without a pass for
 * each span
 *
 * The first question makes a pass in the background, which collects <trace/tables.h>. Until its
 * end, and for a trace with too many gaps, a page asks "count" and "books".
 */
#include <stdio.h>
#include "view_question.h"
#include "view_session.h"

/** view_tables() - answer "tables": the same rows as those of "books" */
void view_tables(struct view_session *session, struct view_question *question, FILE *out);
/** view_tables_are_wanted() - a question has asked for the pass, which has not ended */
bool view_tables_are_wanted(const struct view_session *session);
/**
 * view_tables_step() - the next step of that pass, until @until_ns
 * Returns 1 at its end, 0 if events are left. A pass that fails leaves no tables.
 */
int view_tables_step(struct view_session *session, uint64_t until_ns);
void view_tables_free(struct view_session *session);
#endif
