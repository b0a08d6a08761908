// SPDX-License-Identifier: LGPL-2.1-or-later
/* waits_uring.c - io_uring, by its system calls. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/io_uring.h>
#include "waits.h"

/* ---- io_uring, by its system calls ---- */

struct ring {
	int fd;
	uint32_t *sq_tail, *sq_mask, *sq_array, *cq_head;
	struct io_uring_sqe *entries;
};

static struct ring ring_new(void)
{
	struct io_uring_params p = {0};
	struct ring ring = {.fd = (int)syscall(SYS_io_uring_setup, 8, &p)};
	char *sq, *cq;

	if (ring.fd < 0)
		skip();
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_CQ_RING);
	ring.entries = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQES);
	require(sq != MAP_FAILED && cq != MAP_FAILED && (void *)ring.entries != MAP_FAILED);
	ring.sq_tail = (uint32_t *)(sq + p.sq_off.tail);
	ring.sq_mask = (uint32_t *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (uint32_t *)(sq + p.sq_off.array);
	ring.cq_head = (uint32_t *)(cq + p.cq_off.head);
	return ring;
}

static char ring_buffer[MIB];

/* Submit one read and wait for it. */
static void ring_read(struct ring *ring, int fd, uint64_t offset, unsigned int flags)
{
	uint32_t tail = *ring->sq_tail, slot = tail & *ring->sq_mask;

	ring->entries[slot] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd, .addr = (uint64_t)(uintptr_t)ring_buffer,
						    .off = offset, .len = sizeof(ring_buffer), .flags = (uint8_t)flags, .user_data = 7};
	ring->sq_array[slot] = slot;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	require(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
}

struct ring_context {
	int fds[2];
	struct ring ring;
	unsigned int flags;
};

static void wait_ring(void *context)
{
	struct ring_context *c = context;

	ring_read(&c->ring, c->fds[0], 0, c->flags);
}

static void wait_ring_file(void *context)
{
	struct ring_context *c = context;

	for (uint64_t i = 0; i < 32; i++)
		ring_read(&c->ring, c->fds[0], i * MIB, 0);
}

static void uring_file(void)
{
	struct ring_context c = {.ring = ring_new()};

	c.fds[0] = cold_file();
	measure_off_cpu(wait_ring_file, &c);
}

#define RING(name, make, its_flags)                                \
	static void name(void)                                     \
	{                                                          \
		struct ring_context c = {.flags = its_flags};      \
                                                                   \
		c.ring = ring_new();                               \
		make(c.fds);                                       \
		wait_for_child(write_8, wait_ring, &c);            \
	}
RING(uring_pipe, make_pipe, 0)
RING(uring_unix, make_unix, 0)
RING(uring_worker, make_pipe, IOSQE_ASYNC)

const struct scenario uring_scenarios[] = {
	SCENARIO(uring_pipe), SCENARIO(uring_unix), SCENARIO(uring_worker), SCENARIO(uring_file), {NULL, NULL},
};

