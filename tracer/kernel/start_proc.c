/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_proc.c - the start state from /proc, for threads that the iterators do not show: all of
 * them if a kernel has no iterators, some if the kernel hides processes from iterators
 */
#include "start_proc.h"

#include <ctype.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "clock_ns.h"
#include "read_end.h"
#include "start_args.h"
#include "start_state.h"
#include "start_record.h"
#include "state_child.h"

/* Call @visit for each numbered entry of a folder, until one returns non-zero. A folder that does
 * not exist any more has no entries. */
static int each_number(struct tracer_collector *c, uint32_t tgid,
		       int (*visit)(struct tracer_collector *c, uint32_t tgid, uint32_t number), const char *format,
		       ...)
{
	char path[64];
	va_list arguments;
	struct dirent *entry;
	int result = 0;
	DIR *folder;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	folder = opendir(path);
	if (!folder)
		return 0;
	while (!result && (entry = folder_next(folder, &result)))
		if (isdigit((unsigned char)entry->d_name[0]))
			result = visit(c, tgid, (uint32_t)strtoul(entry->d_name, NULL, 10));
	closedir(folder);
	return result;
}

/* The first line of a file, without its newline; false if there is none. */
static bool first_line(char *line, size_t bytes, const char *format, ...)
{
	char path[64];
	va_list arguments;
	FILE *file;
	bool read;

	va_start(arguments, format);
	vsnprintf(path, sizeof(path), format, arguments);
	va_end(arguments);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(line, (int)bytes, file) != NULL;
	fclose(file);
	if (read)
		line[strcspn(line, "\n")] = '\0';
	return read;
}

/* The whole text of a short file, which may have several lines. */
static bool whole_text(char *text, size_t bytes, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t got = file ? fread(text, 1, bytes - 1, file) : 0;

	if (read_end(file) < 0)
		got = 0;
	text[got] = '\0';
	return got > 0;
}

static uint32_t state_of_letter(char letter)
{
	static const struct {
		char letter;
		uint32_t state;
	} letters[] = {
		{'S', TRACE_TASK_INTERRUPTIBLE}, {'D', TRACE_TASK_UNINTERRUPTIBLE},
		{'T', TRACE_TASK_STOPPED},	 {'t', TRACE_TASK_TRACED},
		{'Z', TRACE_TASK_EXIT_ZOMBIE},	 {'X', TRACE_TASK_EXIT_DEAD},
		{'P', TRACE_TASK_PARKED},	 {'I', TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD},
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].letter == letter)
			return letters[i].state;
	return TRACE_TASK_RUNNING;
}

#define PHENT_32 32 /* bytes of a program header of a 32-bit program, sizeof(Elf32_Phdr) */

/*
 * The kernel keeps a copy of the vector that it gave to the program; in a 32-bit program its words
 * have 32 bits. SECURITY: reading the program's file instead would wait for a file system that its
 * user serves.
 */
enum trace_abi tracer_abi_of_process(uint32_t tgid)
{
	uint32_t words[128];
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/auxv", tgid);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	got = fd < 0 ? 0 : read(fd, words, sizeof(words));
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i + 1 < got / (ssize_t)sizeof(*words) && words[i] != AT_NULL; i += 2)
		if (words[i] == AT_PHENT)
			return words[i + 1] == PHENT_32 ? TRACE_ABI_32 : TRACE_ABI_NATIVE;
	return TRACE_ABI_NATIVE;
}

/* /proc/PID/syscall of a blocked thread: number and arguments; "running", or "-1
 * ..." outside of system calls. A thread that @exits is in none: the file has the one in which a
 * signal killed it. */
static void fill_syscall(struct trace_start_thread *thread, bool exits)
{
	unsigned long args[4] = {0};
	char line[256];
	long nr;

	thread->nr = -1;
	if (!exits && first_line(line, sizeof(line), "/proc/%u/task/%u/syscall", thread->tgid, thread->tid) &&
	    sscanf(line, "%ld %lx %lx %lx %lx", &nr, &args[0], &args[1], &args[2], &args[3]) == 5) {
		thread->nr = (int32_t)nr;
		thread->abi = nr & TRACER_X32_BIT ? TRACE_ABI_NATIVE : tracer_abi_of_process(thread->tgid);
		thread->arg0 = args[0];
		thread->arg1 = args[1];
		thread->arg2 = args[2];
		thread->arg3 = args[3];
	}
}

/* "voluntary_ctxt_switches: 589" and "nonvoluntary_..." of status, "RUNTIME DELAY
 * TIMES" of schedstat, proc(5). */
