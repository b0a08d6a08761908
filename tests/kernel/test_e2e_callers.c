/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_callers.c - tracedaemon -sd and -su, -sl: the callers of system calls, compared with the
 * return addresses that the program sees itself.
 *
 * This is the program as well: "test_e2e_callers do TRUTH". main() calls outer(), which calls
 * middle(), which calls inner(), which calls getppid() of the C library. Root only; skipped (77)
 * where the kernel cannot be recorded.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/events.h>
#include <trace/reader.h>
#include <trace/symbols.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define NR_CALLS  100
#define MAX_BYTES 64 /* of inner() */
#define MAX_CPUS  4096

/* ---- the program ---- */

static uintptr_t in_middle, in_outer; /* the addresses to which inner() and middle() return */

static __attribute__((noinline)) int inner(void)
{
	int parent = getppid();

	in_middle = (uintptr_t)__builtin_return_address(0);
	return parent;
}

static __attribute__((noinline)) int middle(void)
{
	int parent = inner();

	in_outer = (uintptr_t)__builtin_return_address(0);
	return parent;
}

static __attribute__((noinline)) int outer(void)
{
	int parent = middle();

	__asm__ volatile("");
	return parent;
}

static int do_calls(const char *path)
{
	FILE *truth = fopen(path, "w");

	if (!truth)
		return 1;
	for (int i = 0; i < NR_CALLS; i++)
		outer();
	fprintf(truth, "pid %d\ninner %lld\nin_middle %lld\nin_outer %lld\n", getpid(), (long long)(uintptr_t)inner,
		(long long)in_middle, (long long)in_outer);
	return fclose(truth);
}

/* ---- the tests ---- */

static const char *self;

static void record(struct session *s, const char *options)
{
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s %s -- setarch -R %s do %s 2>%s/stderr", TRACE_BIN, options,
					  s->trace, self, s->truth, s->folder),
			      0);
}

/*
 * Returns the number of callers of getppid() from @begin to @end, exclusive. The caller comes after
 * the entry of its call, on the same CPU. Only an interrupt may be between them.
 */
static unsigned int callers_between(const struct session *s, uint64_t begin, uint64_t end)
{
	static bool is_ours[MAX_CPUS];
	struct trace *trace = trace_open(s->trace, NULL);
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	unsigned int nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_sys_caller *caller = event->payload;
		const struct trace_sys_enter *enter = event->payload;

		if (event->cpu >= MAX_CPUS)
			continue;
		nr += event->id == TRACE_EV_sys_caller && is_ours[event->cpu] && caller->address >= begin &&
		      caller->address < end;
		if (event->id == TRACE_EV_sys_enter || event->id == TRACE_EV_sys_caller)
			is_ours[event->cpu] = event->id == TRACE_EV_sys_enter && enter->nr == SYS_getppid;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	return nr;
}

static void a_depth_chooses_the_caller(void)
{
	static const char *const options[] = {"-sd0", "-sd1", "-sd2"}, *const callers[] = {"inner", "in_middle",
											   "in_outer"};

	for (size_t i = 0; i < 3; i++) {
		struct session s;
		uint64_t address;

		session_begin(&s);
		record(&s, options[i]);
		address = (uint64_t)session_truth(&s, callers[i]);
		CU_ASSERT_EQUAL(callers_between(&s, address, address + (i ? 1 : MAX_BYTES)), NR_CALLS);
		session_end(&s);
	}
}

static void bounds_choose_the_first_caller_between_them(void)
{
	uint64_t in_middle_then, found;
	char options[100];
	struct session s;

	session_begin(&s);
	record(&s, "-sd1");
	in_middle_then = (uint64_t)session_truth(&s, "in_middle");
	snprintf(options, sizeof(options), "-su%llx -sl0x%llx", (unsigned long long)in_middle_then + 1,
		 (unsigned long long)in_middle_then - 1);
	record(&s, options);
	found = (uint64_t)session_truth(&s, "in_middle");
	CU_ASSERT_EQUAL(found, in_middle_then); /* setarch -R */
	CU_ASSERT_EQUAL(callers_between(&s, found, found + 1), NR_CALLS);
	CU_ASSERT_EQUAL(callers_between(&s, 1, UINT64_MAX), NR_CALLS);
	session_end(&s);
}

/* The program begins during the recording, so no start state has its mappings. */
static void a_program_that_begins_later_has_names(void)
{
	struct trace_symbols *symbols;
	const struct trace_event *event;
	struct trace_cursor *cursor;
	struct trace_symbol symbol;
	struct session s;
	unsigned int nr = 0;
	struct trace *trace;
	uint64_t inner_at;

	session_begin(&s);
	record(&s, "-sd0");
	inner_at = (uint64_t)session_truth(&s, "inner");
	trace = trace_open(s.trace, NULL);
	symbols = trace_symbols_new(trace, NULL);
	cursor = trace_cursor_new(trace, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_sys_caller *caller = event->payload;

		if (event->id != TRACE_EV_sys_caller || caller->address < inner_at ||
		    caller->address >= inner_at + MAX_BYTES)
			continue;
		nr += trace_symbols_find(symbols, (uint32_t)session_truth(&s, "pid"), event->ts_ns, caller->address,
					 &symbol) &&
		      strcmp(symbol.function, "inner") == 0;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	CU_ASSERT_EQUAL(nr, NR_CALLS);
	trace_symbols_free(symbols);
	trace_close(trace);
	session_end(&s);
}

static void without_the_option_no_caller_is_recorded(void)
{
	struct session s;

	session_begin(&s);
	record(&s, "-esyscall");
	CU_ASSERT_EQUAL(callers_between(&s, 1, UINT64_MAX), 0);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_depth_chooses_the_caller),
		CASE(bounds_choose_the_first_caller_between_them),
		CASE(a_program_that_begins_later_has_names),
		CASE(without_the_option_no_caller_is_recorded),
		{NULL, NULL},
	};

	if (argc == 3 && !strcmp(argv[1], "do"))
		return do_calls(argv[2]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_callers: needs root and a kernel with BTF\n");
		return 77;
	}
	self = argv[0];
	return unit_main("callers of system calls", cases, argc, argv);
}
