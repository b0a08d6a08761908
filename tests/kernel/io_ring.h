/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_IO_RING_H
#define TESTS_IO_RING_H
/* io_ring.h - a ring of io_uring with its system calls, for the programs of these tests */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct ring {
	int fd;
	unsigned int queued; /* since the last submission */
	bool polled;	     /* by a kernel thread */
	bool answers;	     /* an answer is among the queued operations */
	uint32_t *sq_tail, *sq_mask, *sq_array, *sq_flags, *cq_head, *cq_tail, *cq_mask;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *results;
};

/* Returns false if the kernel refuses rings. */
static inline bool ring_make(struct ring *ring, unsigned int flags)
{
	struct io_uring_params p = {.flags = flags, .sq_thread_idle = 50};
	char *sq, *cq;

	memset(ring, 0, sizeof(*ring));
	ring->fd = (int)syscall(SYS_io_uring_setup, 64, &p);
	if (ring->fd < 0)
		return false;
	ring->polled = flags & IORING_SETUP_SQPOLL;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd,
		  IORING_OFF_CQ_RING);
	ring->entries = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED,
			     ring->fd, IORING_OFF_SQES);
	if (sq == MAP_FAILED || cq == MAP_FAILED || (void *)ring->entries == MAP_FAILED)
		abort();
	ring->sq_tail = (uint32_t *)(sq + p.sq_off.tail);
	ring->sq_mask = (uint32_t *)(sq + p.sq_off.ring_mask);
	ring->sq_array = (uint32_t *)(sq + p.sq_off.array);
	ring->sq_flags = (uint32_t *)(sq + p.sq_off.flags);
	ring->cq_head = (uint32_t *)(cq + p.cq_off.head);
	ring->cq_tail = (uint32_t *)(cq + p.cq_off.tail);
	ring->cq_mask = (uint32_t *)(cq + p.cq_off.ring_mask);
	ring->results = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return true;
}

static inline void ring_put(struct ring *ring, struct io_uring_sqe operation)
{
	uint32_t tail = *ring->sq_tail, slot = tail & *ring->sq_mask;

	ring->entries[slot] = operation;
	ring->sq_array[slot] = slot;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	ring->queued++;
}

/* Submits what is queued, and waits for @results. */
static inline void ring_enter(struct ring *ring, unsigned int results)
{
	unsigned int flags = results ? IORING_ENTER_GETEVENTS : 0, queued = ring->queued;

	ring->queued = 0;
	if (ring->polled) {
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(ring->sq_flags, __ATOMIC_RELAXED) & IORING_SQ_NEED_WAKEUP)
			flags |= IORING_ENTER_SQ_WAKEUP;
		else if (!results)
			return;
	}
	while (syscall(SYS_io_uring_enter, ring->fd, queued, results, flags, NULL, 0) < 0)
		if (errno != EINTR)
			abort();
}

/* Returns false if no result has come. */
static inline bool ring_take(struct ring *ring, struct io_uring_cqe *ret_result)
{
	uint32_t head = *ring->cq_head;

	if (head == __atomic_load_n(ring->cq_tail, __ATOMIC_ACQUIRE))
		return false;
	*ret_result = ring->results[head & *ring->cq_mask];
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}
#endif
