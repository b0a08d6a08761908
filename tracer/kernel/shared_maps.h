/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_KERNEL_SHARED_MAPS_H
#define TRACER_KERNEL_SHARED_MAPS_H
/* shared_maps.h - the maps that other BPF objects of the tracer use too */

struct bpf_object;
struct tracer;

/**
 * tracer_share_maps() - let @object, before it is loaded, use the tracer's rings and its filter
 * Returns 0 or -errno.
 */
int tracer_share_maps(const struct tracer *tracer, const struct bpf_object *object);
#endif
