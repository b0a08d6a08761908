/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_wakers.h"

#include <errno.h>
#include <stdlib.h>
#include "array_room.h"

struct waker_row {
	uint64_t key; /* hash of the content; if it is in use, the next free number */
	uint32_t number;
};

/** struct woken_row - the last waker of a thread; @number 0: it was taken */
struct woken_row {
	uint64_t key; /* address of the thread */
	uint64_t ts_ns;
	uint32_t number;
};

static bool is_same(const struct profile_waker *a, const struct profile_waker *b)
{
	return a->thread == b->thread && a->kind == b->kind && a->frame == b->frame;
}

/* The number of @waker, which is added if it is missing; 0: no memory. */
static uint32_t number_of(struct wakers *wakers, const struct profile_waker *waker)
{
	uint64_t key = hash_u64((uintptr_t)waker->thread ^ hash_u64((uint64_t)waker->kind << 32 | waker->frame));
	struct waker_row *row;

	for (;; key++) {
		key += !key;
		row = table_add(&wakers->by_content, sizeof(*row), key);
		if (!row || (row->number && is_same(&wakers->list[row->number - 1], waker)))
			break;
		if (row->number)
			continue;
		if (!array_room((void **)&wakers->list, wakers->nr, &wakers->room, sizeof(*wakers->list)))
			return 0;
		wakers->list[wakers->nr] = *waker;
		row->number = ++wakers->nr;
		break;
	}
	return row ? row->number : 0;
}

void wakers_add(struct wakers *wakers, const struct trace_thread *woken, uint64_t ts_ns,
		const struct profile_waker *waker)
{
	struct woken_row *row = table_add(&wakers->by_woken, sizeof(*row), (uintptr_t)woken);
	uint32_t number = row ? number_of(wakers, waker) : 0;

	if (!number) {
		wakers->failed = -ENOMEM;
		return;
	}
	row->ts_ns = ts_ns;
	row->number = number;
}

uint32_t wakers_take(struct wakers *wakers, const struct trace_thread *woken, uint64_t since_ns, uint64_t *ret_ns)
{
	struct woken_row *row = table_find(&wakers->by_woken, sizeof(*row), (uintptr_t)woken);
	uint32_t number = row && row->ts_ns >= since_ns ? row->number : 0;

	*ret_ns = number ? row->ts_ns : 0;
	if (row)
		row->number = 0;
	return number;
}

void wakers_clear(struct wakers *wakers)
{
	free(wakers->list);
	table_clear(&wakers->by_content);
	table_clear(&wakers->by_woken);
}
