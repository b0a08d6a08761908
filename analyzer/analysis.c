/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* analysis.c - the single pass over the events: calls the handler of each event, and the hooks. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "kernel_work.h"
#include "rules/rules.h"
#include "slice_log.h"
#include "start_reads.h"
#include "interrupted.h"
#include "kernel_numbers.h"
#include "kept_rests.h"
#include "state.h"
#include "window.h"
#include "state_block.h"
#include "state_cause.h"
#include "state_close.h"
#include "state_filtered.h"
#include "state_args.h"
#include "state_expire.h"
#include "state_identity.h"
#include "state_irq.h"
#include "state_life.h"
#include "state_lost.h"
#include "state_packet.h"
#include "state_request.h"
#include "state_restart.h"
#include "state_sched.h"
#include "state_start.h"
#include "state_syscall.h"
#include "state_trap.h"
#include "state_uring.h"
#include "state_user.h"
#include "state_work.h"

static const struct {
	uint32_t id;
	uint32_t bytes; /* of the struct that the handler reads */
	event_handler *handler;
} handlers[] = {
#define HANDLER(event, handler)                                         \
	{                                                               \
		TRACE_EV_##event, sizeof(struct trace_##event), handler \
	}
	HANDLER(trace_mask, on_trace_mask),
	HANDLER(start_again, on_start_again),
	HANDLER(start_thread, on_start_thread),
	HANDLER(start_exe, on_start_record),
	HANDLER(start_args, on_start_record),
	HANDLER(start_files, on_start_record),
	HANDLER(start_memory, on_start_record),
	HANDLER(start_fd, on_start_record),
	HANDLER(start_socket, on_start_record),
	HANDLER(start_map, on_start_record),
	HANDLER(start_cgroup, on_start_record),
	HANDLER(sys_enter, on_sys_enter),
	HANDLER(sys_enter3, on_sys_enter),
	HANDLER(sys_enter6, on_sys_enter),
	HANDLER(sys_exit, on_sys_exit),
	HANDLER(sys_path, on_sys_path),
	HANDLER(fs_ready, on_fs_ready),
	HANDLER(futex_woken, on_futex_woken),
	HANDLER(futex_moved, on_futex_moved),
	HANDLER(fault_entry, on_fault_entry),
	HANDLER(fault_exit, on_fault_exit),
	HANDLER(irq_entry, on_irq_entry),
	HANDLER(irq_exit, on_irq_exit),
	HANDLER(softirq_entry, on_softirq_entry),
	HANDLER(softirq_exit, on_softirq_exit),
	HANDLER(vector_entry, on_vector_entry),
	HANDLER(vector_exit, on_vector_exit),
	HANDLER(sched_switch, on_sched_switch),
	HANDLER(sched_quota, on_sched_quota),
	HANDLER(sched_limit, on_sched_limit),
	HANDLER(cpu_stolen, on_cpu_stolen),
	HANDLER(cpu_hotplug, on_cpu_hotplug),
	HANDLER(sched_waking, on_sched_waking),
	HANDLER(sched_waker, on_sched_waker),
	HANDLER(sched_wakeup_new, on_sched_wakeup_new),
	HANDLER(sched_migrate, on_sched_migrate),
	HANDLER(sched_fork, on_sched_fork),
	HANDLER(sched_exec, on_sched_exec),
	HANDLER(sched_args, on_sched_args),
	HANDLER(fs_exec, on_fs_exec),
	HANDLER(fs_dir, on_fs_dir),
	HANDLER(sched_exit, on_sched_exit),
	HANDLER(sched_free, on_sched_free),
	HANDLER(sched_comm, on_sched_comm),
	HANDLER(sched_ids, on_sched_ids),
	HANDLER(sched_adopt, on_sched_adopt),
	HANDLER(cgroup_attach, on_cgroup_attach),
	HANDLER(fs_open, on_fs_open),
	HANDLER(fs_layer, on_fs_layer),
	HANDLER(fs_fault, on_fs_fault),
	HANDLER(fs_writeback_wait, on_fs_writeback_wait),
	HANDLER(fs_throttle, on_fs_throttle),
	HANDLER(fs_writeback, on_fs_writeback),
	HANDLER(block_insert, on_block_insert),
	HANDLER(block_issue, on_block_issue),
	HANDLER(block_complete, on_block_complete),
	HANDLER(block_file, on_block_file),
	HANDLER(hrtimer_expire, on_timer),
	HANDLER(timer_expire, on_timer),
	HANDLER(reclaim_begin, on_reclaim_begin),
	HANDLER(reclaim_end, on_reclaim_end),
	HANDLER(compact_begin, on_reclaim_begin),
	HANDLER(compact_end, on_reclaim_end),
	HANDLER(sock_endpoints, on_sock_endpoints),
	HANDLER(sock_asks, on_sock_asks),
	HANDLER(sock_names, on_sock_names),
	HANDLER(sock_send, on_request_transfer),
	HANDLER(sock_recv, on_request_transfer),
	HANDLER(sock_look, on_request_transfer),
	HANDLER(sock_ready, on_sock_ready),
	HANDLER(signal_generate, on_signal_generate),
	HANDLER(signal_deliver, on_signal_deliver),
	HANDLER(task_work, on_task_work),
	HANDLER(task_work_end, on_task_work_end),
	HANDLER(net_rx, on_net_rx),
	HANDLER(net_tx, on_net_tx),
	HANDLER(work_queue, on_work_queue),
	HANDLER(work_start, on_work_start),
	HANDLER(work_end, on_work_end),
	HANDLER(uring_enter, on_uring_enter),
	HANDLER(uring_submit, on_uring_submit),
	HANDLER(uring_async, on_uring_async),
	HANDLER(uring_complete, on_completion),
	HANDLER(uring_open, on_uring_open),
	HANDLER(uring_file, on_uring_file),
	HANDLER(uring_close, on_uring_close),
	HANDLER(user_stream, on_user_stream),
	HANDLER(probe_cost, on_start_record),
	HANDLER(event_cost, on_start_record),
	HANDLER(fault_cost, on_start_record),
	HANDLER(long_cost, on_start_record),
#undef HANDLER
};

