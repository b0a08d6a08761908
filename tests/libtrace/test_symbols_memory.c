/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_symbols_memory.c - names of functions without memory: each allocation fails once, in the
 * caller and in the process that reads the file.
 *
 * The child has a copy of the count of allocations, so the same number strikes there. The C++
 * run-time library is loaded before, because the program loader ends a process without memory.
 *
 * libdw 0.188 crashes after some failed allocations. So with source lines the process that reads
 * the file may also stop, which is reported.
 */
#include <errno.h>
#include <stdio.h>
#include <trace/symbols.h>
#include <sys/wait.h>
#include <unistd.h>

#include "builder.h"
#include "no_memory.h"
#include "unit.h"

#define MAPPED	     0x10000000u
#define LAST_ANSWERS 100 /* complete answers in a row: no more allocations are made */

/** enum outcome - of one run, in a process of its own */
enum outcome { COMPLETE, REFUSED, WRONG };

static struct tb *one_file(const char *path)
{
	struct tb *tb = tb_new();
	struct trace_start_thread thread = {.tid = 100, .tgid = 100, .nr = -1};
	struct trace_start_map map = {.tgid = 100, .start = MAPPED, .end = 2 * MAPPED};

	tb_start(tb, 10, TRACE_EV_start_thread, &thread, sizeof(thread), "one");
	tb_start(tb, 10, TRACE_EV_start_map, &map, sizeof(map), path);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	return tb;
}

/* All functions and lines of the file's first bytes, as one number. */
static uint64_t names_of(struct trace_symbols *symbols)
{
	uint64_t hash = 1;

	for (uint64_t offset = 0x1000; offset < 0x3000; offset += 0x100) {
		struct trace_symbol symbol;

		if (!trace_symbols_find(symbols, 100, 1000, MAPPED + offset, &symbol))
			return 0;
		for (const char *at = symbol.function; *at; at++)
			hash = hash * 31 + (unsigned char)*at;
		for (const char *at = symbol.source; *at; at++)
			hash = hash * 31 + (unsigned char)*at;
	}
	return hash;
}

static bool with_source;

static enum outcome run(struct trace *trace, long at, bool and_after, uint64_t wanted)
{
	struct trace_symbols *symbols = trace_symbols_new(trace, NULL);
	struct trace_error error = {0};
	uint64_t names;
	int result;

	trace_symbols_want_source(symbols, with_source);
	no_memory_at(at, and_after);
	names = names_of(symbols);
	result = trace_symbols_error(symbols, &error);
	no_memory_at(0, false);
	trace_symbols_free(symbols);
	if (result == -EBADMSG && with_source && strstr(error.message, "stopped: signal"))
		return REFUSED;
	if (result && result != -ENOMEM)
		printf("\n    %d: %s", result, error.message);
	fflush(stdout);
	if (result)
		return result == -ENOMEM && error.code == -ENOMEM && strstr(error.message, "memory") ? REFUSED : WRONG;
	return names == wanted ? COMPLETE : WRONG;
}

/* In a child of its own, which begins with the same number of allocations. */
static enum outcome run_apart(struct trace *trace, long at, bool and_after, uint64_t wanted)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		_exit((int)run(trace, at, and_after, wanted));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) < WRONG ? (enum outcome)WEXITSTATUS(status) : WRONG;
}

static uint64_t names_in_child(struct trace *trace)
{
	int pipes[2];
	uint64_t names = 0;
	pid_t pid;

	if (pipe(pipes))
		return 0;
	pid = fork();
	if (pid == 0) {
		struct trace_symbols *symbols = trace_symbols_new(trace, NULL);

		trace_symbols_want_source(symbols, with_source);
		names = names_of(symbols);
		_exit(write(pipes[1], &names, sizeof(names)) != sizeof(names));
	}
	close(pipes[1]);
	if (read(pipes[0], &names, sizeof(names)) != sizeof(names))
		names = 0;
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	return names;
}

static void names_without_memory_are_whole_or_refused(const char *path, bool and_after)
{
	struct tb *tb = one_file(path);
	struct trace *trace = tb_open_trace(tb);
	uint64_t wanted = names_in_child(trace);
	unsigned int complete = 0, refused = 0, wrong = 0;

	CU_ASSERT(wanted > 1);
	for (long at = 1; complete < LAST_ANSWERS; at++)
		switch (run_apart(trace, at, and_after, wanted)) {
		case COMPLETE:
			complete++;
			break;
		case REFUSED:
			complete = 0;
			refused++;
			break;
		case WRONG:
			complete = 0;
			if (wrong++ < 10)
				printf("\n    %s without memory for allocation %ld%s", path, at,
				       and_after ? " and all after it" : "");
			if (wrong == 100)
				complete = LAST_ANSWERS;
		}
	CU_ASSERT_EQUAL(wrong, 0);
	CU_ASSERT(refused > 10);
	trace_close(trace);
	tb_free(tb);
}

static void names_are_whole_or_refused_if_one_allocation_fails(void)
{
	with_source = false;
	names_without_memory_are_whole_or_refused(PROBE_TARGET, false);
	names_without_memory_are_whole_or_refused(PROBE_TARGET_CXX, false);
}

static void names_are_whole_or_refused_if_all_later_allocations_fail(void)
{
	with_source = false;
	names_without_memory_are_whole_or_refused(PROBE_TARGET, true);
	names_without_memory_are_whole_or_refused(PROBE_TARGET_CXX, true);
}

static void lines_without_memory_are_whole_or_missing_with_a_reason(void)
{
	with_source = true;
	for (int and_after = 0; and_after < 2; and_after++) {
		names_without_memory_are_whole_or_refused(PROBE_TARGET, and_after);
		names_without_memory_are_whole_or_refused(PROBE_TARGET_CXX, and_after);
	}
}

static void load_demangler(void)
{
	struct tb *tb = one_file(PROBE_TARGET_CXX);
	struct trace *trace = tb_open_trace(tb);
	struct trace_symbols *symbols = trace_symbols_new(trace, NULL);

	names_of(symbols);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(names_are_whole_or_refused_if_one_allocation_fails),
		CASE(names_are_whole_or_refused_if_all_later_allocations_fail),
		CASE(lines_without_memory_are_whole_or_missing_with_a_reason),
		{NULL, NULL},
	};

	load_demangler();
	return unit_main("symbols without memory", cases, argc, argv);
}
