/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_daemon_faults.c - kill the daemon at any system call, and let any write fail.
 *
 * The events recorded before the fault must be in the file, and the others must be counted. The
 * tests also send a signal at any system call, and let any allocation fail. strace injects the
 * faults; no_memory.c fails the allocations. The same source makes two programs: one for the daemon
 * with a tracer in plain memory, one for the real daemon.
 *
 * A clean recording under strace lists the system calls: a point is "the n-th openat". In each
 * further recording the fault strikes at one point. (strace counts per thread: the fault strikes
 * when the first thread makes its n-th call.) By default a sample of the points after the creation
 * of the file is tested. With TRACE_TEST_LONG in the environment each LONG_STEP-th point is, from
 * the first instruction of the program loader on. The first one differs from run to run, so that in
 * time all are tested. TRACE_FIRST=number repeats a run.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trace/reader.h>
#include "shell.h"
#include "unit.h"

#define MOST_CPUS   256
#define MORE_WRITES 20
#define MOST_POINTS 20000

/**
 * struct point - the @nr-th call of @name in a thread
 * @loading: made by the program loader
 * @early: made before the file was created
 */
struct point {
	char name[32];
	unsigned int nr;
	bool loading;
	bool early;
};

static struct point points[MOST_POINTS];
static size_t nr_points;

static char folder[] = "/var/tmp/trace-faults-XXXXXX";
static bool is_long;
static size_t first_point; /* with TRACE_TEST_LONG */

/**
 * struct outcome - the outcome of one recording
 * @written: bytes written by all writev() calls, from the return values that strace saw
 */
struct outcome {
	int status; /* exit status; 128 + n for a signal */
	bool exists;
	uint64_t bytes;
	uint64_t written;
	uint64_t events;
	uint64_t lost;	    /* for any reason: a daemon under strace also finds its buffers full */
	uint64_t unwritten; /* the part of them that failed writes lost */
	bool clean_end;
};

/* ---- what is left ---- */

/* strace prints "123 writev(5, ...) = 456" or "123 <... writev resumed>) = 456". A call that was
 * not made has no number, or -1. */
static uint64_t bytes_written(void)
{
	char path[128], line[4096];
	uint64_t bytes = 0;
	FILE *log;

	snprintf(path, sizeof(path), "%s/strace", folder);
	log = fopen(path, "r");
	while (log && fgets(line, sizeof(line), log)) {
		const char *result = strstr(line, ") = ");

		if (strstr(line, "writev") && result && atoll(result + 4) > 0)
			bytes += strtoull(result + 4, NULL, 10);
	}
	if (log)
		fclose(log);
	return bytes;
}

/* With the tracer in plain memory the k-th event of a CPU carries number k, so a number that is
 * missing between two events must have been counted as lost. */
static uint64_t count_holes(struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	uint64_t holes = 0;
	uint32_t last[MOST_CPUS] = {0};

	while ((event = trace_cursor_next(cursor))) {
		uint32_t number;

		if (event->id != TRACE_EV_sched_switch || event->cpu >= MOST_CPUS)
			continue;
		number = ((const struct trace_sched_switch *)event->payload)->next_tid;
		CU_ASSERT(number > last[event->cpu]);
		/* the events before the recording began are not missing */
		holes += last[event->cpu] ? number - last[event->cpu] - 1 : 0;
		last[event->cpu] = number;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	return holes;
}

static void check_trace(const char *path, struct outcome *outcome)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(path, &error);

	if (!trace)
		fprintf(stderr, "\n    %s\n", error.message);
	CU_ASSERT_PTR_NOT_NULL(trace);
	if (!trace)
		return;
	outcome->events = trace_get_info(trace)->events;
	outcome->lost = trace_get_info(trace)->lost;
	outcome->clean_end = trace_get_info(trace)->clean_end;
	for (size_t i = 0; i < trace_nr_gaps(trace); i++)
		if (trace_get_gap(trace, i)->cause == TRACE_GAP_UNWRITTEN)
			outcome->unwritten += trace_get_gap(trace, i)->lost;
	/* The daemon was killed within a write, so a part of the last block may be in the file. */
	CU_ASSERT(trace_nr_damages(trace) <= (outcome->written && outcome->bytes > outcome->written));
	if (trace_verify(trace, &error)) {
		fprintf(stderr, "\n    verify: %s\n", error.message);
		CU_FAIL("the counts do not add up");
	}
	if (IS_FAKE)
		CU_ASSERT(count_holes(trace) <= outcome->lost);
	trace_close(trace);
}

