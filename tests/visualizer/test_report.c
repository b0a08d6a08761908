/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report.c - the layout of tracevisualizer's reports: sections, tables, and their width */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

/* ---- the whole report ---- */

static void the_summary_has_the_labels_of_the_original(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-s", &text), 0);
	contains(text, "Trace duration: (0, 40)\n"
		       "Wall clock: 2023-11-14 22:13:20.000000 to 22:13:20.000040 UTC\n\nNumber of occurences "
		       "of:\n\tEvents: 11\n\tScheduling changes: "
		       "3\n\tKernel timer tics: 0\n"
		       "\tSystem call entries: 1\n\tSystem call exits: 1\n\tTrap entries: 1\n\tTrap exits: 1\n\tIRQ "
		       "entries: 1\n\tIRQ exits: 1\n"
		       "\tBottom halves: 0\n\tTimer expiries: 0\n\tPage allocations: 0\n\tPage frees: 0\n\tPackets "
		       "Out: 0\n\tPackets In: 0\n");
	free(text);
}

static const char golden_page[] = "\tProcess (10, 1): one:\n"
				  "\t\tNumber of system calls: 1\n"
				  "\t\tNumber of traps: 1\n"
				  "\t\tQuantity of data read from files: 4096\n"
				  "\t\tQuantity of data written to files: 0\n"
				  "\t\tTime executing process code: (0, 6) => 16.25 %\n"
				  "\t\tTime running: (0, 10) => 25.00 %\n"
				  "\t\tTime waiting for I/O: (0, 10) => 25.50 %\n"
				  "\t\tWhere the time went (% of the elapsed time of all its threads):\n"
				  "\t\t   time       %  count\n"
				  "\t\t  40000  100.00         elapsed, of all threads\n"
				  "\t\t   6500   16.25         on a CPU, in its own code\n"
				  "\t\t   3000    7.50      1  on a CPU, in system calls\n"
				  "\t\t    500    1.25      1  on a CPU, in traps (page faults)\n"
				  "\t\t      0    0.00         interrupted\n"
				  "\t\t  19800   49.50         waiting for a CPU\n"
				  "\t\t  10200   25.50         waiting for something else\n"
				  "\t\tSystem call usage:\n"
				  "\t\t  calls  errors  elapsed      %   CPU  interrupted  CPU wait  blocked  shortest "
				  " ~median  ~99th %  longest  name\n"
				  "\t\t      1       0    23000  57.50  3000            0      9800    10200     23000 "
				  "   23000    23000    23000  read\n"
				  "\t\tTraps:\n"
				  "\t\t  count  major  elapsed     %  CPU  interrupted  CPU wait  blocked  shortest  "
				  "~median  ~99th %  longest  name\n"
				  "\t\t      1      0      500  1.25  500            0         0        0       500    "
				  "  500      500      500  page fault\n"
				  "\t\tWaiting for a CPU that was taken by:\n"
				  "\t\t   time      %\n"
				  "\t\t  10000  25.00  (idle CPU waking up)\n"
				  "\t\t   9500  23.75  t\"wo\\x01\\xff (20)\n"
				  "\t\t    300   0.75  (interrupts)\n"
				  "\t\tWaiting for:\n"
				  "\t\t   time      %  count\n"
				  "\t\t  10200  25.50      1  file /da\\x0ata\n"
				  "\t\tFiles:\n"
				  "\t\t  waited  reads  read  writes  written  path\n"
				  "\t\t   10200      1  4096       0        0  /da\\x0ata\n";

static void a_process_page_is_as_expected(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a --ns --pid=10", &text), 0);
	contains(text, golden_page);
	free(text);
}

