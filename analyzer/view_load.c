/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_load.c - a view from an index.
 *
 * The analysis of such a view has processes, threads and losses, but no sums: nothing was analyzed.
 * SECURITY: an index may come from anywhere, and its checksum is no signature. Each number is
 * checked against what it refers to, and memory is limited by the trace and by view_index.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>
#include "error_set.h"
#include "state.h"
#include "build_stamp.h"
#include "index_threads.h"
#include "index_times.h"
#include "view_index.h"
#include "view_rows.h"

#define THREADS_BESIDE 4096u /* that no event of the trace is about, at most */

/* struct loader - @in: the facts. Arrays are owned by the loader */
struct loader {
	struct trace_view *view;
	struct trace_analysis *a;
	struct bytes_in in;
	const char **texts;
	uint32_t nr_texts;
	struct trace_thread **threads;
	uint32_t nr_threads;
	bool has_no_memory;
	bool has_times; /* entries end by events: index_times.h */
};

static uint64_t get(struct loader *l)
{
	return bytes_number(&l->in);
}

static uint64_t get_below(struct loader *l, uint64_t limit)
{
	return bytes_below(&l->in, limit);
}

static uint32_t get_u32(struct loader *l)
{
	return (uint32_t)get_below(l, 1ull << 32);
}

/* A number + 1; 0: @none. */
static uint32_t get_ref(struct loader *l, uint32_t limit, uint32_t none)
{
	uint64_t number = get_below(l, limit + 1ull);

	return number ? (uint32_t)number - 1 : none;
}

static bool is_bad(const struct loader *l)
{
	return l->in.failed || l->has_no_memory || l->a->failed;
}

static void *take(struct loader *l, size_t nr, size_t bytes)
{
	void *memory = calloc(nr + 1, bytes);

	l->has_no_memory |= !memory;
	return memory;
}

static char *get_copy(struct loader *l)
{
	size_t length;
	const char *text = bytes_text(&l->in, &length);
	char *copy = arena_take(&l->a->arena, length + 1);

	l->has_no_memory |= !copy;
	if (copy)
		memcpy(copy, text, length);
	return copy;
}

static void get_comm(struct loader *l, char *comm)
{
	const uint8_t *bytes = bytes_take(&l->in, 16);

	if (bytes)
		memcpy(comm, bytes, 15);
}

/* ---- the analysis ---- */

/*
 * Not strings_intern(): texts are the same if they have the same address, and these are as many as
 * they were.
 */
static void get_texts(struct loader *l)
{
	l->nr_texts = bytes_count(&l->in, 1);
	l->texts = take(l, l->nr_texts + 1ull, sizeof(*l->texts));
	if (l->texts)
		l->texts[0] = strings_text(&l->a->strings, 0);
	for (uint32_t i = 1; i <= l->nr_texts && !is_bad(l); i++)
		l->texts[i] = get_copy(l);
}

static const char *get_text(struct loader *l)
{
	return l->texts[get_below(l, l->nr_texts + 1ull)];
}

static void get_thread(struct loader *l, struct trace_process *process)
{
	struct trace_thread *thread = arena_take(&l->a->arena, sizeof(*thread));

	if (!thread) {
		l->has_no_memory = true;
		return;
	}
	thread->idx = (uint32_t)get_below(l, l->a->threads.nr);
	thread->tid = get_u32(l);
	thread->uid = get_u32(l);
	thread->flags = get(l) & (THREAD_KERNEL | THREAD_IO_WORKER);
	thread->start_ns = get(l);
	thread->end_ns = get(l);
	get_comm(l, thread->comm);
	thread->sched_state = SCHED_DEAD;
	thread->process = process;
	thread->process_idx = process->idx;
	if (process->last)
		process->last->next = thread;
	else
		process->first = thread;
	process->last = thread;
	process->nr_threads++;
	l->threads[l->nr_threads++] = thread;
}

/* Returns the number + 1 of its starter. */
static uint64_t get_process(struct loader *l, uint32_t nr_processes)
{
	struct trace_process *process = process_new(l->a, get_u32(l));
	uint64_t starter, nr;
	char *title;

	if (!process)
		return 0;
	process->ppid = get_u32(l);
	process->uid = get_u32(l);
	process->gid = get_u32(l);
	process->kernel = get_below(l, 2);
	process->cpu_limit_ns = get(l);
	starter = get_below(l, nr_processes + 1ull);
	get_comm(l, process->comm);
	title = get_copy(l);
	if (title)
		process->title = strings_intern(&l->a->strings, title);
	nr = get_below(l, l->a->threads.nr - l->nr_threads + 1ull);
	while (nr-- > 0 && !is_bad(l))
		get_thread(l, process);
	return starter;
}

