/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_groups.c - the sums of processes by origin and control group, and single threads. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include "group_name.h"
#include "report_case.h"
#include "visualizer.h"

#define US 1000ull

static void start(struct tb *tb, uint32_t tid, uint32_t ppid, uint64_t cgroup, const char *comm)
{
	struct trace_start_thread thread = {.tid = tid,
					    .tgid = tid,
					    .ns_tid = tid,
					    .ns_tgid = tid,
					    .ppid = ppid,
					    .nr = -1,
					    .prio = 120,
					    .running = tid == 10,
					    .cgroup = cgroup};

	tb_start(tb, 0, TRACE_EV_start_thread, &thread, sizeof(thread), comm);
}

static void start_group(struct tb *tb, uint64_t cgroup, const char *path)
{
	struct trace_start_cgroup group = {.cgroup = cgroup};

	tb_start(tb, 0, TRACE_EV_start_cgroup, &group, sizeof(group), path);
}

/*
 * Thread 10 has CPU 0 until 10 us. Three "sh" of hog.sh (800), two "cc1plus" whose parents are
 * different children of make (500), and "alone" then have it for 10 us each, until 70 us.
 */
static struct tb *six_takers(void)
{
	static const uint32_t turns[] = {10, 801, 802, 803, 901, 902, 20, 10};
	struct tb *tb = tb_new();

	tb_window(tb, 0, 80 * US);
	start_group(tb, 1, "/system.slice/shop.service");
	start_group(tb, 2, "/batch.slice/batch.service");
	start(tb, 1, 0, 1, "init");
	start(tb, 10, 1, 1, "victim");
	start(tb, 800, 1, 2, "hog.sh");
	start(tb, 500, 1, 1, "make");
	start(tb, 501, 500, 1, "g++");
	start(tb, 502, 500, 1, "g++");
	start(tb, 801, 800, 2, "sh");
	start(tb, 802, 800, 2, "sh");
	start(tb, 803, 800, 2, "sh");
	start(tb, 901, 501, 1, "cc1plus");
	start(tb, 902, 502, 1, "cc1plus");
	start(tb, 20, 1, 1, "alone");
	for (size_t i = 1; i < sizeof(turns) / sizeof(turns[0]); i++)
		tb_switch(tb, 0, i * 10 * US, turns[i - 1], turns[i], TRACE_TASK_RUNNING);
	return tb;
}

static void takers_of_a_cpu_are_summed_by_name_and_origin(void)
{
	char *text = report_of(six_takers(), "-a --ns --pid=10");

	contains(text, "\t\tWaiting for a CPU that was taken by:\n"
		       "\t\t   time      %\n"
		       "\t\t  30000  42.86  3 sh started by hog.sh (800) in batch.service\n"
		       "\t\t  20000  28.57  2 cc1plus under make (500)\n"
		       "\t\t  10000  14.29  alone (20)\n");
	join_lines(text);
	contains(text, "for a CPU, taken mostly by 3 sh started by hog.sh (800)");
	free(text);
}

/* hog.sh ends after it started its shells, and init adopts them. */
static struct tb *ended_script(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 0, 80 * US);
	start(tb, 1, 0, 0, "init");
	start(tb, 10, 1, 0, "hog.sh");
	start(tb, 20, 1, 0, "victim");
	tb_fork(tb, 0, 1 * US, 10, 11, 11, "sh");
	tb_fork(tb, 0, 2 * US, 10, 12, 12, "sh");
	tb_add(tb, 0, 3 * US, sched_adopt, NULL, .parent = 10, .reaper = 1);
	tb_exit(tb, 0, 3 * US, 10, 10, true);
	tb_switch(tb, 0, 4 * US, 10, 20, TRACE_TASK_DEAD);
	tb_switch(tb, 0, 10 * US, 20, 11, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 20 * US, 11, 12, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 30 * US, 12, 20, TRACE_TASK_RUNNING);
	return tb;
}

static void a_sum_leads_to_a_script_that_has_ended(void)
{
	char *text = report_of(ended_script(), "-a --ns --section=takers");

	contains(text, "  2 sh started by hog.sh (10)\n");
	free(text);
}

/*
 * Java with three threads: "worker" (12) waits from 10 to 50 us for a futex that "cache" (13) has.
 */
