/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_NO_PROCESS_H
#define VISUALIZER_NO_PROCESS_H
/* no_process.h - the message if --pid, --comm and --cgroup choose no process of the trace. */
#include "report.h"

/**
 * report_finds_no_process() - true, after a line on stderr, if these options choose no process
 * With two traces, one process in either is enough. False without these options.
 */
bool report_finds_no_process(const struct report *sides, int nr_sides);
#endif
