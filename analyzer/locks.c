/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * locks.c - the locks that processes waited for, and the processes that held them.
 *
 * There is one row for each combination of a lock, a thread that waited, and a thread that owned
 * the lock. If two have the same hash, the second one takes the next key. A wait that several
 * threads made longer, one after another, is in the row of each (lock_log.h).
 *
 * A join is no lock, and a pool's wait for its next job is none either: wait.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "locks.h"
#include "result_order.h"
#include "sort.h"
#include "state.h"
#include "wait_cause.h"
#include "window.h"

static bool is_row(const struct lock_row *row, const struct lock_row *wanted)
{
	return row->subject == wanted->subject && row->waiter == wanted->waiter && row->holder == wanted->holder &&
	       row->via == wanted->via && row->owner == wanted->owner;
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

void lock_waited(struct trace_analysis *a, const struct trace_thread *thread, const struct wait_cause *v,
		 const struct pending *wait)
{
	const struct trace_thread *owner = wait->waker.thread;
	uint64_t ns = wait->known_ns, count = 1;
	const struct frame *frame = thread->depth ? &thread->frames[0] : NULL;
	const struct trace_process *holder = wait_process(a, v);
	struct lock_row wanted = {.waiter = thread, .holder = holder->idx, .via = v->via}, *row;
	uint64_t key;

	/* a wakeup on behalf of another process does not show which of its threads */
	if (owner && owner->process == holder)
		wanted.owner = owner;

	if (!frame || frame->kind != FRAME_SYSCALL || !window_wait(a, wait, &ns, &count))
		return;
	if (v->has_path)
		wanted.subject = wait_path(a, v);
	else if (v->via == VIA_SEMAPHORE)
		wanted.subject = semaphore_name(a, frame);
	else if (v->via == VIA_FUTEX)
		/*
		 * futex_waitv(2) waits for several; without futex_woken it is not known for which
		 */
		wanted.subject = frame->args[0] == TRACE_ARG_ADDRESS ? 0 : frame->args[0];
	else
		wanted.subject = file_path(a, frame->file);
	key = hash_u64(wanted.subject ^ hash_u64((uint64_t)thread->idx << 32 | wanted.holder) ^ (uint64_t)v->via << 60);
	key = hash_u64(key ^ (uintptr_t)wanted.owner);
	for (;; key++) {
		key += !key;
		row = acct_row(a, &a->locks, sizeof(*row), key);
		if (a->failed)
			return;
		if (!row->waiter) {
			row->subject = wanted.subject;
			row->waiter = wanted.waiter;
			row->owner = wanted.owner;
			row->holder = wanted.holder;
			row->via = wanted.via;
		}
		if (is_row(row, &wanted))
			break;
	}
	row->ns += ns;
	row->count += count;
	if (a->hooks.tables)
		a->hooks.tables->lock(a->hooks.tables_data, row, wait->from, wait->to);
}

static int order(const void *left, const void *right)
{
	const struct trace_lock_wait *l = left, *r = right;
	int difference = descending(l->ns, r->ns);

	difference = difference ?: ascending(l->address, r->address);
	difference = difference ?: strcmp(l->path, r->path);
	difference = difference ?: ascending(l->waiter_thread->tid, r->waiter_thread->tid);
	difference = difference ?: by_thread(l->waiter_thread, r->waiter_thread);
	difference = difference ?: by_thread(l->holder_thread, r->holder_thread);
	difference = difference ?: by_process(l->holder, r->holder);
	difference = difference ?: strcmp(l->via, r->via);
	difference = difference ?: descending(l->count, r->count);
	return difference;
}

struct trace_lock_wait *lock_list(const struct trace_analysis *a, const struct hash_table *rows, size_t *ret_nr)
{
	struct trace_lock_wait *list = calloc(rows->used + 1, sizeof(*list)), *at = list;

	for (const struct lock_row *row = NULL; list && (row = table_next(rows, sizeof(*row), row)); at++)
		*at = (struct trace_lock_wait){
			.waiter = row->waiter->process,
			.holder = a->threads.processes[row->holder],
			.waiter_thread = row->waiter,
			.holder_thread = row->owner,
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

struct trace_lock_wait *trace_lock_waits(const struct trace_analysis *a, size_t *ret_nr)
{
	return lock_list(a, &a->locks, ret_nr);
}