static struct tb *pool(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 0, 80 * US);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 10, 10, 1, "java", 0, false);
	tb_thread(tb, 12, 10, 1, "worker", 0, true);
	tb_thread(tb, 13, 10, 1, "cache", 1, true);
	tb_sys_enter(tb, 0, 10 * US, SYS_futex, 0x7f00, 0, 2);
	tb_switch(tb, 0, 10 * US, 12, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 1, 49 * US, SYS_futex, 0x7f00, 1, 1);
	tb_waking(tb, 1, 50 * US, 12, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 1, 51 * US, 1);
	tb_switch(tb, 0, 52 * US, 0, 12, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 53 * US, 0);
	tb_switch(tb, 0, 70 * US, 12, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

static void a_wait_for_a_thread_of_the_process_names_it(void)
{
	char *text = report_of(pool(), "-a --ns --pid=10");

	contains(text, "  its thread cache (13) via futex\n");
	CU_ASSERT_PTR_NULL(strstr(text, "another of its threads via futex"));
	free(text);
}

/*
 * "worker" (12) of java (10) waits for the first of @names (13) for 40 us, for the second one (14)
 * for 20 us and for the third one for 10 us.
 */
static struct tb *pool_of(const char *const names[3])
{
	struct tb *tb = tb_new();
	uint64_t at = 10 * US;

	tb_window(tb, 0, 200 * US);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 10, 10, 1, "java", 0, false);
	tb_thread(tb, 12, 10, 1, "worker", 0, true);
	for (uint32_t i = 0; i < 3 && names[i]; i++)
		tb_thread(tb, 13 + i, 10, 1, names[i], 0, false);
	for (uint32_t i = 0; i < 3 && names[i]; i++) {
		uint64_t ns = 40 * US >> i;

		tb_sys_enter(tb, 0, at, SYS_futex, 0x7f00, 0, 2);
		tb_switch(tb, 0, at, 12, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(tb, 1, at + ns - 3000, 0, 13 + i, TRACE_TASK_RUNNING);
		tb_sys_enter(tb, 1, at + ns - 2000, SYS_futex, 0x7f00, 1, 1);
		tb_waking(tb, 1, at + ns, 12, TRACE_CONTEXT_TASK);
		tb_sys_exit(tb, 1, at + ns + 1000, 1);
		tb_switch(tb, 1, at + ns + 1500, 13 + i, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_switch(tb, 0, at + ns + 2000, 0, 12, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, at + ns + 3000, 0);
		at += ns + 4000;
	}
	return tb;
}

static void the_first_sentence_tells_which_threads_were_waited_for(void)
{
	static const struct {
		const char *names[3], *words;
	} pools[] = {
		{{"cache"}, " for its thread cache (13) via futex"},
		{{"cache", "gc"}, " for its threads cache (13) and gc (14) via futex"},
		{{"pool", "pool", "pool"}, " for 3 of its threads pool via futex"},
		{{"cache", "gc", "log"}, " for 3 of its threads, mostly cache (13) via futex"},
	};

	for (size_t i = 0; i < sizeof(pools) / sizeof(pools[0]); i++) {
		char *text = report_of(pool_of(pools[i].names), "-a --pid=10");

		join_lines(text);
		contains(text, pools[i].words);
		free(text);
	}
}

static json_t *json_of(struct tb *tb, const char *options)
{
	char *text = report_of(tb, options);
	json_t *root = json_loads(text, 0, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(root);
	free(text);
	return root;
}

/*
 * "victim" (11) of java (10) waits from 10 to 60 us for the CPU, which two threads "cruncher" have,
 * then "gc" (14), then another program.
 */
static struct tb *crunchers(void)
{
	static const uint32_t turns[] = {11, 12, 13, 14, 13, 20, 11};
	struct tb *tb = tb_new();

	tb_window(tb, 0, 80 * US);
	tb_thread(tb, 10, 10, 1, "java", 1, false);
	tb_thread(tb, 11, 10, 1, "victim", 0, true);
	tb_thread(tb, 12, 10, 1, "cruncher", 0, false);
	tb_thread(tb, 13, 10, 1, "cruncher", 0, false);
	tb_thread(tb, 14, 10, 1, "gc", 0, false);
	tb_thread(tb, 20, 20, 1, "other", 0, false);
	for (size_t i = 1; i < sizeof(turns) / sizeof(turns[0]); i++)
		tb_switch(tb, 0, i * 10 * US, turns[i - 1], turns[i],
			  turns[i - 1] == 11 ? TRACE_TASK_RUNNING : TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

static void own_threads_that_had_the_cpu_are_summed_by_name(void)
{
	char *text = report_of(crunchers(), "-a --ns --tid=11");

	contains(text, "  30000  42.86  2 of its threads cruncher\n"
		       "\t\t  10000  14.29  its thread gc (14)\n"
		       "\t\t  10000  14.29  other (20)\n");
	join_lines(text);
	contains(text, "for a CPU, taken mostly by 2 of its threads cruncher");
	free(text);
	text = report_of(crunchers(), "--tid=11");
	join_lines(text);
	contains(text, "java 10 thread victim 11 waited 71 % of its 70.00 us for a CPU, taken mostly by its threads "
		       "cruncher");
	contains(text, "a CPU, taken by its thread gc 14");
	CU_ASSERT_PTR_NULL(strstr(text, "processes"));
	free(text);
}

/* In the sums of the machine the threads of a process are one taker. */
static void own_threads_are_one_process_of_the_machine(void)
{
	json_t *root = json_of(crunchers(), "-a --json"), *takers = json_object_get(root, "cpu_takers"), *taker;
	size_t i, javas = 0;

	json_array_foreach(takers, i, taker) {
		if (strcmp(json_string_value(json_object_get(taker, "title")), "java") != 0)
			continue;
		javas++;
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(taker, "processes")), 1);
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(taker, "pid")), 10);
	}
	CU_ASSERT_EQUAL(javas, 1);
	json_decref(root);
}

static void a_thread_is_chosen_by_number_or_name(void)
{
	static const char *const options[] = {"-a --ns --tid=13", "-a --ns --comm=cache"};

	for (size_t i = 0; i < 2; i++) {
		char *text = report_of(pool(), options[i]);

		contains(text, "java (10), thread cache (13) waited ");
		contains(text, "\tProcess (10, 1): java, thread cache (13):\n");
		contains(text, "\t\t  70000  100.00         elapsed, of all threads\n");
		free(text);
	}
	free(refusal_of(pool(), "-a --tid=99"));
	free(refusal_of(pool(), "-a --pid=10 --comm=nothing"));
}

static uint64_t sum_of(const json_t *list, const char *key)
{
	uint64_t sum = 0;
	const json_t *at;
	size_t i;

	json_array_foreach(list, i, at)
		sum += (uint64_t)json_integer_value(json_object_get(at, key));
	return sum;
}

/* A group has the blocked time of its kinds, and all groups have the time of all processes. */
static void groups_add_up(const json_t *root)
{
	static const char *const keys[] = {"cpu_ns", "interrupted_ns", "wait_cpu_ns"};
	const json_t *groups = json_object_get(root, "groups"), *processes = json_object_get(root, "processes"), *at;
	uint64_t all = 0;
	size_t i;

	json_array_foreach(groups, i, at) {
		const char *kind;
		uint64_t kinds = 0;
		json_t *ns;

		json_object_foreach(json_object_get(at, "waits"), kind, ns)
			kinds += (uint64_t)json_integer_value(ns);
		CU_ASSERT_EQUAL(kinds, (uint64_t)json_integer_value(json_object_get(at, "blocked_ns")));
		all += kinds;
	}
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		CU_ASSERT_EQUAL(sum_of(groups, keys[i]), sum_of(processes, keys[i]));
		all += sum_of(groups, keys[i]);
	}
	CU_ASSERT_EQUAL(all, sum_of(processes, "elapsed_ns"));
}

