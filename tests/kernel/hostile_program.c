/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * hostile_program.c - a program that uses the memory protocol (<trace/user_memory.h>) to cost the
 * daemon as much as it can, and an honest program.
 *
 *	hostile_program UID COMMAND [NUMBER]
 *
 * It runs as user UID until it is killed; "honest" ends by itself.
 *
 * Only "honest" uses libtracer: it records NUMBER events honest:event within a second.
 */
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <trace/subbuf.h>
#include <trace/tracepoint.h>
#include <trace/user_memory.h>
#include <unistd.h>

/** struct memory - a program memory */
struct memory {
	int fd;
	unsigned char *data;
	struct user_memory *header;
};

/** struct shape - the dimensions of a memory */
struct shape {
	uint32_t nr_rings;
	uint32_t subbuf_bytes;
	uint32_t nr_subbufs;
	uint32_t max_events;
	uint32_t registry_bytes;
	uint64_t total_bytes; /* 0: the minimum */
};

static const struct shape small = {
	.nr_rings = 64, .subbuf_bytes = SUBBUF_MIN_BYTES, .nr_subbufs = 4, .max_events = 64, .registry_bytes = 4096};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void nap(long us)
{
	nanosleep(&(struct timespec){.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000}, NULL);
}

/* ---- memories ---- */

static struct memory make(const struct shape *shape)
{
	uint64_t registry = 4096 + ((uint64_t)shape->max_events + 4095) / 4096 * 4096,
		 rings = registry + shape->registry_bytes;
	uint64_t stride = subbuf_ring_bytes(shape->subbuf_bytes, shape->nr_subbufs),
		 total = rings + shape->nr_rings * stride;
	char name[USER_MEMORY_NAME_BYTES];
	struct memory memory;

	total = shape->total_bytes > total ? shape->total_bytes : total;
	user_memory_name(getenv("TRACER_SOCKET"), name);
	memory.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (memory.fd < 0 || ftruncate(memory.fd, (off_t)total) < 0 ||
	    fcntl(memory.fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
		_exit(3);
	memory.data = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, memory.fd, 0);
	if (memory.data == MAP_FAILED)
		_exit(3);
	memory.header = (struct user_memory *)(void *)memory.data;
	*memory.header = (struct user_memory){
		.magic = USER_MEMORY_MAGIC,
		.version = USER_MEMORY_VERSION,
		.clock = SUBBUF_CLOCK_MONOTONIC,
		.total_bytes = total,
		.pid = (uint32_t)getpid(),
		.max_events = shape->max_events,
		.nr_rings = shape->nr_rings,
		.subbuf_bytes = shape->subbuf_bytes,
		.nr_subbufs = shape->nr_subbufs,
		.registry_bytes = shape->registry_bytes,
		.flags_offset = 4096,
		.registry_offset = registry,
		.ring_stride = stride,
		.rings_offset = rings,
		.features = USER_FEATURE_OVERWRITE,
		.new_flag = 1,
	};
	return memory;
}

/* Unmaps the memory here; the daemon or another process may still map it. */
static void leave(struct memory *memory, bool keep_fd)
{
	munmap(memory->data, memory->header->total_bytes);
	if (!keep_fd)
		close(memory->fd);
}

static struct subbuf_ring ring_of(const struct memory *memory, uint32_t idx)
{
	unsigned char *at = memory->data + memory->header->rings_offset + idx * memory->header->ring_stride;

	return (struct subbuf_ring){(struct subbuf_control *)(void *)at, at + SUBBUF_CONTROL_BYTES,
				    memory->header->subbuf_bytes, memory->header->nr_subbufs};
}

static void set_up(const struct memory *memory, uint32_t idx)
{
	struct subbuf_ring ring = ring_of(memory, idx);

	subbuf_ring_init(&ring, ring.control, ring.subbuf_bytes, ring.nr_subbufs, idx, SUBBUF_PRODUCER_USER,
			 SUBBUF_CLOCK_MONOTONIC, false);
}

/* A sub-buffer that claims to be full, with a hole behind its header. */
static void fake_full(const struct subbuf_ring *ring, uint64_t seq)
{
	struct subbuf_header *header = subbuf_slot(ring, seq);

	header->base = now_ns();
	header->end = ring->subbuf_bytes;
	header->records_before = 0;
	header->seq = seq;
	__atomic_store_n(&header->commit, subbuf_commit_target(ring->subbuf_bytes, ring->nr_subbufs, seq),
			 __ATOMIC_RELEASE);
}

/* ---- the socket ---- */

static int connect_to_daemon(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("TRACER_SOCKET"));
	if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static bool offer(int memory_fd)
{
	struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, (uint32_t)getpid()};
	struct iovec vector = {&offer, sizeof(offer)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	int fd = connect_to_daemon();
	bool sent;

