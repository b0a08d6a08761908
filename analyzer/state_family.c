/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_family.c - parents and children of processes
 *
 * When the last thread of a process exits, the kernel gives its living children a new parent: the
 * nearest ancestor that is a subreaper, or init of the pid namespace. The recorder has the kernel's
 * choice in sched_adopt. A thread that exits while others of its process live leaves its children
 * to them: the parent process stays the same.
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

void family_end(struct trace_analysis *a, struct trace_process *process, uint64_t ns)
{
	struct trace_process *child, *next;
	struct identity now;

	if (!process->children || !a->handlers[TRACE_EV_sched_adopt] ||
	    trace_analysis_recorded(a, TRACE_EV_sched_adopt) != TRACE_RECORDED_ALWAYS)
		return;
	for (child = process->children; child; child = next) {
		next = child->next_sibling;
		if (!child->nr_living)
			continue;
		now = identity_of(child);
		now.ppid = 0;
		identity_change(a, child, ns, &now);
		unlink_child(child);
		child->is_orphan = true;
	}
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
		now = identity_of(child);
		now.ppid = adopt->reaper;
		identity_change(a, child, ns, &now);
		link_child(child, reaper);
	}
}

/* ---- results ---- */

const struct trace_process *trace_process_starter(const struct trace_process *process)
{
	return process->starter;
}