static const char golden_front[] =
	"one (10) waited 26 % of its 40000 ns for the file /da\\x0ata; it waited 50 % for a CPU, mostly while\n"
	"an idle CPU woke up, and used 25 % CPU (6500 ns in its own code, 3500 ns in the kernel).\n"
	"\n"
	"In 40000 ns the 1 CPU of the machine was 75 % busy: 65 % in programs, 8.8 % in the kernel, 1.2 % in\n"
	"interrupts.\n"
	"\n"
	"CPUs (% of the trace):\n"
	"  CPU  busy %  programs  kernel  irq  softirq   idle  unknown\n"
	"    0   75.00     26000    3500  500        0  10000        0\n"
	"\n"
	"Processes (on a CPU: own code, kernel; off the CPU: CPU wait, blocked):\n"
	"  PID  parent  elapsed  CPU %  own code  kernel  interrupted  CPU wait  blocked  command  blocked mostly on\n"
	"   10       1    40000  25.00      6500    3500            0     19800    10200  one      file /da\\x0ata\n"
	"\n";

static void the_answer_and_the_tables_of_one_process_come_first(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a --ns --pid=10", &text), 0);
	CU_ASSERT_EQUAL(strncmp(answer_of(text), golden_front, strlen(golden_front)), 0);
	contains(text, golden_front);
	free(text);
}

static void a_report_begins_with_the_answer_and_has_no_colours_in_a_pipe(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a", &text), 0);
	CU_ASSERT_EQUAL(strncmp(answer_of(text), "In 40.00 us the 1 CPU of ", 25), 0);
	CU_ASSERT_PTR_NULL(strchr(text, '\033'));
	CU_ASSERT_PTR_NULL(strchr(text, '\x01'));
	contains(text, "\tSystem-wide:\n");
	free(text);
}

static const char golden_sections[] =
	"What threads waited for (all threads added up; % of that sum):\n"
	"   time      %  waits  for\n"
	"  58000  48.33      2  other processes\n"
	"  62000  51.67         a CPU\n"
	"\n"
	"Waits for a CPU, by the programs that had it (waited: time of all waiting threads):\n"
	"  waited      %  CPU taken by\n"
	"   40000  64.52  one (10)\n"
	"   22000  35.48  esc\\x1b[31m\\x0alock (30)\n"
	"\n"
	"Files (waited: time that threads were blocked on them; reads, writes: number of calls):\n"
	"  waited  reads  read  writes  written  path\n"
	"       0      1   100       1      100  pipe\\xff\\x1b\n"
	"\n"
	"Locks (futexes: mutexes, conditions; file locks; semaphores; a wait is split among the threads that held the "
	"lock in turn):\n"
	"  waited  waits  waiter                                                     held by                           "
	"   "
	"lock\n"
	"   20000      1  esc\\x1b[31m\\x0alock (30), thread esc\\x1b[31m\\x0alock (30)  its thread "
	"esc\\x1b[31m\\x0alock (31)  futex 0x7f00\n"
	"\n"
	"Waits between processes:\n"
	"  waited  waits  waiter                    waited for                           via\n"
	"   38000      1  one (10)                  esc\\x1b[31m\\x0alock (30)             pipe\n"
	"   20000      1  esc\\x1b[31m\\x0alock (30)  its thread esc\\x1b[31m\\x0alock (31)  futex\n"
	"\n"
	"Interrupts (the CPU time that they took, also on idle CPUs):\n"
	"  time  count  mean  kind    name\n"
	"  1000      1  1000  vector  local_timer\n"
	"\n";