static void get_processes(struct loader *l)
{
	uint64_t limit = trace_get_info(l->a->trace)->events + THREADS_BESIDE;
	uint32_t nr = bytes_count(&l->in, 24),
		 nr_threads = (uint32_t)get_below(l, limit < UINT32_MAX ? limit : UINT32_MAX);
	uint64_t *starters = take(l, nr, sizeof(*starters));

	l->a->threads.nr = nr_threads;
	l->threads = take(l, nr_threads, sizeof(struct trace_thread *));
	l->in.failed |= nr > limit;
	for (uint32_t i = 0; i < nr && !is_bad(l); i++)
		starters[i] = get_process(l, nr);
	for (uint32_t i = 0; i < nr && !is_bad(l); i++)
		if (starters[i])
			l->a->threads.processes[i]->starter = l->a->threads.processes[starters[i] - 1];
	free(starters);
}

static void get_masks(struct loader *l)
{
	struct trace_analysis *a = l->a;

	a->masks.any = get_below(l, 2);
	for (size_t i = 0; i < TRACE_MASK_WORDS; i++) {
		a->masks.recorded[i] = get(l);
		a->masks.unrecorded[i] = get(l);
	}
	for (uint32_t id = 0; id < TRACE_EV_MAX; id++)
		a->counts[id] = get(l);
}

static void get_gap(struct loader *l, struct trace_gap *gap)
{
	gap->stream = get_u32(l);
	gap->cpu = get_u32(l);
	gap->start_ns = get(l);
	gap->end_ns = get(l);
	gap->lost = get(l);
	gap->cause = (enum trace_gap_cause)get_below(l, TRACE_GAP_UNWRITTEN + 1);
}

static void get_losses(struct loader *l)
{
	struct trace_analysis *a = l->a;
	size_t length;
	const char *text;

	a->start_lost = get(l);
	a->start_damage.code = get_below(l, 2) ? -EBADMSG : 0;
	text = bytes_text(&l->in, &length);
	if (length >= sizeof(a->start_damage.message))
		length = sizeof(a->start_damage.message) - 1;
	memcpy(a->start_damage.message, text, length);
	a->gaps.halted_ns = get(l);
	a->inconsistencies = get(l);
	a->gaps.nr_late = a->gaps.max_late = bytes_count(&l->in, 6);
	a->gaps.late = take(l, a->gaps.nr_late, sizeof(*a->gaps.late));
	if (!a->gaps.late)
		a->gaps.nr_late = 0;
	for (size_t i = 0; i < a->gaps.nr_late; i++)
		get_gap(l, &a->gaps.late[i]);
}

static void get_analysis(struct loader *l)
{
	l->a->start_ns = get_below(l, INT64_MAX);
	l->a->end_ns = get_below(l, INT64_MAX);
	l->in.failed |= l->a->start_ns > l->a->end_ns;
	l->a->now = l->a->end_ns;
	l->a->began = l->a->ended = l->a->done = true;
	l->a->filter.is_on = get_below(l, 2);
	get_masks(l);
	get_losses(l);
	get_processes(l);
}

/* ---- the history ---- */

static uint8_t get_activity(struct loader *l, struct history_activity *activity, uint32_t nr_timelines)
{
	uint64_t flags;
	uint32_t other;

	activity->name = get_text(l);
	activity->target = get_text(l);
	activity->via = get_text(l);
	activity->path = get_text(l);
	activity->address = get(l);
	other = get_ref(l, l->a->threads.nr_processes, NO_THREAD);
	activity->other = other == NO_THREAD ? NULL : l->a->threads.processes[other];
	activity->waker = get_ref(l, nr_timelines, NO_THREAD);
	activity->cpu = (int32_t)get_below(l, INT32_MAX) - 1;
	activity->state = (uint8_t)get_below(l, TRACE_STATE_RUNNING + 1);
	activity->kind = (uint8_t)get_below(l, TRACE_NR_WAIT_KINDS);
	flags = get_below(l, 4);
	activity->idle = flags & 1;
	activity->again = flags & 2;
	return (uint8_t)trace_class_of((enum trace_state)activity->state, (enum trace_wait_kind)activity->kind,
				       activity->idle);
}

