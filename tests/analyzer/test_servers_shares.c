/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_shares.c - bills as intervals in time. That they add up to the bills is part of
 * trace_servers_verify(), which all tests of servers call.
 */
#include <string.h>
#include "servers_case.h"
#include "unit.h"

#define SHARES 4096u

struct told {
	uint64_t from_ns, to_ns;
	bool exact;
	uint64_t of_one, of_two, of_others; /* ns for the clients 10 and 20 */
};
struct list {
	struct told items[SHARES];
	uint32_t nr;
};

static bool note(void *data, const struct trace_server_share *share)
{
	struct list *list = data;
	struct told *told = &list->items[list->nr];

	CU_ASSERT_FATAL(list->nr < SHARES);
	CU_ASSERT(share->from_ns < share->to_ns && share->nr_clients > 0);
	*told = (struct told){.from_ns = share->from_ns, .to_ns = share->to_ns, .exact = share->exact};
	for (size_t i = 0; i < share->nr_clients; i++) {
		uint32_t pid = share->clients[i].process ? trace_process_pid(share->clients[i].process) : 0;

		*(pid == 10 ? &told->of_one : pid == 20 ? &told->of_two : &told->of_others) += share->clients[i].ns;
	}
	CU_ASSERT_EQUAL(told->of_one + told->of_two + told->of_others, told->to_ns - told->from_ns);
	list->nr++;
	return true;
}

static const struct list *shares_of(const struct case_of_servers *k, uint32_t tid, uint64_t from_ns, uint64_t to_ns)
{
	static struct list list;
	const struct trace_thread *thread = trace_find_thread(k->c.analysis, tid);

	list.nr = 0;
	CU_ASSERT_EQUAL(trace_server_shares(k->servers, thread, from_ns, to_ns, note, &list), 0);
	return &list;
}

/* The share of the server at @ns; an empty one if that time is background. */
static struct told share_at(const struct case_of_servers *k, uint64_t ns)
{
	const struct list *list = shares_of(k, 30, 0, UINT64_MAX);

	for (uint32_t i = 0; i < list->nr; i++)
		if (list->items[i].from_ns <= ns && list->items[i].to_ns > ns)
			return list->items[i];
	return (struct told){0};
}

#define IS(share, from, to, is_exact) \
	CU_ASSERT((share).from_ns == (from) && (share).to_ns == (to) && (share).exact == (is_exact))

static void one_asks(struct case_of_servers *k)
{
	connects(k, &one, &one_server, 1200);
	polls(k, 2, 1230);
	sends(k, &one, 1250);
	receives(k, &one_server, 1300);
	sends(k, &one_server, 2000);
	receives(k, &one, 2100);
	polls(k, 2, 2200);
}

static void an_answered_request_is_exact_until_its_answer(void)
{
	struct case_of_servers k = begin();

	one_asks(&k);
	run(&k);
	IS(share_at(&k, 1500), 1300, 2010, true);
	CU_ASSERT_EQUAL(share_at(&k, 1500).of_one, 710);
	IS(share_at(&k, 2100), 2010, 2200, false);
	CU_ASSERT_EQUAL(share_at(&k, 1250).to_ns, 0); /* it looks for work */
	CU_ASSERT_EQUAL(share_at(&k, 2300).to_ns, 0);
	CU_ASSERT_EQUAL(shares_of(&k, 10, 0, UINT64_MAX)->nr, 0);
	end(&k);
}

static void an_interrupt_is_in_no_interval(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1230);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_softirq(k.c.tb, 2, 1500, NET_RX);
	tb_softirq_exit(k.c.tb, 2, 1600, NET_RX);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2200);
	run(&k);
	IS(share_at(&k, 1400), 1300, 1500, true);
	IS(share_at(&k, 1700), 1600, 2010, true);
	EXACT(&k, 30, 10, 710 - 100);
	end(&k);
}

/* The second example of docs/SERVERS.md. */
static void with_two_requests_the_next_answer_decides(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1100);
	connects(&k, &two, &two_server, 1120);
	polls(&k, 2, 1140);
	sends(&k, &one, 1150);
	sends(&k, &two, 1170);
	receives(&k, &one_server, 1200);
	receives(&k, &two_server, 1300);
	tb_sys_enter(k.c.tb, 2, 1400, SYS_getpid, 0);
	tb_sys_exit(k.c.tb, 2, 1410, 30);
	sends(&k, &one_server, 8000); /* more than the time between answers that come together */
	sends(&k, &two_server, 8500);
	polls(&k, 2, 8800);
	run(&k);
	IS(share_at(&k, 1250), 1200, 1300, true);
	CU_ASSERT_EQUAL(share_at(&k, 1250).of_one, 100);
	IS(share_at(&k, 5000), 1310, 8010, false);
	CU_ASSERT_EQUAL(share_at(&k, 5000).of_one, 6700);
	IS(share_at(&k, 8600), 8010, 8800, false);
	CU_ASSERT_EQUAL(share_at(&k, 8600).of_two, 790);
	CU_ASSERT_EQUAL(bill(&k, 30, 10).cpu_ns + bill(&k, 30, 20).cpu_ns, 8800 - 1200 + (1140 - 1100));
	end(&k);
}

