/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * growing.c - a trace that is still being written: trace_follow_more() adds the chunks that came
 * since the last call.
 *
 * Chunks of different streams are written in any order, so the reader needs to know when no earlier
 * event can come any more. A heartbeat of the recorder says so: all events before its time are
 * before it in the file. The time of the last heartbeat, less a margin, is the safe point. Cursors
 * stop there, and go on after it moved.
 *
 * An example. The file has chunks of CPU 0 from 0 to 900 ms, of CPU 1 from 0 to 400 ms, and a
 * heartbeat of 410 ms. A cursor delivers the events of both up to 400 ms. The next call finds a
 * chunk of CPU 1 from 420 to 990 ms and a heartbeat of 1000 ms: the cursor goes on up to 990 ms.
 *
 * Late events are not left out: a cursor delivers them when they come. A late gap ends at the safe
 * point at least.
 */
#include "growing.h"

#include "chunk.h"
#include "error_set.h"
#include "gaps.h"
#include "index.h"
#include "loss_ledger.h"
#include "metadata.h"
#include "opening.h"
#include "spool.h"
#include "stored_file.h"
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The file is mapped once, with room to grow: an address stays as it is. */
#define ROOM_MAX_BYTES ((size_t)1 << 40)
/*
 * A writer can be stopped between its clock and its sub-buffer. So many ns before a heartbeat no
 * event is missing but for writers that were stopped longer.
 */
#define MARGIN_NS 10000000u
/* The first minor version of the format whose heartbeats promise that. */
#define SAFE_SINCE_MINOR 3
#define RECORDER_STREAM	 0xffff0000u

/**
 * struct follow - how far the file is read
 * @input: the pipe from which the file is copied; -1: none
 * @at: end of the last chunk
 * @nr_taken: chunks that take_chunks() has handled
 * @failure: its code is 0, or the trace has a part of what was added, and does not go on
 */
struct follow {
	int input;
	uint64_t at;
	size_t nr_taken;
	struct metadata metadata;
	struct trace_error failure;
};

struct follow *follow_free(struct follow *follow)
{
	if (!follow)
		return NULL;
	if (follow->input >= 0)
		close(follow->input);
	metadata_clear(&follow->metadata);
	free(follow);
	return NULL;
}

/* ---- the file ---- */

static int map_with_room(struct trace *trace, struct trace_error *ret_error)
{
	void *data = MAP_FAILED;
	size_t room = ROOM_MAX_BYTES;

	for (; data == MAP_FAILED && room >= TRACE_SEARCHED_BYTES; room /= 2)
		data = mmap(NULL, room, PROT_READ, MAP_SHARED | MAP_NORESERVE, trace->fd, 0);
	if (data == MAP_FAILED)
		return error_set(ret_error, -errno, "%s: cannot map the trace: %s", trace->path, strerror(errno));
	trace->data = data;
	trace->mapped_bytes = 2 * room;
	return 0;
}

static int file_grow(struct trace *trace, bool wait, bool *ret_ended, struct trace_error *ret_error)
{
	struct follow *follow = trace->follow;
	struct stat stat;
	int error = follow->input < 0 ? 0 : spool_more(follow->input, trace->fd, wait, ret_ended);

	if (!error && fstat(trace->fd, &stat) < 0)
		error = -errno;
	if (error)
		return error_set(ret_error, error, "%s: cannot read what was added to the trace: %s", trace->path,
				 strerror(-error));
	if ((uint64_t)stat.st_size < trace->bytes)
		return error_set(ret_error, -ESTALE, "%s: the file was cut while it was followed", trace->path);
	if ((uint64_t)stat.st_size > trace->mapped_bytes)
		return error_set(ret_error, -EFBIG, "%s: the file has become too large to follow it: open it again",
				 trace->path);
	trace->bytes = trace->info.file_bytes = (size_t)stat.st_size;
	trace->mtime_ns = file_mtime_ns(&stat);
	trace->head = file_head(trace->data, trace->bytes);
	return 0;
}

/* ---- what is new ---- */

static bool is_heartbeat(const struct trace *trace, const struct trace_table_entry *of)
{
	struct trace_chunk_header header;

	return of->kind == TRACE_CHUNK_EVENTS && of->stream == RECORDER_STREAM &&
	       !chunk_header_read(trace, of->offset, &header) && header.ids[0] >> TRACE_EV_trace_heartbeat & 1;
}

/* A heartbeat that shares its chunk with other events is not before the chunk's begin. */
static uint64_t safe_point(const struct trace *trace, size_t first)
{
	uint64_t safe_ns = trace->safe_ns;

	if (trace->info.version_minor < SAFE_SINCE_MINOR)
		return safe_ns;
	for (size_t i = first; i < trace->nr_chunks; i++) {
		struct trace_table_entry of = chunk_entry(trace, i)->of;

		if (is_heartbeat(trace, &of) && of.first_ns > MARGIN_NS && of.first_ns - MARGIN_NS > safe_ns)
			safe_ns = of.first_ns - MARGIN_NS;
	}
	return safe_ns;
}

/* Cursors may have passed the safe point, where they go on in the list of gaps. */
static void gaps_clamp(struct trace *trace, size_t first)
{
	for (size_t i = first; i < trace->nr_gaps; i++)
		if (trace->gaps[i].end_ns < trace->safe_ns)
			trace->gaps[i].end_ns = trace->safe_ns;
}

