// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * test_servers.c - whose CPU time a server's is, on traces of a few events: servers_case.h. Rings and the network's softirq have files of their own.
 */
#include <linux/futex.h>
#include <malloc.h>
#include <stdlib.h>
#include "image.h"
#include "servers_case.h"
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
	EXACT(&k, 30, 10, 2500 - 1200);
	REQUESTS(&k, 30, 10, 1);
	CU_ASSERT_EQUAL(server_of(&k, 30)->cpu_ns, 8000);
	CU_ASSERT_EQUAL(server_of(&k, 30)->background_ns, 8000 - 1300);
	CU_ASSERT_EQUAL(server_of(&k, 30)->nr_clients, 1);
	CU_ASSERT_PTR_NULL(server_of(&k, 10)); /* to get an answer does not make a server */
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
	EXACT(&k, 30, 10, 20 + 2500 - 1300);
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
	sends(&k, &one_server, 2100); /* so is an answer */
	polls(&k, 2, 2200);
	sends(&k, &one, 2300);
	receives(&k, &one_server, 2400);
	polls(&k, 2, 2500);
	run(&k);
	EXACT(&k, 30, 10, 20 + (2200 - 1350) + (2500 - 2400));
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
	EXACT(&k, 30, 10, 20 + 100); /* accepting, and until the other came */
	EXACT(&k, 30, 20, 20);
	CU_ASSERT_EQUAL(bill(&k, 30, 10).shared_ns + bill(&k, 30, 20).shared_ns, 1001);
	CU_ASSERT(bill(&k, 30, 10).shared_ns == 500 || bill(&k, 30, 10).shared_ns == 501);
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
	SHARED(&k, 30, 10, (2010 - 1410) / 2);
	EXACT(&k, 30, 20, 20 + 3000 - 2010);
	end(&k);
}

static void a_read_that_sleeps_for_a_new_request_ends_the_old(void)
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
	EXACT(&k, 30, 10, 2000 - 1220);
	EXACT(&k, 30, 20, 20 + 100 + 3000 - 2300);
	end(&k);
}

/* ---- many ---- */

#define FIN_WAIT1 4
#define LAST_ACK  9

static void closes(struct case_of_servers *k, const struct end *e, uint64_t ns, uint32_t state)
{
	struct trace_sock_state event = {.ino = e->ino, .family = AF_INET, .protocol = 6, .old_state = 1, .new_state = state};

	tb_sys_enter(k->c.tb, e->cpu, ns, SYS_close, (uint64_t)e->fd, 0, 0);
	tb_event(k->c.tb, e->cpu, ns + 1, TRACE_EV_sock_state, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, e->cpu, ns + 2, 0);
}

/* Each asks, is answered, and both ends are closed: 400 ns, of which the server works 220. Some clients do not wait for the answer. */
static void short_connection(struct case_of_servers *k, uint32_t nr, uint64_t ns)
{
	uint16_t port = (uint16_t)(1024 + nr % 60000);
	struct end client = {.cpu = 0, .fd = 3, .ino = 1000 + 2 * nr, .family = AF_INET, .local_port = port, .remote_port = 80, .local = LOCALHOST, .remote = LOCALHOST},
		   server = {.cpu = 2, .fd = 4, .ino = 1001 + 2 * nr, .family = AF_INET, .local_port = 80, .remote_port = port, .local = LOCALHOST, .remote = LOCALHOST};

	make(k, &client, ns, SYS_connect, 0);
	make(k, &server, ns + 20, SYS_accept, 0);
	transfer(k, &client, ns + 40, true, 16, 16);
	transfer(k, &server, ns + 60, false, 16, 16);
	transfer(k, &server, ns + 200, true, 16, 16);
	closes(k, &server, ns + 220, FIN_WAIT1);
	polls(k, 2, ns + 240);
	if (nr % 7) {
		transfer(k, &client, ns + 260, false, 16, 16);
		closes(k, &client, ns + 300, LAST_ACK);
	} else { /* it does not want to know */
		closes(k, &client, ns + 260, LAST_ACK);
	}
}

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Runs the case. What the servers' part of the analysis holds at the end. */
static long long memory_of(struct case_of_servers *k)
{
	struct trace_error error = {0};
	size_t alone, together;

	k->c.trace = tb_open_trace(k->c.tb);
	alone = in_use();
	k->c.analysis = trace_analysis_new(k->c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_run(k->c.analysis, &error), 0);
	alone = in_use() - alone;
	trace_analysis_free(k->c.analysis);
	together = in_use();
	k->c.analysis = trace_analysis_new(k->c.trace, NULL, &error);
	k->servers = trace_servers_new(k->c.trace, k->c.analysis, &error);
	CU_ASSERT_EQUAL(trace_analysis_run(k->c.analysis, &error), 0);
	together = in_use() - together;
	CU_ASSERT_EQUAL(trace_servers_verify(k->servers, &error), 0);
	return (long long)together - (long long)alone;
}

/* So that the builder holds no more than a chunk of each CPU. */
static void cut_now_and_then(struct case_of_servers *k, uint32_t i)
{
	for (uint32_t cpu = 0; cpu < 4 && i % 5000 == 4999; cpu++)
		tb_cut(k->c.tb, cpu);
}

static long long memory_for(uint32_t nr)
{
	struct case_of_servers k = begin();
	long long bytes;

	for (uint32_t i = 0; i < nr; i++) {
		short_connection(&k, i, 10000 + i * 400ull);
		cut_now_and_then(&k, i);
	}
	bytes = memory_of(&k);
	EXACT(&k, 30, 10, nr * 220ull);
	REQUESTS(&k, 30, 10, nr);
	end(&k);
	return bytes;
}

