/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_servers.c - servers and their clients in the report; and no report is wider than the
 * terminal */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "report_case.h"
#include "servers_case.h"
#include "unit.h"
#include "visualizer.h"

/*
 * A client sends a request and waits for the answer from 1250 to 3002. The server works from 1300
 * on, waits for a disk from 1500 to 2500, and for its CPU for 300 more. @mask NULL: everything was
 * recorded.
 */
static struct tb *server_story(const uint64_t *mask)
{
	struct trace_sock_send answer = {.ino = 101, .ret = 16, .family = AF_UNIX};
	struct case_of_servers k = begin();
	struct tb *tb = k.c.tb;

	if (mask)
		tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, TRACE_MASK_WORDS * sizeof(*mask), NULL);
	tb_fd(tb, 30, 8, 1, 300, S_IFREG, "/data");
	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1220);
	sends(&k, &one, 1230);
	tb_sys_enter(tb, 0, 1245, SYS_read, 3, 0, 16);
	tb_switch(tb, 0, 1250, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(&k, &one_server, 1300);
	tb_sys_enter(tb, 2, 1400, SYS_read, 8, 0, 16);
	tb_switch(tb, 2, 1500, 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(tb, 2, 2500, 30, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 2, 2800, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 2, 2810, 16);
	sends(&k, &one_server, 3000);
	tb_waking(tb, 2, 3002, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	tb_event(tb, 0, 3110, TRACE_EV_sock_recv, &answer, sizeof(answer), NULL);
	tb_sys_exit(tb, 0, 3200, 16);
	polls(&k, 2, 3500);
	finish(&k);
	return tb;
}

static void a_server_and_its_clients_are_shown(void)
{
	char *text = report_of(server_story(NULL), "-a --ns");

	contains(text, "Servers: CPU time by client (least: exact, proven; shared: not proven; the truth is between "
		       "least and most; receiving: softirq, not included):\n"
		       "\tserver (30): 6700 of CPU time, 6.1 % exact, 7.6 % shared, 86.3 % background\n"
		       "\t\tCPU time  least  most  shared  requests  receiving  for client\n"
		       "\t\t     920    410   920     510         1          0  client (10)\n");
	contains(text, "Waits for servers, and what the server did meanwhile:\n"
		       "\tclient (10) waited 1752 for server (30), 1 time:\n"
		       "\t\t   402  the server worked for this client\n"
		       "\t\t    50  the server worked for others, or for itself\n"
		       "\t\t  1000  the server waited for file /data\n"
		       "\t\t   300  the server's CPU was idle and woke up\n");
	free(text);
}

static void the_json_has_servers_and_their_work_for_waiting_clients(void)
{
	char *text = report_of(server_story(NULL), "--json");

	json_has(text, "servers",
		 "[{'pid': 30, 'comm': 'server', 'cpu_ns': 6700, 'exact_ns': 410, 'shared_ns': 510, 'background_ns': "
		 "5780, 'softirq_ns': 0,"
		 "  'clients': [{'pid': 10, 'comm': 'client', 'address': '', 'cpu_ns': 920, 'exact_ns': 410, "
		 "'shared_ns': 510, 'least_ns': 410, 'most_ns': 920,"
		 "               'requests': 1, 'softirq_ns': 0, 'interrupted_ns': 0}]}]");
	json_has(
		text, "server_waits",
		"[{'client_pid': 10, 'client_comm': 'client', 'server_pid': 30, 'server_comm': 'server', 'count': 1,"
		"  'wait_ns': 1752, 'for_client_ns': 402, 'for_others_ns': 50, 'server_waited_ns': 1000,"
		"  'server_wait_cpu_ns': 300, 'rest_ns': 0,"
		"  'server_waits': [{'kind': 'file', 'target': '/data', 'pid': 0, 'comm': '', 'via': '', 'idle': false,"
		"                    'ns': 1000, 'count': 1, 'path': '', 'tid': 0, 'thread': '', 'device': ''}],"
		"  'server_wait_cpu_for': [{'pid': 0, 'comm': 'idle', 'tid': 0, 'thread': '', 'ns': 300}]}]");
	free(text);
}

/* Receiving for 0 ns is not the same as an unknown time. */
static void receiving_is_not_shown_without_softirqs(void)
{
	uint64_t mask[TRACE_MASK_WORDS];
	char *text;

	memset(mask, 0xff, sizeof(mask));
	mask[TRACE_EV_softirq_entry / 64] &= ~(1ull << TRACE_EV_softirq_entry % 64);
	text = report_of(server_story(mask), "-a --ns");
	contains(text, "Servers: CPU time by client (least: exact, proven; shared: not proven; the truth is between "
		       "least and most):\n"
		       "\tserver (30): 6700 of CPU time, 6.1 % exact, 7.6 % shared, 86.3 % background\n"
		       "\t\tCPU time  least  most  shared  requests  for client\n");
	free(text);
}

static void is_not_wider(const char *options, const char *path, int columns)
{
	char number[16], arguments[512], *text;

	snprintf(number, sizeof(number), "%d", columns);
	snprintf(arguments, sizeof(arguments), "%s %s", options, path);
	setenv("COLUMNS", number, 1);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	unsetenv("COLUMNS");
	CU_ASSERT(widest_line(text) <= (size_t)columns);
	if (widest_line(text) > (size_t)columns)
		printf("\n--- %s, %d columns:\n%s\n", options, columns, text);
	free(text);
}

static void no_report_is_wider_than_the_terminal(void)
{
	static const char *const outputs[] = {"-a",
					      "-a --all --ns",
					      "-a --pid=10",
					      "-s",
					      "--verify",
					      "--critical-path=10",
					      "--critical-path=10 --all"};
	char server_path[] = "/tmp/test_report_servers_XXXXXX", disk_path[] = "/tmp/test_report_servers_XXXXXX",
	     diff[256];
	const char *paths[] = {trace_path, story_path, server_path, disk_path};
	struct tb *stories[] = {server_story(NULL), disk_story()};

	for (size_t i = 0; i < 2; i++) {
		int fd = mkstemp(i ? disk_path : server_path);

		tb_write(stories[i], fd, true);
		close(fd);
		tb_free(stories[i]);
	}
	for (int columns = 40; columns <= 100; columns += 10 * unit_step(3))
		for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
			for (size_t j = 0; j < sizeof(outputs) / sizeof(outputs[0]); j++)
				is_not_wider(outputs[j], paths[i], columns);
			snprintf(diff, sizeof(diff), "--diff --all %s", story_path);
			is_not_wider(diff, paths[i], columns);
		}
	unlink(server_path);
	unlink(disk_path);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_server_and_its_clients_are_shown),
		CASE(the_json_has_servers_and_their_work_for_waiting_clients),
		CASE(receiving_is_not_shown_without_softirqs),
		CASE(no_report_is_wider_than_the_terminal),
		{NULL, NULL},
	};

	return report_main("report_servers", cases, argc, argv);
}
