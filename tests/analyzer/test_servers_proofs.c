/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_proofs.c - what of a bill is proven: the theorem of docs/SERVERS.md, rule by rule */
#include <linux/futex.h>
#include "servers_case.h"
#include "servers_pipe.h"
#include "unit.h"

/* A new pipe that two processes have. */
static void pipe_of(struct case_of_servers *k, uint32_t cpu, uint32_t other, uint64_t ns, int fd, uint64_t ino)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_pipe, 0x1000, 0, 0);
	pipe_in(k, cpu, ns + 2, fd, ino);
	tb_sys_exit(k->c.tb, cpu, ns + 4, 0);
	pipe_in(k, other, ns + 6, fd, ino);
}

/* Process 20 writes a message into a pipe, which process 10 reads. */
static void message_for_client(struct case_of_servers *k)
{
	pipe_of(k, 0, 1, 1050, 7, 700);
	pipe_io(k, 1, 7, 1060, true);
	pipe_io(k, 0, 7, 1080, false);
}

/* The client asks the server, which works for it from 1300 ns to the end of its answer at 2010. */
static void one_asks(struct case_of_servers *k)
{
	connects(k, &one, &one_server, 1200);
	sends(k, &one, 1250);
	receives(k, &one_server, 1300);
	sends(k, &one_server, 2000);
	receives(k, &one, 2100);
	polls(k, 2, 2200);
}

/* It does not answer the message, so no process is its client. */
static void a_client_may_have_read_a_pipe_before_it_asks(void)
{
	struct case_of_servers k = begin();

	message_for_client(&k);
	polls(&k, 0, 1100);
	one_asks(&k);
	run(&k);
	EXACT(&k, 30, 10, 2010 - 1300);
	end(&k);
}

/* It asks process 30 for process 20, or for itself: nothing shows it. */
static void a_server_with_a_request_in_hand_may_ask_for_it(void)
{
	struct case_of_servers k = begin();

	message_for_client(&k);
	polls(&k, 0, 1100);
	one_asks(&k);
	pipe_of(&k, 0, 1, 2300, 8, 800);
	pipe_io(&k, 0, 8, 2400, true); /* the answer makes it a server */
	pipe_io(&k, 1, 8, 2500, false);
	run(&k);
	EXACT(&k, 30, 10, 0);
	CU_ASSERT_PTR_NOT_NULL(server_of(&k, 10));
	end(&k);
}

/* ---- data that stays in the socket ---- */

/* recvmsg() with MSG_PEEK. The bytes stay in the socket. */
static void peeks(struct case_of_servers *k, const struct end *e, uint64_t ns)
{
	struct trace_sock_recv looked = {.ino = e->ino, .ret = 16, .family = e->family ? e->family : AF_UNIX};

	tb_sys_enter(k->c.tb, e->cpu, ns, SYS_recvmsg, (uint64_t)e->fd, 0, MSG_PEEK);
	tb_event(k->c.tb, e->cpu, ns + 5, TRACE_EV_sock_recv, &looked, sizeof(looked), NULL);
	tb_sys_exit(k->c.tb, e->cpu, ns + 10, 16);
}

/* The server looks at the request at 1300, takes it at 1600, and may look a second time. */
static void a_request_is_open_from_the_first_look_at_it(void)
{
	for (int looks = 1; looks <= 2; looks++) {
		struct case_of_servers k = begin();

		connects(&k, &one, &one_server, 1200);
		sends(&k, &one, 1250);
		peeks(&k, &one_server, 1300);
		if (looks == 2)
			peeks(&k, &one_server, 1400);
		receives(&k, &one_server, 1600);
		sends(&k, &one_server, 2000);
		receives(&k, &one, 2100);
		polls(&k, 2, 2200);
		run(&k);
		BILL(&k, 30, 10, 2200 - 1200); /* with the accept() */
		EXACT(&k, 30, 10, 2010 - 1300);
		CU_ASSERT_EQUAL(bill(&k, 30, 10).requests, 1);
		end(&k);
	}
}

/* It looks at the request of the other client, too, so nothing behind that is proven. */
static void a_second_request_is_in_hand_from_the_first_look_at_it(void)
{
	struct case_of_servers k = begin();
	struct trace_server_client first;

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	sends(&k, &one, 1250);
	sends(&k, &two, 1260);
	receives(&k, &one_server, 1300);
	peeks(&k, &two_server, 1400);
	sends(&k, &one_server, 2000);
	receives(&k, &two_server, 2050);
	sends(&k, &two_server, 2500);
	polls(&k, 2, 2600);
	run(&k);
	first = bill(&k, 30, 10);
	CU_ASSERT_TRUE(first.exact_ns <= 1400 - 1300);
	CU_ASSERT_TRUE(bill(&k, 30, 20).most_ns >= 2500 - 1400);
	end(&k);
}