static void the_figures_of_threads_add_up_to_those_of_the_process(void)
{
	static const char *const options[] = {"--json --pid=10", "--json --tid=10", "--json --tid=12",
					      "--json --tid=13"};
	uint64_t elapsed[4], waits[4];

	for (size_t i = 0; i < 4; i++) {
		json_t *root = json_of(pool(), options[i]);
		const json_t *process = json_array_get(json_object_get(root, "processes"), 0);

		elapsed[i] = (uint64_t)json_integer_value(json_object_get(process, "elapsed_ns"));
		waits[i] = sum_of(json_object_get(process, "waits"), "ns");
		CU_ASSERT_EQUAL(json_array_size(json_object_get(process, "threads")), i ? 1 : 3);
		json_decref(root);
	}
	CU_ASSERT_EQUAL(elapsed[0], elapsed[1] + elapsed[2] + elapsed[3]);
	CU_ASSERT_EQUAL(waits[0], waits[1] + waits[2] + waits[3]);
}

static void takers_add_up_to_the_waits_for_cpus(void)
{
	json_t *root = json_of(six_takers(), "--json"), *first;

	CU_ASSERT_EQUAL(sum_of(json_object_get(root, "cpu_takers"), "ns"),
			sum_of(json_object_get(root, "processes"), "wait_cpu_ns"));
	first = json_array_get(json_object_get(root, "cpu_takers"), 0);
	CU_ASSERT_PTR_NOT_NULL(first);
	groups_add_up(root);
	json_decref(root);
}