/* ---- one recording ---- */

/* @before: the command that runs the daemon; must pass on its exit status */
static struct outcome record(const char *before)
{
	struct outcome outcome = {0};
	struct stat status;
	char path[128];

	snprintf(path, sizeof(path), "%s/t.trace", folder);
	shell_run("rm -f %s %s/strace", path, folder);
	outcome.status = shell_run("timeout -s KILL 60 %s %s --control %s/control %s %s 2>%s/stderr", before,
				   TRACE_DAEMON, folder, TRACE_DAEMON_OPTIONS, path, folder);
	outcome.exists = stat(path, &status) == 0;
	outcome.bytes = outcome.exists ? (uint64_t)status.st_size : 0;
	outcome.written = bytes_written();
	if (outcome.bytes)
		check_trace(path, &outcome);
	return outcome;
}

/* With a filter of system calls strace stops only at these, which is three times as fast. But a
 * signal injected at such a stop is lost. */
static struct outcome record_injected(const char *calls, const char *fault, unsigned int when)
{
	const char *filter = strstr(fault, "signal=") ? "" : "--seccomp-bpf";
	char before[256];

	snprintf(before, sizeof(before), "strace -f %s -o %s/strace -e trace=writev,%.31s -e inject=%.31s:%s:when=%u",
		 filter, folder, calls, calls, fault, when);
	return record(before);
}

/* ---- points ---- */

/* The number of calls of one name in a thread so far. */
struct count {
	int thread;
	char name[32];
	unsigned int nr;
};

static unsigned int count_call(struct count *counts, size_t *nr_counts, int thread, const char *name)
{
	for (size_t i = 0; i < *nr_counts; i++)
		if (counts[i].thread == thread && strcmp(counts[i].name, name) == 0)
			return ++counts[i].nr;
	if (*nr_counts == 1000)
		return 0;
	counts[*nr_counts] = (struct count){.thread = thread, .nr = 1};
	snprintf(counts[*nr_counts].name, sizeof(counts[0].name), "%s", name);
	++*nr_counts;
	return 1;
}

static void add_point(const char *name, unsigned int nr, bool loading, bool early)
{
	for (size_t i = nr_points; i-- > 0;)
		if (points[i].nr == nr && strcmp(points[i].name, name) == 0)
			return;
	if (!nr || nr_points == MOST_POINTS)
		return;
	points[nr_points] = (struct point){.nr = nr, .loading = loading, .early = early};
	snprintf(points[nr_points++].name, sizeof(points[0].name), "%s", name);
}

/* Done once: list the calls of a clean recording. The pauses of the threads that make events are
 * not calls of the daemon. */
static void find_points(void)
{
	static struct count counts[1000];
	char before[160], path[128], line[4096], name[32];
	size_t nr_counts = 0;
	bool loading = true, early = true;
	int thread;
	FILE *log;

	if (nr_points)
		return;
	snprintf(before, sizeof(before), "strace -f -o %s/strace", folder);
	CU_ASSERT_EQUAL_FATAL(record(before).status, 0);
	snprintf(path, sizeof(path), "%s/strace", folder);
	log = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(log);
	while (fgets(line, sizeof(line), log)) {
		if (sscanf(line, "%d %31[a-z0-9_](", &thread, name) != 2 || !strcmp(name, "clock_nanosleep"))
			continue;
		add_point(name, count_call(counts, &nr_counts, thread, name), loading, early);
		loading = loading && strcmp(name, "munmap"); /* the loader unmaps the cache of library paths */
		early = early && !(strstr(line, "O_CREAT") && strstr(line, "t.trace"));
	}
	fclose(log);
	CU_ASSERT_FATAL(!early);
}

static int said(const char *text)
{
	return shell_run("grep -q -- '%s' %s/stderr", text, folder) == 0;
}

