/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_servers_named.c - requests that the server names itself with events of its own: which thread
 * works on which.
 */
#include "image.h"
#include "servers_case.h"
#include "unit.h"

static uint16_t naming_type(struct case_of_servers *k, const char *name, enum trace_event_role role)
{
	static const struct trace_field fields[] = {{.name = "tid", .offset = 0, .bytes = 4, .kind = TRACE_KIND_TID},
						    {.name = "id", .offset = 8, .bytes = 8, .kind = TRACE_KIND_DEC}};
	struct trace_event_type type = {.name = name,
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.fields = fields,
					.nr_fields = 2,
					.fixed_bytes = 16,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					.role = role,
					.source = ""};

	return tb_user_type(k->c.tb, &type);
}

static void name_request(struct case_of_servers *k, uint32_t cpu, uint64_t ns, uint16_t event, uint32_t tid,
			 uint64_t id)
{
	struct {
		uint32_t tid, pad;
		uint64_t id;
	} payload = {.tid = tid, .id = id};

	tb_user_event(k->c.tb, cpu, ns, event, &payload, sizeof(payload));
}

/* The events of @cpu are of process 30. */
static void announce(struct case_of_servers *k, uint32_t cpu, uint64_t ns)
{
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + cpu, .pid = 30, .cpu = cpu};

	tb_event(k->c.tb, cpu, ns, TRACE_EV_user_stream, &stream, sizeof(stream), "server");
}

static void a_named_request_is_worked_on_alone(void)
{
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);

	announce(&k, 2, 1010);
	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	receives(&k, &two_server, 1500);
	name_request(&k, 2, 1700, take, 30, 7); /* the request that arrived last */
	name_request(&k, 2, 2100, done, 30, 7);
	name_request(&k, 2, 2200, take, 30, 8);
	name_request(&k, 2, 2900, done, 30, 8);
	polls(&k, 2, 3000);
	run(&k);
	/* in between it was the only open one */
	BILL(&k, 30, 10, 20 + 100 + (2900 - 2100) + (1700 - 1510) / 2);
	BILL(&k, 30, 20, 20 + (2100 - 1700) + (1510 - 1500) + (1700 - 1510) / 2);
	EXACT(&k, 30, 10, 2900 - 2200);
	EXACT(&k, 30, 20, 2100 - 1700);
	end(&k);
}

/* The end of request 7 and the begin of another are lost. That the trace has a begin before and an
 * end after them says nothing about the time between. */
static void a_named_request_does_not_extend_across_a_loss(void)
{
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);
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
	BILL(&k, 30, 10, 20 + 100 + (1700 - 1510) / 2);
	BILL(&k, 30, 20, 20 + (4000 - 3200) + (1510 - 1500) + (1700 - 1510) / 2);
	end(&k);
}

/* The chunk with a buffer's first events is damaged, and the process that owns the buffer is named
 * only later. */
static void nor_across_damage_in_a_stream_that_is_named_later(void)
{
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + 2, .pid = 30, .cpu = 2},
				 other = {.stream = TB_USER_STREAM + 3, .pid = 30, .cpu = 3};
	struct trace_chunk_header header = {0};
	struct image image;
	long at = 0;

	tb_event(k.c.tb, 2, 1010, TRACE_EV_user_stream, &stream, sizeof(stream), "server");
	connects(&k, &one, &one_server, 1200);
	connects(&k, &two, &two_server, 1220);
	polls(&k, 2, 1240);
	sends(&k, &one, 1300);
	sends(&k, &two, 1300);
	receives(&k, &one_server, 1400);
	receives(&k, &two_server, 1500);
	name_request(&k, 3, 1600, done, 30, 1);
	tb_event(k.c.tb, 3, 1650, TRACE_EV_user_stream, &other, sizeof(other), "server");
	name_request(&k, 2, 1700, take, 30, 7);
	name_request(&k, 3, 2800, done, 30, 1);
	name_request(&k, 2, 2900, done, 30, 7);
	polls(&k, 2, 3000);
	finish(&k);
	image = image_new(k.c.tb, true);
	for (size_t i = 0; at >= 0 && !(header.kind == TRACE_CHUNK_EVENTS && header.first_ns == 1600); i++)
		at = image_chunk(&image, i, &header);
	CU_ASSERT_FATAL(at >= 0);
	image.data[(size_t)at + header.header_bytes] ^= 1;
	run_of(&k, trace_open(image.path, NULL));
	BILL(&k, 30, 10, 20 + 100 + (3000 - 1510) / 2);
	BILL(&k, 30, 20, 20 + (1510 - 1500) + (3000 - 1510) / 2);
	end(&k);
	image_free(&image);
}

