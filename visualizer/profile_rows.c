/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>
#include "process_choice.h"
#include "thread_choice.h"
#include "value_text.h"
#include "wait_text.h"

#define NAME_BYTES 1024

/** struct frame_name - of a frame; its texts belong to the rows */
struct frame_name {
	uint64_t key; /* number + 1 */
	const char *name;
	const char *file;
	const char *why;
};

/**
 * struct profile_making - @rows while they are made; @symbols, @names: owned
 * @stratum: the last share; of the stratum that is being added
 * @functions: the rows of its samples, with their numbers in profile_row.pending; owned
 * @stratum_ns: its time so far
 */
struct profile_making {
	const struct report *report;
	struct profile_rows *rows;
	struct trace_symbols *symbols;
	struct hash_table names;
	struct trace_profile_share stratum;
	struct pointers functions;
	uint64_t stratum_ns;
};

struct row_slot {
	uint64_t key; /* of the text of the row */
	struct profile_row *row;
};

const char *profile_kind_word(enum profile_row_kind kind)
{
	static const char *const words[] = {"function", "not sampled", "CPU wait", "blocked", "at rest"};

	return words[kind];
}

/*
 * The share of a function in a stratum is k of n samples. Its true share p has a
 * Beta(k + 1, n - k + 1) distribution, if nothing was known of p before: its variance is not 0 for
 * 1 of 1 sample, as p (1 - p) / n would be.
 */
static double share_variance(uint64_t samples, uint64_t of)
{
	double a = (double)samples + 1, b = (double)(of - samples) + 1;

	return a * b / ((a + b) * (a + b) * (a + b + 1));
}

/* By Newton's method from above: each step at least halves what is too much. */
static double square_root(double square)
{
	double root = square > 1 ? square : 1, next = (root + square / root) / 2;

	while (next < root) {
		root = next;
		next = (root + square / root) / 2;
	}
	return root;
}

uint64_t profile_deviation(const struct profile_row *row)
{
	return row->variance > 0 ? (uint64_t)(square_root(row->variance) + 0.5) : 0;
}

/* ---- rows ---- */

static const char *keep(struct profile_making *making, const char *text)
{
	string_id id = strings_intern(&making->rows->texts, text);

	if (making->rows->texts.failed)
		memory_end();
	return strings_text(&making->rows->texts, id);
}

/* Without a timer that is never off, a sample waits until interrupts are on again. */
static bool is_late(const struct profile_row *row)
{
	static const char *const stems[] = {"_raw_spin_unlock_irq", "_raw_read_unlock_irq",   "_raw_write_unlock_irq",
					    "finish_task_switch",   "raw_spin_rq_unlock_irq", "irqentry_exit"};

	for (size_t i = 0; !strcmp(row->file, "[kernel]") && i < sizeof(stems) / sizeof(stems[0]); i++)
		if (!strncmp(row->name, stems[i], strlen(stems[i])))
			return true;
	return false;
}

/* The row of this kind and these texts. */
static struct profile_row *row_of(struct profile_making *making, const struct profile_row *wanted)
{
	struct row_slot *slot;
	struct string text = {0};
	uint64_t key;

	string_addf(&text, "%d\x01%s\x01%s\x01%s\x01%s", wanted->kind, wanted->name, wanted->file, wanted->program,
		    wanted->why);
	key = memory_key(&making->rows->texts, string_text(&text));
	string_free(&text);
	slot = memory_row(&making->rows->index, sizeof(*slot), key);
	if (slot->row)
		return slot->row;
	slot->row = memory_take(1, sizeof(*slot->row));
	*slot->row = (struct profile_row){.kind = wanted->kind,
					  .name = keep(making, wanted->name),
					  .file = keep(making, wanted->file),
					  .program = keep(making, wanted->program),
					  .why = keep(making, wanted->why)};
	slot->row->is_late = is_late(slot->row);
	pointers_add(&making->rows->rows, slot->row);
	return slot->row;
}

