/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest_find.c - finds the instances of a scope, a system call or a command in the pass.
 *
 * - A call is the time from its entry to its exit, or to the exit of its thread. A thread that is
 *   in a call when the recording begins has no entry.
 * - A scope or request comes from trace_user_events_on_span().
 * - A command is the time from the exec of a program to the next exec, or to the end of the
 *   process. A process that executes nothing runs its command from its fork on.
 *
 * An instance whose begin or end is not in the trace, and one that a loss of events overlaps, is
 * kept with the reason, but its duration is in no figure.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "losses.h"
#include "process_choice.h"
#include "slowest_choice.h"
#include "slowest_find.h"
#include "syscall_table.h"

#define MAX_CALLS 1024u

/* The call that a thread is in, if it is a wanted one. */
struct open_call {
	const struct trace_thread *thread; /* NULL: none */
	uint64_t begin_ns;
	bool was_seen; /* the thread has made a call before: it was in none at the start */
};

/* The call of the start state that a thread is in. */
struct start_call {
	uint64_t key; /* tid + 1 */
	uint64_t read_ns;
};

/* The program that a process runs. */
struct process_run {
	uint64_t key;
	uint64_t exec_ns; /* 0: it has executed nothing */
	bool was_called;  /* before the latest change of its name: an exec comes right behind one */
	bool has_ended;
};

static struct instance *instance_add(struct instance_list *list, uint64_t begin_ns, uint64_t end_ns,
				     const struct trace_thread *thread)
{
	list->at = memory_grow(list->at, list->nr, &list->room, sizeof(*list->at));
	list->at[list->nr] = (struct instance){
		.begin_ns = begin_ns, .end_ns = end_ns, .thread = thread, .has_begun = true, .has_ended = true};
	return &list->at[list->nr++];
}

static void break_add(struct slowest *s, uint64_t from_ns, uint64_t to_ns)
{
	s->breaks = memory_grow(s->breaks, s->nr_breaks, &s->room_breaks, sizeof(*s->breaks));
	s->breaks[s->nr_breaks++] = (struct break_in_trace){from_ns, to_ns};
}

/* ---- calls ---- */

static bool is_called(const struct slowest *s, uint32_t nr, bool is_32)
{
	const char *name = trace_string(s->report->trace, is_32 ? TRACE_STRING_SYSCALL_32 : TRACE_STRING_SYSCALL, nr);
	char number[32];

	if (!name)
		name = syscall_name_of(nr);
	snprintf(number, sizeof(number), "syscall_%u", nr);
	return strcmp(name ? name : number, s->name) == 0;
}

static bool is_wanted_call(struct slowest *s, uint32_t number, uint32_t abi)
{
	uint32_t nr = number & ~0x40000000u; /* __X32_SYSCALL_BIT */
	bool is_32 = abi == TRACE_ABI_32;
	int8_t *known;

	if (nr >= MAX_CALLS)
		return false;
	known = &s->wanted_calls[is_32][nr];
	if (!*known)
		*known = is_called(s, nr, is_32) ? 1 : -1;
	return *known > 0;
}

static struct open_call *open_of(struct slowest *s, const struct trace_thread *thread)
{
	size_t idx = trace_thread_index(thread), nr = idx + idx / 2 + 64;
	struct open_call *bigger;

	if (idx >= s->nr_open) {
		bigger = memory_take(nr, sizeof(*bigger));
		if (s->nr_open)
			memcpy(bigger, s->open, s->nr_open * sizeof(*bigger));
		free(s->open);
		s->open = bigger;
		s->nr_open = nr;
	}
	return &s->open[idx];
}

/* Its exit was not recorded if @has_ended is false. */
static void call_close(struct slowest *s, struct open_call *call, uint64_t ns, bool has_ended)
{
	if (!call->thread)
		return;
	instance_add(&s->lists[INSTANCE_CALL], call->begin_ns, ns, call->thread)->has_ended = has_ended;
	call->thread = NULL;
}

