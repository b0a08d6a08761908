/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_known.c - reports of traces in which events are lost, damaged, filtered out or not
 * recorded: figures are unknown, never 0 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "image.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

/* ---- lost and damaged ---- */

static unsigned int times_in(const char *text, const char *word)
{
	unsigned int nr = 0;

	for (; (text = strstr(text, word)); text++)
		nr++;
	return nr;
}

/* The threads and descriptors in it are not known, and no event is missing by it. */
static void a_damaged_start_state_is_reported_in_every_output(void)
{
	static const char *const outputs[] = {"-a",    "--json",   "-d",	 "-d -y",
					      "-a -d", "-a -d -y", "--timeline", "--critical-path=1"};
	struct tb *tb = make_named(true);
	struct image image = image_new(tb, true);
	char path[64], arguments[256], *text;
	int fd;

	CU_ASSERT_TRUE_FATAL(sscanf(image.path, "/proc/self/fd/%d", &fd) == 1);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)getpid(), fd); /* for another process */
	CU_ASSERT_TRUE_FATAL(image_spoil(&image, TRACE_CHUNK_START_STATE, 0));
	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		snprintf(arguments, sizeof(arguments), "%s %s", outputs[i], path);
		visualizer_run(arguments, &text);
		CU_ASSERT_EQUAL(times_in(text, "its payload has a wrong checksum; its events are missing"), 1);
		free(text);
	}
	snprintf(arguments, sizeof(arguments), "-a %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "tracevisualizer: warning: 2 events of the start state cannot be read: ");
	contains(text, "Lost: 2 events in 1 gap;");
	free(text);
	image_free(&image);
	tb_free(tb);
}

static off_t first_events(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	off_t offset = 0;

	for (size_t i = 0; i < trace_nr_chunks(trace) && !offset; i++)
		if (trace_get_chunk(trace, i)->kind == TRACE_CHUNK_EVENTS)
			offset = (off_t)trace_get_chunk(trace, i)->offset + 160; /* after its header */
	trace_close(trace);
	return offset;
}

static void a_damaged_chunk_is_reported_in_every_output(void)
{
	static const char *const outputs[] = {"-s", "-a", "-d", "--json", "-d -y", "-a -d -y"};
	static const char *const words[] = {"Lost: 11 events in 1 gap;", "Lost: 11 events in 1 gap;",
					    "LOST : 11 events",		 "\"lost\":11",
					    "LOST : 11 events",		 "LOST : 11 events"};
	char path[] = "/tmp/test_report_known_damage_XXXXXX", arguments[256], *text;
	int fd = mkstemp(path);

	snprintf(arguments, sizeof(arguments), "cp %s %s", trace_path, path);
	CU_ASSERT_EQUAL(system(arguments), 0);
	CU_ASSERT_EQUAL(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, first_events(path)), 8);
	close(fd);
	for (size_t i = 0; i < 6; i++) {
		const char *warning;

		snprintf(arguments, sizeof(arguments), "%s %s", outputs[i], path);
		CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
		contains(text, words[i]);
		warning = strstr(text, "tracevisualizer: warning: ");
		CU_ASSERT_PTR_NOT_NULL(warning);
		if (warning) /* once */
			CU_ASSERT_PTR_NULL(strstr(warning + 1, "tracevisualizer: warning: "));
		if (i == 1) /* in the answer, too */
			contains(text, "the affected times are unknown.\n");
		free(text);
	}
	snprintf(arguments, sizeof(arguments), "--diff %s %s", trace_path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "; lost: 11 events\n");
	contains(text, "tracevisualizer: warning: a damaged chunk of CPU 0 loses 11 events;");
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff --json %s %s", trace_path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\"lost\":{\"a\":0,\"b\":11,");
	contains(text, "\"gaps\":{\"a\":0,\"b\":1,");
	free(text);
	unlink(path);
}

/* A killed recorder leaves no count of what it had not written: no number is right then, and 0
 * least of all. */
