/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PRIORITY_H
#define DAEMON_PRIORITY_H
/*
 * priority.h - scheduling priority of the daemon's threads, compared with the traced programs
 *
 * The daemon's threads need little CPU time, in proportion to the events (about 30 ns each), but
 * they have a deadline. A busy CPU fills a ring of 8 MiB in 200 ms. Among 400 runnable threads a
 * thread of equal priority waits longer than that. So the drain gets niceness -15. The writer gets
 * -5, because the queue can wait for it.
 *
 * Niceness is only a share. If thousands of threads are runnable, -15 is a hundredth of a CPU: with
 * 4,000 processes that send messages on 2 CPUs half of all events were lost. So both threads become
 * real-time threads of the lowest priorities in two cases: as long as so many threads are runnable,
 * or if the drain was late nevertheless (its control group has a small share of the CPUs). A faulty
 * daemon must not stop the machine. The work of the threads remains in proportion to the events.
 * The kernel reserves a part of each CPU for other threads (kernel.sched_rt_runtime_us,
 * fair_server), unless it is configured not to.
 */
#include <stdbool.h>
#include <stdint.h>

enum priority_role {
	PRIORITY_WRITER,
	PRIORITY_DRAIN, /* also before the writer: while the drain waits, rings fill */
};

/**
 * priority_enter() - give the calling thread a deadline's priority, until it calls priority_leave()
 * Without the privilege (CAP_SYS_NICE) nothing changes; events are then lost only under load. A
 * policy that the user chose for the daemon is kept.
 */
void priority_enter(enum priority_role role);
/** priority_leave() - the calling thread ends or has no deadline any more */
void priority_leave(void);

/**
 * priority_watch() - adapt the priority. Only the drain calls it, before each run
 * @is_late: a ring was nearly full. @now_ns: any monotonic clock
 */
void priority_watch(bool is_late, uint64_t now_ns);
/**
 * priority_decide() - the part of priority_watch() after @is_reason is known: a reason for
 * real-time priority
 */
void priority_decide(bool is_reason, uint64_t now_ns);
#endif
