/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_wakers.c - what ended the waits of workload_wakers.c, which measures them
 *
 * Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define NR 4

static const struct {
	const char *waker, *waiter;
} pairs[NR] = {{";wake_by_pipe;", ";wait_for_pipe;"},
	       {";wake_by_event;", ";wait_for_event;"},
	       {";wake_by_condition;", ";wait_for_condition;"},
	       {";wake_deep;wake_deep;", ";wait_for_pipe;"}};

/* The time in stacks with @waiter before, and @waker behind what separates them. */
static long long ns_of(const json_t *profile, const char *waiter, const char *waker)
{
	long long ns = 0;
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(profile, "folded"), i, row) {
		const char *stack = json_string_value(json_object_get(row, "stack")), *behind = strstr(stack, ";--;"),
			   *at = strstr(stack, waiter);

		if (at && behind && at < behind && strstr(behind, waker))
			ns += (long long)json_integer_value(json_object_get(row, "ns"));
	}
	return ns;
}

/* @tolerance: of the share of a waker, percent of all waits of the waiter */
static void compare(const struct session *s, const char *arguments, double tolerance)
{
	long long truth[NR], found[NR], all = 0, all_found = 0;
	char line[128], name[64];
	json_t *profile;
	FILE *out;

	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --sample %s -- " TRACE_WAKERS " %s >%s/stdout 2>%s/stderr",
					  TRACE_BIN, s->trace, arguments, s->folder, s->folder),
			      0);
	snprintf(line, sizeof(line), "%s/stdout", s->folder);
	out = fopen(line, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (int i = 0; i < NR; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(fgets(line, sizeof(line), out));
		CU_ASSERT_EQUAL_FATAL(sscanf(line, "%63s %lld", name, &truth[i]), 2);
		all += truth[i];
	}
	fclose(out);
	profile = session_load(s, "--folded=wakers --comm=workload_wakers --verify");
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	for (int i = 0; i < NR; i++) {
		found[i] = ns_of(profile, pairs[i].waiter, pairs[i].waker);
		all_found += found[i];
	}
	for (int i = 0; i < NR; i++) {
		double off = 100.0 * ((double)found[i] / (double)(all_found + !all_found) -
				      (double)truth[i] / (double)(all + !all));

		CU_ASSERT(off < tolerance && off > -tolerance);
		if (off >= tolerance || off <= -tolerance)
			fprintf(stderr, "%s: %lld of %lld ns, expected %lld of %lld\n", pairs[i].waker, found[i],
				all_found, truth[i], all);
		for (int j = 0; j < NR; j++) /* no waker has the waits of another function */
			if (strcmp(pairs[i].waiter, pairs[j].waiter) != 0)
				CU_ASSERT_EQUAL(ns_of(profile, pairs[i].waiter, pairs[j].waker), 0);
	}
	json_decref(profile);
}

static void each_long_wait_has_its_waker(void)
{
	struct session s;

	session_begin(&s);
	compare(&s, "2000000 20", 4);
	session_end(&s);
}

/* Of 60 us and its multiples: the longest have 4 times the chance of a stack. */
static void short_waits_have_their_wakers_by_chance(void)
{
	struct session s;

	session_begin(&s);
	compare(&s, "60000 3000", 8);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(each_long_wait_has_its_waker),
		CASE(short_waits_have_their_wakers_by_chance),
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_wakers: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("e2e_wakers", cases, argc, argv);
}
