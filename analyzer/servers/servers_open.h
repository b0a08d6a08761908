/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_OPEN_H
#define ANALYZER_SERVERS_SERVERS_OPEN_H
/*
 * servers_open.h - requests that are open: from their first byte read until their answer, or the
 * end of their connection, whatever the thread that has them sleeps in
 *
 * While a request is open, and then until the thread that answered it rests, each ns of the process
 * may have been for its client. That time is a window of the client's bill, and the most that the
 * bill can be.
 */
#include <stdbool.h>
#include <stdint.h>
#include "arena.h"

struct trace_servers;
struct trace_thread;
struct servers_process;
struct servers_thread;
struct server_request;
struct request_window;
struct endpoint;
struct set;
struct bill;

/* Open requests of a process, oldest first. */
struct open_list {
	struct request_window *first, *last;
	uint32_t nr;
	/* For open_prefetch() only: they may be freed by now. */
	const struct request_window *next_first;
	const struct server_request *next_request;
};

struct servers_opens {
	struct arena windows; /* owned */
	struct request_window *free;
	struct servers_process *serving; /* list of the processes that have read a request */
};

/**
 * open_only() - the one open request that @thread has; NULL: it has none or several, or that is not
 * known
 */
struct server_request *open_only(const struct servers_thread *thread);
/** open_held() - the number of requests that @thread has, and has not answered */
uint32_t open_held(const struct servers_thread *thread);
/** open_begin() - @process has read the first byte of @request, in @thread; NULL: not known */
void open_begin(struct trace_servers *s, struct servers_process *process, struct servers_thread *thread,
		struct server_request *request);
/** open_prefetch() - @process may read a message, for which its oldest one is forgotten */
void open_prefetch(const struct servers_process *process);
/** open_handed() - another thread of its process handed the requests of @set to @thread */
void open_handed(struct trace_servers *s, struct servers_thread *thread, const struct set *set);
/** open_answered() - @thread answered @request: the first answer, or one more piece */
void open_answered(struct trace_servers *s, struct servers_thread *thread, struct server_request *request);
/** open_prove() - the call in which @thread answered @request is billed: its time is proven */
void open_prove(struct trace_servers *s, struct servers_thread *thread, struct server_request *request);
/** open_answers_unseen() - @thread answered a request that was not seen coming */
void open_answers_unseen(struct trace_servers *s, struct servers_thread *thread);
/**
 * open_unknown() - @thread has read a request of a client that is not known: nothing of what the
 * thread does is proven until it is answered
 * open_unknown_ends() - @endpoint is answered, or closed
 */
void open_unknown(struct servers_thread *thread, struct endpoint *endpoint);
void open_unknown_ends(struct endpoint *endpoint);
/**
 * open_closes() - a descriptor of @endpoint is closed, which may be NULL
 *
 * Its requests may be over: the thread that has them may work on others. They are in its hand
 * until the last descriptor is released.
 */
void open_closes(struct trace_servers *s, struct endpoint *endpoint);
/** open_ended() - the connection at @endpoint is closed: its requests are over */
void open_ended(struct trace_servers *s, struct endpoint *endpoint);
/**
 * open_executed() - @thread has replaced its program: what the old one had read from pipes is gone
 * with its memory. Connections stay open.
 */
void open_executed(struct trace_servers *s, struct servers_thread *thread);
/** open_holds_pipes_only() - true if all requests that @thread has came through pipes */
bool open_holds_pipes_only(const struct servers_thread *thread);
/** open_rest() - @thread rests: it has finished with all that it answered */
void open_rest(struct trace_servers *s, struct servers_thread *thread);
/** open_count() - count the CPU time of @thread until now for the windows of its process */
void open_count(struct trace_servers *s, struct servers_thread *thread);
/** open_forget_all() - after a gap: what was open may be answered, or not */
void open_forget_all(struct trace_servers *s);
/** open_finish() - close all windows, at the end of the trace */
void open_finish(struct trace_servers *s);
/** open_drop() - release the open requests, without their windows */
void open_drop(struct trace_servers *s);
/** opens_free() - release all windows; no request is left */
void opens_free(struct servers_opens *opens);
/** open_proven() - the part of @bill, of @process, that is proven */
uint64_t open_proven(const struct servers_process *process, const struct bill *bill);
/** open_most() - the most that @bill, of @process, can be */
uint64_t open_most(const struct servers_process *process, const struct bill *bill);
#endif
