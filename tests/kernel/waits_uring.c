/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_uring.c - io_uring, with its system calls. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/io_uring.h>
#include "waits.h"

/* ---- io_uring, with its system calls ---- */

struct ring {
	int fd;
	uint32_t *sq_tail, *sq_mask, *sq_array, *cq_head, *cq_mask;
	struct io_uring_sqe *entries;
	struct io_uring_cqe *results;
};

static struct ring ring_with(unsigned int flags)
{
	struct io_uring_params p = {.flags = flags, .sq_thread_idle = 20};
	struct ring ring = {.fd = (int)syscall(SYS_io_uring_setup, 8, &p)};
	char *sq, *cq;

	if (ring.fd < 0)
		skip();
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * 4, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
		  IORING_OFF_SQ_RING);
	cq = mmap(NULL, p.cq_off.cqes + p.cq_entries * 16, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd,
		  IORING_OFF_CQ_RING);
	ring.entries = mmap(NULL, p.sq_entries * sizeof(struct io_uring_sqe), PROT_READ | PROT_WRITE, MAP_SHARED,
			    ring.fd, IORING_OFF_SQES);
	require(sq != MAP_FAILED && cq != MAP_FAILED && (void *)ring.entries != MAP_FAILED);
	ring.sq_tail = (uint32_t *)(sq + p.sq_off.tail);
	ring.sq_mask = (uint32_t *)(sq + p.sq_off.ring_mask);
	ring.sq_array = (uint32_t *)(sq + p.sq_off.array);
	ring.cq_head = (uint32_t *)(cq + p.cq_off.head);
	ring.cq_mask = (uint32_t *)(cq + p.cq_off.ring_mask);
	ring.results = (struct io_uring_cqe *)(cq + p.cq_off.cqes);
	return ring;
}

static struct ring ring_new(void)
{
	return ring_with(0);
}

/* Submits one request and waits for its result. */
static int ring_do(struct ring *ring, struct io_uring_sqe request)
{
	uint32_t tail = *ring->sq_tail, slot = tail & *ring->sq_mask, head = *ring->cq_head;
	int result;

	request.user_data = 7;
	ring->entries[slot] = request;
	ring->sq_array[slot] = slot;
	__atomic_store_n(ring->sq_tail, tail + 1, __ATOMIC_RELEASE);
	require(syscall(SYS_io_uring_enter, ring->fd, 1, 1, IORING_ENTER_GETEVENTS | IORING_ENTER_SQ_WAKEUP, NULL, 0) ==
		1);
	result = ring->results[head & *ring->cq_mask].res;
	__atomic_store_n(ring->cq_head, head + 1, __ATOMIC_RELEASE);
	return result;
}

static char ring_buffer[MIB];

static void ring_read(struct ring *ring, int fd, uint64_t offset, unsigned int flags)
{
	struct io_uring_sqe request = {.opcode = IORING_OP_READ,
				       .fd = fd,
				       .addr = (uint64_t)(uintptr_t)ring_buffer,
				       .off = offset,
				       .len = sizeof(ring_buffer),
				       .flags = (uint8_t)flags};

	require(ring_do(ring, request) > 0);
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
		ring_read(&c->ring, c->fds[0], i * MIB, c->flags);
}

static void uring_file(void)
{
	struct ring_context c = {.ring = ring_new()};

	c.fds[0] = cold_file();
	measure(wait_ring_file, &c);
}

#define RING(name, make, its_flags)                           \
	static void name(void)                                \
	{                                                     \
		struct ring_context c = {.flags = its_flags}; \
                                                              \
		c.ring = ring_new();                          \
		make(c.fds);                                  \
		wait_for_child(write_8, wait_ring, &c);       \
	}
RING(uring_pipe, make_pipe, 0)
RING(uring_unix, make_unix, 0)
RING(uring_worker, make_pipe, IOSQE_ASYNC)

/* A kernel thread polls for requests. */
static void uring_polled(void)
{
	struct ring_context c = {.ring = ring_with(IORING_SETUP_SQPOLL)};

	make_pipe(c.fds);
	wait_for_child(write_8, wait_ring, &c);
}

/* Reads and then syncs a file with nothing to write, in a chain; one call waits for both. */
static void wait_ring_chain(void *context)
{
	struct ring_context *c = context;
	struct ring *ring = &c->ring;
	struct io_uring_sqe requests[2] = {{.opcode = IORING_OP_READ,
					    .fd = c->fds[0],
					    .addr = (uint64_t)(uintptr_t)ring_buffer,
					    .len = 8,
					    .flags = IOSQE_IO_LINK},
					   {.opcode = IORING_OP_FSYNC, .fd = (int)c->flags}};

	for (uint32_t i = 0; i < 2; i++) {
		ring->entries[i] = requests[i];
		ring->sq_array[i] = i;
	}
	__atomic_store_n(ring->sq_tail, 2, __ATOMIC_RELEASE);
	require(syscall(SYS_io_uring_enter, ring->fd, 2, 2, IORING_ENTER_GETEVENTS, NULL, 0) == 2);
}

static void uring_chain(void)
{
	struct ring_context c = {.ring = ring_new()};
	int file = open(scratch_path("synced"), O_RDWR | O_CREAT, 0600);

	require(file >= 0 && !fsync(file));
	c.flags = (unsigned int)file;
	make_pipe(c.fds);
	wait_for_child(write_8, wait_ring_chain, &c);
}