static bool read_switches(struct trace_thread_runs *runs, const char *path)
{
	unsigned long long number;
	char line[256], letter;
	int found = 0;
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "State: %c", &letter) == 1)
			runs->state = state_of_letter(letter);
		if (sscanf(line, "voluntary_ctxt_switches: %llu", &number) == 1 ||
		    sscanf(line, "nonvoluntary_ctxt_switches: %llu", &number) == 1) {
			runs->switches += number;
			found++;
		}
	}
	return !read_end(file) && found == 2;
}

int tracer_emit_runs(struct tracer_collector *c, uint32_t tgid, uint32_t tid, uint64_t ts_ns)
{
	struct trace_thread_runs runs = {.tid = tid};
	char path[64], line[128];

	snprintf(path, sizeof(path), "/proc/%u/task/%u/status", tgid, tid);
	if (!read_switches(&runs, path))
		return 0;
	if (first_line(line, sizeof(line), "/proc/%u/task/%u/schedstat", tgid, tid))
		runs.run_ns = strtoull(line, NULL, 10);
	return tracer_emit_record(c, TRACE_EV_thread_runs, ts_ns, &runs, sizeof(runs), NULL);
}

#define PF_EXITING	  0x00000004
#define PF_KTHREAD	  0x00200000
#define BORN_MEANWHILE_NS 20000000u /* /proc has birth times in ticks of 10 ms */

/*
 * /proc/PID/stat, proc(5): "pid (comm) state ppid pgrp session tty tpgid flags ... 18 priority ...
 * 22 starttime ... 39 processor". The name may contain anything, even a newline.
 */
static int visit_thread(struct tracer_collector *c, uint32_t tgid, uint32_t tid)
{
	struct trace_start_thread thread = {.tid = tid, .tgid = tgid, .ns_tid = tid, .ns_tgid = tgid};
	unsigned long flags = 0, start_ticks = 0;
	char line[1024], path[64], letter = 'R', *open, *close;
	long priority = 0;
	struct stat owner;
	int cpu = 0, result;

	if (tid < TRACER_MAX_TID && (c->seen[tid / 8] >> tid % 8 & 1))
		return 0;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", tgid, tid);
	if (!whole_text(line, sizeof(line), path))
		return 0; /* exited */
	open = strchr(line, '(');
	close = strrchr(line, ')');
	if (!open || !close)
		return 0;
	*close = '\0';
	sscanf(close + 1,
	       " %c %u %u %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*u %*u %ld %*d %*d %*d %lu %*u %*d %*u %*u %*u %*u "
	       "%*u %*u %*u %*u %*u %*u %*u %*u %*u %*d %d",
	       &letter, &thread.ppid, &thread.pgrp, &flags, &priority, &start_ticks, &cpu);
	snprintf(path, sizeof(path), "/proc/%u", tgid);
	if (stat(path, &owner) == 0) {
		thread.uid = owner.st_uid;
		thread.gid = owner.st_gid;
	}
	thread.flags = flags & PF_KTHREAD ? TRACE_THREAD_KERNEL : 0;
	thread.state = state_of_letter(letter);
	thread.prio = (int16_t)(priority + 100);
	thread.cpu = (uint32_t)cpu;
	thread.start_ns = start_ticks * (1000000000ul / (unsigned long)sysconf(_SC_CLK_TCK));
	fill_syscall(&thread, flags & PF_EXITING);
	/* It existed when the iterators ran, and they did not show it. */
	if (c->nr_cgroups && thread.start_ns + BORN_MEANWHILE_NS < c->begin_ns)
		thread.flags |= TRACE_THREAD_HIDDEN;
	result = tracer_emit_record(c, TRACE_EV_start_thread, clock_monotonic_ns(), &thread, sizeof(thread), open + 1);
	return result || !(thread.flags & TRACE_THREAD_HIDDEN) ? result
							       : tracer_emit_runs(c, tgid, tid, clock_monotonic_ns());
}

/* "flags:	02100002" of fdinfo, proc(5), in octal: as in open(2), with O_NOCTTY | O_CLOEXEC. */
static uint32_t flags_of(uint32_t tgid, uint32_t fd)
{
	char path[64], text[256];
	unsigned int flags = 0;
	const char *line;

	snprintf(path, sizeof(path), "/proc/%u/fdinfo/%u", tgid, fd);
	line = whole_text(text, sizeof(text), path) ? strstr(text, "flags:") : NULL;
	return line && sscanf(line, "flags: %o", &flags) == 1 ? flags : 0;
}