static void closed_connections_are_forgotten(void)
{
	long long few = memory_for(4000), many = memory_for(getenv("TRACE_TEST_LONG") ? 200000 : 20000 / unit_step(2));

	if (getenv("TRACE_VERBOSE"))
		fprintf(stderr, "\n    %lld and %lld bytes ", few, many);
	CU_ASSERT(many < few + 500000); /* one endpoint is 400 bytes, and a connection has two */
}

/* The server looks for other work until the connection to the next one is made. */
static void a_connection_made_for_a_request_carries_it(void)
{
	static const struct end next = {.cpu = 2, .fd = 6, .ino = 103, .family = AF_INET, .local_port = 5000, .remote_port = 80, .local = LOCALHOST, .remote = LOCALHOST},
				next_server = {.cpu = 3, .fd = 4, .ino = 203, .family = AF_INET, .local_port = 80, .remote_port = 5000, .local = LOCALHOST, .remote = LOCALHOST};
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
	EXACT(&k, 30, 10, (1500 - 1200) + (1800 - 1600));
	EXACT(&k, 40, 10, 2000 - 1550);
	EXACT(&k, 40, 30, 0);
	end(&k);
}

/* ---- requests that the server names itself ---- */

static uint16_t naming_type(struct case_of_servers *k, const char *name, enum trace_event_role role)
{
	static const struct trace_field fields[] = {{.name = "tid", .offset = 0, .bytes = 4, .kind = TRACE_KIND_TID},
						    {.name = "id", .offset = 8, .bytes = 8, .kind = TRACE_KIND_DEC}};
	struct trace_event_type type = {.name = name, .classic = "NONE", .text = "", .doc = "", .program = "NONE", .fields = fields, .nr_fields = 2,
					.fixed_bytes = 16, .category = TRACE_CATEGORY_USER, .flags = TRACE_EVENT_ON | TRACE_EVENT_TID, .role = role,
					.source = ""};

	return tb_user_type(k->c.tb, &type);
}

static void name_request(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint16_t event, uint32_t tid, uint64_t id)
{
	struct {
		uint32_t tid, pad;
		uint64_t id;
	} payload = {.tid = tid, .id = id};

	tb_user_event(k->c.tb, cpu, ns, event, &payload, sizeof(payload));
}

static void a_named_request_is_worked_on_alone(void)
{
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	receives(&k, &two_server, 1500);
	name_request(&k, 2, 1700, take, 30, 7); /* the one that came in last */
	name_request(&k, 2, 2100, done, 30, 7);
	name_request(&k, 2, 2200, take, 30, 8);
	name_request(&k, 2, 2900, done, 30, 8);
	polls(&k, 2, 3000);
	run(&k);
	EXACT(&k, 30, 10, 20 + 100 + 2900 - 2100); /* between the two it was the only one left */
	EXACT(&k, 30, 20, 20 + 2100 - 1700);
	SHARED(&k, 30, 10, (1700 - 1500) / 2);
	SHARED(&k, 30, 20, (1700 - 1500) / 2);
	end(&k);
}

/* Lost: that 7 was over and another one begun. That begins before it and ends after it are seen, tells nothing of the time between. */
static void a_named_request_is_not_believed_across_a_loss(void)
{
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + 2, .pid = 30, .cpu = 2};

	tb_event(k.c.tb, 2, 1010, TRACE_EV_user_stream, &stream, sizeof(stream), "server");
	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	receives(&k, &two_server, 1500);
	name_request(&k, 2, 1700, take, 30, 7);
	tb_user_lost(k.c.tb, 2, 2);
	name_request(&k, 2, 2900, done, 30, 8);
	polls(&k, 2, 3000);
	sends(&k, &two, 3100);
	receives(&k, &two_server, 3200);
	polls(&k, 2, 4000);
	run(&k);
	EXACT(&k, 30, 10, 20 + 100);
	EXACT(&k, 30, 20, 20 + 4000 - 3200);
	SHARED(&k, 30, 10, (1700 - 1500) / 2);
	SHARED(&k, 30, 20, (1700 - 1500) / 2);
	end(&k);
}

static void a_named_request_goes_from_thread_to_thread_through_memory(void)
{
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t pass = naming_type(&k, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF);

	tb_thread(k.c.tb, 31, 30, 1, "server", 3, false);
	tb_switch(k.c.tb, 3, 1100, 40, 31, TRACE_TASK_RUNNING);
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	name_request(&k, 2, 1400, take, 30, 7);
	name_request(&k, 2, 2000, pass, 30, 7);
	name_request(&k, 3, 3000, take, 31, 7);
	name_request(&k, 3, 3500, done, 31, 7);
	tb_switch(k.c.tb, 3, 8000, 31, 40, TRACE_TASK_RUNNING);
	run(&k);
	EXACT(&k, 30, 10, 2000 - 1200 + 3500 - 3000);
	CU_ASSERT_EQUAL(server_of(&k, 30)->cpu_ns, 8000 + 6900);
	end(&k);
}

/* A socket pair whose one end two processes hold. */
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
	EXACT(&k, 30, 10, 20 + 100 + 400);
	SHARED(&k, 30, 10, 50); /* not known to be one before the second came */
	EXACT(&k, 30, 20, 0);
	SHARED(&k, 30, 20, 50);
	end(&k);
}

/* After its answer a server rests in one of these until there is work again: that is not for who was answered. */
static void what_comes_after_a_rest_is_for_nobody(void)
{
	static const char *const rests[] = { "clock_nanosleep", "clock_nanosleep_time64", "epoll_pwait2", "futex", "futex_time64", "io_getevents", "io_pgetevents",
					     "io_pgetevents_time64", "mq_timedreceive", "mq_timedreceive_time64", "msgrcv", "nanosleep", "pause", "poll", "ppoll",
					     "ppoll_time64", "pselect6", "pselect6_time64", "recvmmsg", "recvmmsg_time64", "rt_sigsuspend", "rt_sigtimedwait",
					     "rt_sigtimedwait_time64", "select", "_newselect", "semop", "semtimedop", "semtimedop_time64", "sigsuspend", "wait4", "waitid" };
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
		if (bill(&k, 30, 10).exact_ns != 2500 - 1200)
			fprintf(stderr, "%s is no rest\n", rests[i]);
		EXACT(&k, 30, 10, 2500 - 1200);
		end(&k);
	}
}

