/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GMON_ARCS_H
#define DAEMON_GMON_ARCS_H
/* gmon_arcs.h - counts of the kernel as calls of a function by another one, as gprof has them. */
#include "gmon_counts.h"
#include "kernel_symbols.h"

/** struct gmon_arc - @self was called @count times by @from: addresses of functions */
struct gmon_arc {
	uint64_t from, self, count;
};

/** struct gmon_arcs - @nameless: calls of functions that this kernel does not name */
struct gmon_arcs {
	struct gmon_arc *arcs; /* owned */
	size_t nr, room;
	uint64_t nameless;
};

/** gmon_arcs_make() - Returns 0 or -ENOMEM */
int gmon_arcs_make(struct gmon_arcs *arcs, const struct gmon_counts *counts, const struct kernel_symbols *symbols);
void gmon_arcs_free(struct gmon_arcs *arcs);
#endif
