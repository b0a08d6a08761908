/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_kept.c - the requests of servers, one by one. That they are those of the bills, and
 * within them, is part of trace_servers_verify(), which all tests of servers call.
 */
#include <string.h>
#include "servers_case.h"
#include "servers_close.h"
#include "unit.h"

struct request_list {
	struct trace_server_request items[16];
	uint32_t nr;
};

static bool note(void *data, const struct trace_server_request *request)
{
	struct request_list *list = data;

	CU_ASSERT_FATAL(list->nr < 16);
	list->items[list->nr++] = *request;
	return true;
}

static const struct request_list *requests_of(const struct case_of_servers *k, uint32_t pid)
{
	static struct request_list list;
	const struct trace_thread *thread = trace_find_thread(k->c.analysis, pid);

	list.nr = 0;
	CU_ASSERT_EQUAL(trace_server_requests(k->servers, trace_thread_process(thread), note, &list), 0);
	for (uint32_t i = 0; i < list.nr; i++)
		CU_ASSERT_EQUAL(trace_process_pid(list.items[i].server), pid);
	return &list;
}

#define TIMES(request, from, to, how) \
	CU_ASSERT((request)->from_ns == (from) && (request)->to_ns == (to) && (request)->end == (how))
#define COSTS(request, cpu, least, most) \
	CU_ASSERT((request)->cpu_ns == (cpu) && (request)->least_ns == (least) && (request)->most_ns == (most))

static uint32_t tid_of(const struct trace_thread *thread)
{
	return thread ? trace_thread_tid(thread) : 0;
}

static void a_request_is_open_until_its_answer(void)
{
	struct case_of_servers k = begin();
	const struct trace_server_request *request;

	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1230);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2200);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(requests_of(&k, 30)->nr, 1);
	request = requests_of(&k, 30)->items;
	TIMES(request, 1305, 2005, TRACE_REQUEST_ANSWERED);
	/* 30 ns of the bill are for the connection, and 190 ns after the answer are not proven */
	COSTS(request, 930, 710, 930);
	CU_ASSERT_EQUAL(trace_process_pid(request->process), 10);
	CU_ASSERT(tid_of(request->thread) == 30 && tid_of(request->answerer) == 30);
	CU_ASSERT_EQUAL(requests_of(&k, 10)->nr, 0); /* a client is no server */
	end(&k);
}

static void requests_of_one_client_share_its_bill(void)
{
	struct end other = two, other_server = two_server;
	struct case_of_servers k = begin();
	const struct trace_server_request *requests;

	other.cpu = 0;
	other.fd = 7;
	connects(&k, &one, &one_server, 1100);
	connects(&k, &other, &other_server, 1120);
	polls(&k, 2, 1140);
	sends(&k, &one, 1150);
	sends(&k, &other, 1170);
	receives(&k, &one_server, 1200);
	receives(&k, &other_server, 1300);
	sends(&k, &one_server, 8000); /* more than the time between answers that come together */
	sends(&k, &other_server, 8500);
	polls(&k, 2, 8800);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(requests_of(&k, 30)->nr, 2);
	requests = requests_of(&k, 30)->items;
	TIMES(&requests[0], 1205, 8005, TRACE_REQUEST_ANSWERED);
	TIMES(&requests[1], 1305, 8505, TRACE_REQUEST_ANSWERED);
	CU_ASSERT_EQUAL(requests[0].least_ns, 100);
	CU_ASSERT_EQUAL(requests[1].least_ns, 0);
	CU_ASSERT_EQUAL(requests[0].cpu_ns + requests[1].cpu_ns, bill(&k, 30, 10).cpu_ns);
	CU_ASSERT(requests[0].cpu_ns >= 8010 - 1200 && requests[1].cpu_ns >= 8800 - 8010);
	CU_ASSERT_EQUAL(requests[1].most_ns, 8800 - 1300 + 20); /* and its connection */
	end(&k);
}

