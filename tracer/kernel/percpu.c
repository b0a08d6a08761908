/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * percpu.c - where the kernel stores per-CPU variables, from its type information
 * BTF lists the variables of the per-CPU section with their offsets. Until 6.1 and since 6.15 the
 * hot ones are variables of their own; in between they are members of pcpu_hot.
 */
#include "percpu.h"

#include <bpf/btf.h>
#include <string.h>
#include "loader.h"

static const struct btf_type *percpu_section(const struct btf *btf)
{
	int id = btf__find_by_name_kind(btf, ".data..percpu", BTF_KIND_DATASEC);

	return id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
}

/* Offset of a variable in the section, or -1. */
static long long variable_offset(const struct btf *btf, const struct btf_type *section, const char *name)
{
	const struct btf_var_secinfo *variables = btf_var_secinfos(section);

	for (int i = 0; i < btf_vlen(section); i++) {
		const struct btf_type *type = btf__type_by_id(btf, variables[i].type);

		if (strcmp(btf__name_by_offset(btf, type->name_off), name) == 0)
			return variables[i].offset;
	}
	return -1;
}

long long tracer_member_offset(const struct btf *btf, const char *structure, const char *member)
{
	int id = btf__find_by_name_kind(btf, structure, BTF_KIND_STRUCT);
	const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);

	for (int level = 0; type && level < 2; level++) { /* it may be in an unnamed struct or union */
		const struct btf_member *members = btf_members(type);
		const struct btf_type *inner = NULL;

		for (int i = 0; i < btf_vlen(type); i++) {
			const char *name = btf__name_by_offset(btf, members[i].name_off);

			if (strcmp(name, member) == 0)
				return btf_member_bit_offset(type, (__u32)i) / 8;
			if (!*name && !inner)
				inner = btf__type_by_id(btf, members[i].type);
		}
		type = inner && btf_is_composite(inner) ? inner : NULL;
	}
	return -1;
}

/**
 * tracer_percpu_distance() - bytes from a CPU's run queue to a variable of the same CPU; 0 if the
 * kernel's BTF does not have them
 * @variable: its name
 * @hot_member: its name in pcpu_hot, on kernels where it is there
 */
long long tracer_percpu_distance(const struct btf *btf, const char *variable, const char *hot_member)
{
	const struct btf_type *section = percpu_section(btf);
	long long queue = section ? variable_offset(btf, section, "runqueues") : -1, offset = -1;

	if (queue < 0)
		return 0;
	offset = variable_offset(btf, section, variable);
	if (offset < 0 && variable_offset(btf, section, "pcpu_hot") >= 0 &&
	    tracer_member_offset(btf, "pcpu_hot", hot_member) >= 0)
		offset = variable_offset(btf, section, "pcpu_hot") + tracer_member_offset(btf, "pcpu_hot", hot_member);
	return offset >= 0 ? offset - queue : 0;
}
