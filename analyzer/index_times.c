/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* index_times.c - ends of entries that are events of the trace: index_times.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include <zstd.h>
#include "index_frame.h"
#include "index_threads.h"
#include "index_times.h"
#include "state.h"
#include "view_rows.h"

#define MAX_EDGES  (64u << 20) /* bytes */
#define NO_MARK	   UINT8_MAX
#define NR_COLUMNS (TIMES_COLUMNS + 1) /* that of the edges is behind those of the marks */
/* the writer and the reader have copies of their own */
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* what ends at the time of an event */
enum mark {
	ENDS_ENTRY = 1,	  /* of the thread on the CPU */
	ENDS_RUN = 2,	  /* of the CPU, in the view */
	BEGINS_ENTRY = 4, /* of the thread of the next run: the one before it ends */
	ENDS_HOLD = 8,	  /* of the CPU, in the history */
	ENDED_ENTRY = 16, /* of the thread on the CPU, times_walk.earlier_ns before its event: state_trap.c */
};

/* struct times_place - @next: the entry that has not ended; @at: its begin, of the reader */
struct times_place {
	uint64_t at;
	uint32_t next;
};

/*
 * struct times_walk - the events of a slice in order, and where each series is
 * @from_ns, @to_ns: of the slice
 * @earlier_ns: page faults may begin so long before their event; 0: none do
 * @times: of the writer; NULL: the reader
 * @marks: of the reader
 * @limits: of the reader: where each series is at the end of the slice
 */
struct times_walk {
	const struct trace_view *view;
	const struct stored_series *list;
	size_t nr;
	uint64_t from_ns, to_ns, earlier_ns;
	struct times_place *places;
	struct index_times *times;
	struct bytes_in marks[TIMES_COLUMNS];
	const struct times_place *limits;
	int error;
	bool failed;
};

bool times_are_kept(const struct trace_view *view)
{
	return !view->history->coarse &&
	       times_are_worth(view->history->nr_intervals, trace_get_info(view->analysis->trace)->events);
}

/* ---- write: which entries end at @ns ---- */

/* Entries that have ended before, at no event of their CPU, keep their durations. */
static ALWAYS_INLINE void pass_written(const struct times_walk *walk, size_t nr, uint64_t ns)
{
	const struct series *series = walk->list[nr].series;
	struct times_place *place = &walk->places[nr];

	while (place->next < series->nr && series_to(series, place->next) < ns)
		place->next++;
}

static ALWAYS_INLINE bool ends_written(struct times_walk *walk, size_t nr, uint64_t ns)
{
	const struct series *series = walk->list[nr].series;
	struct times_place *place = &walk->places[nr];
	size_t bit;

	pass_written(walk, nr, ns);
	if (place->next >= series->nr || series_to(series, place->next) != ns)
		return false;
	bit = walk->times->first[nr] + place->next++;
	walk->times->by_event[bit / 64] |= 1ull << bit % 64;
	return true;
}

/* ---- read: durations become times ---- */

/* The entry place->next, whose duration is in its time, ends at @ns. */
static ALWAYS_INLINE void end_entry(struct times_walk *walk, size_t nr, uint64_t ns)
{
	struct times_place *place = &walk->places[nr];

	walk->failed |= ns <= place->at || ns > INT64_MAX;
	walk->list[nr].series->from[place->next++] = place->at;
	place->at = ns;
}

/* End entries that have durations, until one that ends by an event, or until @ns. */
static ALWAYS_INLINE void pass_read(struct times_walk *walk, size_t nr, uint64_t ns)
{
	const uint64_t *durations = walk->list[nr].series->from;
	struct times_place *place = &walk->places[nr];

	while (place->next < walk->limits[nr].next && durations[place->next] &&
	       place->at + durations[place->next] < ns && !walk->failed)
		end_entry(walk, nr, place->at + durations[place->next]);
}

