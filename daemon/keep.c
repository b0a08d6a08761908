/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keep.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "clock.h"
#include "keep_shrink.h"
#include "own_records.h"
#include "user_recording.h"

/**
 * struct kept_stream - the chunks of one ring, oldest first
 * @fresh: the first one that was not given to keep_shrink_give(), and all after it; NULL: none
 */
struct kept_stream {
	uint32_t number;
	uint32_t cpu;
	struct kept_chunk *first; /* used by the list, as all of it */
	struct kept_chunk *last;
	struct kept_chunk *fresh;
	size_t bytes;
	uint64_t events;
};

#define SHRINK_MIN_BYTES 1024 /* of a payload; for less, the allocation is not worth it */

/** enum pin - what of the daemon's own stream stays after its time */
enum pin { PIN_MASK, PIN_SELECT, NR_PINS };

/**
 * struct keep - all chunks
 * @mutex: guards all that follows. @begin_ns: no event is older
 * @types: descriptions of event types, oldest first; @has_catalogue: the first one came, which
 *     every file has
 * @streams: unordered
 * @pins: the newest dropped chunk with a change of the mask, and with one of the selection; NULL:
 *     none
 * @bytes: of everything. @history_bytes: the part of the structural streams
 * @has_dropped: events of CPUs or programs, since the begin
 * @held_back: drop nothing
 * @shrink: owned; NULL: chunks stay as they came
 * @is_short: see struct keep_status; until the kept time is again as long as asked
 */
struct keep {
	struct keep_options options;
	pthread_mutex_t mutex;
	uint64_t begin_ns;
	struct kept_chunk *types;
	struct kept_chunk **types_end;
	size_t nr_types;
	bool has_catalogue;
	struct kept_stream *streams; /* owned */
	size_t nr_streams;
	size_t room;
	struct kept_chunk *pins[NR_PINS];
	size_t bytes;
	size_t history_bytes;
	bool has_dropped;
	bool held_back;
	bool is_short;
	struct keep_shrink *shrink;
};

/* ---- streams ---- */

static bool is_of_program(uint32_t stream)
{
	return stream >= USER_FIRST_STREAM && stream < OWN_STREAM_DAEMON;
}

static bool is_structural(uint32_t stream)
{
	return stream < USER_FIRST_STREAM && stream % 2;
}

static bool is_of_cpu(uint32_t stream)
{
	return stream < USER_FIRST_STREAM && stream % 2 == 0;
}

static size_t chunk_bytes(const struct kept_chunk *chunk)
{
	return sizeof(*chunk) + chunk->header.packed_bytes;
}

struct kept_chunk *kept_chunk_release(struct kept_chunk *chunk)
{
	if (chunk && __atomic_sub_fetch(&chunk->users, 1, __ATOMIC_ACQ_REL) == 0)
		free(chunk);
	return NULL;
}

static struct kept_stream *stream_find(const struct keep *keep, uint32_t number)
{
	for (size_t i = 0; i < keep->nr_streams; i++)
		if (keep->streams[i].number == number)
			return &keep->streams[i];
	return NULL;
}

static struct kept_stream *stream_of(struct keep *keep, const struct trace_chunk_header *header)
{
	size_t room = keep->room ? 2 * keep->room : 64;
	struct kept_stream *streams, *found = stream_find(keep, header->stream);

	if (found)
		return found;
	if (keep->nr_streams == keep->room) {
		streams = realloc(keep->streams, room * sizeof(*streams));
		if (!streams)
			return NULL;
		keep->streams = streams;
		keep->room = room;
	}
	keep->streams[keep->nr_streams] = (struct kept_stream){.number = header->stream, .cpu = header->cpu};
	return &keep->streams[keep->nr_streams++];
}

/* ---- dropping ---- */

