/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_life.c - fork, exec, death, and changes of names and numbers of threads
 *
 * A number (tid) belongs to one thread at a time, but it is reused. The kernel may reuse it before
 * the old thread has left its CPU for the last time. exec gives the calling thread the number of
 * its leader.
 */
#include <string.h>
#include "frame_end.h"
#include "kernel_numbers.h"
#include "kernel_work.h"
#include "state.h"
#include "state_args.h"
#include "state_close.h"
#include "state_frame.h"
#include "state_identity.h"
#include "state_life.h"
#include "state_restart.h"
#include "state_touch.h"

/* ---- threads that the state does not know ---- */

/*
 * The birth of this thread was not recorded. It is as old as the trace; but if there is a start
 * state without it, it was born unseen, just now.
 */
struct trace_thread *thread_get(struct trace_analysis *a, uint32_t tid)
{
	struct trace_thread *thread = thread_find(&a->threads, tid);
	bool known_start = a->counts[TRACE_EV_start_thread] != 0;
	uint64_t start = known_start && a->now > a->start_ns ? a->now : a->start_ns;

	if (thread || !tid || tid >= MAX_TID)
		return thread;
	if (a->masks.paused) {
		start_read_ahead(a);
		thread = thread_find(&a->threads, tid);
		if (thread)
			return thread;
	}
	thread = thread_new(a, tid, process_get(a, tid), start);
	if (!thread)
		return NULL;
	thread->sched_state = thread->flags & THREAD_FILTERED ? SCHED_UNKNOWN : SCHED_OFF_AT_START;
	thread_mode_unknown(thread, start);
	return thread;
}

struct trace_thread *thread_living(struct trace_analysis *a, uint32_t tid)
{
	struct trace_thread *thread = thread_get(a, tid);

	if (!thread || thread->sched_state != SCHED_DEAD)
		return thread;
	/* Its number was reused, and the fork was not recorded. */
	thread = thread_new(a, tid, process_new(a, tid), a->now);
	if (thread) {
		thread->sched_state = SCHED_UNKNOWN;
		thread_mode_unknown(thread, a->now);
	}
	return thread;
}

/* ---- changes of numbers ---- */

static void exchange_numbers(struct trace_analysis *a, struct trace_thread *thread, uint32_t tid)
{
	struct trace_thread **slot = thread_slot(a, tid), *leader = slot ? *slot : NULL;

	if (!slot)
		return;
	*thread_slot(a, thread->tid) = leader;
	if (leader)
		leader->tid = thread->tid;
	*slot = thread;
	thread->tid = tid;
}

/*
 * exec in a thread that is not the leader: when the leader has exited, the kernel exchanges the
 * numbers of the two threads. The sched_exec event comes when the program is loaded, which may take
 * long. Earlier events have the new numbers already: the one with the thread's name, and switches
 * away from the thread, or from the leader for the last time. @tid is such a number, seen where
 * @current was expected.
 */
void thread_note_exchange(struct trace_analysis *a, struct trace_thread *current, uint32_t tid)
{
	struct trace_thread *other = thread_find(&a->threads, tid), *caller, *leader;
	struct frame *frame;

	if (tid == current->process->pid) {
		caller = current;
		leader = other;
	} else if (current->tid == current->process->pid && other && other->process == current->process) {
		caller = other;
		leader = current;
	} else {
		return;
	}
	frame = frame_syscall(caller);
	if (frame && frame_class(a, frame) == CALL_EXEC &&
	    (!leader || leader->sched_state == SCHED_DEAD || (leader->flags & THREAD_EXITING)))
		exchange_numbers(a, caller, current->process->pid);
}

/* ---- fork ---- */

/* When the call of @thread began; @now if it is in none. */
static uint64_t begin_of_call(struct trace_thread *thread, uint64_t now)
{
	const struct frame *call = frame_syscall(thread);

	return call ? call->begin.ns : now;
}

