/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_records.c - apply the records of the start state: threads, descriptors, sockets, mappings
 *
 * The recorder writes them at the start, and again after a pause.
 */
#include <string.h>
#include "hidden_runs.h"
#include "kernel_numbers.h"
#include "start_reads.h"
#include "start_records.h"
#include "state.h"
#include "state_args.h"
#include "state_container.h"
#include "state_directory.h"
#include "state_end.h"
#include "state_frame.h"
#include "state_touch.h"
#include "state_trap.h"

/* The pid may have been used again when the recorder read its other threads. */
static bool describes_process(const struct trace_thread *thread)
{
	return thread->tid == thread->process->pid || thread == thread->process->first;
}

void start_describe(struct trace_analysis *a, struct trace_thread *thread, const struct trace_event *event)
{
	const struct trace_start_thread *start = event->payload;
	struct trace_process *process = thread->process;
	char comm[16] = "";

	if (start->flags & TRACE_THREAD_KERNEL)
		thread->flags |= THREAD_KERNEL;
	if (start->flags & TRACE_THREAD_HIDDEN)
		thread->flags |= THREAD_HIDDEN;
	thread->uid = start->uid;
	process->kernel = start->flags & TRACE_THREAD_KERNEL;
	process->is_traced |= (start->flags & TRACE_THREAD_TRACED) != 0;
	if (describes_process(thread)) {
		process->ppid = start->ppid;
		process->uid = start->uid;
		process->gid = start->gid;
		process->cgroup = start->cgroup;
		process->read_ns = event->ts_ns;
	}
	thread->cgroup = start->cgroup;
	process->ns_pid = start->ns_tgid;
	strncpy(comm, trace_event_string(event), sizeof(comm) - 1);
	if (start->flags & TRACE_THREAD_IO_WORKER)
		thread->flags |= THREAD_IO_WORKER;
	thread->is_recorder = start->flags & TRACE_THREAD_RECORDER;
	process_set_comm(a, thread, comm);
}

void start_sched_state(struct trace_thread *thread, const struct trace_event *event, uint64_t since)
{
	const struct trace_start_thread *start = event->payload;
	struct frame *frame = &thread->frames[0];

	thread->sched_state = thread->flags & THREAD_FILTERED ? SCHED_UNKNOWN : SCHED_OFF_AT_START;
	thread->task_state = start->running ? TRACE_TASK_RUNNING : start->state;
	thread->read_ns = event->ts_ns;
	thread_mode_unknown(thread, since);
	thread->flags |= THREAD_FROM_START | (start->running ? THREAD_RAN_AT_START : 0);
	if (start->nr < 0 || thread->is_recorder)
		return;
	frame->call = call_idx((uint32_t)start->nr, start->abi);
	frame->args[0] = start->arg0;
	frame->args[1] = start->arg1;
	frame->args[2] = start->arg2;
	frame->args[3] = start->arg3;
	frame->nr_args = 4;
}

static void load_thread(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_thread *start = event->payload;
	struct trace_process *process;
	struct trace_thread *thread;

	if (!start->tid || start->tid >= MAX_TID || thread_find(&a->threads, start->tid))
		return;
	if (start->start_ns > a->end_ns) /* a flight recorder may read it behind the end of the trace */
		return;
	process = process_get(a, start->tgid);
	thread = process ? thread_new(a, start->tid, process, a->start_ns) : NULL;
	if (!thread)
		return;
	thread->cpu = start->cpu < a->nr_cpus ? start->cpu : 0;
	start_describe(a, thread, event);
	start_sched_state(thread, event, a->start_ns);
	start_read_thread(a, event->ts_ns);
	if (describes_process(thread))
		start_read_parent(a, process->pid, event->ts_ns);
}

/*
 * The state is read after the first events; a flight recorder reads it even after the last one. If
 * a call of the thread began or ended before the thread was read, the call in its record is a later
 * one.
 */
void start_call_ended(struct trace_thread *thread, uint64_t ns)
{
	if (ns < thread->read_ns)
		frame_drop_call(&thread->frames[0]);
	thread->read_ns = 0;
}

/*
 * The owner of a process's descriptors and memory, for a record about all threads of the process.
 */
static struct trace_thread *leader_of(const struct trace_analysis *a, uint32_t tgid)
{
	struct trace_process *process = process_find(&a->threads, tgid);

	return process ? process_owner(&a->threads, process) : NULL;
}

/*
 * Makes @thread use @fds. If it is the leader, all threads with the same old table use @fds, too.
 */
static void use_table(struct trace_thread *thread, struct fd_table *fds)
{
	bool is_leader = thread->tid == thread->process->pid;
	const struct fd_table *old = thread->fds;

	for (struct trace_thread *t = is_leader ? thread->process->first : thread; t; t = is_leader ? t->next : NULL)
		if (t->fds == old && t->sched_state != SCHED_DEAD) {
			fds_unref(t->fds);
			t->fds = fds_ref(fds);
		}
}

static void load_files(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_files *start = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, start->tid), *as = thread_find(&a->threads, start->as);
	struct fd_table *own;

	if (!thread || !as || thread->sched_state == SCHED_DEAD || as->sched_state == SCHED_DEAD)
		return;
	if (thread == as) {
		own = fds_copy(a, NULL);
		fds_unref(thread->fds);
		thread->fds = own;
		return;
	}
	if (!as->fds)
		as->fds = fds_copy(a, NULL);
	if (as->fds && thread->fds != as->fds)
		use_table(thread, as->fds);
	if (a->rules && thread->process != as->process) {
		rules_had_tables(a, as);
		rules_had_tables(a, thread);
	}
}