/* A dropped change of the mask stays valid until the next one. */
static bool pin(struct keep *keep, struct kept_chunk *chunk)
{
	static const uint32_t ids[NR_PINS] = {[PIN_MASK] = TRACE_EV_trace_mask, [PIN_SELECT] = TRACE_EV_trace_select};

	for (size_t i = 0; i < NR_PINS; i++) {
		if (chunk->header.stream != OWN_STREAM_DAEMON || !(chunk->header.ids[ids[i] / 64] >> ids[i] % 64 & 1))
			continue;
		if (keep->pins[i])
			keep->bytes -= chunk_bytes(keep->pins[i]);
		kept_chunk_release(keep->pins[i]);
		keep->pins[i] = chunk;
		return true;
	}
	return false;
}

static void drop_first(struct keep *keep, struct kept_stream *stream)
{
	struct kept_chunk *chunk = stream->first;
	size_t bytes = chunk_bytes(chunk);

	stream->first = chunk->next;
	if (!stream->first)
		stream->last = NULL;
	if (stream->fresh == chunk)
		stream->fresh = chunk->next;
	stream->bytes -= bytes;
	stream->events -= chunk->header.events;
	keep->history_bytes -= is_structural(stream->number) ? bytes : 0;
	keep->has_dropped |= is_of_cpu(stream->number) || is_of_program(stream->number);
	if (pin(keep, chunk))
		return;
	keep->bytes -= bytes;
	kept_chunk_release(chunk);
}

/* The begin of the time that is asked for. */
static uint64_t cutoff_ns(const struct keep *keep)
{
	uint64_t now_ns = clock_now();

	return now_ns > keep->options.keep_ns ? now_ns - keep->options.keep_ns : 0;
}

/*
 * The events that follow the first chunk reach back to @limit. The last chunk of a CPU stays: a
 * reader must know when that CPU was last heard of.
 */
static bool is_too_old(const struct kept_stream *stream, uint64_t limit)
{
	const struct kept_chunk *next = stream->first ? stream->first->next : NULL;

	if (next)
		return next->header.first_ns <= limit;
	return stream->first && is_of_program(stream->number) && stream->first->header.last_ns < limit;
}

/* The first chunk of a CPU of which no event was dropped reaches back to the begin. */
static uint64_t since_ns(const struct keep *keep)
{
	uint64_t since = keep->begin_ns;

	for (size_t i = 0; i < keep->nr_streams; i++) {
		const struct kept_stream *stream = &keep->streams[i];

		if (is_of_cpu(stream->number) && stream->first && stream->first->header.events_before &&
		    stream->first->header.first_ns > since)
			since = stream->first->header.first_ns;
	}
	return since;
}

static bool has_cpus(const struct keep *keep)
{
	for (size_t i = 0; i < keep->nr_streams; i++)
		if (is_of_cpu(keep->streams[i].number))
			return true;
	return false;
}

/*
 * Chunks that are not of a CPU are dropped only before the time from which all CPUs are complete:
 * nothing that belongs to the saved time is then missing.
 */
static void drop_others(struct keep *keep, uint64_t cutoff)
{
	uint64_t limit = has_cpus(keep) ? since_ns(keep) : cutoff;

	for (size_t i = 0; i < keep->nr_streams; i++) {
		struct kept_stream *stream = &keep->streams[i];

		while (!is_of_cpu(stream->number) && is_too_old(stream, limit) &&
		       (!is_structural(stream->number) || keep->history_bytes > KEEP_HISTORY_BYTES))
			drop_first(keep, stream);
	}
	for (size_t i = keep->nr_streams; i > 0; i--)
		if (!keep->streams[i - 1].first && is_of_program(keep->streams[i - 1].number))
			keep->streams[i - 1] = keep->streams[--keep->nr_streams];
}

static void drop_old(struct keep *keep, uint64_t cutoff)
{
	for (size_t i = 0; i < keep->nr_streams; i++)
		while (is_of_cpu(keep->streams[i].number) && is_too_old(&keep->streams[i], cutoff))
			drop_first(keep, &keep->streams[i]);
	drop_others(keep, cutoff);
}