static int out_of_memory(struct trace_error *ret_error)
{
	return error_set(ret_error, -ENOMEM,
			 "out of memory for the analysis; stop other programs or analyze on a larger machine");
}

/*
 * Why a result is not complete. Many passes need a cursor, and note a missing one as a lack of
 * memory: a file that was cut since it was opened gives none to a new one either.
 */
static int incomplete(const struct trace_analysis *a, struct trace_error *ret_error)
{
	struct trace_cursor_options options = {.size = sizeof(options)};
	struct trace_error error = {0};
	struct trace_cursor *cursor;

	for (int i = 0; i < 2; i++) {
		options.start_state = i;
		cursor = trace_cursor_new(a->trace, &options, &error);
		if (!cursor && error.code == -EBADMSG)
			return error_set(ret_error, error.code, "%s", error.message);
		trace_cursor_free(cursor);
	}
	return out_of_memory(ret_error);
}

/*
 * Select the handlers. An event with a shorter struct than the handler's has none: an older,
 * incompatible writer recorded it.
 */
static void handlers_prepare(struct trace_analysis *a)
{
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		const struct trace_event_type *type = trace_type_by_id(a->trace, handlers[i].id);

		if (type && type->fixed_bytes >= handlers[i].bytes)
			a->handlers[handlers[i].id] = handlers[i].handler;
	}
}

static bool options_verify(const struct trace_analysis_options *options)
{
	return options && options->size >= offsetof(struct trace_analysis_options, verify) + sizeof(options->verify) &&
	       options->verify;
}

static bool options_no_call_times(const struct trace_analysis_options *options)
{
	return options &&
	       options->size >=
		       offsetof(struct trace_analysis_options, no_call_times) + sizeof(options->no_call_times) &&
	       options->no_call_times;
}

/* False: the accounts are of the whole trace. */
static bool options_window(const struct trace_analysis_options *options, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	if (!options || options->size < offsetof(struct trace_analysis_options, to_ns) + sizeof(options->to_ns))
		return false;
	*ret_from_ns = options->from_ns;
	*ret_to_ns = options->to_ns ? options->to_ns : UINT64_MAX;
	return options->from_ns || options->to_ns;
}