static int lines_saying(const char *text)
{
	char command[256];
	int lines = -1;
	FILE *pipe;

	snprintf(command, sizeof(command), "grep -c -- '%s' %s/stderr", text, folder);
	pipe = popen(command, "r");
	if (!pipe || fscanf(pipe, "%d", &lines) != 1)
		lines = -1;
	if (pipe)
		pclose(pipe);
	return lines;
}

/* ---- kills ---- */

/* All bytes written are in the file. The file may be longer, because another thread's write was in
 * progress. */
static void check_killed(const struct outcome *outcome, const char *calls, unsigned int when)
{
	if (outcome->status == 128 + SIGKILL && outcome->bytes >= outcome->written)
		return;
	fprintf(stderr, "\n    killed at %s %u: status %d, %llu bytes in the file, %llu written\n", calls, when,
		outcome->status, (unsigned long long)outcome->bytes, (unsigned long long)outcome->written);
	CU_FAIL("the file is not what was written");
}

static bool may_be_killed(const struct point *point, const char *name)
{
	return (!point->early || is_long) && (!name || strcmp(point->name, name) == 0);
}

/* Returns @step, with TRACE_TEST_LONG @long_step, or a larger step if a busy machine lets the
 * daemon make so many calls that more than STRUCK_MAX or STRUCK_LONG points were left. */
static size_t bounded_step(size_t nr, size_t step, size_t long_step)
{
	size_t most = is_long ? STRUCK_LONG : STRUCK_MAX;

	step = is_long ? long_step : step;
	return nr / step < most ? step : nr / most;
}

/* Kills after so many writes that the file has events: on a machine with many processes most calls
 * read the start state. Returns the number of files that had events. */
static unsigned int kill_after_writes(unsigned int *kills)
{
	struct outcome outcome = {.events = 0};

	for (unsigned int when = 4; !outcome.events && when <= 64; when *= 2) {
		outcome = record_injected("writev", "signal=KILL", when);
		if (outcome.status == 0)
			break;
		check_killed(&outcome, "writev", when);
		++*kills;
	}
	return outcome.events > 0;
}

/* @name: kill only at calls of this name; NULL: at all calls
 * Returns the number of points at which the daemon was killed. */
static unsigned int kill_at_points(const char *name, size_t step, size_t long_step)
{
	unsigned int kills = 0, with_events = 0;
	struct outcome outcome;
	size_t seen = 0;

	find_points();
	for (size_t i = 0; i < nr_points; i++)
		seen += may_be_killed(&points[i], name);
	step = bounded_step(seen, step, long_step);
	seen = 0;
	for (size_t i = 0; i < nr_points; i++) {
		if (!may_be_killed(&points[i], name) || (seen++ + first_point) % step)
			continue;
		outcome = record_injected(points[i].name, "signal=KILL", points[i].nr);
		if (outcome.status == 0)
			continue; /* the number of calls differs between recordings */
		check_killed(&outcome, points[i].name, points[i].nr);
		kills++;
		with_events += outcome.events > 0;
	}
	if (!with_events)
		with_events = kill_after_writes(&kills);
	fprintf(stderr, "\n    killed at %u of %zu points; %u of the files had events\n", kills, seen, with_events);
	CU_ASSERT(with_events > 0);
	return kills;
}

/* A killed daemon leaves nothing behind that prevents the next recording. */
static void check_next_recording(void)
{
	struct outcome outcome = record("");

	CU_ASSERT_EQUAL(outcome.status, 0);
	CU_ASSERT(outcome.clean_end);
	CU_ASSERT(outcome.events > 0);
}

static void a_kill_at_any_system_call_leaves_a_readable_file(void)
{
	CU_ASSERT(kill_at_points(NULL, KILL_STEP, LONG_STEP) >= LEAST_STRUCK);
	check_next_recording();
}

static void a_kill_at_any_write_leaves_a_readable_file(void)
{
	CU_ASSERT(kill_at_points("writev", WRITE_STEP, 1) >= 2);
	check_next_recording();
}

/* ---- writes that fail ---- */

static const struct {
	const char *fault;
	const char *text;
} errors[] = {
	{"error=ENOSPC", "No space left on device"},
	{"error=EIO", "Input/output error"},
	{"error=EDQUOT", "Disk quota exceeded"},
	{"error=EFBIG", "File too large"},
};

