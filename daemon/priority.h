/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PRIORITY_H
#define DAEMON_PRIORITY_H
/*
 * priority.h - how the daemon's threads stand to the traced programs.
 *
 * What they do is little, in proportion to the events (about 30 ns each), but it has a deadline: a ring of 4 MiB is full after 100 ms of a
 * busy CPU, and among 400 runnable threads an equal one waits longer than that. So the drain goes before programs, and the
 * writer, for which the queue waits, a little; neither is in a realtime class: a daemon gone mad must not stop the machine.
 */
#define PRIORITY_DRAIN (-15)
#define PRIORITY_WRITER (-5)

/** priority_set() - niceness of the calling thread. Without the right (CAP_SYS_NICE) it stays as it is, which costs events only under load */
void priority_set(int niceness);
#endif
