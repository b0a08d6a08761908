/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_idle.c - a wait is idle if no request is open at the thread and the call waits for
 * new work.
 *
 * Thread 10 listens at descriptor 4, has accepted 5, and has connected 6. It blocks from 3000 to
 * 6000.
 */
#include <linux/futex.h>
#include <netinet/in.h>
#include "state_waits_case.h"
#include "unit.h"

enum { LISTENER = 4, FROM_CLIENT, TO_SERVER, UDP };
#define INO(fd)	  (500u + (fd))
#define PORT	  80
#define CONDITION 0x7700
#define OTHER	  0x8800

static void socket_event(struct analysis_case *c, uint32_t cpu, uint64_t ns, uint32_t call, int fd, uint32_t state)
{
	struct trace_sock_endpoints ends = {.fd = fd,
					    .ino = INO(fd),
					    .family = AF_INET,
					    .type = SOCK_STREAM,
					    .protocol = IPPROTO_TCP,
					    .state = state,
					    .local_port = fd == TO_SERVER ? 40000 : PORT,
					    .remote_port = state == TCP_LISTEN ? 0 : 1000 + fd};

	tb_sys_enter(c->tb, cpu, ns, call, fd, 0, 0);
	tb_event(c->tb, cpu, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_sys_exit(c->tb, cpu, ns + 10, fd);
}

static bool is_old_recorder; /* of looks */

static void transfer(struct analysis_case *c, uint32_t cpu, uint64_t ns, int fd, bool receives)
{
	struct trace_sock_send bytes = {.ino = INO(fd), .ret = 1, .family = AF_INET};

	tb_sys_enter(c->tb, cpu, ns, receives ? SYS_recvfrom : SYS_sendto, fd, 0, 1);
	tb_event(c->tb, cpu, ns + 2, receives ? TRACE_EV_sock_recv : TRACE_EV_sock_send, &bytes, sizeof(bytes), NULL);
	tb_sys_exit(c->tb, cpu, ns + 4, 1);
}

/*
 * A receipt with @flags: of data that stays (MSG_PEEK), or of no data (MSG_ERRQUEUE). Only older
 * recorders write sock_recv then.
 */
static void look(struct analysis_case *c, uint64_t ns, int fd, uint64_t flags)
{
	struct trace_sock_recv bytes = {.ino = INO(fd), .ret = 1, .family = AF_INET};

	tb_sys_enter(c->tb, 0, ns, SYS_recvfrom, fd, 0, 1, is_old_recorder ? flags : 0, 0, 0);
	if (is_old_recorder || flags != MSG_ERRQUEUE)
		tb_event(c->tb, 0, ns + 2, is_old_recorder ? TRACE_EV_sock_recv : TRACE_EV_sock_look, &bytes,
			 sizeof(bytes), NULL);
	tb_sys_exit(c->tb, 0, ns + 4, 1);
}

static struct analysis_case server(void)
{
	struct trace_start_socket udp = {
		.tgid = 10, .fd = UDP, .ino = INO(UDP), .family = AF_INET, .type = SOCK_DGRAM, .local_port = 53};
	struct analysis_case c = begin();

	for (int fd = LISTENER; fd <= UDP; fd++)
		tb_fd(c.tb, 10, fd, 9, INO(fd), S_IFSOCK, "socket:");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &udp, sizeof(udp), NULL);
	tb_fd(c.tb, 10, 9, 9, 900, 0, "[eventfd]");
	socket_event(&c, 0, 1100, SYS_listen, LISTENER, TCP_LISTEN);
	socket_event(&c, 0, 1150, SYS_accept, FROM_CLIENT, 1);
	socket_event(&c, 0, 1200, SYS_connect, TO_SERVER, 1);
	return c;
}

/*
 * r, s: receive from the client, send to it; A, a: ask the server, get its answer; u, v: receive a
 * datagram, send one; c, l, d, q: close the client's connection, the listener, the server's
 * connection, the datagram socket; P, p, e: look at the client's data, at a datagram, at the errors
 * of datagrams
 */
