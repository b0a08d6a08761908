/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_pipes.c - bills of servers that get requests through pipes, datagrams and shared
 * memory */
#include <linux/futex.h>
#include <stdlib.h>
#include "servers_case.h"
#include "servers_memory.h"
#include "servers_pipe.h"
#include "unit.h"

/* ---- pipes and datagrams ---- */

static void pipe_made(struct case_of_servers *k, uint64_t ns, int fd, uint64_t ino)
{
	tb_sys_enter(k->c.tb, 0, ns, SYS_pipe, 0x1000, 0, 0);
	tb_open(k->c.tb, 0, ns + 4, fd, 9, ino, S_IFIFO | 0600, "pipe:[]");
	tb_sys_exit(k->c.tb, 0, ns + 10, 0);
	tb_fd(k->c.tb, 30, fd, 9, ino + 1000, S_IFREG | 0600, "/x"); /* gives process 30 a table of descriptors */
	tb_open(k->c.tb, 2, ns + 6, fd, 9, ino, S_IFIFO | 0600, "pipe:[]");
}

static void a_pipeline_is_no_server(void)
{
	struct case_of_servers k = begin();

	pipe_made(&k, 1010, 7, 700);
	pipe_io(&k, 0, 7, 1100, true);
	pipe_io(&k, 2, 7, 1200, false);
	polls(&k, 2, 2000);
	run(&k);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 0);
	end(&k);
}

static void two_pipes_make_a_server(void)
{
	struct case_of_servers k = begin();

	pipe_made(&k, 1010, 7, 700);
	pipe_made(&k, 1030, 8, 800);
	pipe_io(&k, 0, 7, 1100, true);
	pipe_io(&k, 2, 7, 1200, false);
	pipe_io(&k, 2, 8, 2000, true);
	pipe_io(&k, 0, 8, 2100, false);
	polls(&k, 2, 2500);
	run(&k);
	BILL(&k, 30, 10, 2500 - 1200);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	end(&k);
}

/* Many processes write to it and read from it alike, as make and its children do with the pipe of
 * tokens. */
static void one_pipe_for_both_directions_is_no_conversation(void)
{
	struct case_of_servers k = begin();

	pipe_made(&k, 1010, 7, 700);
	pipe_io(&k, 0, 7, 1100, true);
	pipe_io(&k, 2, 7, 1200, false);
	pipe_io(&k, 2, 7, 2000, true);
	pipe_io(&k, 0, 7, 2100, false);
	polls(&k, 2, 2500);
	run(&k);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 0);
	end(&k);
}

/* One of the two has a second channel. */
static void one_pipe_for_both_directions_and_another_are_a_conversation(void)
{
	for (int back = 0; back < 2; back++) {
		struct case_of_servers k = begin();

		pipe_made(&k, 1010, 7, 700);
		pipe_made(&k, 1030, 8, 800);
		pipe_io(&k, 0, 7, 1100, true);
		pipe_io(&k, 2, 7, 1200, false);
		if (!back) {
			pipe_io(&k, 0, 8, 1300, true);
			pipe_io(&k, 2, 8, 1400, false);
		}
		pipe_io(&k, 2, 7, 2000, true);
		pipe_io(&k, 0, 7, 2100, false);
		if (back) {
			pipe_io(&k, 2, 8, 2200, true);
			pipe_io(&k, 0, 8, 2300, false);
		}
		polls(&k, 2, 2500);
		run(&k);
		CU_ASSERT_PTR_NOT_NULL(server_of(&k, 30));
		end(&k);
	}
}

static void fifo_open(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint32_t call, int fd, uint64_t ino,
		      uint32_t flags)
{
	struct trace_fs_open open = {.fd = fd, .dev = 9, .ino = ino, .mode = S_IFIFO | 0600, .flags = flags};

	tb_sys_enter(k->c.tb, cpu, ns, call, 0, 0, 0);
	tb_event(k->c.tb, cpu, ns + 4, TRACE_EV_fs_open, &open, sizeof(open), "/run/fifo");
	tb_sys_exit(k->c.tb, cpu, ns + 10, fd);
}

/* Two named pipes, opened by either call. */
static void two_fifos_make_a_server_however_they_were_opened(void)
{
	static const struct {
		const char *name;
		uint32_t nr, for_writing;
	} calls[] = {{"open", SYS_open, SYS_open},
		     {"openat", SYS_openat, SYS_openat},
		     {"openat2", 437, 437},
		     {"open_by_handle_at", SYS_open_by_handle_at, SYS_open_by_handle_at},
		     {"creat", SYS_open, SYS_creat}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct case_of_servers k = begin();

		tb_string(k.c.tb, TRACE_STRING_SYSCALL, calls[i].for_writing, calls[i].name);
		fifo_open(&k, 2, 1010, calls[i].nr, 7, 700, 0);
		fifo_open(&k, 0, 1030, calls[i].for_writing, 7, 700, 1);
		fifo_open(&k, 0, 1050, calls[i].nr, 8, 800, 0);
		fifo_open(&k, 2, 1070, calls[i].for_writing, 8, 800, 1);
		pipe_io(&k, 0, 7, 1100, true);
		pipe_io(&k, 2, 7, 1200, false);
		pipe_io(&k, 2, 8, 2000, true);
		pipe_io(&k, 0, 8, 2100, false);
		polls(&k, 2, 2500);
		run(&k);
		BILL(&k, 30, 10, 2500 - 1200);
		end(&k);
	}
}