static void uncounted_losses_have_no_number(void)
{
	static const char *const outputs[] = {"-s", "-a", "--critical-path=one", "--diff"};
	static const char *const words[] = {
		"Lost: an unknown number of events in 2 gaps;", "Events may have been lost (count unknown):",
		"Events may have been lost (count unknown):", "; lost: an unknown number of events\n"};
	char path[] = "/tmp/test_report_known_killed_XXXXXX", arguments[256], *text, *c;
	int fd = mkstemp(path);
	struct tb *tb = tb_new();

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(tb, 0, 2000, SYS_getpid);
	tb_sys_exit(tb, 0, 3000, 10);
	tb_sys_enter(tb, 0, 4000, SYS_getpid);
	tb_write(tb, fd, false);
	close(fd);
	tb_free(tb);
	for (size_t i = 0; i < 4; i++) {
		snprintf(arguments, sizeof(arguments), "%s %s %s", outputs[i], i == 3 ? path : "", path);
		CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
		while ((c = strchr(text, '\n'))) /* wherever the lines are wrapped */
			*c = ' ';
		for (c = text; (c = strstr(c, "  "));)
			memmove(c, c + 1, strlen(c));
		contains(text, i == 3 ? "; lost: an unknown number of events " : words[i]);
		CU_ASSERT_PTR_NULL(strstr(text, " 0 events"));
		free(text);
	}
	unlink(path);
}

/* The reader finds the damage when it reads the chunk. Each of its events is either among the
 * events read or among those lost. */
static void events_of_a_damaged_chunk_are_reported_once(void)
{
	struct tb *tb = tb_new();
	struct image image;
	char arguments[128], *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 11, 1, "two", 1, true);
	tb_switch(tb, 0, 5000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 1, 5500, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 1, 7000, 0, 11, TRACE_TASK_RUNNING);
	tb_switch(tb, 1, 9000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	image = image_new(tb, true);
	CU_ASSERT_TRUE(image_spoil(&image, TRACE_CHUNK_EVENTS, 1));
	snprintf(arguments, sizeof(arguments), "--json /proc/%d/fd/%d", getpid(), image.fd);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\"events\":1,\"lost\":3,");
	free(text);
	snprintf(arguments, sizeof(arguments), "-a /proc/%d/fd/%d", getpid(), image.fd);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\tEvents: 1\n\tScheduling changes: 1\n");
	contains(text, "\nLost: 3 events in 1 gap;");
	free(text);
	image_free(&image);
	tb_free(tb);
}

/* ---- not recorded ---- */

static void unrecorded_figures_are_not_zero(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0xfffe | 1ull << TRACE_EV_sched_switch | 1ull << TRACE_EV_sched_waking};
	static const char *const unknown[] = {"user_ns", "system_ns", "syscall_ns", "trap_ns", "interrupted_ns"};
	json_t *root, *process, *cpu;
	char *text = report_of(make_masked(mask), "-a --pid=10");

	join_lines(text);
	contains(text, "% busy, in programs, the kernel or interrupts (not recorded which). ");
	contains(text, "System call entries: not recorded");
	contains(text, "Packets In: not recorded");
	contains(text, "Number of system calls: not recorded");
	contains(text, "Quantity of data read from files: not recorded");
	contains(text, "Total process time: unknown without system calls");
	contains(text,
		 "(categories of events): syscall, trap, irq, fs, block, timer, memory, socket, ipc, network, work. ");
	free(text);
	text = report_of(make_masked(mask), "--json --pid=10");
	root = json_loads(text, 0, NULL);
	process = json_array_get(json_object_get(root, "processes"), 0);
	cpu = json_array_get(json_object_get(root, "cpus"), 0);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		CU_ASSERT_TRUE(json_is_null(json_object_get(process, unknown[i])));
	for (size_t i = 0; i < 2; i++)
		CU_ASSERT_TRUE(json_is_null(json_object_get(cpu, unknown[i])));
	CU_ASSERT_TRUE(json_is_null(json_object_get(cpu, "irq_ns")) &&
		       json_is_null(json_object_get(cpu, "softirq_ns")));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(process, "cpu_ns")),
			json_integer_value(json_object_get(cpu, "cpu_ns")));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(process, "cpu_ns")), 6000);
	CU_ASSERT_TRUE(json_is_false(json_object_get(json_object_get(root, "trace"), "sees_interrupts")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(json_object_get(root, "trace"), "not_recorded")), 11);
	json_decref(root);
	free(text);
}

static void a_report_without_system_calls_does_not_divide_time_on_a_cpu(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct tb *tb;
	char *text;

	mask[TRACE_EV_sys_exit / 64] &= ~(1ull << TRACE_EV_sys_exit % 64);
	tb = make_masked(mask);
	tb_sys_enter(tb, 0, 9500, SYS_getpid);
	text = report_of(tb, "-a --pid=10");
	contains(text, "% CPU.\n");
	contains(text, "% in programs or the kernel, 0 % in");
	contains(text, "\nSystem calls were not recorded, or not all of the time, or without their entries or exits: ");
	contains(text, "\n  CPU  busy %  threads  irq  softirq     idle  unknown\n");
	contains(text, "  on a CPU, in its own code or in the kernel\n");
	contains(text, "System call entries: 1\n\tSystem call exits: not recorded\n");
	CU_ASSERT_PTR_NULL(strstr(text, "in its own code, "));
	CU_ASSERT_PTR_NULL(strstr(text, "programs  "));
	free(text);
}

