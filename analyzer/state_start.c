/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_start.c - the start state, and who is on each CPU when the first event comes.
 *
 * The start state was read a moment after the first events. So what it says of a thread's place is a hint that the thread's first event
 * overrules (PLACE_OFF_AT_START, state_sched.c); what it says of files and mappings is taken as it is.
 *
 * Who is on a CPU at the start is told by the first scheduling change there, which may come late. It is looked up first,
 * with a cursor for that CPU and that event only. A CPU without any has the thread that the start state saw running on it, or is idle.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "state.h"

static void load_thread(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_thread *start = event->payload;
	struct trace_process *process;
	struct trace_thread *thread;
	char comm[16] = "";

	if (!start->tid || start->tid >= MAX_TID || thread_find(a, start->tid))
		return;
	process = process_get(a, start->tgid);
	thread = process ? thread_new(a, start->tid, process, a->start_ns) : NULL;
	if (!thread)
		return;
	if (start->flags & TRACE_THREAD_KERNEL)
		thread->flags |= THREAD_KERNEL;
	process->kernel = start->flags & TRACE_THREAD_KERNEL;
	process->ppid = start->ppid;
	process->uid = start->uid;
	thread->place = PLACE_OFF_AT_START;
	thread->task_state = start->running ? TRACE_TASK_RUNNING : start->state;
	thread->cpu = start->cpu < a->nr_cpus ? start->cpu : 0;
	thread->read_ns = event->ts_ns;
	strncpy(comm, trace_event_string(event), sizeof(comm) - 1);
	process_set_comm(thread, comm);
	thread_mode_unknown(thread, a->start_ns);
	thread->flags |= THREAD_FROM_START;
	if (start->nr >= 0) {
		struct frame *frame = &thread->frames[0];

		frame->call = call_idx((uint32_t)start->nr, start->abi);
		frame->args[0] = start->arg0;
		frame->args[1] = start->arg1;
		frame->args[2] = start->arg2;
		frame->args[3] = start->arg3;
		frame->nr_args = 4;
	}
}

/* The process of a record about its leader's descriptors; all threads of a process share the table at the start. */
static struct trace_thread *leader_of(struct trace_analysis *a, uint32_t tgid)
{
	struct trace_process *process = process_find(a, tgid);

	return process ? process->first : NULL;
}

static void load_fd(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_fd *start = event->payload;
	struct trace_thread *leader = leader_of(a, start->tgid);

	if (leader)
		fd_put(a, leader, start->fd, file_get(a, strings_intern(&a->strings, trace_event_string(event)), start->dev, start->ino, start->mode),
		       start->flags & O_CLOEXEC);
}

static void load_socket(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_socket *start = event->payload;
	struct trace_thread *leader = leader_of(a, start->tgid);

	if (!leader)
		return;
	sock_start(a, start, leader->process->idx);
	if (start->state == 10 && leader->fds) /* TCP_LISTEN */
		leader->fds->nr_listening++;
}

static void load_map(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_map *start = event->payload;
	struct trace_thread *leader = leader_of(a, start->tgid);

	if (!leader)
		return;
	if (!leader->memory)
		leader->memory = memory_new(a);
	if (leader->memory)
		memory_map(a, leader->memory, start->start, start->end,
			   file_get(a, strings_intern(&a->strings, trace_event_string(event)), start->dev, start->ino, 0100000));
}

static void load_exe(struct trace_analysis *a, const struct trace_event *event)
{
	struct trace_process *process = process_find(a, ((const struct trace_start_exe *)event->payload)->tgid);

	if (process)
		process->exe = strings_intern(&a->strings, trace_event_string(event));
}

static const struct {
	uint32_t id;
	size_t bytes;
	void (*load)(struct trace_analysis *, const struct trace_event *);
} loaders[] = {
	{TRACE_EV_start_thread, sizeof(struct trace_start_thread), load_thread},
	{TRACE_EV_start_exe, sizeof(struct trace_start_exe), load_exe},
	{TRACE_EV_start_fd, sizeof(struct trace_start_fd), load_fd},
	{TRACE_EV_start_socket, sizeof(struct trace_start_socket), load_socket},
	{TRACE_EV_start_map, sizeof(struct trace_start_map), load_map},
};

static void load_event(struct trace_analysis *a, const struct trace_event *event)
{
	if (event->id < TRACE_EV_MAX)
		a->counts[event->id]++;
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (loaders[i].id == event->id && event->type && event->type->fixed_bytes >= loaders[i].bytes)
			loaders[i].load(a, event);
}

