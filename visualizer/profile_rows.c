/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "process_choice.h"
#include "process_origin.h"
#include "profile_code.h"
#include "profile_lines.h"
#include "profile_way.h"
#include "profile_where.h"
#include "thread_choice.h"
#include "value_text.h"
#include "wait_text.h"

#define NAME_BYTES 1024

/**
 * struct profile_making - @rows while they are made
 * @stratum: the last share; of the stratum that is being added
 * @functions: the rows of its samples, with their numbers in profile_row.pending; owned
 * @stratum_ns: its time so far
 * @stack: of the share that is being added. @way: to its row
 * @named: the rows of functions; owned
 * @program: the title of the process of @stratum: those of equal titles are the same pointer
 */
struct profile_making {
	const struct report *report;
	struct profile_rows *rows;
	struct trace_profile_share stratum;
	struct pointers functions;
	uint64_t stratum_ns;
	struct profile_stack stack;
	struct profile_way way;
	struct hash_table named;
	const char *program;
};

/** struct row_slot - a row; those with the same hash have neighbouring keys */
struct row_slot {
	uint64_t key;
	struct profile_row *row;
};

const char *profile_kind_word(enum profile_row_kind kind)
{
	static const char *const words[] = {"function",	  "not sampled", "CPU wait",	     "blocked",
					    "not traced", "at rest",	 "stack incomplete", "program"};

	return words[kind];
}

/*
 * The share of a function in a stratum is k of n samples. Its true share p has a
 * Beta(k + 1, n - k + 1) distribution, if nothing was known of p before: its variance is not 0 for
 * 1 of 1 sample, as p (1 - p) / n would be.
 */
double profile_share_variance(uint64_t samples, uint64_t of)
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

uint64_t profile_deviation_of(double variance)
{
	return variance > 0 ? (uint64_t)(square_root(variance) + 0.5) : 0;
}

uint64_t profile_deviation(const struct profile_row *row)
{
	return profile_deviation_of(row->variance);
}

/* ---- rows ---- */

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

/* Texts of profile_names are equal if their addresses are. */
static uint64_t row_hash(const struct profile_row *row)
{
	const uint64_t parts[] = {(uintptr_t)row->name, (uintptr_t)row->file, (uintptr_t)row->program,
				  (uintptr_t)row->why, (uint64_t)row->kind << 32 | row->wait};
	uint64_t hash = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		hash = hash_u64(hash ^ parts[i]);
	return hash;
}

static bool is_same_row(const struct profile_row *a, const struct profile_row *b)
{
	return a->kind == b->kind && a->wait == b->wait && a->name == b->name && a->file == b->file &&
	       a->program == b->program && a->why == b->why;
}

/* The row of this kind and these texts. */
static struct profile_row *row_of(struct profile_making *making, const struct profile_row *wanted)
{
	struct profile_rows *rows = making->rows;
	struct profile_row row = {.kind = wanted->kind,
				  .name = profile_names_keep(&rows->names, wanted->name),
				  .file = profile_names_keep(&rows->names, wanted->file),
				  .program = profile_names_keep(&rows->names, wanted->program),
				  .why = profile_names_keep(&rows->names, wanted->why),
				  .wait = wanted->wait,
				  .number = (uint32_t)(rows->rows.nr + rows->programs.nr)};
	struct row_slot *slot;

	for (uint64_t key = row_hash(&row);; key++) {
		key += !key;
		slot = memory_row(&rows->index, sizeof(*slot), key);
		if (!slot->row)
			break;
		if (is_same_row(slot->row, &row))
			return slot->row;
	}
	slot->row = memory_take(1, sizeof(*slot->row));
	*slot->row = row;
	slot->row->is_late = is_late(slot->row);
	pointers_add(wanted->kind == PROFILE_PROGRAM ? &rows->programs : &rows->rows, slot->row);
	return slot->row;
}

static struct profile_time time_of(const struct trace_profile_share *share)
{
	struct profile_time time = {.samples = share->samples};

