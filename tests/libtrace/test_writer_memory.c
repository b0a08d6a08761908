/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_writer_memory.c - a writer without memory: the N-th allocation fails, once or from then on.
 *
 * If the writer reports no error, the trace has all names. A trace that is complete but for names
 * says so itself, behind the notes before the first that is missing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/format.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>
#include "no_memory.h"
#include "unit.h"

#define NR_NAMES 3000
#define MOST	 10000

static void add_names(struct trace_writer *writer)
{
	char text[64];

	for (uint64_t i = 0; i < NR_NAMES; i++) {
		snprintf(text, sizeof(text), "name %llu", (unsigned long long)i);
		trace_writer_string(writer, TRACE_STRING_SYMBOL, i + 1, text);
		trace_writer_string(writer, TRACE_STRING_NOT_TRACED, i, text);
	}
}

/* Returns the first error of a call that may fail. */
static int write_trace(int fd)
{
	struct trace_writer_options options = {.size = sizeof(options), .start_ns = 1000};
	struct trace_stream_stats stats = {.stream = 1};
	struct trace_writer *writer = trace_writer_new(fd, &options, NULL);
	int error = writer ? 0 : -ENOMEM;

	if (!error)
		add_names(writer);
	if (!error)
		error = trace_writer_statistics(writer, &stats, 1, 9000, NULL);
	if (!error)
		error = trace_writer_finish(writer, NULL);
	trace_writer_free(writer);
	return error;
}

static bool has_all(const struct trace *trace)
{
	for (uint64_t i = 0; i < NR_NAMES; i++)
		if (!trace_string(trace, TRACE_STRING_SYMBOL, i + 1) ||
		    !trace_string(trace, TRACE_STRING_NOT_TRACED, i))
			return false;
	return true;
}

static bool says_that_it_lacks_some(const struct trace *trace)
{
	const char *text;

	for (uint64_t i = 0; (text = trace_string(trace, TRACE_STRING_NOT_TRACED, i)); i++)
		if (strstr(text, "the recorder had no memory"))
			return true;
	return false;
}

/* Returns false when no allocation failed any more. */
static bool fails_at(long at, bool and_after, unsigned int *nr_told)
{
	int fd = memfd_create("trace", MFD_CLOEXEC), error;
	struct trace *trace;
	char path[32];
	bool struck;

	no_memory_at(at, and_after);
	error = write_trace(fd);
	struck = no_memory_struck();
	no_memory_at(0, false);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = trace_open(path, NULL);
	CU_ASSERT(error == 0 || error == -ENOMEM);
	CU_ASSERT(error || (trace && has_all(trace) && !says_that_it_lacks_some(trace)));
	if (trace && trace_get_info(trace)->clean_end && !has_all(trace)) {
		CU_ASSERT(error && says_that_it_lacks_some(trace));
		(*nr_told)++;
	}
	trace_close(trace);
	close(fd);
	return struck;
}

static void a_trace_without_all_names_says_so(void)
{
	for (int and_after = 0; and_after < 2; and_after++) {
		unsigned int nr_told = 0;
		long at = 1;

		while (at < MOST && fails_at(at, and_after, &nr_told))
			at++;
		CU_ASSERT(at > 5 && at < MOST);
		CU_ASSERT(and_after || nr_told > 0);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_trace_without_all_names_says_so),
		{NULL, NULL},
	};

	return unit_main("a writer without memory", cases, argc, argv);
}