/* Two clients ask alternately, and one of them twice before its answer. Only signals have one
 * answer per question. */
static void two_pipes_are_a_conversation_with_fewer_answers_than_requests(void)
{
	static const uint32_t askers[] = {0, 1, 0};
	struct case_of_servers k = begin();

	pipe_made(&k, 1010, 7, 700);
	pipe_made(&k, 1030, 8, 800);
	pipe_in(&k, 1, 1050, 7, 700);
	for (uint64_t i = 0; i < 3; i++) {
		pipe_io(&k, askers[i], 7, 1100 + 100 * i, true);
		pipe_io(&k, 2, 7, 1150 + 100 * i, false);
	}
	pipe_io(&k, 2, 8, 2000, true);
	pipe_io(&k, 0, 8, 2100, false);
	polls(&k, 2, 2500);
	run(&k);
	REQUESTS(&k, 30, 10, 2);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	end(&k);
}

/* The work that it gave to process 40 was for its client, so what comes back is for that client
 * too. */
static void data_returned_by_a_pipe_is_for_the_client_that_asked(void)
{
	struct case_of_servers k = begin();

	for (int fd = 7; fd <= 8; fd++) {
		uint64_t ns = 1010 + 20 * (uint64_t)fd;

		tb_sys_enter(k.c.tb, 2, ns, SYS_pipe, 0x1000, 0, 0);
		pipe_in(&k, 2, ns + 4, fd, 100 * (uint64_t)fd);
		tb_sys_exit(k.c.tb, 2, ns + 10, 0);
		pipe_in(&k, 3, ns + 12, fd, 100 * (uint64_t)fd);
	}
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	pipe_io(&k, 2, 7, 1400, true);
	polls(&k, 2, 1500);
	pipe_io(&k, 3, 7, 1510, false);
	pipe_io(&k, 3, 8, 2000, true);
	polls(&k, 3, 2200);
	pipe_io(&k, 2, 8, 2300, false);
	polls(&k, 2, 2600);
	run(&k);
	BILL(&k, 40, 10, 2200 - 1510);
	BILL(&k, 30, 10, (1500 - 1200) + (2600 - 2300));
	end(&k);
}

/* The first writer returns from its call last. Yet it woke the reader; or it gets an answer while
 * its message still seems to be in the pipe. */