	if (fd < 0)
		return false;
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof(int));
	sent = sendmsg(fd, &message, MSG_NOSIGNAL) > 0;
	close(fd);
	return sent;
}

/* ---- attacks ---- */

/*
 * A memory with a ring for each possible CPU, each with an open block: each flush visits that CPU.
 * The program opens the blocks again.
 */
static void blocks(unsigned long nr)
{
	const struct shape shape = {.nr_rings = USER_MAX_RINGS,
				    .subbuf_bytes = SUBBUF_MIN_BYTES,
				    .nr_subbufs = 4,
				    .max_events = 64,
				    .registry_bytes = 4096};
	struct memory memories[16];

	nr = nr < 16 ? nr : 16;
	for (unsigned long m = 0; m < nr; m++) {
		memories[m] = make(&shape);
		for (uint32_t i = 0; i < shape.nr_rings; i++)
			set_up(&memories[m], i);
		offer(memories[m].fd);
	}
	for (;; nap(1000))
		for (unsigned long m = 0; m < nr; m++)
			for (uint32_t i = 0; i < shape.nr_rings; i++) {
				struct subbuf_ring ring = ring_of(&memories[m], i);
				uint64_t seq = ring.control->consumed + 1;

				if (subbuf_block_is_open(ring.control->block))
					continue;
				fake_full(&ring, seq);
				subbuf_slot(&ring, seq)->commit -= 8192;
				ring.control->cpu = i % 2;
				ring.control->position = seq << SUBBUF_OFFSET_BITS | ring.subbuf_bytes;
				ring.control->block_begin = ring.subbuf_bytes - 8192;
				__atomic_store_n(&ring.control->block,
						 (seq & SUBBUF_BLOCK_SEQ_MASK) << SUBBUF_BLOCK_SEQ_SHIFT |
							 (ring.subbuf_bytes - 4096),
						 __ATOMIC_RELEASE);
			}
}

static void mapped(unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++) {
		struct memory memory = make(&small);

		set_up(&memory, 0);
		offer(memory.fd);
		close(memory.fd);
	}
}

static void va(unsigned long nr)
{
	const struct shape shape = {.nr_rings = 1,
				    .subbuf_bytes = SUBBUF_MIN_BYTES,
				    .nr_subbufs = 4,
				    .max_events = 64,
				    .registry_bytes = 4096,
				    .total_bytes = USER_MAX_BYTES};

	for (unsigned long i = 0; i < nr; i++) {
		struct memory memory = make(&shape);

		offer(memory.fd);
		leave(&memory, true);
	}
}

/* Memories from separate processes, with the largest table of events. */
static void fds(unsigned long nr)
{
	const struct shape shape = {.nr_rings = 1,
				    .subbuf_bytes = SUBBUF_MIN_BYTES,
				    .nr_subbufs = 4,
				    .max_events = USER_MAX_EVENTS,
				    .registry_bytes = 4096};

	for (unsigned long i = 0; i < nr; i++)
		if (fork() == 0) {
			struct memory memory = make(&shape);

			set_up(&memory, 0);
			offer(memory.fd);
			for (;;)
				pause();
		}
}

/* Children offer memories and die at once; the parent keeps them mapped. */
static void kept(unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++) {
		struct memory memory = make(&small);
		pid_t child = fork();

		if (child == 0) {
			set_up(&memory, 0);
			offer(memory.fd);
			_exit(0);
		}
		waitpid(child, NULL, 0);
		close(memory.fd);
	}
}

/* Headers that claim full sub-buffers, with a hole of 16 MiB behind each. */
static void sparse_memories(unsigned long nr)
{
	const struct shape shape = {.nr_rings = 1,
				    .subbuf_bytes = SUBBUF_MAX_BYTES,
				    .nr_subbufs = 4,
				    .max_events = 64,
				    .registry_bytes = 4096};

	for (unsigned long i = 0; i < nr; i++) {
		struct memory memory = make(&shape);
		struct subbuf_ring ring = ring_of(&memory, 0);

		set_up(&memory, 0);
		for (uint64_t seq = 1; seq <= 4; seq++)
			fake_full(&ring, seq);
		ring.control->position = 4ull << SUBBUF_OFFSET_BITS | SUBBUF_MAX_BYTES;
		offer(memory.fd);
		leave(&memory, false);
	}
}