/* The stream of a kind with the oldest chunk that may be dropped; NULL: none. */
static struct kept_stream *oldest_stream(const struct keep *keep, bool (*is_kind)(uint32_t stream))
{
	struct kept_stream *oldest = NULL;

	for (size_t i = 0; i < keep->nr_streams; i++) {
		struct kept_stream *stream = &keep->streams[i];

		if (!is_kind(stream->number) || !stream->first ||
		    (!stream->first->next && !is_of_program(stream->number)))
			continue;
		if (!oldest || stream->first->header.first_ns < oldest->first->header.first_ns)
			oldest = stream;
	}
	return oldest;
}

static void drop_for_memory(struct keep *keep, uint64_t cutoff)
{
	static bool (*const kinds[])(uint32_t stream) = {is_of_cpu, is_of_program, is_structural};
	struct kept_stream *stream = NULL;

	while (keep->bytes > keep->options.max_bytes) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
			stream = oldest_stream(keep, kinds[i]);
			if (stream)
				break;
		}
		if (!stream)
			return;
		keep->is_short |= stream->first->header.last_ns > cutoff;
		drop_first(keep, stream);
		drop_others(keep, cutoff);
	}
}

static void drop(struct keep *keep)
{
	uint64_t cutoff = cutoff_ns(keep);

	if (keep->held_back)
		return;
	drop_old(keep, cutoff);
	drop_for_memory(keep, cutoff);
	if (keep->is_short && since_ns(keep) <= cutoff)
		keep->is_short = false;
}

/* ---- compressing once more ---- */

/* Put a chunk into the place of another one, unless that was dropped meanwhile. */
static void replace(struct keep *keep, struct kept_stream *stream, struct kept_chunk *chunk, struct kept_chunk *shorter)
{
	struct kept_chunk **at = &stream->first;
	size_t saved = chunk_bytes(chunk) - chunk_bytes(shorter);

	while (*at && *at != chunk)
		at = &(*at)->next;
	if (!*at) {
		kept_chunk_release(shorter);
		return;
	}
	shorter->next = chunk->next;
	*at = shorter;
	if (stream->last == chunk)
		stream->last = shorter;
	stream->bytes -= saved;
	keep->bytes -= saved;
	keep->history_bytes -= is_structural(stream->number) ? saved : 0;
	kept_chunk_release(chunk);
}

static void take_shorter(struct keep *keep)
{
	struct kept_chunk *chunk, *shorter;

	while (keep_shrink_take(keep->shrink, &chunk, &shorter)) {
		struct kept_stream *stream = shorter ? stream_find(keep, chunk->header.stream) : NULL;

		if (stream)
			replace(keep, stream, chunk, shorter);
		else
			kept_chunk_release(shorter);
		kept_chunk_release(chunk);
	}
}

static void give_fresh(struct keep *keep)
{
	for (size_t i = 0; i < keep->nr_streams; i++) {
		struct kept_stream *stream = &keep->streams[i];

		for (; stream->fresh; stream->fresh = stream->fresh->next)
			if (stream->fresh->header.packed_bytes >= SHRINK_MIN_BYTES &&
			    !keep_shrink_give(keep->shrink, stream->fresh))
				return;
	}
}

static void shrink(struct keep *keep)
{
	if (!keep->shrink)
		return;
	take_shorter(keep);
	give_fresh(keep);
}

/* ---- taking ---- */

static struct kept_chunk *copy_of(const struct trace_chunk_header *header, const void *payload)
{
	struct kept_chunk *chunk = malloc(sizeof(*chunk) + header->packed_bytes);

	if (!chunk)
		return NULL;
	chunk->next = NULL;
	chunk->users = 1;
	chunk->header = *header;
	memcpy(chunk->payload, payload, header->packed_bytes);
	return chunk;
}