struct trace_analysis *trace_analysis_new(const struct trace *trace, const struct trace_analysis_options *options,
					  struct trace_error *ret_error)
{
	const struct trace_info *info = trace_get_info(trace);
	struct trace_analysis *a;
	uint64_t from_ns, to_ns;

	if (trace_follow_safe_ns(trace) != UINT64_MAX) {
		error_set(ret_error, -EBUSY, "%s: the trace is still being written: open it to analyse what it has",
			  info->file);
		return NULL;
	}
	a = calloc(1, sizeof(*a));
	if (!a)
		goto fail;
	a->trace = trace;
	a->start_ns = a->now = info->start_ns;
	a->end_ns = info->end_ns > info->start_ns ? info->end_ns : info->start_ns;
	a->nr_cpus = info->nr_cpus;
	if (file_table_prepare(&a->files) < 0)
		goto fail;
	a->cpus = calloc(info->nr_cpus ? info->nr_cpus : 1, sizeof(*a->cpus));
	if (!a->cpus)
		goto fail;
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		a->cpus[i].cpu = a->cpus[i].figures.cpu = i;
		a->cpus[i].accounted_ns = a->cpus[i].slice_since = a->start_ns;
		if (slice_log_prepare(&a->cpus[i]))
			goto fail;
	}
	for (size_t i = 0; trace_not_traced(trace, i); i++)
		if (strncmp(trace_not_traced(trace, i), "fault_exit", 10) == 0)
			a->masks.no_fault_exit = true;
	a->no_call_times = options_no_call_times(options);
	handlers_prepare(a);
	a->dirty.is_on = a->handlers[TRACE_EV_fs_writeback];
	calls_prepare(a);
	if (options_verify(options)) {
		a->rules = rules_new(a, trace);
		if (!a->rules)
			goto fail;
	}
	if (options_window(options, &from_ns, &to_ns)) {
		a->window = window_new(a, from_ns, to_ns);
		if (!a->window)
			goto fail;
	}
	if (!a->failed)
		return a;
fail:
	out_of_memory(ret_error);
	return trace_analysis_free(a);
}

struct trace_analysis *trace_analysis_free(struct trace_analysis *a)
{
	if (!a)
		return NULL;
	rules_free(a->rules);
	a->window = window_free(a->window);
	thread_table_clear(&a->threads);
	for (uint32_t i = 0; a->cpus && i < a->nr_cpus; i++) {
		lookahead_end(&a->cpus[i].ahead);
		slice_log_free(&a->cpus[i]);
		free(a->cpus[i].log);
	}
	free(a->cpus);
	trace_cursor_free(a->restart.ahead);
	trace_cursor_free(a->hidden.execs);
	start_reads_free(a->reads); /* of a load that did not come to its end */
	later_clear(&a->later);
	trace_cursor_free(a->cursor); /* of a pass that did not come to its end */
	arena_free(&a->arena);
	file_table_clear(&a->files);
	socket_table_clear(&a->sockets);
	listeners_clear(&a->listeners);
	hook_list_clear(&a->hooks);
	gap_log_clear(&a->gaps);
	end_state_clear(&a->end);
	table_clear(&a->late_args);
	wakers_free(a); /* also for a pass that was aborted */
	free(a->packets);
	probe_sums_clear(&a->probes);
	work_sums_clear(&a->work_sums);
	disk_sums_clear(&a->disk_sums);
	disk_waits_clear(&a->disk_waits);
	table_clear(&a->dirty.rows);
	table_clear(&a->locks);
	lock_logs_clear(&a->lock_logs);
	kernel_turns_clear(&a->kernel_turns);
	table_clear(&a->interrupts);
	table_clear(&a->interruptions);
	wait_objects_clear(&a->wait_objects);
	table_clear(&a->identity_edges);
	table_clear(&a->works);
	table_clear(&a->requests);
	table_clear(&a->rings);
	table_clear(&a->cgroups);
	table_clear(&a->devices);
	table_clear(&a->hidden.readings);
	table_clear(&a->filter.passing);
	table_clear(&a->filter.hidden);
	table_clear(&a->filter.woken);
	table_clear(&a->user.streams);
	table_clear(&a->user.programs);
	strings_clear(&a->strings);
	free(a);
	return NULL;
}

