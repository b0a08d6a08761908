/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * work_names.c - the names of the functions of deferred work, from /proc/kallsyms.
 *
 * The BPF program keeps the address of each function in a map, a few hundred in all. The names of
 * all functions of the kernel would be megabytes.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace/reader.h>
#include "loader.h"

#define MAX_FUNCTIONS 1024 /* as the map */

static int ascending(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

	return l < r ? -1 : l > r;
}

static size_t read_functions(const struct tracer *tracer, uint64_t functions[static MAX_FUNCTIONS])
{
	int fd = bpf_map__fd(tracer->skeleton->maps.work_functions);
	const uint64_t *before = NULL;
	size_t nr = 0;

	while (nr < MAX_FUNCTIONS && bpf_map_get_next_key(fd, before, &functions[nr]) == 0)
		before = &functions[nr++];
	qsort(functions, nr, sizeof(*functions), ascending);
	return nr;
}

int tracer_work_names(const struct tracer *tracer, tracer_string_fn emit, void *context)
{
	uint64_t functions[MAX_FUNCTIONS], address;
	size_t nr = read_functions(tracer, functions);
	FILE *symbols = nr ? fopen("/proc/kallsyms", "re") : NULL;
	char line[512], name[256], type;
	unsigned long long number;
	int result = 0;

	while (symbols && !result && fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%llx %c %255s", &number, &type, name) != 3 || (type != 't' && type != 'T'))
			continue;
		address = number;
		if (bsearch(&address, functions, nr, sizeof(*functions), ascending))
			result = emit(context, TRACE_STRING_SYMBOL, address, name);
	}
	if (symbols)
		fclose(symbols);
	return result;
}
