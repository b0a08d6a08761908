/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PRIORITY_H
#define DAEMON_PRIORITY_H
/*
 * priority.h - how the daemon's threads stand to the traced programs.
 *
 * What they do is little, in proportion to the events (about 30 ns each), but it has a deadline: a ring of 8 MiB is full after 200 ms of a
 * busy CPU, and among 400 runnable threads an equal one waits longer than that. So the drain goes before programs, and the
 * writer, for which the queue waits, a little.
 *
 * But niceness is a share, and where thousands want a CPU -15 is a hundredth of it: of 4,000 processes that send messages on 2 CPUs half of all events were lost.
 * So as long as there is such a crowd, or the drain came late all the same (its control group has little of the CPUs), both are real-time threads, of the lowest
 * priorities. A daemon gone mad must not stop the machine: what they do then is still in proportion to the events, and of each CPU the kernel keeps a part for
 * other threads (kernel.sched_rt_runtime_us, fair_server), unless it was told not to.
 */
#include <stdbool.h>
#include <stdint.h>

enum priority_role {
	PRIORITY_WRITER,
	PRIORITY_DRAIN, /* goes before the writer, too: while it waits, rings fill */
};

/**
 * priority_enter() - the calling thread is one of the daemon's that have a deadline, until it calls priority_leave()
 * Without the right (CAP_SYS_NICE) it stays as it is, which costs events only under load. A policy that somebody has chosen for the daemon stays, too.
 */
void priority_enter(enum priority_role role);
/** priority_leave() - the calling thread ends, or has no deadline any more */
void priority_leave(void);

/**
 * priority_watch() - to be called by the drain, and by no other thread, when it comes, before it takes anything
 * @is_late: a ring was nearly full. @now_ns: any clock that only goes on
 */
void priority_watch(bool is_late, uint64_t now_ns);
/** priority_decide() - the same when it is known whether there is a reason to be real-time threads */
void priority_decide(bool is_reason, uint64_t now_ns);
#endif