static void add_time(struct profile_row *row, const struct trace_profile_share *share)
{
	if (share->state == TRACE_STATE_WAIT_CPU)
		row->wait_cpu_ns += share->ns;
	else if (share->state == TRACE_STATE_BLOCKED)
		row->blocked_ns += share->ns;
	else
		row->on_cpu_ns += share->ns;
	row->samples += share->samples;
}

/* ---- what the time is for ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void find_name(struct profile_making *making, uint32_t number, struct frame_name *name)
{
	struct trace_profile_frame frame = {0};
	struct trace_symbol symbol;

	trace_profile_get_frame(making->report->profile, number, &frame);
	name->name = "";
	if (!trace_symbols_find(making->symbols, frame.tid, frame.ts_ns, frame.address, &symbol)) {
		name->file = frame.in_kernel ? "[kernel]" : "";
		name->why = frame.in_kernel ? "the recorder could not read its name"
					    : "no file is known to be mapped there";
		return;
	}
	name->name = keep(making, symbol.function);
	name->file = keep(making, base_name(symbol.file));
	name->why = *symbol.function ? "" : *symbol.why ? keep(making, symbol.why) : "the file has no symbol there";
}

static void name_function(struct profile_making *making, uint32_t number, struct profile_row *wanted)
{
	struct frame_name *name = memory_row(&making->names, sizeof(*name), (uint64_t)number + 1);

	if (!name->name)
		find_name(making, number, name);
	wanted->name = name->name;
	wanted->file = name->file;
	wanted->why = name->why;
}

static void name_state(const struct trace_profile_share *share, char *text, size_t size)
{
	switch (share->state) {
	case TRACE_STATE_TRAP:
		snprintf(text, size, "page fault%s%s", *share->name ? " in " : "", share->name);
		break;
	case TRACE_STATE_INTERRUPTED:
		snprintf(text, size, "interrupt %s", share->name);
		break;
	case TRACE_STATE_SYSCALL:
		snprintf(text, size, "%s", *share->name ? share->name : "kernel");
		break;
	default:
		snprintf(text, size, "own code");
	}
}

/* A thread of the same process is not told apart from others of it. */
static void name_wait(const struct profile_making *making, const struct trace_profile_share *share, char *text,
		      size_t size)
{
	struct trace_wait wait = {.kind = share->kind,
				  .target = share->target,
				  .pid = share->other ? trace_process_pid(share->other) : 0,
				  .comm = share->other ? trace_process_comm(share->other) : "",
				  .via = share->via,
				  .path = share->path};

	text_wait(making->report->analysis, &wait, trace_process_pid(trace_thread_process(share->thread)), text, size);
}

/* @text: room for the name */
static void name_share(struct profile_making *making, const struct trace_profile_share *share,
		       struct profile_row *wanted, char *text, size_t size)
{
	wanted->name = text;
	wanted->program = trace_process_title(trace_thread_process(share->thread));
	if (share->state == TRACE_STATE_WAIT_CPU) {
		wanted->kind = PROFILE_WAIT_CPU;
	} else if (share->state == TRACE_STATE_BLOCKED && share->idle) {
		wanted->kind = PROFILE_REST;
		wanted->program = "";
	} else if (share->state == TRACE_STATE_BLOCKED) {
		wanted->kind = PROFILE_BLOCKED;
		name_wait(making, share, text, size);
	} else if (share->frame != TRACE_PROFILE_NO_FRAME) {
		wanted->kind = PROFILE_FUNCTION;
		name_function(making, share->frame, wanted);
	} else {
		wanted->kind = PROFILE_NOT_SAMPLED;
		name_state(share, text, size);
	}
}

/* ---- strata ---- */

static bool is_same_stratum(const struct trace_profile_share *a, const struct trace_profile_share *b)
{
	return a->thread == b->thread && a->state == b->state && a->name == b->name && a->of == b->of;
}

/* All shares of a stratum were added: the variances of its functions, each of several frames
 * perhaps. */