/* ---- hand on ---- */

static void a_job_goes_on_with_the_wakeup(void)
{
	struct case_of_servers k = begin();

	tb_fork(k.c.tb, 2, 1050, 30, 31, 30, "worker");
	tb_event(k.c.tb, 2, 1060, TRACE_EV_sched_wakeup_new, &(struct trace_sched_wakeup_new){.tid = 31, .target_cpu = 4},
		 sizeof(struct trace_sched_wakeup_new), NULL);
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
	/* The worker's bill begins at the entry of its wait, of which only 10 ns were on the CPU. */
	EXACT(&k, 30, 10, (1500 - 1200) + 10 + (2100 - 1500));
	REQUESTS(&k, 30, 10, 1);
	end(&k);
}

/* A thread of the server's process waits in a call; another one, that works on a request, wakes it. */
static struct case_of_servers woken_in(uint32_t nr, uint64_t first, uint64_t second, uint64_t third)
{
	struct case_of_servers k = begin();

	tb_fd(k.c.tb, 30, 7, 8, 77, S_IFREG | 0644, "/data");
	tb_fork(k.c.tb, 2, 1050, 30, 31, 30, "worker");
	tb_event(k.c.tb, 2, 1060, TRACE_EV_sched_wakeup_new, &(struct trace_sched_wakeup_new){.tid = 31, .target_cpu = 4},
		 sizeof(struct trace_sched_wakeup_new), NULL);
	tb_switch(k.c.tb, 4, 1100, 0, 31, TRACE_TASK_RUNNING);
	tb_sys_enter(k.c.tb, 4, 1110, nr, first, second, third, 0, 0, 0);
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
	return k;
}

static void a_lock_hands_on_nothing(void)
{
	static const uint64_t operations[][2] = { { FUTEX_WAIT_PRIVATE, 2 }, { FUTEX_LOCK_PI_PRIVATE, 0 }, { FUTEX_LOCK_PI2_PRIVATE, 0 } };

	for (size_t i = 0; i < sizeof(operations) / sizeof(operations[0]); i++) {
		struct case_of_servers k = woken_in(SYS_futex, 0x1000, operations[i][0], operations[i][1]);

		run(&k);
		EXACT(&k, 30, 10, 1500 - 1200);
		end(&k);
	}
}

/* Two threads that read the same file wait for one another's pages, and locks in the kernel. */
static void a_file_hands_on_nothing(void)
{
	struct case_of_servers k = woken_in(SYS_read, 7, 0, 4096);

	run(&k);
	EXACT(&k, 30, 10, 1500 - 1200);
	end(&k);
}

static void a_job_taken_without_waiting_is_told_by_its_answer(void)
{
	struct case_of_servers k = begin();

	tb_fork(k.c.tb, 2, 1050, 30, 31, 30, "worker");
	tb_event(k.c.tb, 2, 1060, TRACE_EV_sched_wakeup_new, &(struct trace_sched_wakeup_new){.tid = 31, .target_cpu = 4},
		 sizeof(struct trace_sched_wakeup_new), NULL);
	tb_switch(k.c.tb, 4, 1100, 0, 31, TRACE_TASK_RUNNING);
	polls(&k, 4, 1400); /* its last rest */
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	polls(&k, 2, 1500);
	transfer(&k, &(struct end){.cpu = 4, .fd = 4, .ino = 201}, 2000, true, 16, 0);
	polls(&k, 4, 2100);
	run(&k);
	EXACT(&k, 30, 10, (1500 - 1200) + (2100 - 1400));
	end(&k);
}

static void a_forked_child_inherits(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	tb_fork(k.c.tb, 2, 1300, 30, 50, 50, "server");
	tb_event(k.c.tb, 2, 1305, TRACE_EV_sched_wakeup_new, &(struct trace_sched_wakeup_new){.tid = 50, .target_cpu = 4},
		 sizeof(struct trace_sched_wakeup_new), NULL);
	tb_switch(k.c.tb, 4, 1400, 0, 50, TRACE_TASK_RUNNING);
	sends(&k, &one, 1450);
	receives(&k, &(struct end){.cpu = 4, .fd = 4, .ino = 201}, 1500);
	sends(&k, &(struct end){.cpu = 4, .fd = 4, .ino = 201}, 2000);
	tb_exit(k.c.tb, 4, 2500, 50, 50, true);
	tb_switch(k.c.tb, 4, 2600, 50, 0, TRACE_TASK_DEAD);
	make(&k, &two_server, 3000, SYS_accept, 0);
	run(&k);
	EXACT(&k, 50, 10, 2600 - 1400);
	REQUESTS(&k, 50, 10, 1);
	EXACT(&k, 30, 10, 3000 - 1200);
	end(&k);
}

/* ---- several servers ---- */

static void the_origin_travels(void)
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
	polls(&k, 2, 1500); /* it would work for others now */
	receives(&k, &down_server, 1500);
	sends(&k, &down_server, 2000);
	polls(&k, 3, 2200);
	receives(&k, &down, 2300); /* and goes on with what came back */
	sends(&k, &one_server, 2500);
	polls(&k, 2, 2600);
	run(&k);
	EXACT(&k, 40, 10, 2200 - 1500);
	EXACT(&k, 40, 30, 20); /* accepted before there was a request */
	EXACT(&k, 30, 10, (1500 - 1200) + (2600 - 2300));
	REQUESTS(&k, 30, 10, 1);
	REQUESTS(&k, 40, 10, 1);
	REQUESTS(&k, 40, 30, 0);
	end(&k);
}

