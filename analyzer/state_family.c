/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_family.c - parents and children of processes
 *
 * When the last thread of a process exits, the kernel gives its living children a new parent, their
 * reaper: the nearest ancestor that is a subreaper, or init of the pid namespace. The recorder has
 * the kernel's choice in sched_adopt. A thread that exits while others of its process live leaves
 * its children to them: the parent process stays the same.
 *
 * sched_adopt comes when the exit begins. The kernel releases memory and files then, and the
 * children are those of the old parent meanwhile: it is the one that their ends wake. They get the
 * new one at the end of the exit. The evidence is the signal to the parent of the process, which
 * the kernel sends when all threads have passed their children on; without it, the last switch of
 * the thread that forked the child. A child that exits tells its parent, too: it sends the signal
 * to that process.
 *
 * That switch is late if the thread is preempted right after it has passed its children on: no
 * event tells that moment, so the children keep the old parent until then.
 *
 * Example: 10 begins to exit at 3 ms, and sched_adopt says that 5 is the reaper. 10 releases 2 GB
 * until 90 ms, when it sends SIGCHLD to its parent. Its child 20 has the parent 10 until 90 ms, and
 * 5 from then on. A child that ends at 50 ms was never one of 5.
 *
 * Traces of older recorders have no sched_adopt. Their processes keep the parent of their birth. In
 * other traces a process that has ended with living children left them to a process that a lost
 * event told. Their parent is unknown from then on, until sched_ids tells it.
 *
 * The starter of a process is the first parent that the events tell of it. An adoption does not
 * change it, so it still leads from the processes of a script to the script, which has ended.
 */
#include "state.h"
#include "state_family.h"
#include "state_identity.h"

#define MAX_ANCESTORS 64

static void unlink_child(struct trace_process *process)
{
	if (!process->parent)
		return;
	*process->sibling_at = process->next_sibling;
	if (process->next_sibling)
		process->next_sibling->sibling_at = process->sibling_at;
	process->parent = process->next_sibling = NULL;
	process->sibling_at = NULL;
}

static void link_child(struct trace_process *process, struct trace_process *parent)
{
	unlink_child(process);
	if (!parent || parent == process)
		return;
	process->parent = parent;
	process->next_sibling = parent->children;
	process->sibling_at = &parent->children;
	if (parent->children)
		parent->children->sibling_at = &process->next_sibling;
	parent->children = process;
}

void family_join(struct trace_analysis *a, struct trace_process *process)
{
	link_child(process, process_find(&a->threads, process->ppid));
	if (!process->starter)
		process->starter = process->parent;
}

/*
 * The children that the recorder read before the end of @process have its pid as their parent's.
 */
void family_found(struct trace_analysis *a, struct trace_process *process)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; a->threads.nr_fatherless && i < a->threads.nr_processes; i++) {
		struct trace_process *child = a->threads.processes[i];

		if (child->ppid != process->pid || child->parent || child == process)
			continue;
		family_join(a, child);
		a->threads.nr_fatherless--;
	}
}

void family_forget(struct trace_process *process)
{
	unlink_child(process);
	process->ppid = 0;
	process->is_adopted = true;
}

/* ---- the end of a parent ---- */

/* A process that has ended adopts none: its own heir does. Returns 0 if that is not known. */
static uint32_t living_heir(struct trace_analysis *a, uint32_t heir)
{
	for (int i = 0; i < MAX_ANCESTORS; i++) {
		const struct trace_process *process = process_find(&a->threads, heir);

		if (!process || process->nr_living || !process->nr_threads)
			return heir;
		heir = process->heir;
	}
	return 0;
}

/* @heir: 0: not known */
static void pass_child(struct trace_analysis *a, struct trace_process *child, uint64_t ns, uint32_t heir)
{
	struct identity now = identity_of(child);

	now.ppid = heir;
	identity_change(a, child, ns, &now);
	link_child(child, process_find(&a->threads, heir));
	child->is_orphan = !heir;
	child->forked_by = 0;
}

