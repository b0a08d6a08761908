/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_rules_servers.c - a server that waits between a request and its answer is not idle: a result
 * that says so is reported
 */
#include <errno.h>
#include <sys/socket.h>
#include "rules_case.h"
#include "unit.h"

/* ---- idle waits ---- */

/*
 * Thread 10 accepts a connection and does @steps, one each 100 ns: r and s, receive and send; S, 20
 * sends; i and b, 10 has an idle wait, or another one. Returns the result of rules_verify().
 */
static int judge_server(const struct analysis_case *c, const char *steps, const char *call, uint16_t type,
			struct trace_error *ret_error)
{
	struct trace_sock_endpoints ends = {.fd = 5, .ino = 500, .type = type};
	struct trace_sock_send bytes = {.ino = 500, .ret = 1};
	struct rules *rules;
	uint64_t ns = 3000;

	rules = rules_case_begin(c);
	call_in_progress = call;
	feed(c, TRACE_EV_sock_endpoints, ns, 0, &ends);
	call_in_progress = NULL;
	for (; *steps; steps++, ns += 100) {
		struct trace_interval wait = {.thread = first_thread(c, 10),
					      .from_ns = ns,
					      .to_ns = ns + 50,
					      .state = TRACE_STATE_BLOCKED,
					      .kind = TRACE_WAIT_NETWORK,
					      .idle = *steps == 'i'};

		if (*steps == 'i' || *steps == 'b')
			feed_interval(c, &wait);
		else
			feed(c, *steps == 'r' ? TRACE_EV_sock_recv : TRACE_EV_sock_send, ns, *steps == 'S', &bytes);
	}
	return rules_case_end(rules, ret_error);
}

static void no_wait_between_a_request_and_its_answer_is_idle(void)
{
	static const struct {
		const char *steps;
		int result;
	} servers[] = {
		{"rs", 0},	    {"irsi", 0},	 {"irsirsi", 0},
		{"rbs", 0},	    {"ri", 0}, /* it may need no answer */
		{"ris", -EBADMSG},  {"rsris", -EBADMSG}, {"rrirs", -EBADMSG},
		{"ribs", -EBADMSG}, {"rSris", 0}, /* 20 answers for 10: it may have worked on it */
	};
	struct trace_error error = {0};

	for (int are_one = 0; are_one < 2; are_one++) {
		struct analysis_case c = two_servers(are_one);

		for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++)
			CU_ASSERT_EQUAL(judge_server(&c, servers[i].steps, "accept4", SOCK_STREAM, &error),
					servers[i].result);
		CU_ASSERT_EQUAL(judge_server(&c, "ris", "accept", SOCK_SEQPACKET, &error), 0); /* messages */
		CU_ASSERT_EQUAL(judge_server(&c, "ris", "connect", SOCK_STREAM, &error), 0);   /* a client */
		CU_ASSERT_EQUAL(judge_server(&c, "ris", "accept", SOCK_STREAM, &error), -EBADMSG);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message,
					      "thread 10 (one) has an idle wait of 50 ns after it read a "
					      "request, 50 ns before it answered that"));
		case_free(&c);
	}
}

/* 20 may have answered for 10 before; a loss behind the answer hides nothing that counts. */
static void a_loss_before_a_request_may_hide_who_answers(void)
{
	struct analysis_case before = two_servers_with_a_loss(1500, 1700), after = two_servers_with_a_loss(8000, 8500);

	CU_ASSERT_EQUAL(judge_server(&before, "ris", "accept4", SOCK_STREAM, NULL), 0);
	CU_ASSERT_EQUAL(judge_server(&after, "ris", "accept4", SOCK_STREAM, NULL), -EBADMSG);
	case_free(&before);
	case_free(&after);
}

/* ---- relayed answers ---- */

static void feed_wait(const struct analysis_case *c, uint64_t ns)
{
	struct trace_interval wait = {.thread = first_thread(c, 10),
				      .from_ns = ns,
				      .to_ns = ns + 50,
				      .state = TRACE_STATE_BLOCKED,
				      .kind = TRACE_WAIT_TIMEOUT,
				      .idle = true};

	feed_interval(c, &wait);
}

/*
 * Steps of judge_proxy(): r and s, 10 receives from its client and sends; a and z, it gets data and
 * the end of its backend's connection; S and R, 20 sends and receives on the client's connection;
 * i, 10 has an idle wait; k, one that the analysis reports at the end; w, it sleeps; d and f, it
 * duplicates the client's descriptor and another one; u, an event of the program
 */