static void do_steps(struct analysis_case *c, const char *steps)
{
	for (uint64_t ns = 1300; *steps; steps++, ns += 20) {
		static const char closes[] = "lcdq", receives[] = ".ra.u", sends[] = ".sA.v";
		const char *at;

		if ((at = strchr(closes, *steps))) {
			tb_sys_enter(c->tb, 0, ns, SYS_close, LISTENER + (at - closes), 0, 0);
			tb_sys_exit(c->tb, 0, ns + 4, 0);
		} else if (*steps == 'P' || *steps == 'p' || *steps == 'e') {
			look(c, ns, *steps == 'P' ? FROM_CLIENT : UDP, *steps == 'e' ? MSG_ERRQUEUE : MSG_PEEK);
		} else if (*steps == 'u' || *steps == 'v') {
			transfer(c, 0, ns, UDP, *steps == 'u');
		} else if ((at = strchr(receives, *steps))) {
			transfer(c, 0, ns, LISTENER + (int)(at - receives), true);
		} else if ((at = strchr(sends, *steps))) {
			transfer(c, 0, ns, LISTENER + (int)(at - sends), false);
		}
	}
}

/* One wait of thread 10 after @steps. A read ends by data: @fd is where it came, 0: none. */
struct idle_case {
	const char *steps;
	uint32_t call;
	uint64_t args[2];
	bool idle;
};

static bool is_idle(const struct idle_case *i)
{
	struct trace_sock_recv bytes = {.ino = INO(i->args[0]), .ret = 1, .family = AF_INET};
	struct analysis_case c = server();
	bool idle = false;

	do_steps(&c, i->steps);
	tb_sys_enter(c.tb, 0, 2000, i->call, i->args[0], i->args[1], 1);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	if (i->call == SYS_recvfrom || i->call == SYS_read)
		tb_event(c.tb, 0, 6150, TRACE_EV_sock_recv, &bytes, sizeof(bytes), NULL);
	tb_sys_exit(c.tb, 0, 6200, 1);
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(c.one->nr_waits, 1);
	idle = c.one->waits[0].idle;
	case_free(&c);
	return idle;
}

static void check(const struct idle_case *cases, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		CU_ASSERT_EQUAL(is_idle(&cases[i]), cases[i].idle);
		if (is_idle(&cases[i]) != cases[i].idle)
			printf("\n    '%s', call %u(%llu): not %s\n", cases[i].steps, cases[i].call,
			       (unsigned long long)cases[i].args[0], cases[i].idle ? "idle" : "blocked");
	}
}
#define CHECK(cases) check(cases, sizeof(cases) / sizeof((cases)[0]))

static void a_server_rests_between_two_requests_only(void)
{
	static const struct idle_case cases[] = {
		{"", SYS_poll, {0x700, 3}, true},	 {"r", SYS_poll, {0x700, 3}, false},
		{"rr", SYS_poll, {0x700, 3}, false},	 {"rs", SYS_poll, {0x700, 3}, true},
		{"rAas", SYS_poll, {0x700, 3}, true},	 {"rA", SYS_poll, {0x700, 3}, false},
		{"rAa", SYS_poll, {0x700, 3}, false},	 {"rc", SYS_poll, {0x700, 3}, true},
		{"rsr", SYS_epoll_wait, {3, 0}, false},	 {"rs", SYS_epoll_wait, {3, 0}, true},
		{"r", SYS_accept, {LISTENER, 0}, false}, {"rs", SYS_accept, {LISTENER, 0}, true},
		{"r", SYS_pause, {0, 0}, false},	 {"rs", SYS_pause, {0, 0}, true},
		{"r", SYS_select, {9, 0x700}, false},	 {"rs", SYS_select, {9, 0x700}, true},
	};

	CHECK(cases);
}

static void a_closed_listener_makes_no_server(void)
{
	static const struct idle_case cases[] = {{"lcq", SYS_poll, {0x700, 1}, false},
						 {"lq", SYS_poll, {0x700, 1}, true}, /* of its client */
						 {"cq", SYS_poll, {0x700, 1}, true},
						 {"", SYS_poll, {0, 0}, false}, /* a sleep */
						 {"", SYS_select, {0, 0}, false}};

	CHECK(cases);
}

/*
 * A client that has a port for callbacks. After the first answer the connection is known to
 * answer.
 */
static void a_client_that_asks_is_blocked(void)
{
	static const struct idle_case cases[] = {
		{"AaA", SYS_poll, {0x700, 1}, false},	    {"AaAd", SYS_poll, {0x700, 1}, true},
		{"Aa", SYS_poll, {0x700, 1}, true},	    {"AaA", SYS_recvfrom, {TO_SERVER, 0}, false},
		{"A", SYS_recvfrom, {TO_SERVER, 0}, false}, {"", SYS_recvfrom, {TO_SERVER, 0}, false}};

	CHECK(cases);
}

