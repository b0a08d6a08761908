/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers.c - which client a server's CPU time is billed to, on traces of a few events:
 * servers_case.h.
 *
 * Gaps, pipes, rings, the network's softirq, and requests that the server names itself have test
 * files of their own.
 */
#include <linux/futex.h>
#include <stdlib.h>
#include "servers_close.h"
#include "unit.h"

/* ---- one request ---- */

static void one_client_is_exact(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2500);
	run(&k);
	BILL(&k, 30, 10, 2500 - 1200);
	REQUESTS(&k, 30, 10, 1);
	CU_ASSERT_EQUAL(server_of(&k, 30)->cpu_ns, 8000);
	CU_ASSERT_EQUAL(server_of(&k, 30)->background_ns, 8000 - 1300);
	CU_ASSERT_EQUAL(server_of(&k, 30)->nr_clients, 1);
	CU_ASSERT_PTR_NULL(server_of(&k, 10)); /* receiving an answer does not make a process a server */
	end(&k);
}

static void a_receiver_may_be_done_before_the_sender(void)
{
	struct case_of_servers k = begin();
	struct trace_sock_send event = {.ino = 101, .ret = 16, .family = AF_UNIX};

	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1220);
	tb_sys_enter(k.c.tb, 0, 1250, SYS_write, 3, 0, 16);
	receives(&k, &one_server, 1300);
	tb_event(k.c.tb, 0, 1350, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 0, 1360, 16);
	polls(&k, 2, 2500);
	run(&k);
	BILL(&k, 30, 10, 20 + 2500 - 1300);
	end(&k);
}

static void pieces_are_one_request(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1220);
	for (uint64_t ns = 1300; ns < 1600; ns += 100) {
		sends(&k, &one, ns);
		receives(&k, &one_server, ns + 50);
	}
	sends(&k, &one_server, 2000);
	sends(&k, &one_server, 2100); /* an answer is sent in pieces as well */
	polls(&k, 2, 2200);
	sends(&k, &one, 2300);
	receives(&k, &one_server, 2400);
	polls(&k, 2, 2500);
	run(&k);
	BILL(&k, 30, 10, 20 + (2200 - 1350) + (2500 - 2400));
	REQUESTS(&k, 30, 10, 2);
	end(&k);
}

/* The client did not wait for the first answer. */
static void requests_that_wait_in_a_row_are_one_each(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1220);
	sends(&k, &one, 1250);
	sends(&k, &one, 1270);
	receives(&k, &one_server, 1300);
	sends(&k, &one_server, 1400);
	polls(&k, 2, 1450);
	receives(&k, &one_server, 1500);
	sends(&k, &one_server, 1600);
	polls(&k, 2, 1700);
	run(&k);
	BILL(&k, 30, 10, 20 + (1450 - 1300) + (1700 - 1500));
	REQUESTS(&k, 30, 10, 2);
	end(&k);
}

/* ---- several ---- */

static void several_requests_share_evenly(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	receives(&k, &two_server, 1500);
	polls(&k, 2, 2501);
	run(&k);
	/* accepting; until the second request arrived; the call that read it */
	CU_ASSERT_EQUAL(bill(&k, 30, 10).cpu_ns + bill(&k, 30, 20).cpu_ns, 20 + 100 + 20 + 1001);
	CU_ASSERT(bill(&k, 30, 10).cpu_ns == 120 + 495 || bill(&k, 30, 10).cpu_ns == 120 + 496);
	EXACT(&k, 30, 10, 0); /* not answered */
	CU_ASSERT(bill(&k, 30, 10).most_ns == 9000 - 1400 + 20 && bill(&k, 30, 20).most_ns == 9000 - 1500 + 20);
	end(&k);
}

static void an_answer_leaves_the_others_alone(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	receives(&k, &two_server, 1410);
	sends(&k, &one_server, 2000);
	sends(&k, &two_server, 2500);
	polls(&k, 2, 3000);
	run(&k);
	BILL(&k, 30, 10, 20 + (1410 - 1400) + (2010 - 1420));
	BILL(&k, 30, 20, 20 + (1420 - 1410) + (3000 - 2010));
	end(&k);
}