static void inherit(struct trace_analysis *a, struct trace_thread *child, struct trace_thread *parent, uint64_t flags)
{
	if ((flags & LINUX_CLONE_VM) && !parent->memory && !(parent->flags & THREAD_KERNEL))
		parent->memory = memory_new(a); /* to be shared, although no mapping is known */
	/* The recorder's calls are not recorded: its descriptors are known for one moment only. */
	child->fds = flags & LINUX_CLONE_FILES ? fds_ref(parent->fds)
					       : fds_copy(a, parent->is_recorder ? NULL : parent->fds);
	if (!(flags & LINUX_CLONE_FILES) && parent->fds && parent->fds->refs > 1 && frame_syscall(parent))
		fds_doubt(a, child->fds, parent->fds->number, frame_syscall(parent)->begin.ns);
	child->memory = flags & LINUX_CLONE_VM ? memory_ref(parent->memory)
					       : process_memory_copy(a, parent->memory, begin_of_call(parent, a->now));
	if ((flags & LINUX_CLONE_FS) && !parent->directories)
		parent->directories = directories_new(a);
	child->directories = flags & LINUX_CLONE_FS ? directories_ref(parent->directories)
						    : directories_copy(a, parent->directories);
	thread_group_inherit(a, child, parent);
	if (a->rules)
		rules_inherited(a, child, parent);
	if (a->doubt.is_open && (flags & (LINUX_CLONE_FILES | LINUX_CLONE_VM | LINUX_CLONE_FS)))
		doubt_thread(a, parent); /* the child may run where events are lost */
}

/*
 * The call of @parent, which makes a thread. If the recorder read another one, it read the call
 * later: see start_call_ended(). Only io_uring makes threads in any call.
 */
static const struct frame *call_that_forks(const struct trace_analysis *a, struct trace_thread *parent, uint64_t ns,
					   const struct trace_sched_fork *fork)
{
	struct frame *call = frame_syscall(parent);

	if (call && ns < parent->read_ns && !(fork->clone_flags & TRACE_CLONE_IO_WORKER) &&
	    frame_class(a, call) != CALL_FORK)
		frame_drop_call(call);
	return call;
}

/* A child begins inside its parent's system call, and returns from it. */
static void begin_in_call(struct trace_analysis *a, struct trace_thread *child, struct trace_thread *parent,
			  uint64_t ns, const struct trace_sched_fork *fork)
{
	const struct frame *call = call_that_forks(a, parent, ns, fork);

	thread_mode_unknown(child, ns);
	child->flags &= ~THREAD_MODE_UNKNOWN;
	if (child->flags & THREAD_KERNEL)
		return;
	if (call)
		child->frames[0].call = call->call;
	child->depth = 1;
}

/* A child has what its parent has at the fork. */
static void process_begins(struct trace_analysis *a, struct trace_process *process, const struct trace_sched_fork *fork,
			   const struct trace_thread *parent)
{
	process->uid = fork->uid;
	process->gid = TRACE_ID_UNKNOWN;
	process->kernel = fork->kthread;
	if (parent) {
		process->ppid = fork->clone_flags & LINUX_CLONE_PARENT ? parent->process->ppid : parent->process->pid;
		process->forked_by = fork->clone_flags & LINUX_CLONE_PARENT ? parent->process->forked_by : parent->tid;
		process->gid = parent->process->gid;
		family_join(a, process);
		process->exe = parent->process->exe;
		process->exec_files[0] = parent->process->exec_files[0];
		process->exec_files[1] = parent->process->exec_files[1];
		args_inherit(process, parent->process);
		process->cgroup = parent->process->cgroup;
		process->cgroup_path = parent->process->cgroup_path;
	}
	process->ns_pid = fork->ns_tid;
}

static struct trace_process *process_of_child(struct trace_analysis *a, const struct trace_sched_fork *fork,
					      const struct trace_thread *parent)
{
	struct trace_process *process;

	if ((fork->clone_flags & LINUX_CLONE_THREAD) && fork->tgid != fork->tid)
		return parent ? parent->process : process_get(a, fork->tgid);
	process = process_new(a, fork->tid);
	if (process)
		process_begins(a, process, fork, parent);
	return process;
}

/*
 * The number of @old was reused. The parent's wait releases the number of a dead thread at once,
 * maybe before the thread leaves its CPU for the last time. The kernel frees the thread some time
 * later.
 *
 * Returns how many sched_free events of that number belong to earlier threads.
 */
