/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_save.c - a view as bytes. Whatever a question may change (sums, rows) is not read, so other
 * threads may ask meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "state.h"
#include "build_stamp.h"
#include "index_frame.h"
#include "index_times.h"
#include "view_index.h"
#include "view_rows.h"

struct ordinal_row {
	uint64_t key; /* an address */
	uint32_t nr;
};

/* struct saver - @texts: each text, once; @facts: the rest */
struct saver {
	const struct trace_view *view;
	struct bytes_out texts, facts;
	struct hash_table text_of, thread_of;
	uint32_t nr_texts;
	bool failed;
};

static void put(struct saver *s, uint64_t number)
{
	bytes_put_number(&s->facts, number);
}

static struct ordinal_row *ordinal(struct saver *s, struct hash_table *table, const void *address)
{
	static struct ordinal_row none;
	struct ordinal_row *row = table_add(table, sizeof(*row), (uintptr_t)address);

	s->failed |= !row;
	return row ? row : &none;
}

/* Texts are the same if they have the same address, as for the view. */
static void put_text(struct saver *s, const char *text)
{
	struct ordinal_row *row = *text ? ordinal(s, &s->text_of, text) : NULL;

	if (row && !row->nr) {
		bytes_put_text(&s->texts, text);
		row->nr = ++s->nr_texts;
	}
	put(s, row ? row->nr : 0);
}

/* ---- the analysis ---- */

static void put_process(struct saver *s, const struct trace_process *process)
{
	struct bytes_out *facts = &s->facts;

	put(s, process->pid);
	put(s, process->ppid);
	put(s, process->uid);
	put(s, process->gid);
	put(s, process->kernel);
	put(s, process->cpu_limit_ns);
	put(s, process->starter ? process->starter->idx + 1ull : 0);
	bytes_put(facts, process->comm, sizeof(process->comm));
	bytes_put_text(facts, process->title ? strings_text(process->strings, process->title) : "");
	put(s, process->nr_threads);
}

static void put_thread(struct saver *s, const struct trace_thread *thread)
{
	put(s, thread->idx);
	put(s, thread->tid);
	put(s, thread->uid);
	put(s, thread->flags & (THREAD_KERNEL | THREAD_IO_WORKER));
	put(s, thread->start_ns);
	put(s, thread->end_ns);
	bytes_put(&s->facts, thread->comm, sizeof(thread->comm));
}

static void put_processes(struct saver *s, const struct thread_table *table)
{
	uint32_t nr_threads = 0;

	put(s, table->nr_processes);
	put(s, table->nr);
	for (uint32_t i = 0; i < table->nr_processes; i++) {
		size_t nr = 0;

		s->failed |= table->processes[i]->idx != i;
		put_process(s, table->processes[i]);
		for (const struct trace_thread *t = table->processes[i]->first; t; t = t->next, nr++) {
			put_thread(s, t);
			ordinal(s, &s->thread_of, t)->nr = nr_threads++;
		}
		s->failed |= nr != table->processes[i]->nr_threads;
	}
	s->failed |= nr_threads > table->nr;
}

static void put_masks(struct saver *s, const struct trace_analysis *a)
{
	put(s, a->masks.any);
	for (size_t i = 0; i < TRACE_MASK_WORDS; i++) {
		put(s, a->masks.recorded[i]);
		put(s, a->masks.unrecorded[i]);
	}
	for (uint32_t id = 0; id < TRACE_EV_MAX; id++)
		put(s, a->counts[id]);
}

static void put_losses(struct saver *s, const struct trace_analysis *a)
{
	put(s, a->start_lost);
	put(s, a->start_damage.code == -EBADMSG);
	bytes_put_text(&s->facts, a->start_damage.code == -EBADMSG ? a->start_damage.message : "");
	put(s, a->gaps.halted_ns);
	put(s, a->inconsistencies);
	put(s, a->gaps.nr_late);
	for (size_t i = 0; i < a->gaps.nr_late; i++) {
		const struct trace_gap *gap = &a->gaps.late[i];

		put(s, gap->stream);
		put(s, gap->cpu);
		put(s, gap->start_ns);
		put(s, gap->end_ns);
		put(s, gap->lost);
		put(s, gap->cause);
	}
}

static void put_analysis(struct saver *s, const struct trace_analysis *a)
{
	put(s, a->start_ns);
	put(s, a->end_ns);
	put(s, a->filter.is_on);
	put_masks(s, a);
	put_losses(s, a);
	put_processes(s, &a->threads);
}

