/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_RING_USER_H
#define ANALYZER_SERVERS_SERVERS_RING_USER_H
/*
 * servers_ring_user.h - the users of io_uring: which requests a thread has taken from its ring, and
 * works on
 */
#include <stdint.h>

struct trace_servers;
struct trace_event;
struct servers_thread;
struct ring_op;
struct set;
struct cpu_time;

/**
 * ring_user_of() - the thread that @thread works for if the kernel made it for a ring, else itself.
 * NULL: not known.
 */
struct servers_thread *ring_user_of(struct trace_servers *s, struct servers_thread *thread);

#define POSITION_FOLLOWS (-1)

/**
 * ring_arrives() - the requests of @set came in for @user, with the result at @position of its ring
 * ring_set_position() - a later event shows the position
 */
void ring_arrives(struct trace_servers *s, struct servers_thread *user, struct set *set, int64_t position);
void ring_set_position(struct servers_thread *user, const struct set *set, int64_t position);
/**
 * ring_taken() - @user has taken @seen results from the ring until now
 *
 * So its time since its last bill was for the requests in these results, except for those for which
 * it submitted something before it took the next result.
 */
void ring_taken(struct trace_servers *s, struct servers_thread *user, uint32_t seen);
/**
 * ring_bill_worker() - bill a worker's time since its last bill to @set. Does nothing for other
 * threads.
 */
void ring_bill_worker(struct trace_servers *s, struct servers_thread *worker, const struct ring_op *op,
		      struct set *set);
/** ring_bill_user() - bill a user that makes no call to submit */
void ring_bill_user(struct trace_servers *s, struct servers_thread *user);
/** ring_enter() - at the entry of io_uring_enter(), with the known arguments */
void ring_enter(struct servers_thread *thread, const uint64_t *args, unsigned int nr);
/** ring_on_uring_enter() - uring_enter: how many results the thread has taken */
void ring_on_uring_enter(struct trace_servers *s, const struct trace_event *event);
/** ring_sleeps() - the thread sleeps in io_uring_enter() */
void ring_sleeps(struct trace_servers *s, struct servers_thread *thread);
void ring_exit(struct trace_servers *s, struct servers_thread *thread);
/** ring_reset() - after a gap: the thread's queue and answers are not known */
void ring_reset(struct servers_thread *thread);
#endif
