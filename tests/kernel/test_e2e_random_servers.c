/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_random_servers.c - random servers on the real kernel (tests/kernel/random_servers.c),
 * and servers that collect requests (group_servers.c): what they measured themselves is between
 * the least and the most of their bills.
 *
 * The clock of a thread also counts interrupts, which a bill shows next to it, and leaves out
 * what a hypervisor takes. So the tolerance is 1 % or 100 us; on a machine that stood still
 * meanwhile, what it lost; and how far the clocks of the server's threads and of the trace are
 * apart in all. For the time in which a server read one request while it had others, the bill
 * itself is an estimate: it may differ by that time, which the server measured, too. The sum of
 * a server's bills may not.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "e2e_session.h"
#include "group_servers.h"
#include "unit.h"

#define ALLOWED_NS 100000
#define FEW	   10
#define MANY	   200

/**
 * struct truth - of @client, what the process @server spent for it
 * @collecting_ns: of group_servers, while it read one request and had others
 * @own_ns: of random_servers, on steps that take no time in the plan
 * @reading_ns: of random_servers, the part of @ns in steps that read
 */
struct truth {
	unsigned long long seed;
	long long server, client, ns, collecting_ns, own_ns, reading_ns;
};

static long long slack_of(const struct truth *t)
{
	return t->ns / 100 > ALLOWED_NS ? t->ns / 100 : ALLOWED_NS;
}

/* @in_turn: all is spent on the requests one after another, so the bill itself is right. */
static bool is_inside(struct session *s, const struct truth *t, bool in_turn)
{
	json_t *row = json_with_pid(json_with_pid(s->report, "servers", t->server), "clients", t->client);
	long long interrupted = json_number(json_process(s->report, t->server), "interrupted_ns"),
		  slack = slack_of(t) + session_clocks_apart_ns(s, t->server), least = json_number(row, "least_ns"),
		  most = json_number(row, "most_ns"), exact = json_number(row, "exact_ns");
	long long over = slack + t->own_ns + session_stolen_ns(s), bill = json_number(row, "cpu_ns");
	bool inside = least <= t->ns + over && exact <= t->ns + over &&
		      t->ns <= most + interrupted + t->reading_ns + slack &&
		      (!in_turn || (bill <= t->ns + over + t->collecting_ns &&
				    t->ns <= bill + interrupted + slack + t->collecting_ns));

	if (!inside || getenv("TRACE_VERBOSE"))
		fprintf(stderr,
			"\n    seed %llu: %lld for %lld: truth %lld, bill %lld, exact %lld, from %lld to %lld, "
			"collecting %lld, own %lld, reading %lld, clocks apart %lld%s",
			t->seed, t->server, t->client, t->ns, bill, exact, least, most, t->collecting_ns, t->own_ns,
			t->reading_ns, session_clocks_apart_ns(s, t->server), inside ? "" : ": wrong");
	return inside;
}

/* @t: of all clients together. Their bills are no more than what the server measured. */
static bool is_paid_once(struct session *s, const struct truth *t)
{
	json_t *clients = json_object_get(json_with_pid(s->report, "servers", t->server), "clients"), *row;
	long long slack = slack_of(t) + session_clocks_apart_ns(s, t->server) + session_stolen_ns(s), bills = 0;
	size_t i;
	bool once;

	json_array_foreach(clients, i, row)
		bills += json_number(row, "cpu_ns");
	once = bills <= t->ns + slack;
	if (!once || getenv("TRACE_VERBOSE"))
		fprintf(stderr, "\n    seed %llu: %lld for all: truth %lld, bills %lld%s", t->seed, t->server, t->ns,
			bills, once ? "" : ": wrong");
	return once;
}

static bool is_right(struct session *s, const struct truth *t, bool in_turn)
{
	if (t->client == ALL_CLIENTS)
		return !in_turn || is_paid_once(s, t);
	return !t->ns || is_inside(s, t, in_turn);
}