/* ---- the history ---- */

static void put_thread_ref(struct saver *s, const struct trace_thread *thread)
{
	const struct ordinal_row *row = table_find(&s->thread_of, sizeof(*row), (uintptr_t)thread);

	s->failed |= !row;
	put(s, row ? row->nr : 0);
}

static void put_activity(struct saver *s, const struct history_activity *activity)
{
	put_text(s, activity->name);
	put_text(s, activity->target);
	put_text(s, activity->via);
	put_text(s, activity->path);
	put(s, activity->address);
	put(s, activity->other ? activity->other->idx + 1ull : 0);
	put(s, activity->waker == NO_THREAD ? 0 : activity->waker + 1ull);
	put(s, (uint64_t)(activity->cpu + 1ll));
	put(s, activity->state);
	put(s, activity->kind);
	put(s, (uint64_t)activity->again << 1 | activity->idle);
}

static void put_series(struct saver *s, const struct stored_series *stored)
{
	const struct series *series = stored->series;

	put(s, series->nr);
	put(s, series->nr ? series->from[0] : series->end);
	if (stored->timeline)
		put(s, stored->timeline->nr_pieces);
}

static uint32_t block_entries(const struct trace_view *view)
{
	return view->block_entries ? view->block_entries : INDEX_BLOCK;
}

static void put_history(struct saver *s, const struct trace_history *history, bool has_times)
{
	put(s, history->from_ns);
	put(s, history->to_ns);
	put(s, history->nr_intervals);
	put(s, history->max_intervals);
	put(s, history->coarse);
	put(s, has_times);
	put(s, history->running);
	put(s, history->nr_timelines);
	put(s, history->nr_activities);
	for (uint32_t i = 0; i < history->nr_activities; i++)
		put_activity(s, &history->activities[i]);
	for (uint32_t i = 0; i < history->nr_timelines; i++) {
		put_thread_ref(s, history->timelines[i].thread);
		put(s, history->timelines[i].parent == NO_THREAD ? 0 : history->timelines[i].parent + 1ull);
	}
	put(s, history->nr_cpus);
	put(s, s->view->nr_cpus);
	put(s, block_entries(s->view));
}

/* ---- what a full view was told ---- */

/* The sum of a row's classes is not stored. */
static void put_beyond_rows(struct saver *s, const struct beyond_row *rows, uint32_t nr)
{
	const struct view_beyond *beyond = &s->view->beyond;

	put(s, nr);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t mask = 0;

		for (unsigned int k = 0; k < TRACE_NR_CLASSES; k++)
			mask |= rows[i].ns[k] ? 1ull << k : 0;
		put(s, rows[i].begin);
		put(s, mask);
		for (unsigned int k = 0; k < TRACE_NR_CLASSES; k++)
			for (uint32_t part = 0; rows[i].ns[k] && part < beyond->nr; part++)
				put(s, rows[i].ns[k][part]);
	}
}

static uint32_t nr_of(uint32_t nr_rows, uint32_t nr)
{
	return nr < nr_rows ? nr : nr_rows; /* there is room for more rows */
}

static void put_beyond(struct saver *s)
{
	const struct trace_view *view = s->view;
	const struct view_beyond *beyond = &view->beyond;

	put(s, view->history->failed == -E2BIG);
	if (view->history->failed != -E2BIG)
		return;
	put(s, view->history->full_ns);
	put(s, beyond->nr);
	if (!beyond->nr)
		return;
	put(s, beyond->from_ns);
	put(s, beyond->to_ns);
	put_beyond_rows(s, beyond->threads, nr_of(beyond->nr_threads, view->history->nr_timelines));
	put_beyond_rows(s, beyond->cpus, nr_of(beyond->nr_cpus, view->nr_cpus));
}

/* ---- the whole ---- */

/* Texts, then what refers to them, then the notes. Returns the number of their bytes. */
static uint64_t pack_facts(struct saver *s, const void *notes, size_t nr_notes, struct bytes_out *packed)
{
	struct bytes_out nr_texts = {0};
	struct index_frame frame;
	uint64_t unpacked;

	bytes_put_number(&nr_texts, s->nr_texts);
	unpacked = nr_texts.nr + s->texts.nr + s->facts.nr + nr_notes;
	packed->failed |= s->failed || s->texts.failed || s->facts.failed || nr_texts.failed ||
			  unpacked > INDEX_MAX_FACTS;
	frame = index_frame_begin(unpacked, packed);
	index_frame_put(&frame, nr_texts.at, nr_texts.nr);
	index_frame_put(&frame, s->texts.at, s->texts.nr);
	index_frame_put(&frame, s->facts.at, s->facts.nr);
	index_frame_put(&frame, notes, nr_notes);
	index_frame_end(&frame);
	bytes_free(&nr_texts);
	bytes_free(&s->texts);
	bytes_free(&s->facts);
	return unpacked;
}