	if (share->state == TRACE_STATE_WAIT_CPU)
		time.wait_cpu_ns = share->ns;
	else if (share->state == TRACE_STATE_BLOCKED)
		time.blocked_ns = share->ns;
	else
		time.on_cpu_ns = share->ns;
	return time;
}

void profile_row_text(const struct profile_row *row, struct string *text)
{
	if (row->kind == PROFILE_PROGRAM)
		string_add(text, *row->name ? row->name : "(no name)");
	else if (row->kind != PROFILE_FUNCTION)
		string_addf(text, "(%s)%s%s", profile_kind_word(row->kind), *row->name ? " " : "", row->name);
	else if (*row->name)
		string_addf(text, "%s%s", row->name, row->is_late ? " (+ interrupts off)" : "");
	else
		string_addf(text, "(no name: %s)", row->why);
}

/* ---- what the time is for ---- */

static void name_function(struct profile_making *making, uint32_t function, struct profile_row *wanted)
{
	const struct frame_name *name = profile_name_of(&making->rows->names, function);

	wanted->kind = PROFILE_FUNCTION;
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
	wanted->program = making->program;
	if (share->state == TRACE_STATE_WAIT_CPU) {
		wanted->kind = PROFILE_WAIT_CPU;
	} else if (share->state == TRACE_STATE_BLOCKED && share->idle) {
		wanted->kind = PROFILE_REST;
		wanted->program = "";
	} else if (share->state == TRACE_STATE_BLOCKED && share->kind == TRACE_WAIT_UNKNOWN && !*share->target) {
		wanted->kind = PROFILE_NOT_TRACED;
		wanted->wait = share->kind;
	} else if (share->state == TRACE_STATE_BLOCKED) {
		wanted->kind = PROFILE_BLOCKED;
		wanted->wait = share->kind;
		name_wait(making, share, text, size);
	} else if (share->frame != TRACE_PROFILE_NO_FRAME) {
		size_t nr;

		name_function(making, profile_functions_of(&making->rows->names, share->frame, &nr), wanted);
	} else {
		wanted->kind = PROFILE_NOT_SAMPLED;
		name_state(share, text, size);
	}
}

/* ---- strata ---- */

static bool is_same_stratum(const struct trace_profile_share *a, const struct trace_profile_share *b)
{
	return a->thread == b->thread && a->state == b->state && a->name == b->name && a->of == b->of &&
	       a->cpu == b->cpu && a->label == b->label;
}

/* All shares of a stratum were added: the variances of its functions, each of several frames
 * perhaps. */
static void end_stratum(struct profile_making *making)
{
	double ns = (double)making->stratum_ns;

	for (size_t i = 0; i < making->functions.nr; i++) {
		struct profile_row *row = making->functions.at[i];

		row->variance += ns * ns * profile_share_variance(row->pending, making->stratum.of);
		row->pending = 0;
	}
	profile_by_end_stratum(&making->rows->by, making->stratum_ns, making->stratum.of);
	making->functions.nr = 0;
	making->stratum_ns = 0;
}

/* ---- contexts ---- */

/** struct named_slot - the row of a function in a program, whose texts are compared only once */
struct named_slot {
	uint64_t key;
	const char *program;
	struct profile_row *row;
	uint32_t function;
};

static struct profile_row *row_of_function(struct profile_making *making, uint32_t function, const char *program)
{
	uint64_t key = hash_u64((uintptr_t)program) ^ function;
	struct profile_row wanted = {.program = program};
	struct named_slot *slot;

	for (;; key++) {
		key += !key;
		slot = memory_row(&making->named, sizeof(*slot), key);
		if (!slot->row)
			break;
		if (slot->function == function && slot->program == program)
			return slot->row;
	}
	name_function(making, function, &wanted);
	*slot = (struct named_slot){
		.key = key, .program = program, .function = function, .row = row_of(making, &wanted)};
	return slot->row;
}

static struct profile_row *row_in(struct profile_making *making, enum profile_row_kind kind, const char *name,
				  const char *program)
{
	struct profile_row wanted = {.kind = kind, .name = name, .file = "", .why = "", .program = program};

	return row_of(making, &wanted);
}

