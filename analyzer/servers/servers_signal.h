/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_SIGNAL_H
#define ANALYZER_SERVERS_SERVERS_SIGNAL_H
/* servers_signal.h - requests in shared memory, announced by a futex wakeup or an eventfd */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct trace_servers;
struct servers_process;
struct servers_thread;

struct servers_signals {
	struct hash_table words;	   /* process and address at which it wakes -> struct endpoint */
	struct servers_process *announced; /* list of the processes with pending requests */
};

/** signal_wakes() - @waker wakes @woken, a thread of another process */
void signal_wakes(struct trace_servers *s, struct servers_thread *waker, struct servers_thread *woken);
/** signal_without_waiter() - the wake call of @thread ended without a waiter to wake */
void signal_without_waiter(struct trace_servers *s, struct servers_thread *thread);
/** signal_is_eventfd() - true if @thread writes to an eventfd, and has woken no other process */
bool signal_is_eventfd(const struct trace_servers *s, const struct servers_thread *thread);
bool signal_is_private(uint64_t operation); /* @operation of a futex call */
bool signal_is_wake(uint64_t operation);
/** signals_drop_pending() - after a gap */
void signals_drop_pending(struct servers_signals *signals);
#endif