static int8_t reuse_number(struct trace_analysis *a, struct trace_thread *old, uint64_t ns)
{
	bool exits = old->sched_state == SCHED_DEAD || (old->flags & THREAD_EXITING);
	uint64_t since = old->sched_state == SCHED_DEAD ? old->end_ns : ns;

	if (old->sched_state == SCHED_ON_CPU && !exits)
		thread_found_on_cpu(a, old, ns); /* its end was not recorded */
	if (old->sched_state != SCHED_ON_CPU)
		thread_end(a, old, ns);
	if (!exits || gap_log_first_loss(&a->gaps, since, ns + 1) != UINT64_MAX)
		return 0;
	return old->unfreed < INT8_MAX ? (int8_t)(old->unfreed + 1) : INT8_MAX;
}

void on_sched_fork(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	struct trace_thread *parent = thread_get(a, fork->parent_tid), *child;
	char comm[16] = "";
	int8_t unfreed;

	if (!fork->tid || fork->tid >= MAX_TID || fork->tid == fork->parent_tid)
		return;
	if (parent && parent->sched_state == SCHED_DEAD)
		parent = NULL;
	child = thread_find(&a->threads, fork->tid);
	unfreed = child ? reuse_number(a, child, ns) : 0;
	child = thread_new(a, fork->tid, process_of_child(a, fork, parent), ns);
	if (!child)
		return;
	child->unfreed = unfreed;
	if (fork->kthread)
		child->flags |= THREAD_KERNEL;
	child->flags |= THREAD_VISIBLE;
	child->uid = fork->uid;
	child->cpu = cpu->cpu;
	child->task_state = TASK_STATE_NEW;
	if (parent) {
		acct_cpu(a, cpu, ns);
		child->is_recorder = parent->is_recorder && child->process == parent->process;
		inherit(a, child, parent, fork->clone_flags);
		begin_in_call(a, child, parent, ns, fork);
		if (fork->clone_flags & LINUX_CLONE_VFORK)
			parent->flags |= THREAD_VFORK;
	} else {
		thread_mode_unknown(child, ns);
	}
	if (fork->clone_flags & TRACE_CLONE_IO_WORKER) /* it begins in the call of its process, too */
		child->flags |= THREAD_IO_WORKER;
	if (child->flags & THREAD_FILTERED) {
		child->sched_state = SCHED_UNKNOWN;
		child->depth = 0;
	}
	strncpy(comm, trace_event_string(event), sizeof(comm) - 1);
	process_set_comm(a, child, comm);
}

/* ---- exec, names, exit ---- */

/*
 * No earlier event showed the exchange of numbers. The leader has ended, with or without an event.
 */
static void take_leaders_number(struct trace_analysis *a, struct trace_thread *thread, uint32_t tid, uint64_t ns)
{
	struct trace_thread *leader = thread_find(&a->threads, tid);

	if (leader && leader->sched_state == SCHED_ON_CPU)
		thread_found_on_cpu(a, leader, ns);
	if (leader)
		thread_end(a, leader, ns);
	exchange_numbers(a, thread, tid);
}

/*
 * exec has ended all other threads of its process. The old number of its thread may still be that
 * of one: start_missing.c adds a thread for it, or the recorder read it at the start. If the kernel
 * exchanged the numbers before the first event that names either of them, no event ends that one.
 */
static void end_old_number(struct trace_analysis *a, const struct trace_thread *thread, uint32_t old_tid, uint64_t ns)
{
	struct trace_thread *old = thread_find(&a->threads, old_tid);

	if (!old || old == thread || old->process != thread->process || old->sched_state != SCHED_OFF_AT_START ||
	    (old->flags & THREAD_EXITING))
		return;
	if (old->flags & THREAD_FROM_START) {
		thread_end(a, old, ns);
		return;
	}
	old->depth = 0;
	old->flags &= ~THREAD_MODE_UNKNOWN;
	thread_end(a, old, a->start_ns);
}

