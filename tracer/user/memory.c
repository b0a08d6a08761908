/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * memory.c - the program memory of a process (user_memory.h): created once, by the first thread
 * that needs it, with system calls only
 *
 * A forked child inherits the mapping with its parent's flags, and user_state as zeros. It maps a
 * memory of its own over the inherited one, at the same address. So every tracepoint's pointer to
 * its flag stays valid, also for other threads that read it meanwhile.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "user.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 8U
#endif
#define FD_MIN		     200 /* our descriptor leaves small numbers to programs that expect to get them */
#define OFFER_TRIES	     4
#define EXIT_TRIES	     200
#define BELL_NAPS	     1000  /* of 0.1 ms */
#define UNCLAIMED_NAPS	     10000 /* of 0.1 ms: 1 s */
#define DEFAULT_SUBBUF_BYTES (256u << 10)
#define DEFAULT_NR_SUBBUFS   16u

/* Where the kernel writes a thread's CPU: glibc's registration, from 2.35. A thread without one
 * has a negative number there. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

const unsigned char user_flag_off = 0;
static struct user_state empty_state;
struct user_state *user_state = &empty_state;
struct user_options user_options;

/* Survives fork: the memory of this process, or of the one that it was forked from. */
static struct {
	struct user_memory *memory;
	uint64_t bytes;
	int fd;
	dev_t dev;
	ino_t ino;
	uint64_t epoch;
	uint64_t time_offset;
} own_memory = {.fd = -1};

uint64_t user_time_offset(void)
{
	return own_memory.time_offset;
}

/* ---- options from the environment ---- */

static uint32_t power_of_two(uint64_t value, uint32_t min, uint32_t max)
{
	uint32_t power = min;

	while (power < max && power * 2ULL <= value)
		power *= 2;
	return power;
}

/* TRACER_BUFFERS=SIZExNUMBER: bytes of a sub-buffer (K, M), and their number; or "off". */
static void read_options(void)
{
	const char *buffers = secure_getenv("TRACER_BUFFERS"), *blocking = secure_getenv("TRACER_BLOCKING");
	uint64_t bytes = DEFAULT_SUBBUF_BYTES, number = DEFAULT_NR_SUBBUFS;
	char *end;

	if (buffers && strcmp(buffers, "off") == 0)
		user_options.off = true;
	else if (buffers && isdigit((unsigned char)*buffers)) {
		bytes = strtoull(buffers, &end, 10);
		if (bytes > 1u << 30)
			bytes = 1u << 30;
		if (*end == 'K' || *end == 'k')
			bytes <<= 10, end++;
		else if (*end == 'M' || *end == 'm')
			bytes <<= 20, end++;
		if (*end == 'x' && isdigit((unsigned char)end[1]))
			number = strtoull(end + 1, NULL, 10);
	}
	user_options.subbuf_bytes = power_of_two(bytes, SUBBUF_MIN_BYTES, SUBBUF_MAX_BYTES);
	user_options.nr_subbufs = power_of_two(number, 2, 4096);
	if (blocking && isdigit((unsigned char)*blocking)) {
		uint64_t ms = strtoull(blocking, NULL, 10);

		user_options.blocking_ms = ms > 60000 ? 60000 : (uint32_t)ms;
	}
}

/* ---- properties of the machine ---- */

static size_t read_file(const char *path, char *text, size_t bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t got = fd < 0 ? -1 : read(fd, text, bytes - 1);

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/* The highest possible CPU number + 1. */
static uint32_t count_cpus(void)
{
	unsigned char mask[USER_MAX_RINGS / 8];
	const char *last;
	char text[256];
	uint32_t n = 0;
	long bytes;

	if (read_file("/sys/devices/system/cpu/possible", text, sizeof(text))) {
		last = text;
		for (const char *c = text; *c; c++)
			if (*c == '-' || *c == ',')
				last = c + 1;
		for (; isdigit((unsigned char)*last); last++)
			n = n * 10 + (uint32_t)(*last - '0');
		if (n < USER_MAX_RINGS)
			return n + 1;
	}
	bytes = syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask); /* returns the size of the kernel's CPU masks */
	return bytes > 0 ? (uint32_t)bytes * 8 : 64;
}