static void sections_show_locks_pairs_and_interrupts(void)
{
	char arguments[128], *text;

	snprintf(arguments, sizeof(arguments), "-a --ns %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, golden_sections);
	CU_ASSERT_PTR_NULL(strchr(text, '\033'));
	free(text);
}

/* ---- as wide as the terminal ---- */

static void nothing_is_wider_than_the_terminal(void)
{
	char *text;

	setenv("COLUMNS", "80", 1);
	CU_ASSERT_EQUAL(run_on_trace("-a", &text), 0);
	CU_ASSERT(widest_line(text) <= 80);
	CU_ASSERT(widest_line(text) > 60);
	unsetenv("COLUMNS");
	free(text);
}

/* Narrower than the numbers of a table need: some columns are dropped, and a line says which. */
static void a_narrow_terminal_has_fewer_columns_and_a_note(void)
{
	char *text, *end;

	setenv("COLUMNS", "44", 1);
	CU_ASSERT_EQUAL(run_on_trace("-a", &text), 0);
	end = strstr(text, "What threads waited for");
	CU_ASSERT_PTR_NOT_NULL_FATAL(end);
	*end = 0;
	CU_ASSERT(widest_line(text) <= 44);
	contains(text, "  CPU  busy %  programs   kernel     irq\n");
	contains(text, "  (no room for: softirq, idle)\n");
	unsetenv("COLUMNS");
	free(text);
}

/* Lines above tables wrap, and what is too long for one line is cut. */
static void titles_and_paths_fit_the_terminal(void)
{
	static const char *const outputs[] = {"-a", "--critical-path=one", "--critical-path=one --all", "--diff %s"};
	char arguments[256], option[128], path[120] = "/", *text;
	struct tb *tb = tb_new();
	int fd;

	memset(path + 1, 'p', 90);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_exec(tb, 0, 1500, 10, path);
	tb_comm(tb, 0, 1500, 10, "one");
	tb_fd(tb, 10, 3, 8, 500, S_IFREG | 0777, path);
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 100);
	tb_switch(tb, 0, 5000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_waking(tb, 0, 11000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 31000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 32000, 100);
	strcpy(path, "/tmp/test_report_wide_XXXXXX");
	fd = mkstemp(path);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	setenv("COLUMNS", "76", 1);
	for (size_t i = 0; i < 4; i++) {
		snprintf(option, sizeof(option), outputs[i], path);
		snprintf(arguments, sizeof(arguments), "%s %s", option, path);
		CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
		CU_ASSERT(widest_line(text) <= 76);
		if (widest_line(text) > 76)
			printf("\n%s\n%s\n", arguments, text);
		if (i == 0)
			contains(text, "Processes (on a CPU: own code, kernel; off the CPU: CPU wait, blocked):\n");
		free(text);
	}
	unsetenv("COLUMNS");
	unlink(path);
}

/* ---- rows ---- */

static void the_summary_shows_the_time_of_day(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 5001000000, 7002000000); /* it begins at 1 700 000 000 s: see builder.c */
	tb_switch(tb, 0, 6000000000, 0, 10, TRACE_TASK_RUNNING);
	text = report_of(tb, "-s");
	contains(text,
		 "Trace start time: (1700000000, 0)\nTrace end time: (1700000002, 1000)\nTrace duration: (2, 1000)\n");
	free(text);
}

/* "e" computes, "b" is in a system call and dies early, "c" sleeps, "d" waits for its CPU. */
static void every_sort_key_sorts_by_its_column(void)
{
	static const struct {
		const char *key, *order;
	} keys[] = {{"elapsed", "edcb"}, {"cpu", "bedc"},      {"user", "ebdc"}, {"system", "bdce"},
		    {"wait", "cdbe"},	 {"wait-cpu", "debc"}, {"pid", "ecdb"},	 {"name", "bcde"}};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char options[64], order[64] = "", *text;
		struct tb *tb = tb_new();
		json_t *report, *process;
		size_t j;

		tb_window(tb, 1000, 9000);
		tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
		tb_thread(tb, 5, 5, 1, "e", 0, true);
		tb_thread(tb, 30, 30, 1, "b", 1, true);
		tb_thread(tb, 20, 20, 1, "d", 0, false);
		tb_thread(tb, 10, 10, 1, "c", 2, true);
		tb_sys_enter(tb, 1, 1100, SYS_getpid);
		tb_sys_exit(tb, 1, 7000, 30);
		tb_exit(tb, 1, 8000, 30, 30, true);
		tb_switch(tb, 1, 8100, 30, 0, TRACE_TASK_DEAD);
		tb_waking(tb, 0, 2000, 20, TRACE_CONTEXT_TASK);
		tb_switch(tb, 0, 6500, 5, 20, TRACE_TASK_RUNNING);
		tb_switch(tb, 2, 1500, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		snprintf(options, sizeof(options), "--json --sort=%s", keys[i].key);
		text = report_of(tb, options);
		report = json_loads(text, 0, NULL);
		json_array_foreach(json_object_get(report, "processes"), j, process)
			strncat(order, json_string_value(json_object_get(process, "comm")), 1);
		CU_ASSERT_STRING_EQUAL(order, keys[i].order);
		json_decref(report);
		free(text);
	}
}

