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
#endif