static void get_timeline(struct loader *l, struct trace_history *history, uint32_t idx)
{
	const struct trace_thread *thread = l->nr_threads ? l->threads[get_below(l, l->nr_threads)] : NULL;

	history->timelines[idx].thread = thread;
	history->timelines[idx].parent = get_ref(l, history->nr_timelines, NO_THREAD);
	l->in.failed |= !thread;
	l->in.failed |= thread && history_timeline(history, thread) != NO_THREAD;
	if (thread && history_set_timeline(history, thread, idx) < 0)
		l->has_no_memory = true;
}

static void get_activities(struct loader *l, struct trace_history *history, uint32_t nr_timelines)
{
	history->nr_activities = history->max_activities = bytes_count(&l->in, 11);
	history->activities = take(l, history->nr_activities, sizeof(*history->activities));
	history->classes = take(l, history->nr_activities, sizeof(*history->classes));
	l->in.failed |= !history->nr_activities || history->running >= history->nr_activities;
	for (uint32_t i = 0; i < history->nr_activities && !is_bad(l); i++)
		history->classes[i] = get_activity(l, &history->activities[i], nr_timelines);
}

static void get_history(struct loader *l, struct trace_history *history)
{
	uint32_t nr_timelines;

	history->analysis = l->a;
	history->from_ns = get(l);
	history->to_ns = get(l);
	history->nr_intervals = (size_t)get(l);
	history->max_intervals = (size_t)get(l);
	history->coarse = get_below(l, 2);
	l->has_times = get_below(l, 2);
	history->with_pieces = true;
	history->runs = view_runs;
	history->view = l->view;
	history->running = (uint32_t)get_below(l, PIECE);
	nr_timelines = (uint32_t)get_below(l, l->nr_threads + 1ull);
	get_activities(l, history, nr_timelines);
	history->timelines = take(l, nr_timelines, sizeof(*history->timelines));
	history->nr_timelines = history->max_timelines = history->timelines ? nr_timelines : 0;
	for (uint32_t i = 0; i < history->nr_timelines && !is_bad(l); i++)
		get_timeline(l, history, i);
	history->nr_cpus = bytes_count(&l->in, 2);
	history->cpus = take(l, history->nr_cpus, sizeof(*history->cpus));
	history->nr_cpus = history->cpus ? history->nr_cpus : 0;
	l->view->nr_cpus = bytes_count(&l->in, 2);
	l->view->cpus = take(l, l->view->nr_cpus, sizeof(*l->view->cpus));
	l->view->nr_cpus = l->view->cpus ? l->view->nr_cpus : 0;
	l->view->block_entries = (uint32_t)get_below(l, INDEX_BLOCK + 1ull);
	l->in.failed |= !l->view->block_entries;
}

/* ---- what a full view was told ---- */

static void get_beyond_class(struct loader *l, const struct view_beyond *beyond, struct beyond_row *row,
			     unsigned int class_of_time)
{
	uint64_t *sum = row->ns[TRACE_NR_CLASSES], *ns = row->ns[class_of_time] = take(l, beyond->nr, sizeof(*ns));

	for (uint32_t part = 0; ns && part < beyond->nr && !is_bad(l); part++) {
		ns[part] = get_below(l, beyond->width_ns - sum[part] + 1);
		sum[part] += ns[part];
	}
}

static void get_beyond_row(struct loader *l, struct view_beyond *beyond, struct beyond_row *row)
{
	uint64_t mask = get_below(l, 1ull << TRACE_NR_CLASSES);

	beyond->bytes += (size_t)(__builtin_popcountll(mask) + !!mask) * beyond->nr * sizeof(uint64_t);
	l->in.failed |= beyond->bytes > BEYOND_MAX_BYTES;
	if (!mask || is_bad(l))
		return;
	row->ns[TRACE_NR_CLASSES] = take(l, beyond->nr, sizeof(uint64_t));
	for (unsigned int k = 0; k < TRACE_NR_CLASSES && !is_bad(l); k++)
		if (mask >> k & 1)
			get_beyond_class(l, beyond, row, k);
}

static void get_beyond_rows(struct loader *l, struct view_beyond *beyond, struct beyond_row **ret_rows,
			    uint32_t *ret_nr, uint32_t limit)
{
	uint32_t nr = (uint32_t)get_below(l, limit + 1ull);

	*ret_rows = take(l, nr, sizeof(**ret_rows));
	*ret_nr = *ret_rows ? nr : 0;
	for (uint32_t i = 0; i < *ret_nr && !is_bad(l); i++) {
		(*ret_rows)[i].begin = get_below(l, INT64_MAX);
		get_beyond_row(l, beyond, &(*ret_rows)[i]);
	}
}