static int take_chunks(struct trace *trace)
{
	size_t first = trace->follow->nr_taken, nr_gaps = trace->nr_gaps;
	int error = metadata_load(trace, &trace->follow->metadata);

	if (!error)
		error = templates_load(trace);
	if (!error)
		error = ledger_add_chunks(trace);
	gaps_clamp(trace, nr_gaps);
	if (!error && trace->nr_gaps > nr_gaps)
		error = gaps_sort(trace);
	if (!error)
		error = timeline_extend(trace, TRACE_CHUNK_START_STATE, first, 0);
	if (!error)
		error = timeline_extend(trace, TRACE_CHUNK_EVENTS, first, trace->safe_ns);
	free(trace->public_chunks);
	trace->public_chunks = NULL;
	trace->follow->nr_taken = trace->nr_chunks;
	window_load(trace, true);
	if (!error)
		trace->safe_ns = safe_point(trace, first);
	return error;
}

/* ---- the end ---- */

/* As trace_open() does it when it knows all chunks. */
static int finish(struct trace *trace)
{
	int error = metadata_end(trace, &trace->follow->metadata, 0);

	if (!error)
		error = chunks_are_known(trace, true);
	if (error)
		return error;
	trace->ledger = ledger_free(trace->ledger);
	trace->follow = follow_free(trace->follow);
	trace->safe_ns = UINT64_MAX;
	return 0;
}

static int failed(struct trace *trace, int error, struct trace_error *ret_error)
{
	return error_set(ret_error, error, "%s: cannot read what was added to the trace: %s", trace->path,
			 strerror(-error));
}

static int follow_end(struct trace *trace, struct trace_error *ret_error)
{
	int error = index_end(trace, trace->follow->at);

	if (!error)
		error = take_chunks(trace);
	if (!error)
		error = finish(trace);
	if (!error)
		info_load(trace);
	return error ? failed(trace, error, ret_error) : 0;
}

static int follow_more(struct trace *trace, struct trace_error *ret_error)
{
	bool has_ended = false, has_mark = false;
	int error = file_grow(trace, false, &has_ended, ret_error);

	if (error)
		return error;
	error = index_continue(trace, &trace->follow->at, &has_mark);
	if (!error)
		error = take_chunks(trace);
	if (!error && has_mark)
		error = finish(trace);
	if (error)
		return failed(trace, error, ret_error);
	info_load(trace);
	if (has_ended && !has_mark)
		return follow_end(trace, ret_error);
	return !has_mark;
}

/* ---- the interface ---- */

/* A call that fails has taken a part: the next one would continue behind what is missing. */
static int take_more(struct trace *trace, int (*take)(struct trace *trace, struct trace_error *ret_error),
		     struct trace_error *ret_error)
{
	struct trace_error failure = {0};
	int result;

	if (!trace->follow)
		return 0;
	if (!trace->follow->failure.code) {
		result = take(trace, &failure);
		if (result >= 0)
			return result;
		trace->follow->failure = failure;
		trace->info.clean_end = false;
	}
	if (ret_error)
		*ret_error = trace->follow->failure;
	return trace->follow->failure.code;
}

int trace_follow_more(struct trace *trace, struct trace_error *ret_error)
{
	return take_more(trace, follow_more, ret_error);
}

int trace_follow_end(struct trace *trace, struct trace_error *ret_error)
{
	return take_more(trace, follow_end, ret_error);
}

static bool has_header(const struct trace *trace)
{
	struct trace_file_header header;

	if (trace->bytes < sizeof(header))
		return false;
	memcpy(&header, trace->data, sizeof(header));
	return memcmp(header.magic, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES) != 0 || header.header_bytes <= trace->bytes;
}

static int follow_begin(struct trace *trace, struct trace_error *ret_error)
{
	bool has_ended = false, header_is_good;
	int error = map_with_room(trace, ret_error);

	if (!error)
		error = file_grow(trace, false, &has_ended, ret_error);
	while (!error && !has_header(trace) && trace->follow->input >= 0 && !has_ended)
		error = file_grow(trace, true, &has_ended, ret_error);
	if (error)
		return error;
	if (!has_header(trace))
		return error_set(ret_error, trace->follow->input < 0 ? -EAGAIN : -EINVAL,
				 "%s: has not even the header of a trace%s", trace->path,
				 trace->follow->input < 0 ? " yet: try again" : "");
	error = file_header_read(trace, &trace->follow->at, &header_is_good, ret_error);
	if (!error && !header_is_good)
		error = error_set(ret_error, -EINVAL,
				  "%s: its header is damaged, so it cannot be followed: open it as it is", trace->path);
	return error;
}

struct trace *trace_follow(const char *path, struct trace_error *ret_error)
{
	struct trace *trace = trace_new(path, ret_error);
	int error;

	if (!trace)
		return NULL;
	trace->info.file = trace->path;
	trace->follow = calloc(1, sizeof(*trace->follow));
	if (trace->follow)
		trace->follow->input = -1;
	trace->ledger = ledger_new();
	if (!trace->follow || !trace->ledger) {
		error_set(ret_error, -ENOMEM, "%s: no memory to open the trace", path);
		return trace_close(trace);
	}
	trace->safe_ns = 0;
	ledger_in_order(trace->ledger);
	trace->fd = spool_begin(path, &trace->follow->input, ret_error);
	error = trace->fd < 0 ? trace->fd : follow_begin(trace, ret_error);
	if (!error)
		error = trace_follow_more(trace, ret_error);
	return error < 0 ? trace_close(trace) : trace;
}