/* The thread has two requests of one client when it asks a server, and when that has answered. */
static void what_is_exact_for_the_client_is_not_proven_for_one_of_its_requests(void)
{
	struct end other = two, other_server = two_server;
	struct case_of_servers k = begin();
	const struct trace_server_request *requests;

	other.cpu = 0;
	other.fd = 7;
	connects(&k, &down, &down_server, 1050);
	connects(&k, &one, &one_server, 1100);
	connects(&k, &other, &other_server, 1120);
	polls(&k, 2, 1140);
	polls(&k, 3, 1140);
	sends(&k, &one, 1150);
	sends(&k, &other, 1170);
	receives(&k, &one_server, 1200);
	receives(&k, &other_server, 1300);
	sends(&k, &down, 3000);
	receives(&k, &down_server, 3050);
	sends(&k, &down_server, 3500);
	receives(&k, &down, 3600);
	sends(&k, &other_server, 4000);
	sends(&k, &one_server, 8000);
	polls(&k, 2, 8800);
	run(&k);
	requests = requests_of(&k, 30)->items;
	CU_ASSERT_EQUAL(bill(&k, 30, 10).exact_ns, 3610 - 1200);
	CU_ASSERT_EQUAL(requests[0].least_ns + requests[1].least_ns, 100);
	end(&k);
}

static void a_chain_has_a_request_at_each_server(void)
{
	struct case_of_servers k = begin();
	const struct trace_server_request *at_proxy, *at_database;

	connects(&k, &down, &down_server, 1050);
	connects(&k, &one, &one_server, 1100);
	polls(&k, 3, 1140);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	sends(&k, &down, 1500);
	receives(&k, &down_server, 1550);
	sends(&k, &down_server, 1800);
	receives(&k, &down, 1850);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2200);
	polls(&k, 3, 2200);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(requests_of(&k, 30)->nr, 1);
	at_proxy = requests_of(&k, 30)->items;
	TIMES(at_proxy, 1305, 2005, TRACE_REQUEST_ANSWERED);
	CU_ASSERT_EQUAL_FATAL(requests_of(&k, 40)->nr, 1);
	at_database = requests_of(&k, 40)->items;
	TIMES(at_database, 1555, 1805, TRACE_REQUEST_ANSWERED);
	CU_ASSERT_EQUAL(trace_process_pid(at_database->process), 10);
	CU_ASSERT_EQUAL(at_database->least_ns, 260);
	end(&k);
}

static void a_request_without_answer_ends_with_its_connection(void)
{
	struct end client = tcp(one, 4000, 80), server = tcp(one_server, 80, 4000);
	struct case_of_servers k = begin();

	connects(&k, &client, &server, 1200);
	transfer(&k, &client, 1250, true, 16, 1016);
	transfer(&k, &server, 1300, false, 16, 1016);
	closes(&k, &server, 2000, FIN_WAIT1);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(requests_of(&k, 30)->nr, 1);
	CU_ASSERT_EQUAL(requests_of(&k, 30)->items->from_ns, 1305);
	CU_ASSERT(requests_of(&k, 30)->items->to_ns >= 2000 && requests_of(&k, 30)->items->to_ns <= 2002);
	CU_ASSERT_EQUAL(requests_of(&k, 30)->items->end, TRACE_REQUEST_CLOSED);
	CU_ASSERT_PTR_NULL(requests_of(&k, 30)->items->answerer);
	CU_ASSERT_EQUAL(requests_of(&k, 30)->items->least_ns, 0);
	end(&k);
}

static void what_ended_is_told(bool is_lost, enum trace_request_end end_of_it)
{
	struct case_of_servers k = begin();
	const struct trace_server_request *request;

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	polls(&k, 1, 1990);
	if (is_lost)
		tb_lost(k.c.tb, 1, 3);
	polls(&k, 1, 3000);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(requests_of(&k, 30)->nr, 1);
	request = requests_of(&k, 30)->items;
	CU_ASSERT_EQUAL(request->end, end_of_it);
	CU_ASSERT(is_lost ? request->to_ns < 3100 : request->to_ns >= 8999);
	CU_ASSERT(request->most_ns >= request->to_ns - 1300);
	end(&k);
}

static void an_open_request_and_one_before_a_gap_say_so(void)
{
	what_ended_is_told(false, TRACE_REQUEST_OPEN);
	what_ended_is_told(true, TRACE_REQUEST_UNKNOWN);
}