static void without_scheduling_changes_no_cpu_time_is_shown(void)
{
	static const char *const unknown[] = {"cpu_ns", "user_ns", "system_ns", "irq_ns", "softirq_ns", "idle_ns"};
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct tb *tb = tb_new();
	json_t *root, *cpu;
	char *text;

	mask[TRACE_EV_sched_switch / 64] &= ~(1ull << TRACE_EV_sched_switch % 64);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_sys_enter(tb, 0, 2000, SYS_getpid);
	tb_sys_exit(tb, 0, 3000, 10);
	text = report_of(tb, "--json");
	root = json_loads(text, 0, NULL);
	cpu = json_array_get(json_object_get(root, "cpus"), 0);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		CU_ASSERT_TRUE(json_is_null(json_object_get(cpu, unknown[i])));
	json_decref(root);
	free(text);
}

static void without_wakeups_no_time_for_io_is_shown(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text;

	mask[TRACE_EV_sched_waking / 64] &= ~(1ull << TRACE_EV_sched_waking % 64);
	text = report_of(make_masked(mask), "-a --pid=10");
	contains(text, "Time waiting for I/O: unknown without wakeups\n");
	free(text);
}

static void another_thread_is_named_with_its_process(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 40, 40, 1, "one", 0, false);
	tb_thread(tb, 41, 40, 1, "two", 0, true);
	tb_switch(tb, 0, 5000, 41, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 11000, 41, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 12000, 0, 41, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 13000, 41, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "--critical-path=two");
	CU_ASSERT_PTR_EQUAL(strstr(text, "Thread two (41) of one waited "), text);
	free(text);
}

static void a_path_on_cpus_is_divided_only_if_calls_were_recorded(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text = report_of(make_masked(mask), "--critical-path=10 --json");

	contains(text, "\"state\":\"syscall\"");
	free(text);
	mask[TRACE_EV_sys_enter / 64] &= ~(15ull << TRACE_EV_sys_enter % 64);
	text = report_of(make_masked(mask), "--critical-path=10 --json");
	contains(text, "\"state\":\"cpu\"");
	CU_ASSERT_PTR_NULL(strstr(text, "\"state\":\"syscall\""));
	free(text);
	text = report_of(make_masked(mask), "--critical-path=10");
	contains(text, "2  one 10: CPU\n");
	CU_ASSERT_PTR_NULL(strstr(text, "system calls"));
	free(text);
}

static void a_report_without_interrupts_and_page_faults_does_not_show_zero(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text;

	mask[TRACE_EV_irq_entry / 64] &= ~(0xffffull << TRACE_EV_irq_entry % 64);
	mask[TRACE_EV_fault_entry / 64] &= ~(3ull << TRACE_EV_fault_entry % 64);
	text = report_of(make_masked(mask), "-a --all");
	join_lines(text);
	contains(text, " in the kernel, including interrupts, which were not recorded");
	contains(text, "  CPU  busy %  programs   kernel     idle  unknown ");
	contains(text, "on a CPU, in its own code, or in traps not recorded");
	contains(text, "Page faults were not recorded, or not all of the time");
	contains(text, "Interrupts were not recorded, or not all of them");
	contains(text, "Not recorded, and so not in this report (categories of events): trap, irq. ");
	contains(text, "Number of traps: not recorded");
	CU_ASSERT_PTR_NULL(strstr(text, "interrupted "));
	CU_ASSERT_PTR_NULL(strstr(text, "softirq"));
	CU_ASSERT_PTR_NULL(strstr(text, "0 % in interrupts"));
	free(text);
}

static void recorded_interrupts_are_shown_and_others_are_not_zero(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text;

	mask[TRACE_EV_softirq_entry / 64] &= ~(3ull << TRACE_EV_softirq_entry % 64);
	text = report_of(make_masked(mask), "-a --all");
	join_lines(text);
	contains(text, " 0 % in interrupts (not all were recorded). ");
	contains(text, "  CPU  busy %  programs   kernel  irq     idle ");
	contains(text, "Interrupts were not recorded, or not all of them");
	free(text);
	text = report_of(make_masked(mask), "--json");
	contains(text, "\"irq_ns\":0,\"softirq_ns\":null,");
	contains(text, "\"interrupted_ns\":0,\"stolen_ns\"");
	free(text);
}

