/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_symbol_levels.c - inlined functions and source lines: those that llvm-addr2line finds at
 * each byte of a program's code. addr2line of binutils 2.40 gives some inlined functions the name
 * of the function around them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>
#include <unistd.h>

#include "builder.h"
#include "unit.h"

#define MAPPED	      0x10000000u
#define MAX_BYTES     8192
#define LEVELS	      (SYMBOL_LEVELS + 1)
#define SYMBOL_LEVELS 32

/** struct code - @first: of .text, as nm prints it; @offset: of that byte in the file */
struct code {
	unsigned long long first, offset, bytes;
};

static FILE *output_of(const char *command, const char *file)
{
	char line[1024];
	FILE *pipe;

	snprintf(line, sizeof(line), command, file);
	pipe = popen(line, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(pipe);
	return pipe;
}

static struct code code_of(const char *file)
{
	struct code code = {0};
	FILE *pipe = output_of("readelf -SW %s", file);
	char line[512];

	while (fgets(line, sizeof(line), pipe)) {
		const char *text = strstr(line, " .text ");

		if (text)
			sscanf(text, " .text PROGBITS %llx %llx %llx", &code.first, &code.offset, &code.bytes);
	}
	pclose(pipe);
	CU_ASSERT_FATAL(code.bytes > 0 && code.bytes < MAX_BYTES);
	return code;
}

/** struct told - what a line of the reference says of a level */
struct told {
	char function[256], path[1024];
	unsigned int line;
};

/* "/src/a.cc:12 (discriminator 3)"; "??:?" is not known */
static void read_place(char *text, struct told *told)
{
	char *colon = strrchr(text, ':');

	*told->path = '\0';
	told->line = 0;
	if (!colon || text[0] == '?')
		return;
	told->line = (unsigned int)strtoul(colon + 1, NULL, 10);
	*colon = '\0';
	snprintf(told->path, sizeof(told->path), "%s", told->line ? text : "");
}

static bool read_line(FILE *pipe, char *line, int bytes)
{
	if (!fgets(line, bytes, pipe))
		return false;
	line[strcspn(line, "\n")] = '\0';
	return true;
}

/* "f(int) (.cold)", "f(int) [clone .cold]": two demanglers */
static bool is_same_function(const char *told, const char *found)
{
	const char *cold = strstr(told, " (.cold)");
	size_t bytes = cold ? (size_t)(cold - told) : strlen(told);

	return !strncmp(told, found, bytes) && !strcmp(found + bytes, cold ? " [clone .cold]" : "");
}

static bool is_same(const struct told *told, const struct trace_symbol_level *level)
{
	return is_same_function(told->function, level->function) && told->line == level->line &&
	       (!told->line || !strcmp(told->path, level->source));
}

/**
 * struct comparison - @nr: bytes of code. @nr_inlined: bytes of inlined functions. @nr_wrong: bytes
 * with other levels
 */
struct comparison {
	unsigned int nr, nr_inlined, nr_wrong;
};

static void compare(struct comparison *all, const struct told *told, size_t nr_told,
		    const struct trace_symbol_level *levels, size_t nr)
{
	bool is_right = nr == nr_told;

	for (size_t i = 0; i < nr && is_right; i++)
		is_right = is_same(&told[i], &levels[i]);
	all->nr++;
	all->nr_inlined += nr > 1;
	all->nr_wrong += !is_right;
	if (is_right || all->nr_wrong > 5)
		return;
	for (size_t i = 0; i < nr_told; i++)
		printf("\n    llvm:  %s %s:%u", told[i].function, told[i].path, told[i].line);
	for (size_t i = 0; i < nr; i++)
		printf("\n    found: %s %s:%u", levels[i].function, levels[i].source, levels[i].line);
}

static struct comparison compare_file(const char *file)
{
	struct comparison all = {0};
	struct trace_start_thread thread = {.tid = 100, .tgid = 100, .nr = -1};
	struct trace_start_map map = {.tgid = 100, .start = MAPPED, .end = 2 * MAPPED};
	struct code code = code_of(file);
	struct tb *tb = tb_new();
	struct trace *trace;
	struct trace_symbols *symbols;
	char command[128], line[1024];
	FILE *pipe;

	tb_start(tb, 10, TRACE_EV_start_thread, &thread, sizeof(thread), "one");
	tb_start(tb, 10, TRACE_EV_start_map, &map, sizeof(map), file);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	snprintf(command, sizeof(command),
		 "seq -f %%%%.0f %llu %llu | xargs printf '0x%%%%x\\n' | " ADDR2LINE " -afiC -e %%s", code.first,
		 code.first + code.bytes - 1);
	pipe = output_of(command, file);
	CU_ASSERT_TRUE(read_line(pipe, line, sizeof(line)));
	while (!strncmp(line, "0x", 2)) {
		unsigned long long address = strtoull(line, NULL, 16);
		const struct trace_symbol_level *levels;
		struct told told[LEVELS];
		struct trace_symbol symbol;
		size_t nr_told = 0, nr;

		*line = '\0';
		while (nr_told < LEVELS && read_line(pipe, line, sizeof(line)) && strncmp(line, "0x", 2)) {
			snprintf(told[nr_told].function, sizeof(told[0].function), "%.200s", line);
			CU_ASSERT_TRUE(read_line(pipe, line, sizeof(line)));
			read_place(line, &told[nr_told++]);
			*line = '\0';
		}
		nr = trace_symbols_find_levels(symbols, 100, 1000, MAPPED + address - code.first + code.offset, &symbol,
					       &levels);
		if (told[0].line && nr && *levels[0].function) /* not padding, nor code of the C library */
			compare(&all, told, nr_told, levels, nr);
	}
	pclose(pipe);
	CU_ASSERT_EQUAL(trace_symbols_error(symbols, NULL), 0);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
	return all;
}

static void inlined_functions_and_lines_are_those_of_llvm(void)
{
	struct comparison all = compare_file(INLINE_TARGET);

	printf("%u bytes, %u of inlined functions ", all.nr, all.nr_inlined);
	CU_ASSERT(all.nr > 300);
	CU_ASSERT(all.nr_inlined > 100);
	CU_ASSERT_EQUAL(all.nr_wrong, 0);
}

static void a_file_without_debug_information_has_one_level(void)
{
	struct trace_start_thread thread = {.tid = 100, .tgid = 100, .nr = -1};
	struct trace_start_map map = {.tgid = 100, .start = MAPPED, .end = 2 * MAPPED};
	const struct trace_symbol_level *levels;
	char path[] = "/tmp/trace-levels-XXXXXX", command[512];
	struct code code = code_of(INLINE_TARGET);
	struct tb *tb = tb_new();
	struct trace_symbols *symbols;
	struct trace_symbol symbol;
	struct trace *trace;

	close(mkstemp(path));
	snprintf(command, sizeof(command), "strip -g -o %s %s", path, INLINE_TARGET);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	tb_start(tb, 10, TRACE_EV_start_thread, &thread, sizeof(thread), "one");
	tb_start(tb, 10, TRACE_EV_start_map, &map, sizeof(map), path);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_EQUAL(trace_symbols_find_levels(symbols, 100, 1000, MAPPED + code.offset, &symbol, &levels), 1);
	CU_ASSERT_STRING_EQUAL(levels[0].function, symbol.function);
	CU_ASSERT_STRING_EQUAL(levels[0].source, "");
	CU_ASSERT_EQUAL(levels[0].line, 0);
	CU_ASSERT_EQUAL(trace_symbols_find_levels(symbols, 100, 1000, 0x100, &symbol, &levels), 0);
	unlink(path);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(inlined_functions_and_lines_are_those_of_llvm),
		CASE(a_file_without_debug_information_has_one_level),
		{NULL, NULL},
	};

	return unit_main("symbol_levels", cases, argc, argv);
}
