/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int by_address(const void *left, const void *right)
{
	const struct kernel_function *l = left, *r = right;

	return (l->address > r->address) - (l->address < r->address);
}

/* "ffffffff81000000 64 name", "ffffffffc0000000 64 name [module]". Returns false without memory. A
 * text of another form is left out. */
static bool add_function(struct kernel_code *code, const char *text)
{
	struct kernel_function function = {.file = "[kernel]"};
	char *at, *module;

	function.address = strtoull(text, &at, 16);
	function.bytes = *at == ' ' ? strtoull(at + 1, &at, 10) : 0;
	if (*at != ' ' || !function.bytes || !at[1])
		return true;
	function.name = strdup(at + 1);
	if (!function.name)
		return false;
	module = strchr(function.name, ' ');
	if (module) {
		*module = '\0';
		function.file = module + 1;
	}
	code->functions[code->nr++] = function;
	return true;
}

int kernel_code_read(struct kernel_code *code, const struct trace *trace)
{
	size_t nr = 0;
	bool is_complete = true;

	while (trace_string(trace, TRACE_STRING_KERNEL_CODE, nr))
		nr++;
	code->functions = calloc(nr ? nr : 1, sizeof(*code->functions));
	for (size_t i = 0; code->functions && i < nr && is_complete; i++)
		is_complete = add_function(code, trace_string(trace, TRACE_STRING_KERNEL_CODE, i));
	if (!code->functions || !is_complete)
		return -ENOMEM;
	qsort(code->functions, code->nr, sizeof(*code->functions), by_address);
	return 0;
}

const struct kernel_function *kernel_code_find(const struct kernel_code *code, uint64_t address)
{
	size_t from = 0, to = code->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (code->functions[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || address - code->functions[from - 1].address >= code->functions[from - 1].bytes)
		return NULL;
	return &code->functions[from - 1];
}

void kernel_code_clear(struct kernel_code *code)
{
	for (size_t i = 0; i < code->nr; i++)
		free(code->functions[i].name);
	free(code->functions);
	*code = (struct kernel_code){0};
}