static void writers_may_come_back_in_the_other_order(void)
{
	for (int woken = 0; woken < 2; woken++) {
		struct case_of_servers k = begin();

		pipe_made(&k, 1010, 7, 700);
		pipe_made(&k, 1030, 8, 800);
		pipe_made(&k, 1050, 9, 900);
		pipe_in(&k, 1, 1070, 7, 700);
		pipe_in(&k, 1, 1080, 9, 900);
		connects(&k, &down, &down_server, 1100);
		polls(&k, 3, 1150);
		if (woken) {
			tb_sys_enter(k.c.tb, 2, 2000, SYS_read, 7, 0, 16);
			tb_switch(k.c.tb, 2, 2010, 30, 0, TRACE_TASK_INTERRUPTIBLE);
		}
		tb_sys_enter(k.c.tb, 0, 2100, SYS_write, 7, 0, 16);
		if (woken)
			tb_waking(k.c.tb, 0, 2103, 30, TRACE_CONTEXT_TASK);
		tb_sys_enter(k.c.tb, 1, 2105, SYS_write, 7, 0, 16);
		tb_sys_exit(k.c.tb, 1, 2110, 16);
		tb_sys_exit(k.c.tb, 0, 2120, 16);
		tb_sys_enter(k.c.tb, 0, 2130, SYS_read, 8, 0, 16);
		tb_sys_enter(k.c.tb, 1, 2130, SYS_read, 9, 0, 16);
		if (woken)
			tb_switch(k.c.tb, 2, 2200, 0, 30, TRACE_TASK_RUNNING);
		else
			tb_sys_enter(k.c.tb, 2, 2200, SYS_read, 7, 0, 16);
		tb_sys_exit(k.c.tb, 2, 2210, 16);
		if (woken) { /* known before the answer */
			sends(&k, &down, 2300);
			receives(&k, &down_server, 2400);
			polls(&k, 3, 2500);
		}
		pipe_io(&k, 2, 8, 3000, true); /* the answer for the first writer */
		tb_sys_exit(k.c.tb, 0, 3020, 16);
		pipe_io(&k, 2, 7, 3100, false);
		pipe_io(&k, 2, 9, 4000, true);
		tb_sys_exit(k.c.tb, 1, 4020, 16);
		tb_sys_enter(k.c.tb, 2, 4100, SYS_read, 7, 0, 16);
		tb_switch(k.c.tb, 2, 4110, 30, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
		run(&k);
		BILL(&k, 30, 10, (woken ? 10u : 0u) + 3100 - 2200);
		BILL(&k, 30, 20, 4100 - 3100);
		REQUESTS(&k, 30, 10, 1);
		REQUESTS(&k, 30, 20, 1);
		BILL(&k, 40, 10, woken ? 2500 - 2400 : 0);
		end(&k);
	}
}

/* One writer after the other: the order is known, and what is written to the second one is no
 * answer. */
static void a_message_that_is_still_in_the_pipe_was_not_read(void)
{
	struct case_of_servers k = begin();

	pipe_made(&k, 1010, 7, 700);
	pipe_made(&k, 1030, 8, 800);
	pipe_made(&k, 1050, 9, 900);
	pipe_in(&k, 1, 1070, 7, 700);
	pipe_in(&k, 1, 1080, 9, 900);
	pipe_io(&k, 1, 7, 2000, true);
	pipe_io(&k, 0, 7, 2100, true);
	tb_sys_enter(k.c.tb, 0, 2130, SYS_read, 8, 0, 16);
	tb_sys_enter(k.c.tb, 1, 2130, SYS_read, 9, 0, 16);
	pipe_io(&k, 2, 7, 2200, false);
	pipe_io(&k, 2, 8, 2500, true); /* it sends the second one a message */
	tb_sys_exit(k.c.tb, 0, 2520, 16);
	pipe_io(&k, 2, 9, 3000, true);
	tb_sys_exit(k.c.tb, 1, 3020, 16);
	polls(&k, 2, 3100);
	run(&k);
	BILL(&k, 30, 20, 3100 - 2200);
	end(&k);
}

/* Two writers have not returned from their calls yet. The wakeup already accounted for the bytes of
 * the writer that woke the reader; the next bytes are the other's. */
static void bytes_of_a_waker_are_accounted_once(void)
{
	struct case_of_servers k = begin();

	pipe_made(&k, 1010, 7, 700);
	pipe_made(&k, 1030, 8, 800);
	pipe_made(&k, 1050, 9, 900);
	pipe_in(&k, 1, 1070, 7, 700);
	pipe_in(&k, 1, 1080, 9, 900);
	tb_sys_enter(k.c.tb, 2, 2000, SYS_read, 7, 0, 16);
	tb_switch(k.c.tb, 2, 2010, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(k.c.tb, 0, 2100, SYS_write, 7, 0, 16);
	tb_waking(k.c.tb, 0, 2103, 30, TRACE_CONTEXT_TASK);
	tb_sys_enter(k.c.tb, 1, 2105, SYS_write, 7, 0, 16);
	tb_switch(k.c.tb, 2, 2200, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 2, 2210, 16);
	pipe_io(&k, 2, 7, 2300, false);
	tb_sys_exit(k.c.tb, 0, 2400, 16);
	tb_sys_exit(k.c.tb, 1, 2400, 16);
	tb_sys_enter(k.c.tb, 0, 2450, SYS_read, 8, 0, 16);
	tb_sys_enter(k.c.tb, 1, 2450, SYS_read, 9, 0, 16);
	pipe_io(&k, 2, 9, 3000, true);
	tb_sys_exit(k.c.tb, 1, 3020, 16);
	pipe_io(&k, 2, 8, 3050, true);
	tb_sys_exit(k.c.tb, 0, 3080, 16);
	polls(&k, 2, 3100);
	run(&k);
	BILL(&k, 30, 20, 3100 - 2300);
	end(&k);
}

static void a_pipeline_passes_on_its_own_name(void)
{
	struct case_of_servers k = begin();
	struct end asks = {.cpu = 2, .fd = 4, .ino = 201}, serves = {.cpu = 3, .fd = 4, .ino = 301};

	pipe_made(&k, 1010, 7, 700);
	make(&k, &asks, 1030, SYS_socket, 0);
	make(&k, &asks, 1050, SYS_connect, 0);
	make(&k, &serves, 1080, SYS_accept, 201);
	polls(&k, 3, 1100);
	pipe_io(&k, 0, 7, 1100, true);
	pipe_io(&k, 2, 7, 1200, false);
	sends(&k, &asks, 1300); /* cat queries | client: the client is 30, not cat */
	receives(&k, &serves, 1400);
	polls(&k, 3, 2000);
	run(&k);
	BILL(&k, 40, 30, 20 + 2000 - 1400);
	BILL(&k, 40, 10, 0);
	end(&k);
}

static void datagram_of(struct case_of_servers *k, const struct end *from, uint64_t to, uint64_t ns, int32_t bytes)
{
	struct trace_sock_send event = {.ino = from->ino, .ret = bytes, .family = AF_UNIX};
	struct trace_sock_ready ready = {.ino = to, .family = AF_UNIX};

	tb_sys_enter(k->c.tb, from->cpu, ns, SYS_sendto, (uint64_t)from->fd, 0, (uint64_t)bytes, 0, 0, 0);
	tb_event(k->c.tb, from->cpu, ns + 3, TRACE_EV_sock_ready, &ready, sizeof(ready), NULL);
	tb_event(k->c.tb, from->cpu, ns + 5, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, from->cpu, ns + 10, bytes);
}

static void datagram(struct case_of_servers *k, const struct end *from, uint64_t to, uint64_t ns)
{
	datagram_of(k, from, to, ns, 16);
}

static void datagrams_are_distinguished_by_their_sender(void)
{
	struct case_of_servers k = begin();
	struct end a = {.cpu = 0, .fd = 3, .ino = 101, .type = SOCK_DGRAM},
		   b = {.cpu = 1, .fd = 3, .ino = 102, .type = SOCK_DGRAM},
		   s = {.cpu = 2, .fd = 3, .ino = 103, .type = SOCK_DGRAM};

	make(&k, &a, 1010, SYS_socket, 0);
	make(&k, &b, 1010, SYS_socket, 0);
	make(&k, &s, 1010, SYS_socket, 0);
	datagram(&k, &a, 103, 1100);
	datagram(&k, &b, 103, 1200);
	receives(&k, &s, 1300);
	datagram(&k, &s, 101, 1500);
	receives(&k, &a, 1550);
	receives(&k, &s, 1600);
	datagram(&k, &s, 102, 2000);
	polls(&k, 2, 2100);
	run(&k);
	BILL(&k, 30, 10, 1600 - 1300);
	BILL(&k, 30, 20, 2100 - 1600);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	end(&k);
}

/* An empty datagram has no bytes but still takes its position in the queue. */
static void an_empty_datagram_counts_as_one(void)
{
	struct case_of_servers k = begin();
	struct end a = {.cpu = 0, .fd = 3, .ino = 101, .type = SOCK_DGRAM},
		   b = {.cpu = 1, .fd = 3, .ino = 102, .type = SOCK_DGRAM},
		   s = {.cpu = 2, .fd = 3, .ino = 103, .type = SOCK_DGRAM};

	make(&k, &a, 1010, SYS_socket, 0);
	make(&k, &b, 1010, SYS_socket, 0);
	make(&k, &s, 1010, SYS_socket, 0);
	datagram_of(&k, &a, 103, 1100, 0);
	datagram(&k, &b, 103, 1200);
	transfer(&k, &s, 1300, false, 0, 0);
	datagram_of(&k, &s, 101, 1500, 0);
	transfer(&k, &a, 1550, false, 0, 0);
	receives(&k, &s, 1600);
	polls(&k, 2, 2100);
	transfer(&k, &s, 2200, false, 0, 0); /* the end was shut down: no datagram was read */
	polls(&k, 2, 2500);
	run(&k);
	BILL(&k, 30, 10, 1600 - 1300);
	BILL(&k, 30, 20, 2100 - 1600);
	end(&k);
}

/* A read with MSG_PEEK, or of the error queue, takes nothing out of the queue. */
static void peeking_takes_nothing_out_of_the_queue(void)
{
	static const struct look {
		uint64_t flags;
		uint32_t event;
	} looks[] = {{0, TRACE_EV_sock_look}, /* the others are of older recorders */
		     {MSG_PEEK, TRACE_EV_sock_recv},
		     {MSG_ERRQUEUE, TRACE_EV_sock_recv}};

	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct case_of_servers k = begin();
		struct end a = {.cpu = 0, .fd = 3, .ino = 101, .type = SOCK_DGRAM},
			   b = {.cpu = 1, .fd = 3, .ino = 102, .type = SOCK_DGRAM},
			   s = {.cpu = 2, .fd = 3, .ino = 103, .type = SOCK_DGRAM};
		struct trace_sock_recv looked = {.ino = 103, .ret = 16, .family = AF_UNIX};

		make(&k, &a, 1010, SYS_socket, 0);
		make(&k, &b, 1010, SYS_socket, 0);
		make(&k, &s, 1010, SYS_socket, 0);
		datagram(&k, &a, 103, 1100);
		datagram(&k, &b, 103, 1200);
		tb_sys_enter(k.c.tb, 2, 1250, SYS_recvmsg, 3, 0, looks[i].flags);
		tb_event(k.c.tb, 2, 1255, looks[i].event, &looked, sizeof(looked), NULL);
		tb_sys_exit(k.c.tb, 2, 1260, 16);
		receives(&k, &s, 1300);
		datagram(&k, &s, 101, 1500);
		receives(&k, &a, 1550);
		receives(&k, &s, 1600);
		polls(&k, 2, 2100);
		run(&k);
		BILL(&k, 30, 10, 1600 - 1300);
		BILL(&k, 30, 20, 2100 - 1600);
		end(&k);
	}
}

/* The server's time is halved between two clients, as in the bills, however many connections one of
 * them has. */
static void a_client_of_two_connections_is_one(void)
{
	static const struct end second = {.cpu = 0, .fd = 7, .ino = 104, .peer = 204},
				second_server = {.cpu = 2, .fd = 8, .ino = 204, .peer = 104};
	struct case_of_servers k = begin();
	struct trace_sock_send event = {.ino = 201, .ret = 16, .family = AF_UNIX};
	const struct trace_server_wait *wait;

	connects(&k, &two, &two_server, 1200);
	connects(&k, &one, &one_server, 1215);
	connects(&k, &second, &second_server, 1230);
	polls(&k, 2, 1250);
	sends(&k, &two, 1270);
	sends(&k, &one, 1270);
	sends(&k, &second, 1290);
	receives(&k, &two_server, 1300);
	receives(&k, &one_server, 1320);
	receives(&k, &second_server, 1340);
	tb_sys_enter(k.c.tb, 0, 1370, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 0, 1400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(k.c.tb, 2, 4000, SYS_write, 4, 0, 16);
	tb_waking(k.c.tb, 2, 4002, 10, TRACE_CONTEXT_TASK);
	tb_event(k.c.tb, 2, 4005, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 2, 4010, 16);
	tb_switch(k.c.tb, 0, 4100, 0, 10, TRACE_TASK_RUNNING);
	event.ino = 101;
	tb_event(k.c.tb, 0, 4110, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 0, 4120, 16);
	polls(&k, 2, 4500);
	run(&k);
	BILL(&k, 30, 20, 15 + (1320 - 1300) + (1340 - 1330) / 2 + (4500 - 4010) / 2);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	wait = trace_get_server_wait(k.servers, 0);
	CU_ASSERT_EQUAL(wait->for_client_ns, 4002 - 1400); /* as in the bill: it is answered alone */
	CU_ASSERT_EQUAL(wait->for_others_ns, 0);
	end(&k);
}

/* Two senders on two CPUs: the datagram with the first event need not be the first in the queue. */
static void an_answer_corrects_the_order_of_datagrams(void)
{
	struct case_of_servers k = begin();
	struct end a = {.cpu = 0, .fd = 3, .ino = 101, .type = SOCK_DGRAM},
		   b = {.cpu = 1, .fd = 3, .ino = 102, .type = SOCK_DGRAM},
		   s = {.cpu = 2, .fd = 3, .ino = 103, .type = SOCK_DGRAM};

	make(&k, &a, 1010, SYS_socket, 0);
	make(&k, &b, 1010, SYS_socket, 0);
	make(&k, &s, 1010, SYS_socket, 0);
	datagram(&k, &a, 103, 1100);
	datagram(&k, &b, 103, 1101);
	receives(&k, &s, 1300);
	datagram(&k, &s, 102, 1500);
	receives(&k, &b, 1550);
	receives(&k, &s, 1600);
	datagram(&k, &s, 101, 2000);
	receives(&k, &a, 2050);
	polls(&k, 2, 2100);
	run(&k);
	BILL(&k, 30, 20, 1600 - 1300);
	BILL(&k, 30, 10, 2100 - 1600);
	REQUESTS(&k, 30, 10, 1);
	REQUESTS(&k, 30, 20, 1);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	end(&k);
}

/* The child of a fork has the request that its parent read: the bill of the child never had it. */
static void an_answer_of_a_child_corrects_no_order(void)
{
	struct case_of_servers k = begin();
	struct end a = {.cpu = 0, .fd = 3, .ino = 101, .type = SOCK_DGRAM},
		   b = {.cpu = 1, .fd = 3, .ino = 102, .type = SOCK_DGRAM},
		   s = {.cpu = 2, .fd = 3, .ino = 103, .type = SOCK_DGRAM};

	make(&k, &a, 1010, SYS_socket, 0);
	make(&k, &b, 1010, SYS_socket, 0);
	make(&k, &s, 1010, SYS_socket, 0);
	datagram(&k, &a, 103, 1100);
	datagram(&k, &b, 103, 1101);
	receives(&k, &s, 1300);
	tb_fork(k.c.tb, 2, 1400, 30, 50, 50, "child");
	tb_switch(k.c.tb, 2, 1450, 30, 50, TRACE_TASK_RUNNING);
	datagram(&k, &s, 102, 1500);
	receives(&k, &b, 1550);
	polls(&k, 2, 2100);
	run(&k);
	REQUESTS(&k, 50, 10, 0);
	end(&k);
}

/* ---- signals ---- */

static void waits_at(struct case_of_servers *k, uint32_t cpu, uint32_t tid, uint64_t ns, uint64_t address)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_futex, address, FUTEX_WAIT, 0, 0, 0, 0);
	tb_switch(k->c.tb, cpu, ns + 10, tid, 0, TRACE_TASK_INTERRUPTIBLE);
}