static ALWAYS_INLINE void end_read(struct times_walk *walk, size_t nr, uint64_t ns)
{
	pass_read(walk, nr, UINT64_MAX);
	walk->failed |= walk->places[nr].next >= walk->limits[nr].next;
	if (!walk->failed)
		end_entry(walk, nr, ns);
}

/* ---- both ---- */

/* Does an entry of series @nr end at @ns? @mark: of the reader. Returns @bit or 0 */
static ALWAYS_INLINE unsigned int ends(struct times_walk *walk, bool writes, size_t nr, uint64_t ns, unsigned int mark,
				       unsigned int bit)
{
	if (writes)
		return ends_written(walk, nr, ns) ? bit : 0;
	if (mark & bit)
		end_read(walk, nr, ns);
	return mark & bit;
}

/* The thread that has the CPU, whose runs are series @nr: its series. NO_THREAD: none */
static ALWAYS_INLINE uint32_t holder(const struct times_walk *walk, size_t nr)
{
	const struct series *runs = walk->list[nr].series;
	uint32_t next = walk->places[nr].next, run = next < runs->nr ? runs->value[next] : NO_THREAD;

	return run < walk->view->history->nr_timelines ? run : NO_THREAD;
}

/* Returns the mark of an event of @cpu at @ns. @mark: of the reader */
static ALWAYS_INLINE unsigned int walk_event(struct times_walk *walk, bool writes, uint32_t cpu, uint64_t ns,
					     unsigned int mark)
{
	const struct trace_history *history = walk->view->history;
	size_t hold = history->nr_timelines + (size_t)cpu, runs = hold + history->nr_cpus;
	unsigned int found = 0;
	uint32_t thread;

	if (cpu < walk->view->nr_cpus) {
		if (writes)
			pass_written(walk, runs, ns);
		else
			pass_read(walk, runs, ns);
		thread = holder(walk, runs);
		if (thread != NO_THREAD && walk->earlier_ns && walk->earlier_ns < ns)
			found |= ends(walk, writes, thread, ns - walk->earlier_ns, mark, ENDED_ENTRY);
		if (thread != NO_THREAD)
			found |= ends(walk, writes, thread, ns, mark, ENDS_ENTRY);
		found |= ends(walk, writes, runs, ns, mark, ENDS_RUN);
		thread = found & ENDS_RUN ? holder(walk, runs) : NO_THREAD;
		if (thread != NO_THREAD)
			found |= ends(walk, writes, thread, ns, mark, BEGINS_ENTRY);
	}
	if (cpu < history->nr_cpus)
		found |= ends(walk, writes, hold, ns, mark, ENDS_HOLD);
	return found;
}

static inline uint32_t column_of(const struct trace_event *event)
{
	return event->id < TIMES_COLUMNS ? event->id : TIMES_COLUMNS - 1;
}

static void write_mark(struct times_walk *walk, const struct trace_event *event)
{
	uint8_t mark = (uint8_t)walk_event(walk, true, event->cpu, event->ts_ns, 0);

	bytes_put(&walk->times->marks[column_of(event)], &mark, 1);
}

/* Marks that do not fit the event fail. */
static void read_mark(struct times_walk *walk, const struct trace_event *event)
{
	struct bytes_in *marks = &walk->marks[column_of(event)];
	unsigned int mark = marks->at < marks->end ? *marks->at++ : NO_MARK;

	walk->failed |= walk_event(walk, false, event->cpu, event->ts_ns, mark) != mark;
}

/* Goes through the events of the slice; sets walk.error and walk.failed. */
static void walk_slice(struct times_walk *walk)
{
	struct trace_cursor_options options = {
		.size = sizeof(options), .from_ns = walk->from_ns, .to_ns = walk->to_ns, .no_lost = true};
	struct trace_cursor *cursor = trace_cursor_new(walk->view->analysis->trace, &options, NULL);
	const struct trace_event *event;

	while (cursor && !walk->failed && (event = trace_cursor_next(cursor)))
		if (walk->times)
			write_mark(walk, event);
		else
			read_mark(walk, event);
	if (!cursor || trace_cursor_end(cursor, NULL) == -ENOMEM)
		walk->error = -ENOMEM;
}