static struct profile_node *below(struct profile_making *making, struct profile_node *caller,
				  enum profile_row_kind kind, const char *name, const char *program)
{
	return profile_tree_below(&making->rows->tree, caller, row_in(making, kind, name, program));
}

/* Where a stack that is not whole ends. */
static const char *why_incomplete(enum stack_end end, enum trace_profile_end walk)
{
	static const char *const whys[TRACE_PROFILE_NR_ENDS] = {
		[TRACE_PROFILE_END_NOT_READY] = "unwind table not ready",
		[TRACE_PROFILE_END_NO_CALLER] = "code without a description",
		[TRACE_PROFILE_END_UNSUPPORTED] = "unusual description",
		[TRACE_PROFILE_END_UNREADABLE] = "memory not present",
		[TRACE_PROFILE_END_UNMAPPED] = "unknown mapping",
	};

	return end == STACK_CUT ? "longer than what is recorded" : whys[walk] ? whys[walk] : "";
}

/*
 * Behind a wait: what ended it. The innermost function of the waker comes first, as if it went on
 * where the waiter stopped, and its program last.
 */
static struct profile_node *add_waker(struct profile_making *making, const struct trace_profile_share *share,
				      struct profile_node *node)
{
	const char *program = share->waker ? process_program(trace_thread_process(share->waker)) : "",
		   *word = trace_profile_waker_word(share->waker_kind);

	program = profile_names_keep(&making->rows->names, program);
	node = below(making, node, PROFILE_PROGRAM, "--", "");
	if (share->waker_frame != TRACE_PROFILE_NO_FRAME) {
		enum stack_end end = profile_stack_of(&making->rows->names, share->waker_frame, &making->stack);

		for (size_t i = 0; i < making->stack.nr; i++)
			node = profile_tree_below(&making->rows->tree, node,
						  row_of_function(making, making->stack.functions[i], program));
		if (share->waker && end != STACK_WHOLE)
			node = below(making, node, PROFILE_INCOMPLETE, why_incomplete(end, making->stack.end), program);
	}
	return below(making, node, PROFILE_PROGRAM, share->waker ? program : *word ? word : "(waker not sampled)", "");
}

/* @node: NULL without a tree */
static void add_woken(struct profile_making *making, const struct trace_profile_share *share, struct profile_row *row,
		      struct profile_node *node)
{
	const char *name = profile_waker_name(&making->rows->names, share, &making->stack);

	woken_in_add(&row->woken, name, share->ns, &making->rows->wokens);
	if (node)
		woken_in_add(&node->woken, name, share->ns, &making->rows->wokens);
}

static bool has_wakers(const struct report *report)
{
	return report->options->profile.form == PROFILE_FOLDED && report->options->profile.part == PROFILE_WAKERS;
}

/* The reports that tell contexts. Rows alone take less time and memory. */
static bool has_tree(const struct report *report)
{
	const struct visualizer_options *options = report->options;
	enum profile_form form = options->profile.form;

	return options->profile.flame || options->profile.pprof || options->reports.verify ||
	       options->opreport.callgraph || form == PROFILE_TREE || form == PROFILE_CALLERS ||
	       form == PROFILE_CALLEES || form == PROFILE_FOLDED;
}

/* The function of the share, or that in which its thread waited; NULL: not known. */
static const struct frame_name *place_of(struct profile_making *making, const struct trace_profile_share *share,
					 const struct profile_row *row)
{
	size_t nr;

	if (share->frame == TRACE_PROFILE_NO_FRAME)
		return NULL;
	if (row->kind == PROFILE_FUNCTION)
		return profile_name_of(&making->rows->names,
				       profile_functions_of(&making->rows->names, share->frame, &nr));
	return profile_place_in(&making->rows->names, &making->stack);
}

/* Behind the first @top steps: the functions of the stack, from the outermost to number @inner. */
static void walk_stack(struct profile_making *making, size_t top, size_t inner)
{
	const struct profile_stack *stack = &making->stack;

	for (size_t i = profile_way_keep(&making->way, top, stack->functions, stack->nr, inner); i > inner; i--)
		profile_way_add(&making->way, stack->functions[i - 1],
				row_of_function(making, stack->functions[i - 1], making->program));
}