static uint32_t choose_clock(void)
{
#ifdef __x86_64__
	char text[32];

	if (read_file("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof(text)) &&
	    strncmp(text, "tsc\n", 4) == 0)
		return SUBBUF_CLOCK_TSC;
#endif
	return SUBBUF_CLOCK_MONOTONIC;
}

#define FIRST_TIME_NAMESPACE "time:[4026531834]" /* PROC_TIME_INIT_INO of Linux */

/*
 * "monotonic  SECONDS  NANOSECONDS": the offset that the time namespace of future children adds. A
 *             process that has called unshare() is still in its old namespace, mostly the first
 *             one, which adds nothing. For a namespace within another the kernel does not report
 *             the offset.
 */
static uint64_t read_time_offset(void)
{
	char text[256], *at;
	int64_t seconds, ns;
	ssize_t chars = readlink("/proc/self/ns/time", text, sizeof(text) - 1);

	if (chars == (ssize_t)strlen(FIRST_TIME_NAMESPACE) && strncmp(text, FIRST_TIME_NAMESPACE, (size_t)chars) == 0)
		return 0;
	if (!read_file("/proc/self/timens_offsets", text, sizeof(text)) || strncmp(text, "monotonic", 9) != 0)
		return 0;
	seconds = strtoll(text + 9, &at, 10);
	ns = strtoll(at, NULL, 10);
	return (uint64_t)(seconds * 1000000000 + ns);
}

/* ---- the memory ---- */

static int make_file(uint64_t bytes)
{
	char name[USER_MEMORY_NAME_BYTES];
	struct rlimit limit;
	int fd, high;

	/* Above the limit of file sizes the kernel would send SIGXFSZ instead of just refusing. */
	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < bytes))
		return -1;
	user_memory_name(secure_getenv("TRACER_SOCKET"), name);
	fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
	if (fd < 0)
		fd = (int)syscall(SYS_memfd_create, name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -1;
	high = fcntl(fd, F_DUPFD_CLOEXEC, FD_MIN);
	if (high >= 0) {
		close(fd);
		fd = high;
	}
	if (ftruncate(fd, (off_t)bytes) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Close the inherited descriptor, unless the program closed it and uses its
 * number for something else. */
static void close_inherited(void)
{
	struct stat status;

	if (own_memory.fd >= 0 && fstat(own_memory.fd, &status) == 0 && status.st_dev == own_memory.dev &&
	    status.st_ino == own_memory.ino)
		close(own_memory.fd);
	own_memory.fd = -1;
}

static void describe(struct user_memory *memory, uint64_t bytes, uint32_t nr_rings)
{
	memory->version = USER_MEMORY_VERSION;
	memory->clock = choose_clock();
	memory->total_bytes = bytes;
	memory->pid = (uint32_t)getpid();
	memory->max_events = USER_MAX_EVENTS;
	memory->nr_rings = nr_rings;
	memory->subbuf_bytes = user_options.subbuf_bytes;
	memory->nr_subbufs = user_options.nr_subbufs;
	memory->registry_bytes = USER_MAX_REGISTRY_BYTES;
	memory->flags_offset = 4096;
	memory->registry_offset = memory->flags_offset + USER_MAX_EVENTS;
	memory->conditions_offset = memory->registry_offset + USER_MAX_REGISTRY_BYTES;
	memory->rings_offset = memory->conditions_offset + USER_CONDITIONS_BYTES;
	memory->ring_stride = subbuf_ring_bytes(user_options.subbuf_bytes, user_options.nr_subbufs);
	memory->features = USER_FEATURE_OVERWRITE | USER_FEATURE_CONDITIONS;
	memory->magic = USER_MEMORY_MAGIC;
}

/* A child's memory begins with its parent's events and switches. */
static void inherit(struct user_memory *memory, const struct user_memory *from)
{
	uint64_t used = __atomic_load_n(&from->registry_used, __ATOMIC_ACQUIRE);

	memcpy((char *)memory + memory->flags_offset, (const char *)from + memory->flags_offset, USER_MAX_EVENTS);
	memcpy((char *)memory + memory->registry_offset, (const char *)from + memory->registry_offset, used);
	memory->registry_used = used;
	user_condition_inherit(memory, from);
	memory->new_flag = __atomic_load_n(&from->new_flag, __ATOMIC_RELAXED);
	memory->blocking = __atomic_load_n(&from->blocking, __ATOMIC_RELAXED);
}

/* Make the new memory that of the process. */
static void adopt(struct user_state *state, struct user_memory *memory, uint64_t bytes, int fd,
		  const struct stat *status)
{
	own_memory.memory = memory;
	own_memory.bytes = bytes;
	own_memory.fd = fd;
	own_memory.dev = status->st_dev;
	own_memory.ino = status->st_ino;
	__atomic_store_n(&state->memory, memory, __ATOMIC_SEQ_CST);
	state->flags = (unsigned char *)memory + memory->flags_offset;
	state->rings = (unsigned char *)memory + memory->rings_offset;
	state->ring_stride = memory->ring_stride;
	state->nr_rings = memory->nr_rings;
	state->subbuf_bytes = user_options.subbuf_bytes;
	state->nr_subbufs_log2 = (uint32_t)__builtin_ctz(user_options.nr_subbufs);
	state->clock = memory->clock;
	state->rseq_offset = &__rseq_offset ? __rseq_offset : 0;
	state->nr_windows = &__rseq_offset ? memory->nr_rings : 0;
	state->blocking_ms = user_options.blocking_ms;
}

/* Offer @memory to the daemons of the sockets; if there are none, to one that cannot be seen. */
static enum user_offer_result offer(int fd, const struct user_memory *memory, int tries, int naps)
{
	enum user_offer_result result = user_offer(fd, tries);

	return result == USER_NO_DAEMON ? user_bell(fd, memory, naps) : result;
}

/*
 * Set up a child's memory. It inherits its parent's switches, which no daemon may ever change for
 * it, so a daemon must take it. If no daemon reads the offer, the child has no memory, and its
 * events are counted in its parent's.
 */
static bool set_up_child(struct user_state *state, struct user_memory *memory, uint64_t bytes, int fd,
			 const struct stat *status)
{
	struct user_memory *at = own_memory.memory;
	bool made;

	inherit(memory, at);
	made = offer(fd, memory, OFFER_TRIES, BELL_NAPS) != USER_NOT_SENT &&
	       mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, fd, 0) != MAP_FAILED;
	munmap(memory, bytes);
	if (!made)
		return false;
	close_inherited();
	adopt(state, at, bytes, fd, status);
	return true;
}

/* Add the events counted before there was a memory. A counting thread re-checks for a memory after
 * adding, and the creating thread re-checks the counts after publishing the memory. So at least one
 * of them sees the other (store-load on both sides). */
static void add_unready(struct user_state *state)
{
	struct user_memory *memory = __atomic_load_n(&state->memory, __ATOMIC_SEQ_CST);
	uint64_t unready = memory ? __atomic_exchange_n(&state->unready, 0, __ATOMIC_SEQ_CST) : 0;

	if (unready)
		__atomic_fetch_add(&memory->unready, unready, __ATOMIC_RELAXED);
}

/* Set up the memory of a program that starts. If a daemon listens, record everything from the
 * start; the daemon then selects what it wants. If none does, record nothing until a daemon finds
 * this memory. */
static void set_up_fresh(struct user_state *state, struct user_memory *memory, uint64_t bytes, int fd,
			 const struct stat *status)
{
	enum user_offer_result result;

	memory->new_flag = 1;
	/* Publish it before a daemon has it: threads count missed events there from now
	 * on, in case we are killed. */
	__atomic_store_n(&state->memory, memory, __ATOMIC_SEQ_CST);
	add_unready(state);
	result = offer(fd, memory, OFFER_TRIES, BELL_NAPS);
	/* A daemon that has taken it already sets new_flag itself. */
	if (result == USER_NO_DAEMON && __atomic_load_n(&memory->daemon_pid, __ATOMIC_ACQUIRE) == 0)
		__atomic_store_n(&memory->new_flag, 0, __ATOMIC_RELAXED);
	state->offer_not_sent = result == USER_NOT_SENT;
	state->unclaimed_naps = result == USER_SENT ? UNCLAIMED_NAPS : 0;
	adopt(state, memory, bytes, fd, status);
}

static bool set_up(struct user_state *state)
{
	uint32_t nr_rings = own_memory.memory ? own_memory.memory->nr_rings : count_cpus();
	uint64_t bytes = 4096 + USER_MAX_EVENTS + USER_MAX_REGISTRY_BYTES + USER_CONDITIONS_BYTES +
			 (uint64_t)nr_rings * subbuf_ring_bytes(user_options.subbuf_bytes, user_options.nr_subbufs);
	struct user_memory *memory = MAP_FAILED;
	struct stat status;
	int fd = make_file(bytes);

	if (fd >= 0 && fstat(fd, &status) == 0)
		memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
	if (memory == MAP_FAILED) {
		if (!own_memory.memory && user_offer(-1, 1) != USER_SENT)
			user_bell_without_memory();
		if (fd >= 0)
			close(fd);
		return false;
	}
	own_memory.time_offset = read_time_offset();
	describe(memory, bytes, nr_rings);
	if (!own_memory.memory)
		set_up_fresh(state, memory, bytes, fd, &status);
	else if (!set_up_child(state, memory, bytes, fd, &status)) {
		close(fd);
		return false;
	}
	return true;
}

/* If the descriptor was closed, and its number may be something else, a daemon
 * can find us only in /proc. */
static void offer_again(struct user_state *state, int tries)
{
	struct stat status;
	enum user_offer_result result;

	if (__atomic_exchange_n(&state->offering, 1, __ATOMIC_ACQUIRE) != 0)
		return;
	if (fstat(own_memory.fd, &status) == 0 && status.st_dev == own_memory.dev && status.st_ino == own_memory.ino &&
	    __atomic_load_n(&state->memory->daemon_pid, __ATOMIC_RELAXED) == 0)
		result = offer(own_memory.fd, state->memory, tries, tries == EXIT_TRIES ? BELL_NAPS : 0);
	else
		result = USER_SENT;
	if (result == USER_NO_DAEMON && __atomic_load_n(&state->memory->daemon_pid, __ATOMIC_RELAXED) == 0) {
		__atomic_store_n(&state->memory->new_flag, 0, __ATOMIC_RELAXED);
		memset(state->flags, 0, USER_MAX_EVENTS);
	}
	if (result != USER_NOT_SENT)
		__atomic_store_n(&state->offer_not_sent, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&state->offering, 0, __ATOMIC_RELEASE);
}

void user_offer_again(struct user_state *state)
{
	if ((__atomic_fetch_add(&state->offer_not_sent, 1, __ATOMIC_RELAXED) & 15) == 15)
		offer_again(state, 1);
}

/* The last chance for an offer: here it may take a little time. */
static __attribute__((destructor)) void at_exit(void)
{
	struct user_state *state = __atomic_load_n(&user_state, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&state->epoch, __ATOMIC_ACQUIRE) != 0 &&
	    __atomic_load_n(&state->offer_not_sent, __ATOMIC_RELAXED) != 0)
		offer_again(state, EXIT_TRIES);
}