/* ---- the writer ---- */

/* The times between the slices. */
static void find_slices(const struct trace *trace, uint64_t *ret_ns)
{
	uint64_t events = trace_get_info(trace)->events, sum = 0;
	const struct trace_chunk *chunk;
	unsigned int slice = 1;

	ret_ns[0] = 0;
	for (size_t i = 0; slice < TIMES_SLICES && (chunk = trace_get_chunk(trace, i)); i++) {
		for (; slice < TIMES_SLICES && sum > events * slice / TIMES_SLICES; slice++)
			ret_ns[slice] = chunk->first_ns > ret_ns[slice - 1] ? chunk->first_ns : ret_ns[slice - 1];
		sum += chunk->kind == TRACE_CHUNK_EVENTS ? chunk->events : 0;
	}
	for (; slice < TIMES_SLICES; slice++)
		ret_ns[slice] = ret_ns[slice - 1];
	ret_ns[TIMES_SLICES] = UINT64_MAX;
}

/* Where the series are at the end of a slice. */
static void put_edge(const struct times_walk *walk, const uint32_t *before)
{
	struct bytes_out *edges = &walk->times->edges;

	bytes_put_number(edges, walk->to_ns);
	for (size_t i = 0; i < walk->nr; i++) {
		const struct series *series = walk->list[i].series;
		uint32_t next = walk->places[i].next;

		bytes_put_number(edges, next - before[i]);
		bytes_put_number(edges, next < series->nr ? series->from[next] : series->end);
	}
}

static void put_counts(const struct times_walk *walk, size_t *counts)
{
	for (uint32_t i = 0; i < TIMES_COLUMNS; i++) {
		bytes_put_number(&walk->times->edges, walk->times->marks[i].nr - counts[i]);
		counts[i] = walk->times->marks[i].nr;
	}
}

static void walk_to_write(struct times_walk *walk, uint32_t *before)
{
	uint64_t ns[TIMES_SLICES + 1];
	size_t counts[TIMES_COLUMNS] = {0};

	find_slices(walk->view->analysis->trace, ns);
	walk->earlier_ns = walk->view->analysis->fault_way_ns;
	bytes_put_number(&walk->times->edges, walk->earlier_ns);
	for (unsigned int i = 0; i < TIMES_SLICES && !walk->error; i++) {
		walk->from_ns = ns[i];
		walk->to_ns = ns[i + 1];
		for (size_t k = 0; k < walk->nr; k++)
			before[k] = walk->places[k].next;
		if (walk->from_ns < walk->to_ns)
			walk_slice(walk);
		put_counts(walk, counts);
		if (i + 1 < TIMES_SLICES)
			put_edge(walk, before);
	}
}

int times_find(const struct trace_view *view, const struct stored_series *list, size_t nr, struct index_times *ret)
{
	struct times_walk walk = {.view = view, .list = list, .nr = nr, .times = ret};
	uint32_t *before = calloc(nr + 1, sizeof(*before));
	size_t sum = 0;

	walk.places = calloc(nr + 1, sizeof(*walk.places));
	ret->first = calloc(nr + 1, sizeof(*ret->first));
	for (size_t i = 0; ret->first && i < nr; i++) {
		ret->first[i] = sum;
		sum += list[i].series->nr;
	}
	ret->by_event = calloc(sum / 64 + 1, sizeof(*ret->by_event));
	if (before && walk.places && ret->first && ret->by_event)
		walk_to_write(&walk, before);
	else
		walk.error = -ENOMEM;
	free(walk.places);
	free(before);
	return walk.error;
}

static struct bytes_out *column_out(struct index_times *times, uint32_t i)
{
	return i < TIMES_COLUMNS ? &times->marks[i] : &times->edges;
}