/* Three of 5 us and two of 9 us in 10 ms: too little for a row of their own. */
static void folded_rows_are_sorted_too(void)
{
	static const struct {
		const char *options;
		bool a_first;
	} cases[] = {{"-a", false},
		     {"-a --sort=cpu", false},
		     {"-a --sort=elapsed", true},
		     {"-a --sort=name", true},
		     {"-a --sort=pid", true}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tb *tb = tb_new();
		char *text, *a, *b;

		tb_window(tb, 1000, 10001000);
		tb_thread(tb, 5, 5, 1, "busy", 0, true);
		for (uint32_t tid = 10; tid < 15; tid++) {
			uint64_t at = 100000 * tid;

			tb_thread_in(tb, tid, tid, 1, tid < 13 ? "aaa" : "bbb", 0, false, SYS_pause);
			tb_waking(tb, 0, at, tid, TRACE_CONTEXT_TASK);
			tb_switch(tb, 0, at, 5, tid, TRACE_TASK_RUNNING);
			tb_switch(tb, 0, at + (tid < 13 ? 5000 : 9000), tid, 5, TRACE_TASK_INTERRUPTIBLE);
		}
		text = report_of(tb, cases[i].options);
		a = strstr(text, "aaa (3 more)");
		b = strstr(text, "bbb (2 more)");
		CU_ASSERT_PTR_NOT_NULL(a);
		CU_ASSERT_PTR_NOT_NULL(b);
		CU_ASSERT_EQUAL(a < b, cases[i].a_first);
		free(text);
	}
}

static void top_and_sort_choose_the_processes(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a --top=1 --sort=name", &text), 0);
	contains(text, "Process (10, 1)");
	CU_ASSERT_PTR_NULL(strstr(text, "Process (20, 1)"));
	contains(text, "(1 more, 0 of them kernel threads, used 19.50 us of CPU; --all shows them)");
	free(text);
}

static void each_size_has_its_unit(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a --pid=10", &text), 0);
	contains(text, "Quantity of data read from files: 4.0 KiB\n\t\tQuantity of data written to files: 0 B\n");
	free(text);
}

/* A number that rounds to a thousand of a unit is printed as one of the next unit. */
static void no_number_is_a_thousand_of_its_unit(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} sleeps[] = {{999994, "999.99 us"}, {999996, "1.00 ms"}, {999994000, "999.99 ms"}, {999996000, "1.000 s"}};

	for (size_t i = 0; i < sizeof(sleeps) / sizeof(sleeps[0]); i++) {
		char wanted[64], *text;
		struct tb *tb = tb_new();

		tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
		tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
		tb_thread(tb, 10, 10, 1, "one", 0, true);
		tb_fd(tb, 10, 3, 8, 500, S_IFREG | 0644, "/data");
		tb_sys_enter(tb, 0, 1000, SYS_read, 3, 0x1000, 1 << 20);
		tb_sys_exit(tb, 0, 1100, (1 << 20) - 1);
		tb_sys_enter(tb, 0, 1200, SYS_nanosleep, 0x1000, 0);
		tb_switch(tb, 0, 1300, 10, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(tb, 0, 1300 + sleeps[i].ns, 10, TRACE_CONTEXT_HARDIRQ);
		tb_switch(tb, 0, 1400 + sleeps[i].ns, 0, 10, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, 1500 + sleeps[i].ns, 0);
		text = report_of(tb, "-a --pid=10");
		snprintf(wanted, sizeof(wanted), "  %s  ", sleeps[i].text);
		contains(text, wanted);
		contains(text, "Quantity of data read from files: 1.0 MiB\n");
		free(text);
	}
}