/* @tid, if not 0, sleeps on CPU @to, and returns 100 ns later */
static void wakes(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint64_t address, uint32_t to, uint32_t tid)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_futex, address, FUTEX_WAKE, 1, 0, 0, 0);
	if (tid)
		tb_waking(k->c.tb, cpu, ns + 5, tid, TRACE_CONTEXT_TASK);
	tb_sys_exit(k->c.tb, cpu, ns + 10, tid != 0);
	if (!tid)
		return;
	tb_switch(k->c.tb, to, ns + 100, 0, tid, TRACE_TASK_RUNNING);
	tb_sys_exit(k->c.tb, to, ns + 110, 0);
}

static void a_request_in_shared_memory_comes_with_a_wakeup(void)
{
	struct case_of_servers k = begin();

	waits_at(&k, 2, 30, 1100, 0x1000);
	wakes(&k, 0, 1200, 0x1000, 2, 30);
	waits_at(&k, 0, 10, 1300, 0x2000);
	wakes(&k, 2, 2000, 0x2000, 0, 10);
	waits_at(&k, 2, 30, 2500, 0x1000);
	tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
	run(&k);
	/* until its answer: the time after it may already be for the next request */
	BILL(&k, 30, 10, 10 + 2010 - 1300);
	REQUESTS(&k, 30, 10, 1);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	CU_ASSERT_EQUAL(trace_get_server_wait(k.servers, 0)->wait_ns, 2005 - 1310);
	end(&k);
}