static void without_scheduling_no_time_is_shown(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct tb *tb = tb_new();
	char *text;

	mask[TRACE_EV_sched_switch / 64] &= ~(1ull << TRACE_EV_sched_switch % 64);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_sys_enter(tb, 0, 9500, SYS_getpid);
	text = report_of(tb, "-a");
	CU_ASSERT_PTR_EQUAL(strstr(text, "The activity of the CPUs in 8.50 us is unknown.\n"), answer_of(text));
	CU_ASSERT_PTR_NULL(strstr(text, "CPUs (% of the trace)"));
	CU_ASSERT_PTR_NULL(strstr(text, "Total process time"));
	CU_ASSERT_PTR_NULL(strstr(text, "used no CPU"));
	free(text);
}

static void without_scheduling_a_page_says_what_is_unknown(void)
{
	static const char *const lines[] = {"Time executing process code: unknown without scheduling changes\n",
					    "Time running: unknown without scheduling changes\n",
					    "Time waiting for I/O: unknown without scheduling changes\n",
					    "100.00         unknown: not recorded\n"};
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct tb *tb = tb_new();
	char *text;

	mask[TRACE_EV_sched_switch / 64] &= ~(1ull << TRACE_EV_sched_switch % 64);
	tb_thread(tb, 10, 10, 1, "one", 0, false);
	tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_sys_enter(tb, 0, 9500, SYS_getpid);
	text = report_of(tb, "-a --pid=10");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		contains(text, lines[i]);
	CU_ASSERT_PTR_NULL(strstr(text, "on a CPU"));
	CU_ASSERT_PTR_NULL(strstr(text, "waiting for something"));
	free(text);
}