/* --top=N shows N rows, "instead of those that matter". */
static void top_shows_small_rows_too(void)
{
	static const char *const options[] = {"-a --pid=10 --ns", "-a --pid=10 --ns --top=2"};

	for (int i = 0; i < 2; i++) {
		struct tb *tb = tb_new();
		char *text;

		tb_window(tb, 1000, 1001000);
		tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
		tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
		tb_thread(tb, 10, 10, 1, "one", 0, true);
		tb_fd(tb, 10, 3, 8, 500, S_IFREG | 0644, "/data");
		tb_fd(tb, 10, 4, 8, 501, S_IFREG | 0644, "/less");
		tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0x1000, 1 << 20);
		tb_sys_exit(tb, 0, 702000, 1 << 20);
		tb_sys_enter(tb, 0, 703000, SYS_read, 4, 0x1000, 10);
		tb_sys_exit(tb, 0, 704000, 10);
		tb_sys_enter(tb, 0, 800000, SYS_getpid);
		tb_sys_exit(tb, 0, 800010, 10);
		tb_switch(tb, 0, 1001000, 10, 0, TRACE_TASK_RUNNING);
		text = report_of(tb, options[i]);
		if (!i)
			contains(text, "  read\n\t\t  (1 more row, 10)\n");
		CU_ASSERT_EQUAL(strstr(text, "  getpid\n") != NULL, i);
		if (!i) /* files without waits have no time to show */
			contains(text, "/data\n\t\t  (1 more row)\n");
		CU_ASSERT_EQUAL(strstr(text, "  /less\n") != NULL, i);
		free(text);
	}
}

/* Rows are small or not in relation to their table's time, not to the whole time. */
static void short_waits_name_the_threads_on_the_cpu_too(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 10001000);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "two", 0, false);
	tb_thread(tb, 30, 30, 1, "three", 0, false);
	tb_switch(tb, 0, 5000, 10, 20, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 8000, 20, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 10000, 30, 10, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 10001000, 10, 0, TRACE_TASK_RUNNING);
	text = report_of(tb, "-a --ns --pid=10");
	contains(text, "3000  0.03  two (20)\n");
	contains(text, "2000  0.02  three (30)\n");
	free(text);
}

/* 500 ns of 100 ms are not worth a row, but a table always has one. */
static void a_table_has_at_least_one_row(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_fault(tb, 0, 1000, 0x1000, true);
	tb_fault_end(tb, 0, 1500, false);
	tb_sys_enter(tb, 0, 100000000, SYS_getpid);
	tb_sys_exit(tb, 0, 100000500, 10);
	text = report_of(tb, "-a --ns");
	contains(text, " 500      500  page fault\n");
	CU_ASSERT_PTR_NULL(strstr(text, "(1 more row"));
	free(text);
}

/* ---- disks ---- */

static void the_table_of_files_names_the_disk(void)
{
	char *text = report_of(disk_story(), "-a --ns");

	contains(text, "  waited  reads  read  writes  written  disk  path\n"
		       "    4000      1  4096       0        0  vda   /overlay/file\n");
	free(text);
}

