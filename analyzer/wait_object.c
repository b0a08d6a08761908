/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_object.c - the objects of waits: a process with a thread, a path, or both */
#include <errno.h>
#include <stdlib.h>
#include "state.h"
#include "wait_object.h"

/*
 * So many threads of a process are told apart, the first ones that another of its threads waited
 * for. Waits for the others have one row.
 */
#define THREADS_TOLD 256u

struct object_row {
	/* process << 32 | path, no process has the index 0; by_thread: path << 32 | thread + 1 */
	uint64_t key;
	uint64_t idx;
};

static uint32_t object_new(struct trace_analysis *a, struct wait_object object)
{
	struct wait_objects *objects = &a->wait_objects;
	struct wait_object *bigger;

	if (objects->nr >= objects->max) {
		uint32_t max = objects->max ? objects->max * 2 : 64;

		bigger = reallocarray(objects->list, max, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return 0;
		}
		objects->list = bigger;
		objects->max = max;
	}
	if (!objects->nr) /* number 0 also is the object of causes that memory ran out for */
		objects->list[objects->nr++] = (struct wait_object){.process = PROCESS_UNKNOWN};
	objects->list[objects->nr] = object;
	return objects->nr++;
}

struct wait_cause wait_cause_with_path(struct trace_analysis *a, struct wait_cause v, string_id path)
{
	struct object_row *row;

	if (v.kind != TRACE_WAIT_PROCESS || v.has_path || !path)
		return v;
	row = acct_row(a, &a->wait_objects.by_pair, sizeof(*row), (uint64_t)v.target << 32 | path);
	if (a->failed)
		return v;
	if (!row->idx)
		row->idx = object_new(a, (struct wait_object){.process = v.target, .path = path});
	if (a->failed)
		return v;
	v.target = (uint32_t)row->idx;
	v.has_path = true;
	return v;
}

/* The row of a wait for @waker, on @path; NULL: too many threads, or out of memory */
static struct object_row *thread_row(struct trace_analysis *a, string_id path, const struct trace_thread *waker)
{
	uint64_t key = (uint64_t)path << 32 | (waker->idx + 1ull);
	struct object_row *row = table_find(&a->wait_objects.by_thread, sizeof(*row), key);

	if (row)
		return row;
	if (waker->process->nr_told >= THREADS_TOLD)
		return NULL;
	row = acct_row(a, &a->wait_objects.by_thread, sizeof(*row), key);
	if (a->failed)
		return NULL;
	row->idx = object_new(a, (struct wait_object){.process = waker->process->idx, .path = path, .thread = waker});
	waker->process->nr_told++;
	return a->failed ? NULL : row;
}

struct wait_cause wait_cause_with_thread(struct trace_analysis *a, struct wait_cause v,
					 const struct trace_thread *waiter, const struct trace_thread *waker)
{
	string_id path = wait_path(a, &v);
	struct object_row *row;

	if (v.kind != TRACE_WAIT_PROCESS || !waker || waker == waiter || waker->process != waiter->process ||
	    waker->process != wait_process(a, &v))
		return v;
	row = thread_row(a, path, waker);
	if (!row)
		return v;
	v.target = (uint32_t)row->idx;
	v.has_path = true;
	return v;
}

const struct trace_thread *wait_thread(const struct trace_analysis *a, const struct wait_cause *v)
{
	return v->has_path ? a->wait_objects.list[v->target].thread : NULL;
}

const struct trace_thread *wait_thread_now(const struct trace_analysis *a)
{
	struct wait_cause cause = wait_of_key(a->hooks.wait_key);

	return a->hooks.wait_key && cause.kind == TRACE_WAIT_PROCESS ? wait_thread(a, &cause) : NULL;
}

struct trace_process *wait_process(const struct trace_analysis *a, const struct wait_cause *v)
{
	if (v->has_path)
		return a->threads.processes[a->wait_objects.list[v->target].process];
	if (v->kind == TRACE_WAIT_PROCESS || (v->kind == TRACE_WAIT_STOPPED && v->target))
		return a->threads.processes[v->target];
	return NULL;
}

string_id wait_path(const struct trace_analysis *a, const struct wait_cause *v)
{
	return v->has_path ? a->wait_objects.list[v->target].path : 0;
}

const char *wait_target(const struct trace_analysis *a, const struct wait_cause *v)
{
	const struct trace_process *process = wait_process(a, v);

	return process ? trace_process_title(process)
		       : strings_text(&a->strings, v->kind == TRACE_WAIT_STOPPED ? 0 : v->target);
}

void wait_objects_clear(struct wait_objects *objects)
{
	free(objects->list);
	table_clear(&objects->by_pair);
	table_clear(&objects->by_thread);
}