/* The threads that the start state saw in the call. */
static int start_calls_find(struct slowest *s)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	struct trace_cursor *cursor = pass_cursor(s->report->trace, &options);
	const struct trace_event *event;

	while ((event = trace_cursor_next(cursor))) {
		const struct trace_start_thread *start = event->payload;

		if (event->id == TRACE_EV_start_thread && start->nr >= 0 &&
		    is_wanted_call(s, (uint32_t)start->nr, start->abi))
			((struct start_call *)memory_row(&s->start_calls, sizeof(struct start_call), start->tid + 1ull))
				->read_ns = event->ts_ns;
	}
	events_pass_end(cursor, true);
	return 0;
}

/*
 * A thread that has made no call since the recording began is still in the one of the start state.
 * The start state is read while threads run: the call may be a later one.
 */
static struct instance *start_call_end(struct slowest *s, const struct trace_thread *thread, uint64_t now)
{
	const struct start_call *call = table_find(&s->start_calls, sizeof(*call), trace_thread_tid(thread) + 1ull);
	uint64_t start, end;

	trace_analysis_window(s->report->analysis, &start, &end);
	if (!call || open_of(s, thread)->was_seen || now < call->read_ns || trace_thread_start_ns(thread) > start)
		return NULL;
	open_of(s, thread)->was_seen = true;
	instance_add(&s->lists[INSTANCE_CALL], start, now, thread)->has_begun = false;
	return &s->lists[INSTANCE_CALL].at[s->lists[INSTANCE_CALL].nr - 1];
}

/* Those that slept in it until the end */
static void start_calls_close(struct slowest *s, uint64_t end_ns)
{
	for (const struct start_call *call = NULL; (call = table_next(&s->start_calls, sizeof(*call), call));) {
		const struct trace_thread *thread = trace_find_thread(s->report->analysis, (uint32_t)(call->key - 1));
		struct instance *instance = thread ? start_call_end(s, thread, end_ns) : NULL;

		if (instance)
			instance->has_ended = false;
	}
}

static void on_enter(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sys_enter *enter = event->payload;
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);
	struct slowest *s = data;
	struct open_call *call;

	if (!thread || trace_thread_is_kernel(thread))
		return;
	call = open_of(s, thread);
	call_close(s, call, trace_analysis_now(analysis), false);
	call->was_seen = true;
	if (!is_wanted_call(s, enter->nr, enter->abi))
		return;
	call->thread = thread;
	call->begin_ns = trace_analysis_now(analysis);
}

static void on_exit_of_call(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);
	struct slowest *s = data;
	struct open_call *call;

	if (!thread || trace_thread_is_kernel(thread))
		return;
	start_call_end(s, thread, trace_analysis_now(analysis));
	call = open_of(s, thread);
	call->was_seen = true;
	call_close(s, call, trace_analysis_now(analysis), true);
}

/* ---- commands ---- */

static struct process_run *run_of(struct slowest *s, const struct trace_process *process)
{
	return memory_row(&s->processes, sizeof(struct process_run), (uintptr_t)process);
}

static const struct trace_thread *first_thread(const struct trace_process *process)
{
	const struct trace_thread *thread = NULL;

	while ((thread = trace_next_thread(process, thread)))
		if (trace_thread_tid(thread) == trace_process_pid(process))
			return thread;
	return trace_next_thread(process, NULL);
}

/* The kernel renames a thread before it records the exec, so the name before counts. */
static void on_rename(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_find_thread(analysis,
							      ((const struct trace_sched_comm *)event->payload)->tid);
	struct slowest *s = data;

	if (thread)
		run_of(s, trace_thread_process(thread))->was_called =
			trace_process_is_called(trace_thread_process(thread), s->name);
}

static void on_exec(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_find_thread(analysis,
							      ((const struct trace_sched_exec *)event->payload)->tid);
	uint64_t now = trace_analysis_now(analysis);
	struct slowest *s = data;
	struct process_run *run;

	if (!thread)
		return;
	run = run_of(s, trace_thread_process(thread));
	if (run->exec_ns && run->was_called)
		instance_add(&s->lists[INSTANCE_COMMAND], run->exec_ns, now,
			     first_thread(trace_thread_process(thread)));
	run->exec_ns = now;
}