static void sparse(unsigned long nr)
{
	sparse_memories(nr);
}

static void sparse_dead(unsigned long nr)
{
	pid_t child = fork();

	if (child == 0) {
		sparse_memories(nr);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void ids(unsigned long nr)
{
	const struct shape shape = {.nr_rings = 1,
				    .subbuf_bytes = SUBBUF_MIN_BYTES,
				    .nr_subbufs = 4,
				    .max_events = USER_MAX_EVENTS,
				    .registry_bytes = USER_MAX_REGISTRY_BYTES};

	for (unsigned long m = 0; m < nr; m++) {
		struct memory memory = make(&shape);

		for (uint16_t id = 1; id < USER_MAX_EVENTS; id++) {
			unsigned char *at = memory.data + memory.header->registry_offset + memory.header->registry_used;
			struct user_event *event = (struct user_event *)(void *)at;
			char *text = (char *)(event + 1);
			int chars = snprintf(text, 40, "evil%lu%cevent%u%c", m, 0, id, 0);

			*event = (struct user_event){.bytes = sizeof(*event) + 48,
						     .id = id,
						     .payload_bytes = 4,
						     .text_bytes = 48,
						     .name = (uint16_t)(strlen(text) + 1),
						     .file = (uint16_t)chars,
						     .function = (uint16_t)chars};
			memory.header->registry_used += event->bytes;
		}
		offer(memory.fd);
	}
}

/* An unfinished record in each ring. */
static void stuck(unsigned long nr)
{
	for (unsigned long m = 0; m < nr; m++)
		if (fork() == 0) {
			struct memory memory = make(&small);

			for (uint32_t i = 0; i < small.nr_rings; i++) {
				struct subbuf_ring ring = ring_of(&memory, i);

				set_up(&memory, i);
				for (uint64_t seq = 1; seq < 4; seq++)
					fake_full(&ring, seq);
				subbuf_slot(&ring, 1)->commit -= 64;
				ring.control->flushing = 1ull << SUBBUF_OFFSET_BITS | 128;
				ring.control->position = 3ull << SUBBUF_OFFSET_BITS | ring.subbuf_bytes;
			}
			offer(memory.fd);
			for (;;)
				pause();
		}
}

/* A ring that the program fills as fast as the daemon drains it. */
static void spin(unsigned long nr)
{
	const struct shape shape = {.nr_rings = 1,
				    .subbuf_bytes = SUBBUF_MIN_BYTES,
				    .nr_subbufs = 4096,
				    .max_events = 64,
				    .registry_bytes = 4096};
	struct memory memory = make(&shape);
	struct subbuf_ring ring = ring_of(&memory, 0);

	(void)nr;
	set_up(&memory, 0);
	for (unsigned long i = 0; i < shape.nr_subbufs; i++)
		memset(subbuf_slot(&ring, i), 0, 4096 * 4);
	offer(memory.fd);
	for (uint64_t seq = 1;; seq++) {
		while (seq > __atomic_load_n(&ring.control->consumed, __ATOMIC_ACQUIRE) + shape.nr_subbufs - 1)
			;
		fake_full(&ring, seq);
		__atomic_store_n(&ring.control->position, seq << SUBBUF_OFFSET_BITS | ring.subbuf_bytes,
				 __ATOMIC_RELEASE);
	}
}

/* A memory that claims to belong to another daemon, which then ends; again and again. */
static void rescan(unsigned long nr)
{
	struct memory memory = make(&small);
	char path[64];
	int again;

	(void)nr;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory.fd);
	again = open(path, O_RDWR | O_CLOEXEC);
	flock(again, LOCK_EX);
	for (;; nap(1000)) {
		pid_t child = fork();

		if (child == 0) {
			nap(3000);
			_exit(0);
		}
		memory.header->daemon_pid = (uint32_t)child;
		offer(memory.fd);
		waitpid(child, NULL, 0);
	}
}

static void connections(unsigned long nr)
{
	(void)nr;
	for (;;) {
		int fd = connect_to_daemon();

		if (fd >= 0)
			close(fd);
	}
}

static void mute(unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++)
		connect_to_daemon();
}