static void get_beyond(struct loader *l, struct trace_history *history)
{
	struct view_beyond *beyond = &l->view->beyond;
	uint64_t nr, from, to;

	if (!get_below(l, 2))
		return;
	history->failed = -E2BIG;
	history->full_ns = get_below(l, INT64_MAX);
	nr = get_below(l, BEYOND_PARTS + 1);
	if (!nr)
		return;
	from = get_below(l, INT64_MAX);
	to = get_below(l, INT64_MAX);
	beyond_begin(beyond, from, to);
	for (; beyond->nr > nr; beyond->nr /= 2)
		beyond->width_ns *= 2;
	l->in.failed |= beyond->nr != nr;
	if (!is_bad(l))
		get_beyond_rows(l, beyond, &beyond->threads, &beyond->nr_threads, history->nr_timelines);
	if (!is_bad(l))
		get_beyond_rows(l, beyond, &beyond->cpus, &beyond->nr_cpus, l->view->nr_cpus);
}

/* Numbers of entries and pieces, and begins. */
static void get_sizes(struct loader *l, const struct stored_series *list, size_t nr)
{
	uint64_t left = INDEX_MAX_ENTRIES;

	for (size_t i = 0; i < nr && !is_bad(l); i++) {
		struct series *series = list[i].series;

		series->nr = (uint32_t)get_below(l, left + 1);
		series->end = get_below(l, INT64_MAX);
		left -= series->nr;
		if (list[i].timeline)
			list[i].timeline->nr_pieces = (uint32_t)get_below(l, series->nr + 1ull);
	}
}

/* The runs of a CPU are threads, or what a CPU does alone. */
static bool are_runs(const struct trace_view *view)
{
	for (uint32_t cpu = 0; cpu < view->nr_cpus; cpu++) {
		const struct series *runs = &view->cpus[cpu].runs;

		for (uint32_t i = 0; i < runs->nr; i++)
			if (runs->value[i] >= view->history->nr_timelines &&
			    (runs->value[i] < RUN_ALONE || runs->value[i] > RUN_ALONE + CPU_UNKNOWN))
				return false;
	}
	return true;
}

/* ---- the whole ---- */

static void note_error(struct loader *l, int error)
{
	l->has_no_memory |= error == -ENOMEM;
	l->in.failed |= error && error != -ENOMEM;
}

/* @at: where the times or the series begin */
static void load_series(struct loader *l, const struct index_in *in, uint64_t at, const struct stored_series *list,
			size_t nr)
{
	struct times_in times = {0};

	if (l->has_times)
		note_error(l, times_load(l->a->trace, in, &at, &times));
	if (!is_bad(l))
		note_error(l, series_load(l->view->history, list, nr, l->view->block_entries, l->has_times, in, at));
	if (l->has_times && !is_bad(l))
		note_error(l, times_fill(l->view, list, nr, &times));
	if (!is_bad(l))
		l->in.failed |= !are_runs(l->view);
	free(times.memory);
}

/* A copy: nothing else of the facts is needed later. */
static void keep_notes(struct loader *l, const void *notes, size_t nr)
{
	void *copy = arena_take(&l->a->arena, nr + 1);

	l->has_no_memory |= !copy;
	if (!copy)
		return;
	memcpy(copy, notes, nr);
	l->view->notes = copy;
	l->view->nr_notes = nr;
}

static void get_facts(struct loader *l)
{
	get_texts(l);
	if (!is_bad(l))
		get_analysis(l);
	if (!is_bad(l))
		get_history(l, l->view->history);
	if (!is_bad(l))
		get_beyond(l, l->view->history);
}

/* The facts, unpacked; owned by the caller. NULL: they cannot be, or no memory */
static uint8_t *unpack(struct loader *l, const struct index_header *header, const struct index_in *in, uint64_t *at)
{
	size_t bytes = (size_t)header->unpacked, packed;
	struct index_piece frame = {0};
	uint8_t *facts = NULL;

	note_error(l, index_read_section(in, at, &frame));
	packed = (size_t)(frame.bytes.end - frame.bytes.at);
	if (!is_bad(l) && header->unpacked <= INDEX_MAX_FACTS && header->notes <= header->unpacked &&
	    ZSTD_getFrameContentSize(frame.bytes.at, packed) == bytes)
		facts = take(l, bytes, 1);
	if (facts)
		l->in.failed = ZSTD_decompress(facts, bytes, frame.bytes.at, packed) != bytes;
	else
		l->in.failed |= !l->has_no_memory;
	index_piece_end(&frame);
	return facts;
}

