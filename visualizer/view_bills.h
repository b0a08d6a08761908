/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_BILLS_H
#define VISUALIZER_VIEW_BILLS_H
/*
 * view_bills.h - the bills of servers in a view: a second pass, after that of the states.
 *
 * Bills cost as much as all states of the picture, and only the colours of clients need them. So
 * the first pass goes without servers, and the second one has an analysis of its own. If the view
 * is from an index, that pass also collects scopes and numbers over time. Both number
 * processes and threads in the same order: these functions find the process or thread of the other
 * analysis. The results of the servers are about the second analysis; all questions and answers of
 * a view are about the first one.
 */
#include "view_session.h"

/** view_bills_step() - the second pass: step @nr of @of; as view_session_step() */
int view_bills_step(struct view_session *session, unsigned int nr, unsigned int of);
/** view_bills_free() - NULL is fine; of a pass that has not ended, too */
void view_bills_free(struct view_session *session);

/** view_bills() - the servers, after the second pass; NULL: before, or there are none */
struct trace_servers *view_bills(const struct view_session *session);
/**
 * view_bills_shown() - the process of the view that is @billed in the bills; NULL: @billed is NULL
 */
const struct trace_process *view_bills_shown(const struct view_session *session, const struct trace_process *billed);
/** view_bills_shown_thread() - the same for a thread */
const struct trace_thread *view_bills_shown_thread(const struct view_session *session,
						   const struct trace_thread *billed);
/** view_bills_thread() - the thread of the bills that is @shown in the view; NULL: none */
const struct trace_thread *view_bills_thread(const struct view_session *session, const struct trace_thread *shown);
#endif
