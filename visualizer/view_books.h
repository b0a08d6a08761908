/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_BOOKS_H
#define VISUALIZER_VIEW_BOOKS_H
/*
 * view_books.h - the reports of a span: what --json and -d --json write with --from and --to
 *
 * Both make a pass of their own, so they use nothing of the session but its trace.
 */
#include <stdio.h>
#include "view_question.h"
#include "view_session.h"

/** view_books() - answer "books": schema trace-summary/1; without a span that of the whole trace */
void view_books(struct view_session *session, struct view_question *question, FILE *out);
/** view_books_window() - the window of @question in @report; without one that of the session */
void view_books_window(struct view_session *session, struct view_question *question, struct report *report);
/**
 * view_events() - answer "events": the first events from a time on, and where the next ones begin
 */
void view_events(struct view_session *session, struct view_question *question, FILE *out);
#endif
