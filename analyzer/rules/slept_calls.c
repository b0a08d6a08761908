/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "slept_calls.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEPT 320u /* the analysis keeps fewer waits of a thread */

struct slept_thread {
	uint64_t key; /* trace_thread_index() + 1 */
	struct slept_call now;
	struct slept_call *kept; /* owned; calls with waits that are not reported yet, the oldest first */
	uint32_t nr_kept, room;
};

static struct slept_thread *row_of(const struct slept_calls *s, const struct trace_thread *thread)
{
	return table_find(&s->threads, sizeof(struct slept_thread), trace_thread_index(thread) + 1ull);
}

static bool is_reported(const struct slept_call *call)
{
	return call->nr_reported >= call->nr_slept;
}

static void drop_oldest(struct slept_thread *row, uint32_t nr)
{
	memmove(row->kept, row->kept + nr, (row->nr_kept - nr) * sizeof(*row->kept));
	row->nr_kept -= nr;
}

/* Without memory, or beyond MAX_KEPT, the waits of a call are not checked. */
static void keep_now(struct slept_thread *row)
{
	uint32_t room = row->room ? row->room * 2 : 4;
	struct slept_call *bigger;

	if (row->nr_kept == MAX_KEPT)
		drop_oldest(row, 1);
	if (row->nr_kept == row->room) {
		bigger = reallocarray(row->kept, room, sizeof(*bigger));
		if (!bigger)
			return;
		row->kept = bigger;
		row->room = room;
	}
	row->kept[row->nr_kept++] = row->now;
}

struct slept_call *slept_enter(struct slept_calls *s, const struct trace_thread *thread, uint64_t ns)
{
	struct slept_thread *row = table_add(&s->threads, sizeof(*row), trace_thread_index(thread) + 1ull);

	if (!row)
		return NULL;
	if (!is_reported(&row->now))
		keep_now(row);
	row->now = (struct slept_call){.enter_ns = ns};
	return &row->now;
}

struct slept_call *slept_now(const struct slept_calls *s, const struct trace_thread *thread)
{
	struct slept_thread *row = row_of(s, thread);

	return row ? &row->now : NULL;
}

void slept_exit(struct slept_calls *s, const struct trace_thread *thread, uint64_t ns)
{
	struct slept_thread *row = row_of(s, thread);

	if (row)
		row->now.exit_ns = ns;
}

const struct slept_call *slept_report(struct slept_calls *s, const struct trace_thread *thread, uint64_t from_ns)
{
	struct slept_thread *row = row_of(s, thread);
	struct slept_call *call = row ? &row->now : NULL;
	uint32_t nr_done = 0;

	/* calls that were reported are dropped here, so that the result may be one of them */
	while (row && nr_done < row->nr_kept && is_reported(&row->kept[nr_done]))
		nr_done++;
	if (nr_done)
		drop_oldest(row, nr_done);
	for (uint32_t i = row ? row->nr_kept : 0; call && call->enter_ns > from_ns; i--)
		call = i ? &row->kept[i - 1] : NULL;
	if (!call || (call->exit_ns && call->exit_ns <= from_ns))
		return NULL;
	call->nr_reported++;
	return call;
}

void slept_free(struct slept_calls *s)
{
	for (struct slept_thread *row = NULL; (row = table_next(&s->threads, sizeof(*row), row));)
		free(row->kept);
	table_clear(&s->threads);
}