/* One more piece of an answer, after a rest: the request was open all the time. */
static void a_late_piece_refutes_what_was_proven(void)
{
	for (int late = 0; late < 2; late++) {
		struct end other = two, other_server = two_server;
		struct case_of_servers k = begin();

		other.cpu = 0;
		other.fd = 7;
		connects(&k, &one, &one_server, 1100);
		connects(&k, &other, &other_server, 1120);
		polls(&k, 2, 1140);
		sends(&k, &one, 1150);
		receives(&k, &one_server, 1200);
		sends(&k, &one_server, 2000);
		polls(&k, 2, 2100);
		sends(&k, &other, 2200);
		receives(&k, &other_server, 2300);
		sends(&k, &other_server, 3000);
		polls(&k, 2, 3100);
		if (late)
			sends(&k, &one_server, 4000);
		polls(&k, 2, 4100);
		run(&k);
		CU_ASSERT_EQUAL_FATAL(requests_of(&k, 30)->nr, 2);
		CU_ASSERT_EQUAL(requests_of(&k, 30)->items[0].to_ns, 2005);
		CU_ASSERT_EQUAL(requests_of(&k, 30)->items[1].least_ns, late ? 0 : 710);
		CU_ASSERT(requests_of(&k, 30)->items[0].most_ns >= (late ? 2900 : 900));
		end(&k);
	}
}

static bool takes_one(void *data, const struct trace_server_request *request)
{
	++*(uint32_t *)data;
	return false;
}

static void what_is_not_kept_is_told(void)
{
	struct case_of_servers k = begin();
	struct trace_error error = {0};
	const struct trace_process *process;
	uint32_t nr = 0;

	connects(&k, &one, &one_server, 1200);
	for (uint64_t ns = 1250; ns < 8000; ns += 1000) {
		sends(&k, &one, ns);
		receives(&k, &one_server, ns + 50);
		sends(&k, &one_server, ns + 100);
	}
	finish(&k);
	k.c.trace = tb_open_trace(k.c.tb);
	for (size_t max = 0; max < 13; max += 6) {
		k.c.analysis = trace_analysis_new(k.c.trace, NULL, &error);
		k.servers = trace_servers_new(k.c.trace, k.c.analysis, &error);
		if (max)
			CU_ASSERT_EQUAL(trace_servers_keep_requests(k.servers, max), 0);
		CU_ASSERT_EQUAL(trace_analysis_run(k.c.analysis, &error), 0);
		CU_ASSERT_EQUAL(trace_servers_keep_requests(k.servers, 10), -EBUSY);
		CU_ASSERT_EQUAL(trace_servers_verify(k.servers, &error), 0);
		process = trace_thread_process(trace_find_thread(k.c.analysis, 30));
		CU_ASSERT_EQUAL(trace_server_requests(k.servers, process, takes_one, &nr), max == 0   ? -EINVAL
											   : max == 6 ? -E2BIG
												      : 0);
		REQUESTS(&k, 30, 10, 7);
		trace_servers_free(k.servers);
		if (max < 12)
			trace_analysis_free(k.c.analysis);
	}
	CU_ASSERT_EQUAL(nr, 1);
	case_free(&k.c);
}

static const struct unit_case cases[] = {
	{"a_request_is_open_until_its_answer", a_request_is_open_until_its_answer},
	{"requests_of_one_client_share_its_bill", requests_of_one_client_share_its_bill},
	{"what_is_exact_for_the_client_is_not_proven_for_one_of_its_requests",
	 what_is_exact_for_the_client_is_not_proven_for_one_of_its_requests},
	{"a_chain_has_a_request_at_each_server", a_chain_has_a_request_at_each_server},
	{"a_request_without_answer_ends_with_its_connection", a_request_without_answer_ends_with_its_connection},
	{"an_open_request_and_one_before_a_gap_say_so", an_open_request_and_one_before_a_gap_say_so},
	{"a_late_piece_refutes_what_was_proven", a_late_piece_refutes_what_was_proven},
	{"what_is_not_kept_is_told", what_is_not_kept_is_told},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_kept", cases, argc, argv);
}