/* Both requests are read, then executed by a timer. */
static struct case_of_servers batch_by_a_timer(uint64_t first_ns, uint64_t second_ns)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	polls(&k, 2, 1410);
	receives(&k, &two_server, 1500);
	polls(&k, 2, 1510);
	sends(&k, &one_server, first_ns);
	sends(&k, &two_server, second_ns);
	polls(&k, 2, second_ns + 10);
	run(&k);
	return k;
}

static void requests_that_are_served_in_turn_are_billed_by_their_answers(void)
{
	struct case_of_servers k = batch_by_a_timer(3000, 7000);

	BILL(&k, 30, 10, 20 + 10 + (3010 - 1510));
	BILL(&k, 30, 20, 20 + 10 + (7010 - 3010));
	EXACT(&k, 30, 10, 10); /* the call that read it, when it was the only one */
	EXACT(&k, 30, 20, 0);
	CU_ASSERT_EQUAL(bill(&k, 30, 10).most_ns, 20 + 7010 - 1400);
	CU_ASSERT_EQUAL(bill(&k, 30, 20).most_ns, 20 + 7010 - 1500);
	end(&k);
}

static void answers_that_come_together_share_the_time_before_them(void)
{
	struct case_of_servers k = batch_by_a_timer(6990, 7000);

	BILL(&k, 30, 10, 20 + 10 + (7010 - 1510) / 2);
	BILL(&k, 30, 20, 20 + 10 + (7010 - 1510) / 2);
	end(&k);
}

static void a_read_that_sleeps_for_a_new_request_ends_the_old_one(void)
{
	struct case_of_servers k = begin();
	struct trace_sock_send event = {.ino = 202, .ret = 16, .family = AF_UNIX};

	connects(&k, &two, &two_server, 1200);
	connects(&k, &one, &one_server, 1220);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_sys_enter(k.c.tb, 2, 2000, SYS_read, 5, 0, 16);
	tb_switch(k.c.tb, 2, 2100, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	sends(&k, &two, 2200);
	tb_waking(k.c.tb, 1, 2204, 30, TRACE_CONTEXT_TASK);
	tb_switch(k.c.tb, 2, 2300, 0, 30, TRACE_TASK_RUNNING);
	tb_event(k.c.tb, 2, 2400, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 2, 2410, 16);
	polls(&k, 2, 3000);
	run(&k);
	BILL(&k, 30, 10, 2000 - 1220);
	BILL(&k, 30, 20, 20 + 100 + 3000 - 2300);
	end(&k);
}

/* The server looks for other work until its connection to the next server is made. */
static void a_connection_made_for_a_request_carries_it(void)
{
	static const struct end next = {.cpu = 2,
					.fd = 6,
					.ino = 103,
					.family = AF_INET,
					.local_port = 5000,
					.remote_port = 80,
					.local = LOCALHOST,
					.remote = LOCALHOST},
				next_server = {.cpu = 3,
					       .fd = 4,
					       .ino = 203,
					       .family = AF_INET,
					       .local_port = 80,
					       .remote_port = 5000,
					       .local = LOCALHOST,
					       .remote = LOCALHOST};
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	make(&k, &next, 1350, SYS_socket, 0);
	make(&k, &next, 1400, SYS_connect, 0);
	polls(&k, 2, 1500);
	make(&k, &next_server, 1550, SYS_accept, 0);
	transfer(&k, &next, 1600, true, 16, 16);
	transfer(&k, &next_server, 1700, false, 16, 16);
	polls(&k, 2, 1800);
	polls(&k, 3, 2000);
	run(&k);
	BILL(&k, 30, 10, (1500 - 1200) + (1800 - 1600));
	BILL(&k, 40, 10, 2000 - 1550);
	BILL(&k, 40, 30, 0);
	end(&k);
}

/* ---- queues and idle waits ---- */

/* A socket pair of which two processes hold one end. */
static void a_connection_of_several_senders_is_a_queue(void)
{
	struct case_of_servers k = begin();
	struct end other = one;

	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1220);
	other.cpu = 1;
	other.fd = 8;
	tb_fd(k.c.tb, 20, 8, 8, 101, S_IFSOCK | 0777, "socket:[]");
	sends(&k, &one, 1250);
	sends(&k, &other, 1300);
	sends(&k, &one, 1350);
	receives(&k, &one_server, 1400);
	receives(&k, &one_server, 1500);
	receives(&k, &one_server, 1600);
	polls(&k, 2, 2000);
	run(&k);
	/* not recognised as a queue before the second sender */
	BILL(&k, 30, 10, 20 + 100 + 400 + (1600 - 1510) / 2);
	BILL(&k, 30, 20, (1510 - 1500) + (1600 - 1510) / 2);
	end(&k);
}

