/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PERCPU_H
#define TRACER_PERCPU_H
/* percpu.h - where a per-CPU variable of the kernel is. */

struct btf;

long long tracer_percpu_distance(const struct btf *kernel, const char *variable, const char *hot_member);

#endif
