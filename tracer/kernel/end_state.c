/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * end_state.c - what threads wait for when the recording ends, and titles that programs wrote by
 * then, read from /proc
 *
 * For each thread: the call that it is blocked in, the descriptors that a poll, a select or an
 * epoll waits for, and the holder of the file lock that a flock or fcntl waits for. For other waits
 * the event that ends them shows the cause; these have not ended.
 *
 * A child reads it (state_child.h). Reading takes about 20 us per thread, and nothing while
 * recording. After LONGEST_NS it stops; the remaining threads are not recorded.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "clock_ns.h"
#include "error_set.h"
#include "read_end.h"
#include "start_state.h"
#include "start_args.h"
#include "start_proc.h"
#include "start_record.h"
#include "state_child.h"

#define LONGEST_NS 200000000u
#define MAX_FDS	   256 /* per thread */
#define MAX_LOCKS  1024

/* One wait for a lock of a file. */
struct lock {
	char kind[8];		 /* "FLOCK", "POSIX" or "OFDLCK" */
	uint32_t waiter, holder; /* processes; 0: the kernel does not tell */
	unsigned long inode;
};

struct end_reader {
	struct tracer_collector *collector;
	uint64_t ts_ns; /* of all records */
	uint64_t stop_ns;
	enum trace_abi abi; /* of the current process */
	struct lock locks[MAX_LOCKS];
	size_t nr_locks;
};

/* The call of a blocked thread: number, six arguments. */
struct blocked {
	uint32_t tgid, tid;
	enum trace_abi abi;
	long nr;
	unsigned long args[6];
};

static bool read_text(char *text, size_t bytes, const char *path)
{
	int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	ssize_t got = fd >= 0 ? read(fd, text, bytes - 1) : -1;

	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0;
}

