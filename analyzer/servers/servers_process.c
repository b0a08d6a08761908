/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_process.c - the processes that may serve, or send to a server */
#include <errno.h>
#include <stdlib.h>
#include "servers_state.h"

struct servers_process *servers_process_of(struct trace_servers *s, const struct trace_process *process)
{
	struct servers_row *row = table_add(&s->processes.by_pointer, sizeof(*row), (uintptr_t)process);
	struct servers_process **bigger, *made;

	if (row && row->pointer)
		return row->pointer;
	made = row ? calloc(1, sizeof(*made)) : NULL;
	bigger = made ? reallocarray(s->processes.by_idx, s->processes.nr + 1, sizeof(struct servers_process *)) : NULL;
	if (!bigger) {
		free(made);
		s->failed = -ENOMEM;
		return NULL;
	}
	s->processes.by_idx = bigger;
	made->process = process;
	made->idx = s->processes.nr;
	s->processes.by_idx[s->processes.nr++] = made;
	row->pointer = made;
	return made;
}

struct servers_process *servers_process_by_pid(struct trace_servers *s, uint32_t pid)
{
	const struct trace_thread *leader = trace_find_thread(s->analysis, pid);

	return leader && !trace_thread_is_kernel(leader) ? servers_process_of(s, trace_thread_process(leader)) : NULL;
}

bool process_is_server(const struct servers_process *process)
{
	return process->accepted || process->answered;
}

void servers_processes_free(struct servers_processes *processes)
{
	for (uint32_t i = 0; i < processes->nr; i++) {
		set_unref(processes->by_idx[i]->pending);
		table_clear(&processes->by_idx[i]->bills);
		free(processes->by_idx[i]->proofs);
		free(processes->by_idx[i]);
	}
	free(processes->by_idx);
	table_clear(&processes->by_pointer);
}

static bool is_same_futex(uint64_t one, uint64_t other)
{
	return one + 4 - other <= 8; /* see futexes_have() */
}

void process_may_cross(struct servers_process *process, uint64_t futex)
{
	if (process->crosses)
		return;
	for (uint32_t i = 0; i < process->nr_suspects; i++)
		if (process->suspects[i] == futex)
			return;
	if (futex && process->nr_suspects < NR_SUSPECTS)
		process->suspects[process->nr_suspects++] = futex;
	else
		process->crosses = true;
}

void process_learn_lock(struct servers_process *process, uint64_t futex)
{
	uint32_t nr = 0;

	futexes_add(&process->locks, futex);
	for (uint32_t i = 0; i < process->nr_suspects; i++)
		if (!is_same_futex(process->suspects[i], futex))
			process->suspects[nr++] = process->suspects[i];
	process->nr_suspects = (uint8_t)nr;
}
