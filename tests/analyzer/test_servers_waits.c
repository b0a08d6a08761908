/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_servers_waits.c - the client's side: what a server did while its client waited for it. */
#include "servers_case.h"
#include "unit.h"

/* Sends an answer to the client on its first connection. The client is woken by it 2 ns later, and
 * reads it 100 ns after that. */
static void answers(struct case_of_servers *k, uint64_t ns)
{
	struct trace_sock_send event = {.ino = 201, .ret = 16, .family = AF_UNIX};

	tb_sys_enter(k->c.tb, 2, ns, SYS_write, 4, 0, 16);
	tb_waking(k->c.tb, 2, ns + 2, 10, TRACE_CONTEXT_TASK);
	tb_event(k->c.tb, 2, ns + 5, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, 2, ns + 10, 16);
	tb_switch(k->c.tb, 0, ns + 100, 0, 10, TRACE_TASK_RUNNING);
	event.ino = 101;
	tb_event(k->c.tb, 0, ns + 110, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, 0, ns + 120, 16);
}

static void the_parts_of_a_wait_show_what_the_server_did(void)
{
	struct case_of_servers k = begin();
	const struct trace_server_wait *wait;

	connects(&k, &two, &two_server, 1200);
	connects(&k, &one, &one_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &two, 1260);
	receives(&k, &two_server, 1300); /* works for 20 */
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
	answers(&k, 4000);
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

/* The server has read a request of each client, at 1300 and 1400. It answers the first at 2000.
 * Both wait. */
static struct case_of_servers answers_second_at(uint64_t second_ns)
{
	static const struct end *const ends[] = {&one_server, &two_server};
	struct case_of_servers k = begin();

	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	for (uint32_t i = 0; i < 2; i++) {
		sends(&k, i ? &two : &one, 1260);
		tb_sys_enter(k.c.tb, i, 1280, SYS_read, 3, 0, 16);
		tb_switch(k.c.tb, i, 1290, processes[i], 0, TRACE_TASK_INTERRUPTIBLE);
	}
	receives(&k, &one_server, 1300);
	receives(&k, &two_server, 1400);
	for (uint32_t i = 0; i < 2; i++) {
		struct trace_sock_send event = {.ino = ends[i]->ino, .ret = 16, .family = AF_UNIX};
		uint64_t ns = i ? second_ns : 2000;

		tb_sys_enter(k.c.tb, 2, ns, SYS_write, (uint64_t)ends[i]->fd, 0, 16);
		tb_waking(k.c.tb, 2, ns + 2, processes[i], TRACE_CONTEXT_TASK);
		tb_event(k.c.tb, 2, ns + 5, TRACE_EV_sock_send, &event, sizeof(event), NULL);
		tb_sys_exit(k.c.tb, 2, ns + 10, 16);
		event.ino = ends[i]->peer; /* the first client reads its answer before the second one is sent */
		tb_switch(k.c.tb, i, ns + 11, 0, processes[i], TRACE_TASK_RUNNING);
		tb_event(k.c.tb, i, ns + 12, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
		tb_sys_exit(k.c.tb, i, ns + 13, 16);
	}
	polls(&k, 2, 3000);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 2);
	return k;
}

/* @own_ns, @others_ns: up to 30 ns less, of calls. */
static void waited(const struct case_of_servers *k, uint32_t pid, uint64_t wait_ns, uint64_t own_ns, uint64_t others_ns)
{
	const struct trace_server_wait *wait = trace_get_server_wait(k->servers, 0);

	if (trace_process_pid(wait->client) != pid)
		wait = trace_get_server_wait(k->servers, 1);
	CU_ASSERT_EQUAL(trace_process_pid(wait->client), pid);
	CU_ASSERT_EQUAL(wait->wait_ns, wait_ns);
	CU_ASSERT(wait->for_client_ns <= own_ns && wait->for_client_ns + 30 >= own_ns);
	CU_ASSERT(wait->for_others_ns <= others_ns && wait->for_others_ns + 30 >= others_ns);
}

/* The second answer comes at once. The first client has read its own before that. */
static void clients_of_a_burst_wait_for_each_other(void)
{
	struct case_of_servers k = answers_second_at(2015);

	waited(&k, 10, 2002 - 1290, 100 + 310, 10 + 310);
	waited(&k, 20, 2017 - 1290, 330, 110 + 310);
	end(&k);
}

static void clients_that_are_answered_in_turn_wait_for_those_before(void)
{
	struct case_of_servers k = answers_second_at(2500);

	waited(&k, 10, 2002 - 1290, 100 + 600, 20);
	waited(&k, 20, 2502 - 1290, 510, 110 + 610);
	end(&k);
}

static void the_wait_cause_of_the_server_is_named(void)
{
	struct case_of_servers k = begin();
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
	answers(&k, 2500);
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

/* The wakeup came before the switch: the server was leaving its CPU, which 20 has from then on. */
static void a_server_that_was_woken_before_it_had_left_waited_for_its_cpu(void)
{
	struct case_of_servers k = begin();
	const struct trace_server_wait *wait;

	connects(&k, &one, &one_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1350);
	tb_sys_enter(k.c.tb, 0, 1370, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 0, 1400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(&k, &one_server, 1500);
	tb_sys_enter(k.c.tb, 2, 1600, SYS_nanosleep, 0, 0);
	tb_waking(k.c.tb, 3, 1690, 30, TRACE_CONTEXT_HARDIRQ);
	tb_switch(k.c.tb, 2, 1700, 30, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 2000, 20, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(k.c.tb, 2, 2010, 0);
	answers(&k, 2500);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	wait = trace_get_server_wait(k.servers, 0);
	CU_ASSERT_EQUAL(wait->server_waited_ns, 0);
	CU_ASSERT_EQUAL(wait->nr_waits, 0);
	CU_ASSERT_EQUAL(wait->server_wait_cpu_ns, 300);
	CU_ASSERT_EQUAL(wait->for_client_ns + wait->for_others_ns, 2502 - 1400 - 300);
	CU_ASSERT_EQUAL_FATAL(wait->nr_wait_cpu_for, 1);
	CU_ASSERT_EQUAL(wait->wait_cpu_for[0].pid, 20);
	end(&k);
}

/*
 * The polling client is woken by another thread when the answer has been there for a while. By then
 * the server is in a page fault with a cause that is not known yet. With @in_call it is in a call
 * without a recorded entry, and its migration to the other CPU was not recorded either.
 */
static const struct trace_server_wait *waits_still(struct case_of_servers *k, bool in_call)
{
	struct trace_sock_send event = {.ino = 101, .ret = 16, .family = AF_UNIX};

	connects(k, &one, &one_server, 1220);
	polls(k, 2, 1240);
	sends(k, &one, 1350);
	tb_sys_enter(k->c.tb, 0, 1370, SYS_poll, 0, 1, 1000);
	tb_switch(k->c.tb, 0, 1400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(k, &one_server, 1500);
	sends(k, &one_server, 1600);
	if (in_call) {
		tb_switch(k->c.tb, 2, 1690, 30, 0, TRACE_TASK_RUNNING);
		tb_switch(k->c.tb, 3, 1690, 40, 0, TRACE_TASK_RUNNING);
		tb_switch(k->c.tb, 3, 1700, 30, 0, TRACE_TASK_RUNNING);
		tb_switch(k->c.tb, 3, 1710, 0, 30, TRACE_TASK_RUNNING);
	} else {
		tb_fault(k->c.tb, 2, 1700, 0x7000, true);
	}
	tb_switch(k->c.tb, in_call ? 3 : 2, 1800, 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(k->c.tb, 3, 2000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(k->c.tb, 0, 2010, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(k->c.tb, 0, 2020, 1);
	tb_sys_enter(k->c.tb, 0, 2030, SYS_read, 3, 0, 16);
	tb_event(k->c.tb, 0, 2040, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k->c.tb, 0, 2050, 16);
	tb_waking(k->c.tb, 2, 3000, 30, TRACE_CONTEXT_HARDIRQ);
	tb_switch(k->c.tb, 2, 3010, 0, 30, TRACE_TASK_RUNNING);
	run(k);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k->servers), 1);
	return trace_get_server_wait(k->servers, 0);
}

static void a_servers_wait_outside_a_call_has_no_known_cause_yet(void)
{
	for (int in_call = 0; in_call < 2; in_call++) {
		struct case_of_servers k = begin();
		const struct trace_server_wait *wait = waits_still(&k, in_call);

		CU_ASSERT_EQUAL(wait->wait_ns, 2000 - 1400);
		CU_ASSERT_EQUAL(wait->server_waited_ns, 2000 - 1800);
		CU_ASSERT_EQUAL_FATAL(wait->nr_waits, 1);
		CU_ASSERT_EQUAL(wait->waits[0].kind, TRACE_WAIT_UNKNOWN);
		CU_ASSERT_STRING_EQUAL(wait->waits[0].target, "");
		end(&k);
	}
}

/* Events of a program are missing. From then on its thread, which waits for the disk, works on no
 * known request. The cause of its wait stays the same. */
static void a_server_s_wait_is_one_although_its_requests_change(void)
{
	static const struct trace_sock_send sent = {.ino = 201, .ret = 16, .family = AF_UNIX},
					    got = {.ino = 101, .ret = 16, .family = AF_UNIX};
	static const struct trace_field fields[] = {{.name = "tid", .offset = 0, .bytes = 4, .kind = TRACE_KIND_TID},
						    {.name = "id", .offset = 8, .bytes = 8, .kind = TRACE_KIND_DEC}};
	struct trace_event_type type = {.name = "shop:order.begin",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.fields = fields,
					.nr_fields = 2,
					.fixed_bytes = 16,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					.role = TRACE_ROLE_REQUEST_BEGIN,
					.source = ""};
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + 2, .pid = 30, .cpu = 2},
				 other = {.stream = TB_USER_STREAM + 3, .pid = 30, .cpu = 3};
	uint64_t seventh[] = {30, 7}, of_another[] = {40, 8};
	struct case_of_servers k = begin();
	const struct trace_server_wait *wait;
	uint16_t take = tb_user_type(k.c.tb, &type);

	tb_event(k.c.tb, 2, 1010, TRACE_EV_user_stream, &stream, sizeof(stream), "server");
	tb_event(k.c.tb, 3, 1010, TRACE_EV_user_stream, &other, sizeof(other), "server");
	tb_fd(k.c.tb, 30, 9, 8, 900, S_IFREG | 0600, "/data");
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	tb_sys_enter(k.c.tb, 0, 1270, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 0, 1280, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(&k, &one_server, 1400);
	tb_user_event(k.c.tb, 2, 1700, take, seventh, sizeof(seventh));
	tb_sys_enter(k.c.tb, 2, 1710, SYS_read, 9, 0, 16);
	tb_switch(k.c.tb, 2, 1720, 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_user_event(k.c.tb, 3, 1750, take, of_another, sizeof(of_another));
	tb_user_lost(k.c.tb, 3, 2);
	polls(&k, 1, 1800);
	tb_waking(k.c.tb, 2, 2000, 30, TRACE_CONTEXT_HARDIRQ);
	tb_switch(k.c.tb, 2, 2010, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 2, 2020, 16);
	tb_user_event(k.c.tb, 3, 2900, take, of_another, sizeof(of_another));
	tb_sys_enter(k.c.tb, 2, 3000, SYS_write, 4, 0, 16);
	tb_waking(k.c.tb, 2, 3002, 10, TRACE_CONTEXT_TASK);
	tb_event(k.c.tb, 2, 3005, TRACE_EV_sock_send, &sent, sizeof(sent), NULL);
	tb_sys_exit(k.c.tb, 2, 3010, 16);
	tb_switch(k.c.tb, 0, 3020, 0, 10, TRACE_TASK_RUNNING);
	tb_event(k.c.tb, 0, 3030, TRACE_EV_sock_recv, &got, sizeof(got), NULL);
	tb_sys_exit(k.c.tb, 0, 3040, 16);
	polls(&k, 2, 3500);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	wait = trace_get_server_wait(k.servers, 0);
	CU_ASSERT_EQUAL_FATAL(wait->nr_waits, 1);
	CU_ASSERT_STRING_EQUAL(wait->waits[0].target, "/data");
	CU_ASSERT_EQUAL(wait->waits[0].ns, 2000 - 1720);
	end(&k);
}

/* The thread that answers is created for the request. Until it exists the client waits for its
 * creator, and then for a CPU. */
static void a_thread_created_for_the_request_waits_for_its_creator_first(void)
{
	struct case_of_servers k = begin();
	struct trace_sched_wakeup_new wakeup = {.tid = 31, .target_cpu = 2};
	const struct trace_server_wait *wait;

	connects(&k, &one, &one_server, 1220);
	tb_sys_enter(k.c.tb, 2, 1300, SYS_poll, 0, 1, 1000);
	tb_switch(k.c.tb, 2, 1310, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	sends(&k, &one, 1350);
	tb_waking(k.c.tb, 0, 1365, 30, TRACE_CONTEXT_TASK);
	tb_sys_enter(k.c.tb, 0, 1370, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 0, 1400, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(k.c.tb, 2, 1600, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(k.c.tb, 2, 1610, 1);
	tb_sys_enter(k.c.tb, 2, 1650, SYS_clone3, 0, 0, 0);
	tb_fork(k.c.tb, 2, 1700, 30, 31, 30, "server");
	tb_event(k.c.tb, 2, 1710, TRACE_EV_sched_wakeup_new, &wakeup, sizeof(wakeup), NULL);
	tb_sys_exit(k.c.tb, 2, 1720, 31);
	tb_sys_enter(k.c.tb, 2, 1750, SYS_poll, 0, 1, 1000);
	tb_switch(k.c.tb, 2, 1800, 30, 31, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(k.c.tb, 2, 1810, 0);
	receives(&k, &one_server, 1850);
	answers(&k, 2500);
	run(&k);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	wait = trace_get_server_wait(k.servers, 0);
	CU_ASSERT_EQUAL(wait->wait_ns, 2502 - 1400);
	CU_ASSERT_EQUAL(wait->server_wait_cpu_ns, (1600 - 1400) + (1800 - 1710));
	CU_ASSERT_EQUAL(wait->for_client_ns + wait->for_others_ns, (1710 - 1600) + (2502 - 1800));
	CU_ASSERT_EQUAL(wait->server_waited_ns, 0);
	CU_ASSERT_EQUAL(wait->rest_ns, 0);
	end(&k);
}

/* A server creates a child for its client's request, passes it the job through a socket pair, and
 * waits. */
static void a_child_created_for_a_request_works_for_its_creator(void)
{
	static const struct end child = {.cpu = 4, .fd = 7, .ino = 301, .peer = 302},
				child_s = {.cpu = 2, .fd = 7, .ino = 301, .peer = 302},
				parent = {.cpu = 2, .fd = 8, .ino = 302, .peer = 301};
	struct trace_sock_send event = {.ino = 301, .ret = 16, .family = AF_UNIX};
	struct trace_sched_wakeup_new wakeup = {.tid = 50, .target_cpu = 4};
	struct case_of_servers k = begin();
	const struct trace_server_wait *wait = NULL;

	connects(&k, &one, &one_server, 1050);
	make(&k, &child_s, 1100, SYS_socketpair, 302);
	make(&k, &parent, 1120, SYS_socketpair, 301);
	sends(&k, &one, 1200);
	receives(&k, &one_server, 1300);
	tb_sys_enter(k.c.tb, 2, 1395, SYS_clone, 0, 0, 0, 0, 0);
	tb_fork(k.c.tb, 2, 1400, 30, 50, 50, "child");
	tb_event(k.c.tb, 2, 1402, TRACE_EV_sched_wakeup_new, &wakeup, sizeof(wakeup), NULL);
	tb_sys_exit(k.c.tb, 2, 1405, 50);
	tb_switch(k.c.tb, 4, 1410, 0, 50, TRACE_TASK_RUNNING);
	sends(&k, &parent, 1420);
	tb_sys_enter(k.c.tb, 2, 1450, SYS_read, 8, 0, 16);
	tb_switch(k.c.tb, 2, 1460, 30, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(&k, &child, 1500);
	tb_sys_enter(k.c.tb, 4, 2500, SYS_write, 7, 0, 16);
	tb_waking(k.c.tb, 4, 2502, 30, TRACE_CONTEXT_TASK);
	tb_event(k.c.tb, 4, 2505, TRACE_EV_sock_send, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 4, 2510, 16);
	tb_switch(k.c.tb, 2, 2600, 0, 30, TRACE_TASK_RUNNING);
	event.ino = 302;
	tb_event(k.c.tb, 2, 2610, TRACE_EV_sock_recv, &event, sizeof(event), NULL);
	tb_sys_exit(k.c.tb, 2, 2620, 16);
	sends(&k, &one_server, 2700);
	tb_switch(k.c.tb, 4, 8000, 50, 0, TRACE_TASK_INTERRUPTIBLE);
	run(&k);
	for (size_t i = 0; i < trace_nr_server_waits(k.servers); i++)
		if (trace_process_pid(trace_get_server_wait(k.servers, i)->client) == 30)
			wait = trace_get_server_wait(k.servers, i);
	CU_ASSERT_PTR_NOT_NULL_FATAL(wait);
	CU_ASSERT_EQUAL(trace_process_pid(wait->server), 50);
	CU_ASSERT_EQUAL(wait->for_client_ns, 2502 - 1460);
	CU_ASSERT_EQUAL(wait->for_others_ns, 0);
	end(&k);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_parts_of_a_wait_show_what_the_server_did),
		CASE(clients_of_a_burst_wait_for_each_other),
		CASE(clients_that_are_answered_in_turn_wait_for_those_before),
		CASE(the_wait_cause_of_the_server_is_named),
		CASE(a_server_that_was_woken_before_it_had_left_waited_for_its_cpu),
		CASE(a_servers_wait_outside_a_call_has_no_known_cause_yet),
		CASE(a_server_s_wait_is_one_although_its_requests_change),
		CASE(a_thread_created_for_the_request_waits_for_its_creator_first),
		CASE(a_child_created_for_a_request_works_for_its_creator),
		{NULL, NULL},
	};

	return unit_main("servers_waits", cases, argc, argv);
}