static void put_columns(struct index_times *times, struct bytes_out *head, struct bytes_out *packed)
{
	struct index_frame frame;
	size_t bytes = 0;

	for (uint32_t i = 0; i < NR_COLUMNS; i++) {
		bytes += column_out(times, i)->nr;
		head->failed |= column_out(times, i)->failed;
		bytes_put_number(head, column_out(times, i)->nr);
	}
	head->failed |= times->edges.nr > MAX_EDGES;
	frame = index_frame_begin(bytes, packed);
	for (uint32_t i = 0; i < NR_COLUMNS; i++) {
		index_frame_put(&frame, column_out(times, i)->at, column_out(times, i)->nr);
		bytes_free(column_out(times, i));
	}
	index_frame_end(&frame);
}

void times_save(struct index_times *times, struct index_out *out)
{
	struct bytes_out head = {0}, packed = {0};

	put_columns(times, &head, &packed);
	if (!out->error && (head.failed || packed.failed))
		out->error = -ENOMEM;
	index_put_section(out, head.nr + packed.nr);
	index_put(out, head.at, head.nr);
	index_put(out, packed.at, packed.nr);
	bytes_free(&head);
	bytes_free(&packed);
}

void times_free(struct index_times *times)
{
	free(times->first);
	free(times->by_event);
	bytes_free(&times->edges);
	for (uint32_t i = 0; i < TIMES_COLUMNS; i++)
		bytes_free(&times->marks[i]);
}

/* ---- the reader ---- */

/* Returns 0, -EBADMSG or -ENOMEM. */
static int take_columns(struct bytes_in *in, uint64_t max_events, struct times_in *ret)
{
	size_t sizes[NR_COLUMNS], bytes = 0, packed;
	const uint8_t *at;

	for (uint32_t i = 0; i < TIMES_COLUMNS; i++) {
		sizes[i] = (size_t)bytes_below(in, TIMES_MAX_EVENTS + 1);
		bytes += sizes[i];
	}
	in->failed |= bytes > max_events || bytes > TIMES_MAX_EVENTS;
	sizes[TIMES_COLUMNS] = (size_t)bytes_below(in, MAX_EDGES + 1);
	bytes += sizes[TIMES_COLUMNS];
	packed = (size_t)(in->end - in->at);
	if (in->failed || ZSTD_getFrameContentSize(in->at, packed) != bytes)
		return -EBADMSG;
	ret->memory = malloc(bytes + 1);
	if (!ret->memory)
		return -ENOMEM;
	at = ret->memory;
	for (uint32_t i = 0; i < TIMES_COLUMNS; at += sizes[i++])
		ret->marks[i] = (struct bytes_in){.at = at, .end = at + sizes[i]};
	ret->edges = (struct bytes_in){.at = at, .end = at + sizes[TIMES_COLUMNS]};
	return ZSTD_decompress(ret->memory, bytes, in->at, packed) == bytes ? 0 : -EBADMSG;
}

int times_load(const struct trace *trace, const struct index_in *in, uint64_t *at, struct times_in *ret)
{
	struct index_piece piece;
	int error = index_read_section(in, at, &piece);

	if (error)
		return error;
	error = take_columns(&piece.bytes, trace_get_info(trace)->events, ret);
	index_piece_end(&piece);
	return error;
}

/*
 * struct fill - the slices
 * @places: of each slice, where it is
 * @edges: of each slice, where its end is
 */
struct fill {
	struct times_walk walks[TIMES_SLICES];
	struct times_place *places, *edges; /* owned */
};

/* Where the series are at the end of a slice. */
static void take_edge(struct bytes_in *edges, const struct times_walk *walk, struct times_place *ret_edge)
{
	for (size_t i = 0; i < walk->nr; i++) {
		uint32_t before = walk->places[i].next, left = walk->list[i].series->nr - before;

		ret_edge[i].next = before + (uint32_t)bytes_below(edges, left + 1ull);
		ret_edge[i].at = bytes_number(edges);
	}
}

