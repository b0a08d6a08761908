/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_ATTACH_H
#define TRACER_PROBE_ATTACH_H
/* probe_attach.h - the probes that are attached to the kernel. */
#include <stdint.h>

struct tracer;

/* Returns when no probe runs any more: no more events; counts stay. */
void tracer_unlink_probes(struct tracer *tracer);
void tracer_detach_probes(struct tracer *tracer);
uint64_t tracer_probes_missed(const struct tracer *tracer);

#endif