static void what_was_passed_on_leaves_when_something_new_comes(void)
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
	EXACT(&k, 30, 10, 20 + 1600 - 1400);
	EXACT(&k, 30, 20, 20 + 2000 - 1600);
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
	EXACT(&k, 30, 10, 5 * 50);
	end(&k);
}

static void what_tcp_had_on_its_way_is_nobodys(void)
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
	EXACT(&k, 30, 10, 1700 - 1500);
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
	EXACT(&k, 30, 0, 1700 - 1200);
	CU_ASSERT_STRING_EQUAL(bill(&k, 30, 0).address, "10.0.0.2");
	CU_ASSERT_STRING_EQUAL(bill(&k, 30, 0).comm, "");
	end(&k);
}

/* ---- before the trace, and gaps ---- */

static void what_was_on_its_way_at_the_start_is_nobodys(void)
{
	struct case_of_servers k = begin();

	was_open(&k, &one, 201, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300}, 0, 10); /* 30 listens */
	was_open(&k, &one_server, 101, 1);
	sends(&k, &one, 1100);
	receives(&k, &one_server, 1300); /* this one, or one from before? */
	polls(&k, 2, 1500);
	transfer(&k, &one_server, 1600, false, NOTHING_TO_READ, 0); /* now they are in step */
	sends(&k, &one, 1700);
	receives(&k, &one_server, 1800);
	polls(&k, 2, 2000);
	run(&k);
	EXACT(&k, 30, 10, 2000 - 1800);
	end(&k);
}

static void a_short_read_brings_them_in_step(void)
{
	struct case_of_servers k = begin();

	was_open(&k, &one, 201, 1);
	was_open(&k, &(struct end){.cpu = 2, .fd = 9, .ino = 300}, 0, 10); /* 30 listens */
	was_open(&k, &one_server, 101, 1);
	transfer(&k, &one, 1100, true, 8, 0);
	transfer(&k, &one_server, 1300, false, 8, 0); /* of 16 that it asked for */
	polls(&k, 2, 1500);
	transfer(&k, &one, 1600, true, 8, 0);
	transfer(&k, &one_server, 1700, false, 8, 0);
	polls(&k, 2, 2000);
	run(&k);
	EXACT(&k, 30, 10, 2000 - 1700);
	end(&k);
}