/*
 * No bill has the work of a server while events were lost, or after the recording ended: no bound
 * holds for it. A gap may have an unknown number of events, as 0.
 */
static bool is_complete(const struct session *s)
{
	const json_t *about = s->report ? json_object_get(s->report, "trace") : NULL;

	return about && json_is_true(json_object_get(about, "command_has_ended")) && json_number(about, "lost") == 0 &&
	       json_number(about, "halted_ns") == 0 && json_array_size(json_object_get(about, "gaps")) == 0;
}

static bool read_truth(FILE *file, struct truth *ret_truth)
{
	struct truth *t = ret_truth;

	return fscanf(file, "%llu %lld %lld %lld %lld %lld %lld", &t->seed, &t->server, &t->client, &t->ns,
		      &t->collecting_ns, &t->own_ns, &t->reading_ns) == 7;
}

/*
 * Returns the number of wrong bills that the recorded program tells, or -1. @ret_groups: NULL, or
 * the variants of group_servers: those that were recorded become true if their bills are right.
 */
static int count_wrong(struct session *s, bool *ret_groups)
{
	bool failed[GROUP_VARIANTS] = {false};
	struct truth t;
	int wrong = -1;
	FILE *file;

	if (session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, s->trace) == 0)
		s->report = session_load(s, "");
	file = is_complete(s) ? fopen(s->truth, "r") : NULL;
	if (file)
		wrong = 0;
	while (file && read_truth(file, &t)) {
		bool right = is_right(s, &t, ret_groups && t.seed < GROUP_IN_TURN);

		wrong += !right;
		if (!ret_groups)
			continue;
		failed[t.seed] |= !right;
		ret_groups[t.seed] = !failed[t.seed];
	}
	if (file)
		fclose(file);
	if (getenv("TRACE_KEEP"))
		fprintf(stderr, "kept: %s\n", s->folder);
	else
		session_end(s);
	return wrong;
}

static int record(unsigned long long first, int nr)
{
	struct session s;

	session_begin(&s);
	if (session_run("timeout 300 %s/tracedaemon %s -- timeout 280 %s %s %llu %d 2>%s/stderr", TRACE_BIN, s.trace,
			TRACE_SERVERS, s.truth, first, nr, s.folder) == 0)
		return count_wrong(&s, NULL);
	session_end(&s);
	return -1;
}

static void what_they_measured_is_inside_the_bounds(void)
{
	unsigned long long first = getenv("TRACE_SEED") ? strtoull(getenv("TRACE_SEED"), NULL, 0) : 1;
	int nr = getenv("TRACE_SEED") ? 1 : getenv("TRACE_TEST_LONG") ? MANY : FEW;

	for (int i = 0; i < nr; i += FEW)
		CU_ASSERT_EQUAL(record(first + (unsigned int)i, nr < FEW ? nr : FEW), 0);
}

static void collected_requests_are_billed_to_their_clients(void)
{
	bool right[GROUP_VARIANTS] = {false};
	char variants[GROUP_VARIANTS * 4] = "";
	struct session s;

	for (int i = 0; i < GROUP_VARIANTS; i++)
		snprintf(variants + strlen(variants), 5, " %d", i);
	session_begin(&s);
	if (session_run("timeout 60 %s/tracedaemon %s -- timeout 50 %s %s%s 2>%s/stderr", TRACE_BIN, s.trace,
			TRACE_GROUPS, s.truth, variants, s.folder) == 0)
		count_wrong(&s, right);
	else
		session_end(&s);
	for (int i = 0; i < GROUP_VARIANTS; i++)
		CU_ASSERT_TRUE(right[i]);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		{"what_they_measured_is_inside_the_bounds", what_they_measured_is_inside_the_bounds},
		{"collected_requests_are_billed_to_their_clients", collected_requests_are_billed_to_their_clients},
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_random_servers: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("random servers, end to end", cases, argc, argv);
}
