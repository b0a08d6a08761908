/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 20 };

int visualizer_main(int argc, char **argv); /* main() of tracevisualizer */
/* the compiler inserts calls */
void __sanitizer_cov_trace_pc(void) __attribute__((visibility("default")));

static __thread uint64_t steps; /* of this thread, without decoder threads */

void __sanitizer_cov_trace_pc(void)
{
	steps++;
}

/* ---- a trace ---- */

static void wrote(int error)
{
	if (error)
		abort();
}

void flush(struct story *story, struct trace_source *stream)
{
	if (stream->bytes)
		wrote(trace_writer_write(story->writer, trace_writer_pack(story->writer, stream, NULL), NULL));
	stream->bytes = 0;
	stream->nr_records = 0;
	stream->seq++;
}

void add(struct story *story, struct trace_source *stream, uint64_t ns, uint16_t id, const void *payload, size_t bytes,
	 const char *text)
{
	size_t text_bytes = text ? strlen(text) + 1 : 0, all = (bytes + text_bytes + 7) & ~7ul;
	struct trace_record record = {.time = (uint32_t)ns, .id = id, .words = (uint8_t)(1 + all / 8)};
	unsigned char *at;

	if (stream->bytes + 8 + all > BLOCK_BYTES)
		flush(story, stream);
	if (!stream->bytes)
		stream->base_ns = ns;
	at = memset((unsigned char *)stream->records + stream->bytes, 0, 8 + all);
	memcpy(mempcpy(mempcpy(at, &record, 8), payload, bytes), text ? text : "", text_bytes);
	stream->bytes += 8 + all;
	stream->nr_records++;
}

void thread(struct story *story, uint32_t tid, uint32_t tgid, int32_t call)
{
	BEFORE(story, start_thread, "thread", .tid = tid, .tgid = tgid, .ppid = 1, .nr = call,
	       .state = TRACE_TASK_INTERRUPTIBLE);
}

void run(struct story *story, uint32_t cpu, uint32_t from, uint32_t to)
{
	EVENT(story, cpu, sched_switch, NULL, .prev_tid = from, .next_tid = to, .prev_state = TRACE_TASK_INTERRUPTIBLE,
	      .next_prio = 120);
}

void enter(struct story *story, uint32_t cpu, uint32_t call, uint64_t first)
{
	EVENT(story, cpu, sys_enter3, NULL, .nr = call, .arg0 = first, .arg1 = 1, .arg2 = 1);
}

void leave(struct story *story, uint32_t cpu, int64_t result)
{
	EVENT(story, cpu, sys_exit, NULL, .ret = result);
}

void lose(struct story *story, struct trace_source *stream)
{
	flush(story, stream);
	stream->lost_total++;
}

static struct story story_begin(void)
{
	static const struct {
		int nr;
		const char *name;
	} calls[] = {{SYS_flock, "flock"},
		     {SYS_poll, "poll"},
		     {SYS_exit_group, "exit_group"},
		     {SYS_read, "read"},
		     {SYS_write, "write"},
		     {SYS_futex, "futex"},
		     {SYS_wait4, "wait4"},
		     {SYS_accept, "accept"},
		     {SYS_connect, "connect"},
		     {SYS_socket, "socket"},
		     {SYS_close, "close"},
		     {SYS_dup, "dup"},
		     {SYS_close_range, "close_range"},
		     {SYS_mmap, "mmap"},
		     {SYS_munmap, "munmap"},
		     {SYS_pipe, "pipe"},
		     {SYS_io_uring_enter, "io_uring_enter"}};
	struct story story = {.ns = 2000, .fd = memfd_create("story", MFD_CLOEXEC)};

	story.writer = trace_writer_new(
		story.fd, &(struct trace_writer_options){.size = sizeof(struct trace_writer_options), .start_ns = 1000},
		NULL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		trace_writer_string(story.writer, TRACE_STRING_SYSCALL, (uint64_t)calls[i].nr, calls[i].name);
	for (uint32_t i = 0; i < NR_STREAMS; i++)
		story.streams[i] = (struct trace_source){.records = malloc(BLOCK_BYTES),
							 .seq = 1,
							 .stream = 2 * i,
							 .cpu = i,
							 .kind = TRACE_CHUNK_EVENTS};
	for (uint32_t i = PROGRAM; i <= OTHER_PROGRAM; i++) {
		story.streams[i].stream = 0x10000 + i;
		story.streams[i].cpu = i - PROGRAM;
	}
	story.streams[START].stream = 0xffff0000;
	story.streams[START].cpu = 0;
	story.streams[START].kind = TRACE_CHUNK_START_STATE;
	return story;
}

/* Copies the last story to the file that TRACE_STORY names, for inspection. */
static void keep(int fd, const char *path)
{
	int to = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
	off_t at = 0;

	if (to < 0)
		return;
	while (sendfile(to, fd, &at, 1 << 20) > 0)
		;
	close(to);
}

/* Returns the number of steps of tracevisualizer for a report. */
static uint64_t story_end(struct story *story, const char *option)
{
	char path[64], name[] = "tracevisualizer", asked[16], *arguments[] = {name, asked, path, NULL};
	int out = dup(STDOUT_FILENO), nothing = memfd_create("report", MFD_CLOEXEC);
	uint64_t since;

	for (uint32_t i = 0; i < NR_STREAMS; i++) {
		flush(story, &story->streams[i]);
		free((void *)story->streams[i].records);
	}
	wrote(trace_writer_statistics(story->writer, NULL, 0, story->ns + 1000, NULL));
	wrote(trace_writer_finish(story->writer, NULL));
	trace_writer_free(story->writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", story->fd);
	keep(story->fd, getenv("TRACE_STORY"));
	snprintf(asked, sizeof(asked), "%s", option);
	fflush(stdout);
	dup2(nothing, STDOUT_FILENO);
	since = steps;
	CU_ASSERT_EQUAL(visualizer_main(3, arguments), 0);
	since = steps - since;
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	close(nothing);
	close(story->fd);
	return since;
}

static uint64_t steps_of(tell_fn tell, uint32_t nr, const char *option)
{
	struct story story = story_begin();

	tell(&story, nr);
	return story_end(&story, option);
}

bool each_costs_the_same(tell_fn tell, uint32_t nr, const char *option)
{
	uint64_t few = steps_of(tell, nr, option), more = steps_of(tell, 2 * nr, option),
		 many = steps_of(tell, 4 * nr, option);
	bool same = many - more < 3 * (more - few);

	CU_ASSERT(more - few > nr); /* at least one step each: counting works */
	CU_ASSERT(same);
	if (!same)
		printf("%u, %u and %u take %llu, %llu and %llu steps\n", nr, 2 * nr, 4 * nr, (unsigned long long)few,
		       (unsigned long long)more, (unsigned long long)many);
	return same;
}