static void check_failed_write(const struct outcome *outcome, const char *text, const char *fault, unsigned int when)
{
	/* the header could not be written, so there is no trace */
	bool removed = !outcome->exists && outcome->events == 0;

	if (outcome->status != 1 || lines_saying(text) != 1 || !(removed || outcome->bytes)) {
		fprintf(stderr, "\n    %s at writev %u: status %d, %d lines of it, %llu bytes\n", fault, when,
			outcome->status, lines_saying(text), (unsigned long long)outcome->bytes);
		shell_run("cat %s/stderr", folder);
		CU_FAIL("a failed write is reported once, and is exit status 1");
	}
}

struct failed_writes {
	unsigned int struck, with_loss, finished;
};

/* Write @when of a recording fails; false: the recording never made as many writes. */
static bool fail_write(unsigned int when, struct failed_writes *sum)
{
	size_t i = when % (sizeof(errors) / sizeof(errors[0]));
	struct outcome outcome = record_injected("writev", errors[i].fault, when);

	if (outcome.status == 0)
		return false;
	check_failed_write(&outcome, errors[i].text, errors[i].fault, when);
	sum->struck++;
	sum->with_loss += outcome.unwritten > 0;
	sum->finished += outcome.clean_end;
	if (outcome.unwritten > 0)
		CU_ASSERT(said("lost because they could not be written"));
	return true;
}

/*
 * The block being written is lost and counted; the other blocks are in the file. A recording makes
 * few writes on a busy machine, and the write that ends the trace may be among those that fail:
 * then others are tried until both kinds were seen.
 */
static void a_failed_write_loses_its_block_and_is_reported_once(void)
{
	struct failed_writes sum = {0};
	unsigned int spared = 0;

	for (unsigned int when = 1 + first_point % 2; spared < 2 && sum.struck < (is_long ? STRUCK_LONG : STRUCK_MAX);
	     when += is_long ? 2 : (WRITE_STEP + 1) / 2)
		spared = fail_write(when, &sum) ? 0 : spared + 1;
	for (unsigned int when = 2; when < 2 + MORE_WRITES && !(sum.with_loss && sum.finished); when++)
		fail_write(when, &sum);
	fprintf(stderr, "\n    %u writes failed: %u cost events, %u traces were finished all the same\n", sum.struck,
		sum.with_loss, sum.finished);
	CU_ASSERT(sum.with_loss > 0 && sum.finished > 0);
}

/* A limit on the file's size, at any offset: everything that fits is in the file. A write is short
 * before the next one fails. */
static void a_file_size_limit_keeps_the_blocks_that_fit(void)
{
	uint64_t bytes = record("").bytes, step = bytes / (is_long ? LIMITS * 10 : LIMITS) + 1, most = 0;
	unsigned int limits = 0, with_events = 0;
	struct outcome outcome;
	char before[64];

	for (uint64_t limit = 1000 /* below, stderr would not fit */; limit < bytes - bytes / 10; limit += step) {
		snprintf(before, sizeof(before), "prlimit --fsize=%llu", (unsigned long long)limit);
		outcome = record(before);
		if (outcome.clean_end && outcome.bytes < limit)
			continue; /* this recording wrote less */
		limits++;
		check_failed_write(&outcome, "File too large", before, 0);
		CU_ASSERT(outcome.bytes <= limit);
		CU_ASSERT(!outcome.clean_end);
		with_events += outcome.events > 0;
		most = outcome.bytes > most ? outcome.bytes : most;
	}
	fprintf(stderr, "\n    %u limits, up to %llu of %llu bytes; %u of the files had events\n", limits,
		(unsigned long long)most, (unsigned long long)bytes, with_events);
	CU_ASSERT(with_events > 0);
}

/* The daemon also reports errors that the disk returns only from fsync() or close(). */
static void a_failed_sync_or_close_is_reported(void)
{
	static const char *const calls[] = {"fsync", "fdatasync"};

	for (size_t i = 0; i < 2; i++) {
		struct outcome outcome = record_injected(calls[i], "error=EIO", 1);

		if (i == 0 || outcome.status) { /* a short recording need not sync before its end */
			CU_ASSERT_EQUAL(outcome.status, 1);
			CU_ASSERT_EQUAL(lines_saying("Input/output error"), 1);
		}
		CU_ASSERT(outcome.events > 0);
	}
}

