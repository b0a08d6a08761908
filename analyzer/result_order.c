/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "result_order.h"

#include "state.h"

int by_process(const struct trace_process *left, const struct trace_process *right)
{
	return ascending(left ? left->idx + 1ull : 0, right ? right->idx + 1ull : 0);
}

int by_thread(const struct trace_thread *left, const struct trace_thread *right)
{
	return ascending(left ? left->idx + 1ull : 0, right ? right->idx + 1ull : 0);
}

int order_waits(const void *left, const void *right)
{
	const struct trace_wait *l = left, *r = right;
	int difference = descending(l->ns, r->ns);

	difference = difference ?: strcmp(l->target, r->target);
	difference = difference ?: ascending(l->kind, r->kind);
	difference = difference ?: ascending(l->pid, r->pid);
	difference = difference ?: strcmp(l->via, r->via);
	difference = difference ?: strcmp(l->path, r->path);
	difference = difference ?: by_thread(l->thread, r->thread);
	difference = difference ?: l->idle - r->idle;
	difference = difference ?: descending(l->count, r->count);
	return difference ?: strcmp(l->comm, r->comm);
}