/* Answers that come together share the time before them: each ns is for one of them, in turn. */
static void parts_of_shared_time_add_up(void)
{
	struct case_of_servers k = begin();
	struct told whole;

	connects(&k, &one, &one_server, 1100);
	connects(&k, &two, &two_server, 1120);
	polls(&k, 2, 1140);
	sends(&k, &one, 1150);
	sends(&k, &two, 1170);
	receives(&k, &one_server, 1200);
	receives(&k, &two_server, 1300);
	sends(&k, &one_server, 2001);
	sends(&k, &two_server, 2012);
	polls(&k, 2, 2200);
	run(&k);
	whole = share_at(&k, 1500);
	CU_ASSERT_FATAL(whole.of_one > 0 && whole.of_two > 0 && !whole.exact);
	for (uint64_t cut = whole.from_ns + 1; cut < whole.to_ns; cut++) {
		struct told left = shares_of(&k, 30, whole.from_ns, cut)->items[0],
			    right = shares_of(&k, 30, cut, whole.to_ns)->items[0];

		CU_ASSERT(left.to_ns == cut && right.from_ns == cut);
		CU_ASSERT_EQUAL(left.of_one + right.of_one, whole.of_one);
		CU_ASSERT_EQUAL(left.of_two + right.of_two, whole.of_two);
		CU_ASSERT(left.of_one <= left.of_two + 1 && left.of_two <= left.of_one + 1);
	}
	end(&k);
}

/* After one more piece of an answer, its request was open while a hundred others were served. */
static void a_late_piece_refutes_old_proofs(void)
{
	for (int late = 0; late < 2; late++) {
		struct case_of_servers k = begin();
		uint64_t ns = 1400;

		connects(&k, &one, &one_server, 1100);
		connects(&k, &two, &two_server, 1120);
		polls(&k, 2, 1140);
		sends(&k, &one, 1150);
		receives(&k, &one_server, 1200);
		sends(&k, &one_server, 1250);
		polls(&k, 2, 1300);
		for (int i = 0; i < 100; i++, ns += 60) {
			sends(&k, &two, ns);
			receives(&k, &two_server, ns + 15);
			sends(&k, &two_server, ns + 30);
			receives(&k, &two, ns + 42);
			polls(&k, 2, ns + 45);
		}
		if (late)
			sends(&k, &one_server, ns);
		polls(&k, 2, ns + 20);
		run(&k);
		CU_ASSERT_EQUAL(bill(&k, 30, 20).exact_ns, late ? 0 : 100 * 25);
		CU_ASSERT_EQUAL(share_at(&k, 1420).exact, !late);
		end(&k);
	}
}

/* The server waits for longer, and then has its CPU for longer, than 32 bits of ns can tell. */
static void long_times_are_whole(void)
{
	const uint64_t away = 2000, back = 10000000000ull, late = 30000000000ull;
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1230);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_switch(k.c.tb, 2, away, 30, 0, TRACE_TASK_RUNNING);
	tb_switch(k.c.tb, 2, back, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_enter(k.c.tb, 2, back + 4000000000ull, SYS_getpid, 0);
	tb_sys_exit(k.c.tb, 2, back + 4000000010ull, 30);
	tb_sys_enter(k.c.tb, 2, back + 4400000000ull, SYS_getpid, 0);
	tb_sys_exit(k.c.tb, 2, back + 4400000010ull, 30);
	sends(&k, &one_server, late);
	polls(&k, 2, late + 100);
	for (uint32_t i = 0; i < 4; i++)
		tb_switch(k.c.tb, i, late + 1000, processes[i], processes[i], TRACE_TASK_RUNNING);
	run_of(&k, tb_open_trace(k.c.tb));
	IS(share_at(&k, 1500), 1300, away, true);
	IS(share_at(&k, back), back, late + 10, true);
	EXACT(&k, 30, 10, away - 1300 + late + 10 - back);
	end(&k);
}

static void what_is_not_kept_is_told(void)
{
	struct case_of_servers k = begin();
	struct trace_error error = {0};
	struct list list = {0};
	const struct trace_thread *thread;

	one_asks(&k);
	finish(&k);
	k.c.trace = tb_open_trace(k.c.tb);
	for (size_t max = 0; max < 40; max += 13) {
		int result;

		k.c.analysis = trace_analysis_new(k.c.trace, NULL, &error);
		k.servers = trace_servers_new(k.c.trace, k.c.analysis, &error);
		if (max)
			CU_ASSERT_EQUAL(trace_servers_keep_shares(k.servers, max == 13 ? 1 : max), 0);
		CU_ASSERT_EQUAL(trace_analysis_run(k.c.analysis, &error), 0);
		CU_ASSERT_EQUAL(trace_servers_verify(k.servers, &error), 0);
		thread = trace_find_thread(k.c.analysis, 30);
		result = trace_server_shares(k.servers, thread, 0, UINT64_MAX, note, &list);
		CU_ASSERT_EQUAL(result, max == 0 ? -EINVAL : max == 13 ? -E2BIG : 0);
		EXACT(&k, 30, 10, 710);
		trace_servers_free(k.servers);
		if (max < 39)
			trace_analysis_free(k.c.analysis);
	}
	CU_ASSERT(list.nr > 0);
	case_free(&k.c);
}

static const struct unit_case cases[] = {
	{"an_answered_request_is_exact_until_its_answer", an_answered_request_is_exact_until_its_answer},
	{"an_interrupt_is_in_no_interval", an_interrupt_is_in_no_interval},
	{"with_two_requests_the_next_answer_decides", with_two_requests_the_next_answer_decides},
	{"parts_of_shared_time_add_up", parts_of_shared_time_add_up},
	{"a_late_piece_refutes_old_proofs", a_late_piece_refutes_old_proofs},
	{"long_times_are_whole", long_times_are_whole},
	{"what_is_not_kept_is_told", what_is_not_kept_is_told},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_shares", cases, argc, argv);
}