/* A kernel thread's write names no file. A disk without a name has its number. */
static void a_disk_is_no_file(void)
{
	struct trace_start_thread kernel = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};
	struct trace_block_complete complete = {.dev = VDA | 3, .bytes = 4096, .op = 1, .request = 0xb10c};

	for (int has_name = 0; has_name < 2; has_name++) {
		struct tb *tb = tb_new();
		char *text;

		tb_window(tb, 1000, 20000);
		if (has_name)
			tb_string(tb, TRACE_STRING_DEVICE, VDA | 3, "vda3");
		tb_start(tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "kworker/0:1");
		tb_switch(tb, 0, 3000, 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
		tb_irq(tb, 0, 6000, 24);
		tb_event(tb, 0, 6500, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
		tb_waking(tb, 0, 7000, 30, TRACE_CONTEXT_HARDIRQ);
		tb_irq_exit(tb, 0, 7500, 24);
		tb_switch(tb, 0, 8000, 0, 30, TRACE_TASK_RUNNING);
		tb_switch(tb, 0, 20000, 30, 0, TRACE_TASK_RUNNING);
		text = report_of(tb, "-a --ns --all");
		contains(text, has_name ? "4000 ns for the disk vda3." : "4000 ns for the disk 254:3.");
		contains(text, has_name ? "kworker/0:1  disk vda3\n" : "kworker/0:1  disk 254:3\n");
		contains(text, has_name ? "vda3  (blocks of unknown files)\n" : "254:3  (blocks of unknown files)\n");
		free(text);
	}
}

/* The path in a call may be relative to the working directory of its process. */
static void a_path_without_a_slash_is_no_disk(void)
{
	struct trace_block_complete complete = {.dev = VDA, .bytes = 4096, .op = 1, .request = 0xb10c};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 20000);
	tb_string(tb, TRACE_STRING_DEVICE, VDA, "vda");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_unlink, "unlink");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(tb, 0, 2000, SYS_unlink, 0x1000);
	tb_sys_path(tb, 0, 2100, SYS_unlink, "/lock");
	tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 6000, 24);
	tb_event(tb, 0, 6500, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
	tb_waking(tb, 0, 7000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 7500, 24);
	tb_switch(tb, 0, 8000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 9000, 0);
	text = report_of(tb, "-a --ns");
	contains(text, "4000 ns for\nthe file /lock.");
	contains(text, "one      file /lock\n");
	contains(text, "vda   /lock\n");
	free(text);
}

static void disks_have_their_requests_and_times(void)
{
	struct trace_block_issue issue = {.dev = 0xfe00000, .bytes = 4096, .request = 0x1000};
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096, .request = 0x1000};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_DEVICE, 0xfe00000, "vda");
	tb_event(tb, 0, 1010000, TRACE_EV_block_issue, &issue, sizeof(issue), NULL);
	tb_event(tb, 0, 1030000, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	done.op = 1; /* begun before the trace: without a time */
	done.request = 0x2000;
	tb_event(tb, 0, 1040000, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	text = report_of(tb, "-a --ns");
	contains(text, "Disks (requests, and their time from issue to completion):\n"
		       "  reads  read  writes  written  others  mean time  longest  disk\n"
		       "      1  4096       1     4096       0      20000    20000  vda\n");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_summary_has_the_labels_of_the_original),
		CASE(a_process_page_is_as_expected),
		CASE(the_answer_and_the_tables_of_one_process_come_first),
		CASE(nothing_is_wider_than_the_terminal),
		CASE(a_narrow_terminal_has_fewer_columns_and_a_note),
		CASE(titles_and_paths_fit_the_terminal),
		CASE(a_report_begins_with_the_answer_and_has_no_colours_in_a_pipe),
		CASE(the_summary_shows_the_time_of_day),
		CASE(every_sort_key_sorts_by_its_column),
		CASE(folded_rows_are_sorted_too),
		CASE(top_and_sort_choose_the_processes),
		CASE(each_size_has_its_unit),
		CASE(a_table_has_at_least_one_row),
		CASE(no_number_is_a_thousand_of_its_unit),
		CASE(top_shows_small_rows_too),
		CASE(short_waits_name_the_threads_on_the_cpu_too),
		CASE(sections_show_locks_pairs_and_interrupts),
		CASE(the_table_of_files_names_the_disk),
		CASE(a_disk_is_no_file),
		CASE(a_path_without_a_slash_is_no_disk),
		CASE(disks_have_their_requests_and_times),
		{NULL, NULL},
	};

	return report_main("report", cases, argc, argv);
}