static void on_exit_of_thread(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sched_exit *exit = event->payload;
	const struct trace_thread *thread = trace_find_thread(analysis, exit->tid);
	struct slowest *s = data;

	if (!thread)
		return;
	if (s->kinds >> INSTANCE_CALL & 1) {
		start_call_end(s, thread, trace_analysis_now(analysis));
		call_close(s, open_of(s, thread), trace_analysis_now(analysis), true);
	}
	if (exit->group_dead)
		run_of(s, trace_thread_process(thread))->has_ended = true;
}

static void commands_end(struct slowest *s)
{
	const struct trace_analysis *analysis = s->report->analysis;
	struct instance *instance;
	uint64_t start, end;

	trace_analysis_window(analysis, &start, &end);
	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);
		const struct process_run *run = run_of(s, process);

		if (!trace_nr_threads(process) || !trace_process_is_called(process, s->name))
			continue;
		instance = instance_add(&s->lists[INSTANCE_COMMAND],
					run->exec_ns ? run->exec_ns : trace_process_start_ns(process),
					trace_process_end_ns(process), first_thread(process));
		instance->has_begun = run->exec_ns || instance->begin_ns > start;
		instance->has_ended = run->has_ended;
	}
}

/* ---- scopes ---- */

/* "checkout" is also the name of the scope shop:checkout. */
static bool is_scope(const char *scope, const char *name)
{
	const char *colon = strchr(scope, ':');

	return strcmp(scope, name) == 0 || (colon && strcmp(colon + 1, name) == 0);
}

static void on_span(void *data, const struct trace_span_instance *span)
{
	struct slowest *s = data;
	struct instance_list *list = &s->lists[INSTANCE_SCOPE];
	struct instance_detail *detail;
	struct instance *instance;

	if (span->kind == TRACE_SPAN_BETWEEN || !is_scope(span->name, s->name))
		return;
	list->details = memory_grow(list->details, list->nr_details, &list->room_details, sizeof(*list->details));
	detail = &list->details[list->nr_details];
	*detail = (struct instance_detail){.process = span->process,
					   .name = span->name,
					   .pid = span->pid,
					   .tid = span->tid,
					   .is_request = span->kind == TRACE_SPAN_REQUEST,
					   .nr_pieces = span->nr_pieces};
	detail->pieces = memory_take(span->nr_pieces + 1, sizeof(*detail->pieces));
	if (span->nr_pieces)
		memcpy(detail->pieces, span->pieces, span->nr_pieces * sizeof(*detail->pieces));
	instance = instance_add(list, span->begin_ns, span->end_ns, span->nr_pieces ? span->pieces[0].thread : NULL);
	instance->has_begun = span->has_begun;
	instance->has_ended = span->has_ended;
	instance->detail = (uint32_t)list->nr_details++;
}

/* ---- before and after the pass ---- */

/* From a change of the recorded events on, a call may have ended unseen. */
static void on_mask(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct slowest *s = data;
	uint64_t now = trace_analysis_now(analysis);

	if (s->has_mask)
		break_add(s, now, now);
	s->has_mask = true;
}

static int on_events(struct trace_analysis *analysis, trace_event_fn fn, struct slowest *s, const uint32_t *ids)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	for (; *ids; ids++)
		mask[*ids / 64] |= 1ull << *ids % 64;
	return trace_analysis_on_event(analysis, mask, fn, s);
}

#define IDS(...)               \
	(const uint32_t[])     \
	{                      \
		__VA_ARGS__, 0 \
	}