/* All threads of a process have one memory. */
static void load_memory(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_memory *start = event->payload;
	struct trace_thread *leader = leader_of(a, start->tgid), *as = leader_of(a, start->as);

	if (!leader || !as || leader == as)
		return;
	if (!as->memory)
		as->memory = memory_new(a);
	if (!as->memory || leader->memory == as->memory)
		return;
	for (struct trace_thread *thread = leader->process->first; thread; thread = thread->next) {
		if (thread->sched_state == SCHED_DEAD || (thread != leader && !thread->memory))
			continue;
		as->memory->has_foreign |= thread->memory && thread->memory->has_foreign;
		memory_unref(thread->memory);
		thread->memory = memory_ref(as->memory);
	}
	if (a->rules) {
		rules_had_tables(a, as);
		rules_had_tables(a, leader);
	}
}

static void load_fd(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_fd *start = event->payload;
	struct trace_thread *thread = start->tid ? thread_find(&a->threads, start->tid) : leader_of(a, start->tgid);

	if (!thread || thread->sched_state == SCHED_DEAD)
		return;
	fd_put(a, thread, start->fd,
	       file_opened(a, trace_event_string(event), start->dev, start->ino, start->mode, start->flags),
	       start->flags & LINUX_O_CLOEXEC);
	start_read_fd(a, thread->fds, start->fd, event->ts_ns);
	if (a->rules)
		rules_started(a, thread, event->ts_ns);
}

static void load_socket(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_socket *start = event->payload;
	struct trace_thread *leader = leader_of(a, start->tgid);

	if (!leader)
		return;
	sock_start(a, start, start_socket_netns(event), leader->process->idx);
	start_read_socket(a, start->ino, event->ts_ns);
	if (start->state == TCP_LISTEN && leader->fds)
		leader->fds->nr_listening++;
}

static void load_map(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_map *start = event->payload;
	struct trace_thread *leader = leader_of(a, start->tgid);
	file_idx file;

	if (!leader)
		return;
	if (!leader->memory)
		leader->memory = memory_new(a);
	if (!leader->memory)
		return;
	file = file_get(a, trace_event_string(event), start->dev, start->ino, 0100000);
	memory_map(a, leader->memory,
		   (struct mapping){start->start, start->end, start->offset, file, start->prot & TRACE_MAP_PRIVATE});
	start_read_map(a, leader->memory, start->start, start->end, event->ts_ns);
	if (a->rules)
		rules_had_file(a, leader, file);
}

static void load_exe(struct trace_analysis *a, const struct trace_event *event)
{
	struct trace_process *process = process_find(&a->threads,
						     ((const struct trace_start_exe *)event->payload)->tgid);

	if (!process)
		return;
	process->exe = strings_intern(&a->strings, trace_event_string(event));
	start_read_exe(a, process->pid, event->ts_ns);
}

static void load_directory(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_fs_dir *dir = event->payload;

	directory_learn(a, event);
	start_read_directory(a, dir->tid, dir->fd, event->ts_ns);
}

static void load_cgroup(struct trace_analysis *a, const struct trace_event *event)
{
	cgroup_learn(a, ((const struct trace_start_cgroup *)event->payload)->cgroup, trace_event_string(event));
}

static const struct {
	uint32_t id;
	size_t bytes;
	void (*load)(struct trace_analysis *, const struct trace_event *);
} loaders[] = {
	{TRACE_EV_start_thread, sizeof(struct trace_start_thread), load_thread},
	{TRACE_EV_start_exe, sizeof(struct trace_start_exe), load_exe},
	{TRACE_EV_start_args, sizeof(struct trace_start_args), args_load},
	{TRACE_EV_start_files, sizeof(struct trace_start_files), load_files},
	{TRACE_EV_start_memory, sizeof(struct trace_start_memory), load_memory},
	{TRACE_EV_start_fd, sizeof(struct trace_start_fd), load_fd},
	{TRACE_EV_start_socket, START_SOCKET_BYTES, load_socket},
	{TRACE_EV_start_map, sizeof(struct trace_start_map), load_map},
	{TRACE_EV_start_cgroup, sizeof(struct trace_start_cgroup), load_cgroup},
	{TRACE_EV_fs_dir, sizeof(struct trace_fs_dir), load_directory},
	{TRACE_EV_fs_layer, sizeof(struct trace_fs_layer), layer_learn},
	{TRACE_EV_probe_cost, sizeof(struct trace_probe_cost), probe_cost_learn},
	{TRACE_EV_event_cost, sizeof(struct trace_event_cost), event_cost_learn},
	{TRACE_EV_fault_cost, sizeof(struct trace_fault_cost), fault_cost_learn},
	{TRACE_EV_long_cost, sizeof(struct trace_long_cost), long_cost_learn},
	{TRACE_EV_end_wait, sizeof(struct trace_end_wait), end_load},
	{TRACE_EV_thread_runs, sizeof(struct trace_thread_runs), hidden_load},
};

void start_record_apply(struct trace_analysis *a, const struct trace_event *event)
{
	for (size_t i = 0; i < sizeof(loaders) / sizeof(loaders[0]); i++)
		if (loaders[i].id == event->id && event->type && event->type->fixed_bytes >= loaders[i].bytes)
			loaders[i].load(a, event);
}