static const json_t *group_in(const json_t *root, const char *name)
{
	const json_t *at;
	size_t i;

	json_array_foreach(json_object_get(root, "groups"), i, at)
		if (strcmp(json_string_value(json_object_get(at, "name")), name) == 0)
			return at;
	return NULL;
}

static uint64_t figure(const json_t *group, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(group, key));
}

static void a_table_has_the_time_of_each_control_group(void)
{
	char *text = report_of(six_takers(), "-a --ns --section=groups");
	json_t *root = json_of(six_takers(), "--json");

	contains(text, "shop.service");
	contains(text, "batch.service");
	free(text);
	CU_ASSERT_EQUAL(figure(group_in(root, "batch.service"), "cpu_ns"), 30 * US);
	CU_ASSERT_EQUAL(figure(group_in(root, "batch.service"), "processes"), 4);
	CU_ASSERT_EQUAL(figure(group_in(root, "shop.service"), "cpu_ns"), 40 * US);
	json_decref(root);
}

/*
 * Thread 10 moves from the group /a to /b at 20 us. It computes until 10 us, sleeps until 30 us (in
 * both groups), computes until 40 us, and waits for a pipe until 50 us.
 */
static struct tb *moved(bool sleeps_in_a)
{
	struct tb *tb = tb_new();

	tb_window(tb, 0, 60 * US);
	start_group(tb, 1, "/a");
	start(tb, 10, 1, 1, "one");
	start(tb, 20, 1, 1, "two");
	tb_sys_enter(tb, 0, 10 * US, 35 /* nanosleep */, 0, 0);
	tb_switch(tb, 0, 10 * US, 10, 20, sleeps_in_a ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
	tb_add(tb, 0, 20 * US, cgroup_attach, "/b", .cgroup = 2, .tid = 10);
	if (sleeps_in_a)
		tb_waking(tb, 0, 30 * US, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 30 * US, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 30 * US, 0);
	tb_sys_enter(tb, 0, 40 * US, 34 /* pause */);
	tb_switch(tb, 0, 40 * US, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 50 * US, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 50 * US, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 50 * US, 0);
	return tb;
}

/* "victim" waits for the CPU that three processes of another group have. */
static struct tb *batch_in(const char *group)
{
	static const uint32_t turns[] = {10, 801, 802, 803, 801, 802, 803, 10};
	struct tb *tb = tb_new();

