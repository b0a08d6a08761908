/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_TURN_H
#define ANALYZER_SERVERS_SERVERS_TURN_H
/*
 * servers_turn.h - a thread that has several open requests answers one: which time was for it
 *
 * Requests are served in turn: the time before an answer is for the answered request. Answers that
 * come together, without CPU time between them, share the time before the first one.
 */
struct trace_servers;
struct servers_thread;
struct server_request;

/** turn_answers() - @thread has sent the answer to @request in its current call */
void turn_answers(struct trace_servers *s, struct servers_thread *thread, struct server_request *request);
/** turn_call_ends() - the call in which @thread answered ends */
void turn_call_ends(struct trace_servers *s, struct servers_thread *thread);
#endif