static bool read_memory(const struct blocked *b, unsigned long address, void *to, size_t bytes)
{
	struct iovec local = {to, bytes}, remote = {(void *)address, bytes};

	return address && process_vm_readv((pid_t)b->tid, &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* ---- descriptors: each function returns their number; -1: not known, or too many ---- */

static int fds_of_poll(const struct blocked *b, int *fds)
{
	struct pollfd list[MAX_FDS];
	int nr = 0;

	if (b->args[1] > MAX_FDS || (b->args[1] && !read_memory(b, b->args[0], list, b->args[1] * sizeof(*list))))
		return -1;
	for (unsigned long i = 0; i < b->args[1]; i++)
		if (list[i].fd >= 0)
			fds[nr++] = list[i].fd;
	return nr;
}

static int fds_of_select(const struct blocked *b, int *fds)
{
	unsigned long sets[3][FD_SETSIZE / (8 * sizeof(long))] = {{0}};
	unsigned long limit = b->args[0], words = (limit + 8 * sizeof(long) - 1) / (8 * sizeof(long));
	int nr = 0;

	if (limit > FD_SETSIZE)
		return -1;
	for (int i = 0; i < 3; i++)
		if (b->args[1 + i] && words && !read_memory(b, b->args[1 + i], sets[i], words * sizeof(long)))
			return -1;
	for (unsigned long fd = 0; fd < limit; fd++) {
		unsigned long word = fd / (8 * sizeof(long)), bit = 1ul << fd % (8 * sizeof(long));

		if (!((sets[0][word] | sets[1][word] | sets[2][word]) & bit))
			continue;
		if (nr == MAX_FDS)
			return -1;
		fds[nr++] = (int)fd;
	}
	return nr;
}

/* /proc/PID/fdinfo/FD of an epoll, proc(5): "tfd:        5 events:       1d data: ..." */
static int fds_of_epoll(const struct blocked *b, int *fds)
{
	char path[64], line[256];
	FILE *file;
	int nr = 0;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%d", b->tid, (int)b->args[0]);
	file = fopen(path, "re");
	if (!file)
		return -1;
	while (nr >= 0 && fgets(line, sizeof(line), file))
		if (strncmp(line, "tfd:", 4) == 0) {
			if (nr == MAX_FDS)
				nr = -1;
			else
				fds[nr++] = atoi(line + 4);
		}
	return read_end(file) < 0 ? -1 : nr;
}

static int fds_of(const struct blocked *b, int *fds)
{
	switch (b->abi == TRACE_ABI_NATIVE ? b->nr : -1) {
#ifdef SYS_poll
	case SYS_poll:
#endif
	case SYS_ppoll:
		return fds_of_poll(b, fds);
#ifdef SYS_select
	case SYS_select:
#endif
	case SYS_pselect6:
		return fds_of_select(b, fds);
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
	case SYS_epoll_pwait:
	case 441: /* epoll_pwait2 */
		return fds_of_epoll(b, fds);
	default:
		return -1;
	}
}

/* ---- locks ---- */

/* /proc/locks, proc(5): a holder "7: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF", and after it its
 * waiters: "7: -> FLOCK ...". Locks of open files have -1 as their process. */
static void read_locks(struct end_reader *reader)
{
	FILE *file = fopen("/proc/locks", "re");
	char line[256];
	int holder = 0, waiter;

	while (file && fgets(line, sizeof(line), file) && reader->nr_locks < MAX_LOCKS) {
		struct lock *lock = &reader->locks[reader->nr_locks];

		if (sscanf(line, "%*[^:]: -> %7s %*s %*s %d %*x:%*x:%lu", lock->kind, &waiter, &lock->inode) == 3) {
			lock->waiter = waiter > 0 ? (uint32_t)waiter : 0;
			lock->holder = holder > 0 ? (uint32_t)holder : 0;
			reader->nr_locks++;
		} else if (sscanf(line, "%*[^:]: %*s %*s %*s %d", &holder) != 1) {
			holder = 0;
		}
	}
	if (read_end(file) < 0) /* another holder of the same file may be in the rest */
		reader->nr_locks = 0;
}

/* The kind of lock that it waits for; NULL: for none of a file. */
static const char *lock_kind(const struct blocked *b)
{
	if (b->abi != TRACE_ABI_NATIVE)
		return NULL;
	if (b->nr == SYS_flock)
		return "FLOCK";
	if (b->nr == SYS_fcntl && b->args[1] == F_SETLKW)
		return "POSIX";
	return b->nr == SYS_fcntl && b->args[1] == F_OFD_SETLKW ? "OFDLCK" : NULL;
}

/* The inode of an open file, by the line "ino:" of /proc/PID/fdinfo/FD (Linux 5.14; 0 before): a
 * stat() would ask the file system, which may not answer. */
static unsigned long inode_of(const struct blocked *b)
{
	unsigned long inode = 0;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%d", b->tid, (int)b->args[0]);
	file = fopen(path, "re");
	while (file && !inode && fgets(line, sizeof(line), file))
		sscanf(line, "ino: %lu", &inode);
	return read_end(file) < 0 ? 0 : inode;
}

/*
 * The holder of the lock that it waits for: threads of its process may wait for other files, so the
 * wait is found by process and inode. 0: not known, also if two such waits have two holders.
 */
static uint32_t holder_of(const struct end_reader *reader, const struct blocked *b)
{
	const char *kind = lock_kind(b);
	unsigned long inode = kind ? inode_of(b) : 0;
	uint32_t holder = 0;

	for (size_t i = 0; inode && i < reader->nr_locks; i++) {
		const struct lock *lock = &reader->locks[i];

		if (strcmp(lock->kind, kind) != 0 || lock->waiter != b->tgid || lock->inode != inode)
			continue;
		if (holder && holder != lock->holder)
			return 0;
		holder = lock->holder;
	}
	return holder;
}

/* ---- threads ---- */

static int emit_blocked(struct end_reader *reader, const struct blocked *b)
{
	struct trace_end_wait wait = {.tid = b->tid,
				      .nr = (int32_t)b->nr,
				      .abi = b->abi,
				      .fd = -1,
				      .pid = holder_of(reader, b),
				      .arg0 = b->args[0],
				      .arg1 = b->args[1],
				      .arg2 = b->args[2],
				      .arg3 = b->args[3]};
	int fds[MAX_FDS], nr = fds_of(b, fds), result = 0;

	wait.complete = nr >= 0;
	for (int i = 0; i < nr && !result; i++) {
		wait.fd = fds[i];
		result = tracer_emit_record(reader->collector, TRACE_EV_end_wait, reader->ts_ns, &wait, sizeof(wait),
					    NULL);
	}
	if (nr <= 0)
		result = tracer_emit_record(reader->collector, TRACE_EV_end_wait, reader->ts_ns, &wait, sizeof(wait),
					    NULL);
	return result;
}

static int visit_thread(struct end_reader *reader, uint32_t tgid, uint32_t tid)
{
	struct blocked b = {.tgid = tgid, .tid = tid, .abi = reader->abi};
	char path[64], line[256];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/syscall", tgid, tid);
	errno = 0;
	/* hidden: record at least whether it ran */
	if (!read_text(line, sizeof(line), path) && (errno == EPERM || errno == EACCES))
		return tracer_emit_runs(reader->collector, tgid, tid, reader->ts_ns);
	if (!*line || sscanf(line, "%ld %lx %lx %lx %lx %lx %lx", &b.nr, &b.args[0], &b.args[1], &b.args[2], &b.args[3],
			     &b.args[4], &b.args[5]) != 7)
		return 0; /* running, exited, or a kernel thread */
	if (b.nr & TRACER_X32_BIT)
		b.abi = TRACE_ABI_NATIVE;
	return emit_blocked(reader, &b);
}

static int each_number(struct end_reader *reader, uint32_t tgid, const char *path,
		       int (*visit)(struct end_reader *, uint32_t, uint32_t))
{
	DIR *folder = opendir(path);
	struct dirent *entry;
	int result = 0;

	while (folder && !result && clock_monotonic_ns() < reader->stop_ns && (entry = folder_next(folder, &result)))
		if (isdigit((unsigned char)entry->d_name[0]))
			result = visit(reader, tgid, (uint32_t)strtoul(entry->d_name, NULL, 10));
	if (folder)
		closedir(folder);
	return result;
}

/* @first: processes with lower numbers are skipped. */
static int visit_process(struct end_reader *reader, uint32_t first, uint32_t tgid)
{
	char path[64];
	int result;

	if (tgid < first || !state_child_at(reader->collector, tgid))
		return 0;
	result = tracer_emit_args(reader->collector, tgid, reader->ts_ns, true);

	if (result)
		return result;
	reader->abi = tracer_abi_of_process(tgid);
	snprintf(path, sizeof(path), "/proc/%u/task", tgid);
	return each_number(reader, tgid, path, visit_thread);
}

static int walk(void *context, uint32_t first)
{
	struct end_reader *reader = context;

	reader->stop_ns = clock_monotonic_ns() + LONGEST_NS;
	read_locks(reader);
	return each_number(reader, first, "/proc", visit_process);
}

int tracer_end_state(struct tracer *tracer, uint64_t ts_ns, tracer_emit_fn emit, void *context,
		     struct trace_error *ret_error)
{
	struct tracer_collector *collector = tracer_collector_new(tracer, emit, context);
	struct end_reader *reader = calloc(1, sizeof(*reader));
	int result;

	if (collector && reader) {
		reader->collector = collector;
		reader->ts_ns = ts_ns;
		result = state_child_read(collector, walk, reader);
		if (result)
			error_set(ret_error, result, "processes cannot be read: %s", strerror(-result));
	} else {
		result = error_set(ret_error, -ENOMEM, "no memory to read what threads wait for");
	}
	free(collector);
	free(reader);
	return result;
}
