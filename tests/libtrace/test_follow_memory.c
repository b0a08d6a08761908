/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_follow_memory.c - a reader that follows a recording without memory: each allocation fails,
 * once or from then on.
 *
 * Either the events are those of the finished file, or a call returns -ENOMEM. Then the trace does
 * not go on, although there is memory again: what was listed is the begin of the list, and no
 * further call says that the trace has ended.
 */
#include <errno.h>
#include <fcntl.h>
#include <trace/analysis.h>

#include "follow_case.h"
#include "no_memory.h"

enum {
	STEP_BYTES = 3000,
	ONCE_STEP = 7,
	FOREVER_STEP = 13,
	NR_BEGIN = 10, /* allocations before the first events: all are tested */
};

/** struct list - texts of events, without an allocation */
struct list {
	char text[1 << 18];
	size_t bytes;
};

static int list_take(struct list *list, const struct trace *trace, struct trace_cursor *cursor)
{
	const struct trace_event *event;
	char text[512];

	while ((event = trace_cursor_next(cursor)) && sizeof(list->text) - list->bytes > 2 * sizeof(text)) {
		trace_event_format(trace, event, text, sizeof(text));
		list->bytes += (size_t)sprintf(list->text + list->bytes, "%llu %u %u %s\n",
					       (unsigned long long)event->ts_ns, event->cpu, event->stream, text);
	}
	return trace_cursor_error(cursor, NULL);
}

/* Follows the file until its end or an error. @ret_trace, @ret_cursor: NULL: they did not begin */
static int follow(struct growth *growth, const char *path, struct list *list, struct trace **ret_trace,
		  struct trace_cursor **ret_cursor)
{
	struct trace_error error = {0};
	int more = 1, failed = 0;

	*ret_cursor = NULL;
	grow(growth, sizeof(struct trace_file_header) + STEP_BYTES);
	*ret_trace = trace_follow(path, &error);
	if (*ret_trace)
		*ret_cursor = trace_cursor_new(*ret_trace, NULL, &error);
	if (!*ret_cursor)
		return error.code;
	while (more > 0 && !failed) {
		failed = list_take(list, *ret_trace, *ret_cursor);
		grow(growth, STEP_BYTES);
		if (!failed)
			more = trace_follow_more(*ret_trace, &error);
	}
	if (!more && !failed)
		failed = list_take(list, *ret_trace, *ret_cursor);
	return failed ? failed : more;
}

/* The file has grown to its end, and there is memory: the error stays. */
static void does_not_go_on(struct trace *trace, struct trace_cursor *cursor, struct list *list)
{
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(trace_follow_more(trace, &error), -ENOMEM);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "Cannot allocate memory"));
	CU_ASSERT_EQUAL(trace_follow_end(trace, NULL), -ENOMEM);
	CU_ASSERT_TRUE(trace_follow_safe_ns(trace) < UINT64_MAX);
	CU_ASSERT_FALSE(trace_get_info(trace)->clean_end);
	CU_ASSERT_PTR_NULL(trace_analysis_new(trace, NULL, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	CU_ASSERT_EQUAL(list_take(list, trace, cursor), 0);
}

/** struct tally - how the runs ended */
struct tally {
	long whole, begin, stopped, cursor;
};

/* Returns whether the @at-th allocation was needed. */
static bool follow_without(struct recording *recording, const struct list *all, long at, bool and_after,
			   struct tally *tally)
{
	static struct list list;
	int to = memfd_create("growing", MFD_CLOEXEC), result;
	struct growth growth = growth_of(recording->fd, to);
	struct trace_cursor *cursor;
	struct trace *trace;
	const char *path = path_of(to);
	bool struck;

	list.bytes = 0;
	no_memory_at(at, and_after);
	result = follow(&growth, path, &list, &trace, &cursor);
	struck = no_memory_struck();
	no_memory_at(0, false);
	CU_ASSERT_TRUE(result == 0 || result == -ENOMEM);
	grow(&growth, growth.bytes);
	if (!cursor)
		tally->begin++;
	else if (result && trace_cursor_error(cursor, NULL))
		tally->cursor++;
	else if (result)
		does_not_go_on(trace, cursor, &list);
	tally->stopped += cursor && result && !trace_cursor_error(cursor, NULL);
	tally->whole += !result;
	CU_ASSERT_TRUE(list.bytes <= all->bytes && !memcmp(list.text, all->text, list.bytes));
	CU_ASSERT_TRUE(result || list.bytes == all->bytes);
	trace_cursor_free(cursor);
	trace_close(trace);
	free(growth.data);
	close(to);
	return struck;
}

static void a_follower_without_memory_has_all_events_or_an_error(void)
{
	static struct list all;
	struct recording recording = recording_made();
	struct trace *trace = trace_open(path_of(recording.fd), NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	struct tally tally = {0};

	CU_ASSERT_EQUAL(list_take(&all, trace, cursor), 0);
	CU_ASSERT_TRUE(all.bytes > 10000 && all.bytes < sizeof(all.text) / 2);
	trace_cursor_free(cursor);
	trace_close(trace);
	for (int and_after = 0; and_after < 2; and_after++) {
		int step = unit_step(and_after ? FOREVER_STEP : ONCE_STEP);
		long at = 1;

		while (follow_without(&recording, &all, at, and_after, &tally))
			at += at < NR_BEGIN ? 1 : at == NR_BEGIN ? step + unit_first(step) : step;
	}
	printf("\n... %ld were whole, %ld ended at the begin, %ld between two parts, %ld in a cursor\n", tally.whole,
	       tally.begin, tally.stopped, tally.cursor);
	CU_ASSERT_TRUE(tally.stopped > 0);
	CU_ASSERT_TRUE(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* a half-built trace closed it */
	recording_free(&recording);
}

static const struct unit_case cases[] = {
	CASE(a_follower_without_memory_has_all_events_or_an_error),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("follow_memory", cases, argc, argv);
}
