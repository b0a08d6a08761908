/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_writer_faults.c - output that fails: what was written stays readable, and the rest is
 * counted. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image.h"
#include "rawfile.h"
#include "unit.h"

static struct seen seen_of_path(const char *path)
{
	struct trace_error error;
	struct trace *trace = trace_open(path, &error);
	struct seen seen;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	seen = seen_of(trace, NULL);
	trace_close(trace);
	return seen;
}

static void tb_many(struct tb *tb, int nr)
{
	for (int i = 0; i < nr; i++)
		tb_add(tb, (uint32_t)i % 2, 1000 + (uint64_t)i * 10, sys_exit, NULL, .ret = (int64_t)tb_random());
}

static void on_alarm(int number)
{
}

/* Interrupts every write that waits, before its first byte or after some. */
static void be_interrupted(void)
{
	struct sigaction action = {.sa_handler = on_alarm}; /* without SA_RESTART */
	struct itimerval often = {{0, 100}, {0, 100}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

/* @prepare: runs first in the writing process */
static void check_pipe(int flags, void (*prepare)(void))
{
	struct tb *tb = tb_new();
	char path[] = "/tmp/test_reader-XXXXXX";
	int pipe_fds[2], saved = dup(STDIN_FILENO), fd = mkstemp(path);
	struct seen whole, piped;
	pid_t child;

	tb_many(tb, 50000); /* more than a pipe holds */
	tb_write(tb, fd, true);
	whole = seen_of_path(path);
	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		abort();
	fcntl(pipe_fds[1], F_SETFL, flags);
	child = fork();
	if (child == 0) {
		close(pipe_fds[0]);
		if (prepare)
			prepare();
		tb_write(tb, pipe_fds[1], true);
		_exit(0);
	}
	close(pipe_fds[1]);
	dup2(pipe_fds[0], STDIN_FILENO);
	piped = seen_of_path("-");
	dup2(saved, STDIN_FILENO);
	waitpid(child, NULL, 0);
	CU_ASSERT_EQUAL(whole.nr, 50000);
	CU_ASSERT_EQUAL(seen_missing(&whole, &piped), 0);
	seen_free(&whole);
	seen_free(&piped);
	close(pipe_fds[0]);
	close(saved);
	close(fd);
	unlink(path);
	tb_free(tb);
}

static void a_pipe_carries_a_whole_trace(void)
{
	check_pipe(O_NONBLOCK, NULL); /* short writes, and waiting for room */
}

static void a_storm_of_signals_changes_nothing(void)
{
	check_pipe(0, be_interrupted);
	check_pipe(O_NONBLOCK, be_interrupted);
}

/* A file that may not grow at times: written chunks stay complete, and the others are counted. */
static void a_full_disk_loses_only_the_failed_writes(void)
{
	char path[] = "/tmp/test_reader-XXXXXX";
	struct rawfile *file = rawfile_new();
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 2000, .attempted = 2000};
	struct rlimit limit, unlimited;
	struct trace_writer_totals totals;
	struct stat stat;
	struct trace *trace;
	struct seen seen;
	int nr_failed = 0;

	signal(SIGXFSZ, SIG_IGN);
	trace_writer_free(file->writer);
	close(file->fd);
	file->fd = mkstemp(path);
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->writer = trace_writer_new(file->fd, NULL, NULL);
	getrlimit(RLIMIT_FSIZE, &unlimited);
	for (uint32_t i = 0; i < 20; i++) {
		bool full = i >= 5 && i < 8;

		fstat(file->fd, &stat);
		limit = unlimited;
		limit.rlim_cur = full ? (rlim_t)stat.st_size + 300 : unlimited.rlim_cur; /* in the middle of a chunk */
		setrlimit(RLIMIT_FSIZE, &limit);
		nr_failed += rawfile_random(file, i) == -EFBIG;
		setrlimit(RLIMIT_FSIZE, &unlimited);
	}
	trace_writer_totals(file->writer, &totals);
	CU_ASSERT_EQUAL(nr_failed, 3);
	CU_ASSERT_EQUAL(totals.lost_write, 300);
	CU_ASSERT_EQUAL(totals.events, 1700);
	trace = rawfile_open(file, &stats);
	seen = seen_of(trace, NULL);
	CU_ASSERT_EQUAL(seen.nr, 1700);
	CU_ASSERT_EQUAL(seen.lost, 300);
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	CU_ASSERT_EQUAL(trace_nr_gaps(trace), 1);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->cause, TRACE_GAP_UNWRITTEN);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->start_ns, 4099);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->end_ns, 8000);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	seen_free(&seen);
	trace_close(trace);
	unlink(path);
}

