/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GPROF_COUNTS_H
#define DAEMON_GPROF_COUNTS_H
/*
 * gprof_counts.h - what libtracer-gprof.so has counted in a process that runs.
 *
 * SECURITY: the memory may be that of any user's process, so nothing in it is believed.
 */
#include <sys/types.h>
#include <trace/error.h>
#include "gprof_profile.h"

/**
 * struct gprof_counts - @samples.cells: owned; nr_cells 0: none. @lost: calls that the process
 * could not count
 */
struct gprof_counts {
	struct gprof_arcs arcs;
	struct gprof_region samples;
	struct gprof_code program;
	uint64_t period_ns, lost;
};

/**
 * gprof_counts_read() - read them all; the process runs on
 * @ret_counts: freed by gprof_counts_free(), also after an error
 * Returns 0; -ENODATA: the process does not have the library; -EBADMSG: its counts are damaged;
 * -EFBIG: there are too many; -ENOMEM; or as file_opener_memory(); with a sentence.
 */
int gprof_counts_read(pid_t pid, struct gprof_counts *ret_counts, struct trace_error *ret_error);
void gprof_counts_free(struct gprof_counts *counts);
#endif
