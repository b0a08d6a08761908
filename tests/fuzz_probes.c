/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz_probes.c - any bytes as a program whose functions, static probes and variables are looked for, for libFuzzer. It runs without the process
 * that protects the caller, so that the fuzzer sees what this one protects from.
 *
 *	fuzz_probes -max_len=65536 -timeout=20 seeds		seeds: small programs, with and without debug information
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../tracer/kernel/probe.h"
#include "probe_opener.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The program itself; no debug file, since the names of those lead into this machine's folders. */
static int open_copy(struct probe_opener *opener, enum probe_related which, const char *name)
{
	const struct probe_files *files = &((struct direct_opener *)opener)->files;

	return which == PROBE_FILE_SELF ? dup(atoi(files->path)) : -1;
}

/* Each variable and parameter that may be there, by ways through pointers, members and elements. */
static int look(void *context, const struct probe_symbol *symbol)
{
	static const char *const expressions[] = {"x", "*x", "x.a", "x->a[1]", "order->items[1].name", "x[2]"};
	struct probe_field field = {.kind = TRACE_KIND_DEC};
	struct probe_scope scope;
	char source[256];

	probe_scope_open(context, symbol->address, &scope);
	scope.address = probe_scope_body(&scope);
	probe_scope_source(&scope, source, sizeof(source));
	for (size_t i = 0; scope.found && i < sizeof(expressions) / sizeof(expressions[0]); i++)
		probe_scope_variable(&scope, expressions[i], &field, NULL);
	for (unsigned int n = 0; n < 8 && probe_scope_parameter(&scope, n); n++)
		probe_scope_variable(&scope, probe_scope_parameter(&scope, n), &field, NULL);
	probe_scope_result(&scope, &field, NULL);
	probe_scope_close(&scope);
	probe_instruction_check(context, symbol->address + 1, NULL);
	return 0;
}

static int look_at_static(void *context, const struct probe_sdt *sdt)
{
	const char *at = sdt->arguments;
	struct probe_field field;

	for (int i = 0; i < TRACE_PROBE_MAX_ARGUMENTS && probe_sdt_argument(context, &at, sdt->address, &field, NULL); i++)
		;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct direct_opener direct = direct_opener("");
	int fd = memfd_create("fuzz_probes", MFD_CLOEXEC);
	struct probe_elf elf;
	char number[16];

	snprintf(number, sizeof(number), "%d", fd);
	direct.opener.open = open_copy;
	direct.files.path = number;
	if (write(fd, data, size) == (ssize_t)size && !probe_elf_open_by(&elf, "fuzz", &direct.opener, NULL)) {
		probe_elf_functions(&elf, look, &elf);
		probe_sdt_each(&elf, look_at_static, &elf);
		probe_elf_close(&elf);
	}
	close(fd);
	return 0;
}
