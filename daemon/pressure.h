/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PRESSURE_H
#define DAEMON_PRESSURE_H
/* pressure.h - the kernel tells when tasks stall for long: triggers of /proc/pressure */
#include "save_on.h"

/**
 * pressure_open() - begin to watch. Returns a descriptor with POLLPRI when it happens; or a
 * negative errno with the reason
 */
int pressure_open(const struct save_on *on, struct trace_error *ret_error);
/**
 * pressure_total_us() - how long tasks have stalled since the machine began, by the file @fd of
 * pressure_open(); 0: not known. @all: the time in which all tasks stalled, not some
 */
uint64_t pressure_total_us(int fd, bool all);
/**
 * pressure_has_grown() - tasks have stalled for as long as @on says since the total was @since_us
 * The first report after a trigger is made may count stalls from before: Linux 6.18 reported 200 ms
 * of 2 s one second after the begin, when the total had grown by 30 ms. True if not known.
 */
bool pressure_has_grown(int fd, const struct save_on *on, uint64_t since_us);
#endif