/* Threads share what their leader has; and now that all files are known, the file of the call each was in. */
static void share_with_threads(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->nr_processes; i++) {
		struct trace_thread *first = a->processes[i]->first;

		for (struct trace_thread *thread = first; thread; thread = thread->next) {
			if (thread != first) {
				thread->fds = fds_ref(first->fds);
				thread->memory = memory_ref(first->memory);
			}
			thread->frames[0].file = call_file(a, thread, &thread->frames[0]);
		}
	}
}

static int load_start_state(struct trace_analysis *a, struct trace_error *ret_error)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	struct trace_cursor *cursor = trace_cursor_new(a->trace, &options, ret_error);
	const struct trace_event *event;

	if (!cursor)
		return -12;
	while ((event = trace_cursor_next(cursor)))
		load_event(a, event);
	trace_cursor_free(cursor);
	share_with_threads(a);
	return 0;
}

/* ---- who is on the CPUs ---- */

static void put_on_cpu(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread)
{
	if (!thread || thread->place != PLACE_OFF_AT_START)
		return;
	thread->place = PLACE_ON_CPU;
	thread->cpu = cpu->cpu;
	cpu->current = thread;
}

/* The first scheduling change of a CPU, unless a loss comes before it. Returns whether there is one; its prev_tid. */
static int first_switch(struct trace_analysis *a, uint32_t cpu, uint32_t *ret_prev, bool *ret_lost, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask, .cpus = &cpu, .nr_cpus = 1};
	struct trace_cursor *cursor;
	const struct trace_event *event;
	int found = 0;

	mask[TRACE_EV_sched_switch / 64] |= 1ull << TRACE_EV_sched_switch % 64;
	mask[TRACE_EV_trace_lost / 64] |= 1ull << TRACE_EV_trace_lost % 64;
	cursor = trace_cursor_new(a->trace, &options, ret_error);
	if (!cursor)
		return -12;
	while (!found && (event = trace_cursor_next(cursor))) {
		const struct trace_trace_lost *lost = event->payload;

		if (event->id == TRACE_EV_sched_switch) {
			*ret_prev = ((const struct trace_sched_switch *)event->payload)->prev_tid;
			found = 1;
		} else if (event->id == TRACE_EV_trace_lost && lost->cause != TRACE_GAP_MISSED && lost->stream < 2 * a->nr_cpus &&
			   lost->stream != 2 * cpu + 1) {
			*ret_lost = true;
			break;
		}
	}
	trace_cursor_free(cursor);
	return found;
}

static struct trace_thread *seen_running(const struct trace_analysis *a, uint32_t cpu)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->nr_processes; i++)
		for (struct trace_thread *thread = a->processes[i]->first; thread; thread = thread->next)
			if (thread->place == PLACE_OFF_AT_START && thread->cpu == cpu && thread->task_state == TRACE_TASK_RUNNING)
				return thread;
	return NULL;
}

static int find_current(struct trace_analysis *a, struct cpu *cpu, struct trace_error *ret_error)
{
	uint32_t prev = 0;
	bool lost = false;
	int found = first_switch(a, cpu->cpu, &prev, &lost, ret_error);

	if (found < 0)
		return found;
	cpu->current = &cpu->idle;
	if (found && prev)
		put_on_cpu(a, cpu, thread_get(a, prev));
	else if (lost)
		cpu->current = NULL;
	return found;
}

int start_load(struct trace_analysis *a, struct trace_error *ret_error)
{
	static const char *const pseudo[NR_PSEUDO_PROCESSES] = {"idle", "interrupts", "several", "unknown"};
	int error = 0, found;
	bool *told;

	for (int i = 0; i < NR_PSEUDO_PROCESSES; i++) {
		struct trace_process *process = process_new(a, 0);

		if (!process)
			return -12;
		strncpy(process->comm, pseudo[i], sizeof(process->comm) - 1);
	}
	error = load_start_state(a, ret_error);
	told = calloc(a->nr_cpus + 1, sizeof(*told));
	if (!told)
		return -12;
	for (uint32_t i = 0; i < a->nr_cpus && !error; i++) {
		found = find_current(a, &a->cpus[i], ret_error);
		told[i] = found > 0;
		error = found < 0 ? found : 0;
	}
	for (uint32_t i = 0; i < a->nr_cpus; i++) {
		if (!told[i] && a->cpus[i].current)
			put_on_cpu(a, &a->cpus[i], seen_running(a, i));
		books_log(&a->cpus[i], a->start_ns);
	}
	free(told);
	return error;
}