/* The parts of a waiting thread's row: where it waited, what woke it, and its node in the tree. */
static struct profile_node *add_wait(struct profile_making *making, const struct trace_profile_share *share,
				     struct profile_row *row, struct profile_node *node)
{
	profile_where_add(making->rows, row, profile_where(&making->way), share->ns);
	add_woken(making, share, row, node);
	return has_wakers(making->report) ? add_waker(making, share, node) : node;
}

/* The time belongs to @row, and to all that called it. */
static void add_context(struct profile_making *making, const struct trace_profile_share *share, struct profile_row *row,
			const struct profile_time *time)
{
	const char *program = making->program;
	struct profile_node *node;
	size_t top = 1;

	profile_way_top(&making->way, 0, row_in(making, PROFILE_PROGRAM, program, ""));
	making->stack.nr = 0;
	if (share->frame != TRACE_PROFILE_NO_FRAME) {
		enum stack_end end = profile_stack_of(&making->rows->names, share->frame, &making->stack);

		making->rows->ends[end] += share->samples;
		if (end == STACK_LOST)
			making->rows->lost[making->stack.end] += share->samples;
		if (end != STACK_WHOLE)
			profile_way_top(&making->way, top++,
					row_in(making, PROFILE_INCOMPLETE, why_incomplete(end, making->stack.end),
					       program));
		if (making->report->options->profile.form == PROFILE_LINES)
			profile_lines_add(making->rows, &making->stack, row->kind == PROFILE_FUNCTION, time);
		if (making->report->options->profile.form == PROFILE_ASM)
			profile_code_add(making->rows, making->report->options->profile.code, &making->stack,
					 row->kind == PROFILE_FUNCTION, time);
	}
	if (making->report->options->profile.form == PROFILE_BY)
		profile_by_add(making->rows, making->report, share, row, place_of(making, share, row), time);
	walk_stack(making, top, row->kind == PROFILE_FUNCTION); /* the innermost one is the row */
	profile_way_total(&making->way, row, time);
	node = profile_way_node(&making->way);
	node = node ? profile_tree_below(&making->rows->tree, node, row) : NULL;
	if (share->state == TRACE_STATE_BLOCKED)
		node = add_wait(making, share, row, node);
	if (node)
		profile_time_add(&node->self, time);
}

static void add_share(struct profile_making *making, const struct trace_profile_share *share)
{
	struct profile_row wanted = {.name = "", .file = "", .why = "", .program = ""}, *row;
	struct profile_time time = time_of(share);
	char text[NAME_BYTES] = "";

	if (!is_same_stratum(share, &making->stratum))
		end_stratum(making);
	if (share->thread != making->stratum.thread)
		making->program = profile_names_keep(&making->rows->names,
						     process_program(trace_thread_process(share->thread)));
	making->stratum = *share;
	name_share(making, share, &wanted, text, sizeof(text));
	row = row_of(making, &wanted);
	profile_time_add(&row->self, &time);
	profile_time_add(&making->rows->sum, &time);
	making->rows->wait_stacks += share->stacks;
	making->rows->rest_ns += wanted.kind == PROFILE_REST ? share->ns : 0;
	making->rows->not_traced_ns += wanted.kind == PROFILE_NOT_TRACED ? share->ns : 0;
	making->rows->unnamed_ns += *wanted.why ? share->ns : 0;
	making->rows->generated_ns += *wanted.why && !*wanted.file ? share->ns : 0;
	making->stratum_ns += share->ns;
	if (share->samples && !row->pending)
		pointers_add(&making->functions, row);
	row->pending += share->samples;
	add_context(making, share, row, &time);
}

static int by_time(const void *left, const void *right, void *data)
{
	const struct profile_row *l = *(struct profile_row *const *)left, *r = *(struct profile_row *const *)right;
	uint64_t ns[2] = {profile_elapsed(&l->self), profile_elapsed(&r->self)};

	(void)data;
	if ((l->kind == PROFILE_REST) != (r->kind == PROFILE_REST))
		return l->kind == PROFILE_REST ? 1 : -1;
	if (ns[0] == ns[1]) { /* of functions that only called others the table shows the time on a CPU below them */
		ns[0] = l->total.on_cpu_ns;
		ns[1] = r->total.on_cpu_ns;
	}
	return (ns[0] < ns[1]) - (ns[0] > ns[1]);
}