static void a_time_without_some_events_makes_background(void)
{
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull}, some[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct case_of_servers k = begin();

	some[TRACE_EV_sock_recv / 64] &= ~(1ull << TRACE_EV_sock_recv % 64);
	tb_event(k.c.tb, 0, 1000, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_event(k.c.tb, 0, 1600, TRACE_EV_trace_mask, all, sizeof(all), NULL); /* what is recorded anyway is added */
	tb_event(k.c.tb, 0, 2500, TRACE_EV_trace_mask, some, sizeof(some), NULL);
	tb_event(k.c.tb, 0, 2600, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	sends(&k, &one, 3500);
	receives(&k, &one_server, 3600); /* not known to be in step any more */
	polls(&k, 2, 4000);
	run(&k);
	EXACT(&k, 30, 10, 2500 - 1200);
	end(&k);
}

static void a_gap_makes_background(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	polls(&k, 1, 1990);
	tb_lost(k.c.tb, 1, 3);
	polls(&k, 1, 3000);
	sends(&k, &one, 3500);
	receives(&k, &one_server, 3600); /* not known to be in step any more */
	polls(&k, 2, 4000);
	run(&k);
	EXACT(&k, 30, 10, 2000 - 1200);
	end(&k);
}

/* A damaged trace may say any time: no gap is left then, none begins there, and the analysis ends. */
static void the_end_of_all_time_is_in_no_gap(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	polls(&k, 1, 1990);
	tb_lost(k.c.tb, 1, 3);
	polls(&k, 1, 3000);
	polls(&k, 1, UINT64_MAX);
	run(&k);
	end(&k);
}

/* That it cannot be read is found when its turn comes: no gap that was known before. */
static void a_damaged_chunk_makes_background(void)
{
	struct case_of_servers k = begin();
	struct trace_chunk_header header = {0};
	struct image image;
	long at = 0;

	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	receives(&k, &one_server, 1300);
	tb_cut(k.c.tb, 1);
	polls(&k, 1, 2000);
	tb_cut(k.c.tb, 1);
	polls(&k, 1, 3000);
	sends(&k, &one, 3500);
	receives(&k, &one_server, 3600); /* not known to be in step any more */
	polls(&k, 2, 4000);
	finish(&k);
	image = image_new(k.c.tb, true);
	for (size_t i = 0; at >= 0 && !(header.kind == TRACE_CHUNK_EVENTS && header.first_ns == 2000); i++)
		at = image_chunk(&image, i, &header);
	CU_ASSERT_FATAL(at >= 0);
	image.data[(size_t)at + header.header_bytes] ^= 1;
	run_of(&k, trace_open(image.path, NULL));
	EXACT(&k, 30, 10, 2000 - 1200);
	end(&k);
	image_free(&image);
}

/* ---- pipes and datagrams ---- */

static void pipe_io(struct case_of_servers *k, uint32_t cpu, int fd, uint64_t ns, bool out)
{
	tb_sys_enter(k->c.tb, cpu, ns, out ? SYS_write : SYS_read, (uint64_t)fd, 0, 16);
	tb_sys_exit(k->c.tb, cpu, ns + 10, 16);
}

static void pipe_made(struct case_of_servers *k, uint64_t ns, int fd, uint64_t ino)
{
	tb_sys_enter(k->c.tb, 0, ns, SYS_pipe, 0x1000, 0, 0);
	tb_open(k->c.tb, 0, ns + 4, fd, 9, ino, S_IFIFO | 0600, "pipe:[]");
	tb_sys_exit(k->c.tb, 0, ns + 10, 0);
	tb_fd(k->c.tb, 30, fd, 9, ino + 1000, S_IFREG | 0600, "/x"); /* a table for 30 */
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

static void two_pipes_are(void)
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
	EXACT(&k, 30, 10, 2500 - 1200);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	end(&k);
}

static void fifo_open(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint32_t call, int fd, uint64_t ino, uint32_t flags)
{
	struct trace_fs_open open = {.fd = fd, .dev = 9, .ino = ino, .mode = S_IFIFO | 0600, .flags = flags};

	tb_sys_enter(k->c.tb, cpu, ns, call, 0, 0, 0);
	tb_event(k->c.tb, cpu, ns + 4, TRACE_EV_fs_open, &open, sizeof(open), "/run/fifo");
	tb_sys_exit(k->c.tb, cpu, ns + 10, fd);
}

/* Two with a name, opened by one call or another. */
static void so_are_two_fifos_however_they_were_opened(void)
{
	static const struct {
		const char *name;
		uint32_t nr, for_writing;
	} calls[] = {{"open", SYS_open, SYS_open}, {"openat", SYS_openat, SYS_openat}, {"openat2", 437, 437}, {"open_by_handle_at", SYS_open_by_handle_at, SYS_open_by_handle_at},
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
		EXACT(&k, 30, 10, 2500 - 1200);
		end(&k);
	}
}

static void pipe_in(struct case_of_servers *k, uint32_t cpu, uint64_t ns, int fd, uint64_t ino)
{
	tb_fd(k->c.tb, processes[cpu], fd, 9, ino + 1000, S_IFREG | 0600, "/x");
	tb_open(k->c.tb, cpu, ns, fd, 9, ino, S_IFIFO | 0600, "pipe:[]");
}

/* The first to write comes back last: it was the first that woke the reader, or that is answered although its message seems to be in the pipe. */
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
		if (woken) { /* it is known before the answer */
			sends(&k, &down, 2300);
			receives(&k, &down_server, 2400);
			polls(&k, 3, 2500);
		}
		pipe_io(&k, 2, 8, 3000, true); /* the answer for the first */
		tb_sys_exit(k.c.tb, 0, 3020, 16);
		pipe_io(&k, 2, 7, 3100, false);
		pipe_io(&k, 2, 9, 4000, true);
		tb_sys_exit(k.c.tb, 1, 4020, 16);
		tb_sys_enter(k.c.tb, 2, 4100, SYS_read, 7, 0, 16);
		tb_switch(k.c.tb, 2, 4110, 30, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
		run(&k);
		EXACT(&k, 30, 10, (woken ? 10u : 0u) + 3100 - 2200);
		EXACT(&k, 30, 20, 4100 - 3100);
		REQUESTS(&k, 30, 10, 1);
		REQUESTS(&k, 30, 20, 1);
		EXACT(&k, 40, 10, woken ? 2500 - 2400 : 0);
		end(&k);
	}
}

/* One writer after the other: then the order is known, and what is written to the second is no answer. */
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
	pipe_io(&k, 2, 8, 2500, true); /* it tells the second something */
	tb_sys_exit(k.c.tb, 0, 2520, 16);
	pipe_io(&k, 2, 9, 3000, true);
	tb_sys_exit(k.c.tb, 1, 3020, 16);
	polls(&k, 2, 3100);
	run(&k);
	EXACT(&k, 30, 20, 3100 - 2200);
	end(&k);
}

/* Two have not come back yet. The one that woke the reader has told of its bytes with that; what comes next is the other's. */
static void what_a_waker_has_written_is_told_once(void)
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
	EXACT(&k, 30, 20, 3100 - 2300);
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
	EXACT(&k, 40, 30, 20 + 2000 - 1400);
	EXACT(&k, 40, 10, 0);
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

static void datagrams_are_told_apart_by_their_sender(void)
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
	EXACT(&k, 30, 10, 1600 - 1300);
	EXACT(&k, 30, 20, 2100 - 1600);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	end(&k);
}

/* Nothing is in it, and still it is a message that stands in the queue before others. */
static void an_empty_datagram_is_one(void)
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
	transfer(&k, &s, 2200, false, 0, 0); /* it has shut it down: there is none */
	polls(&k, 2, 2500);
	run(&k);
	EXACT(&k, 30, 10, 1600 - 1300);
	EXACT(&k, 30, 20, 2100 - 1600);
	end(&k);
}

/* Looking at a message that stays, or at what became of one's own, takes none out of the queue. */
static void who_only_looks_takes_nothing(void)
{
	static const uint64_t flags[] = { MSG_PEEK, MSG_ERRQUEUE };

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
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
		tb_sys_enter(k.c.tb, 2, 1250, SYS_recvmsg, 3, 0, flags[i]);
		tb_event(k.c.tb, 2, 1255, TRACE_EV_sock_recv, &looked, sizeof(looked), NULL);
		tb_sys_exit(k.c.tb, 2, 1260, 16);
		receives(&k, &s, 1300);
		datagram(&k, &s, 101, 1500);
		receives(&k, &a, 1550);
		receives(&k, &s, 1600);
		polls(&k, 2, 2100);
		run(&k);
		EXACT(&k, 30, 10, 1600 - 1300);
		EXACT(&k, 30, 20, 2100 - 1600);
		end(&k);
	}
}

