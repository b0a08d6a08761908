/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_relays.c - a request is open until the last part of an answer that a thread relays
 *
 * Thread 10 listens at descriptor 4, has accepted 5 and 6, has connected 7, and receives datagrams
 * at 10. Its helper, process 20, writes into the pipe 8.
 */
#include <linux/futex.h>
#include <netinet/in.h>
#include "state_waits_case.h"
#include "unit.h"

enum { LISTENER = 4, CLIENT, OTHER_CLIENT, BACKEND, PIPE, WRITE_END, DATAGRAMS };
#define INO(fd) (500u + (fd))
#define OFFERED 1000

static void socket_event(struct analysis_case *c, uint64_t ns, uint32_t call, int fd, uint32_t state)
{
	struct trace_sock_endpoints ends = {.fd = fd,
					    .ino = INO(fd),
					    .family = AF_INET,
					    .type = fd == DATAGRAMS ? SOCK_DGRAM : SOCK_STREAM,
					    .protocol = fd == DATAGRAMS ? IPPROTO_UDP : IPPROTO_TCP,
					    .state = state,
					    .local_port = fd == BACKEND ? 40000 : 80,
					    .remote_port = state == TCP_LISTEN || fd == DATAGRAMS ? 0 : 1000 + fd};

	tb_sys_enter(c->tb, 0, ns, call, fd, 0, 0);
	tb_event(c->tb, 0, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_sys_exit(c->tb, 0, ns + 10, fd);
}

static struct analysis_case proxy(void)
{
	struct analysis_case c = begin();

	tb_window(c.tb, 1000, 90000);
	for (int fd = LISTENER; fd <= BACKEND; fd++)
		tb_fd(c.tb, 10, fd, 9, INO(fd), S_IFSOCK, "socket:");
	pipe_fd(&c, 10, PIPE, INO(PIPE), O_RDONLY);
	pipe_fd(&c, 20, WRITE_END, INO(PIPE), O_WRONLY);
	socket_event(&c, 1100, SYS_listen, LISTENER, TCP_LISTEN);
	socket_event(&c, 1120, SYS_accept, CLIENT, 1);
	socket_event(&c, 1140, SYS_accept, OTHER_CLIENT, 1);
	socket_event(&c, 1160, SYS_connect, BACKEND, 1);
	tb_fd(c.tb, 10, DATAGRAMS, 9, INO(DATAGRAMS), S_IFSOCK, "socket:");
	socket_event(&c, 1180, SYS_getpid, DATAGRAMS, 7);
	return c;
}

static void transfer(struct analysis_case *c, uint64_t ns, int fd, bool receives, int32_t ret)
{
	struct trace_sock_send bytes = {.ino = INO(fd), .ret = ret, .family = AF_INET};

	tb_sys_enter(c->tb, 0, ns, receives ? SYS_recvfrom : SYS_sendto, fd, 0, OFFERED, 0, 0, 0);
	tb_event(c->tb, 0, ns + 2, receives ? TRACE_EV_sock_recv : TRACE_EV_sock_send, &bytes, sizeof(bytes), NULL);
	tb_sys_exit(c->tb, 0, ns + 4, ret);
}

static void call_on(struct analysis_case *c, uint64_t ns, uint32_t call, int fd)
{
	tb_sys_enter(c->tb, 0, ns, call, fd, SHUT_WR, 0);
	tb_sys_exit(c->tb, 0, ns + 4, 0);
}

/* A wait of 100 ns in epoll_wait(). @fd: where data ends it; PIPE: the helper; 0: a timeout */
static void wait_for(struct analysis_case *c, uint64_t ns, int fd)
{
	struct trace_sock_ready ready = {.ino = INO(fd), .family = AF_INET};

	tb_sys_enter(c->tb, 0, ns, SYS_epoll_wait, 3, 0, 9);
	tb_switch(c->tb, 0, ns + 10, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	if (fd == PIPE) {
		tb_sys_enter(c->tb, 1, ns + 105, SYS_write, WRITE_END, 0, 1);
		tb_waking(c->tb, 1, ns + 110, 10, TRACE_CONTEXT_TASK);
		tb_sys_exit(c->tb, 1, ns + 115, 1);
	} else if (fd) {
		tb_softirq(c->tb, 1, ns + 105, 3);
		tb_event(c->tb, 1, ns + 107, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
		tb_waking(c->tb, 1, ns + 110, 10, TRACE_CONTEXT_SOFTIRQ);
		tb_softirq_exit(c->tb, 1, ns + 115, 3);
	} else {
		tb_softirq(c->tb, 1, ns + 105, 1);
		tb_waking(c->tb, 1, ns + 110, 10, TRACE_CONTEXT_SOFTIRQ);
		tb_softirq_exit(c->tb, 1, ns + 115, 1);
	}
	tb_switch(c->tb, 0, ns + 120, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, ns + 130, fd ? 1 : 0);
}

/*
 * r, s, p, e: read a request of the client, send it all, a part, nothing, as its socket is full
 * R, S: the same of and to the other client
 * u, v: receive a datagram of any client, send one
 * A, a, z: ask the backend, get data of it, get its end of file
 * x, h: close the client's connection, shut it down
 * b, c, C, o, U, t: wait, until data of the backend, the client, the other client, the pipe, a
 * datagram, a timeout
 */
static void do_step(struct analysis_case *c, uint64_t ns, char step)
{
	static const char waits[] = "bcCoUt";
	static const int ends[] = {BACKEND, CLIENT, OTHER_CLIENT, PIPE, DATAGRAMS, 0};
	const char *wait = strchr(waits, step);

	if (wait)
		wait_for(c, ns, ends[wait - waits]);
	else if (step == 'x' || step == 'h')
		call_on(c, ns, step == 'x' ? SYS_close : SYS_shutdown, CLIENT);
	else
		transfer(c, ns,
			 strchr("Aaz", step)  ? BACKEND
			 : strchr("RS", step) ? OTHER_CLIENT
			 : strchr("uv", step) ? DATAGRAMS
					      : CLIENT,
			 strchr("rRazu", step),
			 step == 'z'   ? 0
			 : step == 'e' ? -EAGAIN
			 : step == 'p' ? OFFERED - 1
				       : OFFERED);
}

static void do_steps(struct analysis_case *c, uint64_t ns, const char *steps)
{
	for (; *steps; steps++, ns += 200)
		do_step(c, ns, *steps);
	tb_sys_enter(c->tb, 0, ns, SYS_getpid);
	tb_sys_exit(c->tb, 0, ns + 10, 1);
}

struct intervals {
	char idle[64]; /* for each wait in order: i idle, b blocked */
};

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *wait)
{
	struct intervals *seen = data;

	if (trace_thread_tid(wait->thread) == 10 && wait->to_ns - wait->from_ns == 100)
		seen->idle[(wait->from_ns - 2010) / 200] = wait->idle ? 'i' : 'b';
}

/* The waits of thread 10 in @steps are as in @expected, where other steps have a dot. */
static void expect_rests(struct analysis_case *c, const char *steps, const char *expected)
{
	struct intervals seen = {{0}};

	memset(seen.idle, '.', strlen(steps));
	case_open(c);
	CU_ASSERT_EQUAL(trace_analysis_on_interval_of(c->analysis, 1u << TRACE_STATE_BLOCKED, on_wait, &seen), 0);
	case_run(c);
	CU_ASSERT_STRING_EQUAL(seen.idle, expected);
	if (strcmp(seen.idle, expected) != 0)
		printf("\n    %s\n    %s, expected\n    %s\n", steps, seen.idle, expected);
}

static void check(const char *steps, const char *expected)
{
	struct analysis_case c = proxy();

	do_steps(&c, 2000, steps);
	expect_rests(&c, steps, expected);
	case_free(&c);
}

static void a_proxy_waits_for_the_rest_of_an_answer(void)
{
	check("crAbasbasbasc", "i..b..b..b..i");
	check("crAbasc", "i..b..i");	       /* one part is all */
	check("crAbasbabasc", "i..b..b.b..i"); /* it collects parts before it sends */
	check("crAbasbasAbas", "i..b..b...b..");
}

static void whatever_ends_a_wait_in_the_midst_it_is_blocked(void)
{
	check("crAbasCRAtbasbaSc", "i..b..b..bb..b..i");
	check("crAbastbasc", "i..b..bb..i");
	check("crAbasCtbascrAbasc", "i..b..bbb..i..b..i");
}

static void the_end_of_a_connection_may_be_the_rest(void)
{
	check("crAbasbazxt", "i..b..b...i");
	check("crAbasbzxt", "i..b..b..i");
	check("crAbasbaht", "i..b..b..i");
	check("crAbasbzht", "i..b..b..i");
	check("crAbascxt", "i..b..i.i"); /* the client closes first */
}

/* A kept connection to the backend may end, or say good-bye, while the proxy rests. */
static void a_proxy_at_rest_is_idle(void)
{
	check("crAbasbzcrAbas", "i..b..i.i..b..");
	check("crAbasbacrAbas", "i..b..i.i..b..");
	check("crAbasttCRAbaStc", "i..b..iii..b..ii");
}

/* A server that pushes messages waits for the one that publishes them. */
static void a_push_is_no_rest_of_an_answer(void)
{
	check("crsCRsSCRsStst", "i..i...i...i.i");
	check("crsCRAbaSsCRSs", "i..i..b...i...");
}

/* A helper asks nothing and answers by a pipe, as CGI programs do. */
static void a_helper_sends_the_rest_by_a_pipe(void)
{
	check("crosososc", "i.b.b.b.i");
	check("crostosoc", "i.b.bb.ii");
}

static void a_request_is_open_while_its_client_takes_no_more(void)
{
	check("crsc", "i..i");
	check("crpbsc", "i..b.i");
	check("crstpctst", "i..i.bb.i");
	check("crsebsc", "i...b.i");
}

static void an_unanswered_half_closed_connection_is_open(void)
{
	check("crAbz", "i..b.");
	check("crAbztxt", "i..b.b.i");
	check("crht", "i..i");
}

/* A forwarder has one socket for all clients, and answers them in any order. */
static void a_forwarder_has_as_many_open_datagrams_as_answers_show(void)
{
	check("UuAUuAbavbavU", "i..b..b..b..i");
	check("UuAUuAbavUuAbavbavU", "i..b..b..b..b..b..i"); /* one comes in between */
	check("UuAUuAbavtbavU", "i..b..b..bb..i");
	check("UuAbavUuAbavU", "i..b..i..b..i");       /* one at a time */
	check("UuAUuAbavUuvbavU", "i..b..b..b..b..i"); /* it answers one itself */
}

static void a_datagram_without_an_answer_proves_nothing(void)
{
	check("UuAUuAbavtUuAbavU", "i..b..b..ii..b..i");
	check("UuAUuAbavtUuAbavbavU", "i..b..b..bb..b..b..i"); /* it has one after all */
	check("UuvtvtvU", "i..i.i.i");			       /* a push */
}

static void answers_of_several_threads_prove_nothing(void)
{
	struct trace_sock_recv bytes = {.ino = INO(DATAGRAMS), .ret = OFFERED, .family = AF_INET};
	struct analysis_case c = proxy();

	do_steps(&c, 2000, "UuA");
	tb_event(c.tb, 1, 2650, TRACE_EV_sock_recv, &bytes, sizeof(bytes), NULL);
	do_steps(&c, 2800, "bavUuAbavbavU");
	expect_rests(&c, "UuA.bavUuAbavbavU", "i...b..i..b..b..i");
	case_free(&c);
}

static void after_a_gap_a_part_proves_nothing(void)
{
	struct analysis_case c = proxy();

	do_steps(&c, 2000, "crAbasb");
	tb_lost(c.tb, 0, 3);
	do_steps(&c, 3600, "as");
	expect_rests(&c, "crAbasb", "i..b..i");
	case_free(&c);
}

/* More waits than a thread keeps: the oldest were rests, and none is lost. */
static void the_sums_close_with_more_waits_than_are_kept(void)
{
	struct analysis_case c = proxy();
	uint64_t ns[2] = {0};

	do_steps(&c, 2000, "crAbas");
	for (unsigned int i = 0; i < 300; i++)
		wait_for(&c, 3400 + i * 200, 0);
	do_steps(&c, 3400 + 300 * 200, "basc");
	case_run(&c);
	for (size_t i = 0; i < c.one->nr_waits; i++)
		ns[c.one->waits[i].idle] += c.one->waits[i].ns;
	CU_ASSERT_EQUAL(ns[0] + ns[1], 304 * 100);
	CU_ASSERT_EQUAL(ns[0], 257 * 100);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_proxy_waits_for_the_rest_of_an_answer),
		CASE(whatever_ends_a_wait_in_the_midst_it_is_blocked),
		CASE(the_end_of_a_connection_may_be_the_rest),
		CASE(a_proxy_at_rest_is_idle),
		CASE(a_push_is_no_rest_of_an_answer),
		CASE(a_helper_sends_the_rest_by_a_pipe),
		CASE(a_request_is_open_while_its_client_takes_no_more),
		CASE(an_unanswered_half_closed_connection_is_open),
		CASE(a_forwarder_has_as_many_open_datagrams_as_answers_show),
		CASE(a_datagram_without_an_answer_proves_nothing),
		CASE(answers_of_several_threads_prove_nothing),
		CASE(after_a_gap_a_part_proves_nothing),
		CASE(the_sums_close_with_more_waits_than_are_kept),
		{NULL, NULL},
	};

	return unit_main("relayed answers", cases, argc, argv);
}