/* Offers of a file that is no program memory. */
static void offers(unsigned long nr)
{
	int fd = memfd_create("nothing", MFD_CLOEXEC);

	(void)nr;
	for (;;)
		offer(fd);
}

/* Valid memories with nonsense in a ring, each from a process of its own. */
static void nonsense(unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++)
		if (fork() == 0) {
			struct memory memory = make(&small);

			set_up(&memory, 0);
			ring_of(&memory, 0).control->position = 1ull << 60;
			offer(memory.fd);
			for (;;)
				pause();
		}
}

/*
 * Full sub-buffers in a memory of @nr MiB without a hole: the end of its data is far behind each
 * sub-buffer. The program fills them again.
 */
static void dense(unsigned long nr)
{
	const struct shape shape = {.nr_rings = 1,
				    .subbuf_bytes = SUBBUF_MIN_BYTES,
				    .nr_subbufs = 1u << (31 - __builtin_clz((unsigned int)nr | 1)),
				    .max_events = 64,
				    .registry_bytes = 4096,
				    .total_bytes = (uint64_t)nr << 20};
	struct memory memory = make(&shape);
	struct subbuf_ring ring = ring_of(&memory, 0);

	set_up(&memory, 0);
	for (uint64_t at = memory.header->rings_offset + 4096; at < shape.total_bytes; at += 4096)
		memory.data[at] = 0;
	for (uint64_t seq = 1; seq < shape.nr_subbufs; seq++)
		fake_full(&ring, seq);
	ring.control->position = (uint64_t)(shape.nr_subbufs - 1) << SUBBUF_OFFSET_BITS | ring.subbuf_bytes;
	offer(memory.fd);
	for (uint64_t seq = shape.nr_subbufs;; seq++) {
		while (seq > __atomic_load_n(&ring.control->consumed, __ATOMIC_ACQUIRE) + shape.nr_subbufs - 1)
			nap(100);
		fake_full(&ring, seq);
		__atomic_store_n(&ring.control->position, seq << SUBBUF_OFFSET_BITS | ring.subbuf_bytes,
				 __ATOMIC_RELEASE);
	}
}

/* Calls the daemon through the kernel without a pause. */
static void bells(unsigned long nr)
{
	struct memory memory = make(&small);

	for (unsigned long i = 1; i < nr; i++)
		if (fork() == 0)
			break;
	for (;;) {
		flock(memory.fd, LOCK_SH | LOCK_NB);
		flock(memory.fd, LOCK_UN);
	}
}

/* Programs that offer a memory and end, one after the other. */
static void brief(unsigned long nr)
{
	for (unsigned long i = 1; i < nr; i++)
		if (fork() == 0)
			break;
	for (;;) {
		pid_t child = fork();

		if (child == 0) {
			struct memory memory = make(&small);

			for (uint32_t idx = 0; idx < 2; idx++) {
				struct subbuf_ring ring = ring_of(&memory, idx);

				set_up(&memory, idx);
				ring.control->position = 1ull << SUBBUF_OFFSET_BITS | 64;
			}
			offer(memory.fd);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* ---- an honest program ---- */

static void honest(unsigned long nr)
{
	for (unsigned long i = 0; i < nr; i++) {
		tracepoint(honest, event, i);
		if (i % (nr / 100 + 1) == 0)
			nap(10000);
	}
	exit(0);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned long nr);
	} commands[] = {
		{"blocks", blocks},
		{"mapped", mapped},
		{"va", va},
		{"fds", fds},
		{"kept", kept},
		{"sparse", sparse},
		{"sparse_dead", sparse_dead},
		{"ids", ids},
		{"stuck", stuck},
		{"spin", spin},
		{"rescan", rescan},
		{"connections", connections},
		{"mute", mute},
		{"offers", offers},
		{"nonsense", nonsense},
		{"dense", dense},
		{"bells", bells},
		{"brief", brief},
		{"honest", honest},
	};
	uid_t uid = argc > 2 ? (uid_t)atoi(argv[1]) : 0;

	signal(SIGPIPE, SIG_IGN);
	if (uid && (setgroups(0, NULL) < 0 || setresgid(uid, uid, uid) < 0 || setresuid(uid, uid, uid) < 0))
		return 2;
	for (size_t i = 0; argc > 2 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[2], commands[i].name) == 0) {
			commands[i].run(argc > 3 ? strtoul(argv[3], NULL, 0) : 1);
			for (;;)
				pause();
		}
	fprintf(stderr, "usage: hostile_program UID COMMAND [NUMBER]\n");
	return 2;
}