/* ---- programs that replace themselves ---- */

static void message_for_server(struct case_of_servers *k)
{
	pipe_of(k, 2, 1, 1050, 7, 700);
	pipe_io(k, 1, 7, 1060, true);
	pipe_io(k, 2, 7, 1070, false);
	polls(k, 2, 1085);
}

/* A script reads what its children write, and becomes the server. */
static void a_new_program_has_no_messages_in_hand(void)
{
	for (int execs = 0; execs < 2; execs++) {
		struct case_of_servers k = begin();

		message_for_server(&k);
		if (execs)
			tb_exec(k.c.tb, 2, 1100, 30, "/usr/sbin/server");
		one_asks(&k);
		run(&k);
		EXACT(&k, 30, 10, execs ? 2010 - 1300 : 0);
		end(&k);
	}
}

/* The new program may answer what the old one has read from the connection. */
static void a_new_program_has_the_requests_of_its_connections(void)
{
	struct case_of_servers k = begin();

	connects(&k, &two, &two_server, 1050);
	sends(&k, &two, 1070);
	receives(&k, &two_server, 1090);
	tb_exec(k.c.tb, 2, 1110, 30, "/usr/sbin/server");
	one_asks(&k);
	sends(&k, &two_server, 3000);
	run(&k);
	EXACT(&k, 30, 10, 0);
	end(&k);
}

/* A script with a message of a child in hand starts the server. */
static void a_child_has_no_messages_in_hand_when_it_is_another_program(void)
{
	static const struct end at_child = {.cpu = 4, .fd = 4, .ino = 201, .peer = 101};

	for (int execs = 0; execs < 2; execs++) {
		struct case_of_servers k = begin();

		message_for_server(&k);
		tb_fork(k.c.tb, 2, 1100, 30, 50, 50, "child");
		tb_switch(k.c.tb, 4, 1110, 0, 50, TRACE_TASK_RUNNING);
		if (execs)
			tb_exec(k.c.tb, 4, 1120, 50, "/usr/sbin/server");
		connects(&k, &one, &at_child, 1200);
		sends(&k, &one, 1250);
		receives(&k, &at_child, 1300);
		sends(&k, &at_child, 2000);
		polls(&k, 4, 2200);
		run(&k);
		EXACT(&k, 50, 10, execs ? 2010 - 1300 : 0);
		end(&k);
	}
}

/* ---- threads that wake each other ---- */

#define WORD 0x1000

static const struct end two_at_31 = {.cpu = 4, .fd = 5, .ino = 202, .peer = 102};

static void waits(struct case_of_servers *k, uint32_t cpu, uint32_t tid, uint64_t ns, uint64_t word)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, 0, 0, 0, 0);
	tb_switch(k->c.tb, cpu, ns + 10, tid, 0, TRACE_TASK_INTERRUPTIBLE);
}

static void wakes(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint32_t other, uint32_t tid)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_futex, WORD, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
	tb_waking(k->c.tb, cpu, ns + 5, tid, TRACE_CONTEXT_TASK);
	tb_sys_exit(k->c.tb, cpu, ns + 10, 1);
	tb_switch(k->c.tb, other, ns + 20, 0, tid, TRACE_TASK_RUNNING);
	tb_sys_exit(k->c.tb, other, ns + 30, 0);
}

/* Threads 30 and 31; the second waits. */
static struct case_of_servers begin_threads(void)
{
	struct case_of_servers k = begin();

	tb_fork(k.c.tb, 2, 1040, 30, 31, 30, "worker");
	tb_switch(k.c.tb, 4, 1050, 0, 31, TRACE_TASK_RUNNING);
	waits(&k, 4, 31, 1060, WORD);
	connects(&k, &two, &two_server, 1100);
	polls(&k, 2, 1120);
	return k;
}

/* Each thread serves one client, at the same time. Thread 30 wakes 31, which waits at @word for
 * nothing, and later 31 wakes 30 there. */
static struct case_of_servers both_wait(uint64_t word)
{
	struct case_of_servers k = begin_threads();

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	wakes(&k, 2, 1400, 4, 31);
	transfer(&k, &one_server, 1450, false, NOTHING_TO_READ, 0);
	polls(&k, 4, 1500); /* until now it seems to have the request of thread 30 */
	sends(&k, &two, 1550);
	receives(&k, &two_at_31, 1600);
	sends(&k, &one_server, 2000);
	waits(&k, 2, 30, 2100, word);
	wakes(&k, 4, 2300, 2, 30);
	sends(&k, &two_at_31, 2500);
	polls(&k, 4, 2600);
	polls(&k, 2, 2600);
	run(&k);
	return k;
}