static void end_stratum(struct profile_making *making)
{
	double ns = (double)making->stratum_ns;

	for (size_t i = 0; i < making->functions.nr; i++) {
		struct profile_row *row = making->functions.at[i];

		row->variance += ns * ns * share_variance(row->pending, making->stratum.of);
		row->pending = 0;
	}
	making->functions.nr = 0;
	making->stratum_ns = 0;
}

static void add_share(struct profile_making *making, const struct trace_profile_share *share)
{
	struct profile_row wanted = {.name = "", .file = "", .why = "", .program = ""}, *row;
	char text[NAME_BYTES] = "";

	if (!is_same_stratum(share, &making->stratum))
		end_stratum(making);
	making->stratum = *share;
	name_share(making, share, &wanted, text, sizeof(text));
	row = row_of(making, &wanted);
	add_time(row, share);
	add_time(&making->rows->sum, share);
	making->rows->rest_ns += wanted.kind == PROFILE_REST ? share->ns : 0;
	making->rows->unnamed_ns += *wanted.why ? share->ns : 0;
	making->stratum_ns += share->ns;
	if (share->samples && !row->pending)
		pointers_add(&making->functions, row);
	row->pending += share->samples;
}

static int by_time(const void *left, const void *right, void *data)
{
	const struct profile_row *l = *(struct profile_row *const *)left, *r = *(struct profile_row *const *)right;
	uint64_t ns[2] = {profile_elapsed(l), profile_elapsed(r)};

	(void)data;
	if ((l->kind == PROFILE_REST) != (r->kind == PROFILE_REST))
		return l->kind == PROFILE_REST ? 1 : -1;
	return ns[0] != ns[1] ? (ns[0] > ns[1] ? -1 : 1) : 0;
}

/* @of: rows are keys, addresses of processes; empty: all */
static bool is_chosen(const struct report *report, const struct hash_table *of, const struct trace_thread *thread)
{
	if (of->used && !table_find(of, sizeof(uint64_t), (uintptr_t)trace_thread_process(thread)))
		return false;
	return process_is_chosen(&report->options->processes, trace_thread_process(thread)) &&
	       thread_is_chosen(report, thread);
}

int profile_rows_make(const struct report *report, const struct pointers *of, struct profile_rows *ret_rows,
		      struct trace_error *ret_error)
{
	struct profile_making making = {.report = report, .rows = ret_rows};
	const struct trace_thread *last = NULL;
	struct trace_profile_share share;
	struct hash_table threads = {0}, processes = {0};
	int error;

	for (size_t i = 0; of && i < of->nr; i++)
		memory_row(&processes, sizeof(uint64_t), (uintptr_t)of->at[i]);
	making.symbols = trace_symbols_new(report->trace, ret_error);
	if (!making.symbols)
		memory_end();
	trace_symbols_set_folder(making.symbols, report->options->symbols.folder);
	trace_symbols_want_debuginfod(making.symbols, report->options->symbols.debuginfod);
	for (size_t i = 0; trace_profile_get_share(report->profile, i, &share); i++) {
		if (!is_chosen(report, &processes, share.thread))
			continue;
		if (share.thread != last)
			*(uint64_t *)memory_row(&threads, sizeof(uint64_t),
						(uintptr_t)share.thread) = (uintptr_t)share.thread;
		last = share.thread;
		add_share(&making, &share);
	}
	end_stratum(&making);
	ret_rows->nr_threads = threads.used;
	memory_sort(ret_rows->rows.at, ret_rows->rows.nr, sizeof(*ret_rows->rows.at), by_time, NULL);
	error = trace_symbols_error(making.symbols, ret_error);
	trace_symbols_free(making.symbols);
	table_clear(&threads);
	table_clear(&processes);
	table_clear(&making.names);
	pointers_free(&making.functions);
	return error;
}

void profile_rows_free(struct profile_rows *rows)
{
	pointers_free_all(&rows->rows);
	strings_clear(&rows->texts);
	table_clear(&rows->index);
}
