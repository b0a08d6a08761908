/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_scopes.c - record a program with scopes and requests of its own (scope_scenarios.c), and
 * compare the division of their time with the program's clocks. Root only; skipped (77) where the
 * kernel cannot be recorded.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "e2e_session.h"
#include "unit.h"

static json_t *span(const struct session *s, const char *kind, const char *name)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(s->report, "spans"), i, row) {
		if (strcmp(json_text(row, "kind"), kind) == 0 && strcmp(json_text(row, "name"), name) == 0 &&
		    json_number(row, "pid") == session_truth(s, "pid"))
			return row;
	}
	fprintf(stderr, "\n    no %s %s\n", kind, name);
	CU_FAIL_FATAL("no such span");
	return NULL;
}

/* @got is from @least to @most, within 1 in 1,000 or 100 us. @beside: time that the program's clock
 *   includes and we count elsewhere, or the other way round. */
static void agrees(const char *what, long long got, long long least, long long most, long long beside)
{
	long long slack = (most / 1000 > 100000 ? most / 1000 : 100000) + beside;

	if (got < least - slack || got > most + slack)
		fprintf(stderr, "\n    %s: %lld, the program says %lld to %lld, and %lld may be beside\n", what, got,
			least, most, beside);
	CU_ASSERT(got >= least - slack && got <= most + slack);
}

/* The program's measurements inside and outside the tracepoints of @name. */
static void agrees_with_truth(const struct session *s, const char *name, long long got, long long beside)
{
	char without[64], within[64];

	snprintf(without, sizeof(without), "%s_ns", name);
	snprintf(within, sizeof(within), "%s_within_ns", name);
	agrees(name, got, session_truth(s, within), session_truth(s, without), beside);
}

static long long wait_ns(const json_t *span, const char *kind, long long pid)
{
	long long ns = 0;
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(span, "waits"), i, wait)
		if (strcmp(json_text(wait, "kind"), kind) == 0 && json_number(wait, "pid") == pid)
			ns += json_number(wait, "ns");
	return ns;
}

static long long cpu_ns(const json_t *span)
{
	return json_number(span, "user_ns") + json_number(span, "system_ns");
}

/* Off the CPU, but runnable: the program's clocks call it sleeping or waiting. And the hypervisor's
 * time, which the kernel subtracts from a thread's clock. */
static long long beside_ns(const struct session *s, const json_t *span)
{
	return json_number(span, "wait_cpu_ns") + json_number(span, "interrupted_ns") + wait_ns(span, "unknown", 0) +
	       session_stolen_ns(s);
}

static void record_once(struct session *s)
{
	session_begin(s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s -- %s %s 2>%s/stderr", TRACE_BIN, s->trace,
					  TRACE_SCENARIOS, s->truth, s->folder),
			      0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >%s/verify 2>&1", TRACE_BIN, s->trace, s->folder),
			0);
	s->report = session_load(s, "--json");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s->report);
}

/*
 * Threads that no tracer sees (of process 1, on some machines) take a CPU now and then, and the
 * thread before them counts as running. A recording with more CPU time than the program had is
 * repeated.
 */
static void record(struct session *s)
{
	long long seen, had;

	for (int attempt = 0; attempt < 5; attempt++) {
		record_once(s);
		seen = cpu_ns(span(s, "scope", "shop:checkout")) + cpu_ns(span(s, "request", "shop:order"));
		had = session_truth(s, "checkout_cpu_ns") + session_truth(s, "order_cpu_ns");
		if (attempt == 4 || seen - had < 100000 + had / 200)
			break;
		session_end(s);
	}
}

static void a_scope_is_divided_as_the_program_measured_it(void)
{
	struct session s;
	json_t *checkout, *till;
	long long sleep, asked;

	record(&s);
	checkout = span(&s, "scope", "shop:checkout");
	till = span(&s, "scope", "shop:till");
	CU_ASSERT_EQUAL(json_number(checkout, "count"), session_truth(&s, "checkouts"));
	CU_ASSERT_EQUAL(json_number(checkout, "open"), 0);
	CU_ASSERT_EQUAL(json_number(checkout, "unseen_ns"), 0);
	agrees_with_truth(&s, "checkout", json_number(checkout, "sum_ns"), 0);
	agrees_with_truth(&s, "checkout_cpu", cpu_ns(checkout), beside_ns(&s, checkout));
	agrees_with_truth(&s, "till", json_number(till, "sum_ns"), 0);
	sleep = session_truth(&s, "sleep_ns");
	agrees("sleep", wait_ns(checkout, "timeout", 0), sleep - sleep / 100, sleep, beside_ns(&s, checkout));
	asked = session_truth(&s, "till_within_ns");
	agrees("the wait for the till, and what asking took",
	       wait_ns(checkout, "process", session_truth(&s, "till_pid")) + cpu_ns(till), asked - asked / 100, asked,
	       beside_ns(&s, checkout));
	CU_ASSERT_EQUAL(json_number(till, "count"), session_truth(&s, "checkouts"));
	session_end(&s);
}

static void a_request_is_followed_from_thread_to_thread(void)
{
	struct session s;
	json_t *order;

	record(&s);
	order = span(&s, "request", "shop:order");
	CU_ASSERT_EQUAL(json_number(order, "count"), session_truth(&s, "orders"));
	CU_ASSERT_EQUAL(json_number(order, "open"), 0);
	CU_ASSERT_EQUAL(json_number(order, "unmatched"), 0);
	agrees_with_truth(&s, "order", json_number(order, "sum_ns"), 0);
	agrees_with_truth(&s, "order_cpu", cpu_ns(order), beside_ns(&s, order));
	CU_ASSERT(json_number(order, "queued_ns") > 0);
	session_end(&s);
}

static void events_and_counters_are_counted(void)
{
	struct session s;
	const json_t *paid, *queue;

	record(&s);
	paid = json_row(s.report, "user_events", "name", "shop:paid");
	queue = json_row(s.report, "user_events", "name", "shop:queue");
	CU_ASSERT_PTR_NOT_NULL_FATAL(paid);
	CU_ASSERT_PTR_NOT_NULL_FATAL(queue);
	CU_ASSERT_EQUAL(json_number(paid, "count"), session_truth(&s, "checkouts"));
	CU_ASSERT_EQUAL(json_number(paid, "pid"), session_truth(&s, "pid"));
	CU_ASSERT_EQUAL(json_number(queue, "count"), session_truth(&s, "orders"));
	CU_ASSERT(json_real_value(json_object_get(queue, "lowest")) >= 0);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_scope_is_divided_as_the_program_measured_it),
		CASE(a_request_is_followed_from_thread_to_thread),
		CASE(events_and_counters_are_counted),
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_scopes: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("scopes, end to end", cases, argc, argv);
}