static int append(struct keep *keep, struct kept_chunk *chunk)
{
	struct kept_stream *stream = stream_of(keep, &chunk->header);
	size_t bytes = chunk_bytes(chunk);

	if (!stream)
		return -ENOMEM;
	if (stream->last)
		stream->last->next = chunk;
	else
		stream->first = chunk;
	stream->last = chunk;
	if (!stream->fresh)
		stream->fresh = chunk;
	stream->bytes += bytes;
	stream->events += chunk->header.events;
	keep->bytes += bytes;
	keep->history_bytes += is_structural(stream->number) ? bytes : 0;
	drop(keep);
	return 0;
}

static void append_type(struct keep *keep, struct kept_chunk *chunk)
{
	*keep->types_end = chunk;
	keep->types_end = &chunk->next;
	keep->nr_types++;
	keep->bytes += chunk_bytes(chunk);
}

/* A save makes names, clock correspondences and the state anew. */
static bool is_wanted(struct keep *keep, const struct trace_chunk_header *header)
{
	bool had_catalogue = keep->has_catalogue;

	if (header->kind != TRACE_CHUNK_SCHEMA)
		return header->kind == TRACE_CHUNK_EVENTS;
	keep->has_catalogue = true;
	return had_catalogue;
}

int keep_take(void *context, const struct trace_chunk_header *header, const void *payload)
{
	struct keep *keep = context;
	struct kept_chunk *chunk;
	int err = 0;

	if (!is_wanted(keep, header))
		return 0;
	chunk = copy_of(header, payload);
	if (!chunk)
		return -ENOMEM;
	pthread_mutex_lock(&keep->mutex);
	if (header->kind == TRACE_CHUNK_SCHEMA)
		append_type(keep, chunk);
	else
		err = append(keep, chunk);
	shrink(keep);
	pthread_mutex_unlock(&keep->mutex);
	if (err)
		kept_chunk_release(chunk);
	return err;
}

/* ---- saving ---- */

void keep_hold_back(struct keep *keep, bool hold)
{
	pthread_mutex_lock(&keep->mutex);
	keep->held_back = hold;
	drop(keep);
	pthread_mutex_unlock(&keep->mutex);
}

uint64_t keep_oldest_ns(struct keep *keep)
{
	uint64_t oldest = UINT64_MAX;

	pthread_mutex_lock(&keep->mutex);
	for (size_t i = 0; i < keep->nr_streams; i++) {
		const struct kept_stream *stream = &keep->streams[i];

		if (!stream->first || (!is_of_cpu(stream->number) && !is_of_program(stream->number)))
			continue;
		if (stream->first->header.first_ns < oldest)
			oldest = stream->first->header.first_ns;
	}
	if (!keep->has_dropped || oldest == UINT64_MAX || oldest < keep->begin_ns)
		oldest = keep->begin_ns;
	pthread_mutex_unlock(&keep->mutex);
	return oldest;
}

static size_t list_chunk(struct kept_chunk **list, size_t nr, struct kept_chunk *chunk)
{
	__atomic_add_fetch(&chunk->users, 1, __ATOMIC_RELAXED);
	list[nr] = chunk;
	return nr + 1;
}

static size_t list_pins(const struct keep *keep, struct kept_chunk **list, size_t nr)
{
	const struct kept_chunk *mask = keep->pins[PIN_MASK], *select = keep->pins[PIN_SELECT];
	size_t first = mask && select && select->header.events_before < mask->header.events_before ? PIN_SELECT
												   : PIN_MASK;

	if (keep->pins[first])
		nr = list_chunk(list, nr, keep->pins[first]);
	if (keep->pins[!first])
		nr = list_chunk(list, nr, keep->pins[!first]);
	return nr;
}

static size_t count_chunks(const struct keep *keep)
{
	size_t nr = keep->nr_types + NR_PINS;

	for (size_t i = 0; i < keep->nr_streams; i++)
		for (const struct kept_chunk *chunk = keep->streams[i].first; chunk; chunk = chunk->next)
			nr++;
	return nr;
}

