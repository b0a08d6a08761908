/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_BOOKS_H
#define VISUALIZER_VIEW_BOOKS_H
/*
 * view_books.h - the reports of a span: what --json and -d --json write with --from and --to
 *
 * Both make a pass of their own, so they use nothing of the session but its trace. But the report
 * of the whole trace is made in the pass of the bills, and an index has it: session.books. That of
 * a trace with samples is not, because it has names from the programs of this machine.
 */
#include <stdio.h>
#include "view_question.h"
#include "view_session.h"

/** view_books() - answer "books": schema trace-summary/1; without a span that of the whole trace */
void view_books(struct view_session *session, struct view_question *question, FILE *out);
/** view_books_are_kept() - true if the report of the whole trace is known, without a pass */
bool view_books_are_kept(const struct view_session *session);

struct view_books_pass;
/**
 * view_books_pass_new() - the pass that "books" needs for the span of @question; NULL, with an
 *	error of the question, if there is none
 * view_books_pass_step() - as trace_analysis_step()
 * view_books_pass_write() - the answer, once the pass has come to its end
 */
struct view_books_pass *view_books_pass_new(struct view_session *session, struct view_question *question);
struct view_books_pass *view_books_pass_free(struct view_books_pass *pass); /* NULL is fine; returns NULL */
int view_books_pass_step(struct view_books_pass *pass, uint64_t until_ns, struct trace_error *ret_error);
void view_books_pass_write(struct view_books_pass *pass, FILE *out);
/** view_books_pass_analysis() - that of the pass, borrowed */
const struct trace_analysis *view_books_pass_analysis(const struct view_books_pass *pass);

/** view_books_can_keep() - true if the pass of the bills is to make the whole trace's report */
bool view_books_can_keep(const struct view_session *session);
/**
 * view_books_begin() - prepare all that report_json() needs but the places of waits; before the
 *	pass of @report->analysis. false: @ret_error tells why
 * view_books_keep() - make the report of the whole trace, after that pass
 * view_books_end() - release what view_books_begin() made, but for the servers; also if it failed
 */
bool view_books_begin(struct report *report, struct trace_error *ret_error);
void view_books_keep(struct view_session *session, struct report *report);
void view_books_end(struct report *report);
/** view_books_window() - the window of @question in @report; without one that of the session */
void view_books_window(struct view_session *session, struct view_question *question, struct report *report);
/**
 * view_events() - answer "events": the first events from a time on, and where the next ones begin
 */
void view_events(struct view_session *session, struct view_question *question, FILE *out);
#endif