static bool is_thread_of(const struct trace_analysis *a, uint32_t tid, const struct trace_process *process)
{
	const struct trace_thread *thread = thread_find(&a->threads, tid);

	return thread && thread->process == process && thread->sched_state != SCHED_DEAD;
}

/* The first thread that has not ended. It has the children of those that have. */
static const struct trace_thread *first_thread(const struct trace_process *process)
{
	const struct trace_thread *first = process->first;

	while (first && first->sched_state == SCHED_DEAD)
		first = first->next;
	return first;
}

/* A process with a known heir exits: sched_adopt comes when its last thread has begun to. */
void family_thread_ends(struct trace_analysis *a, const struct trace_thread *thread, uint64_t ns)
{
	const struct trace_process *process = thread->process;
	struct trace_process *child, *next;
	bool is_first;
	uint32_t heir;

	if (!process->heir)
		return;
	is_first = first_thread(process) == thread;
	heir = living_heir(a, process->heir);
	for (child = process->children; child; child = next) {
		next = child->next_sibling;
		if (child->nr_living &&
		    (child->forked_by == thread->tid || (is_first && !is_thread_of(a, child->forked_by, process))))
			pass_child(a, child, ns, heir);
	}
}

void family_adopted(struct trace_analysis *a, struct trace_process *process, uint64_t ns, uint32_t ppid)
{
	struct identity now = identity_of(process);

	now.ppid = ppid;
	identity_change(a, process, ns, &now);
	process->is_orphan = false;
	family_join(a, process);
}

void family_leave(struct trace_process *process)
{
	unlink_child(process);
	while (process->children)
		unlink_child(process->children);
}

static void pass_children(struct trace_analysis *a, struct trace_process *process, uint64_t ns, uint32_t heir)
{
	struct trace_process *child, *next;

	for (child = process->children; child; child = next) {
		next = child->next_sibling;
		if (child->nr_living)
			pass_child(a, child, ns, heir);
	}
}

/*
 * The signal goes to the parent when no other thread is left. An exiting thread also sends it for
 * its ended children, to their new parent; so if that is the same process, the other threads may
 * have children still.
 */
void family_signalled(struct trace_analysis *a, const struct trace_thread *thread, const struct trace_process *to,
		      uint64_t ns)
{
	struct trace_process *process = thread->process, *parent = process->parent;

	if (parent && to->pid == parent->heir)
		pass_child(a, process, ns, to->pid);
	if (to == parent && process->heir && to->pid != process->heir)
		pass_children(a, process, ns, living_heir(a, process->heir));
	else
		family_thread_ends(a, thread, ns);
}

void family_end(struct trace_analysis *a, struct trace_process *process, uint64_t ns)
{
	if (!process->children || !a->handlers[TRACE_EV_sched_adopt] ||
	    (!process->heir && trace_analysis_recorded(a, TRACE_EV_sched_adopt) != TRACE_RECORDED_ALWAYS))
		return;
	pass_children(a, process, ns, living_heir(a, process->heir));
}

/* Does the trace have the end of a thread of @process? */
static bool has_an_end(const struct trace_process *process)
{
	for (const struct trace_thread *thread = process->first; thread; thread = thread->next)
		if (thread->sched_state != SCHED_DEAD && !(thread->flags & THREAD_FILTERED))
			return true;
	return false;
}

void on_sched_adopt(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_adopt *adopt = event->payload;
	struct trace_process *parent = process_find(&a->threads, adopt->parent);

	if (!parent)
		return;
	parent->heir = adopt->reaper;
	if (!has_an_end(parent))
		pass_children(a, parent, ns, adopt->reaper);
}

/* ---- results ---- */

const struct trace_process *trace_process_starter(const struct trace_process *process)
{
	return process->starter;
}