static void a_read_of_the_next_request_is_a_rest(void)
{
	static const struct idle_case cases[] = {{"", SYS_read, {FROM_CLIENT, 0}, true},
						 {"rs", SYS_read, {FROM_CLIENT, 0}, true},
						 {"r", SYS_read, {FROM_CLIENT, 0}, false}, /* the rest of it */
						 {"AaA", SYS_read, {FROM_CLIENT, 0}, false}};

	CHECK(cases);
}

static void datagrams_are_requests_if_they_came_first(void)
{
	static const struct idle_case cases[] = {
		{"", SYS_recvfrom, {UDP, 0}, true},	 {"uv", SYS_recvfrom, {UDP, 0}, true},
		{"u", SYS_recvfrom, {UDP, 0}, false},	 {"uu", SYS_recvfrom, {UDP, 0}, true}, /* never answers */
		{"uvuu", SYS_recvfrom, {UDP, 0}, false}, {"v", SYS_recvfrom, {UDP, 0}, false},
		{"vu", SYS_recvfrom, {UDP, 0}, false}};

	CHECK(cases);
}

/*
 * A look at a datagram leaves it to the next call, and the error queue has no requests. A look at a
 * stream reads the bytes.
 */
static void a_look_at_a_datagram_is_no_request(void)
{
	static const struct idle_case cases[] = {
		{"p", SYS_recvfrom, {UDP, 0}, true},   {"pu", SYS_recvfrom, {UDP, 0}, false},
		{"ppu", SYS_poll, {0x700, 3}, false},  {"puv", SYS_recvfrom, {UDP, 0}, true},
		{"ue", SYS_recvfrom, {UDP, 0}, false}, {"uve", SYS_recvfrom, {UDP, 0}, true},
		{"P", SYS_poll, {0x700, 3}, false},    {"Prs", SYS_poll, {0x700, 3}, true}};

	CHECK(cases);
	is_old_recorder = true;
	CHECK(cases);
	is_old_recorder = false;
}

/* The first request on a connection: its answer ends the wait, or another thread does. */
static void a_first_question_counts_if_its_answer_ends_the_wait(void)
{
	for (int answers = 0; answers < 2; answers++) {
		struct trace_sock_ready ready = {.ino = INO(answers ? TO_SERVER : FROM_CLIENT), .family = AF_INET};
		struct analysis_case c = server();

		do_steps(&c, "A");
		tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 2, 0);
		block(&c);
		tb_softirq(c.tb, 1, 5900, 3);
		tb_event(c.tb, 1, 5950, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
		wake(&c, TRACE_CONTEXT_SOFTIRQ);
		tb_softirq_exit(c.tb, 1, 6050, 3);
		finish(&c);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, !answers);
		case_free(&c);
	}
}

/* A postmaster polls, and the master of a pool of workers waits for signals only. */
static void a_master_rests_until_a_signal_comes(void)
{
	static const struct {
		uint32_t call;
		int64_t ret;
	} ways[] = {{SYS_epoll_wait, 1}, {SYS_pause, 1}, {SYS_pause, -EINTR}, {SYS_pause, -514}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		struct analysis_case c = server();

		tb_sys_enter(c.tb, 0, 2000, ways[i].call, 3, 0x700, 1);
		block(&c);
		signal_to(&c, 5900, 10, SIGCHLD, 0);
		wake(&c, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 0, 6200, ways[i].ret);
		case_run(&c);
		CU_ASSERT(c.one->waits[0].idle);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "signal");
	}
}

/* ---- pools ---- */

static void pool_waits(struct analysis_case *c, uint64_t ns, uint64_t address)
{
	tb_sys_enter(c->tb, 1, ns, SYS_futex, address, FUTEX_WAIT_BITSET_PRIVATE, 0);
	tb_switch(c->tb, 1, ns + 10, 11, 0, TRACE_TASK_INTERRUPTIBLE);
}

static void pool_is_woken(struct analysis_case *c, uint64_t ns, uint64_t address)
{
	tb_sys_enter(c->tb, 0, ns, SYS_futex, address, FUTEX_WAKE_PRIVATE, 1);
	tb_waking(c->tb, 0, ns, 11, TRACE_CONTEXT_TASK);
	tb_sys_exit(c->tb, 0, ns + 5, 1);
	tb_switch(c->tb, 1, ns + 10, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 1, ns + 20, 0);
}

