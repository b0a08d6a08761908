/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "program_code.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int by_place(const void *left, const void *right)
{
	const struct program_function *l = left, *r = right;

	if (l->pid != r->pid)
		return l->pid < r->pid ? -1 : 1;
	return (l->address > r->address) - (l->address < r->address);
}

/* "4711 7f0012345000 64 name". Returns false without memory. A text of another form is left out. */
static bool add_function(struct program_code *code, const char *text)
{
	struct program_function function = {0};
	char *at;

	function.pid = (uint32_t)strtoul(text, &at, 10);
	function.address = *at == ' ' ? strtoull(at + 1, &at, 16) : 0;
	function.bytes = *at == ' ' ? strtoull(at + 1, &at, 10) : 0;
	if (*at != ' ' || !function.bytes || !at[1])
		return true;
	function.name = strdup(at + 1);
	if (!function.name)
		return false;
	snprintf(function.file, sizeof(function.file), "perf-%" PRIu32 ".map", function.pid);
	code->functions[code->nr++] = function;
	return true;
}

int program_code_read(struct program_code *code, const struct trace *trace)
{
	size_t nr = 0;
	bool is_complete = true;

	while (trace_string(trace, TRACE_STRING_PROGRAM_CODE, nr))
		nr++;
	code->functions = calloc(nr ? nr : 1, sizeof(*code->functions));
	for (size_t i = 0; code->functions && i < nr && is_complete; i++)
		is_complete = add_function(code, trace_string(trace, TRACE_STRING_PROGRAM_CODE, i));
	if (!code->functions || !is_complete)
		return -ENOMEM;
	qsort(code->functions, code->nr, sizeof(*code->functions), by_place);
	return 0;
}

const struct program_function *program_code_find(const struct program_code *code, uint32_t pid, uint64_t address)
{
	const struct program_function wanted = {.pid = pid, .address = address};
	size_t from = 0, to = code->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (by_place(&code->functions[middle], &wanted) <= 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || code->functions[from - 1].pid != pid ||
	    address - code->functions[from - 1].address >= code->functions[from - 1].bytes)
		return NULL;
	return &code->functions[from - 1];
}

void program_code_clear(struct program_code *code)
{
	for (size_t i = 0; i < code->nr; i++)
		free(code->functions[i].name);
	free(code->functions);
	*code = (struct program_code){0};
}