static void proxy_step(const struct analysis_case *c, char step, uint64_t ns)
{
	struct trace_sock_send bytes = {.ino = step == 'a' || step == 'z' ? 501 : 500, .ret = step != 'z'};
	struct trace_sched_switch sw = {.prev_tid = 10, .prev_state = TRACE_TASK_INTERRUPTIBLE};
	struct trace_sys_exit exit = {.ret = 9};

	switch (step) {
	case 'i':
	case 'k':
	case 'w':
		feed(c, TRACE_EV_sched_switch, ns, 0, &sw);
		if (step == 'i')
			feed_wait(c, ns);
		break;
	case 'd':
	case 'f':
		call_in_progress = "dup";
		call_args[0] = step == 'd' ? 5 : 8;
		feed(c, TRACE_EV_sys_exit, ns, 0, &exit);
		call_in_progress = NULL;
		break;
	case 'u':
		feed(c, TRACE_EV_USER, ns, 0, NULL);
		break;
	default:
		feed(c, strchr("Ss", step) ? TRACE_EV_sock_send : TRACE_EV_sock_recv, ns, step == 'S' || step == 'R',
		     &bytes);
	}
}

/*
 * Thread 10 accepts descriptor 5, connects 6, and does @steps, one each 100 ns. Returns the result
 * of rules_verify().
 */
static int judge_proxy(const struct analysis_case *c, const char *steps, struct trace_error *ret_error)
{
	struct trace_sock_endpoints client = {.fd = 5, .ino = 500, .type = SOCK_STREAM},
				    backend = {.fd = 6, .ino = 501, .type = SOCK_STREAM};
	struct rules *rules = rules_case_begin(c);

	call_in_progress = "accept";
	feed(c, TRACE_EV_sock_endpoints, 2000, 0, &client);
	call_in_progress = "connect";
	feed(c, TRACE_EV_sock_endpoints, 2100, 0, &backend);
	call_in_progress = NULL;
	for (size_t i = 0; steps[i]; i++)
		proxy_step(c, steps[i], 3000 + 100 * i);
	for (size_t i = 0; steps[i]; i++)
		if (steps[i] == 'k')
			feed_wait(c, 3000 + 100 * i);
	return rules_case_end(rules, ret_error);
}

static void no_wait_between_two_parts_of_an_answer_is_idle(void)
{
	static const struct {
		const char *steps;
		int result;
	} proxies[] = {
		{"rasiasr", -EBADMSG},
		{"raskasr", -EBADMSG},
		{"raswkwzs", -EBADMSG},
		{"rasiwasr", -EBADMSG}, /* and another wait */
		{"raswkasas", -EBADMSG},
		{"rafskafsr", -EBADMSG},
		{"rasias", -EBADMSG},
		{"rasr", 0},
		{"ras", 0},
		{"raski", 0},
		{"rasirasi", 0}, /* the next request came */
		{"raskrask", 0},
		{"rskasr", 0},	  /* the first send brought nothing */
		{"raskwsr", 0},	  /* nor did the second: a push */
		{"raskawsr", 0},  /* it slept behind the part */
		{"raskaSasr", 0}, /* another thread went on */
		{"raskRasr", 0},  /* another thread read */
		{"radskas", 0},	  /* the other descriptor may have been closed */
		{"raskuas", 0},	  /* the analysis keeps no wait across an event of the program */
	};
	struct trace_error error = {0};
	struct analysis_case c = two_servers(true);

	for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++) {
		int result = judge_proxy(&c, proxies[i].steps, &error);

		CU_ASSERT_EQUAL(result, proxies[i].result);
		if (result != proxies[i].result)
			printf("\n    %s: %d\n", proxies[i].steps, result);
	}
	CU_ASSERT_EQUAL(judge_proxy(&c, "raskas", &error), -EBADMSG);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "thread 10 (one) has an idle wait of 50 ns between two parts of "
						     "an answer that it relayed"));
	case_free(&c);
}

/* The client's descriptor may have been duplicated since it was accepted. */
static void a_loss_before_an_answer_may_hide_another_descriptor(void)
{
	struct analysis_case since = two_servers_with_a_loss(2200, 2900), before = two_servers_with_a_loss(1500, 1700);

	CU_ASSERT_EQUAL(judge_proxy(&since, "rasias", NULL), 0);
	CU_ASSERT_EQUAL(judge_proxy(&since, "raskas", NULL), 0);
	CU_ASSERT_EQUAL(judge_proxy(&before, "rasias", NULL), -EBADMSG);
	case_free(&since);
	case_free(&before);
}

static void more_waits_than_the_analysis_keeps_are_not_judged(void)
{
	struct trace_error error = {0};
	struct analysis_case c = two_servers(true);
	char steps[300];

	for (int nr = 256; nr <= 257; nr++) {
		memset(steps, 'w', sizeof(steps));
		memcpy(steps, "rask", 4);
		memcpy(steps + 3 + nr, "as", 3);
		CU_ASSERT_EQUAL(judge_proxy(&c, steps, &error), nr == 256 ? -EBADMSG : 0);
	}
	case_free(&c);
}

static const struct unit_case cases[] = {
	CASE(no_wait_between_a_request_and_its_answer_is_idle),
	CASE(a_loss_before_a_request_may_hide_who_answers),
	CASE(no_wait_between_two_parts_of_an_answer_is_idle),
	CASE(a_loss_before_an_answer_may_hide_another_descriptor),
	CASE(more_waits_than_the_analysis_keeps_are_not_judged),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("rules of servers", cases, argc, argv);
}
