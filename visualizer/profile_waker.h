/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_WAKER_H
#define VISUALIZER_PROFILE_WAKER_H
/* profile_waker.h - in which functions wakers ended waits. */
#include <stdint.h>
#include "profile_names.h"

/** struct woken_in - time of waits that ended in the same function; a list. @name: kept */
struct woken_in {
	const char *name;
	uint64_t ns;
	struct woken_in *next;
};

/**
 * profile_waker_name() - the innermost function of the waker's program that is not in libc; for a
 * thread of the kernel "(kernel)", for an interrupt trace_profile_waker_word()
 * Returns NULL if the waker of the share's waits is not known. The name lives as long as @names.
 */
const char *profile_waker_name(struct profile_names *names, const struct trace_profile_share *share,
			       struct profile_stack *stack);
/** woken_in_add() - @ns of waits in @list ended in @name; NULL: not known. @owner frees the list */
void woken_in_add(struct woken_in **list, const char *name, uint64_t ns, struct pointers *owner);
/** woken_in_most() - the function with the most time of the list; NULL: none is known */
const struct woken_in *woken_in_most(const struct woken_in *list);
/** woken_in_text() - "release_order", "(timer) 64 %" of @whole_ns; nothing if none is known */
void woken_in_text(const struct woken_in *list, uint64_t whole_ns, struct string *text);
#endif
