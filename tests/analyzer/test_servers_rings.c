/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_rings.c - which client the CPU time of a server that uses io_uring is billed to, on
 * traces of a few events: servers_case.h. */
#include "servers_case.h"
#include "unit.h"

#define RING_READ 22
#define RING_SEND 26
#define RING_RECV 27

static void ring_enter(struct case_of_servers *k, uint64_t ns, uint64_t submit, uint64_t wait)
{
	tb_sys_enter(k->c.tb, 2, ns, SYS_io_uring_enter, 9, submit, wait, wait ? 1 : 0, 0, 0);
}

static void ring_submits(struct case_of_servers *k, uint64_t ns, uint64_t req, uint32_t opcode, int fd, uint32_t seen)
{
	struct trace_uring_submit submit = {.req = req, .opcode = opcode, .fd = fd, .seen = seen};

	tb_event(k->c.tb, 2, ns, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
}

static void ring_moves(struct case_of_servers *k, uint32_t cpu, uint64_t ns, bool out, uint64_t ino)
{
	struct trace_sock_send event = {.ino = ino, .ret = 16, .family = AF_UNIX};

	tb_event(k->c.tb, cpu, ns, out ? TRACE_EV_sock_send : TRACE_EV_sock_recv, &event, sizeof(event), NULL);
}

static void ring_completes(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint64_t req, uint32_t position)
{
	struct trace_uring_complete complete = {.req = req, .res = 16, .position = position};

	tb_event(k->c.tb, cpu, ns, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
}

/* The kernel's thread continues to submit before it reports the completion of the first request. */
static void a_result_is_seen_only_when_it_is_complete(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	ring_enter(&k, 1400, 2, 1);
	tb_io_worker(k.c.tb, 2, 1410, 30, 31, 30, "iou-sqp-30");
	tb_switch(k.c.tb, 2, 1450, 30, 31, TRACE_TASK_INTERRUPTIBLE);
	sends(&k, &one, 1460);
	ring_submits(&k, 1500, 0x100, RING_RECV, one_server.fd, 4);
	ring_moves(&k, 2, 1510, false, one_server.ino);
	ring_submits(&k, 1520, 0x200, RING_RECV, 99, 4);
	ring_completes(&k, 2, 1530, 0x100, 5);
	tb_waking(k.c.tb, 2, 1540, 30, TRACE_CONTEXT_TASK);
	tb_switch(k.c.tb, 2, 1600, 31, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(k.c.tb, 2, 1610, 1);
	polls(&k, 2, 2500);
	run(&k);
	/* accepted; the kernel's thread; in the call until it slept, and from then on */
	BILL(&k, 30, 10, 200 + (1510 - 1500) + 50 + 2500 - 1600);
	end(&k);
}

/* Both clients have asked, and both requests are in the queue when the call ends at 1410. */
static struct case_of_servers two_in_the_queue(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	ring_enter(&k, 1400, 2, 1);
	ring_submits(&k, 1401, 0x100, RING_RECV, one_server.fd, 0);
	ring_moves(&k, 2, 1402, false, one_server.ino);
	ring_completes(&k, 2, 1403, 0x100, 1);
	ring_submits(&k, 1404, 0x200, RING_RECV, two_server.fd, 0);
	ring_moves(&k, 2, 1405, false, two_server.ino);
	ring_completes(&k, 2, 1406, 0x200, 2);
	tb_sys_exit(k.c.tb, 2, 1410, 2);
	return k;
}

static void answers_of_a_ring_decide_the_client_of_its_time(void)
{
	for (uint32_t seen = 0; seen < 2; seen++) {
		/* also of an older recorder, which does not record which results the program saw */
		struct case_of_servers k = two_in_the_queue();

		ring_enter(&k, 2000, 1, 1);
		ring_submits(&k, 2001, 0x300, RING_SEND, one_server.fd, seen);
		ring_moves(&k, 2, 2002, true, one_server.ino);
		ring_completes(&k, 2, 2003, 0x300, 3);
		tb_sys_exit(k.c.tb, 2, 2010, 1);
		ring_enter(&k, 3000, 1, 1);
		ring_submits(&k, 3001, 0x400, RING_SEND, two_server.fd, 2 * seen);
		ring_moves(&k, 2, 3002, true, two_server.ino);
		ring_completes(&k, 2, 3003, 0x400, 4);
		tb_switch(k.c.tb, 2, 3100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
		run(&k);
		BILL(&k, 30, 10, 20 + 2002 - 1404); /* from the last submission to the next */
		BILL(&k, 30, 20, 20 + 3002 - 2002);
		REQUESTS(&k, 30, 10, 1);
		REQUESTS(&k, 30, 20, 1);
		end(&k);
	}
}

/*
 * The server asks another one for both clients. That one looks at the first request by its ring,
 * and then takes both.
 */
static void a_look_of_a_ring_takes_nothing(void)
{
	struct case_of_servers k = begin();
	struct trace_uring_submit submit = {.req = 0x100, .opcode = RING_RECV, .fd = down_server.fd};
	struct trace_sock_look looked = {.ino = down_server.ino, .ret = 16, .family = AF_UNIX};

	connects(&k, &down, &down_server, 1100);
	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 3, 1150);
	sends(&k, &one, 1300);
	receives(&k, &one_server, 1320);
	sends(&k, &down, 1340);
	polls(&k, 2, 1360);
	sends(&k, &two, 1370);
	receives(&k, &two_server, 1380);
	sends(&k, &down, 1400);
	tb_sys_enter(k.c.tb, 3, 1500, SYS_io_uring_enter, 9, 1, 1, 1, 0, 0);
	tb_event(k.c.tb, 3, 1501, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_event(k.c.tb, 3, 1502, TRACE_EV_sock_look, &looked, sizeof(looked), NULL);
	ring_completes(&k, 3, 1503, 0x100, 1);
	tb_sys_exit(k.c.tb, 3, 1510, 1);
	receives(&k, &down_server, 2000);
	sends(&k, &down_server, 2500);
	receives(&k, &down_server, 3000);
	sends(&k, &down_server, 3200);
	polls(&k, 3, 3300);
	run(&k);
	BILL(&k, 40, 10, 3000 - 1501); /* from the look until it takes the second request */
	BILL(&k, 40, 20, 3300 - 3000);
	end(&k);
}

static void requests_answered_in_one_call_of_a_ring_share(void)
{
	struct case_of_servers k = two_in_the_queue();

	ring_enter(&k, 3000, 2, 1);
	ring_submits(&k, 3001, 0x300, RING_SEND, one_server.fd, 2);
	ring_moves(&k, 2, 3002, true, one_server.ino);
	ring_submits(&k, 3003, 0x400, RING_SEND, two_server.fd, 2);
	ring_moves(&k, 2, 3004, true, two_server.ino);
	tb_sys_exit(k.c.tb, 2, 3010, 2);
	run(&k);
	BILL(&k, 30, 10, 20 + (3004 - 1404) / 2);
	BILL(&k, 30, 20, 20 + (3004 - 1404) / 2);
	end(&k);
}

/* The program has seen the first of two results in the queue when it asks the next server. */
static void a_ring_sends_for_the_results_already_seen(void)
{
	struct case_of_servers k = two_in_the_queue();

	connects(&k, &down, &down_server, 1100);
	polls(&k, 3, 1150);
	ring_enter(&k, 2000, 1, 1);
	ring_submits(&k, 2001, 0x300, RING_SEND, down.fd, 1);
	ring_moves(&k, 2, 2002, true, down.ino);
	ring_completes(&k, 2, 2003, 0x300, 3);
	tb_sys_exit(k.c.tb, 2, 2010, 1);
	receives(&k, &down_server, 2100);
	polls(&k, 3, 2600);
	run(&k);
	BILL(&k, 40, 10, 2600 - 2100);
	BILL(&k, 40, 20, 0);
	end(&k);
}

static void a_read_by_a_ring_continues_the_request(void)
{
	struct case_of_servers k = two_in_the_queue();

	tb_fd(k.c.tb, 30, 8, 8, 900, S_IFREG | 0600, "/data");
	ring_enter(&k, 2000, 1, 1);
	ring_submits(&k, 2001, 0x300, RING_READ, 8, 1); /* for the first request; then the program sees the second */
	tb_sys_exit(k.c.tb, 2, 2010, 1);
	ring_enter(&k, 3000, 1, 1);
	ring_submits(&k, 3001, 0x400, RING_SEND, two_server.fd, 2);
	ring_moves(&k, 2, 3002, true, two_server.ino);
	ring_completes(&k, 2, 3003, 0x400, 3);
	ring_completes(&k, 2, 3004, 0x300, 4);
	tb_sys_exit(k.c.tb, 2, 3010, 1);
	polls(&k, 2, 4000);
	run(&k);
	BILL(&k, 30, 20, 20 + 3002 - 2001);
	BILL(&k, 30, 10, 20 + (2001 - 1404) + (4000 - 3002));
	end(&k);
}

static void ring_looks(struct case_of_servers *k, uint64_t ns, uint64_t submit, uint32_t seen)
{
	struct trace_uring_enter enter = {.ring = 0x9000, .seen = seen};

	ring_enter(k, ns, submit, 1);
	tb_event(k->c.tb, 2, ns, TRACE_EV_uring_enter, &enter, sizeof(enter), NULL);
}

/* The program takes one result after the other and submits nothing in between. */
static void each_call_reports_the_results_seen(void)
{
	struct case_of_servers k = two_in_the_queue();

	ring_looks(&k, 2000, 0, 1);
	tb_sys_exit(k.c.tb, 2, 2010, 0);
	ring_looks(&k, 3000, 0, 2);
	tb_switch(k.c.tb, 2, 3100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
	run(&k);
	BILL(&k, 30, 10, 20 + 2000 - 1404);
	BILL(&k, 30, 20, 20 + 3000 - 2000);
	end(&k);
}

/* A position in one ring says nothing about the other ring. */
static void results_of_two_rings_are_not_distinguished(void)
{
	struct case_of_servers k = two_in_the_queue();
	struct trace_uring_enter other = {.ring = 0xa000, .seen = 1};

	tb_sys_enter(k.c.tb, 2, 1420, SYS_io_uring_enter, 10, 0, 0, 0, 0, 0);
	tb_event(k.c.tb, 2, 1420, TRACE_EV_uring_enter, &other, sizeof(other), NULL);
	tb_sys_exit(k.c.tb, 2, 1425, 0);
	ring_looks(&k, 2000, 0, 0);
	tb_sys_exit(k.c.tb, 2, 2010, 0);
	ring_looks(&k, 3000, 0, 1);
	tb_switch(k.c.tb, 2, 3100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
	run(&k);
	CU_ASSERT(bill(&k, 30, 10).shared_ns >= (3000 - 2000) / 2);
	CU_ASSERT(bill(&k, 30, 20).shared_ns >= (3000 - 2000) / 2);
	end(&k);
}

/* A third client, and the server's end of its connection. */
static const struct end three = {.cpu = 3, .fd = 4, .ino = 203, .peer = 303},
			three_server = {.cpu = 2, .fd = 9, .ino = 303, .peer = 203};

/* A worker thread sends the first answer while the program works on one of two further requests.
 * The answer bills none of the program's time. */
static void an_answer_that_a_worker_sends_is_billed_with_the_call(void)
{
	struct case_of_servers k = two_in_the_queue();

	connects(&k, &three, &three_server, 1260);
	sends(&k, &three, 1300);
	ring_looks(&k, 2000, 2, 1);
	ring_submits(&k, 2001, 0x300, RING_SEND, one_server.fd, 1);
	ring_submits(&k, 2002, 0x500, RING_RECV, three_server.fd, 1);
	ring_moves(&k, 2, 2003, false, three_server.ino);
	ring_completes(&k, 2, 2004, 0x500, 3);
	tb_io_worker(k.c.tb, 2, 2005, 30, 31, 30, "iou-wrk-30");
	tb_sys_exit(k.c.tb, 2, 2010, 1);
	tb_switch(k.c.tb, 3, 2100, 40, 31, TRACE_TASK_RUNNING);
	ring_moves(&k, 3, 2200, true, one_server.ino);
	ring_completes(&k, 3, 2210, 0x300, 4);
	tb_switch(k.c.tb, 3, 2250, 31, 40, TRACE_TASK_INTERRUPTIBLE);
	ring_looks(&k, 3000, 0, 2);
	tb_switch(k.c.tb, 2, 3100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
	run(&k);
	BILL(&k, 30, 20, 20 + 3000 - 2002);
	end(&k);
}

/* Requests that are answered together were worked on together, whatever arrived in between. */
static void a_later_request_divides_only_its_own_time(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	connects(&k, &three, &three_server, 1240);
	polls(&k, 2, 1260);
	sends(&k, &one, 1300);
	ring_enter(&k, 1400, 3, 1);
	ring_submits(&k, 1401, 0x100, RING_RECV, one_server.fd, 0);
	ring_moves(&k, 2, 1402, false, one_server.ino);
	ring_completes(&k, 2, 1403, 0x100, 1);
	ring_submits(&k, 1404, 0x200, RING_RECV, two_server.fd, 0);
	ring_submits(&k, 1405, 0x500, RING_RECV, three_server.fd, 0);
	tb_sys_exit(k.c.tb, 2, 1410, 3);
	ring_looks(&k, 1500, 0, 1);
	tb_switch(k.c.tb, 2, 1510, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	sends(&k, &two, 1520);
	sends(&k, &three, 1550);
	tb_switch(k.c.tb, 2, 1590, 0, 30, TRACE_TASK_RUNNING);
	ring_moves(&k, 2, 1600, false, two_server.ino);
	ring_completes(&k, 2, 1601, 0x200, 2);
	tb_sys_exit(k.c.tb, 2, 1610, 0);
	ring_moves(&k, 2, 2000, false, three_server.ino);
	ring_completes(&k, 2, 2001, 0x500, 3);
	ring_looks(&k, 3000, 2, 2);
	ring_submits(&k, 3001, 0x300, RING_SEND, one_server.fd, 2);
	ring_moves(&k, 2, 3002, true, one_server.ino);
	ring_submits(&k, 3003, 0x400, RING_SEND, two_server.fd, 2);
	ring_moves(&k, 2, 3004, true, two_server.ino);
	ring_completes(&k, 2, 3005, 0x300, 4);
	ring_completes(&k, 2, 3006, 0x400, 5);
	tb_sys_exit(k.c.tb, 2, 3010, 2);
	run(&k);
	BILL(&k, 30, 20, 20 + (10 + 3004 - 1590) / 2);
	BILL(&k, 30, 10, 20 + (1500 - 1405) + (10 + 3004 - 1590) / 2);
	end(&k);
}

/* A thread that works on a request leaves connections that were accepted meanwhile for later. */
static void a_connection_accepted_by_a_ring_waits_for_its_request(void)
{
	struct case_of_servers k = two_in_the_queue();
	struct trace_sock_endpoints ends = endpoints(&three_server, three.ino);

	make(&k, &three, 1010, SYS_socket, 0);
	make(&k, &three, 1030, SYS_connect, 0);
	tb_event(k.c.tb, 2, 1500, TRACE_EV_uring_submit,
		 &(struct trace_uring_submit){.req = 0x700, .opcode = 13, .fd = 99}, sizeof(struct trace_uring_submit),
		 NULL);
	tb_event(k.c.tb, 2, 1600, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	ring_completes(&k, 2, 1605, 0x700, 3);
	ring_looks(&k, 2000, 0, 3); /* the program saw both requests, and the connection */
	tb_switch(k.c.tb, 2, 3100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
	run(&k);
	BILL(&k, 30, 10, 20 + (2000 - 1404) / 2);
	BILL(&k, 30, 20, 20 + (2000 - 1404) / 2);
	end(&k);
}

/* The kernel's thread receives while the program sleeps. Its time is for the client as well. */
static void a_rings_worker_works_for_the_client(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	ring_enter(&k, 1400, 1, 1);
	ring_submits(&k, 1401, 0x100, RING_RECV, one_server.fd, 0);
	tb_io_worker(k.c.tb, 2, 1410, 30, 31, 30, "iou-wrk-30");
	tb_switch(k.c.tb, 2, 1450, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	sends(&k, &one, 1460);
	tb_switch(k.c.tb, 3, 1500, 40, 31, TRACE_TASK_RUNNING);
	ring_moves(&k, 3, 1600, false, one_server.ino);
	ring_completes(&k, 3, 1610, 0x100, 1);
	tb_waking(k.c.tb, 3, 1612, 30, TRACE_CONTEXT_TASK);
	tb_switch(k.c.tb, 2, 1650, 0, 30, TRACE_TASK_RUNNING);
	tb_switch(k.c.tb, 3, 1700, 31, 40, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(k.c.tb, 2, 1660, 1);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2500);
	run(&k);
	BILL(&k, 30, 10, (1401 - 1200) + (1610 - 1500) + (1450 - 1401) + (2500 - 1650));
	REQUESTS(&k, 30, 10, 1);
	end(&k);
}

/* A program may give its own threads the names of io_uring's kernel threads. Submissions and
 * completions then happen in the context of those threads. */
static void a_thread_may_have_the_name_of_a_rings_worker(void)
{
	static const struct end box = {.cpu = 3, .fd = 7, .ino = 700, .type = SOCK_DGRAM};
	struct trace_uring_submit submit = {.req = 0x100, .opcode = RING_READ, .fd = 99};
	struct trace_sock_ready ready = {.ino = box.ino, .family = AF_UNIX};
	struct case_of_servers k = begin();

	make(&k, &box, 1200, SYS_socket, 0);
	tb_fork(k.c.tb, 2, 1410, 30, 31, 30, "iou-wrk-30");
	tb_switch(k.c.tb, 3, 1500, 40, 31, TRACE_TASK_RUNNING);
	tb_sys_enter(k.c.tb, 3, 1600, SYS_io_uring_enter, 9, 1, 0, 0, 0, 0);
	tb_event(k.c.tb, 3, 1601, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	ring_completes(&k, 3, 1602, 0x100, 1);
	tb_event(k.c.tb, 3, 1603, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	tb_sys_exit(k.c.tb, 3, 1610, 1);
	tb_switch(k.c.tb, 3, 1700, 31, 40, TRACE_TASK_INTERRUPTIBLE);
	run(&k);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 0);
	end(&k);
}

static const struct unit_case cases[] = {
	{"answers_of_a_ring_decide_the_client_of_its_time", answers_of_a_ring_decide_the_client_of_its_time},
	{"a_result_is_seen_only_when_it_is_complete", a_result_is_seen_only_when_it_is_complete},
	{"a_look_of_a_ring_takes_nothing", a_look_of_a_ring_takes_nothing},
	{"requests_answered_in_one_call_of_a_ring_share", requests_answered_in_one_call_of_a_ring_share},
	{"a_ring_sends_for_the_results_already_seen", a_ring_sends_for_the_results_already_seen},
	{"a_read_by_a_ring_continues_the_request", a_read_by_a_ring_continues_the_request},
	{"each_call_reports_the_results_seen", each_call_reports_the_results_seen},
	{"results_of_two_rings_are_not_distinguished", results_of_two_rings_are_not_distinguished},
	{"an_answer_that_a_worker_sends_is_billed_with_the_call",
	 an_answer_that_a_worker_sends_is_billed_with_the_call},
	{"a_later_request_divides_only_its_own_time", a_later_request_divides_only_its_own_time},
	{"a_connection_accepted_by_a_ring_waits_for_its_request",
	 a_connection_accepted_by_a_ring_waits_for_its_request},
	{"a_rings_worker_works_for_the_client", a_rings_worker_works_for_the_client},
	{"a_thread_may_have_the_name_of_a_rings_worker", a_thread_may_have_the_name_of_a_rings_worker},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_rings", cases, argc, argv);
}