/* Only the second wakeup shows that it is a lock, as that of an interpreter is. */
static void a_lock_refutes_no_proof(void)
{
	struct case_of_servers k = both_wait(WORD);

	EXACT(&k, 30, 10, 2010 - 1300);
	EXACT(&k, 30, 20, 2510 - 1600);
	end(&k);
}

/* Thread 31 may have got a part of the work of 30 at the first word, which is no lock. */
static void a_wakeup_with_a_request_in_hand_may_pass_work_on(void)
{
	struct case_of_servers k = both_wait(WORD + 0x100);

	CU_ASSERT(bill(&k, 30, 10).exact_ns < 2010 - 1600);
	CU_ASSERT(bill(&k, 30, 20).exact_ns < 2510 - 2010);
	end(&k);
}

/* A thread that was just made for a connection tells so. */
static void a_wakeup_before_the_first_request_passes_no_work_on(void)
{
	struct case_of_servers k = begin_threads();

	connects(&k, &one, &one_server, 1200);
	wakes(&k, 2, 1215, 4, 31);
	polls(&k, 4, 1260);
	sends(&k, &two, 1265);
	receives(&k, &two_at_31, 1280);
	sends(&k, &one, 1285);
	receives(&k, &one_server, 1300);
	sends(&k, &one_server, 2000);
	polls(&k, 2, 2100);
	sends(&k, &two_at_31, 2500);
	polls(&k, 4, 2600);
	run(&k);
	EXACT(&k, 30, 10, 2010 - 1300);
	EXACT(&k, 30, 20, 2510 - 1280);
	end(&k);
}

/*
 * Thread 30 accepts the connection of 10, wakes thread 31, and then reads the request. Thread 31
 * works, looks for data elsewhere, and answers.
 */
static void a_wakeup_hands_no_request_on_that_was_not_read(void)
{
	static const struct end one_at_31 = {.cpu = 4, .fd = 4, .ino = 201, .peer = 101};

	for (int reads_first = 0; reads_first < 2; reads_first++) {
		struct case_of_servers k = begin_threads();

		connects(&k, &one, &one_server, 1200);
		sends(&k, &one, 1220);
		if (reads_first)
			receives(&k, &one_server, 1240);
		wakes(&k, 2, 1300, 4, 31);
		if (!reads_first)
			receives(&k, &one_server, 1350);
		polls(&k, 2, 1400);
		transfer(&k, &two_at_31, 1450, false, NOTHING_TO_READ, 0);
		sends(&k, &one_at_31, 2000);
		polls(&k, 4, 2100);
		run(&k);
		CU_ASSERT_EQUAL(bill(&k, 30, 10).exact_ns >= 2010 - 1450, reads_first);
		end(&k);
	}
}

/* Thread 31 answers its client, and ends without another call. */
static void the_end_of_a_thread_is_a_rest(void)
{
	for (int ends = 0; ends < 2; ends++) {
		struct case_of_servers k = begin_threads();

		sends(&k, &two, 1130);
		receives(&k, &two_server, 1140);
		wakes(&k, 2, 1150, 4, 31); /* it may pass the request on */
		transfer(&k, &(struct end){.cpu = 4, .fd = 5, .ino = 202, .peer = 102}, 1185, true, 16, 0);
		if (ends)
			tb_exit(k.c.tb, 4, 1200, 31, 30, false);
		tb_switch(k.c.tb, 4, 1205, 31, 0, ends ? TRACE_TASK_DEAD : TRACE_TASK_STOPPED);
		polls(&k, 2, 1190);
		connects(&k, &one, &one_server, 1210);
		sends(&k, &one, 1250);
		receives(&k, &one_server, 1300);
		sends(&k, &one_server, 2000);
		polls(&k, 2, 2100);
		run(&k);
		EXACT(&k, 30, 10, ends ? 2010 - 1300 : 0);
		end(&k);
	}
}

/* ---- a thread that looks for work, and then asks a server ---- */

/*
 * Process 30 reads a request of 10, and perhaps one of 20. It polls its connection to the server
 * 40, as a proxy does that checks whether a kept connection is still open, and asks it. Process 40
 * works from 1600 ns until it polls at 2050 ns.
 */
static struct case_of_servers asks_behind_a_poll(bool polls_first, bool has_two, bool answers_first)
{
	struct case_of_servers k = begin();

