/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locks.c - the locks that processes waited for, and the processes that held them.
 *
 * There is one row for each combination of a lock, a process that waited, and a process that ended
 * the wait. If two have the same hash, the second one takes the next key.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "locks.h"
#include "sort.h"
#include "state.h"
#include "wait_cause.h"

static bool is_row(const struct lock_row *row, const struct lock_row *wanted)
{
	return row->subject == wanted->subject && row->waiter == wanted->waiter && row->holder == wanted->holder &&
	       row->via == wanted->via;
}

/*
 * The name of a semaphore set of System V. The number within the set is in the memory of the
 * program. In ipc() of 32-bit programs the call number precedes the set.
 */
static string_id semaphore_name(struct trace_analysis *a, const struct frame *frame)
{
	bool is_ipc = strcmp(strings_text(&a->strings, a->calls[frame->call].name), "ipc") == 0;
	char text[32];

	snprintf(text, sizeof(text), "semaphore %d", (int)frame->args[is_ipc ? 1 : 0]);
	return strings_intern(&a->strings, text);
}

void lock_waited(struct trace_analysis *a, const struct trace_thread *thread, const struct wait_cause *v, uint64_t ns)
{
	const struct frame *frame = thread->depth ? &thread->frames[0] : NULL;
	struct lock_row wanted = {.waiter = thread->process->idx, .holder = wait_process(a, v)->idx, .via = v->via},
			*row;
	uint64_t key;

	if (!frame || frame->kind != FRAME_SYSCALL)
		return;
	if (v->has_path)
		wanted.subject = wait_path(a, v);
	else if (v->via == VIA_SEMAPHORE)
		wanted.subject = semaphore_name(a, frame);
	else
		wanted.subject = v->via == VIA_FUTEX ? frame->args[0] : file_path(a, frame->file);
	key = hash_u64(wanted.subject ^ hash_u64((uint64_t)wanted.waiter << 32 | wanted.holder) ^ wanted.via << 60);
	for (;; key++) {
		key += !key;
		row = acct_row(a, &a->locks, sizeof(*row), key);
		if (a->failed)
			return;
		if (!row->count) {
			row->subject = wanted.subject;
			row->waiter = wanted.waiter;
			row->holder = wanted.holder;
			row->via = wanted.via;
		}
		if (is_row(row, &wanted))
			break;
	}
	row->ns += ns;
	row->count++;
}

/* Equal times are ordered by address and path, so that a report is the same every time. */
static int order(const void *left, const void *right)
{
	const struct trace_lock_wait *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	if (l->address != r->address)
		return l->address < r->address ? -1 : 1;
	return strcmp(l->path, r->path);
}

struct trace_lock_wait *trace_lock_waits(const struct trace_analysis *a, size_t *ret_nr)
{
	struct trace_lock_wait *list = calloc(a->locks.used + 1, sizeof(*list)), *at = list;

	for (const struct lock_row *row = NULL; list && (row = table_next(&a->locks, sizeof(*row), row)); at++)
		*at = (struct trace_lock_wait){
			.waiter = a->threads.processes[row->waiter],
			.holder = a->threads.processes[row->holder],
			.via = via_name((enum via)row->via),
			.path = row->via == VIA_FUTEX ? "" : strings_text(&a->strings, (string_id)row->subject),
			.address = row->via == VIA_FUTEX ? row->subject : 0,
			.ns = row->ns,
			.count = row->count,
		};
	if (list && sort_rows(list, *ret_nr = (size_t)(at - list), sizeof(*list), order))
		return list;
	free(list);
	return NULL;
}
