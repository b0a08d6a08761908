/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_owners.c - record waits for locks with known owners, and servers with known rests
 * (workload_owners.c), and compare the report with what they measured themselves. Root only;
 * skipped (77) where the kernel cannot be recorded.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "e2e_session.h"
#include "spend.h"
#include "unit.h"

/* A thread may lose its CPU between its reading of the clock and the call. */
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
					  TRACE_OWNERS, session.truth),
			      0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, session.trace), 0);
	session.report = session_load(&session, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
}

static bool is_near(const char *what, long long got, long long expected)
{
	long long slack = expected / 100 + SLACK_NS;

	if (got >= expected - slack && got <= expected + slack)
		return true;
	fprintf(stderr, "\n    %s: %lld, expected %lld\n", what, got, expected);
	return false;
}

/* @holds compares the report with the truth; a loaded machine gets more attempts. */
static void check(bool (*holds)(void))
{
	for (int attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
		if (!session.report)
			record();
		if (holds())
			return;
		session_end(&session);
		session.report = NULL;
	}
	record();
	CU_ASSERT(holds());
}

/* ---- locks ---- */

/* The time that thread @tid waited for a lock of thread @holder. */
static long long waited_for(long long tid, long long holder)
{
	long long ns = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(session.report, "locks"), i, row)
		if (json_number(row, "tid") == tid && json_number(row, "holder_tid") == holder)
			ns += json_number(row, "ns");
	return ns;
}

static bool are_owners(const char *lock)
{
	bool are = true;

	for (int i = 0; i < 3; i++) {
		char tid[16], ns[16];

		snprintf(tid, sizeof(tid), "tid%d", i);
		snprintf(ns, sizeof(ns), "ns%d", i);
		are &= is_near(lock, waited_for(truth_of(lock, "tid3"), truth_of(lock, tid)), truth_of(lock, ns));
	}
	return are;
}

#define OWNERS(claim, lock)               \
	static bool claim##_holds(void)   \
	{                                 \
		return are_owners(#lock); \
	}                                 \
	static void claim(void)           \
	{                                 \
		check(claim##_holds);     \
	}
OWNERS(a_wait_for_a_mutex_of_threads_is_split, mutex_threads)
OWNERS(a_wait_for_a_mutex_of_processes_is_split, mutex_processes)
OWNERS(a_wait_for_a_pi_mutex_is_split, pi)
OWNERS(a_wait_for_a_reader_writer_lock_is_split, rwlock)
OWNERS(a_wait_for_flock_is_split, flock)
OWNERS(a_wait_for_a_record_lock_is_split, record)

static bool requeue_holds(void)
{
	long long tid = truth_of("requeue", "tid");

	return is_near("condition", waited_for(tid, truth_of("requeue", "signaller")),
		       truth_of("requeue", "condition_ns")) &&
	       is_near("mutex", waited_for(tid, truth_of("requeue", "owner")), truth_of("requeue", "mutex_ns"));
}

static void a_requeued_wait_is_for_the_owner_of_the_mutex(void)
{
	check(requeue_holds);
}

/* ---- rests ---- */

static long long blocked_of(const char *scenario, const char *kind, const char *via, bool idle)
{
	json_t *process = json_process(session.report, truth_of(scenario, "pid")), *wait;
	long long ns = 0;
	size_t i;

	json_array_foreach(json_object_get(process, "waits"), i, wait)
		if (strcmp(json_text(wait, "kind"), kind) == 0 && strcmp(json_text(wait, "via"), via) == 0 &&
		    (bool)json_is_true(json_object_get(wait, "idle")) == idle)
			ns += json_number(wait, "ns");
	return ns;
}

/*
 * The time that a process measures around a call that waits has the wait for a CPU behind it, too.
 */
static bool is_near_its_clock(const char *scenario, const char *what, long long got, const char *key)
{
	const json_t *process = json_process(session.report, truth_of(scenario, "pid"));
	long long expected = truth_of(scenario, key), with_cpu = got + json_number(process, "wait_cpu_ns");

	if (got < expected && with_cpu > expected)
		return true;
	return is_near(what, got < expected ? with_cpu : got, expected);
}

static bool proxy_holds(void)
{
	return is_near_its_clock("proxy", "proxy, blocked", blocked_of("proxy", "process", "tcp", false),
				 "blocked_ns") &&
	       is_near_its_clock("proxy", "proxy, idle", blocked_of("proxy", "process", "tcp", true), "idle_ns");
}

static void a_proxy_rests_only_without_a_request(void)
{
	check(proxy_holds);
}

static bool pool_holds(void)
{
	return is_near_its_clock("pool", "worker, idle", blocked_of("pool", "process", "futex", true), "rest_ns") &&
	       is_near_its_clock("pool", "worker, its job", blocked_of("pool", "timeout", "", false), "job_ns");
}

static void a_worker_of_a_pool_rests_between_two_jobs(void)
{
	check(pool_holds);
}

static bool udp_holds(void)
{
	return is_near_its_clock("udp", "udp", blocked_of("udp", "process", "udp", true), "idle_ns") &&
	       is_near("its client", blocked_of("udp_client", "process", "udp", true), 0);
}

static void a_server_of_datagrams_rests(void)
{
	check(udp_holds);
}

static bool helper_holds(void)
{
	return is_near("no server", blocked_of("no_server", "process", "pipe", true), 0) &&
	       (blocked_of("no_server", "process", "pipe", false) >= 30 * MS);
}

static void a_listener_that_was_closed_before_the_fork_is_not_inherited(void)
{
	check(helper_holds);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wait_for_a_mutex_of_threads_is_split),
		CASE(a_wait_for_a_mutex_of_processes_is_split),
		CASE(a_wait_for_a_pi_mutex_is_split),
		CASE(a_wait_for_a_reader_writer_lock_is_split),
		CASE(a_wait_for_flock_is_split),
		CASE(a_wait_for_a_record_lock_is_split),
		CASE(a_requeued_wait_is_for_the_owner_of_the_mutex),
		CASE(a_proxy_rests_only_without_a_request),
		CASE(a_worker_of_a_pool_rests_between_two_jobs),
		CASE(a_server_of_datagrams_rests),
		CASE(a_listener_that_was_closed_before_the_fork_is_not_inherited),
		{NULL, NULL},
	};
	int result;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_owners: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("owners", cases, argc, argv);
	if (session.report)
		session_end(&session);
	return result;
}
