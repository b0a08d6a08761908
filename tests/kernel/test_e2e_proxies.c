/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_proxies.c - record proxies that relay answers in parts (workload_proxies.c), and compare
 * their idle waits with the time that they measured without a request open. Root only; skipped (77)
 * where the kernel cannot be recorded.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "e2e_session.h"
#include "spend.h"
#include "unit.h"

#define SLACK_NS     (3 * MS)
#define MAX_ATTEMPTS 4

static struct session session; /* of all cases */

static long long truth_of(const char *scenario, const char *key)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%s", scenario, key);
	return session_truth(&session, name);
}

static void record(void)
{
	session_begin(&session);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s -- %s %s 2>/dev/null", TRACE_BIN, session.trace,
					  TRACE_PROXIES, session.truth),
			      0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, session.trace), 0);
	session.report = session_load(&session, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
}

static long long waited_ns(const json_t *process, bool idle)
{
	long long ns = 0;
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(process, "waits"), i, wait)
		ns += (bool)json_is_true(json_object_get(wait, "idle")) == idle ? json_number(wait, "ns") : 0;
	return ns;
}

/* The time that the proxy measured has its waits for a CPU, too. */
static bool is_near(const char *scenario, const char *key, const json_t *process, bool idle)
{
	long long got = waited_ns(process, idle), expected = truth_of(scenario, key), slack = expected / 100 + SLACK_NS;

	if (got <= expected + slack && got >= expected - slack - json_number(process, "wait_cpu_ns"))
		return true;
	fprintf(stderr, "\n    %s: %s: %lld, expected %lld\n", scenario, key, got, expected);
	return false;
}

static bool holds(const char *scenario)
{
	const json_t *process = json_process(session.report, truth_of(scenario, "pid"));

	return process && truth_of(scenario, "rest_ns") >= 0 && is_near(scenario, "rest_ns", process, true) &&
	       is_near(scenario, "open_ns", process, false);
}

/* A loaded machine, where events may be lost, gets more attempts. */
static void check(const char *scenario)
{
	for (int attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
		if (!session.report)
			record();
		if (holds(scenario))
			return;
		session_end(&session);
		session.report = NULL;
	}
	record();
	CU_ASSERT(holds(scenario));
}

#define RESTS(claim, scenario)    \
	static void claim(void)   \
	{                         \
		check(#scenario); \
	}
RESTS(a_proxy_of_one_client_rests_between_its_requests, one)
RESTS(a_proxy_of_many_clients_rests_when_no_answer_goes_on, many)
RESTS(a_timeout_in_the_midst_of_an_answer_is_no_rest, timer)
RESTS(a_backend_at_a_unix_socket_is_waited_for, unix)
RESTS(an_answer_may_end_with_the_connection, close)
RESTS(a_client_may_have_sent_its_last_byte, half_close)
RESTS(a_server_that_pushes_rests_between_messages, push)
RESTS(a_forwarder_of_datagrams_rests_when_all_are_answered, datagrams)

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_proxy_of_one_client_rests_between_its_requests),
		CASE(a_proxy_of_many_clients_rests_when_no_answer_goes_on),
		CASE(a_timeout_in_the_midst_of_an_answer_is_no_rest),
		CASE(a_backend_at_a_unix_socket_is_waited_for),
		CASE(an_answer_may_end_with_the_connection),
		CASE(a_client_may_have_sent_its_last_byte),
		CASE(a_server_that_pushes_rests_between_messages),
		CASE(a_forwarder_of_datagrams_rests_when_all_are_answered),
		{NULL, NULL},
	};
	int result;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_proxies: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("proxies", cases, argc, argv);
	if (session.report)
		session_end(&session);
	return result;
}