	tb_window(tb, 0, 80 * US);
	start_group(tb, 1, "/system.slice/shop.service");
	start_group(tb, 2, group);
	start(tb, 10, 1, 1, "victim");
	start(tb, 801, 1, 2, "sh");
	start(tb, 802, 1, 2, "sh");
	start(tb, 803, 1, 2, "sh");
	for (size_t i = 1; i < sizeof(turns) / sizeof(turns[0]); i++)
		tb_switch(tb, 0, i * 10 * US, turns[i - 1], turns[i], TRACE_TASK_RUNNING);
	return tb;
}

static void the_answer_names_a_group_that_had_the_cpus(void)
{
	char *text = report_of(batch_in("/batch.slice/batch.service"), "");

	join_lines(text);
	contains(text,
		 "Control group batch.service had 86 % of the CPU time, and threads of others waited 60.00 us for a "
		 "CPU; more: --section=groups");
	free(text);
	text = report_of(batch_in("/"), ""); /* what is in no group */
	CU_ASSERT_PTR_NULL(strstr(text, "Control group"));
	free(text);
	text = report_of(moved(true), "");
	CU_ASSERT_PTR_NULL(strstr(text, "Control group"));
	free(text);
}

static void a_moved_process_has_its_time_in_each_group(void)
{
	json_t *root = json_of(moved(true), "--json");
	const json_t *b = group_in(root, "/b");

	groups_add_up(root);
	CU_ASSERT_EQUAL(figure(b, "cpu_ns"), 20 * US);
	CU_ASSERT_EQUAL(figure(b, "blocked_ns"), 20 * US);
	CU_ASSERT_EQUAL(figure(json_object_get(b, "waits"), "not_told_apart"), 20 * US);
	CU_ASSERT_EQUAL(figure(json_object_get(group_in(root, "/a"), "waits"), "not_told_apart"), 10 * US);
	json_decref(root);
}

static void waits_in_one_group_only_keep_their_kinds(void)
{
	json_t *root = json_of(moved(false), "--json");
	const json_t *b = group_in(root, "/b");

	groups_add_up(root);
	CU_ASSERT_EQUAL(figure(b, "blocked_ns"), 10 * US);
	CU_ASSERT_EQUAL(figure(json_object_get(b, "waits"), "not_told_apart"), 0);
	json_decref(root);
}

static void groups_of_a_window_add_up(void)
{
	json_t *root = json_of(moved(true), "--json --from=0.000015 --to=0.000045");

	groups_add_up(root);
	json_decref(root);
}

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static void a_group_is_called_by_its_unit_or_container(void)
{
	static const char *const names[][2] = {
		{"", "(unknown)"},
		{"/", "/"},
		{"/system.slice/shop.service", "shop.service"},
		{"/system.slice/shop.service/worker/1", "shop.service/worker/1"},
		{"/user.slice/user-1000.slice/session-3.scope", "session-3.scope"},
		{"/user.slice/user-1000.slice", "user-1000.slice"},
		{"/user.slice/user-1000.slice/user@1000.service/app.slice/foo.service", "foo.service"},
		{"/system.slice/docker-" ID ".scope", "docker-0123456789ab"},
		{"/docker/" ID, "docker-0123456789ab"},
		{"/docker/" ID "/system.slice/cron.service", "docker-0123456789ab/cron.service"},
		{"/docker/" ID "/init", "docker-0123456789ab/init"},
		{"/kubepods.slice/kubepods-pod1234.slice/cri-containerd-" ID ".scope", "cri-containerd-0123456789ab"},
		{"/kubepods/besteffort/pod0123-45/" ID, "kubepods-0123456789ab"},
		{"/machine.slice/libpod-" ID ".scope", "libpod-0123456789ab"},
		{"/machine.slice/libpod-" ID ".scope/container", "libpod-0123456789ab/container"},
		{"/" ID, "container-0123456789ab"},
		{"/mine/batch", "/mine/batch"},
		{"/system.slice/a\tb.service", "a\\x09b.service"},
		{"/a" ID "/x", "/a" ID "/x"},
	};
	char name[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CU_ASSERT_STRING_EQUAL(group_name(names[i][0], name, sizeof(name)), names[i][1]);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(takers_of_a_cpu_are_summed_by_name_and_origin),
		CASE(a_sum_leads_to_a_script_that_has_ended),
		CASE(a_wait_for_a_thread_of_the_process_names_it),
		CASE(the_first_sentence_tells_which_threads_were_waited_for),
		CASE(own_threads_that_had_the_cpu_are_summed_by_name),
		CASE(own_threads_are_one_process_of_the_machine),
		CASE(a_thread_is_chosen_by_number_or_name),
		CASE(the_figures_of_threads_add_up_to_those_of_the_process),
		CASE(takers_add_up_to_the_waits_for_cpus),
		CASE(a_table_has_the_time_of_each_control_group),
		CASE(the_answer_names_a_group_that_had_the_cpus),
		CASE(a_moved_process_has_its_time_in_each_group),
		CASE(waits_in_one_group_only_keep_their_kinds),
		CASE(groups_of_a_window_add_up),
		CASE(a_group_is_called_by_its_unit_or_container),
		{NULL, NULL},
	};

	return report_main("report_groups", cases, argc, argv);
}
