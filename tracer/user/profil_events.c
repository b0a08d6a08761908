/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profil_events.c - ticks by perf events: the kernel's clock of CPU time, of each thread on each
 * CPU, with the user's address
 *
 * A perf event with a buffer belongs to one thread and one CPU, and threads that this thread begins
 * inherit it. A process that has one thread needs one event for each CPU. If it has more, each has
 * its own, and a thread that begins meanwhile may have several: profil_roots.h.
 *
 * All events of a CPU write to the buffer of its first one.
 */
#include <asm/perf_regs.h>
#include <dirent.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "profil_roots.h"
#include "profil_ticks.h"

#define MAX_BUFFER_PAGES 64 /* 256 KiB: 80 ms of two threads at the shortest period */
#define MAX_RECORD_BYTES 64 /* of the records that are read; others are skipped */

#ifdef __x86_64__
#define IP_REGISTER PERF_REG_X86_IP
#elif defined(__aarch64__)
#define IP_REGISTER PERF_REG_ARM64_PC
#endif

/**
 * struct profil_event - of the thread @tid; @id: in each of its ticks, and in those of its heirs
 */
struct profil_event {
	uint64_t id;
	pid_t tid;
	int fd;
};

/** struct profil_buffer - of one CPU. @fd: of the event that has it, -1: none yet */
struct profil_buffer {
	int fd;
	struct perf_event_mmap_page *page;
	size_t bytes; /* of the data behind the page */
};

static struct {
	struct profil_buffer *buffers; /* owned; by CPU */
	int nr_cpus;
	struct profil_event *events; /* owned; after begin() by id */
	size_t nr, room;
	size_t nr_threads; /* that have events of their own */
	struct profil_roots roots;
	uint64_t last_end, purged_end; /* the time of an end of a thread, in this drain and in the former one */
	uint64_t period_ns;
	pid_t own_tid;
	bool no_kernel; /* system time needs rights that the process does not have */
	bool old;	/* the kernel does not know inherit_thread */
} state;

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* ---- opening ---- */