struct kept_chunk **keep_list(struct keep *keep, size_t *ret_nr)
{
	struct kept_chunk **list;
	size_t nr = 0;

	pthread_mutex_lock(&keep->mutex);
	list = calloc(count_chunks(keep) + 1, sizeof(struct kept_chunk *));
	for (struct kept_chunk *chunk = keep->types; list && chunk; chunk = chunk->next)
		nr = list_chunk(list, nr, chunk);
	if (list)
		nr = list_pins(keep, list, nr);
	for (size_t i = 0; list && i < keep->nr_streams; i++)
		for (struct kept_chunk *chunk = keep->streams[i].first; chunk; chunk = chunk->next)
			nr = list_chunk(list, nr, chunk);
	pthread_mutex_unlock(&keep->mutex);
	*ret_nr = nr;
	return list;
}

/* ---- status ---- */

void keep_get_status(struct keep *keep, struct keep_status *ret_status)
{
	struct keep_status status = {0};

	pthread_mutex_lock(&keep->mutex);
	status.since_ns = since_ns(keep);
	status.bytes = keep->bytes;
	status.is_short = keep->is_short;
	for (size_t i = 0; i < keep->nr_streams; i++)
		status.events += keep->streams[i].events;
	pthread_mutex_unlock(&keep->mutex);
	*ret_status = status;
}

void keep_get_cpu_status(struct keep *keep, uint32_t cpu, struct keep_status *ret_status)
{
	struct keep_status status = {.since_ns = keep->begin_ns};

	pthread_mutex_lock(&keep->mutex);
	status.is_short = keep->is_short;
	for (size_t i = 0; i < keep->nr_streams; i++) {
		const struct kept_stream *stream = &keep->streams[i];

		if (stream->cpu != cpu || stream->number >= USER_FIRST_STREAM)
			continue;
		status.bytes += stream->bytes;
		status.events += stream->events;
		if (is_of_cpu(stream->number) && stream->first && stream->first->header.events_before &&
		    stream->first->header.first_ns > status.since_ns)
			status.since_ns = stream->first->header.first_ns;
	}
	pthread_mutex_unlock(&keep->mutex);
	*ret_status = status;
}

/* ---- beginning and end ---- */

void keep_begin(struct keep *keep, uint64_t begin_ns)
{
	pthread_mutex_lock(&keep->mutex);
	keep->begin_ns = begin_ns;
	if (keep->options.shrinks && !keep->shrink)
		keep->shrink = keep_shrink_new();
	pthread_mutex_unlock(&keep->mutex);
}

void keep_reset(struct keep *keep, uint64_t begin_ns)
{
	pthread_mutex_lock(&keep->mutex);
	keep->begin_ns = begin_ns;
	for (size_t i = 0; i < keep->nr_streams; i++)
		while (keep->streams[i].first)
			drop_first(keep, &keep->streams[i]);
	keep->nr_streams = 0;
	keep->has_dropped = keep->is_short = false;
	pthread_mutex_unlock(&keep->mutex);
}

struct keep *keep_new(const struct keep_options *options)
{
	struct keep *keep = calloc(1, sizeof(*keep));

	if (!keep)
		return NULL;
	keep->options = *options;
	keep->types_end = &keep->types;
	pthread_mutex_init(&keep->mutex, NULL);
	return keep;
}

struct keep *keep_free(struct keep *keep)
{
	if (!keep)
		return NULL;
	keep->shrink = keep_shrink_free(keep->shrink);
	keep_reset(keep, 0);
	while (keep->types) {
		struct kept_chunk *chunk = keep->types;

		keep->types = chunk->next;
		kept_chunk_release(chunk);
	}
	for (size_t i = 0; i < NR_PINS; i++)
		kept_chunk_release(keep->pins[i]);
	free(keep->streams);
	pthread_mutex_destroy(&keep->mutex);
	free(keep);
	return NULL;
}