/* After its answer a server waits in one of these calls until there is work again. That time is not
 * billed to the client that got the answer. */
static void time_after_an_idle_wait_is_background(void)
{
	/* clang-format off */
	static const char *const rests[] = { "clock_nanosleep", "clock_nanosleep_time64", "epoll_pwait2", "futex",
	"futex_time64", "io_getevents", "io_pgetevents",
					     "io_pgetevents_time64", "mq_timedreceive", "mq_timedreceive_time64",
					     "msgrcv", "nanosleep", "pause", "poll", "ppoll",
					     "ppoll_time64", "pselect6", "pselect6_time64", "recvmmsg",
					     "recvmmsg_time64", "rt_sigsuspend", "rt_sigtimedwait",
					     "rt_sigtimedwait_time64", "select", "_newselect", "semop", "semtimedop",
					     "semtimedop_time64", "sigsuspend", "wait4", "waitid" };
	/* clang-format on */
	enum { SOME_NUMBER = 700 };

	for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
		struct case_of_servers k = begin();

		tb_string(k.c.tb, TRACE_STRING_SYSCALL, SOME_NUMBER, rests[i]);
		connects(&k, &one, &one_server, 1200);
		sends(&k, &one, 1250);
		receives(&k, &one_server, 1300);
		sends(&k, &one_server, 2000);
		tb_sys_enter(k.c.tb, 2, 2500, SOME_NUMBER, 0x1000, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
		tb_sys_exit(k.c.tb, 2, 2510, 0);
		run(&k);
		if (bill(&k, 30, 10).cpu_ns != 2500 - 1200)
			fprintf(stderr, "%s is no rest\n", rests[i]);
		BILL(&k, 30, 10, 2500 - 1200);
		end(&k);
	}
}

/* ---- passing work on ---- */