/* ---- anything that fails ---- */

/* Calls that a kernel may refuse at any time: for descriptors, files, memory, its own services. */
static bool may_fail(const char *name)
{
	/* clang-format off */
	static const char *const names[] = {
		"bind", "bpf", "close", "epoll_create1", "epoll_ctl", "epoll_wait", "eventfd2", "fcntl", "fsync",
		"fdatasync", "ftruncate", "getdents64",
		"getrandom", "ioctl", "listen", "lseek", "madvise", "mmap", "newfstatat", "openat", "perf_event_open",
		"pread64", "prlimit64", "read",
		"readlink", "rename", "setpriority", "signalfd4", "socket", "timerfd_create", "timerfd_settime",
		"uname", "unlink", "write", "writev",
	};
	/* clang-format on */

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool may_be_failed(const struct point *point)
{
	return !point->loading && (!point->early || is_long) && may_fail(point->name);
}

/* The daemon may give up, but without a crash, and what it wrote must be readable. The loader of
 * BPF programs is not our code. */
static void a_system_call_that_fails_is_no_crash(void)
{
	static const char *const faults[] = {"error=EIO", "error=EMFILE", "error=ENOMEM", "error=EINTR"};
	unsigned int struck = 0, gave_up = 0;
	struct outcome outcome;
	size_t seen = 0, step;

	find_points();
	for (size_t i = 0; i < nr_points; i++)
		seen += may_be_failed(&points[i]);
	step = bounded_step(seen, FAIL_STEP, LONG_STEP);
	seen = 0;
	for (size_t i = 0; i < nr_points; i++) {
		const char *fault = faults[(i + points[i].nr) % 4];

		if (!may_be_failed(&points[i]) || (seen++ + first_point) % step)
			continue;
		outcome = record_injected(points[i].name, fault, points[i].nr);
		struck++;
		gave_up += outcome.status != 0;
		if (outcome.status >= 128) {
			fprintf(stderr, "\n    %s at %s %u: status %d\n", fault, points[i].name, points[i].nr,
				outcome.status);
			CU_FAIL("it crashed, or hangs");
		}
		/* A daemon that reports no error must have recorded. */
		CU_ASSERT(outcome.status != 0 || outcome.events > 0);
	}
	fprintf(stderr, "\n    failed at %u of %zu points, at %u of them it gave up\n", struck, seen, gave_up);
	check_next_recording();
}

/* ---- signals ---- */

/* A request to end, at any moment, ends the recording with a complete file. */
static void a_signal_at_any_system_call_ends_the_recording_cleanly(void)
{
	static const char *const signals[] = {"signal=TERM", "signal=INT", "signal=HUP"};
	unsigned int struck = 0;
	struct outcome outcome;
	size_t seen = 0, step;

	find_points();
	for (size_t i = 0; i < nr_points; i++)
		seen += !points[i].early;
	step = bounded_step(seen, SIGNAL_STEP, LONG_STEP);
	seen = 0;
	for (size_t i = 0; i < nr_points; i++) {
		if (points[i].early || (seen++ + first_point) % step)
			continue;
		outcome = record_injected(points[i].name, signals[struck++ % 3], points[i].nr);
		if (outcome.status == 0 && outcome.clean_end)
			continue;
		fprintf(stderr, "\n    %s at %s %u: status %d\n", signals[(struck - 1) % 3], points[i].name,
			points[i].nr, outcome.status);
		CU_FAIL("the file is not whole");
	}
	fprintf(stderr, "\n    a signal at %u of %zu points\n", struck, seen);
	CU_ASSERT(struck >= LEAST_STRUCK);
	check_next_recording();
}

/* ---- no memory ---- */

#define MOST_STRIKES 2000u

/* @once: only this allocation fails
 * Returns false if the daemon made fewer allocations. */
static bool record_without_memory(unsigned int at, bool once)
{
	struct outcome outcome;
	char before[512];

	snprintf(before, sizeof(before), "env LD_PRELOAD=%s NO_MEMORY_AT=%u NO_MEMORY_MARK=%s/refused %s",
		 TRACE_NO_MEMORY, at, folder, once ? "" : "NO_MEMORY_AFTER=1");
	shell_run("rm -f %s/refused", folder);
	outcome = record(before);
	if (outcome.status > 1 || (outcome.status == 1 && !said("memory") && !said("cannot")) ||
	    (outcome.status == 0 && !outcome.clean_end)) {
		fprintf(stderr, "\n    no memory for allocation %u%s: status %d\n", at, once ? "" : " and after it",
			outcome.status);
		CU_FAIL("it crashed, hangs or says nothing of it");
	}
	CU_ASSERT_FALSE(said("run as root") || said("boot one")); /* the cause is another one */
	return shell_run("test -e %s/refused", folder) == 0;
}

/* How many allocations a recording makes, at least half of what the result says. */
static unsigned int count_allocations(void)
{
	unsigned int at = 64;

	while (record_without_memory(at, true))
		at *= 2;
	return at;
}

/* The long run strikes STRUCK_LONG times in a recording, however many allocations that has. */
static unsigned int memory_step(void)
{
	unsigned int sampled = is_long ? count_allocations() / STRUCK_LONG : MEMORY_STEP;

	return is_long && sampled < LONG_STEP ? LONG_STEP : sampled;
}

/* The daemon may give up if it says why. The accounting of the file that it writes must add up. */
static void without_memory_the_daemon_reports_its_losses(void)
{
	unsigned int step = memory_step();

	for (int once = 0; once < 2; once++) {
		unsigned int at = 1 + (unsigned int)first_point % (is_long ? step : LONG_STEP), struck = 0;

		/* a daemon that tries again and again makes any number of allocations */
		for (; struck < MOST_STRIKES && record_without_memory(at, once); at += step)
			struck++;
		fprintf(stderr, "\n    no memory for %u of %u allocations%s\n", struck, at,
			once ? "" : " and for all after it");
		CU_ASSERT(struck >= LEAST_STRUCK);
	}
	check_next_recording();
}

static const struct unit_case cases[] = {
	{"a_kill_at_any_system_call_leaves_a_readable_file", a_kill_at_any_system_call_leaves_a_readable_file},
	{"a_kill_at_any_write_leaves_a_readable_file", a_kill_at_any_write_leaves_a_readable_file},
	{"a_failed_write_loses_its_block_and_is_reported_once", a_failed_write_loses_its_block_and_is_reported_once},
	{"a_file_size_limit_keeps_the_blocks_that_fit", a_file_size_limit_keeps_the_blocks_that_fit},
	{"a_failed_sync_or_close_is_reported", a_failed_sync_or_close_is_reported},
	{"a_system_call_that_fails_is_no_crash", a_system_call_that_fails_is_no_crash},
	{"a_signal_at_any_system_call_ends_the_recording_cleanly",
	 a_signal_at_any_system_call_ends_the_recording_cleanly},
	{"without_memory_the_daemon_reports_its_losses", without_memory_the_daemon_reports_its_losses},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	if (system("strace -o /dev/null true 2>/dev/null") != 0) {
		fprintf(stderr, "test_daemon_faults: needs strace, and to be allowed to trace\n");
		return 77;
	}
	if (!IS_FAKE && (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0)) {
		fprintf(stderr, "test_daemon_faults: the real daemon needs root and a kernel with BTF\n");
		return 77;
	}
	is_long = getenv("TRACE_TEST_LONG") != NULL;
	if (is_long) {
		first_point = (getenv("TRACE_FIRST") ? (size_t)atoi(getenv("TRACE_FIRST")) : (size_t)time(NULL)) %
			      100000;
		fprintf(stderr, "TRACE_FIRST=%zu\n", first_point);
	}
	if (!mkdtemp(folder))
		return 1;
	setenv("TRACE_FAKE_EVENTS", "1000000000", 1);
	setenv("TRACE_FAKE_PAUSE_US", "500", 1);
	status = unit_main_of_day(IS_FAKE ? "faults of the daemon, memory" : "faults of the daemon", cases,
				  IS_FAKE ? 1 : 3, argc, argv);
	shell_run("rm -rf %s", folder);
	return status;
}
