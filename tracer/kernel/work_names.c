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
#include <string.h>
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

/*
 * Splits "ADDRESS TYPE NAME" and perhaps "[MODULE]". The file has some 100,000 lines, for which
 * sscanf() takes a tenth of a second.
 */
static bool read_address(const char *line, uint64_t *ret_address, const char **ret_rest)
{
	char *end;

	*ret_address = strtoull(line, &end, 16);
	*ret_rest = end;
	return end > line && (strncmp(end, " t ", 3) == 0 || strncmp(end, " T ", 3) == 0);
}

int tracer_work_names(const struct tracer *tracer, tracer_string_fn emit, void *context)
{
	uint64_t functions[MAX_FUNCTIONS], address;
	size_t nr = read_functions(tracer, functions);
	FILE *symbols = nr ? fopen("/proc/kallsyms", "re") : NULL;
	char line[512], name[256];
	const char *rest;
	int result = 0;

	while (symbols && !result && fgets(line, sizeof(line), symbols)) {
		if (!read_address(line, &address, &rest) ||
		    !bsearch(&address, functions, nr, sizeof(*functions), ascending))
			continue;
		if (sscanf(rest, " %*c %255s", name) == 1)
			result = emit(context, TRACE_STRING_SYMBOL, address, name);
	}
	if (symbols)
		fclose(symbols);
	return result;
}
