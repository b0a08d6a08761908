/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_reader_follow.c - a reader that follows a recording delivers the events of the finished
 * file, byte for byte as texts, however the file grows.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <trace/analysis.h>

#include "follow_case.h"

/* ---- a list of events, as -d ---- */

/** struct list - texts of events. @last_ns: of the last one */
struct list {
	char *text; /* owned */
	size_t bytes;
	FILE *out;
	uint64_t last_ns;
	size_t nr;
};

static struct list *list_begin(struct list *list)
{
	*list = (struct list){0};
	list->out = open_memstream(&list->text, &list->bytes);
	return list;
}

static void list_take(struct list *list, const struct trace *trace, struct trace_cursor *cursor)
{
	const struct trace_event *event;
	char text[512];

	while ((event = trace_cursor_next(cursor))) {
		trace_event_format(trace, event, text, sizeof(text));
		fprintf(list->out, "%llu %u %u %s\n", (unsigned long long)event->ts_ns, event->cpu, event->stream,
			text);
		list->last_ns = event->ts_ns;
		list->nr++;
	}
	CU_ASSERT_EQUAL(trace_cursor_error(cursor, NULL), 0);
	fflush(list->out);
}

static struct list list_of_file(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct list list;

	list_take(list_begin(&list), trace, cursor);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	fclose(list.out);
	return list;
}

static bool lists_agree(const struct list *a, const struct list *b)
{
	return a->bytes == b->bytes && memcmp(a->text, b->text, a->bytes) == 0;
}

/* ---- growing ---- */

/* Follows a file that grows by at most @step bytes at a time. */
static struct list follow_growing(struct growth *growth, const char *path, size_t step)
{
	struct trace_cursor *cursor;
	struct trace *trace;
	struct list list;
	int more = 1;

	grow(growth, sizeof(struct trace_file_header) + tb_random() % step);
	trace = trace_follow(path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_begin(&list);
	while (more > 0) {
		list_take(&list, trace, cursor);
		CU_ASSERT_TRUE(!list.nr || list.last_ns < trace_follow_safe_ns(trace));
		CU_ASSERT_TRUE_FATAL(growth->done < growth->bytes);
		grow(growth, 1 + tb_random() % step);
		more = trace_follow_more(trace, NULL);
	}
	CU_ASSERT_EQUAL(more, 0);
	CU_ASSERT_EQUAL(growth->done, growth->bytes);
	CU_ASSERT_EQUAL(trace_follow_safe_ns(trace), UINT64_MAX);
	list_take(&list, trace, cursor);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	fclose(list.out);
	return list;
}

static void a_growing_file_has_the_events_of_the_finished_one(void)
{
	static const size_t steps[] = {7, 100, 1000, 20000};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		struct recording recording = recording_made();
		struct list all = list_of_file(path_of(recording.fd)), followed;
		int to = memfd_create("growing", MFD_CLOEXEC);
		struct growth growth = growth_of(recording.fd, to);

		followed = follow_growing(&growth, path_of(to), steps[i]);
		CU_ASSERT_TRUE(all.nr > 100);
		CU_ASSERT_TRUE(lists_agree(&all, &followed));
		free(all.text);
		free(followed.text);
		free(growth.data);
		close(to);
		recording_free(&recording);
	}
}

static void a_cursor_has_all_events_before_the_safe_point(void)
{
	struct recording recording = recording_new();
	uint64_t ends[NR_STREAMS] = {ROUND_NS, ROUND_NS, ROUND_NS};
	struct trace *trace = trace_follow(path_of(recording.fd), NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct trace_error error = {0};
	struct list list;

	list_begin(&list);
	for (uint64_t round = 2; round < NR_ROUNDS; round++) {
		write_round(&recording, ends, round * ROUND_NS);
		CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
		list_take(&list, trace, cursor);
		CU_ASSERT_EQUAL(trace_follow_safe_ns(trace), round * ROUND_NS - MARGIN_NS);
	}
	CU_ASSERT_PTR_NULL(trace_analysis_new(trace, NULL, &error)); /* its pass would end here */
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	CU_ASSERT_TRUE(list.last_ns > (NR_ROUNDS - 2) * (uint64_t)ROUND_NS);
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(list.out);
	free(list.text);
	recording_free(&recording);
}

static void a_second_cursor_and_a_seek_see_the_same(void)
{
	struct recording recording = recording_made();
	struct list all = list_of_file(path_of(recording.fd)), first, second;
	int to = memfd_create("growing", MFD_CLOEXEC), more = 1;
	struct growth growth = growth_of(recording.fd, to);
	struct trace_cursor *cursor, *again;
	struct trace *trace;

	grow(&growth, growth.bytes / 2);
	trace = trace_follow(path_of(to), NULL);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&first), trace, cursor);
	CU_ASSERT_TRUE(first.nr > 10 && first.nr < all.nr);
	while (more > 0) {
		grow(&growth, 3000);
		more = trace_follow_more(trace, NULL);
		list_take(&first, trace, cursor);
	}
	again = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&second), trace, again);
	CU_ASSERT_TRUE(lists_agree(&all, &first));
	CU_ASSERT_TRUE(lists_agree(&all, &second));
	trace_cursor_free(cursor);
	trace_cursor_free(again);
	trace_close(trace);
	fclose(first.out);
	fclose(second.out);
	free(first.text);
	free(second.text);
	free(all.text);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