/* @of: rows are keys, addresses of processes; empty: all */
static bool is_chosen(const struct report *report, const struct hash_table *of, const struct trace_thread *thread)
{
	if (of->used && !table_find(of, sizeof(uint64_t), (uintptr_t)trace_thread_process(thread)))
		return false;
	return process_is_chosen(&report->options->processes, trace_thread_process(thread)) &&
	       thread_is_chosen(report, thread);
}

/** struct last_choice - of a thread, which has many shares: a choice looks at its whole process */
struct last_choice {
	const struct trace_thread *thread;
	bool is_chosen;
};

static bool choose(const struct report *report, const struct hash_table *of, struct last_choice *last,
		   const struct trace_thread *thread)
{
	if (thread != last->thread)
		*last = (struct last_choice){.thread = thread, .is_chosen = is_chosen(report, of, thread)};
	return last->is_chosen;
}

static void add_way(const struct report *report, struct frame_set *frames, uint32_t number)
{
	struct trace_profile_frame frame;

	for (; trace_profile_get_frame(report->profile, number, &frame) && frame_set_add(frames, number);
	     number = frame.caller)
		;
}

/* The names of the frames of chosen threads: a machine has many more. */
static void look_up_names(const struct report *report, const struct hash_table *of, struct profile_names *names)
{
	struct frame_set frames = {0};
	struct last_choice last = {0};
	struct trace_profile_share share;

	for (size_t i = 0; trace_profile_get_share(report->profile, i, &share); i++) {
		if (!choose(report, of, &last, share.thread))
			continue;
		add_way(report, &frames, share.frame);
		add_way(report, &frames, share.waker_frame);
	}
	profile_names_look_up(names, &frames);
	free(frames.words);
}

int profile_rows_make(const struct report *report, const struct pointers *of, struct profile_rows *ret_rows,
		      struct trace_error *ret_error)
{
	struct profile_making making = {.report = report,
					.rows = ret_rows,
					.way.tree = has_tree(report) ? &ret_rows->tree : NULL};
	struct last_choice last = {0};
	struct trace_profile_share share;
	struct hash_table threads = {0}, processes = {0};
	int error;

	for (size_t i = 0; of && i < of->nr; i++)
		memory_row(&processes, sizeof(uint64_t), (uintptr_t)of->at[i]);
	profile_names_begin(&ret_rows->names, report);
	look_up_names(report, &processes, &ret_rows->names);
	for (size_t i = 0; trace_profile_get_share(report->profile, i, &share); i++) {
		if (!choose(report, &processes, &last, share.thread))
			continue;
		memory_row(&threads, sizeof(uint64_t), (uintptr_t)share.thread);
		add_share(&making, &share);
	}
	end_stratum(&making);
	ret_rows->nr_threads = threads.used;
	profile_tree_end(&ret_rows->tree);
	profile_where_end(ret_rows);
	profile_by_end(&ret_rows->by);
	memory_sort(ret_rows->rows.at, ret_rows->rows.nr, sizeof(*ret_rows->rows.at), by_time, NULL);
	error = trace_symbols_error(ret_rows->names.symbols, ret_error);
	table_clear(&threads);
	table_clear(&processes);
	table_clear(&making.named);
	pointers_free(&making.functions);
	free(making.stack.functions);
	profile_way_free(&making.way);
	return error;
}

void profile_rows_free(struct profile_rows *rows)
{
	pointers_free_all(&rows->rows);
	pointers_free_all(&rows->programs);
	pointers_free_all(&rows->wokens);
	profile_tree_free(&rows->tree);
	profile_names_clear(&rows->names);
	table_clear(&rows->index);
	table_clear(&rows->wheres);
	table_clear(&rows->lines);
	table_clear(&rows->code);
	profile_by_free(&rows->by);
}
