/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report_slowest.c - --slowest: the longest instances of a scope, a system call or a command
 *
 * Traces with known instances; and random ones, where the instances of each call add up to the row
 * of that call in the books of all processes, which count in another way.
 */
#include <jansson.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "random_story.h"
#include "report_case.h"
#include "user_events_case.h"
#include "visualizer.h"

#define MS 1000000u

/*
 * From 1 ms to 100 ms. Process 10 "one" is in a read when the recording begins, until 2 ms, and
 * reads for 1, 2 and 30 ms; "two" (20) is in a read from 60 ms on, which does not end.
 */
static struct tb *reads(void)
{
	static const uint32_t begin[] = {10, 20, 30}, end[] = {11, 22, 60};
	struct tb *tb = tb_new();

	tb_window(tb, 1 * MS, 100 * MS);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread_in(tb, 10, 10, 1, "one", 0, false, SYS_read);
	tb_thread(tb, 20, 20, 1, "two", 1, true);
	tb_fd(tb, 10, 3, 1, 100, S_IFREG | 0644, "/data");
	tb_switch(tb, 0, 1 * MS + 1000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 2 * MS, 1);
	for (int i = 0; i < 3; i++) {
		tb_sys_enter(tb, 0, begin[i] * MS, SYS_read, 3, 0x1000, 1);
		if (i == 2) {
			struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};

			tb_switch(tb, 0, 31 * MS, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
			tb_irq(tb, 0, 50 * MS, 7);
			tb_event(tb, 0, 50 * MS + 1, TRACE_EV_block_complete, &done, sizeof(done), NULL);
			tb_waking(tb, 0, 50 * MS + 2, 10, TRACE_CONTEXT_HARDIRQ);
			tb_irq_exit(tb, 0, 50 * MS + 3, 7);
			tb_switch(tb, 0, 51 * MS, 0, 10, TRACE_TASK_RUNNING);
		}
		tb_sys_exit(tb, 0, end[i] * MS, 1);
	}
	tb_sys_enter(tb, 1, 60 * MS, SYS_read, 3, 0x1000, 1);
	return tb;
}

/* The first paragraph without line breaks */
static void join_first(char *text)
{
	char *end = strstr(text, "\n\n");

	for (; end && text < end; text++)
		*text = *text == '\n' ? ' ' : *text;
}

static void calls_are_listed_with_their_waits_and_doubts(void)
{
	char *text = report_of(reads(), "--slowest=read");

	join_first(text);
	contains(text, "read: 3 calls, median 2.00 ms, 99 % of them at most 30.00 ms, the longest 30.00 ms. Not in "
		       "these numbers: 1 without a recorded begin, 1 that had not ended when the recording did.");
	contains(text, "  22:13:20.059000  >= 40.00 ms   40.00 ms         -         -  two (20)");
	contains(text, "had not ended\n  22:13:20.029000     30.00 ms   10.00 ms   1.00 ms  19.00 ms  one (10)  "
		       "19.00 ms file /data\n");
	contains(text, ">= 1.00 ms");
	contains(text, "its begin was not recorded");
	contains(text,
		 "More about the longest:\n  tracevisualizer -a --from=0.059000000s --to=0.099000000s --pid=20 /");
	free(text);
}

static void a_window_and_processes_choose_instances(void)
{
	char *text = report_of(reads(), "--slowest=call:read --pid=10 --from=9ms --to=21ms");

	contains(text, "read: 2 calls, median 1.00 ms, 99 % of them at most 2.00 ms, the longest 2.00 ms.\n\n");
	free(text);
	text = refusal_of(reads(), "--slowest=read --pid=10 --from=80ms");
	contains(text, "none of the 5 system calls read of this trace is of this process in this window; leave out "
		       "--from, --to, --pid and --comm to see all");
	free(text);
	text = report_of(reads(), "--slowest=read --tid=10");
	contains(text, "read: 3 calls, median 2.00 ms");
	CU_ASSERT_PTR_NULL(strstr(text, "two (20)"));
	free(text);
	text = report_of(reads(), "--slowest=read --comm=two");
	contains(text, "read: no call with a certain begin and end; 1 that had not ended when the recording did.");
	free(text);
	text = report_of(reads(), "--slowest=read --top=2");
	contains(text, "(3 more: --top=N, --all)");
	free(text);
}