/* ---- ends ---- */

static void a_file_that_is_cut_within_a_chunk_goes_on_later(void)
{
	struct recording recording = recording_made();
	struct list all = list_of_file(path_of(recording.fd)), followed;
	int to = memfd_create("growing", MFD_CLOEXEC);
	struct growth growth = growth_of(recording.fd, to);
	struct trace_cursor *cursor;
	struct trace *trace;
	int more = 1;

	grow(&growth, growth.bytes / 3 + 11);
	trace = trace_follow(path_of(to), NULL);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&followed), trace, cursor);
	for (int i = 0; i < 5; i++) { /* nothing comes */
		CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
		list_take(&followed, trace, cursor);
	}
	CU_ASSERT_EQUAL(trace_nr_damages(trace), 0);
	grow(&growth, growth.bytes);
	more = trace_follow_more(trace, NULL);
	list_take(&followed, trace, cursor);
	CU_ASSERT_EQUAL(more, 0);
	CU_ASSERT_TRUE(lists_agree(&all, &followed));
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(followed.out);
	free(followed.text);
	free(all.text);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

static void the_end_of_a_dead_recorder_is_that_of_the_cut_file(void)
{
	struct recording recording = recording_made();
	int to = memfd_create("growing", MFD_CLOEXEC);
	struct growth growth = growth_of(recording.fd, to);
	struct list all, followed;
	struct trace_cursor *cursor;
	struct trace *trace;

	grow(&growth, growth.bytes / 2 + 17);
	all = list_of_file(path_of(to));
	trace = trace_follow(path_of(to), NULL);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_take(list_begin(&followed), trace, cursor);
	CU_ASSERT_EQUAL(trace_follow_end(trace, NULL), 0);
	list_take(&followed, trace, cursor);
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 0);
	CU_ASSERT_FALSE(trace_get_info(trace)->clean_end);
	CU_ASSERT_TRUE(lists_agree(&all, &followed));
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(followed.out);
	free(followed.text);
	free(all.text);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

static void a_finished_trace_is_one_of_trace_open(void)
{
	struct recording recording = recording_made();
	struct trace *followed = trace_follow(path_of(recording.fd), NULL),
		     *opened = trace_open(path_of(recording.fd), NULL);
	const struct trace_info *x = trace_get_info(followed), *y = trace_get_info(opened);

	CU_ASSERT_EQUAL(trace_follow_more(followed, NULL), 0);
	CU_ASSERT_EQUAL(x->events, y->events);
	CU_ASSERT_EQUAL(x->lost, y->lost);
	CU_ASSERT_EQUAL(x->start_ns, y->start_ns);
	CU_ASSERT_EQUAL(x->end_ns, y->end_ns);
	CU_ASSERT_EQUAL(x->nr_cpus, y->nr_cpus);
	CU_ASSERT_EQUAL(x->clean_end, y->clean_end);
	CU_ASSERT_EQUAL(trace_nr_chunks(followed), trace_nr_chunks(opened));
	CU_ASSERT_EQUAL(trace_nr_types(followed), trace_nr_types(opened));
	CU_ASSERT_EQUAL(trace_nr_gaps(followed), trace_nr_gaps(opened));
	CU_ASSERT_EQUAL(trace_nr_streams(followed), trace_nr_streams(opened));
	CU_ASSERT_EQUAL(trace_verify(followed, NULL), 0);
	CU_ASSERT_STRING_EQUAL(trace_string(followed, TRACE_STRING_IRQ, 0) ?: "",
			       trace_string(opened, TRACE_STRING_IRQ, 0) ?: "");
	trace_close(followed);
	trace_close(opened);
	recording_free(&recording);
}

