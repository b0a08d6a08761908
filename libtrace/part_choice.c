/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * part_choice.c - choose the events that a part of a trace keeps.
 *
 *	before the part		what changes processes, files, sockets and programs, each with its
 *				call or interrupt. At the begin of the part also the calls and waits
 *				in progress, and what each CPU does
 *	in the part		all
 *	after the part		the same as before, and all events of the threads whose calls or
 *				waits are in progress at its end, until they are over
 *
 * For all types of events, CPUs, threads and streams the first event is kept, because an analysis
 * numbers them in this order. So are the events at both ends of a gap.
 *
 * An example. A thread reads from a pipe 1,000 times before the part, and the 1,001st read began
 * before the part and ends in it. The first 1,000 are left out, and so are their switches. The
 * entry of the last one, and the switch by which its wait began, are kept.
 */
#include "part_choice.h"

#include "error_set.h"
#include "part_context.h"
#include "syscall_table.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_SEEN = 256, NR_NUMBERS = 1024, NEW_RUNS = 3 };

struct chooser {
	const struct trace *trace;
	const struct trace_part *part;
	struct part_choice *choice;
	struct hash_table threads; /* struct part_thread_row */
	struct hash_table streams; /* struct part_stream */
	struct part_losses losses;
	struct part_cpu *cpus; /* owned; by number */
	uint32_t nr_cpus;
	bool seen[FIRST_SEEN];
	bool calls[2][NR_NUMBERS]; /* that change nothing that lasts; by ABI and number */
	bool began, ended;	   /* the part */
};

/* ---- what lasts ---- */

static bool is_passing_class(uint8_t class)
{
	switch (class) {
	case CALL_OTHER:
	case CALL_BRK:
	case CALL_EPOLL_WAIT:
	case CALL_FD_META:
	case CALL_FUTEX:
	case CALL_GETDENTS:
	case CALL_INODE:
	case CALL_MEMORY:
	case CALL_MSYNC:
	case CALL_PATH:
	case CALL_PAUSE:
	case CALL_POLL:
	case CALL_READ:
	case CALL_RECV:
	case CALL_SEEK:
	case CALL_SELECT:
	case CALL_SEND:
	case CALL_SENDFILE:
	case CALL_SLEEP:
	case CALL_SYNC:
	case CALL_WRITE:
	case CALL_YIELD:
		return true;
	default:
		return false;
	}
}

static void learn_calls(struct chooser *c)
{
	static const enum trace_string_space spaces[] = {TRACE_STRING_SYSCALL, TRACE_STRING_SYSCALL_32};

	for (int abi = 0; abi < 2 && c->part->detail < TRACE_PART_CALLS; abi++)
		for (uint32_t i = 0; i < NR_NUMBERS; i++) {
			const char *name = trace_string(c->trace, spaces[abi], i);
			const struct syscall_row *row = name ? syscall_row_find(name, abi == 1) : NULL;

			c->calls[abi][i] = row && is_passing_class(row->class);
		}
}

static bool is_passing_call(const struct chooser *c, const struct trace_event *event)
{
	const struct trace_sys_enter *enter = event->payload;

	return enter->abi < 2 && enter->nr < NR_NUMBERS && c->calls[enter->abi][enter->nr];
}

/* Events that last no longer than the call or interrupt in which they are. */
static bool is_passing(const struct chooser *c, const struct trace_event *event)
{
	switch (event->id) {
	case TRACE_EV_sample:
	case TRACE_EV_sys_enter ... TRACE_EV_sys_path:
	case TRACE_EV_fault_entry:
	case TRACE_EV_fault_exit:
	case TRACE_EV_sys_caller ... TRACE_EV_sys_data:
	case TRACE_EV_irq_entry ... TRACE_EV_vector_exit:
	case TRACE_EV_hrtimer_expire ... TRACE_EV_timer_done:
	case TRACE_EV_hrtimer_start:
	case TRACE_EV_timer_start:
	case TRACE_EV_page_alloc ... TRACE_EV_reclaim_end:
	case TRACE_EV_compact_begin:
	case TRACE_EV_compact_end:
	case TRACE_EV_lock_begin:
	case TRACE_EV_lock_end:
		return true;
	case TRACE_EV_sched_switch:
	case TRACE_EV_sched_waking:
	case TRACE_EV_sched_wakeup:
	case TRACE_EV_sched_migrate:
	case TRACE_EV_cpu_stolen:
		return c->part->detail < TRACE_PART_SWITCHES;
	case TRACE_EV_futex_woken:
	case TRACE_EV_futex_moved:
	case TRACE_EV_fs_ready:
	case TRACE_EV_fs_writeback_wait ... TRACE_EV_fs_writeback:
	case TRACE_EV_block_issue ... TRACE_EV_block_file:
	case TRACE_EV_sock_send ... TRACE_EV_sock_ready:
	case TRACE_EV_net_rx ... TRACE_EV_net_retransmit:
	case TRACE_EV_work_queue ... TRACE_EV_work_end:
		return c->part->detail < TRACE_PART_CALLS;
	default:
		return false;
	}
}

