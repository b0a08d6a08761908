/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_GEOMETRY_H
#define TRACER_GEOMETRY_H
/* geometry.h - what becomes of the sizes of buffers that somebody asks for. */
#include <trace/tracer.h>

/** tracer_choose_geometry() - powers of two within the limits, and the defaults of this machine for what is 0 */
void tracer_choose_geometry(struct tracer_options *options, uint32_t nr_cpus);

/** tracer_structural_subbuf_bytes() - of the rings of structural events beside such ones */
uint32_t tracer_structural_subbuf_bytes(const struct tracer_options *options);

#endif