static void a_wakeup_passes_a_job_on(void)
{
	struct case_of_servers k = begin();

	tb_fork(k.c.tb, 2, 1050, 30, 31, 30, "worker");
	tb_event(k.c.tb, 2, 1060, TRACE_EV_sched_wakeup_new,
		 &(struct trace_sched_wakeup_new){.tid = 31, .target_cpu = 4}, sizeof(struct trace_sched_wakeup_new),
		 NULL);
	tb_switch(k.c.tb, 4, 1100, 0, 31, TRACE_TASK_RUNNING);
	tb_sys_enter(k.c.tb, 4, 1110, SYS_futex, 0x1000, FUTEX_WAIT_BITSET_PRIVATE, 0, 0, 0, 0);
	tb_switch(k.c.tb, 4, 1120, 31, 0, TRACE_TASK_INTERRUPTIBLE);
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_sys_enter(k.c.tb, 2, 1400, SYS_futex, 0x1000, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	tb_waking(k.c.tb, 2, 1405, 31, TRACE_CONTEXT_TASK);
	tb_sys_exit(k.c.tb, 2, 1410, 1);
	polls(&k, 2, 1500);
	tb_switch(k.c.tb, 4, 1500, 0, 31, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 4, 1510, 0);
	transfer(&k, &(struct end){.cpu = 4, .fd = 4, .ino = 201}, 2000, true, 16, 0);
	tb_sys_enter(k.c.tb, 4, 2100, SYS_futex, 0x1000, FUTEX_WAIT_BITSET_PRIVATE, 0, 0, 0, 0);
	tb_switch(k.c.tb, 4, 2200, 31, 0, TRACE_TASK_INTERRUPTIBLE);
	run(&k);
	/* The worker's bill begins at the entry of its wait, of which only 10 ns were on the
	 * CPU. */
	BILL(&k, 30, 10, (1500 - 1200) + 10 + (2100 - 1500));
	REQUESTS(&k, 30, 10, 1);
	end(&k);
}

/* A thread of the server's process waits in a call. Another thread, which works on a request, wakes
 * it. That thread has waited at the futex @word before; 0: at none. */
static struct case_of_servers woken_in_after(uint64_t word, uint32_t nr, uint64_t first, uint64_t second,
					     uint64_t third)
{
	struct case_of_servers k = begin();

	tb_fd(k.c.tb, 30, 7, 8, 77, S_IFREG | 0644, "/data");
	tb_fork(k.c.tb, 2, 1050, 30, 31, 30, "worker");
	tb_event(k.c.tb, 2, 1060, TRACE_EV_sched_wakeup_new,
		 &(struct trace_sched_wakeup_new){.tid = 31, .target_cpu = 4}, sizeof(struct trace_sched_wakeup_new),
		 NULL);
	tb_switch(k.c.tb, 4, 1100, 0, 31, TRACE_TASK_RUNNING);
	tb_sys_enter(k.c.tb, 4, 1110, nr, first, second, third, 0, 0, 0);
	tb_switch(k.c.tb, 4, 1120, 31, 0, TRACE_TASK_INTERRUPTIBLE);
	if (word) {
		tb_sys_enter(k.c.tb, 2, 1150, SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, 0, 0, 0, 0);
		tb_sys_exit(k.c.tb, 2, 1160, -ETIMEDOUT);
	}
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_sys_enter(k.c.tb, 2, 1400, SYS_futex, 0x1000, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	tb_waking(k.c.tb, 2, 1405, 31, TRACE_CONTEXT_TASK);
	tb_sys_exit(k.c.tb, 2, 1410, 1);
	polls(&k, 2, 1500);
	tb_switch(k.c.tb, 4, 1500, 0, 31, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 4, 1510, 0);
	return k;
}

static struct case_of_servers woken_in(uint32_t nr, uint64_t first, uint64_t second, uint64_t third)
{
	return woken_in_after(0, nr, first, second, third);
}

static void a_lock_passes_no_work_on(void)
{
	static const uint64_t operations[][2] = {{FUTEX_WAIT_PRIVATE, 2},
						 {FUTEX_LOCK_PI_PRIVATE, 0},
						 {FUTEX_LOCK_PI2_PRIVATE, 0}};

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		struct case_of_servers k = woken_in(SYS_futex, 0x1000, operations[i][0], operations[i][1]);

		run(&k);
		BILL(&k, 30, 10, 1500 - 1200);
		end(&k);
	}
}

/* An interpreter's lock is a condition variable: the thread that releases it has waited there too,
 * before the request arrived. Elsewhere such a wakeup passes on work. */
static void a_condition_where_both_wait_alternately_passes_no_work_on(void)
{
	for (uint64_t word = 0x1000; word <= 0x1008; word += 4) {
		bool is_job = word == 0x1008;
		struct case_of_servers k = woken_in_after(word, SYS_futex, 0x1000, FUTEX_WAIT_BITSET_PRIVATE, 0);

		polls(&k, 4, 2100);
		run(&k);
		BILL(&k, 30, 10, 1500 - 1200 + (is_job ? 10 + 2100 - 1500 : 0));
		end(&k);
	}
}

/* Two threads that read the same file wait for each other's pages, and for locks in the kernel. */
static void a_file_passes_no_work_on(void)
{
	struct case_of_servers k = woken_in(SYS_read, 7, 0, 4096);

	run(&k);
	BILL(&k, 30, 10, 1500 - 1200);
	end(&k);
}

static void a_job_taken_without_waiting_is_attributed_by_its_answer(void)
{
	struct case_of_servers k = begin();

	tb_fork(k.c.tb, 2, 1050, 30, 31, 30, "worker");
	tb_event(k.c.tb, 2, 1060, TRACE_EV_sched_wakeup_new,
		 &(struct trace_sched_wakeup_new){.tid = 31, .target_cpu = 4}, sizeof(struct trace_sched_wakeup_new),
		 NULL);
	tb_switch(k.c.tb, 4, 1100, 0, 31, TRACE_TASK_RUNNING);
	polls(&k, 4, 1400); /* its last idle wait */
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	polls(&k, 2, 1500);
	transfer(&k, &(struct end){.cpu = 4, .fd = 4, .ino = 201}, 2000, true, 16, 0);
	polls(&k, 4, 2100);
	run(&k);
	BILL(&k, 30, 10, (1500 - 1200) + (2100 - 1400));
	end(&k);
}

static void a_forked_child_inherits(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	tb_fork(k.c.tb, 2, 1300, 30, 50, 50, "server");
	tb_event(k.c.tb, 2, 1305, TRACE_EV_sched_wakeup_new,
		 &(struct trace_sched_wakeup_new){.tid = 50, .target_cpu = 4}, sizeof(struct trace_sched_wakeup_new),
		 NULL);
	tb_switch(k.c.tb, 4, 1400, 0, 50, TRACE_TASK_RUNNING);
	sends(&k, &one, 1450);
	receives(&k, &(struct end){.cpu = 4, .fd = 4, .ino = 201}, 1500);
	sends(&k, &(struct end){.cpu = 4, .fd = 4, .ino = 201}, 2000);
	tb_exit(k.c.tb, 4, 2500, 50, 50, true);
	tb_switch(k.c.tb, 4, 2600, 50, 0, TRACE_TASK_DEAD);
	make(&k, &two_server, 3000, SYS_accept, 0);
	run(&k);
	BILL(&k, 50, 10, 2600 - 1400);
	REQUESTS(&k, 50, 10, 1);
	BILL(&k, 30, 10, 3000 - 1200);
	end(&k);
}

/* ---- several servers ---- */

static void the_origin_follows_the_request(void)
{
	struct case_of_servers k = begin();

	make(&k, &down, 1010, SYS_socket, 0);
	make(&k, &down, 1030, SYS_connect, 0);
	make(&k, &down_server, 1050, SYS_accept, 103);
	polls(&k, 3, 1070);
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	sends(&k, &down, 1400);
	polls(&k, 2, 1500); /* the server would now work for others */
	receives(&k, &down_server, 1500);
	sends(&k, &down_server, 2000);
	polls(&k, 3, 2200);
	receives(&k, &down, 2300); /* and continues with the answer */
	sends(&k, &one_server, 2500);
	polls(&k, 2, 2600);
	run(&k);
	BILL(&k, 40, 10, 2200 - 1500);
	BILL(&k, 40, 30, 20); /* accepted before there was a request */
	BILL(&k, 30, 10, (1500 - 1200) + (2600 - 2300));
	REQUESTS(&k, 30, 10, 1);
	REQUESTS(&k, 40, 10, 1);
	REQUESTS(&k, 40, 30, 0);
	end(&k);
}

static void a_request_passed_on_leaves_the_set_when_a_new_one_arrives(void)
{
	struct case_of_servers k = begin();

	make(&k, &down, 1010, SYS_socket, 0);
	make(&k, &down, 1030, SYS_connect, 0);
	make(&k, &down_server, 1050, SYS_accept, 103);
	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	sends(&k, &down, 1500);
	receives(&k, &two_server, 1600);
	polls(&k, 2, 2000);
	run(&k);
	BILL(&k, 30, 10, 20 + 1600 - 1400);
	BILL(&k, 30, 20, 20 + 2000 - 1600);
	end(&k);
}

/* ---- TCP ---- */

static void tcp_positions_may_wrap(void)
{
	struct case_of_servers k = begin();
	struct end client = tcp(one, 4000, 80), server = tcp(one_server, 80, 4000);
	uint32_t position = UINT32_MAX - 20;

	was_open(&k, &client, 0, 1);
	was_open(&k, &server, 0, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300, .family = AF_INET, .local_port = 80}, 0, 10);
	for (uint64_t ns = 1300; ns < 2300; ns += 200) {
		position += 16;
		transfer(&k, &client, ns, true, 16, position);
		transfer(&k, &server, ns + 50, false, 16, position);
		polls(&k, 2, ns + 100);
	}
	run(&k);
	BILL(&k, 30, 10, 5 * 50);
	end(&k);
}