static uint64_t idle_ns(const struct analysis_case *c, bool idle)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < c->one->nr_waits; i++)
		ns += c->one->waits[i].idle == idle ? c->one->waits[i].ns : 0;
	return ns;
}

/*
 * Thread 11 rests at a condition until thread 10 has read a request, waits for 500 ns at another
 * one, answers, and rests again.
 */
static void a_pool_rests_where_it_gets_its_jobs(void)
{
	for (int server_or_not = 0; server_or_not < 2; server_or_not++) {
		struct analysis_case c = server();

		tb_thread(c.tb, 11, 10, 1, "worker", 1, false);
		tb_switch(c.tb, 1, 1050, 20, 11, TRACE_TASK_INTERRUPTIBLE);
		do_steps(&c, server_or_not ? "r" : "lcq");
		pool_waits(&c, 1600, CONDITION);
		pool_is_woken(&c, 2610, CONDITION); /* 1000 */
		pool_waits(&c, 3000, OTHER);
		pool_is_woken(&c, 3510, OTHER); /* 500 */
		if (server_or_not)
			transfer(&c, 1, 3600, FROM_CLIENT, false);
		pool_waits(&c, 3700, CONDITION + 4);
		pool_is_woken(&c, 5710, CONDITION + 4); /* 2000 */
		tb_switch(c.tb, 1, 6000, 11, 20, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(idle_ns(&c, true), server_or_not ? 3000 : 0);
		CU_ASSERT_EQUAL(idle_ns(&c, false), server_or_not ? 500 : 3500);
		case_free(&c);
	}
}

/*
 * Thread 11 answered what thread 10 had read. So thread 10 rests, although its next request is
 * open.
 */
static void a_thread_that_hands_its_requests_over_rests(void)
{
	for (int hands_over = 0; hands_over < 2; hands_over++) {
		struct analysis_case c = server();

		tb_thread(c.tb, 11, 10, 1, "worker", 1, false);
		tb_switch(c.tb, 1, 1050, 20, 11, TRACE_TASK_INTERRUPTIBLE);
		do_steps(&c, "r");
		transfer(&c, (uint32_t)hands_over, 1500, FROM_CLIENT, false);
		transfer(&c, 0, 1600, FROM_CLIENT, true);
		tb_sys_enter(c.tb, 0, 2000, SYS_epoll_wait, 3, 0x700, 1);
		block(&c);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, hands_over);
		case_free(&c);
	}
}

/*
 * Thread 11 accepts a connection and waits at a condition until thread 10, which has read its
 * request, has begun. That wakeup is a job only for a thread that does not accept.
 */