/* ---- contexts ---- */

static struct part_context *thread_of(struct chooser *c, uint32_t tid)
{
	return context_thread(c->choice, &c->threads, tid);
}

/* The event of @context is kept if the rest of it is, or if the part waits for its end. */
static void put(struct chooser *c, struct part_context *context, uint64_t n, bool is_kept)
{
	if (!context) {
		if (is_kept)
			part_keep(c->choice, n);
		return;
	}
	context_add(c->choice, context, n);
	if (is_kept)
		context_keep(c->choice, context);
	else if (context->is_kept || context->is_awaited || context->is_new)
		part_keep(c->choice, n);
}

/* A call, fault or interrupt begins. */
static void enter(struct chooser *c, struct part_context *context, uint64_t n, bool is_new)
{
	if (is_new || !context->depth) {
		context_clear(context);
		context->depth = 0;
	}
	context->depth++;
	put(c, context, n, false);
}

static void leave(struct chooser *c, struct part_context *context, uint64_t n, bool is_all)
{
	put(c, context, n, false);
	if (is_all)
		context->is_new = context->is_at_start = false;
	if (context->depth && !is_all && --context->depth)
		return;
	context->depth = 0;
	context->was_kept = context->is_kept;
	context->is_awaited = false;
	context_clear(context);
}

/* ---- events ---- */

static void on_switch(struct chooser *c, struct part_cpu *cpu, const struct trace_event *event, uint64_t n)
{
	const struct trace_sched_switch *sw = event->payload;
	bool is_last = sw->prev_state & (TRACE_TASK_DEAD | TRACE_TASK_EXIT_DEAD | TRACE_TASK_EXIT_ZOMBIE);
	struct part_context *prev = thread_of(c, sw->prev_tid), *next = thread_of(c, sw->next_tid);

	if (is_last || !cpu->switched || c->part->detail >= TRACE_PART_SWITCHES || (prev && !prev->room) ||
	    (next && !next->room))
		part_keep(c->choice, n);
	cpu->switched = true;
	cpu->slice.nr = 0;
	put(c, prev, n, false);
	if (prev && is_last) {
		prev->depth = 0;
		prev->is_awaited = false;
		context_clear(prev);
	}
	if (next && !next->depth)
		context_clear(next);
	put(c, next, n, false);
	if (next && !next->depth && (next->is_kernel || !next->is_at_start))
		next->is_awaited = false;
	if (next && next->is_new && next->is_kernel && ++next->nr_runs == NEW_RUNS)
		next->is_new = false;
	cpu->current = next;
}

static void on_waking(struct chooser *c, struct part_context *by, const struct trace_event *event, uint64_t n)
{
	struct part_context *woken = thread_of(c, ((const struct trace_sched_waking *)event->payload)->tid);

	if (c->part->detail >= TRACE_PART_SWITCHES)
		part_keep(c->choice, n);
	put(c, by, n, woken && (woken->is_awaited || !woken->room));
	if (woken && woken != by)
		put(c, woken, n, false);
}