/* The read that returns the last byte also reads the end of the stream, if both have arrived. The
 * end counts as one byte. */
static void the_last_byte_of_a_connection_may_come_with_its_end(void)
{
	struct case_of_servers k = begin();
	struct end client = tcp(one, 4000, 80), server = tcp(one_server, 80, 4000);

	was_open(&k, &client, 0, 1);
	was_open(&k, &server, 0, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300, .family = AF_INET, .local_port = 80}, 0, 10);
	transfer(&k, &client, 1100, true, 1, 1001);
	transfer(&k, &server, 1150, false, 1, 1001);
	polls(&k, 2, 1200);
	transfer(&k, &client, 1300, true, 1, 1002);
	closes(&k, &client, 1320, FIN_WAIT1);
	transfer(&k, &server, 1350, false, 1, 1003);
	polls(&k, 2, 1400);
	run(&k);
	BILL(&k, 30, 10, 2 * 50);
	end(&k);
}

static void data_in_flight_on_tcp_at_the_start_is_background(void)
{
	struct case_of_servers k = begin();
	struct end client = tcp(one, 4000, 80), server = tcp(one_server, 80, 4000);

	was_open(&k, &client, 0, 1);
	was_open(&k, &server, 0, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300, .family = AF_INET, .local_port = 80}, 0, 10);
	transfer(&k, &client, 1100, true, 16, 1032); /* 1016 to 1032 */
	transfer(&k, &server, 1300, false, 16, 1016);
	polls(&k, 2, 1400);
	transfer(&k, &server, 1500, false, 16, 1032);
	polls(&k, 2, 1700);
	run(&k);
	BILL(&k, 30, 10, 1700 - 1500);
	end(&k);
}

