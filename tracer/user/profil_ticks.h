/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_PROFIL_TICKS_H
#define TRACER_USER_PROFIL_TICKS_H
/*
 * profil_ticks.h - the two sources of ticks of CPU time: perf events (profil_events.c), and timers
 * (profil_timers.c)
 *
 * The caller holds the profile's lock. One source is on at a time.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** profil_take_fn - @ticks at @address */
typedef void (*profil_take_fn)(void *into, uint64_t address, uint64_t ticks);

/**
 * struct profil_source -
 * @begin: prepare ticks of @period_ns, of all threads but @own_tid. 0 or a negative errno
 * @start: from now on
 * @search: look for threads that have begun; a source that hears of them has none
 * @drain: pass on what is there. Returns the number of ticks that were lost since the last time
 * @end: no ticks any more; those that were not drained are lost
 * @user_only: after @begin
 */
struct profil_source {
	int (*begin)(uint64_t period_ns, pid_t own_tid);
	void (*start)(void);
	void (*search)(void);
	uint64_t (*drain)(profil_take_fn take, void *into);
	void (*end)(void);
	void (*forget)(void); /* in a child of fork(), which has none of it */
	bool (*user_only)(void);
	bool by_timers;
};

extern const struct profil_source profil_events;
extern const struct profil_source profil_timers;

/**
 * profil_each_thread() - call @visit for each thread of the process, in no order
 * Returns 0, the first other result of @visit, or a negative errno.
 */
int profil_each_thread(int (*visit)(void *context, pid_t tid), void *context);
#endif