/* ---- hooks ---- */

static inline bool is_hooked(const struct trace_analysis *a, uint32_t id)
{
	return a->hooks.first[id] < a->hooks.first[id + 1];
}

static inline void hooks_event(struct trace_analysis *a, const struct trace_event *event)
{
	uint32_t bit = event->id < TRACE_EV_MAX ? event->id : TRACE_EV_USER;

	for (uint32_t i = a->hooks.first[bit]; i < a->hooks.first[bit + 1]; i++)
		a->hooks.by_event[i].event(a->hooks.by_event[i].data, a, event);
}

/* ---- the pass ---- */

static inline uint32_t tid_of(const void *payload, bool is_switch)
{
	return !payload	   ? 0
	       : is_switch ? ((const struct trace_sched_switch *)payload)->next_tid
			   : ((const struct trace_sched_waking *)payload)->tid;
}

/** table_prefetch_small() - prefetch all rows of a table, if it is small */
static void table_prefetch_small(const struct hash_table *table, size_t row_bytes)
{
	if (table->capacity <= TABLE_SMALL)
		memory_prefetch(table->rows, table->used * row_bytes);
}

/* Prefetch the fields of a soon running thread that every event needs */
static void thread_prefetch(const struct trace_analysis *a, uint32_t tid)
{
	const struct trace_thread *thread = thread_find(&a->threads, tid);

	if (!thread)
		return;
	memory_prefetch(thread, offsetof(struct trace_thread, acct.traps));
	memory_prefetch(thread->frames, sizeof(thread->frames[0]));
}

/* Let the hook prefetch: the memory of the thread has been prefetched one such event before. */
static void hook_prefetch(const struct trace_analysis *a, uint32_t tid, bool is_next)
{
	const struct trace_thread *thread = thread_find(&a->threads, tid);

	if (thread)
		a->hooks.soon(a->hooks.cpu_time_data, thread, is_next);
}

/**
 * thread_prefetch_rows() - prefetch what the end of its wait needs, and its small tables
 *
 * Needs the fields that thread_prefetch() has fetched.
 */
static void thread_prefetch_rows(const struct trace_analysis *a, uint32_t tid)
{
	const struct trace_thread *thread = thread_find(&a->threads, tid);

	if (!thread)
		return;
	if (thread->in_episode)
		memory_prefetch(&thread->episode, sizeof(thread->episode));
	else
		memory_prefetch(thread->pending, sizeof(thread->pending[0]));
	table_prefetch_small(&thread->acct.calls, sizeof(struct call_row));
	table_prefetch_small(&thread->acct.waits, sizeof(struct wait_row));
	table_prefetch_small(&thread->acct.cpu_holders, sizeof(struct cpu_holder_row));
	if (thread->slab)
		line_prefetch(&thread->slab->latencies[thread->nr_latencies]);
	line_prefetch(thread->process);
}

/**
 * call_descriptor() - the entry in @thread's descriptor table that a call refers to
 * @enter: its sys_enter3 or sys_enter6; NULL: none
 *
 * Returns NULL if the call has no descriptor, or if the descriptor is beyond the table.
 */
static inline const uint32_t *call_descriptor(const struct trace_analysis *a, const struct trace_thread *thread,
					      const struct trace_sys_enter3 *enter)
{
	if (!enter || !thread->fds || !(a->calls[call_idx(enter->nr, enter->abi)].flags & CALL_HAS_FD) ||
	    enter->arg0 >= thread->fds->nr)
		return NULL;
	return &thread->fds->files[enter->arg0];
}

/*
 * Prefetch threads of later events. A wakeup prefetches the thread only. Its rows are needed when
 * it gets a CPU, so the switch prefetches them.
 */