/* As many windows as there can be CPUs; the kernel allocates pages on first use. */
#define STATE_BYTES (sizeof(struct user_state) + USER_MAX_RINGS * sizeof(struct trace_window))

/* The pages of the state, created once in the life of a program and its descendants. */
static struct user_state *state_pages(void)
{
	struct user_state *state = __atomic_load_n(&user_state, __ATOMIC_ACQUIRE), *expected = &empty_state;

	if (state != &empty_state)
		return state;
	state = mmap(NULL, STATE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (state == MAP_FAILED)
		return NULL;
	if (madvise(state, STATE_BYTES, MADV_WIPEONFORK) != 0) {
		munmap(state, STATE_BYTES);
		return NULL;
	}
	read_options();
	if (!__atomic_compare_exchange_n(&user_state, &expected, state, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		munmap(state, STATE_BYTES);
		return expected;
	}
	return state;
}

struct user_state *user_ready(bool *ret_busy)
{
	struct user_state *state = state_pages();
	uint32_t phase = USER_NEW;
	bool made;

	if (!state || user_options.off)
		return NULL;
	if (__atomic_load_n(&state->epoch, __ATOMIC_ACQUIRE) != 0)
		return state;
	if (!__atomic_compare_exchange_n(&state->phase, &phase, USER_BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		*ret_busy = phase == USER_BUSY;
		return phase == USER_READY ? state : NULL;
	}
	made = set_up(state);
	if (made) {
		__atomic_store_n(&state->epoch, ++own_memory.epoch, __ATOMIC_RELEASE);
		add_unready(state);
	}
	__atomic_store_n(&state->phase, made ? USER_READY : USER_OFF, __ATOMIC_RELEASE);
	return made ? state : NULL;
}

void user_count_unready(void)
{
	struct user_state *state = __atomic_load_n(&user_state, __ATOMIC_ACQUIRE);
	struct user_memory *memory;

	if (state == &empty_state)
		return;
	memory = __atomic_load_n(&state->memory, __ATOMIC_ACQUIRE);
	if (memory) { /* in one step, so a kill loses at most this event */
		__atomic_fetch_add(&memory->unready, 1, __ATOMIC_RELAXED);
		return;
	}
	__atomic_fetch_add(&state->unready, 1, __ATOMIC_SEQ_CST);
	add_unready(state);
}

void user_count_for_parent(void)
{
	if (own_memory.memory && !user_options.off)
		__atomic_fetch_add(&own_memory.memory->unready, 1, __ATOMIC_RELAXED);
}

void user_leave_to_parent(struct trace_tracepoint *tracepoint)
{
	/* new_flag is 0 or 1, so its first byte has the same value. */
	const unsigned char *flag = own_memory.memory && !user_options.off
					    ? (const unsigned char *)&own_memory.memory->new_flag
					    : &user_flag_off;

	__atomic_store_n(&tracepoint->flag, flag, __ATOMIC_RELEASE);
}

void user_ring_ready(struct user_state *state, uint32_t cpu)
{
	unsigned char *memory = state->rings + cpu * state->ring_stride;
	struct subbuf_ring ring;

	if (__atomic_load_n(&((struct subbuf_control *)memory)->position, __ATOMIC_ACQUIRE) != 0)
		return;
	subbuf_ring_init(&ring, memory, state->subbuf_bytes, 1u << state->nr_subbufs_log2, cpu, SUBBUF_PRODUCER_USER,
			 (enum subbuf_clock)state->clock, false);
}