static void lost_time_is_not_shown_as_waiting(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_switch(tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_lost(tb, 0, 7);
	tb_switch(tb, 0, 11000, 0, 10, 0);
	tb_sys_enter(tb, 0, 12000, SYS_getpid);
	text = report_of(tb, "-a --pid=10");
	contains(text, "unknown: not recorded\n");
	free(text);
}

/* Scheduling events continue until the selected program ends: that makes no time known. */
static void a_moment_of_scheduling_makes_no_time_known(void)
{
	static const char *const unknown[] = {
		"\"cpu_ns\":null,\"user_ns\":null,\"system_ns\":null,\"irq_ns\":null,",
		"\"cpu_ns\":null,\"user_ns\":null,\"system_ns\":null,\"syscall_ns\":null,\"trap_ns\":null,"
		"\"interrupted_ns\":null,\"stolen_ns\":null,\"wait_cpu_ns\":null,"};
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text;

	mask[TRACE_EV_sched_switch / 64] &= ~(1ull << TRACE_EV_sched_switch % 64);
	for (int form = 0; form < 3; form++) {
		struct tb *tb = tb_new();

		tb_thread(tb, 10, 10, 1, "one", 0, true);
		tb_thread(tb, 11, 11, 1, "two", 0, false);
		tb_switch(tb, 0, 1000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
		tb_sys_enter(tb, 0, 9500, SYS_getpid);
		text = report_of(tb, form == 2 ? "--json" : form ? "-a --comm=one" : "-a --pid=10");
		if (form == 2) {
			contains(text, unknown[0]);
			contains(text, unknown[1]);
		} else {
			contains(text, "no scheduling changes were recorded.");
		}
		CU_ASSERT_PTR_NULL(strstr(text, "CPUs (% of the trace)"));
		CU_ASSERT_PTR_NULL(strstr(text, " waited "));
		free(text);
	}
}

/* As far as the trace shows, 10 was in its own code, and its child 11 is in the call that created
 * it, because no return is recorded. */
static void rows_sorted_by_an_unknown_column_are_sorted_by_cpu(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0xfffe | 1ull << TRACE_EV_sched_switch | 1ull << TRACE_EV_sched_waking |
					   1ull << TRACE_EV_sched_fork};
	struct tb *tb = tb_new();
	char *text, *ten, *eleven;

	tb_thread(tb, 10, 10, 1, "ten", 0, true);
	tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_fork(tb, 0, 2000, 10, 11, 11, "eleven");
	tb_switch(tb, 0, 9000, 10, 11, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 10000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a --sort=system");
	ten = strstr(text, "Process (10, ");
	eleven = strstr(text, "Process (11, ");
	CU_ASSERT(ten && eleven && ten < eleven);
	free(text);
}

/* The recording was halted before it ended. */
static void a_halt_at_the_end_keeps_wakeups_recorded(void)
{
	uint64_t all[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull}, none[TRACE_MASK_WORDS] = {0xfffe};
	struct tb *tb = make_masked(all);
	char *text;

	tb_event(tb, 0, 9500, TRACE_EV_trace_mask, none, sizeof(none), NULL);
	text = report_of(tb, "-a");
	CU_ASSERT_PTR_NULL(strstr(text, "akeups were"));
	free(text);
	tb = make_masked(all);
	all[TRACE_EV_sched_waking / 64] &= ~(1ull << TRACE_EV_sched_waking % 64);
	tb_event(tb, 0, 9500, TRACE_EV_trace_mask, all, sizeof(all), NULL);
	text = report_of(tb, "-a");
	contains(text, "\nWakeups were not recorded, or not all of the time: while a thread was not on a CPU, ");
	free(text);
}

static void the_number_of_events_is_that_of_the_trace(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text = report_of(make_masked(mask), "-s");

	/* and the start state counts as none */
	contains(text, "\tEvents: 4, 1 of them about the recording\n\tScheduling changes: 3\n");
	free(text);
	text = report_of(make_masked(mask), "--json");
	contains(text, "\"events\":4,");
	free(text);
}

/* ---- filtered out ---- */

/* Only process 10 was recorded, and others had its CPU for 30 of its 40 us. */
static struct tb *make_filtered(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 41000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_thread(tb, 10, 10, 1, "ten", 0, true);
	tb_thread(tb, 50, 50, 1, "other", 1, false);
	tb_sys_enter(tb, 0, 1500, SYS_getpid);
	tb_sys_exit(tb, 0, 1600, 10);
	tb_switch(tb, 0, 3000, 10, 99, TRACE_TASK_RUNNING);
	tb_waking(tb, 1, 32000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 33000, 98, 10, TRACE_TASK_RUNNING);
	return tb;
}

/* It sleeps all the time, as does another one that was not selected. */
static void a_selected_process_has_a_row(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 41000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread_in(tb, 10, 10, 1, "ten", 0, false, SYS_clock_nanosleep);
	tb_thread_in(tb, 50, 50, 1, "other", 1, false, SYS_clock_nanosleep);
	text = report_of(tb, "-a");
	contains(text, "   10       1  40.00 us   0.00 ");
	contains(text, " (1 more, not recorded because of the filter; --all shows them)");
	free(text);
}

static void processes_excluded_by_a_filter_are_not_shown(void)
{
	char *text = report_of(make_filtered(), "-a");

	join_lines(text);
	contains(text, " the 2 CPUs of the machine that were recorded were 12 % busy with processes that the filter "
		       "selects: ");
	contains(text, "   1       ?         -  "); /* its load is unknown */
	contains(text, " more, not recorded because of the filter; --all shows them)");
	contains(text, "  CPU  busy %  programs  kernel  irq  softirq   unknown ");
	contains(text, "System idle: unknown, ");
	CU_ASSERT_PTR_NULL(strstr(text, "used no CPU"));
	free(text);
	text = report_of(make_filtered(), "--json");
	contains(text, "\"filtered\":true,");
	contains(text, "\"idle_ns\":null,\"unknown_ns\":30000}");
	free(text);
	text = report_of(make_filtered(), "--critical-path=10");
	join_lines(text);
	contains(text, " It waited 30.00 us for CPUs that unrecorded threads may have used.");
	CU_ASSERT_PTR_NULL(strstr(text, "idle CPU"));
	free(text);
}

/*
 * Process 10 of tracedaemon -P waits in a poll for 36 of 40 us. Process 50 has two threads: by
 * elapsed time it would come first.
 */
static struct tb *make_chosen(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 41000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_CHOSEN, "10");
	tb_thread(tb, 10, 10, 1, "ten", 0, true);
	tb_thread(tb, 50, 50, 1, "other", 1, false);
	tb_thread(tb, 51, 50, 1, "other", 1, false);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_poll, "poll");
	tb_sys_enter(tb, 0, 2000, SYS_poll, 1, 1, -1);
	tb_switch(tb, 0, 3000, 10, 99, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 1, 38999, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 39000, 98, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 39500, 1);
	return tb;
}