static void wait_ring_timer(void *ring)
{
	struct {
		long long seconds, ns;
	} pause = {.ns = PAUSE_NS};
	struct io_uring_sqe request = {.opcode = IORING_OP_TIMEOUT, .addr = (uint64_t)(uintptr_t)&pause, .len = 1};

	require(ring_do(ring, request) == -62 /* ETIME */);
}

static void uring_timeout(void)
{
	struct ring ring = ring_new();

	measure(wait_ring_timer, &ring);
}

/* ---- files that the ring itself opens ---- */

/* The path of a file that is not in memory and not open in any process. */
static const char *cold_path(void)
{
	close(cold_file());
	return scratch_path("data");
}

static struct io_uring_sqe open_request(const char *path)
{
	return (struct io_uring_sqe){
		.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD, .addr = (uint64_t)(uintptr_t)path, .open_flags = O_RDONLY};
}

/* Opened by the ring, read by system calls. */
static void uring_open(void)
{
	struct ring ring = ring_new();
	int fds[1] = {ring_do(&ring, open_request(cold_path()))};

	require(fds[0] >= 0);
	measure(read_all, fds);
}

static void add_slots(const struct ring *ring)
{
	int none[2] = {-1, -1};

	if (syscall(SYS_io_uring_register, ring->fd, IORING_REGISTER_FILES, none, 2))
		skip();
}

/* No descriptor ever refers to it. */
static void uring_direct(void)
{
	struct ring_context c = {.ring = ring_new(), .flags = IOSQE_FIXED_FILE};
	struct io_uring_sqe request = open_request(cold_path());

	add_slots(&c.ring);
	c.fds[0] = 1;
	request.file_index = 1 + 1;
	require(ring_do(&c.ring, request) == 0);
	measure(wait_ring_file, &c);
}

static struct sockaddr_in address;
static int accepting;

static void connect_and_write(void *context)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	require(!connect(fd, (struct sockaddr *)&address, sizeof(address)));
	sleep_ns(PAUSE_NS);
	require(write(fd, "12345678", 8) == 8);
	sleep_ns(50 * MS);
}

static void listen_here(void)
{
	accepting = bound(SOCK_STREAM, &address);
	require(!listen(accepting, 5));
}

static struct io_uring_sqe accept_request(void)
{
	return (struct io_uring_sqe){.opcode = IORING_OP_ACCEPT, .fd = accepting};
}

static void wait_ring_accept(void *ring)
{
	require(ring_do(ring, accept_request()) >= 0);
}

static void uring_accept(void)
{
	struct ring ring = ring_new();

	listen_here();
	wait_for_child(connect_and_write, wait_ring_accept, &ring);
}

/* A connection that the ring accepted is read by system calls. */
static void uring_accepted(void)
{
	struct ring ring = ring_new();
	int fds[1];

	listen_here();
	child_that(connect_and_write, NULL);
	fds[0] = ring_do(&ring, accept_request());
	require(fds[0] >= 0);
	measure(read_8, fds);
}

/* The same in a slot, where only the ring reads it. */
static void wait_ring_accept_and_read(void *context)
{
	struct ring_context *c = context;
	struct io_uring_sqe request = accept_request();

	request.file_index = 0 + 1;
	require(ring_do(&c->ring, request) == 0);
	ring_read(&c->ring, 0, 0, IOSQE_FIXED_FILE);
}

static void uring_accepted_direct(void)
{
	struct ring_context c = {.ring = ring_new()};

	listen_here();
	add_slots(&c.ring);
	wait_for_child(connect_and_write, wait_ring_accept_and_read, &c);
}

/* Created and connected by the ring. */
static void serve_one(void *context)
{
	int fd = accept(accepting, NULL, NULL);

	sleep_ns(PAUSE_NS);
	require(write(fd, "12345678", 8) == 8);
	sleep_ns(50 * MS);
}

static void uring_socket(void)
{
	struct ring ring = ring_new();
	struct io_uring_sqe request = {.opcode = IORING_OP_SOCKET, .fd = AF_INET, .off = SOCK_STREAM};
	int fds[1];

	listen_here();
	child_that(serve_one, NULL);
	close(accepting);
	fds[0] = ring_do(&ring, request);
	if (fds[0] < 0)
		skip();
	request = (struct io_uring_sqe){.opcode = IORING_OP_CONNECT,
					.fd = fds[0],
					.addr = (uint64_t)(uintptr_t)&address,
					.off = sizeof(address)};
	require(ring_do(&ring, request) == 0);
	measure(read_8, fds);
}

const struct scenario uring_scenarios[] = {
	SCENARIO(uring_pipe),
	SCENARIO(uring_unix),
	SCENARIO(uring_worker),
	SCENARIO(uring_file),
	SCENARIO(uring_open),
	SCENARIO(uring_direct),
	SCENARIO(uring_accept),
	SCENARIO(uring_accepted),
	SCENARIO(uring_accepted_direct),
	SCENARIO(uring_socket),
	SCENARIO(uring_polled),
	SCENARIO(uring_timeout),
	SCENARIO(uring_chain),
	{NULL, NULL},
};
