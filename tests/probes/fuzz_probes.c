/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz_probes.c - a libFuzzer target: looks for functions, static probes and variables in any
 * bytes.
 * It runs without the reader process that protects the daemon, so that the fuzzer sees the faults.
 *
 *	TRACE_FUZZ_SEEDS=seeds fuzz_probes -runs=0 && fuzz_probes -timeout=20 seeds
 *
 * elfutils 0.188 itself reads beyond the end of a line program's folders (strlen() in
 * dwarf_getsrclines()), and libelf leaks memory. This target ignores both. Such a file ends the
 * reader process, and the caller reports that.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../tracer/kernel/probe_code.h"
#include "../../tracer/kernel/probe_dwarf.h"
#include "../../tracer/kernel/probe_elf.h"
#include "../../tracer/kernel/probe_files.h"
#include "../../tracer/kernel/probe_instruction.h"
#include "../../tracer/kernel/probe_sdt.h"
#include "hostile_elf.h"
#include "probe_opener.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:intercept_strlen=0:intercept_strchr=0:replace_str=0";
}

/* A program of a compiler, and the smallest one with debug information. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("TRACE_FUZZ_SEEDS");
	char text[4096];
	struct he he;
	uint32_t type;

	if (!folder)
		return 0;
	snprintf(text, sizeof(text), "%s/small", folder);
	he_begin(&he);
	type = he_here(&he);
	he_entry(&he, HE_STRUCT);
	he_text(&he, "s");
	he_byte(&he, 8);
	he_end(&he);
	he_function(&he, type);
	he_end(&he);
	he_write(&he, text);
	snprintf(text, sizeof(text), "cp '%s' '%s/compiled'", PROBE_TARGET, folder);
	return system(text) ? 1 : 0;
}

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

	for (int i = 0; i < TRACE_PROBE_MAX_ARGUMENTS && probe_sdt_argument(context, &at, sdt->address, &field, NULL);
	     i++)
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
