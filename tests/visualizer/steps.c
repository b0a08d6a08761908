/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "steps.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>
#include "view_row.h"
#include "view_session.h"

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

static void story_write(struct story *story)
{
	for (uint32_t i = 0; i < NR_STREAMS; i++) {
		flush(story, &story->streams[i]);
		free((void *)story->streams[i].records);
	}
	wrote(trace_writer_statistics(story->writer, NULL, 0, story->ns + 1000, NULL));
	wrote(trace_writer_finish(story->writer, NULL));
	trace_writer_free(story->writer);
	keep(story->fd, getenv("TRACE_STORY"));
}

/* ---- costs ---- */

enum { MOST_COSTS = 64, TEXT_BYTES = 1024, NR_SHOWN_ROWS = 50 };

/* struct costs - the steps of each part of a report, and its bytes */
struct costs {
	struct cost {
		char name[48];
		uint64_t steps, bytes, us;
	} each[MOST_COSTS];
	size_t nr;
};

static uint64_t cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static struct cost *cost_begin(struct costs *costs, const char *name)
{
	struct cost *cost = &costs->each[costs->nr++];

	snprintf(cost->name, sizeof(cost->name), "%s", name);
	cost->us = cpu_us();
	cost->steps = steps;
	return cost;
}

static void cost_end(struct cost *cost, uint64_t bytes)
{
	cost->steps = steps - cost->steps;
	cost->us = cpu_us() - cost->us;
	cost->bytes = bytes;
}

/* A report of tracevisualizer. */
static void report_costs(const char *path, const char *option, struct costs *costs)
{
	char name[] = "tracevisualizer", asked[64], file[64], *arguments[] = {name, asked, file, NULL};
	int out = dup(STDOUT_FILENO), report = memfd_create("report", MFD_CLOEXEC);
	struct cost *cost;

	snprintf(asked, sizeof(asked), "%s", option);
	snprintf(file, sizeof(file), "%s", path);
	fflush(stdout);
	dup2(report, STDOUT_FILENO);
	cost = cost_begin(costs, option);
	CU_ASSERT_EQUAL(visualizer_main(3, arguments), 0);
	fflush(stdout);
	cost_end(cost, (uint64_t)lseek(report, 0, SEEK_CUR));
	dup2(out, STDOUT_FILENO);
	close(out);
	close(report);
}

/* ---- the view ---- */

/* Questions of a page. C, P, T: a row; L: the last thread; A: the first rows; Q, H: a time */
static const char *const questions[] = {"about",
					"rows",
					"sums",
					"sums?from=Q&to=H",
					"search?text=e",
					"spans?row=T",
					"spans?row=C",
					"at?row=T&t=H",
					"at?row=L&t=H",
					"at?row=C&t=H",
					"waits",
					"waits?from=Q&to=H",
					"waits?row=P",
					"waits?row=T",
					"clients",
					"clients?from=Q&to=H",
					"billed?row=T",
					"servers",
					"requests",
					"requests?longest=1",
					"counters",
					"counters?from=Q&to=H",
					"counters?columns=1000&name=use%20of%20CPU%200",
					"counters?columns=1000&name=lost%20events",
					"counters?columns=1000&name=bytes%20read",
					"counters?columns=1000&name=threads%20that%20wait%20for%20a%20CPU",
					"lanes",
					"scopes?row=T",
					"path?row=T",
					"path?row=T&from=Q&to=H",
					"path?row=L",
					"verdict",
					"verdict?from=Q&to=H",
					"shares?rows=C&columns=500",
					"shares?rows=P&columns=500",
					"shares?rows=A&columns=500",
					"shares?rows=A&columns=500&from=Q&to=H",
					"shares?rows=A&columns=500&by=client",
					"sampled",
					"samples?row=T&columns=500",
					"sample?row=T&t=H&within=1000000",
					"functions",
					"functions?from=Q&to=H",
					"functions?row=T",
					"books",
					"books?from=Q&to=H",
					"count?from=Q&to=H",
					"tables",
					"tables?from=Q&to=H",
					"events?from=H"};

static size_t put_rows(struct view_session *session, char *text, size_t room)
{
	size_t bytes = 0, nr = 0;

	for (enum trace_row_kind kind = TRACE_ROW_CPU; kind <= TRACE_ROW_THREAD; kind++)
		for (uint32_t i = 0; i < trace_view_nr_rows(session->view, kind) && nr < NR_SHOWN_ROWS; i++, nr++)
			bytes += (size_t)snprintf(text + bytes, room - bytes, "%s%u", bytes ? "," : "",
						  view_row_number((struct trace_row_id){kind, i}));
	return bytes;
}

static size_t put_value(struct view_session *session, char letter, char *text, size_t room)
{
	size_t nr_threads = trace_view_nr_rows(session->view, TRACE_ROW_THREAD);
	uint64_t width = session->end - session->start, value = 0;

	switch (letter) {
	case 'A':
		return put_rows(session, text, room);
	case 'C':
	case 'P':
	case 'T':
		value = view_row_number((struct trace_row_id){letter == 'C'   ? TRACE_ROW_CPU
							      : letter == 'P' ? TRACE_ROW_PROCESS
									      : TRACE_ROW_THREAD,
							      0});
		break;
	case 'L':
		value = view_row_number(
			(struct trace_row_id){TRACE_ROW_THREAD, nr_threads ? (uint32_t)nr_threads - 1 : 0});
		break;
	case 'Q':
	case 'H':
		value = letter == 'Q' ? width / 4 : width / 2;
	}
	return (size_t)snprintf(text, room, "%llu", (unsigned long long)value);
}

