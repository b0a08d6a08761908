/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_GEOMETRY_H
#define TRACER_GEOMETRY_H
/* geometry.h - turns requested buffer sizes into valid ones. */
#include <trace/tracer.h>

/**
 * tracer_choose_geometry() - round to powers of two within the limits; replace 0 by
 * the defaults of this machine
 */
void tracer_choose_geometry(struct tracer_options *options, uint32_t nr_cpus);

/**
 * tracer_structural_subbuf_bytes() - sub-buffer size of the structural rings that go with @options
 */
uint32_t tracer_structural_subbuf_bytes(const struct tracer_options *options);

#endif