/* Of two clients each is half of what the server works for, as in the bills, however many connections one of them has. */
static void a_client_of_two_connections_is_one(void)
{
	static const struct end second = {.cpu = 0, .fd = 7, .ino = 104, .peer = 204}, second_server = {.cpu = 2, .fd = 8, .ino = 204, .peer = 104};
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
	SHARED(&k, 30, 20, (4500 - 1320) / 2); /* from the second client's message on */
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	wait = trace_get_server_wait(k.servers, 0);
	CU_ASSERT_EQUAL(wait->for_client_ns, (4002 - 1400) / 2);
	CU_ASSERT_EQUAL(wait->for_others_ns, (4002 - 1400) / 2);
	end(&k);
}

/* Two senders on two CPUs: who told first that his datagram stands in the queue need not be the one who put it there first. */
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
	EXACT(&k, 30, 20, 1600 - 1300);
	EXACT(&k, 30, 10, 2100 - 1600);
	REQUESTS(&k, 30, 10, 1);
	REQUESTS(&k, 30, 20, 1);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	end(&k);
}

/* ---- signals ---- */

static void waits_at(struct case_of_servers *k, uint32_t cpu, uint32_t tid, uint64_t ns, uint64_t address)
{
	tb_sys_enter(k->c.tb, cpu, ns, SYS_futex, address, FUTEX_WAIT, 0, 0, 0, 0);
	tb_switch(k->c.tb, cpu, ns + 10, tid, 0, TRACE_TASK_INTERRUPTIBLE);
}

/* @tid, if not 0, sleeps on CPU @to, and comes back 100 ns later */
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
	EXACT(&k, 30, 10, 10 + 2010 - 1300); /* until its answer: what follows may be the next one's already */
	REQUESTS(&k, 30, 10, 1);
	CU_ASSERT_EQUAL(trace_nr_servers(k.servers), 1);
	CU_ASSERT_EQUAL(trace_get_server_wait(k.servers, 0)->wait_ns, 2005 - 1310);
	end(&k);
}