static void losses_at_the_end_of_a_full_disk_are_in_the_statistics(void)
{
	char path[] = "/tmp/test_reader-XXXXXX";
	struct rawfile *file = rawfile_new();
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 200, .attempted = 200};
	struct rlimit limit, unlimited;
	struct trace *trace;
	struct seen seen;
	struct stat stat;

	trace_writer_free(file->writer);
	close(file->fd);
	file->fd = mkstemp(path);
	snprintf(file->path, sizeof(file->path), "%s", path);
	file->writer = trace_writer_new(file->fd, NULL, NULL);
	getrlimit(RLIMIT_FSIZE, &unlimited);
	rawfile_random(file, 0);
	fstat(file->fd, &stat);
	limit = unlimited;
	limit.rlim_cur = (rlim_t)stat.st_size + 10;
	setrlimit(RLIMIT_FSIZE, &limit);
	CU_ASSERT_EQUAL(rawfile_random(file, 1), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &unlimited);
	trace = rawfile_open(file, &stats);
	seen = seen_of(trace, NULL);
	CU_ASSERT_EQUAL(seen.nr, 100);
	CU_ASSERT_EQUAL(seen.lost, 100);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	seen_free(&seen);
	trace_close(trace);
	unlink(path);
}

/* The recorder is killed before it could write the names at the end: they were written with the
 * first block that fitted. */
static void unwritten_names_come_with_the_next_block(void)
{
	struct rlimit limit, unlimited;
	struct rawfile *file = rawfile_new();
	struct trace *trace;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &unlimited);
	limit = unlimited;
	limit.rlim_cur = (rlim_t)lseek(file->fd, 0, SEEK_END) + 10;
	trace_writer_string(file->writer, TRACE_STRING_SYSCALL, 7, "poll");
	setrlimit(RLIMIT_FSIZE, &limit);
	CU_ASSERT_EQUAL(trace_writer_flush_strings(file->writer, NULL), -EFBIG);
	CU_ASSERT_EQUAL(rawfile_random(file, 0), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &unlimited);
	CU_ASSERT_EQUAL(rawfile_random(file, 1), 0);
	trace_writer_free(file->writer);
	trace = trace_open(file->path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_STRING_EQUAL_FATAL(trace_string(trace, TRACE_STRING_SYSCALL, 7)
					     ? trace_string(trace, TRACE_STRING_SYSCALL, 7)
					     : "",
				     "poll");
	trace_close(trace);
	close(file->fd);
	free(file);
}

/**
 * struct flushing - a writer that is about to write to a full pipe
 */
struct flushing {
	struct trace_writer *writer;
	int error;
};

static void *flush_strings(void *context)
{
	struct flushing *flushing = context;

	flushing->error = trace_writer_flush_strings(flushing->writer, NULL);
	return NULL;
}

/* Another thread gives a number a new name while the first name is being written, and that write
 * fails. */
static void a_name_whose_write_failed_does_not_follow_a_newer_one(void)
{
	struct rawfile *file = rawfile_new();
	struct flushing flushing = {0};
	char junk[32768] = {0};
	struct trace *trace;
	pthread_t thread;
	int ends[2];
	ssize_t bytes;

	trace_writer_free(file->writer);
	CU_ASSERT_EQUAL_FATAL(pipe2(ends, O_CLOEXEC), 0);
	flushing.writer = file->writer = trace_writer_new(ends[1], NULL, NULL);
	bytes = read(ends[0], junk, sizeof(junk)); /* the head of the trace */
	CU_ASSERT_EQUAL(ftruncate(file->fd, 0), 0);
	CU_ASSERT_EQUAL(pwrite(file->fd, junk, (size_t)bytes, 0), bytes);
	CU_ASSERT(bytes < (ssize_t)sizeof(junk));
	lseek(file->fd, 0, SEEK_END);
	fcntl(ends[1], F_SETFL, O_NONBLOCK);
	while (write(ends[1], junk, sizeof(junk)) > 0)
		;
	trace_writer_string(file->writer, TRACE_STRING_SYSCALL, 7, "older");
	pthread_create(&thread, NULL, flush_strings, &flushing);
	usleep(50000); /* the thread waits for room; if it does not yet, the test sees nothing */
	trace_writer_string(file->writer, TRACE_STRING_SYSCALL, 7, "newer");
	signal(SIGPIPE, SIG_IGN);
	close(ends[0]);
	pthread_join(thread, NULL);
	CU_ASSERT_EQUAL(flushing.error, -EPIPE);
	dup2(file->fd, ends[1]); /* and now there is room to write */
	trace = rawfile_open(file, NULL);
	CU_ASSERT_STRING_EQUAL(trace_string(trace, TRACE_STRING_SYSCALL, 7), "newer");
	trace_close(trace);
	close(ends[1]);
}

