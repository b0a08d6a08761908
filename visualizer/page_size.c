/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * page_size.c - the size of a page, by that of the trace.
 *
 * A page has the engine and the page's files, the start state, and its share of the rest. A byte of
 * a trace becomes 1.1 to 1.4 bytes, because it is compressed otherwise, and as text. The proposed
 * part is short enough for the events beside it, too.
 */
#include <stdio.h>
#include <trace/writer.h>
#include "complain.h"
#include "number_text.h"
#include "page_engine.h"
#include "page_size.h"

#define BYTES_OF_BYTE 1.3
#define LEAST_OF_BYTE 0.8 /* no trace that was compressed while it was recorded has needed less than 1.1 */
#define SURE_OF_PART  0.4 /* of the room */
#define SURE_OF_WHOLE 1.2
#define LEAST_NS      1000000.0
#define MIB	      1048576.0
#define NO_PARTS      "no part of it can be copied, as it is not finished, damaged or of another version; "

/** struct size_estimate - @fixed: bytes of any page of the traces; @per_ns: more for each ns */
struct size_estimate {
	double fixed, per_ns;
};

static double fixed_bytes(void)
{
	double bytes = (double)page_engine()->size * 4 / 3;

	for (size_t i = 0; page_file_at(i); i++)
		bytes += (double)page_file_at(i)->size;
	return bytes;
}

/* Adds the trace to *@size. */
static void estimate(const struct trace *trace, struct size_estimate *size)
{
	const struct trace_info *info = trace_get_info(trace);
	double start_state = 0, width = (double)(info->end_ns - info->start_ns);
	const struct trace_chunk *chunk;

	for (size_t i = 0; (chunk = trace_get_chunk(trace, i)); i++)
		start_state += chunk->kind == TRACE_CHUNK_START_STATE ? chunk->packed_bytes : 0;
	size->fixed += start_state * BYTES_OF_BYTE;
	size->per_ns += width > 0 ? ((double)info->file_bytes - start_state) * BYTES_OF_BYTE / width : 0;
}

/* "--from=1.500000s --to=2.750000s"; "": no part fits. */
static void part_that_fits(const struct trace *trace, const struct time_window *window, double ns, char *text,
			   size_t room)
{
	const struct trace_info *info = trace_get_info(trace);
	uint64_t from = window->has_from && window->from_ns > info->complete_from_ns
				? window->from_ns - info->complete_from_ns
				: 0;

	*text = 0;
	if (ns < LEAST_NS || !trace_has_parts(trace))
		return;
	if (from)
		snprintf(text, room, "--from=%.6fs --to=%.6fs", (double)from / 1e9, ((double)from + ns) / 1e9);
	else
		snprintf(text, room, "--to=%.6fs", ns / 1e9);
}

/* Is the page about all of the trace, or can it have no less? */
static bool is_whole(const struct trace *trace, const struct time_window *window)
{
	return (!window->has_from && !window->has_to) || !trace_has_parts(trace);
}

/* Returns the length, in ns, of the part that the page has. */
static double width_of(const struct trace *trace, const struct time_window *window)
{
	const struct trace_info *info = trace_get_info(trace);
	bool whole = is_whole(trace, window);
	uint64_t from = !whole && window->has_from ? window->from_ns : info->start_ns,
		 to = !whole && window->has_to && window->to_ns < info->end_ns ? window->to_ns : info->end_ns;

	return (double)(to - from);
}

int page_too_large(const struct trace *const *traces, const struct time_window *windows, size_t nr,
		   const struct visualizer_options *options)
{
	struct size_estimate size = {.fixed = fixed_bytes()};
	double bytes = 0, room;
	char part[96], about[64] = "";

	for (size_t i = 0; i < nr; i++) {
		double before = size.per_ns;

		estimate(traces[i], &size);
		bytes += (size.per_ns - before) * width_of(traces[i], &windows[i]);
	}
	bytes += size.fixed;
	room = (double)options->max_size - size.fixed;
	part_that_fits(traces[0], windows, size.per_ns > 0 ? room * SURE_OF_PART / size.per_ns : 0, part, sizeof(part));
	if (bytes > (double)options->max_size)
		snprintf(about, sizeof(about), "about %s, ", number_bytes((uint64_t)bytes).s);
	else
		bytes = (double)options->max_size;
	return complain(1,
			"the page would have %smore than the %s of --max-size, and nothing was written: %s%s"
			"--max-size=%.0fM allows it, and tracevisualizer --view shows the trace without a page",
			about, number_bytes(options->max_size).s, part,
			*part			     ? " makes a page that fits, "
			: trace_has_parts(traces[0]) ? ""
						     : NO_PARTS,
			bytes * SURE_OF_WHOLE / MIB + 1);
}

/* Bytes of the page that the chunks of a whole trace need at least. */
static double least_bytes(const struct trace *trace)
{
	const struct trace_chunk *chunk;
	double bytes = 0;

	for (size_t i = 0; (chunk = trace_get_chunk(trace, i)); i++)
		bytes += chunk->packed_bytes < chunk->raw_bytes ? chunk->packed_bytes * LEAST_OF_BYTE : 0;
	return bytes;
}

bool page_is_too_large(const struct trace *const *traces, const struct time_window *windows, size_t nr,
		       const struct visualizer_options *options)
{
	double bytes = fixed_bytes();

	for (size_t i = 0; i < nr; i++)
		if (is_whole(traces[i], &windows[i]))
			bytes += least_bytes(traces[i]);
	return bytes > (double)options->max_size;
}
