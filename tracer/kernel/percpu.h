/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PERCPU_H
#define TRACER_PERCPU_H
/* percpu.h - where variables of a CPU and members of structures are, by the kernel's BTF. */

struct btf;

long long tracer_percpu_distance(const struct btf *kernel, const char *variable, const char *hot_member);
/**
 * tracer_member_offset() - the offset of @member, in bytes; -1: @structure has none of this name
 */
long long tracer_member_offset(const struct btf *kernel, const char *structure, const char *member);

#endif
