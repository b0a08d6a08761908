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
 * But niceness is a share, and where thousands want a CPU -15 is a hundredth of it: of 4,000 threads that send messages on 2 CPUs half of all events were lost.
 * So as long as there is such a crowd, or the drain came late all the same (its control group has a quota), both are real-time threads of the lowest
 * priority. A daemon gone mad must not stop the machine: what they do then is still in proportion to the events, and the kernel leaves to programs what it always
 * leaves them beside real-time threads (5 %).
 */
#include <stdbool.h>
#include <stdint.h>

#define PRIORITY_DRAIN (-15)
#define PRIORITY_WRITER (-5)

/**
 * priority_enter() - niceness of the calling thread, which priority_watch() may make a real-time one, until it calls priority_leave()
 * Without the right (CAP_SYS_NICE) it stays as it is, which costs events only under load; and so does what somebody has made a real-time thread already.
 */
void priority_enter(int niceness);
/** priority_leave() - of the calling thread: it ends, or has no deadline any more */
void priority_leave(void);

/**
 * priority_watch() - to be called by the drain when it comes, before it takes anything
 * @is_late: a ring was nearly full. @now_ns: any clock that only goes on
 */
void priority_watch(bool is_late, uint64_t now_ns);
#endif