static void an_unknown_name_gets_a_suggestion(void)
{
	char *text = refusal_of(reads(), "--slowest=rea");

	contains(text, "this trace has no scope, system call or command rea; did you mean read?");
	free(text);
	text = refusal_of(reads(), "--slowest=command:read");
	contains(text, "no scope, system call or command read; tracevisualizer -a lists those that it has");
	free(text);
}

/* For the shells: programs, scopes and the calls that were made, and no other ones */
static void instances_can_be_completed(void)
{
	struct tb *tb = reads();
	char *text;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	stream(tb, 0, 10);
	emit(tb, 0, 70 * MS, event_type(tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN), 10, 1);
	emit(tb, 0, 71 * MS, event_type(tb, "shop:pay.begin", TRACE_ROLE_BEGIN), 10, 1);
	emit(tb, 0, 72 * MS, event_type(tb, "shop:paid", TRACE_ROLE_EVENT), 10, 1);
	emit(tb, 0, 73 * MS, event_type(tb, "shop:pay.end", TRACE_ROLE_END), 10, 1);
	text = report_of(tb, "--complete=instance");
	CU_ASSERT_STRING_EQUAL(text, "one\nread\nshop:order\nshop:pay\ntwo\n");
	free(text);
}

static void a_name_with_several_meanings_is_not_guessed(void)
{
	struct tb *tb = reads();
	char *text;

	tb_comm(tb, 1, 50 * MS, 20, "read");
	text = refusal_of(tb, "--slowest=read");
	contains(text, "read has several meanings in this trace: type call:read for 5 system calls, or command:read "
		       "for 1 command");
	free(text);
}

/* Events are lost on CPU 1 from the end of the second read on, while a third one is in progress. */
static void calls_that_a_loss_overlaps_are_in_no_figure(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1 * MS, 100 * MS);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(tb, 0, 10 * MS, SYS_read, 3, 0x1000, 1);
	tb_sys_exit(tb, 0, 11 * MS, 1);
	tb_sys_enter(tb, 0, 20 * MS, SYS_read, 3, 0x1000, 1);
	tb_sys_exit(tb, 0, 60 * MS, 1);
	tb_switch(tb, 1, 25 * MS, 0, 0, TRACE_TASK_RUNNING);
	tb_lost(tb, 1, 5);
	tb_switch(tb, 1, 30 * MS, 0, 0, TRACE_TASK_RUNNING);
	text = report_of(tb, "--slowest=read");
	contains(text, "read: 1 call of 1.00 ms. Not in these numbers: 1 during which events were lost.");
	contains(text, ">= 30.00 ms");
	contains(text, "events were lost meanwhile");
	free(text);
}

/* A shell runs work three times, once by exec of a process that has executed another program. */
static struct tb *commands(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1 * MS, 100 * MS);
	tb_thread(tb, 5, 5, 1, "work", 1, true);
	tb_thread(tb, 10, 10, 1, "sh", 0, true);
	tb_fork(tb, 0, 2 * MS, 10, 11, 11, "sh");
	tb_switch(tb, 0, 2 * MS, 10, 11, TRACE_TASK_INTERRUPTIBLE);
	tb_comm(tb, 0, 3 * MS, 11, "work");
	tb_exec(tb, 0, 3 * MS, 11, "/usr/bin/work");
	tb_exit(tb, 0, 8 * MS, 11, 11, true);
	tb_switch(tb, 0, 8 * MS, 11, 10, TRACE_TASK_DEAD);
	tb_fork(tb, 0, 9 * MS, 10, 12, 12, "sh");
	tb_switch(tb, 0, 9 * MS, 10, 12, TRACE_TASK_INTERRUPTIBLE);
	tb_comm(tb, 0, 10 * MS, 12, "work");
	tb_exec(tb, 0, 10 * MS, 12, "/usr/bin/work");
	tb_comm(tb, 0, 40 * MS, 12, "other");
	tb_exec(tb, 0, 40 * MS, 12, "/usr/bin/other");
	tb_comm(tb, 0, 50 * MS, 12, "work");
	tb_exec(tb, 0, 50 * MS, 12, "/usr/bin/work");
	tb_exit(tb, 0, 60 * MS, 12, 12, true);
	tb_switch(tb, 0, 60 * MS, 12, 10, TRACE_TASK_DEAD);
	return tb;
}

