/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_cut_trace.c - a trace that another program cuts while tracevisualizer reads it.
 *
 * If the trace is cut just after tracevisualizer mapped it, no mode may look complete: exit status
 * 1, a line on stderr that says what happened, and no output file. If it is cut later, a report is
 * whole, or stderr says that events are missing.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "random_story.h"
#include "unit.h"

#define MOST_ARGUMENTS 8
#define PAGE	       4096
#define TIMEOUT_S      60
#define CUT_WORDS      "was cut"

int visualizer_main(int argc, char **argv); /* main() of tracevisualizer */

static char whole_path[] = "/tmp/cut_trace_whole_XXXXXX", cut_path[] = "/tmp/cut_trace_XXXXXX";
static char output_path[] = "/tmp/cut_trace_output_XXXXXX";
static off_t whole_bytes;
static off_t cut_at = -1; /* cut_path is cut there when it is mapped; -1: not */

static long nr_allocations, cut_at_allocation; /* it is cut there; 0: not */
static long *nr_taken;			       /* shared: number of a child's allocations */
static long nr_sizes, size_fails_at;	       /* from this fstat() of cut_path on, all fail; 0: none */

void *__libc_calloc(size_t nr, size_t bytes);

static bool is_cut_path(int fd)
{
	char link[64], target[64] = "";

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return fd >= 0 && readlink(link, target, sizeof(target) - 1) > 0 && !strcmp(target, cut_path);
}

#pragma GCC visibility push(default)
int fstat(int fd, struct stat *info)
{
	if (size_fails_at && is_cut_path(fd) && ++nr_sizes >= size_fails_at) {
		errno = EIO;
		return -1;
	}
	return fstatat(fd, "", info, AT_EMPTY_PATH);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	void *mapped = (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);

	if (cut_at >= 0 && is_cut_path(fd) && truncate(cut_path, cut_at) < 0)
		abort();
	return mapped;
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));

void *calloc(size_t nr, size_t bytes)
{
	if (++nr_allocations == cut_at_allocation && truncate(cut_path, 0) < 0)
		abort();
	return __libc_calloc(nr, bytes);
}
#pragma GCC visibility pop

static void copy_whole(void)
{
	int from = open(whole_path, O_RDONLY | O_CLOEXEC), to = open(cut_path, O_WRONLY | O_TRUNC | O_CLOEXEC);

	if (sendfile(to, from, NULL, (size_t)whole_bytes) != whole_bytes)
		abort();
	close(from);
	close(to);
}

/** struct run - the output of a mode; @status: from waitpid() */
struct run {
	int status;
	char *text, error[4096]; /* owned */
};

static char *content_of(int fd)
{
	off_t bytes = lseek(fd, 0, SEEK_END);
	char *text = malloc((size_t)bytes + 1);

	text[pread(fd, text, (size_t)bytes, 0)] = '\0';
	return text;
}

/* The trace is cut at byte @at when it is mapped, or to nothing at allocation @allocation. */
static struct run run_mode(const char *const *mode, off_t at, long allocation)
{
	int out = memfd_create("stdout", MFD_CLOEXEC), error = memfd_create("stderr", MFD_CLOEXEC);
	char *argv[MOST_ARGUMENTS + 1] = {(char *)"tracevisualizer"};
	struct run run = {0};
	int argc = 1;
	ssize_t got;
	pid_t child;

	for (; mode[argc - 1]; argc++)
		argv[argc] = (char *)mode[argc - 1];
	copy_whole();
	child = fork();
	if (!child) {
		dup2(out, STDOUT_FILENO);
		dup2(error, STDERR_FILENO);
		alarm(TIMEOUT_S);
		cut_at = at;
		nr_allocations = 0;
		cut_at_allocation = allocation;
		run.status = visualizer_main(argc, argv);
		*nr_taken = nr_allocations;
		fflush(stdout);
		_exit(run.status);
	}
	if (waitpid(child, &run.status, 0) != child)
		abort();
	run.text = content_of(out);
	got = pread(error, run.error, sizeof(run.error) - 1, 0);
	run.error[got > 0 ? got : 0] = '\0';
	close(out);
	close(error);
	return run;
}

static bool is_refusal(const struct run *run)
{
	return WIFEXITED(run->status) && WEXITSTATUS(run->status) == 1 && strstr(run->error, CUT_WORDS);
}

static bool is_same(const struct run *run, const struct run *whole)
{
	return run->status == whole->status && !strcmp(run->text, whole->text) && !strcmp(run->error, whole->error);
}

static void check(bool ok, const char *const *mode, long at, const struct run *run)
{
	if (!ok)
		printf("\n    %s %s, cut at %ld: status %#x, %s", mode[0], mode[1], at, (unsigned int)run->status,
		       run->error);
	CU_ASSERT(ok);
}

static void is_refused(const char *const *mode, off_t at)
{
	struct run run = run_mode(mode, at, 0);

	check(is_refusal(&run) && access(output_path, F_OK) < 0, mode, at, &run);
	unlink(output_path);
	free(run.text);
}

/*
 * libtrace looks at the size before it reads a chunk, and takes a missing one for damaged. An
 * analysis that cannot begin a second pass says that the file was cut, not that it has no memory.
 */