	connects(&k, &down, &down_server, 1050);
	polls(&k, 3, 1065); /* to accept is work for the client, too: 15 ns */
	connects(&k, &one, &one_server, 1080);
	polls(&k, 2, 1095);
	if (has_two) {
		connects(&k, &two, &two_server, 1100);
		sends(&k, &two, 1120);
		receives(&k, &two_server, 1140);
		if (answers_first)
			sends(&k, &two_server, 1160);
	}
	polls(&k, 2, 1180);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	if (polls_first)
		polls(&k, 2, 1400);
	sends(&k, &down, 1500);
	receives(&k, &down_server, 1600);
	sends(&k, &down_server, 2000);
	polls(&k, 3, 2050);
	polls(&k, 2, 2060);
	receives(&k, &down, 2100);
	sends(&k, &one_server, 2200);
	polls(&k, 2, 2300);
	return k;
}

static void a_thread_asks_for_its_only_request(void)
{
	for (int has_answered = 0; has_answered < 2; has_answered++) {
		struct case_of_servers k = asks_behind_a_poll(true, has_answered, true);

		run(&k);
		BILL(&k, 40, 10, 2050 - 1600);
		EXACT(&k, 40, 10, 0);
		BILL(&k, 40, 30, 15);
		BILL(&k, 30, 10, 15 + (1400 - 1300) + (2300 - 2100));
		EXACT(&k, 30, 10, 1400 - 1300);
		end(&k);
	}
}

static void without_a_look_for_work_it_is_proven(void)
{
	struct case_of_servers k = asks_behind_a_poll(false, false, false);

	run(&k);
	EXACT(&k, 40, 10, 2010 - 1600);
	EXACT(&k, 30, 10, (2060 - 1300) + (2210 - 2100));
	end(&k);
}

static void with_two_requests_it_is_not_known_for_which_it_asks(void)
{
	struct case_of_servers k = asks_behind_a_poll(true, true, false);

	run(&k);
	BILL(&k, 40, 10, 0);
	BILL(&k, 40, 20, 0);
	BILL(&k, 40, 30, 15 + (2050 - 1600));
	end(&k);
}

/* The next question of the thread may be for itself, too, until it reads a request. */
static void what_follows_a_guess_is_not_proven(void)
{
	for (int reads = 0; reads < 2; reads++) {
		struct case_of_servers k = begin();

		connects(&k, &down, &down_server, 1050);
		connects(&k, &one, &one_server, 1080);
		sends(&k, &one, 1250);
		receives(&k, &one_server, 1300);
		polls(&k, 2, 1400);
		sends(&k, &down, 1500);
		receives(&k, &down_server, 1600);
		sends(&k, &down_server, 1700);
		polls(&k, 3, 1750);
		receives(&k, &down, 1800);
		if (reads) {
			sends(&k, &one_server, 1850);
			polls(&k, 2, 1870);
			sends(&k, &one, 1900);
			receives(&k, &one_server, 1950);
		}
		sends(&k, &down, 2000);
		receives(&k, &down_server, 2100);
		sends(&k, &down_server, 2500);
		polls(&k, 3, 2600);
		polls(&k, 2, 2620);
		receives(&k, &down, 2700);
		sends(&k, &one_server, 2800);
		polls(&k, 2, 2900);
		run(&k);
		EXACT(&k, 40, 10, reads ? 2510 - 2100 : 0);
		BILL(&k, 40, 10, (1750 - 1600) + (2600 - 2100));
		end(&k);
	}
}

/* ---- connections that were accepted, and not read ---- */

#define RING_ACCEPT 13

static const struct end one_at_child = {.cpu = 4, .fd = 4, .ino = 201, .peer = 101};

