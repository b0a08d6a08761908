/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_family.c - parents and children of processes
 *
 * When the last thread of a process exits, the kernel gives its living children a new parent: the
 * nearest ancestor that is a subreaper, or init of the pid namespace. The recorder has the kernel's
 * choice in sched_adopt. A thread that exits while others of its process live leaves its children
 * to them: the parent process stays the same.
 *
 * Traces of older recorders have no sched_adopt. Their processes keep the parent of their birth.
 */
#include <errno.h>
#include <inttypes.h>
#include "error_set.h"
#include "state.h"
#include "state_family.h"
#include "state_identity.h"

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
	struct trace_process *parent = process->ppid ? process_find(&a->threads, process->ppid) : NULL;

	if (parent != process->parent)
		link_child(process, parent);
}

void family_leave(struct trace_process *process)
{
	unlink_child(process);
	while (process->children)
		unlink_child(process->children);
}

/* ---- violations ---- */

/* When @process ended; 0: it lives, or ended without an event. */
static uint64_t ended_at(const struct trace_process *process)
{
	uint64_t end = 0;

	for (const struct trace_thread *thread = process->first; thread; thread = thread->next) {
		if (thread->sched_state != SCHED_DEAD || !(thread->flags & THREAD_EXITING))
			return 0;
		end = thread->end_ns > end ? thread->end_ns : end;
	}
	return end;
}

/* Is the rule asked for, and everything recorded that could explain a dead parent? */
static bool sees_all(const struct trace_analysis *a)
{
	return a->rules && !a->filter.is_on && !a->gaps.nr_losses && !a->gaps.nr_late_losses && !a->inconsistencies;
}

static void note_violation(struct trace_analysis *a, uint64_t ns, uint32_t pid, uint32_t parent)
{
	if (!a->family.ns)
		a->family = (struct family_violation){.ns = ns, .pid = pid, .parent = parent};
}

void family_check_fork(struct trace_analysis *a, uint32_t pid, uint32_t parent_pid, uint64_t ns)
{
	if (sees_all(a))
		note_violation(a, ns, pid, parent_pid);
}

void on_sched_adopt(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_adopt *adopt = event->payload;
	struct trace_process *parent = process_find(&a->threads, adopt->parent),
			     *reaper = process_find(&a->threads, adopt->reaper), *child, *next;
	struct identity now;

	for (child = parent ? parent->children : NULL; child; child = next) {
		next = child->next_sibling;
		if (!child->nr_living)
			continue;
		if (reaper && ended_at(reaper) && sees_all(a))
			note_violation(a, ns, child->pid, adopt->reaper);
		now = identity_of(child);
		now.ppid = adopt->reaper;
		identity_change(a, child, ns, &now);
		link_child(child, reaper);
	}
}

int family_verify(const struct trace_analysis *a, struct trace_error *ret_error)
{
	struct family_violation found = a->family;
	bool always = trace_analysis_recorded(a, TRACE_EV_sched_adopt) == TRACE_RECORDED_ALWAYS &&
		      a->handlers[TRACE_EV_sched_adopt];

	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes && !found.ns && always && sees_all(a); i++) {
		const struct trace_process *child = a->threads.processes[i];

		if (child->nr_living && child->parent && ended_at(child->parent))
			found = (struct family_violation){ended_at(child->parent), child->pid, child->parent->pid};
	}
	if (!found.ns)
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "process %u: its parent, process %u, has ended at %" PRIu64
			 " ns, and no other process has adopted it",
			 found.pid, found.parent, found.ns);
}