static void ask(struct view_session *session, const char *question, struct costs *costs)
{
	char text[TEXT_BYTES];
	struct view_answer answer;
	struct cost *cost;
	size_t bytes = 0;

	for (const char *at = question; *at && bytes < sizeof(text) - 32; at++)
		if (at > question && at[-1] == '=' && strchr("ACPTLQH", *at))
			bytes += put_value(session, *at, text + bytes, sizeof(text) - bytes);
		else
			text[bytes++] = *at;
	text[bytes] = 0;
	cost = cost_begin(costs, question);
	answer = view_answer(session, text);
	cost_end(cost, answer.size);
	free(answer.bytes);
}

static void session_read(struct view_session *session)
{
	int result = 0;

	for (unsigned int i = 1; result == 0; i++)
		result = view_session_step(session, i, 16);
	CU_ASSERT_EQUAL_FATAL(result, 1);
}

static void view_costs(const char *path, struct costs *costs)
{
	static const struct visualizer_options options = {
		.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};
	static struct view_session session;
	struct trace *trace = trace_open(path, NULL);
	struct cost *cost = cost_begin(costs, "(reading)");
	struct view_answer answer;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL_FATAL(view_session_begin(&session, trace, &options), 0);
	session_read(&session);
	cost_end(cost, 0);
	answer = view_answer(&session, "tables"); /* they come */
	free(answer.bytes);
	cost = cost_begin(costs, "(reading tables)");
	session_read(&session);
	cost_end(cost, 0);
	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++)
		ask(&session, questions[i], costs);
	view_session_end(&session);
	trace_close(trace);
}

/* ---- growth ---- */

static void costs_of(tell_fn tell, uint32_t nr, const char *option, struct costs *costs)
{
	struct story story = story_begin();
	char path[64];

	tell(&story, nr);
	story_write(&story);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", story.fd);
	costs->nr = 0;
	if (strcmp(option, VIEW) == 0)
		view_costs(path, costs);
	else
		report_costs(path, option, costs);
	close(story.fd);
}

/*
 * The steps that are added may double, with a little more for each thing: a question may have a row
 * less. An answer with many things may be cut, and has another form then: all of it may double.
 */
static bool is_linear(uint64_t few, uint64_t more, uint64_t many, uint64_t slack)
{
	if (more < few + few / 2)
		return many <= 3 * more + slack;
	return many <= more + 3 * (more - few) + slack;
}

static void print_cost(const char *option, uint32_t nr, const struct cost *few, const struct cost *more,
		       const struct cost *many)
{
	printf("%s %s of %u, %u and %u takes %llu, %llu and %llu steps; %llu, %llu and %llu bytes; %llu, %llu and %llu "
	       "us\n",
	       option, few->name, nr, 2 * nr, 4 * nr, (unsigned long long)few->steps, (unsigned long long)more->steps,
	       (unsigned long long)many->steps, (unsigned long long)few->bytes, (unsigned long long)more->bytes,
	       (unsigned long long)many->bytes, (unsigned long long)few->us, (unsigned long long)more->us,
	       (unsigned long long)many->us);
}

bool each_costs_the_same(tell_fn tell, uint32_t nr, const char *option)
{
	static struct costs few, more, many;
	bool all_same = true;

	nr = getenv("NR") ? (uint32_t)atoi(getenv("NR")) : nr;
	costs_of(tell, nr, option, &few);
	costs_of(tell, 2 * nr, option, &more);
	costs_of(tell, 4 * nr, option, &many);
	CU_ASSERT(more.each[0].steps - few.each[0].steps > nr); /* at least one step each: counting works */
	for (size_t i = 0; i < few.nr; i++) {
		const struct cost *one = &few.each[i], *two = &more.each[i], *four = &many.each[i];
		bool same = is_linear(one->steps, two->steps, four->steps, few.nr > 1 ? 4ull * nr : 0) &&
			    is_linear(one->bytes, two->bytes, four->bytes, 4ull * nr);

		CU_ASSERT(same);
		all_same &= same;
		if (!same || getenv("TRACE_STEPS"))
			print_cost(same ? "    " : "BAD ", nr, one, two, four);
	}
	return all_same;
}

/* A sample has the report of each second story and the view of the others, and the next day the
 * other one of both. */
bool each_costs_the_same_shown(tell_fn tell, uint32_t nr)
{
	static unsigned int nr_stories;
	bool is_sample = unit_step(7) > 1, has_report = (nr_stories++ + (unsigned int)unit_first(2)) % 2;
	bool same = (is_sample && !has_report) || each_costs_the_same(tell, nr, "-a");

	return ((is_sample && has_report) || each_costs_the_same(tell, nr, VIEW)) && same;
}

struct view_cost view_cost_of(tell_fn tell, uint32_t nr, const char *question)
{
	static struct costs costs;

	costs_of(tell, nr, VIEW, &costs);
	for (size_t i = 0; i < costs.nr; i++)
		if (strncmp(costs.each[i].name, question, sizeof(costs.each[i].name) - 1) == 0)
			return (struct view_cost){costs.each[i].steps, costs.each[i].bytes};
	CU_FAIL_FATAL("no such question");
	return (struct view_cost){0};
}

uint16_t steps_user_type(struct story *story, const char *name, enum trace_event_role role)
{
	static const struct trace_field value = {.name = "value", .offset = 8, .bytes = 8, .kind = TRACE_KIND_DEC};
	struct trace_event_type type = {.name = name,
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.source = "",
					.fields = &value,
					.nr_fields = 1,
					.fixed_bytes = 16,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					.role = role};
	uint16_t id = 0;

	CU_ASSERT_EQUAL_FATAL(trace_writer_event_type(story->writer, &type, &id, NULL), 0);
	return id;
}