/* Between the request's last known event at 1700 and the loss at 1800 the bill counts as
 * background. Then the answer names the client. */
static void a_clients_wait_agrees_with_the_bill(void)
{
	static const struct trace_sock_send sent = {.ino = 201, .ret = 16, .family = AF_UNIX},
					    got = {.ino = 101, .ret = 16, .family = AF_UNIX};
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + 2, .pid = 30, .cpu = 2};

	tb_event(k.c.tb, 2, 1010, TRACE_EV_user_stream, &stream, sizeof(stream), "server");
	connects(&k, &one, &one_server, 1200);
	sends(&k, &one, 1250);
	tb_sys_enter(k.c.tb, 0, 1270, SYS_read, 3, 0, 16);
	tb_switch(k.c.tb, 0, 1280, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(&k, &one_server, 1400);
	name_request(&k, 2, 1700, take, 30, 7);
	tb_user_lost(k.c.tb, 2, 2);
	polls(&k, 1, 1800);
	name_request(&k, 2, 2900, done, 30, 8);
	tb_sys_enter(k.c.tb, 2, 3000, SYS_write, 4, 0, 16);
	tb_waking(k.c.tb, 2, 3002, 10, TRACE_CONTEXT_TASK);
	tb_event(k.c.tb, 2, 3005, TRACE_EV_sock_send, &sent, sizeof(sent), NULL);
	tb_sys_exit(k.c.tb, 2, 3010, 16);
	tb_switch(k.c.tb, 0, 3020, 0, 10, TRACE_TASK_RUNNING);
	tb_event(k.c.tb, 0, 3030, TRACE_EV_sock_recv, &got, sizeof(got), NULL);
	tb_sys_exit(k.c.tb, 0, 3040, 16);
	polls(&k, 2, 3500);
	run(&k);
	BILL(&k, 30, 10, 1700 - 1200 + 3500 - 1800);
	CU_ASSERT_EQUAL_FATAL(trace_nr_server_waits(k.servers), 1);
	CU_ASSERT_EQUAL(trace_get_server_wait(k.servers, 0)->wait_ns, 3002 - 1280);
	CU_ASSERT_EQUAL(trace_get_server_wait(k.servers, 0)->for_others_ns, 1800 - 1700);
	end(&k);
}

static void a_named_request_goes_from_thread_to_thread_through_memory(void)
{
	struct case_of_servers k = begin();
	uint16_t take = naming_type(&k, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN),
		 done = naming_type(&k, "shop:order.end", TRACE_ROLE_REQUEST_END);
	uint16_t pass = naming_type(&k, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF);

	tb_thread(k.c.tb, 31, 30, 1, "server", 3, false);
	announce(&k, 2, 1010);
	announce(&k, 3, 1010);
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
	BILL(&k, 30, 10, 2000 - 1200 + 3500 - 3000);
	CU_ASSERT_EQUAL(server_of(&k, 30)->cpu_ns, 8000 + 6900);
	end(&k);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_named_request_is_worked_on_alone),
		CASE(a_named_request_does_not_extend_across_a_loss),
		CASE(nor_across_damage_in_a_stream_that_is_named_later),
		CASE(a_clients_wait_agrees_with_the_bill),
		CASE(a_named_request_goes_from_thread_to_thread_through_memory),
		{NULL, NULL},
	};

	return unit_main("named requests", cases, argc, argv);
}