/* The ring accepts the connection of process 10, in a call that does not sleep. */
static void accepts_by_ring(struct case_of_servers *k, uint64_t ns)
{
	struct trace_uring_submit submit = {.req = 0x100, .opcode = RING_ACCEPT, .fd = 99};
	struct trace_uring_complete complete = {.req = 0x100, .res = one_server.fd, .position = 1};
	struct trace_sock_endpoints ends = endpoints(&one_server, one.ino);

	make(k, &one, 1010, SYS_socket, 0);
	make(k, &one, 1030, SYS_connect, 0);
	tb_sys_enter(k->c.tb, 2, ns, SYS_io_uring_enter, 9, 1, 1, 1, 0, 0);
	tb_event(k->c.tb, 2, ns + 1, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_open(k->c.tb, 2, ns + 4, one_server.fd, 8, one_server.ino, S_IFSOCK | 0777, "socket:[]");
	tb_event(k->c.tb, 2, ns + 5, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
	tb_event(k->c.tb, 2, ns + 6, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_sys_exit(k->c.tb, 2, ns + 10, 1);
}

/*
 * Process 30 accepts the connection of 10, forks a child, and reads the request of 10 at 1300 ns.
 * The child works from 1210 ns on, reads nothing, and answers at 2000 ns. @serves_before: process
 * 30 has read and answered another request since its last rest.
 */
static struct case_of_servers forks_before_it_reads(bool by_ring, bool serves_before)
{
	struct case_of_servers k = begin();

	if (serves_before) {
		connects(&k, &two, &two_server, 1050);
		sends(&k, &two, 1070);
		receives(&k, &two_server, 1090);
		sends(&k, &two_server, 1110);
	}
	if (by_ring)
		accepts_by_ring(&k, 1130);
	else
		connects(&k, &one, &one_server, 1130);
	tb_fork(k.c.tb, 2, 1200, 30, 50, 50, "child");
	tb_switch(k.c.tb, 4, 1210, 0, 50, TRACE_TASK_RUNNING);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	polls(&k, 2, 1350);
	sends(&k, &one_at_child, 2000);
	polls(&k, 4, 2100);
	return k;
}

static void a_child_has_not_read_what_its_parent_reads_later(void)
{
	for (int by_ring = 0; by_ring < 2; by_ring++)
		for (int serves_before = 0; serves_before < 2; serves_before++) {
			struct case_of_servers k = forks_before_it_reads(by_ring, serves_before);

			run(&k);
			BILL(&k, 50, 10, 2100 - 1210);
			EXACT(&k, 50, 10, 0);
			end(&k);
		}
}

/* The parent has read the request, and makes a child for it: the child continues. */
static void a_child_has_read_what_its_parent_had_read(void)
{
	struct case_of_servers k = begin();

	accepts_by_ring(&k, 1130);
	sends(&k, &one, 1150);
	receives(&k, &one_server, 1170);
	tb_fork(k.c.tb, 2, 1200, 30, 50, 50, "child");
	tb_switch(k.c.tb, 4, 1210, 0, 50, TRACE_TASK_RUNNING);
	polls(&k, 2, 1350);
	sends(&k, &one_at_child, 2000);
	polls(&k, 4, 2100);
	run(&k);
	BILL(&k, 50, 10, 2100 - 1210);
	EXACT(&k, 50, 10, 2010 - 1210);
	end(&k);
}

static const struct unit_case cases[] = {
	CASE(a_request_is_open_from_the_first_look_at_it),
	CASE(a_second_request_is_in_hand_from_the_first_look_at_it),
	{"a_new_program_has_no_messages_in_hand", a_new_program_has_no_messages_in_hand},
	{"a_new_program_has_the_requests_of_its_connections", a_new_program_has_the_requests_of_its_connections},
	{"a_child_has_no_messages_in_hand_when_it_is_another_program",
	 a_child_has_no_messages_in_hand_when_it_is_another_program},
	{"a_child_has_not_read_what_its_parent_reads_later", a_child_has_not_read_what_its_parent_reads_later},
	{"a_child_has_read_what_its_parent_had_read", a_child_has_read_what_its_parent_had_read},
	{"a_lock_refutes_no_proof", a_lock_refutes_no_proof},
	{"a_wakeup_with_a_request_in_hand_may_pass_work_on", a_wakeup_with_a_request_in_hand_may_pass_work_on},
	{"a_wakeup_before_the_first_request_passes_no_work_on", a_wakeup_before_the_first_request_passes_no_work_on},
	{"a_wakeup_hands_no_request_on_that_was_not_read", a_wakeup_hands_no_request_on_that_was_not_read},
	{"the_end_of_a_thread_is_a_rest", the_end_of_a_thread_is_a_rest},
	{"a_client_may_have_read_a_pipe_before_it_asks", a_client_may_have_read_a_pipe_before_it_asks},
	{"a_server_with_a_request_in_hand_may_ask_for_it", a_server_with_a_request_in_hand_may_ask_for_it},
	{"a_thread_asks_for_its_only_request", a_thread_asks_for_its_only_request},
	{"without_a_look_for_work_it_is_proven", without_a_look_for_work_it_is_proven},
	{"with_two_requests_it_is_not_known_for_which_it_asks", with_two_requests_it_is_not_known_for_which_it_asks},
	{"what_follows_a_guess_is_not_proven", what_follows_a_guess_is_not_proven},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_proofs", cases, argc, argv);
}