static void prefetch_next_threads(const struct trace_analysis *a, const struct trace_cursor *cursor, bool is_switch)
{
	thread_prefetch(a, tid_of(trace_cursor_peek(cursor, is_switch ? 4 : 2), is_switch));
	if (is_switch)
		thread_prefetch_rows(a, tid_of(trace_cursor_peek(cursor, 2), true));
	if (a->hooks.soon)
		hook_prefetch(a, tid_of(trace_cursor_peek(cursor, is_switch ? 3 : 1), is_switch), false);
	if (a->hooks.soon && is_switch)
		hook_prefetch(a, tid_of(trace_cursor_peek(cursor, 1), true), true);
}

static inline void prefetch_next_descriptor(const struct trace_analysis *a, const struct trace_thread *thread,
					    const struct trace_sys_enter3 *enter)
{
	const uint32_t *descriptor = call_descriptor(a, thread, enter);

	if (descriptor)
		line_prefetch(descriptor);
}

/* @enter: a call; prefetch_next_descriptor() prefetched its descriptor some calls earlier. */
static inline void prefetch_next_file(const struct trace_analysis *a, const struct trace_thread *thread,
				      const struct trace_sys_enter3 *enter)
{
	const uint32_t *descriptor = call_descriptor(a, thread, enter);

	if (descriptor)
		line_prefetch(&a->files.list[*descriptor & ~FD_CLOEXEC_BIT]);
}

/*
 * Prefetch what the next system calls of this CPU act on. They are usually @thread's. Hooks read
 * the file at once, so for them the file is prefetched, too.
 */
static void prefetch_next_files(const struct trace_analysis *a, const struct trace_cursor *cursor,
				const struct trace_thread *thread, bool is_hooked)
{
	prefetch_next_descriptor(a, thread, trace_cursor_peek(cursor, is_hooked ? 3 : 1));
	if (is_hooked)
		prefetch_next_file(a, thread, trace_cursor_peek(cursor, 1));
}

/* Prefetch the memory that later events need. */
static void prefetch_next(const struct trace_analysis *a, const struct trace_cursor *cursor,
			  const struct trace_event *event)
{
	switch (event->id) {
	case TRACE_EV_sched_switch:
	case TRACE_EV_sched_waking:
		if (a->threads.nr >= THREADS_COLD && a->handlers[event->id])
			prefetch_next_threads(a, cursor, event->id == TRACE_EV_sched_switch);
		break;
	case TRACE_EV_sys_enter3:
	case TRACE_EV_sys_enter6:
		if (a->files.nr >= FILES_COLD && a->handlers[event->id] && event->cpu < a->nr_cpus &&
		    a->cpus[event->cpu].current)
			prefetch_next_files(a, cursor, a->cpus[event->cpu].current, is_hooked(a, event->id));
		break;
	default:
		break;
	}
}

/* True if the thread on the CPU made the event; false for events of the recorder itself. */
static bool is_of_cpu(uint32_t id)
{
	return id >= TRACE_EV_sys_enter && id != TRACE_EV_start_files && id != TRACE_EV_start_args &&
	       id != TRACE_EV_start_memory && id != TRACE_EV_start_again && id != TRACE_EV_user_stream &&
	       id != TRACE_EV_probe_cost && id != TRACE_EV_event_cost && id != TRACE_EV_fault_cost &&
	       id != TRACE_EV_long_cost;
}

/*
 * An event of a program does not change what its thread waits for. The kernel recorded those of
 * probes: a hidden thread has no events, so the event proves that such a thread has left the CPU.
 */
static void handle_of_program(struct trace_analysis *a, uint64_t ns, const struct trace_event *event)
{
	struct trace_thread *thread;

	a->counts[TRACE_EV_USER]++;
	if (event->type && !(event->type->flags & TRACE_EVENT_TID) && event->cpu < a->nr_cpus) {
		if (a->cpus[event->cpu].hidden)
			hidden_event(a, &a->cpus[event->cpu], ns, event);
		probe_hit(a, &a->cpus[event->cpu], ns, event);
	} else if (a->probes.events.cost.ps) {
		thread = (struct trace_thread *)trace_event_thread(a, event);
		if (thread)
			event_cost_hit(a, thread, event);
	}
	if (a->nr_interrupted)
		interrupted_user_event(a, (struct trace_thread *)trace_event_thread(a, event));
	if (a->nr_kept)
		rests_end(a, (struct trace_thread *)trace_event_thread(a, event));
	hooks_event(a, event);
}