/*
 * SECURITY: the file may be of a file system that another user serves, or of a server that does not
 * answer: a plain stat() would wait for it for ever. This takes what the kernel knows.
 */
static bool known_status(const char *link, struct statx *ret_status)
{
	return statx(AT_FDCWD, link, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT,
		     STATX_TYPE | STATX_MODE | STATX_INO | STATX_NLINK, ret_status) == 0;
}

static uint32_t device_of(const struct statx *status)
{
	return status->stx_dev_major << 20 | status->stx_dev_minor;
}

static int visit_fd(struct tracer_collector *c, uint32_t tgid, uint32_t fd)
{
	struct trace_start_fd payload = {.tgid = tgid, .fd = (int32_t)fd, .flags = flags_of(tgid, fd)};
	char link[64], path[PATH_MAX];
	struct statx file;
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/%u/fd/%u", tgid, fd);
	bytes = readlink(link, path, sizeof(path) - 1);
	if (bytes < 0 || !known_status(link, &file))
		return 0;
	path[bytes] = '\0';
	payload.dev = device_of(&file);
	payload.mode = file.stx_mode;
	payload.ino = file.stx_ino;
	return tracer_emit_record(c, TRACE_EV_start_fd, clock_monotonic_ns(), &payload, sizeof(payload),
				  path[0] == '/' ? path : "");
}

/*
 * The working and the root directory, as fs_dir tells them: a flight recorder may have overwritten
 * the fs_dir that did. A directory that this process cannot reach, or that was removed, has no
 * whole path.
 */
static int emit_directory(struct tracer_collector *c, uint32_t tgid, int32_t which)
{
	struct trace_fs_dir dir = {.tid = tgid, .fd = which};
	uint64_t ts_ns = clock_monotonic_ns(); /* any later change has a later event */
	char link[64], path[PATH_MAX];
	struct statx now;
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/%u/%s", tgid, which == TRACE_FD_WORKING_DIRECTORY ? "cwd" : "root");
	bytes = readlink(link, path, sizeof(path) - 1);
	if (bytes <= 0 || path[0] != '/' || !known_status(link, &now) || !now.stx_nlink)
		return 0;
	path[bytes] = '\0';
	if (which == TRACE_FD_ROOT_DIRECTORY && strcmp(path, "/") == 0)
		return 0;
	dir.dev = device_of(&now);
	dir.mode = now.stx_mode;
	dir.ino = now.stx_ino;
	return tracer_emit_record(c, TRACE_EV_fs_dir, ts_ns, &dir, sizeof(dir), path);
}

/* The threads of the kernel, which have no program, use no paths. */
static int emit_directories(struct tracer_collector *c, uint32_t tgid)
{
	char link[64], path[2];
	int result;

	snprintf(link, sizeof(link), "/proc/%u/exe", tgid);
	if (readlink(link, path, sizeof(path)) < 0 || !tracer_args_are_shown(c, tgid))
		return 0;
	result = emit_directory(c, tgid, TRACE_FD_WORKING_DIRECTORY);
	return result ? result : emit_directory(c, tgid, TRACE_FD_ROOT_DIRECTORY);
}

/* @first: processes with lower numbers are skipped. */
static int visit_process(struct tracer_collector *c, uint32_t first, uint32_t tgid)
{
	struct trace_start_exe exe = {.tgid = tgid};
	char link[64], path[PATH_MAX];
	ssize_t bytes;
	int result;

	if (tgid < first || !state_child_at(c, tgid))
		return 0;
	result = each_number(c, tgid, visit_thread, "/proc/%u/task", tgid);
	if (!result)
		result = tracer_emit_args(c, tgid, clock_monotonic_ns(), false);
	if (!result)
		result = emit_directories(c, tgid);
	if (result || (tgid < TRACER_MAX_TID && (c->seen[tgid / 8] >> tgid % 8 & 1)))
		return result;
	snprintf(link, sizeof(link), "/proc/%u/exe", tgid);
	bytes = readlink(link, path, sizeof(path) - 1);
	if (bytes > 0) {
		path[bytes] = '\0';
		result = tracer_emit_record(c, TRACE_EV_start_exe, clock_monotonic_ns(), &exe, sizeof(exe), path);
	}
	return result ? result : each_number(c, tgid, visit_fd, "/proc/%u/fd", tgid);
}

static int walk(void *c, uint32_t first)
{
	return each_number(c, first, visit_process, "/proc");
}

int tracer_start_state_of_proc(struct tracer_collector *c)
{
	return state_child_read(c, walk, c);
}