static void commands_last_from_exec_to_exec_or_exit(void)
{
	char *text = report_of(commands(), "--slowest=work");

	join_first(text);
	contains(text, "work: 3 runs, median 10.00 ms, 99 % of them at most 30.00 ms, the longest 30.00 ms. Not in "
		       "these numbers: 1 longer than the recording.");
	contains(text, "22:13:20.009000     30.00 ms");
	contains(text, "22:13:20.000000  >= 99.00 ms         -  99.00 ms  work (5)   99.00 ms a CPU, taken by work "
		       "processes ");
	contains(text, "longer than the recording");
	free(text);
	text = report_of(commands(), "--slowest=other");
	contains(text, "other: 1 run of 10.00 ms.");
	free(text);
	text = report_of(commands(), "--slowest=sh");
	contains(text, "sh: no run with a certain begin and end; 1 longer than the recording.");
	free(text);
}

/* ---- causes ---- */

/*
 * "shop" (10) waits in a futex call for its thread "cache" (11), which sleeps until 40 ms and wakes
 * it; then "hog" (20) has the CPU until 70 ms. A second call waits 1 ms for the CPU, and for
 * nothing else.
 */
static struct tb *futexes(void)
{
	const struct trace_sched_waking woken = {.tid = 10, .target_cpu = 0, .context = TRACE_CONTEXT_TASK};
	struct tb *tb = tb_new();

	tb_window(tb, 1 * MS, 100 * MS);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_clock_nanosleep, "clock_nanosleep");
	tb_thread(tb, 10, 10, 1, "shop", 0, true);
	tb_thread(tb, 11, 10, 1, "cache", 1, true);
	tb_thread(tb, 20, 20, 1, "hog", 0, false);
	tb_sys_enter(tb, 0, 10 * MS, SYS_futex, 0x1000, FUTEX_WAIT_PRIVATE, 2);
	tb_sys_enter(tb, 1, 10 * MS + 1, SYS_clock_nanosleep, 0, 0, 0);
	tb_switch(tb, 0, 10 * MS + 2, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 1, 10 * MS + 2, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 1, 60 * MS, 11, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 1, 60 * MS, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, 60 * MS, 0);
	tb_sys_enter(tb, 1, 60 * MS + 1, SYS_futex, 0x1000, FUTEX_WAKE_PRIVATE, 1);
	tb_event(tb, 1, 60 * MS + 2, TRACE_EV_sched_waking, &woken, sizeof(woken), NULL);
	tb_sys_exit(tb, 1, 60 * MS + 3, 1);
	tb_switch(tb, 0, 70 * MS, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 71 * MS, 0);
	tb_sys_enter(tb, 0, 80 * MS, SYS_futex, 0x1000, FUTEX_WAKE_PRIVATE, 1);
	tb_switch(tb, 0, 80 * MS, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 81 * MS, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 81 * MS, 0);
	return tb;
}

static void the_longest_has_the_chain_of_what_it_waited_for(void)
{
	char *text = report_of(futexes(), "--slowest=futex --comm=shop"), *at = strstr(text, "The longest");

	CU_ASSERT_PTR_NOT_NULL_FATAL(at);
	join_first(at);
	contains(text, "The longest: shop 10 waited 82 % of its 61.00 ms for its thread cache 11, which waited for a "
		       "timer (it slept); it waited 16 % for a CPU, taken mostly by hog 20.");
	free(text);
}

static void main_waits_are_for_threads_and_cpus_with_names(void)
{
	char *text = report_of(futexes(), "--slowest=futex --comm=shop");

	contains(text, "shop (10)              50.00 ms its thread cache (11) via futex\n");
	contains(text, "shop (10)              1.00 ms a CPU, taken by hog 20\n");
	free(text);
	text = report_of(futexes(), "--slowest=futex --comm=shop --json");
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"tid\":11,\"thread\":\"cache\""));
	free(text);
}