void on_sched_exec(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_exec *exec = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, exec->tid);

	if (!thread || thread != cpu->current) /* otherwise it has its new number already */
		thread = thread_find(&a->threads, exec->old_tid);
	if (!thread || thread->sched_state == SCHED_DEAD)
		thread = thread_find(&a->threads, exec->tid);
	if (!thread || thread->sched_state == SCHED_DEAD || !exec->tid || exec->tid >= MAX_TID)
		return;
	if (thread->tid != exec->tid)
		take_leaders_number(a, thread, exec->tid, ns);
	end_old_number(a, thread, exec->old_tid, ns);
	thread->process->exe = strings_intern(&a->strings, trace_event_string(event));
	args_forget(thread->process);
	thread->is_fresh = true;
	thread_group_lead(a, thread, ns);
	identity_of_thread(a, thread, ns, exec->uid, thread->process->gid);
	thread->has_rseq = false;
	fds_exec(a, thread);
	memory_unref(thread->memory);
	thread->memory = memory_new(a);
}

/*
 * The program comes before exec reads a page of it, and before sched_exec; the interpreter right
 * before sched_exec. Later page faults name only device and inode.
 */
void on_fs_exec(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_fs_exec *exec = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, exec->tid);
	file_idx file = file_get(a, trace_event_string(event), exec->dev, exec->ino, exec->mode);
	struct frame *frame;

	if (!thread || thread->sched_state == SCHED_DEAD)
		return;
	thread->process->exec_files[exec->interpreter != 0] = file;
	if (exec->interpreter)
		return;
	thread->process->exec_files[1] = 0;
	frame = frame_syscall(thread);
	if (frame && frame_class(a, frame) == CALL_EXEC && !frame->has_path)
		frame->file = file;
}

void on_sched_exit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_exit *exit = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, exit->tid);

	if (!thread)
		return;
	thread->flags |= THREAD_EXITING;
	exit_begins(a, cpu, ns, thread, exit->code);
}

/*
 * Without losses a living thread leaves its CPU for the last time before it is freed. So it was an
 * earlier thread of its number that the kernel freed late: maybe one that ended before the
 * recording. Exits from before the window of a flight recorder have no such switch: the state has
 * not seen the thread on a CPU then.
 */
static bool is_of_earlier(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns)
{
	return thread->sched_state != SCHED_DEAD && !(thread->flags & THREAD_FILTERED) &&
	       (!(thread->flags & THREAD_EXITING) || thread->is_dying) &&
	       trace_analysis_recorded(a, TRACE_EV_sched_exit) == TRACE_RECORDED_ALWAYS &&
	       trace_analysis_recorded(a, TRACE_EV_sched_switch) == TRACE_RECORDED_ALWAYS &&
	       gap_log_first_loss(&a->gaps, thread->start_ns, ns + 1) == UINT64_MAX;
}

/*
 * The number may be reused from now on, if it is not reused already. If the state has the thread as
 * living, its death was not recorded.
 */
void on_sched_free(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_free *free_event = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, free_event->tid);

	if (!thread)
		return;
	if (thread->unfreed > 0) {
		thread->unfreed--;
		return;
	}
	if (is_of_earlier(a, thread, ns))
		return;
	thread->unfreed = -1;
	if (thread->sched_state == SCHED_DEAD)
		return;
	if (thread->sched_state == SCHED_ON_CPU)
		thread_found_on_cpu(a, thread, ns);
	thread_end(a, thread, ns);
}

void on_sched_comm(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_comm *name = event->payload;
	struct trace_thread *thread;
	char comm[16] = "";

	if (is_thread(cpu, cpu->current) && cpu->current->tid != name->tid)
		thread_note_exchange(a, cpu->current, name->tid);
	thread = thread_find(&a->threads, name->tid);
	if (!thread || thread->sched_state == SCHED_DEAD)
		return;
	strncpy(comm, trace_event_string(event), sizeof(comm) - 1);
	if ((!thread->process->comm[0] && !thread->process->is_renamed) || thread->process->identities ||
	    (frame_syscall(thread) && frame_class(a, frame_syscall(thread)) != CALL_EXEC))
		identity_rename(a, thread, ns, comm);
	process_set_comm(a, thread, comm);
	thread->process->is_renamed &= !thread->process->comm[0];
	if (!(thread->flags & THREAD_IO_WORKER) || thread != cpu->current)
		return;
	/* it was created in its submitter's call, and is in no call from now on */
	acct_cpu(a, cpu, ns);
	frames_pop(a, thread, ns, 0, 0);
}
