/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_args.c - arguments and titles of processes
 *
 * A fork copies them, an exec replaces them. A program may write a title over its arguments at any
 * time, without an event: the recorder reads such titles at the start and at the end. The title at
 * the end belongs to the process that has the number then, so it waits for the end of the pass.
 */
#include "state_args.h"

#include <string.h>
#include "program_title.h"
#include "start_reads.h"
#include "state.h"

struct late_args {
	uint64_t key; /* pid + 1 */
	uint64_t args;
	uint64_t is_cut;
};

static void args_put(struct trace_analysis *a, struct trace_process *process, const char *args, bool is_cut)
{
	char title[PROGRAM_TITLE_BYTES];

	process->args = strings_intern(&a->strings, args);
	process->args_cut = is_cut;
	process->title = program_title(args, is_cut, process->comm, title) ? strings_intern(&a->strings, title) : 0;
}

void args_inherit(struct trace_process *child, const struct trace_process *parent)
{
	child->args = parent->args;
	child->args_cut = parent->args_cut;
	child->title = parent->title;
}

void args_forget(struct trace_process *process)
{
	process->args = process->title = 0;
	process->args_cut = false;
}

void on_sched_args(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_args *args = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, args->tid);
	const char *text = trace_event_string(event);

	if (thread && thread->sched_state != SCHED_DEAD)
		args_put(a, thread->process, text, args->bytes > strlen(text));
}

void args_load(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_start_args *start = event->payload;
	struct trace_process *process = process_find(&a->threads, start->tgid);
	const char *text = trace_event_string(event);
	bool is_cut = start->bytes > strlen(text);
	struct late_args *late;

	if (process && (!process->args || a->restart.since_ns)) { /* the start, or after a pause */
		args_put(a, process, text, is_cut);
		start_read_args(a, process->pid, event->ts_ns);
		return;
	}
	late = acct_row(a, &a->late_args, sizeof(*late), start->tgid + 1ull);
	late->args = strings_intern(&a->strings, text);
	late->is_cut = is_cut;
}

void args_end(struct trace_analysis *a)
{
	for (uint32_t i = NR_PSEUDO_PROCESSES; a->late_args.used && i < a->threads.nr_processes; i++) {
		struct trace_process *process = a->threads.processes[i];
		const struct late_args *late = table_find(&a->late_args, sizeof(*late), process->pid + 1ull);

		if (late && process->nr_living && process == process_find(&a->threads, process->pid))
			args_put(a, process, strings_text(&a->strings, (string_id)late->args), late->is_cut);
	}
}

/* ---- results ---- */

const char *trace_process_title(const struct trace_process *process)
{
	return process->title ? strings_text(process->strings, process->title) : process->comm;
}

const char *trace_process_args(const struct trace_process *process)
{
	return strings_text(process->strings, process->args);
}

bool trace_process_args_are_cut(const struct trace_process *process)
{
	return process->args_cut;
}

bool trace_process_is_called(const struct trace_process *process, const char *name)
{
	return program_is_called(trace_process_args(process), process->args_cut, process->comm, name);
}