/* @text has @first, and @second only behind it. */
static bool comes_before(const char *text, const char *first, const char *second)
{
	const char *one = strstr(text, first), *other = strstr(text, second);

	return one && (!other || one < other);
}

static void the_recorded_process_comes_first_everywhere(void)
{
	char *text = report_of(make_chosen(), "-a"), *at;

	contains(text, "ten (10) waited 90 % of its 40.00 us");
	contains(text, "Processes, the recorded one first (");
	CU_ASSERT_PTR_NOT_NULL(at = strstr(text, "Analysis details:"));
	CU_ASSERT(at && strstr(at, "Process (10, 1): ten"));
	CU_ASSERT(at && !strstr(at, "Process (50, 1)"));
	free(text);
	text = report_of(make_chosen(), "-a --all");
	CU_ASSERT_PTR_NOT_NULL(at = strstr(text, "Processes, the recorded one first ("));
	CU_ASSERT(at && comes_before(at, "\n   10 ", "\n   50 "));
	CU_ASSERT(comes_before(text, "Process (10, 1)", "Process (50, 1)"));
	free(text);
	text = report_of(make_chosen(), "--json");
	CU_ASSERT(comes_before(text, "\"pid\":10,\"", "\"pid\":50,\""));
	free(text);
	text = report_of(make_chosen(), "");
	CU_ASSERT(strncmp(text, "ten 10 waited 90 % of its 40.00 us", 34) == 0);
	CU_ASSERT_PTR_NULL(strstr(text, "other 50"));
	free(text);
}

/* The time of processes that the filter left out is in no sum. */
static void what_was_filtered_out_has_no_part_of_a_sum(void)
{
	char *text = report_of(make_chosen(), "-a"), *at;

	CU_ASSERT_PTR_NOT_NULL(
		at = strstr(text, "What the recorded threads waited for (all added up; % of that sum):"));
	CU_ASSERT(at && comes_before(at, "  36.00 us  100.00 ", "unknown (not recorded, such as processes"));
	free(text);
}

/* An order of the user's is as it was. */
static void a_sorted_report_has_the_order_of_the_user(void)
{
	char *text = report_of(make_chosen(), "-a --all --sort=elapsed");

	CU_ASSERT(comes_before(text, "Process (50, 1)", "Process (10, 1)"));
	contains(text, "\nProcesses (");
	free(text);
}

static void a_call_that_is_its_own_means_is_named_once(void)
{
	char *text = report_of(make_chosen(), "-a");

	join_lines(text);
	contains(text, "the system call poll (woken by: not recorded)");
	CU_ASSERT_PTR_NULL(strstr(text, "via poll"));
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_damaged_chunk_is_reported_in_every_output),
		CASE(uncounted_losses_have_no_number),
		CASE(a_damaged_start_state_is_reported_in_every_output),
		CASE(a_report_without_system_calls_does_not_divide_time_on_a_cpu),
		CASE(a_report_without_interrupts_and_page_faults_does_not_show_zero),
		CASE(rows_sorted_by_an_unknown_column_are_sorted_by_cpu),
		CASE(recorded_interrupts_are_shown_and_others_are_not_zero),
		CASE(unrecorded_figures_are_not_zero),
		CASE(events_of_a_damaged_chunk_are_reported_once),
		CASE(a_halt_at_the_end_keeps_wakeups_recorded),
		CASE(without_scheduling_changes_no_cpu_time_is_shown),
		CASE(without_wakeups_no_time_for_io_is_shown),
		CASE(a_path_on_cpus_is_divided_only_if_calls_were_recorded),
		CASE(without_scheduling_no_time_is_shown),
		CASE(without_scheduling_a_page_says_what_is_unknown),
		CASE(lost_time_is_not_shown_as_waiting),
		CASE(a_moment_of_scheduling_makes_no_time_known),
		CASE(another_thread_is_named_with_its_process),
		CASE(the_number_of_events_is_that_of_the_trace),
		CASE(a_selected_process_has_a_row),
		CASE(processes_excluded_by_a_filter_are_not_shown),
		CASE(the_recorded_process_comes_first_everywhere),
		CASE(what_was_filtered_out_has_no_part_of_a_sum),
		CASE(a_sorted_report_has_the_order_of_the_user),
		CASE(a_call_that_is_its_own_means_is_named_once),
		{NULL, NULL},
	};

	return report_main("report_known", cases, argc, argv);
}