static void on_call(struct chooser *c, struct part_context *thread, const struct trace_event *event, uint64_t n)
{
	if (!thread)
		return;
	if (thread->is_at_start)
		part_keep(c->choice, n);
	switch (event->id) {
	case TRACE_EV_sys_enter ... TRACE_EV_sys_enter6:
		enter(c, thread, n, true);
		if (!is_passing_call(c, event))
			context_keep(c->choice, thread);
		break;
	case TRACE_EV_sys_exit:
		leave(c, thread, n, true);
		break;
	case TRACE_EV_fault_entry:
		enter(c, thread, n, false);
		break;
	case TRACE_EV_fault_exit:
		leave(c, thread, n, false);
		break;
	case TRACE_EV_task_work:
		enter(c, thread, n, true);
		if (thread->was_kept)
			context_keep(c->choice, thread);
		break;
	default:
		leave(c, thread, n, true);
	}
	if (thread->is_at_start)
		context_keep(c->choice, thread);
}

static void on_interrupt(struct chooser *c, struct part_cpu *cpu, const struct trace_event *event, uint64_t n)
{
	context_add(c->choice, &cpu->slice, n);
	switch (event->id) {
	case TRACE_EV_irq_entry:
	case TRACE_EV_softirq_entry:
	case TRACE_EV_tasklet_entry:
	case TRACE_EV_vector_entry:
		enter(c, &cpu->interrupts, n, false);
		break;
	case TRACE_EV_irq_exit:
	case TRACE_EV_softirq_exit:
	case TRACE_EV_tasklet_exit:
	case TRACE_EV_vector_exit:
		leave(c, &cpu->interrupts, n, false);
		break;
	default:
		put(c, cpu->interrupts.depth ? &cpu->interrupts : cpu->current, n, false);
	}
}

/* The number of a thread may have been that of another. */
static void on_fork(struct chooser *c, struct part_context *by, const struct trace_event *event, uint64_t n)
{
	struct part_context *child = thread_of(c, ((const struct trace_sched_fork *)event->payload)->tid);

	put(c, by, n, true);
	if (!child)
		return;
	child->depth = child->nr_runs = 0;
	child->is_awaited = false;
	child->is_new = child->is_at_start = true;
	child->is_kernel = ((const struct trace_sched_fork *)event->payload)->kthread;
	context_clear(child);
	context_add(c->choice, child, n);
}

static void on_event(struct chooser *c, struct part_cpu *cpu, const struct trace_event *event, uint64_t n)
{
	struct part_context *context = cpu->interrupts.depth ? &cpu->interrupts : cpu->current;

	switch (event->id) {
	case TRACE_EV_sched_switch:
		on_switch(c, cpu, event, n);
		break;
	case TRACE_EV_sched_waking:
		on_waking(c, context, event, n);
		break;
	case TRACE_EV_sched_fork:
		on_fork(c, context, event, n);
		break;
	case TRACE_EV_sys_enter ... TRACE_EV_sys_exit:
	case TRACE_EV_fault_entry:
	case TRACE_EV_fault_exit:
	case TRACE_EV_task_work:
	case TRACE_EV_task_work_end:
		on_call(c, cpu->current, event, n);
		break;
	case TRACE_EV_irq_entry ... TRACE_EV_vector_exit:
		on_interrupt(c, cpu, event, n);
		break;
	default:
		put(c, context, n, !is_passing(c, event));
	}
}

/* ---- the ends of the part ---- */

static void begin_part(struct chooser *c)
{
	const struct part_thread_row *row = NULL;

	c->began = true;
	while ((row = table_next(&c->threads, sizeof(*row), row)))
		context_keep(c->choice, row->context);
	for (uint32_t i = 0; i < c->nr_cpus; i++)
		context_keep(c->choice, &c->cpus[i].slice);
	for (uint32_t i = 0; i < c->nr_cpus; i++)
		context_keep(c->choice, &c->cpus[i].interrupts);
}

static void end_part(struct chooser *c)
{
	const struct part_thread_row *row = NULL;

	c->ended = true;
	while ((row = table_next(&c->threads, sizeof(*row), row)))
		row->context->is_awaited = true;
	for (uint32_t i = 0; i < c->nr_cpus; i++) {
		if (c->cpus[i].current && !c->cpus[i].current->depth)
			c->cpus[i].current->is_awaited = false;
		c->cpus[i].interrupts.is_awaited = c->cpus[i].interrupts.depth > 0;
	}
}

