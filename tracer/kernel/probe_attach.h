/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_ATTACH_H
#define TRACER_PROBE_ATTACH_H
/* probe_attach.h - the probes that are attached to the kernel. */
#include <stdint.h>

struct tracer;
struct probe_cost;

/* Returns when no probe runs any more: no more events; counts stay. */
void tracer_unlink_probes(struct tracer *tracer);
void tracer_detach_probes(struct tracer *tracer);
uint64_t tracer_probes_missed(const struct tracer *tracer);
/**
 * tracer_each_probe_cost() - call @fn for each place with a known cost of its hits
 * @event: the id of its events, which several places may share
 * A non-zero return value of @fn ends it and is returned.
 */
int tracer_each_probe_cost(const struct tracer *tracer,
			   int (*fn)(void *context, uint32_t event, const struct probe_cost *cost), void *context);

#endif
