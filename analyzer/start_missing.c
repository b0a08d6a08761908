/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_missing.c - threads of the start that ended before the recorder read them
 *
 * The recorder reads one thread after the other. A thread that ends before its turn has no record,
 * and its fork came before the recording. Its exit tells that it was there, and in which process.
 * So does the exec of a thread that is not the leader: it gets the leader's number, and its own
 * number is gone. If it has that number from its first event on, sched_exec ends the thread that is
 * added for the old one (state_life.c).
 *
 * Example: the trace begins at 0 ms. Process 70 sleeps, wakes at 3 ms, and exits at 4 ms. The
 * recorder reads process 80 at 2 ms and would read 70 at 5 ms. Process 70 has slept since 0 ms, and
 * it is the parent that the record of 80 tells.
 *
 * In a flight recorder, whose state is read at the end, this is so for each thread that was born
 * before the window and ended in it.
 */
#include "start_missing.h"

#include <errno.h>
#include <stdlib.h>
#include "sort.h"
#include "state.h"
#include "state_directory.h"
#include "state_family.h"

struct end_row {
	uint64_t key; /* tid + 1 */
	uint64_t tgid;
};

void missing_end(struct trace_analysis *a, struct start_missing *missing, uint32_t tid, uint32_t tgid)
{
	struct end_row *row = tid && tid < MAX_TID && tgid && !a->filter.is_on
				      ? acct_row(a, &missing->ends, sizeof(*row), tid + 1ull)
				      : NULL;

	if (row) /* a second one of that number has a fork, and does not come here */
		row->tgid = tgid;
}

static void add_one(struct trace_analysis *a, uint32_t tid, uint32_t tgid)
{
	struct trace_process *process = process_get(a, tgid);
	struct trace_thread *owner = process ? process_owner(&a->threads, process) : NULL, *thread;

	thread = process ? thread_new(a, tid, process, a->start_ns) : NULL;
	if (!thread)
		return;
	thread->sched_state = SCHED_OFF_AT_START;
	thread->fds = owner ? fds_ref(owner->fds) : fds_copy(a, NULL);
	thread->memory = owner ? memory_ref(owner->memory) : memory_new(a);
	thread->directories = owner ? directories_ref(owner->directories) : directories_new(a);
	thread_mode_unknown(thread, a->start_ns);
	if (!owner)
		family_found(a, process);
}

static int by_key(const void *left, const void *right)
{
	const struct end_row *l = left, *r = right;

	return l->key < r->key ? -1 : l->key > r->key;
}

void missing_add(struct trace_analysis *a, struct start_missing *missing)
{
	struct end_row *rows = calloc(missing->ends.used + 1, sizeof(*rows));
	const struct trace_thread *known;
	size_t nr = 0;

	if (!rows)
		a->failed = -ENOMEM;
	for (const struct end_row *row = NULL; rows && (row = table_next(&missing->ends, sizeof(*row), row));)
		rows[nr++] = *row;
	if (nr && !sort_rows(rows, nr, sizeof(*rows), by_key))
		a->failed = -ENOMEM;
	for (size_t i = 0; i < nr && !a->failed; i++) {
		known = thread_find(&a->threads, (uint32_t)(rows[i].key - 1));
		if (!known || known->sched_state == SCHED_DEAD)
			add_one(a, (uint32_t)(rows[i].key - 1), (uint32_t)rows[i].tgid);
	}
	free(rows);
	table_clear(&missing->ends);
}