static void a_client_elsewhere_is_an_address(void)
{
	struct case_of_servers k = begin();
	struct end server = tcp(one_server, 80, 4000);

	server.remote = OTHER_HOST;
	server.local = 0x0100000affff0000ull;
	make(&k, &server, 1200, SYS_accept, 0);
	transfer(&k, &server, 1300, false, 16, 1016);
	polls(&k, 2, 1700);
	run(&k);
	BILL(&k, 30, 0, 1700 - 1200);
	REQUESTS(&k, 30, 0, 1);
	CU_ASSERT_STRING_EQUAL(bill(&k, 30, 0).address, "10.0.0.2");
	CU_ASSERT_STRING_EQUAL(bill(&k, 30, 0).comm, "");
	end(&k);
}

static void a_client_elsewhere_may_have_a_long_address(void)
{
	struct case_of_servers k = begin();
	struct end server = tcp(one_server, 80, 4000);

	server.family = AF_INET6;
	server.remote = 0x0200000000000000ull; /* ::2 to ::3 */
	server.local = 0x0300000000000000ull;
	make(&k, &server, 1200, SYS_accept, 0);
	transfer(&k, &server, 1300, false, 16, 1016);
	polls(&k, 2, 1700);
	run(&k);
	BILL(&k, 30, 0, 1700 - 1200);
	CU_ASSERT_STRING_EQUAL(bill(&k, 30, 0).address, "::2");
	end(&k);
}

static void an_unrecorded_local_client_is_no_address(void)
{
	static const struct {
		uint64_t local, remote;
	} hosts[] = {{OTHER_HOST, OTHER_HOST},
		     {LOCALHOST, 0x0200007fffff0000ull}}; /* 10.0.0.2 to itself, 127.0.0.2 to 127.0.0.1 */

	for (size_t i = 0; i < 2; i++) {
		struct case_of_servers k = begin();
		struct end server = tcp(one_server, 80, 4000);

		server.local = hosts[i].local;
		server.remote = hosts[i].remote;
		make(&k, &server, 1200, SYS_accept, 0);
		transfer(&k, &server, 1300, false, 16, 1016);
		polls(&k, 2, 1700);
		run(&k);
		BILL(&k, 30, 0, 0);
		REQUESTS(&k, 30, 0, 0);
		end(&k);
	}
}

/* ---- the interface, and random stories ---- */

static void the_servers_have_to_be_created_before_the_pass(void)
{
	struct case_of_servers k = begin();
	struct trace_error error = {0};

	run(&k);
	CU_ASSERT_PTR_NULL(trace_servers_new(k.c.trace, k.c.analysis, &error));
	CU_ASSERT_EQUAL(error.code, -EBUSY);
	CU_ASSERT_PTR_NULL(trace_get_server(k.servers, 0));
	CU_ASSERT_PTR_NULL(trace_servers_free(NULL));
	end(&k);
}