static void an_acceptor_gets_no_jobs_at_conditions(void)
{
	for (int accepts = 0; accepts < 2; accepts++) {
		struct analysis_case c = server();

		tb_thread(c.tb, 11, 10, 1, "worker", 1, false);
		tb_switch(c.tb, 1, 1050, 20, 11, TRACE_TASK_INTERRUPTIBLE);
		do_steps(&c, "r");
		if (accepts)
			socket_event(&c, 1, 1500, SYS_accept, 8, 1);
		pool_waits(&c, 1600, CONDITION);
		pool_is_woken(&c, 2610, CONDITION); /* 1000 */
		tb_sys_enter(c.tb, 1, 3000, SYS_poll, 0x700, 1, 0);
		tb_switch(c.tb, 1, 3010, 11, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(c.tb, 0, 5010, 11, TRACE_CONTEXT_TASK); /* 2000 */
		tb_switch(c.tb, 1, 5020, 0, 11, TRACE_TASK_RUNNING);
		tb_sys_exit(c.tb, 1, 5030, 1);
		tb_switch(c.tb, 1, 6000, 11, 20, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(idle_ns(&c, true), accepts ? 3000 : 1000);
		CU_ASSERT_EQUAL(idle_ns(&c, false), accepts ? 0 : 2000);
		case_free(&c);
	}
}

static void a_mutex_is_never_a_rest(void)
{
	struct analysis_case c = server();

	tb_sys_enter(c.tb, 0, 2000, SYS_futex, CONDITION, FUTEX_WAIT_PRIVATE, 2);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_FALSE(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "futex");
}

/* ---- other ways to get work ---- */

/* Thread 11 waits in @call from 1610 to 2610; a thread on @waker_cpu wakes it: 10, or "two" (2). */
static void waits_in(struct analysis_case *c, uint32_t call, uint64_t arg0, uint64_t arg1, uint32_t waker_cpu)
{
	tb_sys_enter(c->tb, 1, 1600, call, arg0, arg1, 1);
	tb_switch(c->tb, 1, 1610, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(c->tb, waker_cpu, 2610, 11, TRACE_CONTEXT_TASK); /* 1000 */
	tb_switch(c->tb, 1, 2620, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 1, 2630, 1);
	tb_switch(c->tb, 1, 6000, 11, 20, TRACE_TASK_RUNNING);
}

static struct analysis_case server_with_worker(void)
{
	struct analysis_case c = server();

	tb_thread(c.tb, 11, 10, 1, "worker", 1, false);
	tb_switch(c.tb, 1, 1050, 20, 11, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(c.tb, 2, 1060, 0, 20, TRACE_TASK_RUNNING);
	return c;
}

/* A pool may get its jobs by a pipe or a message queue. Data of another process are none. */
static void a_pool_may_rest_at_a_pipe_or_a_queue(void)
{
	static const struct {
		uint32_t call;
		uint64_t fd;
		bool rests;
	} cases[] = {
		{SYS_read, 12, true},
		{SYS_msgrcv, 3, true},
		{SYS_mq_timedreceive, 3, true},
		{SYS_msgsnd, 3, false}, /* it waits for room */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (uint32_t other = 0; other < 2; other++) {
			struct analysis_case c = server_with_worker();

			tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_msgrcv, "msgrcv");
			tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_mq_timedreceive, "mq_timedreceive");
			pipe_fd(&c, 10, 12, 777, O_RDONLY);
			pipe_fd(&c, 10, 13, 777, O_WRONLY);
			pipe_fd(&c, 20, 13, 777, O_WRONLY);
			tb_sys_enter(c.tb, other ? 2 : 0, 2600, SYS_write, 13, 0, 1);
			waits_in(&c, cases[i].call, cases[i].fd, 0, other ? 2 : 0);
			case_run(&c);
			CU_ASSERT_EQUAL(idle_ns(&c, true), cases[i].rests && !other ? 1000 : 0);
			CU_ASSERT_EQUAL(idle_ns(&c, false), cases[i].rests && !other ? 0 : 1000);
			case_free(&c);
		}
}

/* Thread 11 waits for the turn in @wait_ns from 1610 + @begin_ns on; 10 accepts at @accepts_ns. */
static void waits_for_the_turn(uint64_t begin_ns, uint64_t wait_ns, uint64_t accepts_ns, bool rests)
{
	uint64_t end_ns = begin_ns + wait_ns;
	struct analysis_case c = server_with_worker();

	if (accepts_ns < begin_ns)
		socket_event(&c, 0, accepts_ns, SYS_accept, 8, 1);
	tb_sys_enter(c.tb, 1, begin_ns + 1600, SYS_semop, 3, 0, 2);
	tb_switch(c.tb, 1, begin_ns + 1610, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	if (accepts_ns >= begin_ns)
		socket_event(&c, 0, accepts_ns, SYS_accept, 8, 1);
	tb_waking(c.tb, 0, end_ns + 1610, 11, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, end_ns + 1620, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(c.tb, 1, end_ns + 1630, 0);
	case_run(&c);
	CU_ASSERT_EQUAL(idle_ns(&c, true), rests ? wait_ns : 0);
	CU_ASSERT_EQUAL(idle_ns(&c, false), rests ? 0 : wait_ns);
	case_free(&c);
}

/* The accept may be minutes from the wait: a time of 32 bits would be as one in it. */
static void only_an_accept_during_the_wait_for_the_turn_makes_it_a_rest(void)
{
	uint64_t minutes = 64ull << 32;

	waits_for_the_turn(0, 300 * 1000000000ull, 50 * 1000000000ull, true);
	waits_for_the_turn(0, 1000, 2000, true);
	waits_for_the_turn(minutes, 1000, 2000, false);
	waits_for_the_turn(8 * minutes, 1000, 2000, false);
}

/*
 * Thread 11 waits for a lock that thread 10 has while it accepts a connection. It does not rest if
 * thread 10 had accepted before the wait, or has begun to work on the connection.
 */
static void the_turn_to_accept_is_a_rest(void)
{
	static const struct {
		uint32_t call;
		uint64_t args[2];
	} locks[] = {{SYS_futex, {CONDITION, FUTEX_WAIT_PRIVATE}}, {SYS_semop, {3, 0}}, {SYS_flock, {9, 2}}};
	static const struct {
		uint64_t accepts_ns;
		bool works, rests;
	} cases[] = {{2000, false, true}, {1550, false, false}, {2000, true, false}};

	for (size_t i = 0; i < 3; i++)
		for (size_t l = 0; l < 3; l++) {
			struct analysis_case c = server_with_worker();

			socket_event(&c, 0, cases[i].accepts_ns, SYS_accept, 8, 1);
			if (cases[i].works)
				transfer(&c, 0, 2300, 8, true);
			tb_sys_enter(c.tb, 1, 1600, locks[l].call, locks[l].args[0], locks[l].args[1], 2);
			tb_switch(c.tb, 1, 1610, 11, 0, TRACE_TASK_INTERRUPTIBLE);
			tb_waking(c.tb, 0, 2610, 11, TRACE_CONTEXT_TASK); /* 1000 */
			tb_switch(c.tb, 1, 2620, 0, 11, TRACE_TASK_RUNNING);
			tb_sys_exit(c.tb, 1, 2630, 0);
			tb_switch(c.tb, 1, 6000, 11, 20, TRACE_TASK_RUNNING);
			case_run(&c);
			CU_ASSERT_EQUAL(idle_ns(&c, true), cases[i].rests ? 1000 : 0);
			CU_ASSERT_EQUAL(idle_ns(&c, false), cases[i].rests ? 0 : 1000);
			case_free(&c);
		}
}

/* Thread 11 gets an accepted connection by a message, or another file. */
static void a_process_may_get_its_connections_by_messages(void)
{
	for (int gets = 0; gets < 2; gets++) {
		struct trace_sock_endpoints pair = {
			.fd = 14, .ino = 714, .peer_ino = 715, .family = AF_UNIX, .type = SOCK_SEQPACKET};
		struct analysis_case c = server_with_worker();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_recvmsg, "recvmsg");
		do_steps(&c, "l"); /* no listener is left */
		tb_sys_enter(c.tb, 0, 1400, SYS_socketpair, AF_UNIX, SOCK_SEQPACKET, 0);
		tb_event(c.tb, 0, 1405, TRACE_EV_sock_endpoints, &pair, sizeof(pair), NULL);
		tb_open(c.tb, 0, 1406, 14, 9, 714, S_IFSOCK, "socket:");
		tb_sys_exit(c.tb, 0, 1410, 0);
		tb_sys_enter(c.tb, 1, 1600, SYS_recvmsg, 14, 0, 0);
		tb_switch(c.tb, 1, 1610, 11, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(c.tb, 2, 2610, 11, TRACE_CONTEXT_TASK); /* 1000 */
		tb_switch(c.tb, 1, 2620, 0, 11, TRACE_TASK_RUNNING);
		tb_open(c.tb, 1, 2625, 5, 9, gets ? INO(FROM_CLIENT) : INO(TO_SERVER), S_IFSOCK, "socket:");
		tb_sys_exit(c.tb, 1, 2630, 1);
		tb_switch(c.tb, 1, 6000, 11, 20, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(idle_ns(&c, true), gets ? 1000 : 0);
		CU_ASSERT_EQUAL(idle_ns(&c, false), gets ? 0 : 1000);
		case_free(&c);
	}
}

/* A log receives datagrams of clients that are connected to it. It never answers. */
static void a_log_rests_between_its_datagrams(void)
{
	struct trace_sock_endpoints log = {.fd = 14, .ino = 714, .family = AF_UNIX, .type = SOCK_DGRAM},
				    client = {.fd = 15,
					      .ino = 715,
					      .peer_ino = 714,
					      .family = AF_UNIX,
					      .type = SOCK_DGRAM};
	struct trace_sock_send bytes = {.ino = 714, .ret = 1, .family = AF_UNIX};
	struct analysis_case c = server_with_worker();

	do_steps(&c, "lcq");
	tb_sys_enter(c.tb, 1, 1400, SYS_socket, AF_UNIX, SOCK_DGRAM, 0);
	tb_event(c.tb, 1, 1402, TRACE_EV_sock_endpoints, &log, sizeof(log), NULL);
	tb_open(c.tb, 1, 1404, 14, 9, 714, S_IFSOCK, "socket:");
	tb_sys_exit(c.tb, 1, 1406, 14);
	tb_sys_enter(c.tb, 2, 1410, SYS_connect, 15, 0, 0);
	tb_event(c.tb, 2, 1412, TRACE_EV_sock_endpoints, &client, sizeof(client), NULL);
	tb_sys_exit(c.tb, 2, 1414, 0);
	for (uint64_t ns = 1420; ns < 1480; ns += 20) {
		tb_sys_enter(c.tb, 1, ns, SYS_recvfrom, 14, 0, 1);
		tb_event(c.tb, 1, ns + 2, TRACE_EV_sock_recv, &bytes, sizeof(bytes), NULL);
		tb_sys_exit(c.tb, 1, ns + 4, 1);
	}
	waits_in(&c, SYS_recvfrom, 14, 0, 2);
	case_run(&c);
	CU_ASSERT_EQUAL(idle_ns(&c, true), 1000);
	CU_ASSERT_EQUAL(idle_ns(&c, false), 0);
	case_free(&c);
}

/* A 32-bit program sends and receives by one call. A server that sends waits for its client. */
static void only_receiving_rests_in_socketcall(void)
{
	static const struct {
		uint64_t number;
		bool rests;
	} calls[] = {{9 /* send */, false}, {10 /* recv */, true}, {16 /* sendmsg */, false}, {17 /* recvmsg */, true}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_sys_enter3 enter = {.nr = 102, .abi = TRACE_ABI_32, .arg0 = calls[i].number, .arg1 = 1};
		struct trace_sock_endpoints ends = {.fd = FROM_CLIENT,
						    .ino = INO(FROM_CLIENT),
						    .family = AF_INET,
						    .type = SOCK_STREAM,
						    .state = 1,
						    .local_port = PORT,
						    .remote_port = 1000 + FROM_CLIENT};
		struct analysis_case c = server();

		tb_string(c.tb, TRACE_STRING_SYSCALL_32, 102, "socketcall");
		do_steps(&c, "rs");
		tb_event(c.tb, 0, 2000, TRACE_EV_sys_enter3, &enter, sizeof(enter), NULL);
		tb_event(c.tb, 0, 2010, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
		block(&c);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, calls[i].rests);
		case_free(&c);
	}
}

/* Without the events that open and close requests, nothing shows that none is open. */
static void without_transfers_a_poll_is_not_called_idle(void)
{
	struct trace_trace_mask mask = {
		.mask0 = UINT64_MAX, .mask1 = UINT64_MAX, .mask2 = UINT64_MAX, .mask3 = UINT64_MAX};
	struct analysis_case c = server();

	mask.mask1 &= ~(1ull << (TRACE_EV_sock_recv - 64));
	tb_event(c.tb, 0, 1001, TRACE_EV_trace_mask, &mask, sizeof(mask), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_FALSE(c.one->waits[0].idle);
	case_free(&c);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_server_rests_between_two_requests_only),
		CASE(a_closed_listener_makes_no_server),
		CASE(a_client_that_asks_is_blocked),
		CASE(a_read_of_the_next_request_is_a_rest),
		CASE(datagrams_are_requests_if_they_came_first),
		CASE(a_look_at_a_datagram_is_no_request),
		CASE(a_first_question_counts_if_its_answer_ends_the_wait),
		CASE(a_master_rests_until_a_signal_comes),
		CASE(a_pool_rests_where_it_gets_its_jobs),
		CASE(a_thread_that_hands_its_requests_over_rests),
		CASE(an_acceptor_gets_no_jobs_at_conditions),
		CASE(a_mutex_is_never_a_rest),
		CASE(a_pool_may_rest_at_a_pipe_or_a_queue),
		CASE(the_turn_to_accept_is_a_rest),
		CASE(only_an_accept_during_the_wait_for_the_turn_makes_it_a_rest),
		CASE(a_process_may_get_its_connections_by_messages),
		CASE(a_log_rests_between_its_datagrams),
		CASE(only_receiving_rests_in_socketcall),
		CASE(without_transfers_a_poll_is_not_called_idle),
		{NULL, NULL},
	};

	return unit_main("idle waits", cases, argc, argv);
}
