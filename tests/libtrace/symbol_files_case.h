/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SYMBOL_FILES_CASE_H
#define TESTS_SYMBOL_FILES_CASE_H
/* symbol_files_case.h - traces of processes that map files, and where functions are in these. */
#include <elf.h>
#include <stdarg.h>
#include <stdio.h>
#include <trace/symbols.h>
#include "builder.h"
#include "shell.h"
#include "unit.h"

#define MAPPED 0x10000000u

/* Process @pid maps the file @path, from its first byte on, at MAPPED. */
static inline void start_file(struct tb *tb, uint32_t pid, const char *path)
{
	struct trace_start_thread thread = {.tid = pid, .tgid = pid, .nr = -1};
	struct trace_start_map map = {.tgid = pid, .start = MAPPED, .end = 2 * MAPPED};

	tb_start(tb, 10, TRACE_EV_start_thread, &thread, sizeof(thread), "one");
	tb_start(tb, 10, TRACE_EV_start_map, &map, sizeof(map), path);
}

/* The symbol at byte @offset of the file that process @pid maps. */
static inline struct trace_symbol in_file(struct trace_symbols *symbols, uint32_t pid, uint64_t offset)
{
	struct trace_symbol symbol = {.function = "nothing", .source = "nothing"};

	CU_ASSERT_TRUE(trace_symbols_find(symbols, pid, 1000, MAPPED + offset, &symbol));
	return symbol;
}

/* The byte of @file at which the segment of @address has that address. */
static inline uint64_t offset_of(const char *file, uint64_t address)
{
	FILE *elf = fopen(file, "re");
	uint64_t offset = 0;
	Elf64_Ehdr header;
	Elf64_Phdr segment;

	CU_ASSERT_PTR_NOT_NULL_FATAL(elf);
	CU_ASSERT_EQUAL_FATAL(fread(&header, sizeof(header), 1, elf), 1);
	fseek(elf, (long)header.e_phoff, SEEK_SET);
	for (int i = 0; i < header.e_phnum && fread(&segment, sizeof(segment), 1, elf) == 1; i++)
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			offset = address - segment.p_vaddr + segment.p_offset;
	fclose(elf);
	return offset;
}

/* The byte of @file at which a function begins, from nm. */
static inline uint64_t offset_in_file(const char *file, const char *pattern)
{
	char command[512];
	unsigned long long address = 0;
	FILE *pipe;

	snprintf(command, sizeof(command), "nm %s | grep '%s' | head -1", file, pattern);
	pipe = popen(command, "r");
	if (!pipe || fscanf(pipe, "%llx", &address) != 1)
		address = 0;
	if (pipe)
		pclose(pipe);
	return offset_of(file, address);
}

static inline void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void shell(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	CU_ASSERT_EQUAL(shell_run_va(format, arguments), 0);
	va_end(arguments);
}

#endif