static void a_busy_server_finds_requests_that_woke_no_thread(void)
{
	struct case_of_servers k = begin();

	waits_at(&k, 2, 30, 1100, 0x1000);
	wakes(&k, 0, 1200, 0x1000, 2, 30);
	waits_at(&k, 0, 10, 1300, 0x2000);
	wakes(&k, 1, 1400, 0x1000, 2, 0); /* it is working */
	waits_at(&k, 1, 20, 1500, 0x3000);
	wakes(&k, 2, 2000, 0x2000, 0, 10);
	wakes(&k, 2, 3000, 0x3000, 1, 20); /* and it took up the next request at once */
	waits_at(&k, 2, 30, 3500, 0x1000);
	tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
	run(&k);
	BILL(&k, 30, 10, 10 + 2010 - 1300);
	BILL(&k, 30, 20, 3010 - 2010);
	REQUESTS(&k, 30, 20, 1);
	end(&k);
}

static long long memory_for_announced(uint32_t nr)
{
	struct case_of_servers k = begin();
	long long bytes;

	waits_at(&k, 2, 30, 1100, 0x1000);
	wakes(&k, 0, 1200, 0x1000, 2, 30);
	for (uint32_t i = 0; i < nr; i++) {
		wakes(&k, 0, 1400 + i * 100ull, 0x1000, 2, 0);
		cut_now_and_then(&k, i);
	}
	bytes = memory_of(&k);
	end(&k);
	return bytes;
}