static void a_device_that_is_always_full_is_an_error_at_the_begin(void)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct trace_error error;

	CU_ASSERT_PTR_NULL(trace_writer_new(fd, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -ENOSPC);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "No space left"));
	close(fd);
}

/* The reader of the pipe closes it and leaves a part of a chunk; the next reader's data begins with
 * that. */
static void a_partial_chunk_in_a_pipe_loses_only_that_chunk(void)
{
	struct rawfile *file = rawfile_new();
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 300, .attempted = 300};
	struct image whole, broken;
	struct trace_chunk_header header;
	struct trace *trace;
	struct seen seen;
	size_t at, end;
	unsigned char *data;

	for (uint32_t i = 0; i < 3; i++)
		rawfile_random(file, i);
	CU_ASSERT_EQUAL(trace_writer_statistics(file->writer, &stats, 1, 9999, NULL), 0);
	CU_ASSERT_EQUAL(trace_writer_finish(file->writer, NULL), 0);
	lseek(file->fd, 0, SEEK_SET);
	data = malloc(1 << 20);
	end = (size_t)read(file->fd, data, 1 << 20);
	whole = image_of(data, end);
	at = (size_t)image_find(&whole, TRACE_CHUNK_EVENTS, 1, &header);
	memmove(data + at + 500, data + at + header.header_bytes + header.packed_bytes,
		end - at - header.header_bytes - header.packed_bytes);
	broken = image_of(data, end + 500 - header.header_bytes - header.packed_bytes);
	trace = trace_open(broken.path, NULL);
	seen = seen_of(trace, NULL);
	CU_ASSERT_EQUAL(seen.nr, 200);
	CU_ASSERT_EQUAL(seen.lost, 100);
	seen_free(&seen);
	trace_close(trace);
	image_free(&whole);
	image_free(&broken);
	trace_writer_free(file->writer);
	close(file->fd);
	free(file);
	free(data);
}

/* The chunk that would have reported the loss could not be written. The next one reports it, once,
 * separately from the events of that chunk. */
static void losses_by_failed_writes_and_by_undecodable_records_are_separate(void)
{
	struct trace_stream_stats stats = {.stream = 9, .cpu = 2, .stored = 305, .attempted = 305};
	struct rlimit limit, unlimited;
	struct rawfile *file = rawfile_new();
	struct trace_writer_totals totals;
	struct trace *trace;

	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &unlimited);
	rawfile_random(file, 0);
	rawfile_nonsense(file, 1000, 5);
	limit = unlimited;
	limit.rlim_cur = (rlim_t)lseek(file->fd, 0, SEEK_END) + 10;
	setrlimit(RLIMIT_FSIZE, &limit);
	CU_ASSERT_EQUAL(rawfile_random(file, 2), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &unlimited);
	rawfile_random(file, 3);
	trace_writer_totals(file->writer, &totals);
	CU_ASSERT_EQUAL(totals.lost_write, 100);
	CU_ASSERT_EQUAL(totals.undecodable, 5);
	trace = rawfile_open(file, &stats);
	CU_ASSERT_EQUAL_FATAL(trace_nr_gaps(trace), 2);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->cause, TRACE_GAP_UNWRITTEN);
	CU_ASSERT_EQUAL(trace_get_gap(trace, 0)->lost, 100);
	rawfile_check_gap(trace, 1, 99, 9999, 5);
	CU_ASSERT_EQUAL(trace_verify(trace, NULL), 0);
	trace_close(trace);
}

static const struct unit_case cases[] = {
	{"a_pipe_carries_a_whole_trace", a_pipe_carries_a_whole_trace},
	{"a_storm_of_signals_changes_nothing", a_storm_of_signals_changes_nothing},
	{"a_full_disk_loses_only_the_failed_writes", a_full_disk_loses_only_the_failed_writes},
	{"losses_at_the_end_of_a_full_disk_are_in_the_statistics",
	 losses_at_the_end_of_a_full_disk_are_in_the_statistics},
	{"losses_by_failed_writes_and_by_undecodable_records_are_separate",
	 losses_by_failed_writes_and_by_undecodable_records_are_separate},
	{"unwritten_names_come_with_the_next_block", unwritten_names_come_with_the_next_block},
	{"a_name_whose_write_failed_does_not_follow_a_newer_one",
	 a_name_whose_write_failed_does_not_follow_a_newer_one},
	{"a_device_that_is_always_full_is_an_error_at_the_begin",
	 a_device_that_is_always_full_is_an_error_at_the_begin},
	{"a_partial_chunk_in_a_pipe_loses_only_that_chunk", a_partial_chunk_in_a_pipe_loses_only_that_chunk},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("writer_faults", cases, argc, argv);
}