static int open_event(pid_t tid, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = state.period_ns,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER,
		.sample_regs_user = 1ull << IP_REGISTER,
		.sample_id_all = 1,
		.inherit = 1,
		.inherit_thread = !state.old,
		.task = 1,
		.disabled = 1, /* and so are those of its heirs */
		.exclude_kernel = state.no_kernel,
		.exclude_hv = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Opens with the most that this kernel and these rights allow. */
static int open_allowed(pid_t tid, int cpu)
{
	int fd = open_event(tid, cpu);

	if (fd < 0 && errno == EINVAL && !state.old) {
		state.old = true;
		fd = open_event(tid, cpu);
	}
	if (fd < 0 && (errno == EACCES || errno == EPERM) && !state.no_kernel) {
		state.no_kernel = true;
		fd = open_event(tid, cpu);
	}
	return fd < 0 ? -errno : fd;
}

/* The largest buffer that the user's limit of locked memory allows. */
static int map_buffer(struct profil_buffer *buffer, int fd)
{
	for (size_t pages = MAX_BUFFER_PAGES; pages; pages /= 2) {
		size_t bytes = pages * page_bytes();
		void *page = mmap(NULL, page_bytes() + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

		if (page == MAP_FAILED)
			continue;
		*buffer = (struct profil_buffer){.fd = fd, .page = page, .bytes = bytes};
		return 0;
	}
	return -errno;
}

static int add_event(pid_t tid, int fd)
{
	struct profil_event *event, *bigger;

	if (state.nr == state.room) {
		bigger = reallocarray(state.events, state.room + 64, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		state.events = bigger;
		state.room += 64;
	}
	event = &state.events[state.nr];
	*event = (struct profil_event){.tid = tid, .fd = fd};
	if (ioctl(fd, PERF_EVENT_IOC_ID, &event->id) < 0)
		return -errno;
	state.nr++;
	return 0;
}

/* The events of one thread. A CPU that is off has none; a thread that has ended neither. */
static int open_thread(pid_t tid)
{
	for (int cpu = 0; cpu < state.nr_cpus; cpu++) {
		struct profil_buffer *buffer = &state.buffers[cpu];
		int fd = open_allowed(tid, cpu), err;

		if (fd == -ESRCH)
			return 0;
		if (fd == -ENODEV)
			continue;
		if (fd < 0)
			return fd;
		if (buffer->fd < 0)
			err = map_buffer(buffer, fd);
		else
			err = ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, buffer->fd) < 0 ? -errno : 0;
		if (!err)
			err = add_event(tid, fd);
		if (err) {
			if (buffer->fd != fd)
				close(fd);
			return err;
		}
	}
	return 0;
}

static bool has_events(pid_t tid)
{
	for (size_t i = 0; i < state.nr; i++)
		if (state.events[i].tid == tid)
			return true;
	return false;
}

static int visit_thread(void *context, pid_t tid)
{
	size_t *nr_new = context;

	if (tid == state.own_tid || has_events(tid))
		return 0;
	++*nr_new;
	state.nr_threads++;
	return open_thread(tid);
}

static int compare_ids(const void *a, const void *b)
{
	const struct profil_event *left = a, *right = b;

	return left->id < right->id ? -1 : left->id > right->id;
}

static void events_end(void)
{
	for (int cpu = 0; cpu < state.nr_cpus && state.buffers; cpu++)
		if (state.buffers[cpu].page)
			munmap(state.buffers[cpu].page, page_bytes() + state.buffers[cpu].bytes);
	for (size_t i = 0; i < state.nr; i++)
		close(state.events[i].fd);
	free(state.buffers);
	free(state.events);
	profil_roots_clear(&state.roots);
	memset(&state, 0, sizeof(state));
}

static int events_begin(uint64_t period_ns, pid_t own_tid)
{
	size_t nr_new;
	int err;

	memset(&state, 0, sizeof(state));
	state.period_ns = period_ns;
	state.own_tid = own_tid;
	state.nr_cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	state.buffers = calloc((size_t)state.nr_cpus, sizeof(*state.buffers));
	if (!state.buffers)
		return -ENOMEM;
	for (int cpu = 0; cpu < state.nr_cpus; cpu++)
		state.buffers[cpu].fd = -1;
	do {
		nr_new = 0;
		err = profil_each_thread(visit_thread, &nr_new);
	} while (!err && nr_new);
	if (!err && !state.nr)
		err = -ESRCH;
	if (err)
		events_end();
	else
		qsort(state.events, state.nr, sizeof(*state.events), compare_ids);
	return err;
}

static void events_start(void)
{
	for (size_t i = 0; i < state.nr; i++)
		ioctl(state.events[i].fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* ---- reading ---- */

/** struct profil_tick - a sample as the kernel writes it, behind its header */
struct profil_tick {
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t abi; /* 0: the thread has no user registers, and no address follows */
	uint64_t address;
};

/** struct profil_thread_end - as the kernel writes it, behind its header */
struct profil_thread_end {
	uint32_t pid, parent;
	uint32_t tid, parent_tid;
	uint64_t time;
};

static const struct profil_event *event_of(uint64_t id)
{
	struct profil_event key = {.id = id};

	return bsearch(&key, state.events, state.nr, sizeof(key), compare_ids);
}

static bool counts(const struct profil_tick *tick)
{
	const struct profil_event *event = event_of(tick->id);

	if (tick->pid != (uint32_t)getpid() || !event)
		return false;
	return state.nr_threads == 1 || profil_roots_count(&state.roots, tick->tid, (uint32_t)event->tid, tick->time);
}

static void copy_out(const struct profil_buffer *buffer, uint64_t at, void *into, size_t bytes)
{
	const char *data = (const char *)buffer->page + page_bytes();
	size_t first = buffer->bytes - at % buffer->bytes;

	if (first > bytes)
		first = bytes;
	memcpy(into, data + at % buffer->bytes, first);
	memcpy((char *)into + first, data, bytes - first);
}

/* Returns the ticks that the record says were lost. */
static uint64_t take_record(const struct perf_event_header *header, const char *body, profil_take_fn take, void *into)
{
	struct {
		uint64_t id, lost;
	} losses;
	struct profil_thread_end end;
	struct profil_tick tick = {0};

	switch (header->type) {
	case PERF_RECORD_SAMPLE:
		memcpy(&tick, body, sizeof(tick));
		if (counts(&tick))
			take(into, tick.abi ? tick.address : 0, 1);
		return 0;
	case PERF_RECORD_EXIT:
		memcpy(&end, body, sizeof(end));
		if (state.nr_threads > 1)
			profil_roots_end(&state.roots, end.tid, end.time);
		state.last_end = end.time;
		return 0;
	case PERF_RECORD_LOST:
		memcpy(&losses, body, sizeof(losses));
		return losses.lost;
	default:
		return 0;
	}
}

static uint64_t drain_buffer(const struct profil_buffer *buffer, profil_take_fn take, void *into)
{
	uint64_t head, at, lost = 0;

	if (!buffer->page)
		return 0;
	/* [P1] The kernel wrote all records below data_head before it. */
	head = __atomic_load_n(&buffer->page->data_head, __ATOMIC_ACQUIRE);
	for (at = buffer->page->data_tail; at < head;) {
		struct perf_event_header header;
		char body[MAX_RECORD_BYTES] = {0};
		size_t bytes;

		copy_out(buffer, at, &header, sizeof(header));
		if (header.size < sizeof(header))
			break;
		bytes = header.size - sizeof(header);
		copy_out(buffer, at + sizeof(header), body, bytes < sizeof(body) ? bytes : sizeof(body));
		lost += take_record(&header, body, take, into);
		at += header.size;
	}
	/* [P2] The kernel may write over what was read: pairs with its load of data_tail. */
	__atomic_store_n(&buffer->page->data_tail, at, __ATOMIC_RELEASE);
	return lost;
}

static uint64_t events_drain(profil_take_fn take, void *into)
{
	uint64_t lost = 0;

	for (int cpu = 0; cpu < state.nr_cpus; cpu++)
		lost += drain_buffer(&state.buffers[cpu], take, into);
	profil_roots_purge(&state.roots, state.purged_end);
	state.purged_end = state.last_end;
	return lost;
}

static void events_search(void)
{
}

/* The child has copies of the descriptors, but the kernel did not copy the buffers. */
static void events_forget(void)
{
	for (int cpu = 0; cpu < state.nr_cpus && state.buffers; cpu++)
		state.buffers[cpu].page = NULL;
	events_end();
}

static bool events_user_only(void)
{
	return state.no_kernel;
}

const struct profil_source profil_events = {
	.begin = events_begin,
	.start = events_start,
	.search = events_search,
	.drain = events_drain,
	.end = events_end,
	.forget = events_forget,
	.user_only = events_user_only,
};

/* ---- both sources ---- */

int profil_each_thread(int (*visit)(void *context, pid_t tid), void *context)
{
	DIR *folder = opendir("/proc/self/task");
	struct dirent *entry;
	int result = 0;

	if (!folder)
		return -errno;
	do {
		errno = 0;
		entry = readdir(folder);
		if (!entry)
			result = -errno; /* 0: the end */
		else if (entry->d_name[0] != '.')
			result = visit(context, (pid_t)atoi(entry->d_name));
	} while (entry && !result);
	closedir(folder);
	return result;
}