/* The header, and the facts. */
static void put_facts(struct saver *s, const void *notes, size_t nr_notes, struct index_out *out)
{
	struct index_header header = {.magic = INDEX_MAGIC, .notes = nr_notes};
	struct bytes_out packed = {0};

	header.unpacked = pack_facts(s, notes, nr_notes, &packed);
	header.trace = trace_file_digest(s->view->analysis->trace);
	header.program = build_stamp();
	if (!out->error && packed.failed)
		out->error = -ENOMEM;
	index_put(out, &header, sizeof(header));
	index_put_section(out, packed.nr);
	index_put(out, packed.at, packed.nr);
	bytes_free(&packed);
}

static size_t entries_of(const struct stored_series *list, size_t nr)
{
	size_t sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += list[i].series->nr;
	return sum;
}

static void save_series(struct saver *s, const struct stored_series *list, size_t nr, struct index_out *out)
{
	struct index_times times = {0};

	if (!times_are_kept(s->view)) {
		series_save(s->view->history, list, nr, block_entries(s->view), NULL, out);
		return;
	}
	if (!out->error)
		out->error = times_find(s->view, list, nr, &times);
	if (!out->error) {
		times_save(&times, out);
		series_save(s->view->history, list, nr, block_entries(s->view), &times, out);
	}
	times_free(&times);
}

static void save(struct saver *s, const struct stored_series *list, size_t nr, const void *notes, size_t nr_notes,
		 struct index_out *out)
{
	put_analysis(s, s->view->analysis);
	put_history(s, s->view->history, times_are_kept(s->view));
	put_beyond(s);
	for (size_t i = 0; i < nr; i++)
		put_series(s, &list[i]);
	put_facts(s, notes, nr_notes, out);
	table_clear(&s->text_of);
	table_clear(&s->thread_of);
	save_series(s, list, nr, out);
}

/* To @fd, or with -1 into memory. Returns 0 or a negative errno. */
static int save_view(const struct trace_view *view, const void *notes, size_t nr_notes, int fd, struct bytes_out *ret,
		     struct trace_error *ret_error)
{
	struct saver s = {.view = view};
	struct stored_series *list;
	struct index_out out;
	size_t nr;

	if (!view->analysis->done || (trace_view_error(view) && trace_view_error(view) != -E2BIG))
		return error_set(ret_error, -EAGAIN, "the view is not complete");
	if (!trace_file_digest(view->analysis->trace))
		return error_set(ret_error, -ESTALE, "the trace has changed since it was opened");
	list = index_series(view, &nr);
	if (!list)
		return error_set(ret_error, -ENOMEM, "out of memory for the index");
	if (entries_of(list, nr) > INDEX_MAX_ENTRIES) {
		free(list);
		return error_set(ret_error, -E2BIG, "the view has too many intervals for an index");
	}
	out = index_out_begin(fd);
	save(&s, list, nr, notes, nr_notes, &out);
	index_out_end(&out);
	free(list);
	*ret = out.bytes;
	return out.error ? error_set(ret_error, out.error, "the index of the view cannot be made: %s",
				     strerror(-out.error))
			 : 0;
}

int trace_view_save(const struct trace_view *view, const void *notes, size_t nr_notes, void **ret_bytes,
		    size_t *ret_size, struct trace_error *ret_error)
{
	struct bytes_out bytes = {0};
	int error = save_view(view, notes, nr_notes, -1, &bytes, ret_error);

	if (error) {
		bytes_free(&bytes);
		return error;
	}
	*ret_bytes = bytes.at;
	*ret_size = bytes.nr;
	return 0;
}

int trace_view_save_file(const struct trace_view *view, const void *notes, size_t nr_notes, int fd,
			 struct trace_error *ret_error)
{
	struct bytes_out none = {0};

	if (fd < 0)
		return error_set(ret_error, -EBADF, "the index has no file");
	return save_view(view, notes, nr_notes, fd, &none, ret_error);
}
