/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_CALL_H
#define ANALYZER_SERVERS_SERVERS_CALL_H
/* servers_call.h - entry and exit of the system calls of threads that may serve */
#include <stdint.h>

struct trace_servers;
struct trace_event;
struct servers_thread;

/* indices of the arguments of a call, by syscalls.def; -1: it has no such argument */
struct call_places {
	int8_t fd, second_fd, bytes, flags;
};

struct servers_calls {
	uint8_t roles[2][1024]; /* enum call_role by ABI and number */
	struct call_places places[2][1024];
};

void servers_calls_prepare(struct trace_servers *s);
void call_on_enter(struct trace_servers *s, const struct trace_event *event);
void call_on_exit(struct trace_servers *s, const struct trace_event *event);
/** call_recover() - look up the call of @thread if its entry was not recorded */
void call_recover(struct trace_servers *s, struct servers_thread *thread);
/**
 * call_wakes_reader() - @writer wakes @woken: put the bytes that @writer is writing into the pipe
 * now
 */
void call_wakes_reader(struct trace_servers *s, struct servers_thread *writer, const struct servers_thread *woken);
/** call_reset() - after a gap: the call in progress is not known */
void call_reset(struct servers_thread *thread);
#endif