static inline void set_now(struct trace_analysis *a, uint64_t ns)
{
	a->now = ns;
	if (ns > a->end_ns)
		a->end_ns = ns;
}

/*
 * At gaps.next_ns, before @event: begin the gaps, and the parts of a window. False: the step ends
 * before the event, which the next step handles.
 */
static __attribute__((noinline)) bool pass_stop(struct trace_analysis *a, uint64_t ns, const struct trace_event *event)
{
	if (ns >= a->step_ns && a->step_ns != UINT64_MAX) {
		a->held = event;
		a->failed = a->failed ? a->failed : STEP_ENDS;
		return false;
	}
	set_now(a, ns);
	lost_begin(a, ns);
	return true;
}

static void handle(struct trace_analysis *a, const struct trace_event *event)
{
	uint64_t ns = event->ts_ns;
	event_handler *handler;

	if (ns < a->now) /* not in a valid trace: the cursor delivers events in time order */
		ns = a->now;
	if (ns >= a->gaps.next_ns && !pass_stop(a, ns, event))
		return;
	set_now(a, ns);
	if (!a->sweep.remaining)
		expire_unused(a);
	if (event->id >= TRACE_EV_MAX) {
		handle_of_program(a, ns, event);
		return;
	}
	a->counts[event->id]++;
	if (event->cpu < a->nr_cpus && a->cpus[event->cpu].hidden && is_of_cpu(event->id))
		hidden_event(a, &a->cpus[event->cpu], ns, event);
	hooks_event(a, event);
	handler = a->handlers[event->id];
	if (handler && event->cpu < a->nr_cpus)
		handler(a, &a->cpus[event->cpu], ns, event);
}

static void close_accounts(struct trace_analysis *a)
{
	if (a->window)
		window_clamp(a, true);
	lost_begin(a, a->end_ns);
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		hidden_end(a, &a->cpus[i]);
		acct_cpu(a, &a->cpus[i], a->end_ns);
	}
	args_end(a);
	disk_end(a, a->end_ns);
	a->closing = true; /* no time slice follows */
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (struct trace_thread *thread = a->threads.processes[i]->first; thread; thread = thread->next) {
			if (thread->sched_state == SCHED_DEAD)
				continue;
			thread_close(a, thread, a->end_ns);
			thread->end_ns = a->end_ns;
		}
	wakers_free(a);
	acct_flush(a);
	if (a->window)
		window_close(a);
}

/*
 * Set the window. It contains all events, even if the trace header says less. In a flight
 * recorder's trace it begins where events are no longer overwritten.
 */
static int window_begin(struct trace_analysis *a, struct trace_cursor *cursor)
{
	const struct trace_info *info = trace_get_info(a->trace);
	const struct trace_event *first = trace_cursor_next(cursor);
	int error = first ? 0 : trace_cursor_error(cursor, NULL);

	if (error && error != -EBADMSG)
		return error;
	if (info->complete_from_ns > info->start_ns)
		a->start_ns = a->now = info->complete_from_ns;
	else if (first && (first->ts_ns < a->start_ns || !a->start_ns))
		a->start_ns = a->now = first->ts_ns;
	if (a->end_ns < a->start_ns)
		a->end_ns = a->start_ns;
	for (uint32_t i = 0; i < a->nr_cpus; i++)
		a->cpus[i].accounted_ns = a->cpus[i].slice_since = a->start_ns;
	if (a->window)
		window_clamp(a, false);
	return trace_cursor_seek(cursor, a->start_ns);
}

/* A string that could not be stored has the id of the empty one. */
static bool failed(const struct trace_analysis *a)
{
	return a->failed || a->strings.failed;
}

int trace_analysis_error(const struct trace_analysis *a, struct trace_error *ret_error)
{
	return failed(a) ? incomplete(a, ret_error) : 0;
}

/*
 * One step of the pass. This loop has a function of its own: code that runs once would take
 * registers from it.
 */
