/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* thread_names.c - the process and the name of each thread, from the events that change them. */
#include <string.h>
#include "checked_memory.h"
#include "losses.h"
#include "thread_names.h"

static void name_set(struct thread_name *row, const char *comm)
{
	size_t bytes = strnlen(comm, sizeof(row->comm) - 1);

	memcpy(row->comm, comm, bytes);
	memset(row->comm + bytes, 0, sizeof(row->comm) - bytes);
}

static struct thread_name *row_of(struct thread_names *names, uint32_t tid)
{
	return memory_row(&names->rows, sizeof(struct thread_name), tid + 1ull);
}

static void note_start(struct thread_names *names, const struct trace_event *event)
{
	const struct trace_start_thread *start = event->payload;
	struct thread_name *row = row_of(names, start->tid);

	row->pid = start->tgid;
	name_set(row, trace_event_string(event));
}

static void note_fork(struct thread_names *names, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	struct thread_name *row = row_of(names, fork->tid);

	row->pid = fork->tgid;
	name_set(row, trace_event_string(event));
}

bool thread_names_note(struct thread_names *names, const struct trace_event *event)
{
	switch (event->id) {
	case TRACE_EV_start_thread:
		if (event->type->fixed_bytes < offsetof(struct trace_start_thread, tgid) + 4)
			return false;
		note_start(names, event);
		return true;
	case TRACE_EV_sched_fork:
		if (event->type->fixed_bytes < offsetof(struct trace_sched_fork, tgid) + 4)
			return false;
		note_fork(names, event);
		return true;
	case TRACE_EV_sched_comm:
		if (event->type->fixed_bytes < offsetof(struct trace_sched_comm, tid) + 4)
			return false;
		name_set(row_of(names, ((const struct trace_sched_comm *)event->payload)->tid),
			 trace_event_string(event));
		return true;
	default:
		return false;
	}
}

static void note_all(struct thread_names *names, const struct trace *trace, const struct trace_cursor_options *options)
{
	struct trace_cursor *cursor = pass_cursor(trace, options);
	const struct trace_event *event;

	while ((event = trace_cursor_next(cursor)))
		thread_names_note(names, event);
	events_pass_end(cursor, true);
}

void thread_names_begin(struct thread_names *names, const struct trace *trace, uint64_t from_ns)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options start = {.size = sizeof(start), .start_state = true},
				    before = {.size = sizeof(before), .to_ns = from_ns, .mask = mask, .no_lost = true};

	mask[TRACE_EV_sched_fork / 64] |= 1ull << TRACE_EV_sched_fork % 64;
	mask[TRACE_EV_sched_comm / 64] |= 1ull << TRACE_EV_sched_comm % 64;
	note_all(names, trace, &start);
	if (from_ns)
		note_all(names, trace, &before);
}

const struct thread_name *thread_names_find(const struct thread_names *names, uint32_t tid)
{
	return table_find(&names->rows, sizeof(struct thread_name), tid + 1ull);
}

void thread_names_release(struct thread_names *names)
{
	table_clear(&names->rows);
}