static void a_busy_server_finds_requests_that_woke_nobody(void)
{
	struct case_of_servers k = begin();

	waits_at(&k, 2, 30, 1100, 0x1000);
	wakes(&k, 0, 1200, 0x1000, 2, 30);
	waits_at(&k, 0, 10, 1300, 0x2000);
	wakes(&k, 1, 1400, 0x1000, 2, 0); /* it is at work */
	waits_at(&k, 1, 20, 1500, 0x3000);
	wakes(&k, 2, 2000, 0x2000, 0, 10);
	wakes(&k, 2, 3000, 0x3000, 1, 20); /* and had taken up the next one at once */
	waits_at(&k, 2, 30, 3500, 0x1000);
	tb_switch(k.c.tb, 2, 8000, 0, 30, TRACE_TASK_RUNNING);
	run(&k);
	EXACT(&k, 30, 10, 10 + 2010 - 1300);
	EXACT(&k, 30, 20, 3010 - 2010);
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

static void what_is_announced_and_never_answered_is_forgotten(void)
{
	CU_ASSERT(memory_for_announced(20000 / unit_step(2)) < memory_for_announced(1000) + 100000);
}

static void who_passes_on_a_lock_is_no_server(void)
{
	struct case_of_servers k = begin();

	waits_at(&k, 2, 30, 1100, 0x1000);
	wakes(&k, 0, 1200, 0x1000, 2, 30); /* 10 lets go, */
	waits_at(&k, 2, 30, 1400, 0x1000);
	wakes(&k, 0, 1500, 0x1000, 2, 30); /* and once more, */
	waits_at(&k, 0, 10, 1600, 0x2000);
	wakes(&k, 2, 2000, 0x2000, 0, 10); /* and then 30 */
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
	EXACT(&k, 30, 10, 10 + 2010 - 1300);
	end(&k);
}

/* ---- the client's side ---- */

static void the_pieces_of_a_wait_tell_what_the_server_did(void)
{
	struct case_of_servers k = begin();
	struct trace_sock_send event = {.ino = 101, .ret = 16, .family = AF_UNIX};
	const struct trace_server_wait *wait;

	connects(&k, &two, &two_server, 1200);
	connects(&k, &one, &one_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &two, 1260);
	receives(&k, &two_server, 1300); /* at work for 20 */
	sends(&k, &one, 1350);
	tb_sys_enter(k.c.tb, 0, 1370, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 0, 1400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	sends(&k, &two_server, 2000);
	polls(&k, 2, 2200);
	receives(&k, &one_server, 2300);
	tb_sys_enter(k.c.tb, 2, 2500, SYS_nanosleep, 0, 0);
	tb_switch(k.c.tb, 2, 2600, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(k.c.tb, 2, 3600, 30, TRACE_CONTEXT_HARDIRQ);
	tb_switch(k.c.tb, 2, 3900, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 2, 3910, 0);
	tb_sys_enter(k.c.tb, 2, 4000, SYS_write, 4, 0, 16);
	tb_waking(k.c.tb, 2, 4002, 10, TRACE_CONTEXT_TASK);
	event.ino = 201;
	tb_event(k.c.tb, 2, 4005, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 2, 4010, 16);
	tb_switch(k.c.tb, 0, 4100, 0, 10, TRACE_TASK_RUNNING);
	event.ino = 101;
	tb_event(k.c.tb, 0, 4110, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 0, 4120, 16);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	wait = trace_get_server_wait(k.servers, 0);
	CU_ASSERT_EQUAL(trace_process_pid(wait->client), 10);
	CU_ASSERT_EQUAL(trace_process_pid(wait->server), 30);
	CU_ASSERT_EQUAL(wait->count, 1);
	CU_ASSERT_EQUAL(wait->wait_ns, 4002 - 1400);
	CU_ASSERT_EQUAL(wait->server_waited_ns, 1000);
	CU_ASSERT_EQUAL(wait->server_wait_cpu_ns, 300);
	CU_ASSERT(wait->for_client_ns >= 390 && wait->for_client_ns <= 410); /* from the receive on, which took 10 */
	CU_ASSERT_EQUAL(wait->for_others_ns + wait->for_client_ns, 4002 - 1400 - 1300);
	CU_ASSERT_EQUAL(wait->rest_ns, 0);
	CU_ASSERT_PTR_NULL(trace_get_server_wait(k.servers, 1));
	end(&k);
}

static void what_the_server_waited_for_is_named(void)
{
	struct case_of_servers k = begin();
	struct trace_sock_send event = {.ino = 101, .ret = 16, .family = AF_UNIX};
	const struct trace_server_wait *wait;

	tb_fd(k.c.tb, 30, 9, 8, 900, S_IFREG | 0600, "/data");
	connects(&k, &one, &one_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1350);
	tb_sys_enter(k.c.tb, 0, 1370, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 0, 1400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(&k, &one_server, 1500);
	tb_sys_enter(k.c.tb, 2, 1600, SYS_read, 9, 0, 16); /* the disk, then the CPU that 20 has */
	tb_switch(k.c.tb, 2, 1700, 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_switch(k.c.tb, 1, 1800, 20, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 1900, 0, 20, TRACE_TASK_RUNNING);
	tb_waking(k.c.tb, 2, 2000, 30, TRACE_CONTEXT_HARDIRQ);
	tb_switch(k.c.tb, 2, 2400, 20, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(k.c.tb, 2, 2410, 16);
	tb_sys_enter(k.c.tb, 2, 2500, SYS_write, 4, 0, 16);
	tb_waking(k.c.tb, 2, 2502, 10, TRACE_CONTEXT_TASK);
	event.ino = 201;
	tb_event(k.c.tb, 2, 2505, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 2, 2510, 16);
	tb_switch(k.c.tb, 0, 2600, 0, 10, TRACE_TASK_RUNNING);
	event.ino = 101;
	tb_event(k.c.tb, 0, 2610, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 0, 2620, 16);
	tb_switch(k.c.tb, 1, 8000, 0, 20, TRACE_TASK_RUNNING);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	wait = trace_get_server_wait(k.servers, 0);
	CU_ASSERT_EQUAL(wait->server_waited_ns, 300);
	CU_ASSERT_EQUAL_FATAL(wait->nr_waits, 1);
	CU_ASSERT_EQUAL(wait->waits[0].kind, TRACE_WAIT_FILE);
	CU_ASSERT_STRING_EQUAL(wait->waits[0].target, "/data");
	CU_ASSERT_EQUAL(wait->waits[0].ns, 300);
	CU_ASSERT_EQUAL_FATAL(wait->nr_wait_cpu_for, 1);
	CU_ASSERT_EQUAL(wait->wait_cpu_for[0].pid, 20);
	CU_ASSERT_EQUAL(wait->wait_cpu_for[0].ns, 400);
	end(&k);
}

/* ---- the whole ---- */

static void it_has_to_be_made_before_the_pass(void)
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
		tb_event(tb, cpu, ns, any(2) ? TRACE_EV_net_tx : TRACE_EV_net_rx,
			 &(struct trace_net_tx){.ifindex = any(5) ? 1 : 2, .bytes = 60 + any(2) * 14, .protocol = 0x800}, sizeof(struct trace_net_tx),
			 NULL);
		break;
	case 14:
		tb_event(tb, cpu, ns, TRACE_EV_sock_state,
			 &(struct trace_sock_state){.ino = 100 + any(6), .family = AF_INET, .protocol = 6, .new_state = (uint16_t)(1 + any(11))},
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

/* Everything that is said of the servers, as one text. */
static char *bills_of(struct image *image)
{
	struct case_of_servers k = {0};
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	k.c.trace = trace_open(image->path, NULL);
	k.c.analysis = trace_analysis_new(k.c.trace, NULL, NULL);
	k.servers = trace_servers_new(k.c.trace, k.c.analysis, NULL);
	CU_ASSERT_EQUAL(trace_analysis_run(k.c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(k.c.analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_servers_verify(k.servers, NULL), 0);
	for (size_t i = 0; i < trace_nr_servers(k.servers); i++) {
		const struct trace_server *server = trace_get_server(k.servers, i);

		fprintf(out, "%u: %llu %llu %llu %llu\n", server->pid, (unsigned long long)server->cpu_ns, (unsigned long long)server->exact_ns,
			(unsigned long long)server->shared_ns, (unsigned long long)server->background_ns);
		for (size_t j = 0; j < server->nr_clients; j++)
			fprintf(out, "  %u %s: %llu %llu %llu\n", server->clients[j].pid, server->clients[j].comm, (unsigned long long)server->clients[j].exact_ns,
				(unsigned long long)server->clients[j].shared_ns, (unsigned long long)server->clients[j].requests);
	}
	trace_servers_free(k.servers);
	trace_analysis_free(k.c.analysis);
	trace_close(k.c.trace);
	fclose(out);
	return text;
}

/* Requests of two clients, over and over; the chunks of the CPUs overlap. */
static struct case_of_servers two_busy_clients(void)
{
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1100);
	connects(&k, &two, &two_server, 1120);
	for (uint64_t i = 0, ns = 1200; ns < 8500; i++, ns += 400) {
		sends(&k, &one, ns);
		receives(&k, &one_server, ns + 50);
		sends(&k, &two, ns + 60);
		receives(&k, &two_server, ns + 100);
		sends(&k, &one_server, ns + 200);
		receives(&k, &one, ns + 220);
		sends(&k, &two_server, ns + 300);
		receives(&k, &two, ns + 320);
		polls(&k, 2, ns + 350);
		tb_cut(k.c.tb, (uint32_t)(i % 3));
	}
	finish(&k);
	return k;
}

/* Where there is a piece of a chunk only, that is known before the pass, and else it is found in it: that must make no difference. */
static void bills_are_the_same_whenever_damage_is_found(void)
{
	size_t different = 0, served = 0, nr = 0;
	char *found = NULL, *known = NULL;

	for (;; nr++) {
		struct case_of_servers k = two_busy_clients();
		struct image image = image_new(k.c.tb, true), pieces;
		bool more = image_spoil(&image, TRACE_CHUNK_EVENTS, nr);

		case_free(&k.c);
		pieces = image_with_pieces(&image);
		free(found);
		free(known);
		found = bills_of(&image);
		known = bills_of(&pieces);
		different += strcmp(found, known) != 0;
		if (strcmp(found, known) != 0)
			printf("chunk %zu, found:\n%s\nknown:\n%s\n", nr, found, known);
		image_free(&pieces);
		image_free(&image);
		if (!more)
			break;
		served += strstr(found, "30: ") != NULL;
	}
	CU_ASSERT_EQUAL(different, 0);
	CU_ASSERT(served > 20);
	free(found);
	free(known);
}

static const struct unit_case cases[] = {
	{"one_client_is_exact", one_client_is_exact},
	{"a_receiver_may_be_done_before_the_sender", a_receiver_may_be_done_before_the_sender},
	{"pieces_are_one_request", pieces_are_one_request},
	{"several_requests_share_evenly", several_requests_share_evenly},
	{"an_answer_leaves_the_others_alone", an_answer_leaves_the_others_alone},
	{"a_read_that_sleeps_for_a_new_request_ends_the_old", a_read_that_sleeps_for_a_new_request_ends_the_old},
	{"a_connection_of_several_senders_is_a_queue", a_connection_of_several_senders_is_a_queue},
	{"what_comes_after_a_rest_is_for_nobody", what_comes_after_a_rest_is_for_nobody},
	{"a_job_goes_on_with_the_wakeup", a_job_goes_on_with_the_wakeup},
	{"a_lock_hands_on_nothing", a_lock_hands_on_nothing},
	{"a_file_hands_on_nothing", a_file_hands_on_nothing},
	{"a_job_taken_without_waiting_is_told_by_its_answer", a_job_taken_without_waiting_is_told_by_its_answer},
	{"a_forked_child_inherits", a_forked_child_inherits},
	{"the_origin_travels", the_origin_travels},
	{"what_was_passed_on_leaves_when_something_new_comes", what_was_passed_on_leaves_when_something_new_comes},
	{"tcp_positions_may_wrap", tcp_positions_may_wrap},
	{"what_tcp_had_on_its_way_is_nobodys", what_tcp_had_on_its_way_is_nobodys},
	{"a_client_elsewhere_is_an_address", a_client_elsewhere_is_an_address},
	{"what_was_on_its_way_at_the_start_is_nobodys", what_was_on_its_way_at_the_start_is_nobodys},
	{"a_short_read_brings_them_in_step", a_short_read_brings_them_in_step},
	{"a_time_without_some_events_makes_background", a_time_without_some_events_makes_background},
	{"a_gap_makes_background", a_gap_makes_background},
	{"the_end_of_all_time_is_in_no_gap", the_end_of_all_time_is_in_no_gap},
	{"a_damaged_chunk_makes_background", a_damaged_chunk_makes_background},
	{"a_pipeline_is_no_server", a_pipeline_is_no_server},
	{"two_pipes_are", two_pipes_are},
	{"so_are_two_fifos_however_they_were_opened", so_are_two_fifos_however_they_were_opened},
	{"writers_may_come_back_in_the_other_order", writers_may_come_back_in_the_other_order},
	{"a_message_that_is_still_in_the_pipe_was_not_read", a_message_that_is_still_in_the_pipe_was_not_read},
	{"what_a_waker_has_written_is_told_once", what_a_waker_has_written_is_told_once},
	{"a_pipeline_passes_on_its_own_name", a_pipeline_passes_on_its_own_name},
	{"datagrams_are_told_apart_by_their_sender", datagrams_are_told_apart_by_their_sender},
	{"an_empty_datagram_is_one", an_empty_datagram_is_one},
	{"a_client_of_two_connections_is_one", a_client_of_two_connections_is_one},
	{"who_only_looks_takes_nothing", who_only_looks_takes_nothing},
	{"an_answer_corrects_the_order_of_datagrams", an_answer_corrects_the_order_of_datagrams},
	{"a_request_in_shared_memory_comes_with_a_wakeup", a_request_in_shared_memory_comes_with_a_wakeup},
	{"a_busy_server_finds_requests_that_woke_nobody", a_busy_server_finds_requests_that_woke_nobody},
	{"who_passes_on_a_lock_is_no_server", who_passes_on_a_lock_is_no_server},
	{"what_is_announced_and_never_answered_is_forgotten", what_is_announced_and_never_answered_is_forgotten},
	{"an_eventfd_announces_requests_too", an_eventfd_announces_requests_too},
	{"the_pieces_of_a_wait_tell_what_the_server_did", the_pieces_of_a_wait_tell_what_the_server_did},
	{"what_the_server_waited_for_is_named", what_the_server_waited_for_is_named},
	{"a_connection_made_for_a_request_carries_it", a_connection_made_for_a_request_carries_it},
	{"closed_connections_are_forgotten", closed_connections_are_forgotten},
	{"a_named_request_is_worked_on_alone", a_named_request_is_worked_on_alone},
	{"a_named_request_is_not_believed_across_a_loss", a_named_request_is_not_believed_across_a_loss},
	{"a_named_request_goes_from_thread_to_thread_through_memory", a_named_request_goes_from_thread_to_thread_through_memory},
	{"it_has_to_be_made_before_the_pass", it_has_to_be_made_before_the_pass},
	{"bills_add_up_whatever_happens", bills_add_up_whatever_happens},
	{"bills_are_the_same_whenever_damage_is_found", bills_are_the_same_whenever_damage_is_found},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("servers", cases, argc, argv);
}