static __attribute__((noinline)) int analysis_pass(struct trace_analysis *a, struct trace_cursor *cursor)
{
	const struct trace_event *event = a->held ? a->held : trace_cursor_next(cursor);
	int error;

	a->held = NULL;
	for (; event; event = trace_cursor_next(cursor)) {
		prefetch_next(a, cursor, event);
		handle(a, event);
		if (a->failed)
			break;
	}
	error = trace_cursor_error(cursor, NULL);
	return error == -EBADMSG ? 0 : error;
}

static int pass_begin(struct trace_analysis *a, struct trace_error *ret_error)
{
	struct trace_cursor_options options = {
		.size = sizeof(options), .decode_ahead = 4, .damaged = lost_found, .damaged_data = a};
	struct trace_cursor *cursor = trace_cursor_new(a->trace, &options, ret_error);
	int error;

	if (!cursor)
		return -ENOMEM;
	error = hooks_prepare(a);
	if (a->window)
		window_limit_hooks(a);
	if (!error)
		error = window_begin(a, cursor);
	if (!error)
		error = lost_prepare(a);
	if (!error)
		error = filtered_prepare(a);
	if (!error)
		error = start_load(a, ret_error);
	a->cursor = cursor;
	return error;
}

/* Close the cursor first: the state of the end is not that of an event. */
static int pass_close(struct trace_analysis *a, int error, struct trace_error *ret_error)
{
	a->ended = true;
	a->cursor = trace_cursor_free(a->cursor);
	if (error || failed(a))
		return incomplete(a, ret_error);
	close_accounts(a);
	a->done = true;
	if (a->hooks.done)
		a->hooks.done(a->hooks.cpu_time_data);
	if (a->hooks.tables)
		a->hooks.tables->done(a->hooks.tables_data);
	return failed(a) ? incomplete(a, ret_error) : 0;
}

int trace_analysis_step(struct trace_analysis *a, uint64_t until_ns, struct trace_error *ret_error)
{
	int error = 0;

	if (a->ended)
		return error_set(ret_error, -EBUSY, "the analysis was run already; create a new one");
	if (!a->began) {
		a->began = true;
		error = pass_begin(a, ret_error);
		a->ended = !a->cursor; /* its own error stays */
	}
	if (a->ended)
		return error;
	if (!error && !a->failed) {
		a->step_ns = until_ns;
		gaps_next_prepare(a);
		error = analysis_pass(a, a->cursor);
	}
	if (a->failed == STEP_ENDS)
		a->failed = 0;
	if (a->held && !error && !failed(a))
		return 0;
	error = pass_close(a, error, ret_error);
	return error ? error : 1;
}

int trace_analysis_run(struct trace_analysis *a, struct trace_error *ret_error)
{
	int error = trace_analysis_step(a, UINT64_MAX, ret_error);

	return error < 0 ? error : 0;
}

/* ---- the state of the moment ---- */

uint64_t trace_analysis_now(const struct trace_analysis *a)
{
	return a->now;
}

const struct trace_thread *trace_thread_on_cpu(const struct trace_analysis *a, uint32_t cpu)
{
	if (cpu >= a->nr_cpus || a->cpus[cpu].current == &a->cpus[cpu].idle)
		return NULL;
	return a->cpus[cpu].current;
}

const char *trace_cpu_interrupt(const struct trace_analysis *a, uint32_t cpu)
{
	static const enum trace_string_space spaces[] = {[NEST_IRQ] = TRACE_STRING_IRQ,
							 [NEST_SOFTIRQ] = TRACE_STRING_SOFTIRQ,
							 [NEST_VECTOR] = TRACE_STRING_VECTOR};
	const struct nest *top;
	const char *name;

	if (cpu >= a->nr_cpus || !a->cpus[cpu].nested)
		return NULL;
	top = &a->cpus[cpu].nest[a->cpus[cpu].nested - 1];
	name = trace_string(a->trace, spaces[top->type], top->number);
	return name ? name : "interrupt";
}