int slowest_begin(struct slowest *s, const struct report *report)
{
	struct trace_analysis *analysis = report->analysis;
	int error = 0;

	*s = (struct slowest){.report = report};
	slowest_parse(s, report->options->reports.slowest);
	if (s->kinds >> INSTANCE_CALL & 1)
		error = start_calls_find(s) ?:
			on_events(analysis, on_enter, s,
				  IDS(TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6)) ?:
			on_events(analysis, on_exit_of_call, s, IDS(TRACE_EV_sys_exit));
	if (!error && s->kinds >> INSTANCE_COMMAND & 1)
		error = on_events(analysis, on_rename, s, IDS(TRACE_EV_sched_comm))
				?: on_events(analysis, on_exec, s, IDS(TRACE_EV_sched_exec));
	if (!error)
		error = on_events(analysis, on_exit_of_thread, s, IDS(TRACE_EV_sched_exit))
				?: on_events(analysis, on_mask, s, IDS(TRACE_EV_trace_mask));
	if (s->kinds >> INSTANCE_SCOPE & 1)
		trace_user_events_on_span(report->user, on_span, s);
	return error;
}

static int by_time(const void *left, const void *right)
{
	const struct break_in_trace *l = left, *r = right;

	return l->from_ns < r->from_ns ? -1 : l->from_ns > r->from_ns;
}

static void gap_add(struct slowest *s, const struct trace_gap *gap)
{
	if (gap->stream < 2 * trace_get_info(s->report->trace)->nr_cpus && !trace_gap_is_older(s->report->trace, gap))
		break_add(s, gap->start_ns, gap->end_ns);
}

/* Gaps of the kernel's streams, in order. The spans of programs know their own losses. */
static void breaks_find(struct slowest *s)
{
	for (size_t i = 0; i < trace_nr_gaps(s->report->trace); i++)
		gap_add(s, trace_get_gap(s->report->trace, i));
	for (size_t i = 0; i < trace_analysis_nr_late_gaps(s->report->analysis); i++)
		gap_add(s, trace_analysis_get_late_gap(s->report->analysis, i));
	if (s->nr_breaks)
		qsort(s->breaks, s->nr_breaks, sizeof(*s->breaks), by_time);
}

void slowest_finish(struct slowest *s)
{
	uint64_t start, end;

	trace_analysis_window(s->report->analysis, &start, &end);
	for (size_t i = 0; i < s->nr_open; i++)
		call_close(s, &s->open[i], end, false);
	start_calls_close(s, end);
	if (s->kinds >> INSTANCE_COMMAND & 1)
		commands_end(s);
	trace_nr_spans(s->report->user); /* ends the open ones */
	breaks_find(s);
}

void slowest_end(struct slowest *s)
{
	for (enum instance_kind kind = 0; kind < NR_INSTANCE_KINDS; kind++) {
		for (size_t i = 0; i < s->lists[kind].nr_details; i++)
			free(s->lists[kind].details[i].pieces);
		free(s->lists[kind].details);
		free(s->lists[kind].at);
	}
	table_clear(&s->processes);
	table_clear(&s->start_calls);
	free(s->open);
	free(s->breaks);
	memset(s, 0, sizeof(*s));
}

/* ---- one instance ---- */

static const struct instance_detail *detail_of(const struct slowest *s, const struct instance *instance)
{
	return s->kind == INSTANCE_SCOPE ? &s->lists[INSTANCE_SCOPE].details[instance->detail] : NULL;
}

const struct trace_process *instance_process(const struct slowest *s, const struct instance *instance)
{
	const struct instance_detail *detail = detail_of(s, instance);

	return detail ? detail->process : instance->thread ? trace_thread_process(instance->thread) : NULL;
}

uint32_t instance_pid(const struct slowest *s, const struct instance *instance)
{
	const struct trace_process *process = instance_process(s, instance);

	return process ? trace_process_pid(process) : detail_of(s, instance) ? detail_of(s, instance)->pid : 0;
}

uint32_t instance_tid(const struct slowest *s, const struct instance *instance)
{
	if (instance->thread)
		return trace_thread_tid(instance->thread);
	return detail_of(s, instance) ? detail_of(s, instance)->tid : 0;
}

size_t instance_pieces(const struct slowest *s, const struct instance *instance, struct trace_span_piece *one,
		       const struct trace_span_piece **ret_pieces)
{
	const struct instance_detail *detail = detail_of(s, instance);

	*one = (struct trace_span_piece){instance->thread, instance->begin_ns, instance->end_ns};
	*ret_pieces = detail ? detail->pieces : one;
	return detail ? detail->nr_pieces : 1;
}