/* Thread 11 has the name of its process, and gets its title; thread 12 has a name of its own. */
static void threads_without_a_name_of_their_own_have_the_title(void)
{
	static const char args[] = "python3\x1f/srv/app.py";
	struct trace_start_args start = {.tgid = 10, .bytes = sizeof(args) - 1};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1 * MS, 100 * MS);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, "python3", 0, true);
	tb_thread(tb, 11, 10, 1, "python3", 1, true);
	tb_thread(tb, 12, 10, 1, "worker", 2, true);
	tb_start(tb, 0, TRACE_EV_start_args, &start, sizeof(start), args);
	for (uint32_t cpu = 1; cpu <= 2; cpu++) {
		tb_sys_enter(tb, cpu, 10 * MS, SYS_read, 3, 0x1000, 1);
		tb_sys_exit(tb, cpu, (10 + cpu) * MS, 1);
	}
	text = report_of(tb, "--slowest=read");
	contains(text, "  worker (10, thread 12)");
	contains(text, "  python3 app.py (10, thread 11)");
	free(text);
}

/* ---- scopes ---- */

static void scopes_are_found_by_their_name_or_the_part_behind_the_colon(void)
{
	static const char *const names[] = {"shop:checkout", "checkout"};
	char options[64], *text;

	for (int i = 0; i < 2; i++) {
		struct tb *tb = tb_new();
		uint16_t begins, ends;

		tb_window(tb, 1000, 20000);
		tb_thread(tb, 10, 10, 1, "shop", 0, true);
		stream(tb, 0, 10);
		begins = event_type(tb, "shop:checkout.begin", TRACE_ROLE_BEGIN);
		ends = event_type(tb, "shop:checkout.end", TRACE_ROLE_END);
		emit(tb, 0, 1500, ends, 10, 0);
		emit(tb, 0, 2000, begins, 10, 0);
		emit(tb, 0, 5000, ends, 10, 0);
		emit(tb, 0, 6000, begins, 10, 0);
		emit(tb, 0, 7000, ends, 10, 0);
		emit(tb, 0, 15000, begins, 10, 0);
		snprintf(options, sizeof(options), "--slowest=%s --json", names[i]);
		text = report_of(tb, options);
		contains(text, "\"kind\":\"scope\",\"name\":\"shop:checkout\",");
		contains(text, "\"count\":2,\"sum_ns\":4000,\"min_ns\":1000,\"p50_ns\":1000,\"p99_ns\":3000,"
			       "\"max_ns\":3000,\"doubtful\":2,");
		json_has(text, "instances",
			 "[{'begin_ns':15000,'end_ns':20000,'least_ns':5000,'exact':false,'doubt':'had not ended',"
			 "'pid':10,'comm':'shop','title':'shop','tid':10,'thread':'shop','cpu_ns':5000,"
			 "'interrupted_ns':0,'wait_cpu_ns':0,'blocked_ns':0,'queued_ns':0,'unseen_ns':0,'waits':[]},"
			 "{'begin_ns':2000,'end_ns':5000,'least_ns':3000,'exact':true,'doubt':'',"
			 "'pid':10,'comm':'shop','title':'shop','tid':10,'thread':'shop','cpu_ns':3000,"
			 "'interrupted_ns':0,'wait_cpu_ns':0,'blocked_ns':0,'queued_ns':0,'unseen_ns':0,'waits':[]},"
			 "{'begin_ns':6000,'end_ns':7000,'least_ns':1000,'exact':true,'doubt':'',"
			 "'pid':10,'comm':'shop','title':'shop','tid':10,'thread':'shop','cpu_ns':1000,"
			 "'interrupted_ns':0,'wait_cpu_ns':0,'blocked_ns':0,'queued_ns':0,'unseen_ns':0,'waits':[]}]");
		free(text);
	}
}