uint64_t trace_cpu_softirq_ns(const struct trace_analysis *a, uint32_t cpu, unsigned int vec)
{
	return cpu < a->nr_cpus && vec < NR_SOFTIRQS ? cpu_softirq_time(&a->cpus[cpu], vec, a->now) : 0;
}

struct holders {
	const struct trace_analysis *a;
	trace_holder_fn fn;
	void *data;
};

static void report_holder(void *data, uint32_t process, uint32_t thread, uint64_t ns)
{
	const struct holders *holders = data;

	if (ns)
		holders->fn(holders->data, holders->a->threads.processes[process], ns);
}

void trace_cpu_holders(const struct trace_analysis *a, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		       trace_holder_fn fn, void *data)
{
	struct holders holders = {.a = a, .fn = fn, .data = data};

	if (cpu < a->nr_cpus && to_ns > from_ns)
		slice_log_holders(&a->cpus[cpu], a->now, from_ns, to_ns, report_holder, &holders);
}

const struct trace_thread *trace_find_thread(const struct trace_analysis *a, uint32_t tid)
{
	const struct trace_thread *thread = thread_find(&a->threads, tid);

	return thread && thread->sched_state != SCHED_DEAD ? thread : NULL;
}

const char *trace_thread_syscall(const struct trace_analysis *a, const struct trace_thread *thread)
{
	if (!thread->depth || thread->frames[0].kind != FRAME_SYSCALL)
		return NULL;
	return strings_text(&a->strings, a->calls[thread->frames[0].call].name);
}

uint64_t trace_thread_syscall_arg(const struct trace_thread *thread, unsigned int idx)
{
	if (!thread->depth || thread->frames[0].kind != FRAME_SYSCALL || idx >= thread->frames[0].nr_args)
		return 0;
	return thread->frames[0].args[idx];
}

const char *trace_thread_file(const struct trace_analysis *a, const struct trace_thread *thread, int fd)
{
	file_idx file = fd == LINUX_AT_FDCWD ? directory_working(a, thread) : fd_file(thread, fd);

	/* The caller may keep the path as long as the analysis lives. */
	return file ? strings_text(&a->strings, file_path((struct trace_analysis *)a, file)) : NULL;
}

bool trace_thread_file_id(const struct trace_analysis *a, const struct trace_thread *thread, int fd,
			  struct trace_file_id *ret_id)
{
	file_idx file = fd_file(thread, fd);

	if (!file)
		return false;
	*ret_id = (struct trace_file_id){.ino = a->files.list[file].ino,
					 .dev = a->files.list[file].dev,
					 .mode = a->files.list[file].mode & ~FILE_WRITE_END};
	return true;
}

bool trace_thread_socket(const struct trace_analysis *a, const struct trace_thread *thread, int fd,
			 struct trace_socket *ret_socket)
{
	file_idx file = fd_file(thread, fd);
	const struct socket_state *sock = file && LINUX_S_ISSOCK(a->files.list[file].mode)
						  ? sock_peek(a, a->files.list[file].ino)
						  : NULL;

	if (!sock)
		return false;
	*ret_socket = (struct trace_socket){.ino = sock->ino,
					    .peer_ino = sock->peer_ino,
					    .local = {sock->ends.local[0], sock->ends.local[1]},
					    .remote = {sock->ends.remote[0], sock->ends.remote[1]},
					    .local_port = sock->ends.local_port,
					    .remote_port = sock->ends.remote_port,
					    .family = sock->family,
					    .type = sock->type,
					    .protocol = sock->ends.protocol};
	return true;
}

uint64_t trace_thread_cpu_ns(const struct trace_analysis *a, const struct trace_thread *thread)
{
	uint64_t ns = thread->acct.user + thread->acct.syscall + thread->acct.trap;
	const struct cpu *cpu = thread->cpu < a->nr_cpus ? &a->cpus[thread->cpu] : NULL;

	for (uint32_t i = 0; i < thread->nr_shares; i++)
		ns += thread->shares[i].ns;
	if (thread->sched_state == SCHED_ON_CPU && cpu && cpu->current == thread && a->now > cpu->accounted_ns)
		ns += a->now - cpu->accounted_ns - (cpu_irq_time(cpu, a->now) - cpu->irq_ns);
	return ns;
}