static void take_marks(struct bytes_in *edges, struct times_in *times, struct times_walk *walk)
{
	for (uint32_t i = 0; i < TIMES_COLUMNS; i++) {
		struct bytes_in *marks = &times->marks[i];
		size_t nr = (size_t)bytes_below(edges, (size_t)(marks->end - marks->at) + 1);

		walk->marks[i] = (struct bytes_in){.at = marks->at, .end = marks->at + nr};
		marks->at += nr;
	}
}

static void slices_begin(struct fill *fill, const struct times_walk *common)
{
	size_t nr = common->nr;
	struct times_place *last = fill->edges + (TIMES_SLICES - 1) * nr;

	for (unsigned int i = 0; i < TIMES_SLICES; i++) {
		fill->walks[i] = *common;
		fill->walks[i].places = fill->places + i * nr;
		fill->walks[i].limits = fill->edges + i * nr;
		fill->walks[i].to_ns = UINT64_MAX;
	}
	for (size_t i = 0; i < nr; i++) {
		fill->places[i].at = common->list[i].series->end;
		last[i].next = common->list[i].series->nr;
	}
}

/* Returns false if the edges cannot be. */
static bool take_slices(struct fill *fill, struct times_in *times)
{
	struct bytes_in *edges = &times->edges;

	for (unsigned int i = 0; i < TIMES_SLICES; i++) {
		struct times_walk *walk = &fill->walks[i], *next = walk + 1;

		take_marks(edges, times, walk);
		if (i + 1 == TIMES_SLICES)
			break;
		walk->to_ns = next->from_ns = bytes_number(edges);
		edges->failed |= walk->from_ns > walk->to_ns;
		take_edge(edges, walk, fill->edges + i * walk->nr);
		memcpy(next->places, walk->limits, walk->nr * sizeof(*next->places));
	}
	for (uint32_t i = 0; i < TIMES_COLUMNS; i++)
		edges->failed |= times->marks[i].at != times->marks[i].end;
	return !edges->failed && edges->at == edges->end;
}

/* The entries of the slice that events have not ended. */
static void end_slice(struct times_walk *walk, bool is_last)
{
	for (uint32_t i = 0; i < TIMES_COLUMNS; i++)
		walk->failed |= walk->marks[i].at != walk->marks[i].end;
	for (size_t i = 0; i < walk->nr && !walk->failed; i++) {
		const struct times_place *place = &walk->places[i], *limit = &walk->limits[i];

		pass_read(walk, i, UINT64_MAX);
		walk->failed |= place->next != limit->next || (!is_last && place->at != limit->at);
		if (is_last)
			walk->list[i].series->end = place->at;
	}
}

static void fill_slice(void *data, size_t i)
{
	struct times_walk *walk = &((struct fill *)data)->walks[i];

	if (walk->from_ns < walk->to_ns)
		walk_slice(walk);
	end_slice(walk, i + 1 == TIMES_SLICES);
}

static int fill_slices(struct fill *fill, struct times_in *times, struct times_walk *common)
{
	int error = 0;

	common->earlier_ns = bytes_number(&times->edges);
	slices_begin(fill, common);
	if (!take_slices(fill, times))
		return -EBADMSG;
	index_in_threads(fill_slice, fill, TIMES_SLICES);
	for (unsigned int i = 0; i < TIMES_SLICES; i++)
		if (fill->walks[i].error || fill->walks[i].failed)
			error = fill->walks[i].error ? fill->walks[i].error : -EBADMSG;
	return error;
}

int times_fill(const struct trace_view *view, const struct stored_series *list, size_t nr, struct times_in *times)
{
	struct times_walk common = {.view = view, .list = list, .nr = nr};
	struct fill *fill = calloc(1, sizeof(*fill));
	int error = -ENOMEM;

	if (!fill)
		return error;
	fill->places = calloc(TIMES_SLICES * nr + 1, sizeof(*fill->places));
	fill->edges = calloc(TIMES_SLICES * nr + 1, sizeof(*fill->edges));
	if (fill->places && fill->edges)
		error = fill_slices(fill, times, &common);
	free(fill->places);
	free(fill->edges);
	free(fill);
	return error;
}