static void an_announced_request_without_an_answer_is_dropped(void)
{
	CU_ASSERT(memory_for_announced(20000 / unit_step(2)) < memory_for_announced(1000) + 100000);
}

static void passing_on_a_lock_makes_no_server(void)
{
	struct case_of_servers k = begin();

	waits_at(&k, 2, 30, 1100, 0x1000);
	wakes(&k, 0, 1200, 0x1000, 2, 30); /* 10 releases the lock, */
	waits_at(&k, 2, 30, 1400, 0x1000);
	wakes(&k, 0, 1500, 0x1000, 2, 30); /* and releases it again, */
	waits_at(&k, 0, 10, 1600, 0x2000);
	wakes(&k, 2, 2000, 0x2000, 0, 10); /* and then 30 does */
	run(&k);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 0);
	end(&k);
}

static void an_eventfd_announces_requests_too(void)
{
	struct case_of_servers k = begin();

	tb_fd(k.c.tb, 10, 7, 15, 0, 0, "anon_inode:[eventfd]");
	tb_fd(k.c.tb, 30, 8, 15, 0, 0, "anon_inode:[eventfd]");
	tb_sys_enter(k.c.tb, 2, 1100, SYS_read, 7, 0, 8);
	tb_switch(k.c.tb, 2, 1110, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(k.c.tb, 0, 1200, SYS_write, 7, 0, 8);
	tb_waking(k.c.tb, 0, 1205, 30, TRACE_CONTEXT_TASK);
	tb_sys_exit(k.c.tb, 0, 1210, 8);
	tb_sys_enter(k.c.tb, 0, 1220, SYS_read, 8, 0, 8);
	tb_switch(k.c.tb, 0, 1230, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 1300, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 2, 1310, 8);
	tb_sys_enter(k.c.tb, 2, 2000, SYS_write, 8, 0, 8);
	tb_waking(k.c.tb, 2, 2005, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(k.c.tb, 2, 2010, 8);
	tb_switch(k.c.tb, 0, 2100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 0, 2110, 8);
	run(&k);
	BILL(&k, 30, 10, 10 + 2010 - 1300);
	end(&k);
}

#define FUTEX_WAKE_NR 454 /* futex_wake() and futex_wait(), of Linux 6.7 */
#define FUTEX_WAIT_NR 455
#define FUTEX2_SHARED 2 /* a word of 32 bits, in memory that processes share */

/* Threads wait at a word, and wake the waiter of the other one, by calls that have no command. */
static void the_newer_futex_calls_announce_requests_too(void)
{
	struct case_of_servers k = begin();

	tb_string(k.c.tb, TRACE_STRING_SYSCALL, FUTEX_WAKE_NR, "futex_wake");
	tb_string(k.c.tb, TRACE_STRING_SYSCALL, FUTEX_WAIT_NR, "futex_wait");
	tb_sys_enter(k.c.tb, 2, 1100, FUTEX_WAIT_NR, 0x7000, 0, ~0ull, FUTEX2_SHARED, 0, 0);
	tb_switch(k.c.tb, 2, 1110, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(k.c.tb, 0, 1200, FUTEX_WAKE_NR, 0x7000, ~0ull, 1, FUTEX2_SHARED, 0, 0);
	tb_waking(k.c.tb, 0, 1205, 30, TRACE_CONTEXT_TASK);
	tb_sys_exit(k.c.tb, 0, 1210, 1);
	tb_sys_enter(k.c.tb, 0, 1220, FUTEX_WAIT_NR, 0x8000, 0, ~0ull, FUTEX2_SHARED, 0, 0);
	tb_switch(k.c.tb, 0, 1230, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 1300, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 2, 1310, 0);
	tb_sys_enter(k.c.tb, 2, 2000, FUTEX_WAKE_NR, 0x8000, ~0ull, 1, FUTEX2_SHARED, 0, 0);
	tb_waking(k.c.tb, 2, 2005, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(k.c.tb, 2, 2010, 1);
	tb_switch(k.c.tb, 0, 2100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 0, 2110, 0);
	run(&k);
	BILL(&k, 30, 10, 10 + 2010 - 1300);
	end(&k);
}

/* Spliced out of a pipe into @server's connection. */
static void splices(struct case_of_servers *k, const struct end *server, uint64_t ns)
{
	struct trace_sock_send event = {.ino = server->ino, .ret = 16, .family = AF_UNIX};

	tb_sys_enter(k->c.tb, 2, ns, SYS_splice, 7, 0, (uint64_t)server->fd, 0, 16, 0);
	tb_event(k->c.tb, 2, ns + 5, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, 2, ns + 10, 16);
}

/* The thread has both requests, writes an answer into a pipe of its own and splices it out. */
static void an_answer_through_a_pipe_of_its_own_is_for_the_answered_request(void)
{
	struct case_of_servers k = begin();

	tb_string(k.c.tb, TRACE_STRING_SYSCALL, SYS_splice, "splice");
	pipe_made(&k, 1050, 7, 700);
	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	receives(&k, &two_server, 1500);
	pipe_io(&k, 2, 7, 3000, true);
	splices(&k, &one_server, 3020);
	pipe_io(&k, 2, 7, 7000, true);
	splices(&k, &two_server, 7020);
	polls(&k, 2, 7100);
	run(&k);
	CU_ASSERT(bill(&k, 30, 10).cpu_ns > 3000 - 1500 && bill(&k, 30, 10).cpu_ns < 3000 - 1500 + 200);
	CU_ASSERT(bill(&k, 30, 20).cpu_ns > 7000 - 3100 && bill(&k, 30, 20).cpu_ns < 7000 - 3000 + 300);
	end(&k);
}

/*
 * Process 30 creates a child, which inherits its set, and gets a message from it; and again. When
 * the child's whole set was added to the parent's anew, each child doubled the requests in it:
 * thirty children took all memory and never ended.
 */
static long long memory_for_children(uint32_t nr)
{
	struct case_of_servers k = begin();
	long long bytes;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t ns = 1100 + i * 100ull;
		uint32_t child = 100 + i;

		tb_sys_enter(k.c.tb, 2, ns, SYS_pipe, 0x1000, 0, 0);
		tb_open(k.c.tb, 2, ns + 4, 7, 9, 700 + i, S_IFIFO | 0600, "pipe:[]");
		tb_sys_exit(k.c.tb, 2, ns + 10, 0);
		tb_fork(k.c.tb, 2, ns + 15, 30, child, child, "child");
		tb_switch(k.c.tb, 4, ns + 20, i ? child - 1 : 0, child, TRACE_TASK_RUNNING);
		pipe_io(&k, 4, 7, ns + 30, true);
		pipe_io(&k, 2, 7, ns + 50, false);
	}
	bytes = memory_of(&k);
	end(&k);
	return bytes;
}

static void messages_from_children_add_no_requests_to_the_parent(void)
{
	/* with a sanitizer, which does not count memory, both are 0 */
	CU_ASSERT(memory_for_children(14) <= 14 * memory_for_children(1));
}

/* It sleeps until a message from its child, which works for the same client. Its work after that is
 * for that client, as before. */
static void a_message_from_a_child_does_not_change_the_parents_client(void)
{
	static const struct end child = {.cpu = 4, .fd = 7, .ino = 301, .peer = 302},
				ends = {.cpu = 2, .fd = 7, .ino = 301, .peer = 302},
				parent = {.cpu = 2, .fd = 8, .ino = 302, .peer = 301};
	struct trace_sock_send got = {.ino = 302, .ret = 16, .family = AF_UNIX};
	struct case_of_servers k = begin();

	make(&k, &ends, 1100, SYS_socketpair, 302);
	make(&k, &parent, 1120, SYS_socketpair, 301);
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_fork(k.c.tb, 2, 1400, 30, 50, 50, "child");
	tb_switch(k.c.tb, 4, 1410, 0, 50, TRACE_TASK_RUNNING);
	sends(&k, &child, 1420);
	receives(&k, &parent, 1440);
	tb_sys_enter(k.c.tb, 2, 1500, SYS_read, 8, 0, 16);
	tb_switch(k.c.tb, 2, 1510, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	sends(&k, &child, 1600);
	tb_waking(k.c.tb, 4, 1606, 30, TRACE_CONTEXT_TASK);
	tb_switch(k.c.tb, 2, 1700, 0, 30, TRACE_TASK_RUNNING);
	tb_event(k.c.tb, 2, 1705, TRACE_EV_sock_recv, &got, sizeof(got), NULL);
	tb_sys_exit(k.c.tb, 2, 1710, 16);
	polls(&k, 2, 2600); /* before the answer, which would by itself show the client */
	run(&k);
	BILL(&k, 30, 10, (1510 - 1200) + (2600 - 1700));
	REQUESTS(&k, 30, 10, 1);
	end(&k);
}

static const struct unit_case cases[] = {
	{"a_pipeline_is_no_server", a_pipeline_is_no_server},
	{"two_pipes_make_a_server", two_pipes_make_a_server},
	{"two_fifos_make_a_server_however_they_were_opened", two_fifos_make_a_server_however_they_were_opened},
	{"writers_may_come_back_in_the_other_order", writers_may_come_back_in_the_other_order},
	{"a_message_that_is_still_in_the_pipe_was_not_read", a_message_that_is_still_in_the_pipe_was_not_read},
	{"bytes_of_a_waker_are_accounted_once", bytes_of_a_waker_are_accounted_once},
	{"a_pipeline_passes_on_its_own_name", a_pipeline_passes_on_its_own_name},
	{"datagrams_are_distinguished_by_their_sender", datagrams_are_distinguished_by_their_sender},
	{"an_empty_datagram_counts_as_one", an_empty_datagram_counts_as_one},
	{"a_client_of_two_connections_is_one", a_client_of_two_connections_is_one},
	{"peeking_takes_nothing_out_of_the_queue", peeking_takes_nothing_out_of_the_queue},
	{"an_answer_corrects_the_order_of_datagrams", an_answer_corrects_the_order_of_datagrams},
	{"an_answer_of_a_child_corrects_no_order", an_answer_of_a_child_corrects_no_order},
	{"a_request_in_shared_memory_comes_with_a_wakeup", a_request_in_shared_memory_comes_with_a_wakeup},
	{"a_busy_server_finds_requests_that_woke_no_thread", a_busy_server_finds_requests_that_woke_no_thread},
	{"passing_on_a_lock_makes_no_server", passing_on_a_lock_makes_no_server},
	{"an_announced_request_without_an_answer_is_dropped", an_announced_request_without_an_answer_is_dropped},
	{"an_eventfd_announces_requests_too", an_eventfd_announces_requests_too},
	{"the_newer_futex_calls_announce_requests_too", the_newer_futex_calls_announce_requests_too},
	{"an_answer_through_a_pipe_of_its_own_is_for_the_answered_request",
	 an_answer_through_a_pipe_of_its_own_is_for_the_answered_request},
	{"messages_from_children_add_no_requests_to_the_parent", messages_from_children_add_no_requests_to_the_parent},
	{"a_message_from_a_child_does_not_change_the_parents_client",
	 a_message_from_a_child_does_not_change_the_parents_client},
	{"one_pipe_for_both_directions_is_no_conversation", one_pipe_for_both_directions_is_no_conversation},
	{"two_pipes_are_a_conversation_with_fewer_answers_than_requests",
	 two_pipes_are_a_conversation_with_fewer_answers_than_requests},
	{"data_returned_by_a_pipe_is_for_the_client_that_asked", data_returned_by_a_pipe_is_for_the_client_that_asked},
	{"one_pipe_for_both_directions_and_another_are_a_conversation",
	 one_pipe_for_both_directions_and_another_are_a_conversation},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers_pipes", cases, argc, argv);
}