static bool tells(const struct run *run)
{
	return WIFEXITED(run->status) &&
	       (strstr(run->error, "damaged chunk") || strstr(run->error, "its events are missing") ||
		(WEXITSTATUS(run->status) == 1 && *run->error));
}

/* By then a report may have read all that it needs. */
static void is_whole_or_tells(const char *const *mode)
{
	struct run whole = run_mode(mode, -1, 0);
	long nr = *nr_taken, step = nr / 40 + 1;

	for (long at = 1 + unit_first((int)step); at <= nr; at += step) {
		struct run run = run_mode(mode, -1, at);

		check((is_same(&run, &whole) || tells(&run)) && !strstr(run.error, "memory"), mode, at, &run);
		free(run.text);
	}
	free(whole.text);
}

/* It has no analysis, so that memory has nothing to do with its end. */
static void a_list_of_a_trace_that_is_cut_says_why_it_ends(void)
{
	const char *const modes[][MOST_ARGUMENTS] = {{"-d", cut_path}, {"-d", "-tsched", cut_path}};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		for (long at = 1; at < 100; at++) {
			struct run run = run_mode(modes[i], -1, at);

			check(!strstr(run.error, "memory"), modes[i], at, &run);
			free(run.text);
		}
}

static void no_report_of_a_cut_trace_looks_complete(void)
{
	const char *const modes[][MOST_ARGUMENTS] = {
		{cut_path, "--no-pager"},
		{"-a", cut_path},
		{"-s", cut_path},
		{"-d", cut_path},
		{"-d", "--json", cut_path},
		{"--json", cut_path},
		{"--verify", cut_path},
		{"--profile", cut_path},
		{"--strace", "-f", cut_path},
		{"--strace", "-c", cut_path},
		{"--timeline", cut_path},
		{"--critical-path=10", cut_path},
		{"--slowest=read", cut_path},
		{"--complete=event", cut_path},
		{"-a", "--output", output_path, cut_path},
		{"--timeline", "--output", output_path, cut_path},
		{"--flame", output_path, cut_path},
		{"--pprof", output_path, cut_path},
		{"--html", output_path, cut_path},
		{"--diff", cut_path, whole_path},
		{"--diff", whole_path, cut_path},
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		for (off_t at = 0; at < whole_bytes; at += PAGE)
			is_refused(modes[i], at);
}

static void a_report_of_a_trace_that_is_cut_later_is_whole_or_tells(void)
{
	const char *const modes[][MOST_ARGUMENTS] = {
		{cut_path, "--no-pager"},     {"-a", "--all", cut_path}, {"-d", cut_path},
		{"-d", "-y", cut_path},	      {"--json", cut_path},	 {"--verify", cut_path},
		{"--strace", "-f", cut_path}, {"--timeline", cut_path},	 {"--critical-path=10", cut_path},
		{"--slowest=read", cut_path}, {"--profile", cut_path},	 {"--diff", cut_path, whole_path},
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		is_whole_or_tells(modes[i]);
}

/* The size of the file is asked for before each chunk. A file system that fails has cut nothing. */
static void a_size_that_cannot_be_read_is_no_cut(void)
{
	const char *const modes[][MOST_ARGUMENTS] = {
		{"-d", cut_path}, {"-a", cut_path}, {"--verify", cut_path}, {"--json", cut_path}};
	long nr_whole = 0;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		struct run whole = run_mode(modes[i], -1, 0);

		for (long at = 1; at < 12; at++) {
			struct run run;

			size_fails_at = at;
			run = run_mode(modes[i], -1, 0);
			size_fails_at = 0;
			check(is_same(&run, &whole) || (WEXITSTATUS(run.status) == 1 && !*run.text &&
							strstr(run.error, "Input/output error")),
			      modes[i], at, &run);
			nr_whole += is_same(&run, &whole);
			free(run.text);
		}
		free(whole.text);
	}
	CU_ASSERT(nr_whole >= 4 * 8);
}

static void write_trace(void)
{
	static const struct mood mood = {
		.noise = 10, .nr_tids = 12, .switches = 40, .sleeps = 20, .cuts = 2, .nr_events = 4000, .moves = true};
	struct tb *tb = random_story(8, &mood);
	int fd = mkstemp(whole_path);

	tb_write(tb, fd, true);
	whole_bytes = lseek(fd, 0, SEEK_END);
	close(fd);
	tb_free(tb);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(no_report_of_a_cut_trace_looks_complete),
		CASE(a_report_of_a_trace_that_is_cut_later_is_whole_or_tells),
		CASE(a_list_of_a_trace_that_is_cut_says_why_it_ends),
		CASE(a_size_that_cannot_be_read_is_no_cut),
		{NULL, NULL},
	};
	int result;

	setenv("LC_ALL", "C", 1);
	close(mkstemp(cut_path));
	close(mkstemp(output_path));
	unlink(output_path);
	write_trace();
	nr_taken = mmap(NULL, sizeof(*nr_taken), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	result = unit_main("a trace that is cut", cases, argc, argv);
	unlink(whole_path);
	unlink(cut_path);
	return result;
}
