/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_WRITER_QUEUE_H
#define DAEMON_WRITER_QUEUE_H
/*
 * writer_queue.h - the queue from the thread that drains (the pusher) to the thread that writes
 * (the taker), on liburcu's wfcqueue
 *
 * The pusher has the higher priority and must not wait for the taker. With a mutex around the queue
 * it does: a taker that is preempted while it holds the mutex holds up the drain, and rings fill.
 * An enqueue of wfcqueue is one exchange and one store, so the pusher never waits. The taker waits
 * for the pusher in one case only: the pusher is between its exchange and its store.
 *
 * THREADS.md has the measurements. Sleep: the taker sleeps on a futex while the queue is empty.
 * Push and sleep are a store and a load each, in opposite order:
 *
 *	pusher                                  taker
 *	[Q1] enqueue                            [Q3] is_asleep = 1
 *	[Q2] is_asleep? then 0, and wake        [Q4] is the queue still empty? then sleep
 *
 * All four are sequentially consistent. If Q2 does not see Q3, then Q4 sees Q1, and the taker takes
 * the item. If Q2 sees Q3, the pusher wakes the taker. writer_queue_stop() is a push without an
 * item.
 *
 * One thread pushes, stops and drops; one other thread takes. The mutex inside struct cds_wfcq_head
 * is between take and drop; a push does not use it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <urcu/wfcqueue.h>

/**
 * struct writer_queue
 * @is_asleep: the futex: 1 while the taker sleeps or is about to
 */
struct writer_queue {
	struct cds_wfcq_head head;
	bool stopping;
	uint32_t is_asleep;
	struct cds_wfcq_tail tail __attribute__((aligned(64))); /* the pusher's cache line */
};

void writer_queue_init(struct writer_queue *queue);
void writer_queue_destroy(struct writer_queue *queue);

/**
 * writer_queue_push() - append @node, which an item contains; wait-free, but for waking the taker
 */
void writer_queue_push(struct writer_queue *queue, struct cds_wfcq_node *node);

/** writer_queue_take() - remove the first item; waits for one. NULL: empty and stopped */
struct cds_wfcq_node *writer_queue_take(struct writer_queue *queue);

/** writer_queue_drop() - the pusher removes the first item, beside the taker. NULL: empty */
struct cds_wfcq_node *writer_queue_drop(struct writer_queue *queue);

/** writer_queue_stop() - nothing is pushed any more: wake the taker for the rest */
void writer_queue_stop(struct writer_queue *queue);
#endif
