/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_parents.c - parents of the start state that may have adopted their children before it was
 * read
 *
 * sched_adopt tells a reaper, and the process that leaves it its children, but not these. The
 * start state that is read later has the reaper as their parent, as it has for the children that
 * were always its own. So the parent of each of them is unknown until the last adoption by that
 * reaper before the reading.
 *
 * Example: 5 is a subreaper, and 20 is a child of 10. Process 10 ends at 3 ms, and 5 adopts its
 * children. Process 5 also adopts those of 11 at 4 ms. The recorder reads "20: parent 5" at 7 ms.
 * The parent of 20 is unknown until 4 ms, and 5 from then on.
 *
 * A process that was forked in the trace leaves no older processes, unless it adopted some itself.
 * Without this rule, each shell that leaves a process in the background would make the parents of
 * all daemons unknown. The fork of a process tells its parent, so nothing is unknown of that.
 */
#include "start_parents.h"

#include <trace/events.h>
#include "kernel_numbers.h"
#include "start_later.h"
#include "start_reads.h"
#include "state.h"
#include "state_family.h"

/* A process that was forked in the pass. */
struct born_row {
	uint64_t key;	 /* pid + 1 */
	uint64_t adopts; /* it may have children from before the trace */
};

void start_parents_fork(struct trace_analysis *a, struct start_parents *parents, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	struct born_row *born;
	struct read_row *read;

	if (fork->clone_flags & LINUX_CLONE_THREAD)
		return;
	born = acct_row(a, &parents->born, sizeof(*born), fork->tid + 1ull);
	born->adopts = false;
	read = read_parent(a->reads, fork->tid);
	if (!read || event->ts_ns > read->read_ns)
		return;
	read->read_ns = 0;
	read->changed_ns = NO_CHANGE;
}

/* May @parent have children that are in the start state, and that no fork in the trace tells? */
static bool has_older_children(const struct start_parents *parents, uint32_t parent)
{
	const struct born_row *born = table_find(&parents->born, sizeof(*born), parent + 1ull);

	return !born || born->adopts;
}

void start_parents_adopt(struct trace_analysis *a, struct start_parents *parents, const struct trace_event *event)
{
	const struct trace_sched_adopt *adopt = event->payload;
	const struct trace_process *reaper = process_find(&a->threads, adopt->reaper);
	struct born_row *born = table_find(&parents->born, sizeof(*born), adopt->reaper + 1ull);

	if (!has_older_children(parents, adopt->parent))
		return;
	if (born)
		born->adopts = true;
	for (const struct trace_process *child = reaper ? reaper->children : NULL; child; child = child->next_sibling)
		read_row_changes(a->reads, read_parent(a->reads, child->pid), event->ts_ns, false);
}

void start_parents_forget(struct trace_analysis *a)
{
	struct trace_process *process;

	for (const struct read_row *row = NULL; (row = table_next(&a->reads->parents, sizeof(*row), row));) {
		process = row->changed_ns == NO_CHANGE ? NULL : process_find(&a->threads, (uint32_t)(row->key - 1));
		if (!process)
			continue;
		later_add(a, &(struct later){.ns = row->changed_ns, .pid = process->pid, .ppid = process->ppid});
		family_forget(process);
	}
}

void start_parents_clear(struct start_parents *parents)
{
	table_clear(&parents->born);
}