/* All facts are released before the series are read. */
static void load(struct loader *l, const struct index_header *header, const struct index_in *in)
{
	uint64_t at = sizeof(*header);
	uint8_t *facts = unpack(l, header, in, &at);
	struct stored_series *list = NULL;
	size_t nr = 0;

	if (facts && !is_bad(l)) {
		l->in.at = facts;
		l->in.end = facts + header->unpacked - header->notes;
		keep_notes(l, l->in.end, (size_t)header->notes);
		get_facts(l);
	}
	if (facts && !is_bad(l)) {
		list = index_series(l->view, &nr);
		l->has_no_memory |= !list;
	}
	if (list)
		get_sizes(l, list, nr);
	l->in.failed |= l->in.at != l->in.end;
	free(l->texts);
	free(l->threads);
	free(facts);
	if (list && !is_bad(l))
		load_series(l, in, at, list, nr);
	free(list);
}

static void sum_thread(void *data, size_t i)
{
	(void)view_sums_thread(data, (uint32_t)i);
}

static void sum_cpu(void *data, size_t i)
{
	(void)view_sums_cpu(data, (uint32_t)i);
}

/* The first picture needs all sums. Those that get no memory are made when they are asked for. */
static void make_sums(struct trace_view *view)
{
	if (view_refresh(view) < 0)
		return;
	index_in_threads(sum_thread, view, view->nr_threads);
	index_in_threads(sum_cpu, view, view->nr_cpus);
}

static bool is_of(const struct trace *trace, const struct index_in *in, struct index_header *ret_header)
{
	struct index_piece piece;
	uint64_t digest;

	if (index_read(in, 0, sizeof(*ret_header), &piece))
		return false;
	memcpy(ret_header, piece.bytes.at, sizeof(*ret_header));
	index_piece_end(&piece);
	digest = trace_file_digest(trace);
	return memcmp(ret_header->magic, INDEX_MAGIC, sizeof(ret_header->magic)) == 0 && digest &&
	       ret_header->trace == digest && ret_header->program == build_stamp() && index_is_whole(in);
}

static struct trace_view *open_view(const struct trace *trace, const struct index_in *in,
				    struct trace_analysis **ret_analysis, struct trace_error *ret_error)
{
	struct index_header header;
	struct loader l = {0};

	*ret_analysis = NULL;
	if (!is_of(trace, in, &header)) {
		error_set(ret_error, -ESTALE, "the index is of another trace or program, or it is damaged");
		return NULL;
	}
	l.a = trace_analysis_new(trace, NULL, ret_error);
	l.view = l.a ? calloc(1, sizeof(*l.view)) : NULL;
	if (l.view) {
		l.view->analysis = l.a;
		l.view->history = calloc(1, sizeof(*l.view->history));
	}
	l.has_no_memory = !l.view || !l.view->history;
	if (!l.has_no_memory)
		load(&l, &header, in);
	if (!is_bad(&l) && !l.a->strings.failed) {
		make_sums(l.view);
		*ret_analysis = l.a;
		return l.view;
	}
	if (l.view)
		trace_view_free(l.view);
	trace_analysis_free(l.a);
	error_set(ret_error, l.in.failed ? -EBADMSG : -ENOMEM,
		  l.in.failed ? "the index is damaged" : "out of memory for the view");
	return NULL;
}

/* @size: with the checksum, which no section has */
static uint64_t without_checksum(uint64_t size)
{
	return size > sizeof(uint64_t) ? size - sizeof(uint64_t) : 0;
}

struct trace_view *trace_view_open(const struct trace *trace, const void *bytes, size_t size,
				   struct trace_analysis **ret_analysis, struct trace_error *ret_error)
{
	const struct index_in in = {.bytes = bytes, .fd = -1, .size = without_checksum(size)};

	return open_view(trace, &in, ret_analysis, ret_error);
}

struct trace_view *trace_view_open_file(const struct trace *trace, int fd, struct trace_analysis **ret_analysis,
					struct trace_error *ret_error)
{
	off_t size = lseek(fd, 0, SEEK_END);
	int read_error = 0;
	struct index_in in = {.fd = fd, .read_error = &read_error};
	struct trace_view *view;

	if (size > 0)
		in.size = without_checksum((uint64_t)size);
	view = open_view(trace, &in, ret_analysis, ret_error);
	if (!view && read_error)
		error_set(ret_error, read_error, "the index cannot be read: %s", strerror(-read_error));
	return view;
}