static uint32_t seed;
static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % below;
}

static void random_event(struct tb *tb, uint32_t cpu, uint64_t ns)
{
	static const uint32_t calls[] = {SYS_read,    SYS_write,  SYS_poll,	SYS_accept,    SYS_futex,
					 SYS_connect, SYS_sendto, SYS_recvfrom, SYS_nanosleep, SYS_pipe};
	static const uint16_t types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};
	struct trace_sock_send transfer = {.ino = 100 + any(6),
					   .position = any(4) ? any(100) : any(UINT32_MAX),
					   .ret = (int32_t)any(40) - 12,
					   .family = any(2) ? AF_UNIX : AF_INET};
	struct trace_sock_endpoints ends = {.fd = (int32_t)any(6),
					    .ino = 100 + any(6),
					    .peer_ino = any(2) ? 100 + any(6) : 0,
					    .family = transfer.family,
					    .type = types[any(3)],
					    .local_port = (uint16_t)any(3),
					    .remote_port = (uint16_t)any(3),
					    .state = any(11)};
	struct trace_sched_wakeup_new born = {.tid = 10 + any(12)};

	transfer.protocol = transfer.family == AF_INET ? (any(2) ? 6 : 17) : 0;
	ends.protocol = transfer.protocol;
	switch (any(16)) {
	case 0:
	case 1:
	case 2:
		tb_sys_enter(tb, cpu, ns, calls[any(10)], any(6), any(3), any(40), any(3), 0, 0);
		break;
	case 3:
	case 4:
		tb_sys_exit(tb, cpu, ns, (int64_t)any(40) - 12);
		break;
	case 5:
		tb_switch(tb, cpu, ns, any(3) ? 10 + any(12) : 0, any(3) ? 10 + any(12) : 0, any(2));
		break;
	case 6:
		tb_waking(tb, cpu, ns, 10 + any(12), any(4) ? TRACE_CONTEXT_TASK : TRACE_CONTEXT_SOFTIRQ);
		break;
	case 7:
		tb_event(tb, cpu, ns, TRACE_EV_sock_send, &transfer, sizeof(transfer), NULL);
		break;
	case 8:
		tb_event(tb, cpu, ns, TRACE_EV_sock_recv, &transfer, sizeof(transfer), NULL);
		break;
	case 9:
		tb_event(tb, cpu, ns, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
		break;
	case 10:
		tb_open(tb, cpu, ns, (int)any(6), 8, 100 + any(6), any(2) ? S_IFSOCK : S_IFIFO, "it");
		break;
	case 11:
		tb_fork(tb, cpu, ns, 10 + any(12), 10 + any(12), 10 + any(12), "it");
		tb_event(tb, cpu, ns + 1, TRACE_EV_sched_wakeup_new, &born, sizeof(born), NULL);
		break;
	case 12:
		(any(2) ? tb_softirq : tb_softirq_exit)(tb, cpu, ns, any(4) ? NET_RX : 1);
		break;
	case 13:
		tb_event(
			tb, cpu, ns, any(2) ? TRACE_EV_net_tx : TRACE_EV_net_rx,
			&(struct trace_net_tx){.ifindex = any(5) ? 1 : 2, .bytes = 60 + any(2) * 14, .protocol = 0x800},
			sizeof(struct trace_net_tx), NULL);
		break;
	case 14:
		tb_event(tb, cpu, ns, TRACE_EV_sock_state,
			 &(struct trace_sock_state){.ino = 100 + any(6),
						    .family = AF_INET,
						    .protocol = 6,
						    .new_state = (uint16_t)(1 + any(11))},
			 sizeof(struct trace_sock_state), NULL);
		break;
	default:
		if (any(20) == 0)
			tb_lost(tb, cpu, 1 + any(3));
		else
			tb_event(tb, cpu, ns, TRACE_EV_sock_ready, &(struct trace_sock_ready){.ino = 100 + any(6)},
				 sizeof(struct trace_sock_ready), NULL);
	}
}

