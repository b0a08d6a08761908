/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_GPROF_PROFILE_H
#define BASE_GPROF_PROFILE_H
/* gprof_profile.h - from the counts of libtracer-gprof.so to a gmon.out. */
#include <stdbool.h>
#include <stdio.h>
#include <trace/error.h>
#include "gprof_layout.h"

/** struct gprof_arcs - @arcs: owned by the caller, who frees it. Zeroed: none */
struct gprof_arcs {
	struct gprof_arc *arcs;
	size_t nr, room;
	bool no_memory;
};

/** gprof_arcs_add() - for gprof_each_arc(). @arcs: struct gprof_arcs; an arc may come again */
void gprof_arcs_add(void *arcs, const struct gprof_arc *arc);
/** gprof_arcs_end() - sort them, each once. Returns 0 or -ENOMEM: some are missing */
int gprof_arcs_end(struct gprof_arcs *arcs) TRACE_NODISCARD;

static inline bool gprof_is_in(const struct gprof_code *code, uintptr_t address)
{
	return code && address >= code->begin && address < code->end;
}

/**
 * gprof_put_samples() - histograms of @nr cells of the region from the one at @first on, as many as
 * its largest count needs
 * @bias: subtracted from addresses
 * Returns 0 or -ENOMEM
 */
int gprof_put_samples(FILE *file, const struct gprof_region *region, size_t first, size_t nr, uintptr_t bias,
		      uint64_t period_ns) TRACE_NODISCARD;

/**
 * gprof_put_program() - gmon.out of the program: its samples, and the arcs within it
 * @program: NULL: not known. @samples: NULL: none
 * Returns 0 or -ENOMEM; errors of the stream stay in it
 */
int gprof_put_program(FILE *file, const struct gprof_arcs *arcs, const struct gprof_code *program,
		      const struct gprof_region *samples, uint64_t period_ns) TRACE_NODISCARD;
#endif
