/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * work_names.c - the names of the functions of deferred work. A BPF program keeps them in a map,
 * a few hundred in all.
 */
#include <bpf/bpf.h>
#include <string.h>
#include <trace/reader.h>
#include "config.h"
#include "loader.h"

int tracer_work_names(const struct tracer *tracer, tracer_string_fn emit, void *context)
{
	int fd = bpf_map__fd(tracer->skeleton->maps.work_functions), result = 0;
	struct tracer_function_name name;
	const uint64_t *before = NULL;
	uint64_t address;

	while (!result && bpf_map_get_next_key(fd, before, &address) == 0) {
		before = &address;
		if (bpf_map_lookup_elem(fd, &address, &name) != 0)
			continue;
		name.text[strcspn(name.text, " ")] = '\0'; /* without [MODULE] */
		if (name.text[0])
			result = emit(context, TRACE_STRING_SYMBOL, address, name.text);
	}
	return result;
}