/* The events of a stream before and after a gap are kept, and so are its first and last one. */
static void keep_edges(struct chooser *c, const struct trace_event *event, uint64_t n)
{
	struct part_stream *stream = table_add(&c->streams, sizeof(*stream), event->stream + 1ull);

	if (!stream) {
		c->choice->failed = true;
		return;
	}
	if (!stream->last)
		part_keep(c->choice, n);
	if (part_loss_next(&c->losses, stream)) {
		part_keep(c->choice, stream->last - 1);
		part_keep(c->choice, n);
	}
	stream->last = n + 1;
	stream->nr++;
}

static void keep_ends(struct chooser *c)
{
	const struct part_stream *stream = NULL;

	while ((stream = table_next(&c->streams, sizeof(*stream), stream)))
		part_keep(c->choice, stream->last - 1);
}

static void choose(struct chooser *c, const struct trace_event *event)
{
	uint64_t n;

	if (!c->began && event->ts_ns >= c->part->from_ns)
		begin_part(c);
	if (!c->ended && event->ts_ns > c->part->to_ns)
		end_part(c);
	n = part_count(c->choice);
	keep_edges(c, event, n);
	if (c->began && !c->ended)
		part_keep(c->choice, n);
	if (event->id >= FIRST_SEEN) {
		part_keep(c->choice, n);
		return;
	}
	if (!c->seen[event->id])
		part_keep(c->choice, n);
	c->seen[event->id] = true;
	if (event->cpu < c->nr_cpus)
		on_event(c, &c->cpus[event->cpu], event, n);
	else if (!is_passing(c, event))
		part_keep(c->choice, n);
}

/* ---- all ---- */

/* Returns 0, or a negative errno. */
static int note_kernel_threads(struct chooser *c)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	struct trace_cursor *cursor = trace_cursor_new(c->trace, &options, NULL);
	const struct trace_event *event;
	int error;

	while (cursor && (event = trace_cursor_next(cursor))) {
		const struct trace_start_thread *start = event->payload;
		struct part_context *thread;

		if (event->id == TRACE_EV_start_thread && start->flags & TRACE_THREAD_KERNEL &&
		    (thread = thread_of(c, start->tid)))
			thread->is_kernel = true;
	}
	error = cursor ? trace_cursor_end(cursor, NULL) : -ENOMEM;
	return error == -EBADMSG ? 0 : error; /* the pass that follows meets the damage, too */
}

static void chooser_release(struct chooser *c)
{
	const struct part_thread_row *row = NULL;

	while ((row = table_next(&c->threads, sizeof(*row), row))) {
		if (row->context)
			free(row->context->events);
		free(row->context);
	}
	for (uint32_t i = 0; c->cpus && i < c->nr_cpus; i++)
		free(c->cpus[i].interrupts.events), free(c->cpus[i].slice.events);
	free(c->cpus);
	free(c->losses.at);
	table_clear(&c->threads);
	table_clear(&c->streams);
}

int part_choose(const struct trace *trace, const struct trace_part *part, struct part_choice *ret_choice,
		struct trace_error *ret_error)
{
	struct trace_cursor_options options = {.size = sizeof(options), .no_lost = true, .decode_ahead = 4};
	struct chooser *c = calloc(1, sizeof(*c));
	struct trace_cursor *cursor = c ? trace_cursor_new(trace, &options, ret_error) : NULL;
	const struct trace_event *event;
	int error;

	if (cursor) {
		*c = (struct chooser){
			.trace = trace, .part = part, .choice = ret_choice, .nr_cpus = trace_get_info(trace)->nr_cpus};
		c->cpus = calloc(c->nr_cpus + 1u, sizeof(*c->cpus));
		ret_choice->failed = part_losses_of(trace, &c->losses) < 0;
		learn_calls(c);
		ret_choice->failed |= note_kernel_threads(c) < 0;
		while (c->cpus && !ret_choice->failed && (event = trace_cursor_next(cursor)))
			choose(c, event);
		if (!ret_choice->failed)
			keep_ends(c);
	}
	error = trace_cursor_end(cursor, ret_error);
	if (!cursor || !c->cpus || ret_choice->failed)
		error = error_set(ret_error, -ENOMEM, "no memory to choose the events of a part");
	if (c)
		chooser_release(c);
	free(c);
	return error;
}

void part_choice_release(struct part_choice *choice)
{
	free(choice->bits);
	*choice = (struct part_choice){0};
}
