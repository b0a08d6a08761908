/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_WAKERS_H
#define ANALYZER_PROFILE_WAKERS_H
/*
 * profile_wakers.h - what woke threads. Its stack is recorded at the wakeup, before that of the
 * woken thread.
 */
#include <stdint.h>
#include <trace/profile.h>
#include "hash_table.h"

/** struct profile_waker - @thread: NULL for an interrupt. @frame: the innermost one */
struct profile_waker {
	const struct trace_thread *thread;
	enum trace_profile_waker kind;
	uint32_t frame;
};

/** struct wakers - zeroed: empty. Number 0 is not known, the others are indexes + 1 of @list */
struct wakers {
	struct profile_waker *list; /* owned */
	uint32_t nr, room;
	struct hash_table by_content, by_woken;
	int failed;
};

/** wakers_add() - @waker wakes @woken at @ts_ns */
void wakers_add(struct wakers *wakers, const struct trace_thread *woken, uint64_t ts_ns,
		const struct profile_waker *waker);
/**
 * wakers_take() - the number of the one that woke @woken from the wait that began at @since_ns
 * @ret_ns: when; 0 if it is not known. It is that of no other wait any more
 */
uint32_t wakers_take(struct wakers *wakers, const struct trace_thread *woken, uint64_t since_ns, uint64_t *ret_ns);
void wakers_clear(struct wakers *wakers);
#endif