/* Threads 10 and 11 work on a request for 2000 ns each; from 4000 to 6000 no thread does. */
static void a_request_has_the_parts_of_all_its_threads(void)
{
	struct tb *tb = tb_new();
	uint16_t begins, hands, ends;
	char *text;

	tb_window(tb, 1000, 20000);
	tb_thread(tb, 10, 10, 1, "shop", 0, true);
	tb_thread(tb, 11, 10, 1, "shop", 1, true);
	stream(tb, 0, 10);
	stream(tb, 1, 10);
	begins = event_type(tb, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN);
	hands = event_type(tb, "shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF);
	ends = event_type(tb, "shop:order.end", TRACE_ROLE_REQUEST_END);
	emit(tb, 0, 2000, begins, 10, 7);
	emit(tb, 0, 4000, hands, 10, 7);
	emit(tb, 1, 6000, begins, 11, 7);
	emit(tb, 1, 8000, ends, 11, 7);
	text = report_of(tb, "--slowest=order --json");
	json_has(text, "instances",
		 "[{'begin_ns':2000,'end_ns':8000,'least_ns':6000,'exact':true,'doubt':'','pid':10,'comm':'shop',"
		 "'title':'shop','tid':10,'thread':'shop','cpu_ns':4000,'interrupted_ns':0,'wait_cpu_ns':0,"
		 "'blocked_ns':0,'queued_ns':2000,'unseen_ns':0,'waits':[]}]");
	free(text);
}

/* ---- brute force ---- */

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

struct sums {
	json_int_t count, elapsed, cpu, interrupted, wait_cpu, wait;
};

/* The row of a call in the books of all processes */
static struct sums books_of(const json_t *report, const char *name)
{
	struct sums sums = {0};
	size_t i, n;
	json_t *process, *call;

	json_array_foreach(json_object_get(report, "processes"), i, process)
		json_array_foreach(json_object_get(process, "syscalls"), n, call)
			if (strcmp(json_string_value(json_object_get(call, "name")), name) == 0) {
				sums.count += number(call, "calls");
				sums.elapsed += number(call, "elapsed_ns");
				sums.cpu += number(call, "cpu_ns");
				sums.interrupted += number(call, "interrupted_ns");
				sums.wait_cpu += number(call, "wait_cpu_ns");
				sums.wait += number(call, "wait_ns");
			}
	return sums;
}

static struct sums instances_of(const json_t *report)
{
	struct sums sums = {0};
	json_t *one, *wait;
	size_t i, n;

	json_array_foreach(json_object_get(report, "instances"), i, one) {
		json_int_t elapsed = number(one, "end_ns") - number(one, "begin_ns"), waits = 0;

		sums.count++;
		sums.elapsed += elapsed;
		sums.cpu += number(one, "cpu_ns");
		sums.interrupted += number(one, "interrupted_ns");
		sums.wait_cpu += number(one, "wait_cpu_ns");
		sums.wait += number(one, "blocked_ns");
		json_array_foreach(json_object_get(one, "waits"), n, wait)
			waits += number(wait, "ns");
		CU_ASSERT_EQUAL(waits, number(one, "blocked_ns"));
		CU_ASSERT_EQUAL(elapsed, number(one, "cpu_ns") + number(one, "interrupted_ns") +
						 number(one, "wait_cpu_ns") + waits + number(one, "queued_ns") +
						 number(one, "unseen_ns"));
	}
	return sums;
}

static json_t *json_of(const char *path, const char *options)
{
	char command[256];
	FILE *pipe;
	json_t *json;

	snprintf(command, sizeof(command), TRACE_BIN "/tracevisualizer %s %s 2>/dev/null", options, path);
	pipe = popen(command, "r");
	json = json_loadf(pipe, 0, NULL);
	CU_ASSERT_EQUAL(pclose(pipe), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	return json;
}

static void check_call(const char *path, const json_t *books, const char *name)
{
	char options[128];
	struct sums wanted = books_of(books, name), found;
	json_t *report;

	snprintf(options, sizeof(options), "--slowest=call:%s --json --all", name);
	report = json_of(path, options);
	found = instances_of(report);
	CU_ASSERT_EQUAL(found.count, wanted.count);
	CU_ASSERT_EQUAL(found.elapsed, wanted.elapsed);
	CU_ASSERT_EQUAL(found.cpu, wanted.cpu);
	CU_ASSERT_EQUAL(found.interrupted, wanted.interrupted);
	CU_ASSERT_EQUAL(found.wait_cpu, wanted.wait_cpu);
	CU_ASSERT_EQUAL(found.wait, wanted.wait);
	if (found.elapsed != wanted.elapsed || found.count != wanted.count)
		printf("%s: %lld calls of %lld ns, not %lld of %lld\n", name, (long long)found.count,
		       (long long)found.elapsed, (long long)wanted.count, (long long)wanted.elapsed);
	json_decref(report);
}

/*
 * Two CPUs, each with three threads that take turns, sleep, are woken, and make calls of three
 * names
 */
static struct tb *calls_of(struct dice *dice)
{
	static const uint32_t calls[] = {SYS_read, SYS_write, SYS_fsync};
	static const char *const names[] = {"read", "write", "fsync"};
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 300000);
	for (int i = 0; i < 3; i++)
		tb_string(tb, TRACE_STRING_SYSCALL, calls[i], names[i]);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		uint32_t first = 10 + 10 * cpu;
		bool in_call[3] = {false};
		uint64_t ns = 2000;

		for (uint32_t i = 0; i < 3; i++)
			tb_thread(tb, first + i, first, 1, "one", cpu, i == 0);
		for (uint32_t i = 0; i < 90; i++) {
			if (in_call[i % 3] && below(dice, 4)) {
				tb_sys_exit(tb, cpu, ns += 1 + below(dice, 500), 1);
				in_call[i % 3] = false;
			}
			if (!in_call[i % 3] && below(dice, 4)) {
				tb_sys_enter(tb, cpu, ns += 1 + below(dice, 500), calls[below(dice, 3)], 3, 0x1000, 1);
				in_call[i % 3] = true;
			}
			tb_irq(tb, cpu, ns += 1 + below(dice, 100), 7);
			tb_waking(tb, cpu, ns += 1 + below(dice, 100), first + (i + 1) % 3, TRACE_CONTEXT_HARDIRQ);
			tb_irq_exit(tb, cpu, ns += 1 + below(dice, 100), 7);
			tb_switch(tb, cpu, ns += 1 + below(dice, 900), first + i % 3, first + (i + 1) % 3,
				  below(dice, 3) ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
		}
	}
	return tb;
}

/* The exact ones are in the figures of the report, the others beside them. */
static void check_numbers(const char *path, const char *name)
{
	char options[128];
	json_int_t most = 0, sum = 0, doubtful = 0, count = 0;
	json_t *report, *one;
	size_t i;

	snprintf(options, sizeof(options), "--slowest=call:%s --json --all", name);
	report = json_of(path, options);
	json_array_foreach(json_object_get(report, "instances"), i, one) {
		json_int_t ns = number(one, "least_ns");

		if (!json_is_true(json_object_get(one, "exact"))) {
			doubtful++;
			continue;
		}
		CU_ASSERT_EQUAL(ns, number(one, "end_ns") - number(one, "begin_ns"));
		count++;
		sum += ns;
		most = ns > most ? ns : most;
	}
	CU_ASSERT_EQUAL(count, number(report, "count"));
	CU_ASSERT_EQUAL(sum, number(report, "sum_ns"));
	CU_ASSERT_EQUAL(most, number(report, "max_ns"));
	CU_ASSERT(doubtful <= number(report, "doubtful"));
	json_decref(report);
}

static void instances_add_up_to_the_books_of_all_processes(void)
{
	for (uint64_t seed = 1; seed <= 5; seed++) {
		char path[] = "/tmp/report_slowest_XXXXXX";
		struct dice dice = {seed, NULL};
		struct tb *tb = calls_of(&dice);
		int fd = mkstemp(path);
		json_t *books;

		tb_write(tb, fd, true);
		close(fd);
		tb_free(tb);
		books = json_of(path, "--json");
		check_call(path, books, "read");
		check_call(path, books, "write");
		check_numbers(path, "fsync");
		json_decref(books);
		unlink(path);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(calls_are_listed_with_their_waits_and_doubts),
		CASE(a_window_and_processes_choose_instances),
		CASE(an_unknown_name_gets_a_suggestion),
		CASE(instances_can_be_completed),
		CASE(a_name_with_several_meanings_is_not_guessed),
		CASE(calls_that_a_loss_overlaps_are_in_no_figure),
		CASE(commands_last_from_exec_to_exec_or_exit),
		CASE(the_longest_has_the_chain_of_what_it_waited_for),
		CASE(main_waits_are_for_threads_and_cpus_with_names),
		CASE(threads_without_a_name_of_their_own_have_the_title),
		CASE(scopes_are_found_by_their_name_or_the_part_behind_the_colon),
		CASE(a_request_has_the_parts_of_all_its_threads),
		CASE(instances_add_up_to_the_books_of_all_processes),
		{NULL, NULL},
	};

	return report_main("report_slowest", cases, argc, argv);
}