static void an_event_that_comes_late_is_delivered(void)
{
	struct recording recording = recording_new();
	struct trace_sched_switch payload = {.prev_tid = 1, .next_tid = 7};
	struct trace *trace = trace_follow(path_of(recording.fd), NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct block block = {0};
	struct list list;

	list_begin(&list);
	block_add(&block, 2 * (uint64_t)ROUND_NS, TRACE_EV_sched_switch, &payload, sizeof(payload));
	write_block(&recording, 0, &block);
	write_heartbeat(&recording, 4 * (uint64_t)ROUND_NS);
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
	list_take(&list, trace, cursor);
	CU_ASSERT_EQUAL(list.nr, 1);
	block = (struct block){0};
	block_add(&block, 3 * (uint64_t)ROUND_NS, TRACE_EV_sched_switch, &payload, sizeof(payload));
	write_block(&recording, 2, &block);
	write_heartbeat(&recording, 5 * (uint64_t)ROUND_NS);
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
	list_take(&list, trace, cursor);
	CU_ASSERT_EQUAL(list.nr, 3); /* it, and the first heartbeat */
	trace_cursor_free(cursor);
	trace_close(trace);
	fclose(list.out);
	free(list.text);
	recording_free(&recording);
}

/* ---- refused ---- */

static void a_file_without_a_header_is_to_be_tried_again(void)
{
	int fd = memfd_create("empty", MFD_CLOEXEC);
	struct trace_error error = {0};

	CU_ASSERT_PTR_NULL(trace_follow(path_of(fd), &error));
	CU_ASSERT_EQUAL(error.code, -EAGAIN);
	CU_ASSERT_PTR_NULL(trace_follow("/nowhere/to/be/found", &error));
	CU_ASSERT_EQUAL(error.code, -ENOENT);
	CU_ASSERT_EQUAL(ftruncate(fd, 4096), 0);
	CU_ASSERT_PTR_NULL(trace_follow(path_of(fd), &error));
	CU_ASSERT_EQUAL(error.code, -EINVAL);
	close(fd);
}

static void a_file_that_becomes_shorter_is_refused(void)
{
	struct recording recording = recording_made();
	int to = memfd_create("growing", MFD_CLOEXEC);
	struct growth growth = growth_of(recording.fd, to);
	struct trace_error error = {0};
	struct trace *trace;

	grow(&growth, growth.bytes / 2);
	trace = trace_follow(path_of(to), NULL);
	CU_ASSERT_EQUAL(ftruncate(to, 1000), 0);
	CU_ASSERT_EQUAL(trace_follow_more(trace, &error), -ESTALE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cut"));
	grow(&growth, growth.bytes); /* behind a hole */
	error = (struct trace_error){0};
	CU_ASSERT_EQUAL(trace_follow_more(trace, &error), -ESTALE);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "cut"));
	CU_ASSERT_EQUAL(trace_follow_end(trace, NULL), -ESTALE);
	trace_close(trace);
	free(growth.data);
	close(to);
	recording_free(&recording);
}

/* ---- a pipe ---- */

static void a_pipe_has_the_events_of_the_file(void)
{
	struct recording recording = recording_made();
	struct list all = list_of_file(path_of(recording.fd)), followed;
	int ends[2], stdin_copy = dup(STDIN_FILENO), more = 1;
	struct growth growth;
	struct trace_cursor *cursor;
	struct trace *trace;

	CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
	growth = growth_of(recording.fd, ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	grow(&growth, 1000);
	trace = trace_follow("-", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	cursor = trace_cursor_new(trace, NULL, NULL);
	list_begin(&followed);
	while (more > 0) {
		list_take(&followed, trace, cursor);
		grow(&growth, 1 + tb_random() % 5000);
		more = trace_follow_more(trace, NULL);
	}
	list_take(&followed, trace, cursor);
	CU_ASSERT_TRUE(lists_agree(&all, &followed));
	trace_cursor_free(cursor);
	trace_close(trace);
	dup2(stdin_copy, STDIN_FILENO);
	close(stdin_copy);
	close(ends[1]);
	fclose(followed.out);
	free(followed.text);
	free(all.text);
	free(growth.data);
	recording_free(&recording);
}

/* The other side closes its socket with bytes that it has not read: read() fails after the first
 * half of the trace. */
static void a_failing_input_is_no_end(void)
{
	struct recording recording = recording_made();
	int ends[2], stdin_copy = dup(STDIN_FILENO), more = 1;
	struct trace_error error = {0};
	struct growth growth;
	struct trace *trace;

	CU_ASSERT_EQUAL_FATAL(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	growth = growth_of(recording.fd, ends[1]);
	dup2(ends[0], STDIN_FILENO);
	CU_ASSERT_EQUAL(write(ends[0], "unread", 6), 6);
	close(ends[0]);
	grow(&growth, growth.bytes / 2);
	trace = trace_follow("-", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), 1);
	close(ends[1]);
	while (more > 0)
		more = trace_follow_more(trace, &error);
	CU_ASSERT_EQUAL(more, -ECONNRESET);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "Connection reset by peer"));
	CU_ASSERT_EQUAL(trace_follow_more(trace, NULL), -ECONNRESET);
	CU_ASSERT_EQUAL(trace_follow_end(trace, NULL), -ECONNRESET);
	CU_ASSERT_FALSE(trace_get_info(trace)->clean_end);
	trace_close(trace);
	dup2(stdin_copy, STDIN_FILENO);
	close(stdin_copy);
	free(growth.data);
	recording_free(&recording);
}

static const struct unit_case cases[] = {
	CASE(a_growing_file_has_the_events_of_the_finished_one),
	CASE(a_cursor_has_all_events_before_the_safe_point),
	CASE(a_second_cursor_and_a_seek_see_the_same),
	CASE(a_file_that_is_cut_within_a_chunk_goes_on_later),
	CASE(the_end_of_a_dead_recorder_is_that_of_the_cut_file),
	CASE(a_finished_trace_is_one_of_trace_open),
	CASE(an_event_that_comes_late_is_delivered),
	CASE(a_file_without_a_header_is_to_be_tried_again),
	CASE(a_file_that_becomes_shorter_is_refused),
	CASE(a_pipe_has_the_events_of_the_file),
	CASE(a_failing_input_is_no_end),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("reader_follow", cases, argc, argv);
}