static void bills_add_up_whatever_happens(void)
{
	size_t servers = 0;

	for (uint32_t round = 1; round <= 300; round += (uint32_t)unit_step(2)) {
		struct case_of_servers k = {.c = case_new()};
		struct trace_error error = {0};
		uint64_t ns = 1001;

		seed = round;
		tb_window(k.c.tb, 1000, 9000);
		tb_string(k.c.tb, TRACE_STRING_NETDEV, 1, "lo");
		for (uint32_t i = 0; i < 6; i++)
			tb_thread(k.c.tb, 10 + i, 10 + i / 2 * 2, 1, "it", i % 3, i < 3);
		for (int i = 0; i < 400; i++, ns += 1 + any(15))
			random_event(k.c.tb, any(3), ns);
		k.c.trace = tb_open_trace(k.c.tb);
		k.c.analysis = trace_analysis_new(k.c.trace, NULL, &error);
		k.servers = trace_servers_new(k.c.trace, k.c.analysis, &error);
		CU_ASSERT_EQUAL(trace_analysis_run(k.c.analysis, &error), 0);
		CU_ASSERT_EQUAL(trace_analysis_verify(k.c.analysis, &error), 0);
		CU_ASSERT_EQUAL(trace_servers_verify(k.servers, &error), 0);
		if (error.code)
			printf("round %u: %s\n", round, error.message);
		servers += trace_nr_servers(k.servers);
		end(&k);
	}
	CU_ASSERT(servers > 0);
}

static const struct unit_case cases[] = {
	{"one_client_is_exact", one_client_is_exact},
	{"a_receiver_may_be_done_before_the_sender", a_receiver_may_be_done_before_the_sender},
	{"pieces_are_one_request", pieces_are_one_request},
	{"several_requests_share_evenly", several_requests_share_evenly},
	{"an_answer_leaves_the_others_alone", an_answer_leaves_the_others_alone},
	{"requests_that_are_served_in_turn_are_billed_by_their_answers",
	 requests_that_are_served_in_turn_are_billed_by_their_answers},
	{"answers_that_come_together_share_the_time_before_them",
	 answers_that_come_together_share_the_time_before_them},
	{"a_read_that_sleeps_for_a_new_request_ends_the_old_one",
	 a_read_that_sleeps_for_a_new_request_ends_the_old_one},
	{"a_connection_of_several_senders_is_a_queue", a_connection_of_several_senders_is_a_queue},
	{"time_after_an_idle_wait_is_background", time_after_an_idle_wait_is_background},
	{"a_wakeup_passes_a_job_on", a_wakeup_passes_a_job_on},
	{"a_lock_passes_no_work_on", a_lock_passes_no_work_on},
	{"a_condition_where_both_wait_alternately_passes_no_work_on",
	 a_condition_where_both_wait_alternately_passes_no_work_on},
	{"a_file_passes_no_work_on", a_file_passes_no_work_on},
	{"a_job_taken_without_waiting_is_attributed_by_its_answer",
	 a_job_taken_without_waiting_is_attributed_by_its_answer},
	{"a_forked_child_inherits", a_forked_child_inherits},
	{"the_origin_follows_the_request", the_origin_follows_the_request},
	{"a_request_passed_on_leaves_the_set_when_a_new_one_arrives",
	 a_request_passed_on_leaves_the_set_when_a_new_one_arrives},
	{"tcp_positions_may_wrap", tcp_positions_may_wrap},
	{"the_last_byte_of_a_connection_may_come_with_its_end", the_last_byte_of_a_connection_may_come_with_its_end},
	{"data_in_flight_on_tcp_at_the_start_is_background", data_in_flight_on_tcp_at_the_start_is_background},
	{"a_client_elsewhere_is_an_address", a_client_elsewhere_is_an_address},
	{"a_connection_made_for_a_request_carries_it", a_connection_made_for_a_request_carries_it},
	{"the_servers_have_to_be_created_before_the_pass", the_servers_have_to_be_created_before_the_pass},
	{"bills_add_up_whatever_happens", bills_add_up_whatever_happens},
	{"an_unrecorded_local_client_is_no_address", an_unrecorded_local_client_is_no_address},
	{"requests_that_wait_in_a_row_are_one_each", requests_that_wait_in_a_row_are_one_each},
	{"a_client_elsewhere_may_have_a_long_address", a_client_elsewhere_may_have_a_long_address},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers", cases, argc, argv);
}
