/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report.c - what tracevisualizer prints: text, JSON, lists; and what it says to bad input. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "image.h"
#include "unit.h"
#include "visualizer.h"

static char trace_path[] = "/tmp/test_report_XXXXXX";

/* "one" reads a file, "t\"wo\x01\xff" writes to a pipe and is woken by nobody; 40 microseconds. */
static void make_trace(void)
{
	struct trace_block_complete done = {.dev = 0xfe00000, .bytes = 4096};
	struct tb *tb = tb_new();
	int fd = mkstemp(trace_path);

	tb_window(tb, 1000000, 1040000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
	tb_string(tb, TRACE_STRING_IRQ, 7, "disk");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "t\"wo\x01\xff", 0, false);
	tb_fd(tb, 10, 3, 1, 100, S_IFREG | 0644, "/da\nta");
	tb_sys_enter(tb, 0, 1002000, SYS_read, 3, 0x7f0000001000, 4096);
	tb_switch(tb, 0, 1003000, 10, 20, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 1013000, 7);
	tb_event(tb, 0, 1013100, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(tb, 0, 1013200, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 1013500, 7);
	tb_switch(tb, 0, 1023000, 20, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1025000, 4096);
	tb_fault(tb, 0, 1026000, 0x1000, true);
	tb_fault_end(tb, 0, 1026500, false);
	tb_switch(tb, 0, 1030000, 10, 0, TRACE_TASK_RUNNING);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

static char story_path[] = "/tmp/test_report_story_XXXXXX";

/* "one" again, slower in its read; and a thread that waits for another's futex, a reader for a writer. 60 microseconds. */
static void make_story_of(char *path, const char *one, const char *lock)
{
	struct tb *tb = tb_new();
	int fd = mkstemp(path);

	tb_window(tb, 1000000, 1060000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_VECTOR, TRACE_VECTOR_LOCAL_TIMER, "local_timer");
	tb_thread(tb, 10, 10, 1, one, 0, true);
	tb_thread(tb, 30, 30, 1, lock, 0, false);
	tb_thread(tb, 31, 30, 1, lock, 0, false);
	tb_fd(tb, 10, 0, 1, 200, S_IFIFO | 0600, "pipe\xff\x1b");
	tb_fd(tb, 30, 1, 1, 200, S_IFIFO | 0600, "pipe\xff\x1b");
	tb_sys_enter(tb, 0, 1001000, SYS_read, 0, 0x10000, 100);
	tb_switch(tb, 0, 1002000, 10, 30, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 0, 1004000, SYS_futex, 0x7f00, 0, 2);
	tb_switch(tb, 0, 1005000, 30, 31, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(tb, 0, 1010000, TRACE_VECTOR_LOCAL_TIMER);
	tb_vector_exit(tb, 0, 1011000, TRACE_VECTOR_LOCAL_TIMER);
	tb_sys_enter(tb, 0, 1024000, SYS_futex, 0x7f00, 1, 1);
	tb_waking(tb, 0, 1025000, 30, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1026000, 1);
	tb_switch(tb, 0, 1030000, 31, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1031000, 0);
	tb_sys_enter(tb, 0, 1032000, SYS_write, 1, 0x20000, 100);
	tb_waking(tb, 0, 1040000, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1041000, 100);
	tb_switch(tb, 0, 1042000, 30, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1050000, 100);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

static void make_story(void)
{
	make_story_of(story_path, "one", "esc\x1b[31m\nlock");
}

static int run_on_trace(const char *options, char **ret_text)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "%s %s", options, trace_path);
	return visualizer_run(arguments, ret_text);
}

/* ---- text ---- */

static void the_summary_has_the_labels_of_the_original(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-s", &text), 0);
	contains(text, "Trace duration: (0, 40)\n\nNumber of occurences of:\n\tEvents: 11\n\tScheduling changes: 3\n\tKernel timer tics: 0\n"
		       "\tSystem call entries: 1\n\tSystem call exits: 1\n\tTrap entries: 1\n\tTrap exits: 1\n\tIRQ entries: 1\n\tIRQ exits: 1\n"
		       "\tBottom halves: 0\n\tTimer expiries: 0\n\tPage allocations: 0\n\tPage frees: 0\n\tPackets Out: 0\n\tPackets In: 0\n");
	free(text);
}

static const char golden_page[] =
	"\tProcess (10, 1): one:\n"
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
	"\t\t  calls  errors  elapsed      %   CPU  interrupted  for a CPU  for else  shortest  median  99th %  longest  name\n"
	"\t\t      1       0    23000  57.50  3000            0       9800     10200     23000   23000   23000    23000  read\n"
	"\t\tTraps:\n"
	"\t\t  calls  major  elapsed     %  CPU  interrupted  for a CPU  for else  shortest  median  99th %  longest  name\n"
	"\t\t      1      0      500  1.25  500            0          0         0       500     500     500      500  page fault\n"
	"\t\tWaiting for a CPU that was taken by:\n"
	"\t\t   time      %  count\n"
	"\t\t  10000  25.00         (nobody: it had to wake up)\n"
	"\t\t   9500  23.75         process 20 t\"wo\\x01\\xff\n"
	"\t\t    300   0.75         (interrupts)\n"
	"\t\tWaiting for:\n"
	"\t\t   time      %  count\n"
	"\t\t  10200  25.50      1  file /da\\x0ata\n"
	"\t\tFiles:\n"
	"\t\t  waited  reads  read  writes  written  path\n"
	"\t\t   10200      1  4096       0        0  /da\\x0ata\n";

static const char golden_front[] =
	"one (10) waited 26 % of its 40000 ns for the file /da\\x0ata; it waited 50 % for a CPU, mostly until\n"
	"one woke up, and used 25 % CPU (6500 ns in its own code, 3500 ns in the kernel).\n"
	"\n"
	"In 40000 ns the 1 CPU of the machine was 75 % busy: 65 % in programs, 8.8 % in the kernel, 1.2 % in\n"
	"interrupts.\n"
	"\n"
	"CPUs (% of the trace):\n"
	"  CPU  busy %  programs  kernel  irq  softirq   idle  unknown\n"
	"    0   75.00     26000    3500  500        0  10000        0\n"
	"\n"
	"Processes (CPU time: in programs, in the kernel; waiting: for a CPU, for else):\n"
	"  PID  parent  elapsed  CPU %  programs  kernel  interrupted  for a CPU  for else  command  most of it for\n"
	"   10       1    40000  25.00      6500    3500            0      19800     10200  one      file /da\\x0ata\n"
	"\n";

/* They were there before the recording, and hidden from the recorder. */
static void processes_without_a_name_read_well(void)
{
	char path[] = "/tmp/test_report_XXXXXX", arguments[64], *text;

	make_story_of(path, "", "");
	snprintf(arguments, sizeof(arguments), "-a --ns %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "The busiest process was process 30 with ");
	contains(text, "those of process 30 the longest");
	contains(text, "\tProcess (10, 1): (no name):\n");
	contains(text, "process 30\n");
	contains(text, "process 30 via pipe\n");
	contains(text, "  (no name)  ");
	CU_ASSERT_PTR_NULL(strstr(text, "  (30)"));
	CU_ASSERT_PTR_NULL(strstr(text, " (10)"));
	CU_ASSERT_PTR_NULL(strstr(text, "process 30 \n"));
	free(text);
	snprintf(arguments, sizeof(arguments), "--critical-path=10 --ns %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "process 10 waited 53.3 % of its 60000 for process 30 (CPU)");
	contains(text, "  process 30: CPU\n");
	contains(text, "  thread 31: system calls\n");
	contains(text, "  process 30 via pipe\n");
	CU_ASSERT_PTR_NULL(strstr(text, "(no name) 3"));
	CU_ASSERT_PTR_NULL(strstr(text, " : "));
	free(text);
	snprintf(arguments, sizeof(arguments), "-a --ns --pid=10 %s", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "process 10 waited ");
	contains(text, "for process 30 via pipe");
	free(text);
	unlink(path);
}

static void the_verdict_and_the_tables_of_one_process_come_first(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a --ns --pid=10", &text), 0);
	CU_ASSERT_EQUAL(strncmp(text, golden_front, strlen(golden_front)), 0);
	contains(text, golden_front);
	free(text);
}

static size_t widest_line(const char *text)
{
	size_t widest = 0, width = 0;

	for (; *text; text++) {
		if (*text == '\n')
			width = 0;
		else if (*text == '\t')
			width += 8 - width % 8;
		else if ((*text & 0xc0) != 0x80)
			width++;
		widest = width > widest ? width : widest;
	}
	return widest;
}

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

/* Less than the numbers of a table take: some go, and a line says which. */
static void a_narrow_terminal_has_fewer_numbers_and_is_told_so(void)
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

/* What stands above tables has as many lines as it takes, and what is too long for one line is cut. */
static void titles_and_paths_are_not_wider_than_the_terminal(void)
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
			contains(text, "Processes (CPU time: in programs, in the kernel; waiting: for a CPU, for\n    else):\n");
		free(text);
	}
	unsetenv("COLUMNS");
	unlink(path);
}

static const char golden_sections[] =
	"What threads waited for (all threads added up; % of that sum):\n"
	"   time      %  waits  for\n"
	"  58000  48.33      2  other processes\n"
	"  62000  51.67         a CPU\n"
	"\n"
	"Files (waited: how long threads were blocked on them):\n"
	"  waited  reads  read  writes  written  path\n"
	"       0      1   100       1      100  pipe\\xff\\x1b\n"
	"\n"
	"Locks (futexes: mutexes, conditions, joins; file locks; semaphores):\n"
	"  waited  waits  who waited                until this let go       lock\n"
	"   20000      1  esc\\x1b[31m\\x0alock (30)  another of its threads  futex 0x7f00\n"
	"\n"
	"Who waited for whom:\n"
	"  waited  waits  who waited                for whom                  via\n"
	"   38000      1  one (10)                  esc\\x1b[31m\\x0alock (30)  pipe\n"
	"   20000      1  esc\\x1b[31m\\x0alock (30)  another of its threads    futex\n"
	"\n"
	"Interrupts (time of the CPUs that they took, idle ones included):\n"
	"  time  count  mean  kind    name\n"
	"  1000      1  1000  vector  local_timer\n"
	"\n";

static const char golden_diff[] =
	"Processes of one name are added up; the greatest differences come first.\n"
	"\n"
	"esc\\x1b[31m\\x0alock: 0 processes in A, 1 in B\n"
	"                             A       B    B - A  B / A\n"
	"  elapsed, of all threads    0  120000  +120000    new\n"
	"  on a CPU, in its own code  0   26000   +26000    new\n"
	"  on a CPU, in the kernel    0   13000   +13000    new\n"
	"  interrupted                0    1000    +1000    new\n"
	"  waiting for a CPU          0   60000   +60000    new\n"
	"  waiting for processes      0   20000   +20000    new\n"
	"\n"
	"one: 1 process in A, 1 in B\n"
	"                                 A      B   B - A  B / A\n"
	"  elapsed, of all threads    40000  60000  +20000   1.50\n"
	"  on a CPU, in its own code   6500  11000   +4500   1.69\n"
	"  on a CPU, in the kernel     3500   9000   +5500   2.57\n"
	"  waiting for a CPU          19800   2000  -17800   0.10\n"
	"  waiting for files          10200      0  -10200   gone\n"
	"  waiting for processes          0  38000  +38000    new\n"
	"\n"
	"t\"wo\\x01\\xff: 1 process in A, 0 in B\n"
	"                                 A  B   B - A  B / A\n"
	"  elapsed, of all threads    40000  0  -40000   gone\n"
	"  on a CPU, in its own code  19500  0  -19500   gone\n"
	"  interrupted                  500  0    -500   gone\n"
	"  waiting for a CPU          20000  0  -20000   gone\n"
	"\n";

static void a_process_page_is_as_expected(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a --ns --pid=10", &text), 0);
	contains(text, golden_page);
	free(text);
}

static void a_report_begins_with_a_verdict_and_no_colours_in_a_pipe(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a", &text), 0);
	CU_ASSERT_EQUAL(strncmp(text, "In 40.00 us the 1 CPU of ", 25), 0);
	CU_ASSERT_PTR_NULL(strchr(text, '\033'));
	CU_ASSERT_PTR_NULL(strchr(text, '\x01'));
	contains(text, "\tSystem-wide:\n");
	free(text);
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

static char *report_of(struct tb *tb, const char *options)
{
	char path[] = "/tmp/test_report_own_XXXXXX", arguments[256], *text;
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "%s %s", options, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	unlink(path);
	return text;
}

static void each_size_has_its_unit(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-a --pid=10", &text), 0);
	contains(text, "Quantity of data read from files: 4.0 KiB\n\t\tQuantity of data written to files: 0 B\n");
	free(text);
}

static void who_used_no_cpu_is_said_to_have_used_none(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 11, 1, "two", 0, false);
	tb_sys_enter(tb, 0, 1000, SYS_getpid);
	tb_sys_exit(tb, 0, 5000, 10);
	text = report_of(tb, "-a");
	contains(text, "(1 more, 0 of them kernel threads, used no CPU; --all shows them)");
	free(text);
}

/* 500 ns of 100 ms are not worth a row, but a table is. */
static void a_table_has_a_row_at_least(void)
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

static void sections_tell_of_locks_pairs_and_interrupts(void)
{
	char arguments[128], *text;

	snprintf(arguments, sizeof(arguments), "-a --ns %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, golden_sections);
	CU_ASSERT_PTR_NULL(strchr(text, '\033'));
	free(text);
}

static off_t first_events(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	off_t offset = 0;

	for (size_t i = 0; i < trace_nr_chunks(trace) && !offset; i++)
		if (trace_get_chunk(trace, i)->kind == TRACE_CHUNK_EVENTS)
			offset = (off_t)trace_get_chunk(trace, i)->offset + 160; /* behind its header */
	trace_close(trace);
	return offset;
}

static void a_damaged_chunk_is_told_in_every_output(void)
{
	static const char *const outputs[] = {"-s", "-a", "-d", "--json"};
	static const char *const words[] = {"Lost: 11 events in 1 gap;", "Lost: 11 events in 1 gap;", "LOST : 11 events", "\"lost\":11"};
	char path[] = "/tmp/test_report_damage_XXXXXX", arguments[256], *text;
	int fd = mkstemp(path);

	snprintf(arguments, sizeof(arguments), "cp %s %s", trace_path, path);
	CU_ASSERT_EQUAL(system(arguments), 0);
	CU_ASSERT_EQUAL(pwrite(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8, first_events(path)), 8);
	close(fd);
	for (size_t i = 0; i < 4; i++) {
		snprintf(arguments, sizeof(arguments), "%s %s", outputs[i], path);
		CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
		contains(text, words[i]);
		contains(text, "tracevisualizer: warning: ");
		if (i == 1) /* in the verdict, too */
			contains(text, "what they touch is unknown.\n");
		free(text);
	}
	snprintf(arguments, sizeof(arguments), "--diff %s %s", trace_path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "; lost: 11 events\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff --json %s %s", trace_path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\"lost\":{\"a\":0,\"b\":11,");
	contains(text, "\"gaps\":{\"a\":0,\"b\":1,");
	free(text);
	unlink(path);
}

/* A recorder that was killed leaves no word of what it had not written: then no number is the right one, and 0 least of all. */
static void losses_that_nobody_counted_are_no_number(void)
{
	static const char *const outputs[] = {"-s", "-a", "--critical-path=one", "--diff"};
	static const char *const words[] = {"Lost: nobody knows how many events in 2 gaps;", "Events may have been lost, nobody knows how many:",
					    "Events may have been lost, nobody knows how many:", "; lost: nobody knows how many events\n"};
	char path[] = "/tmp/test_report_killed_XXXXXX", arguments[256], *text, *c;
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
		while ((c = strchr(text, '\n'))) /* wherever the lines are broken */
			*c = ' ';
		for (c = text; (c = strstr(c, "  "));)
			memmove(c, c + 1, strlen(c));
		contains(text, i == 3 ? "; lost: nobody knows how many events " : words[i]);
		CU_ASSERT_PTR_NULL(strstr(text, " 0 events"));
		free(text);
	}
	unlink(path);
}

/* ---- what needs traces of its own ---- */

static void within_3_percent(json_t *call, const char *key, int64_t truth)
{
	int64_t value = json_integer_value(json_object_get(call, key));

	CU_ASSERT(value * 100 >= truth * 97 && value * 100 <= truth * 103);
}

/* 1000 calls of 1, 2, ... 1000 microseconds */
static void quantiles_are_within_3_percent_and_extremes_exact(void)
{
	struct tb *tb = tb_new();
	uint64_t ns = 1000000;
	json_error_t error;
	json_t *report, *call;
	char *text;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	for (uint64_t i = 1; i <= 1000; i++) {
		tb_sys_enter(tb, 0, ns + 100, SYS_getpid);
		tb_sys_exit(tb, 0, ns + 100 + i * 1000, 10);
		ns += 200 + i * 1000;
	}
	text = report_of(tb, "--json --pid=10");
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	call = json_array_get(json_object_get(json_array_get(json_object_get(report, "processes"), 0), "syscalls"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(call, "calls")), 1000);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(call, "min_ns")), 1000);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(call, "max_ns")), 1000000);
	within_3_percent(call, "p50_ns", 500000);
	within_3_percent(call, "p99_ns", 990000);
	json_decref(report);
	free(text);
}

static void the_verdict_is_about_the_command_and_what_it_started(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/make -j2");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_wait4, "wait4");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, false);
	tb_thread(tb, 40, 40, 39, "tracedaemon", 0, true);
	tb_comm(tb, 0, 1001000, 40, "make");
	tb_exec(tb, 0, 1001000, 40, "/usr/bin/make");
	tb_fork(tb, 0, 1005000, 40, 41, 41, "cc1");
	tb_sys_enter(tb, 0, 1010000, SYS_wait4, 41, 0, 0);
	tb_switch(tb, 0, 1020000, 40, 41, TRACE_TASK_INTERRUPTIBLE);
	tb_exit(tb, 0, 1090000, 41, 41, true);
	tb_waking(tb, 0, 1090000, 40, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 1090000, 41, 40, TRACE_TASK_DEAD);
	tb_sys_exit(tb, 0, 1095000, 41);
	text = report_of(tb, "-a");
	contains(text, "The command ran for 100.00 us: make (40) waited 70 % of its 100.00 us for process 41 cc1 via\n"
		       "waitpid; it waited 0 % for a CPU, and used 30 % CPU (15.00 us in its own code, 15.00 us in the\n"
		       "kernel). It and the 1 process that it started used 100.00 us of CPU, 1.00 CPUs at a time, most by\n"
		       "cc1 (41) with 70.00 us; they waited 15.00 us for a CPU.\n\nIn 100.00 us");
	free(text);
}

/* A command of 100 us; where its begin was lost with a damaged chunk, or another recorder made the trace, it is known by its name only. */
static struct tb *make_named(bool sure)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/make -j2");
	tb_thread(tb, 39, 39, 1, sure ? "tracedaemon" : "sh", 0, false);
	tb_thread(tb, 40, 40, 39, "sh", 0, true);
	tb_comm(tb, 0, 1001000, 40, "make");
	tb_exec(tb, 0, 1001000, 40, "/usr/bin/make");
	return tb;
}

/* 10 sleeps for 30 us, waits 20 us in each of two calls, and three others have 10 us of the CPU that it then waits for. */
static struct tb *make_thirds(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1110000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_msgrcv, "msgrcv");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 20, 20, 1, "twenty", 0, false);
	tb_thread(tb, 21, 21, 1, "another", 0, false);
	tb_thread(tb, 22, 22, 1, "third", 0, false);
	tb_sys_enter(tb, 0, 1010000, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 1010000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_event(tb, 0, 1040000, TRACE_EV_hrtimer_expire, &(struct trace_hrtimer_expire){0}, sizeof(struct trace_hrtimer_expire), NULL);
	tb_waking(tb, 0, 1040000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1040000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1040000, 0);
	tb_sys_enter(tb, 0, 1040000, SYS_futex, 0x1000, 0, 0);
	tb_switch(tb, 0, 1040000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 1060000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 1060000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1060000, 0);
	tb_sys_enter(tb, 0, 1060000, SYS_msgrcv, 1, 0, 0);
	tb_switch(tb, 0, 1060000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 1080000, 0, 20, TRACE_TASK_RUNNING);
	tb_waking(tb, 0, 1080000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 1090000, 20, 21, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 1100000, 21, 22, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 1110000, 22, 10, TRACE_TASK_RUNNING);
	return tb;
}

/* Wherever the lines are broken. */
static void join_lines(char *text)
{
	while ((text = strchr(text, '\n')))
		*text = ' ';
}

static void what_is_not_the_greater_half_is_not_most_of_it(void)
{
	char *text = report_of(make_thirds(), "-a --pid=10");

	join_lines(text);
	contains(text, "one (10) waited 64 % of its 110.00 us for something, 27 % for a timer, then 18 % for ");
	contains(text, "; it waited 27 % for a CPU, 33 % of that taken by ");
	free(text);
	text = report_of(make_thirds(), "--critical-path=10 --from=0.00008");
	join_lines(text);
	contains(text, "The CPU that it waited for was taken the longest by ");
	free(text);
}

/* Process 10 runs for 3 us, until 5000, and sleeps; of the kernel's events only those of @mask may come. */
static struct tb *make_masked(const uint64_t mask[TRACE_MASK_WORDS])
{
	struct tb *tb = tb_new();

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, TRACE_MASK_WORDS * sizeof(*mask), NULL);
	tb_switch(tb, 0, 5000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 7000, 0, 10, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

/* Its thread 10 waits for its thread 11, by a futex, and then 11 for a process of the same name. */
static void own_threads_are_no_processes_of_the_same_name(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 10, 1, "one", 1, true);
	tb_thread(tb, 20, 20, 1, "one", 2, true);
	tb_sys_enter(tb, 0, 1000, SYS_futex, 0x7f00, 128, 2);
	tb_switch(tb, 0, 2000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 1, 52000, SYS_futex, 0x7f00, 129, 1);
	tb_waking(tb, 1, 52100, 10, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 1, 52200, 1);
	tb_switch(tb, 0, 52300, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 52400, 0);
	tb_sys_enter(tb, 1, 53000, SYS_futex, 0x7e00, 0, 2);
	tb_switch(tb, 1, 54000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_enter(tb, 2, 64000, SYS_futex, 0x7e00, 1, 1);
	tb_waking(tb, 2, 64100, 11, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 2, 64200, 1);
	tb_switch(tb, 1, 64300, 0, 11, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 1, 64400, 0);
	text = report_of(tb, "-a --pid=10");
	join_lines(text);
	contains(text, " for another of its threads via futex, then ");
	contains(text, " for process 20 one via futex; ");
	CU_ASSERT_PTR_NULL(strstr(text, "processes named one"));
	free(text);
}

static void who_used_all_of_it_is_not_said_to_have_used_most(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_thread(tb, 11, 11, 1, "one", 0, false);
	tb_switch(tb, 0, 5000, 10, 11, TRACE_TASK_INTERRUPTIBLE);
	tb_switch(tb, 0, 9000, 11, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a --comm=one");
	join_lines(text);
	contains(text, " CPUs at a time, all by one (2 processes); they waited ");
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
	contains(text, "\nSystem calls were not recorded, or not all of the time, or not their entries and exits both: ");
	contains(text, "\n  CPU  busy %  threads  irq  softirq     idle  unknown\n");
	contains(text, "  on a CPU, in its own code or in the kernel\n");
	contains(text, "System call entries: 1\n\tSystem call exits: not recorded\n");
	CU_ASSERT_PTR_NULL(strstr(text, "in its own code, "));
	CU_ASSERT_PTR_NULL(strstr(text, "programs  "));
	free(text);
}

static void a_report_without_interrupts_and_page_faults_does_not_tell_of_none(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text;

	mask[TRACE_EV_irq_entry / 64] &= ~(0xffffull << TRACE_EV_irq_entry % 64);
	mask[TRACE_EV_fault_entry / 64] &= ~(3ull << TRACE_EV_fault_entry % 64);
	text = report_of(make_masked(mask), "-a --all");
	join_lines(text);
	contains(text, " in the kernel, both with interrupts, which were not recorded");
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

/* 10 was in its own code, as far as anybody knows, and its child 11 is in the call that made it, for it is not seen to return. */
static void who_is_sorted_by_what_is_not_known_is_sorted_by_cpu(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0xfffe | 1ull << TRACE_EV_sched_switch | 1ull << TRACE_EV_sched_waking | 1ull << TRACE_EV_sched_fork};
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

static void interrupts_that_were_recorded_are_told_and_of_others_there_is_no_zero(void)
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

static void what_was_not_recorded_is_not_zero(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0xfffe | 1ull << TRACE_EV_sched_switch | 1ull << TRACE_EV_sched_waking};
	static const char *const unknown[] = {"user_ns", "system_ns", "syscall_ns", "trap_ns", "interrupted_ns"};
	json_t *root, *process, *cpu;
	char *text = report_of(make_masked(mask), "-a --pid=10");

	join_lines(text);
	contains(text, "% busy, in programs, the kernel or interrupts: which of them was not recorded. ");
	contains(text, "System call entries: not recorded");
	contains(text, "Packets In: not recorded");
	contains(text, "Number of system calls: not recorded");
	contains(text, "Quantity of data read from files: not recorded");
	contains(text, "Total process time: not known without system calls");
	contains(text, "(categories of events): syscall, trap, irq, fs, block, timer, memory, socket, ipc, network, work. ");
	free(text);
	text = report_of(make_masked(mask), "--json --pid=10");
	root = json_loads(text, 0, NULL);
	process = json_array_get(json_object_get(root, "processes"), 0);
	cpu = json_array_get(json_object_get(root, "cpus"), 0);
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		CU_ASSERT_TRUE(json_is_null(json_object_get(process, unknown[i])));
	for (size_t i = 0; i < 2; i++)
		CU_ASSERT_TRUE(json_is_null(json_object_get(cpu, unknown[i])));
	CU_ASSERT_TRUE(json_is_null(json_object_get(cpu, "irq_ns")) && json_is_null(json_object_get(cpu, "softirq_ns")));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(process, "cpu_ns")), json_integer_value(json_object_get(cpu, "cpu_ns")));
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(process, "cpu_ns")), 6000);
	CU_ASSERT_TRUE(json_is_false(json_object_get(json_object_get(root, "trace"), "sees_interrupts")));
	CU_ASSERT_EQUAL(json_array_size(json_object_get(json_object_get(root, "trace"), "not_recorded")), 11);
	json_decref(root);
	free(text);
}

/* It is found when the chunk is read, and what was in it is either among the events or among those lost. */
static void events_of_a_damaged_chunk_are_told_once(void)
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

/* The recording was halted before it ended. */
static void a_halt_at_the_end_does_not_take_wakeups_away(void)
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
	contains(text, "\nWakeups were not recorded, or not all of the time: of threads ");
	free(text);
}

/* Names are made by whom they name, and files may be damaged, or made to do damage. */
static void no_name_ends_with_half_a_character(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_string(tb, TRACE_STRING_NOT_TRACED, 0, "probe of /tmp/\x1b[2J\xf0");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid\xf0");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_sys_enter(tb, 0, 2000, SYS_getpid);
	tb_sys_exit(tb, 0, 3000, 10);
	tb_switch(tb, 0, 9000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a");
	contains(text, "\nNot traced: probe of /tmp/\\x1b[2J\\xf0\n");
	contains(text, "  getpid\\xf0\n");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --comm=n\xf0", &text), 0);
	contains(text, "No process of this trace is called n\\xf0; without ");
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

static void without_scheduling_no_time_is_told(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	struct tb *tb = tb_new();
	char *text;

	mask[TRACE_EV_sched_switch / 64] &= ~(1ull << TRACE_EV_sched_switch % 64);
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_event(tb, 0, 1000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_sys_enter(tb, 0, 9500, SYS_getpid);
	text = report_of(tb, "-a");
	CU_ASSERT_PTR_EQUAL(strstr(text, "What the CPUs did in 8.50 us is not known.\n"), text);
	CU_ASSERT_PTR_NULL(strstr(text, "CPUs (% of the trace)"));
	CU_ASSERT_PTR_NULL(strstr(text, "Total process time"));
	CU_ASSERT_PTR_NULL(strstr(text, "used no CPU"));
	free(text);
}

static void the_number_of_events_is_that_of_the_trace(void)
{
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};
	char *text = report_of(make_masked(mask), "-s");

	contains(text, "\tEvents: 4, 1 of them of the trace itself\n\tScheduling changes: 3\n"); /* and the start state is none */
	free(text);
	text = report_of(make_masked(mask), "--json");
	contains(text, "\"events\":4,");
	free(text);
}

/* The recorder lets the command go when it has begun to record: 60 us in which it waits for nobody's sake but the recorder's. */
static struct tb *make_held(void)
{
	struct tb *tb = tb_new();

	tb_window(tb, 1000000, 1100000);
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "sleep 0");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_write, "write");
	tb_thread(tb, 39, 39, 1, "tracedaemon", 0, true);
	tb_thread_in(tb, 40, 40, 39, "tracedaemon", 0, false, SYS_read);
	tb_fd(tb, 39, 7, 13, 900, S_IFIFO | 0600, "pipe:[900]");
	tb_fd(tb, 40, 6, 13, 900, S_IFIFO | 0600, "pipe:[900]");
	tb_sys_enter(tb, 0, 1055000, SYS_write, 7, 0, 1);
	tb_waking(tb, 0, 1060000, 40, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 0, 1060000, 1);
	tb_switch(tb, 0, 1060000, 39, 40, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_exit(tb, 0, 1061000, 1);
	tb_comm(tb, 0, 1062000, 40, "sleep");
	tb_exec(tb, 0, 1062000, 40, "/bin/sleep");
	tb_sys_enter(tb, 0, 1070000, SYS_nanosleep, 0, 0);
	tb_switch(tb, 0, 1070000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_event(tb, 0, 1090000, TRACE_EV_hrtimer_expire, &(struct trace_hrtimer_expire){0}, sizeof(struct trace_hrtimer_expire), NULL);
	tb_waking(tb, 0, 1090000, 40, TRACE_CONTEXT_HARDIRQ);
	tb_switch(tb, 0, 1090000, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 1090000, 0);
	return tb;
}

static void a_command_did_not_run_while_it_was_held(void)
{
	char path[] = "/tmp/test_report_held_XXXXXX", options[64], *text = report_of(make_held(), "-a");
	struct tb *tb = make_held();
	int fd = mkstemp(path);

	contains(text, "The command ran for 40.00 us: sleep (40) waited 50 % of its 40.00 us for");
	CU_ASSERT_PTR_NULL(strstr(text, "for process 39 tracedaemon via\npipe;"));
	free(text);
	text = report_of(make_held(), "-a --pid=40"); /* who asks for the process has all of its time */
	contains(text, "sleep (40) waited 80 % of its 100.00 us for");
	free(text);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(options, sizeof(options), "--diff --all %s", path);
	text = report_of(make_held(), options);
	contains(text, "The command sleep ran for 40.00 us in A, sleep for 40.00 us in B");
	free(text);
	snprintf(options, sizeof(options), "--diff --json %s", path);
	text = report_of(make_held(), options);
	contains(text, "\"elapsed_ns\":{\"a\":40000,\"b\":40000,");
	contains(text, "\"wait_process_ns\":{\"a\":0,\"b\":0,");
	free(text);
	unlink(path);
}

static void a_command_that_is_known_by_its_name_only_is_told_as_such(void)
{
	char *text = report_of(make_named(false), "-a");

	contains(text, "The first process seen with the command's name ran for 100.00 us: make (40)");
	free(text);
	text = report_of(make_named(false), "--json");
	contains(text, "\"command_pid\":40,\"command_is_sure\":false");
	free(text);
	text = report_of(make_named(true), "--json");
	contains(text, "\"command_pid\":40,\"command_is_sure\":true");
	free(text);
}

static void a_comparison_tells_commands_that_are_known_by_their_names_only(void)
{
	static const struct {
		bool sure[2];
		const char *wanted;
	} cases[] = {
		{{true, true}, "The command make ran for 100.00 us in A, make for 100.00 us in B: 1.00 times as long.\nOnly the commands and"},
		{{false, true}, "The first process seen with the command's name make ran for 100.00 us in A, the command make for 100.00 us in B: "
				"1.00 times as long.\nOnly these processes and what they started;"},
		{{true, false}, "The command make ran for 100.00 us in A, the first process seen with the command's name make for 100.00 us in B: "},
		{{false, false}, "The first process seen with the command's name make ran for 100.00 us in A, the first process seen with the "
				 "command's name make for 100.00 us in B: "},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[] = "/tmp/test_report_diff_XXXXXX", options[64], *text;
		struct tb *tb = make_named(cases[i].sure[0]);
		int fd = mkstemp(path);

		tb_write(tb, fd, true);
		close(fd);
		tb_free(tb);
		snprintf(options, sizeof(options), "--diff %s", path);
		text = report_of(make_named(cases[i].sure[1]), options);
		contains(text, cases[i].wanted);
		free(text);
		unlink(path);
	}
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

static void an_empty_trace_and_a_name_that_nobody_has_are_told_so(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000000, 1100000);
	text = report_of(tb, "-a");
	CU_ASSERT_PTR_EQUAL(strstr(text, "In 100.00 us nothing of what CPUs did was recorded.\n"), text);
	CU_ASSERT_PTR_NULL(strstr(text, "0 CPUs"));
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --comm=nobody", &text), 0);
	contains(text, "No process of this trace is called nobody; without --pid, --comm and --cgroup all are listed.\n");
	CU_ASSERT_PTR_NULL(strstr(text, "System-wide")); /* nothing of the others */
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --pid=4711", &text), 0);
	contains(text, "No process of this trace is number 4711; without --pid, --comm and --cgroup all are listed.\n");
	free(text);
}

/* ---- comparison ---- */

/* The kernel has them at -1. */
static void deadline_threads_have_their_priority(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 40, 40, 1, "camera", 0, true);
	tb_add(tb, 0, 1001000, sched_prio, NULL, .tid = 40, .old_prio = 120, .new_prio = -1);
	tb_add(tb, 0, 1002000, sched_switch, NULL, .prev_tid = 0, .next_tid = 40, .next_prio = -1);
	text = report_of(tb, "-d -fl");
	contains(text, "PRIORITY PID : 40; 120 -> -1");
	free(text);
}

/* The last kinds in the table, and what follows them there. */
static void waits_of_each_kind_have_words(void)
{
	struct trace_start_thread hidden = {.tid = 50, .tgid = 50, .nr = -1, .flags = TRACE_THREAD_HIDDEN, .state = TRACE_TASK_INTERRUPTIBLE};
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 40, 40, 1, "limited", 0, true);
	tb_start(tb, 1000, TRACE_EV_start_thread, &hidden, sizeof(hidden), "hidden");
	tb_add(tb, 0, 1001000, sched_quota, NULL, .tid = 40);
	tb_switch(tb, 0, 1001000, 40, 0, TRACE_TASK_RUNNING);
	tb_add(tb, 0, 9001000, sched_quota, NULL, .tid = 40, .over = 1, .ns = 8000000);
	tb_switch(tb, 0, 9001000, 0, 40, TRACE_TASK_RUNNING);
	text = report_of(tb, "-a --all");
	contains(text, "1  the CPU quota of their control groups\n");
	contains(text, "unknown (threads that the kernel hides)\n");
	contains(text, "  quota\n");
	free(text);
}

static void a_hidden_thread_waited_for_nobody_knows_what(void)
{
	struct trace_start_thread hidden = {.tid = 50, .tgid = 50, .nr = -1, .flags = TRACE_THREAD_HIDDEN, .state = TRACE_TASK_INTERRUPTIBLE};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 9001000);
	tb_thread(tb, 40, 40, 1, "other", 0, true);
	tb_start(tb, 1000, TRACE_EV_start_thread, &hidden, sizeof(hidden), "hidden");
	tb_switch(tb, 0, 1001000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "-a --pid=50");
	join_lines(text);
	contains(text, " for nobody knows what, hidden");
	free(text);
}

static void two_traces_are_compared_by_name(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "--diff --ns %s %s", trace_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, golden_diff);
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff %s", trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 2);
	contains(text, "needs two traces");
	free(text);
}

static int64_t member(json_t *object, const char *key, const char *side)
{
	return json_integer_value(json_object_get(json_object_get(object, key), side));
}

static void a_comparison_as_json_has_its_schema(void)
{
	char arguments[256], *text;
	json_error_t error;
	json_t *report, *name;
	size_t i, found = 0;

	snprintf(arguments, sizeof(arguments), "--diff --json %s %s", trace_path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(report, "schema")), "trace-diff/1");
	json_array_foreach(json_object_get(report, "names"), i, name) {
		CU_ASSERT_EQUAL(member(name, "elapsed_ns", "difference"), member(name, "elapsed_ns", "b") - member(name, "elapsed_ns", "a"));
		if (strcmp(json_string_value(json_object_get(name, "comm")), "one") != 0)
			continue;
		found++;
		CU_ASSERT_EQUAL(member(name, "elapsed_ns", "a"), 40000);
		CU_ASSERT_EQUAL(member(name, "elapsed_ns", "b"), 60000);
		CU_ASSERT_EQUAL(member(name, "wait_file_ns", "difference"), -10200);
		CU_ASSERT_EQUAL(member(name, "wait_process_ns", "b"), 38000);
	}
	CU_ASSERT_EQUAL(found, 1);
	json_decref(report);
	free(text);
}

/* A trace of scheduling alone, beside story_path, in which one name is the same. */
static void a_comparison_divides_only_what_both_recorded(void)
{
	char path[] = "/tmp/test_report_own_XXXXXX", arguments[256], *text;
	uint64_t mask[TRACE_MASK_WORDS] = {0xfffe | 1ull << TRACE_EV_sched_switch | 1ull << TRACE_EV_sched_waking};
	struct tb *tb = make_masked(mask);
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	snprintf(arguments, sizeof(arguments), "--diff --comm=one %s %s", path, story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\nSystem calls were not all recorded in A: what was in the kernel is not known.\n"
		       "Interrupts were not recorded in A: they count there as time on a CPU.\n");
	contains(text, "\n  on a CPU                 6.00 us ");
	CU_ASSERT_PTR_NULL(strstr(text, "in its own code"));
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff --json --comm=one %s %s", story_path, path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "\"b\":6000,");
	contains(text, "\"interrupted_ns\":{\"a\":0,\"b\":null,\"difference\":null,\"ratio\":null}");
	free(text);
	unlink(path);
}

/* ---- JSON ---- */

static void the_json_is_valid_and_has_the_schema(void)
{
	json_error_t error;
	json_t *report, *process, *wait;
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("--json --pid=10", &text), 0);
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(report, "schema")), "trace-summary/1");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_object_get(report, "trace"), "elapsed_ns")), 40000);
	process = json_array_get(json_object_get(report, "processes"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(process, "system_ns")), 3500);
	wait = json_array_get(json_object_get(process, "waits"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(wait, "kind")), "file");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(wait, "target")), "/da\nta");
	CU_ASSERT_EQUAL(json_array_size(json_object_get(process, "threads")), 1);
	CU_ASSERT_TRUE(json_is_array(json_object_get(report, "servers")));
	json_decref(report);
	free(text);
}

static void names_that_are_not_utf8_become_valid(void)
{
	json_error_t error;
	json_t *report;
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("--json --pid=20", &text), 0);
	report = json_loads(text, 0, &error); /* refuses invalid UTF-8 */
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(json_object_get(report, "processes"), 0), "comm")),
			       "t\"wo\x01\xef\xbf\xbd");
	json_decref(report);
	free(text);
}

static void the_json_of_locks_and_strange_names_is_valid(void)
{
	char arguments[128], *text;
	json_error_t error;
	json_t *report, *lock, *interrupt;

	snprintf(arguments, sizeof(arguments), "--json %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	report = json_loads(text, 0, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "locks")), 1);
	lock = json_array_get(json_object_get(report, "locks"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "pid")), 30);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "holder_pid")), 30);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "address")), 0x7f00);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(lock, "ns")), 20000);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(lock, "comm")), "esc\x1b[31m\nlock");
	interrupt = json_array_get(json_object_get(report, "interrupts"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(interrupt, "name")), "local_timer");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(interrupt, "ns")), 1000);
	json_decref(report);
	free(text);
}

#define VDA (254u << 20)

/* One reads a file of no device (an overlay) that vda served; "two" has written to another, on vda's file system. */
static struct tb *disk_story(void)
{
	struct trace_block_issue issue = {.dev = VDA, .bytes = 4096, .request = 0xb10c};
	struct trace_block_complete complete = {.dev = VDA, .bytes = 4096, .request = 0xb10c};
	struct tb *tb = tb_new();

	tb_window(tb, 1000, 20000);
	tb_string(tb, TRACE_STRING_DEVICE, VDA, "vda");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_thread(tb, 10, 10, 1, "one", 0, true);
	tb_fd(tb, 10, 3, 40, 7, 0100644, "/overlay/file");
	tb_fd(tb, 10, 4, VDA, 8, 0100644, "/plain");
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 4096);
	tb_event(tb, 0, 2500, TRACE_EV_block_issue, &issue, sizeof(issue), NULL);
	tb_switch(tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 6000, 24);
	tb_event(tb, 0, 6500, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
	tb_waking(tb, 0, 7000, 10, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 7500, 24);
	tb_switch(tb, 0, 8000, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 9000, 4096);
	tb_sys_enter(tb, 0, 10000, SYS_read, 4, 0, 100);
	tb_sys_exit(tb, 0, 11000, 100);
	tb_switch(tb, 0, 20000, 10, 0, TRACE_TASK_RUNNING);
	return tb;
}

static const json_t *row_with(const json_t *rows, const char *key, const char *value)
{
	const json_t *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (strcmp(json_string_value(json_object_get(row, key)), value) == 0)
			return row;
	return NULL;
}

static void the_json_tells_of_disks_and_which_had_a_file(void)
{
	char *text = report_of(disk_story(), "--json");
	json_t *report = json_loads(text, 0, NULL);
	const json_t *one, *disk, *files;

	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	one = row_with(json_object_get(report, "processes"), "comm", "one");
	files = json_object_get(one, "files");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(files, "path", "/overlay/file"), "device")), "vda");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(files, "path", "/plain"), "device")), "vda");
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row_with(json_object_get(one, "waits"), "kind", "file"), "device")), "vda");
	disk = json_array_get(json_object_get(report, "disks"), 0);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(disk, "device")), "vda");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "reads")), 1);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "read_bytes")), 4096);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(disk, "requests_ns")), 4000);
	json_decref(report);
	free(text);
}

static void the_table_of_files_names_the_disk(void)
{
	char *text = report_of(disk_story(), "-a --ns");

	contains(text, "  waited  reads  read  writes  written  disk  path\n"
		       "    4000      1  4096       0        0  vda   /overlay/file\n");
	free(text);
}

/* What a thread of the kernel writes, is of no file that it tells. */
static void a_disk_is_no_file(void)
{
	struct trace_start_thread kernel = {.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .running = 1};
	struct trace_block_complete complete = {.dev = VDA, .bytes = 4096, .op = 1, .request = 0xb10c};
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 20000);
	tb_string(tb, TRACE_STRING_DEVICE, VDA, "vda");
	tb_start(tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "kworker/0:1");
	tb_switch(tb, 0, 3000, 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 0, 6000, 24);
	tb_event(tb, 0, 6500, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
	tb_waking(tb, 0, 7000, 30, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 0, 7500, 24);
	tb_switch(tb, 0, 8000, 0, 30, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 20000, 30, 0, TRACE_TASK_RUNNING);
	text = report_of(tb, "-a --ns --all");
	contains(text, "4000 ns for the disk vda.");
	contains(text, "kworker/0:1  disk vda\n");
	contains(text, "vda   (blocks of no file that is known)\n");
	free(text);
}

static void the_json_tells_who_waited_for_whom(void)
{
	char arguments[128], *text;
	json_t *report, *pair;

	snprintf(arguments, sizeof(arguments), "--json %s", story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	report = json_loads(text, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(report);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(report, "pairs")), 2);
	pair = json_array_get(json_object_get(report, "pairs"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(pair, "pid")), 10);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(pair, "for_pid")), 30);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(pair, "via")), "pipe");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(pair, "ns")), 38000);
	json_decref(report);
	free(text);
}

/* ---- lists ---- */

static void the_list_has_the_columns_of_the_original(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -tSCHED", &text), 0);
	contains(text, "####################################################################\n"
		       "CPU-ID\tEvent                  \tTime\tPID\tLength\tDescription\n"
		       "####################################################################\n");
	contains(text, "0 \tSched change           \t");
	contains(text, " \t10 \t16 \tIN : 20; OUT : 10; STATE : ");
	contains(text, " \t20 \t16 \tIN : 10; OUT : 20; STATE : ");
	CU_ASSERT_PTR_NULL(strstr(text, "Syscall"));
	free(text);
}

static void columns_can_be_left_out(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -fct -fl -tsys_exit", &text), 0);
	contains(text, "\nSyscall exit           \t10 \tRETURN : 4096\n");
	free(text);
}

static void calls_show_the_arguments_that_they_have(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -fctpl -tSYS_ENTRY", &text), 0);
	contains(text, "\nSyscall entry          \tSYSCALL : read(3, *, 4096)\n");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -y -fctpl -tSYS_ENTRY", &text), 0);
	contains(text, "\nSyscall entry          \tSYSCALL : read(3</da\\x0ata>, *, 4096)\n");
	free(text);
}

static void one_process_comes_with_the_change_that_brings_it_in(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -p20 -tsched", &text), 0);
	contains(text, "Tracing process 20 only\n");
	contains(text, "IN : 20; OUT : 10");
	contains(text, "IN : 10; OUT : 20");
	CU_ASSERT_PTR_NULL(strstr(text, "IN : 0; OUT : 10"));
	free(text);
}

/* 10 passed the filter. 98 and 99 did not: that 99 came when 10 left tells nothing of who woke 10, or was woken beside it, later. */
static void a_list_of_some_processes_names_nobody_who_may_have_left(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
	tb_thread(tb, 10, 10, 1, "ten", 0, true);
	tb_sys_enter(tb, 0, 1000, SYS_getpid);
	tb_waking(tb, 0, 1500, 11, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 2000, 10, 99, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 3000, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 4000, 98, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 5000, 10);
	text = report_of(tb, "-d -ft");
	contains(text, "0 \tProcess                \t10 \t8 \tWAKEUP PID : 11;");
	contains(text, "0 \tSched change           \t10 \t16 \tIN : 99; OUT : 10;");
	contains(text, "0 \tProcess                \tN/A \t8 \tWAKEUP PID : 10;");
	contains(text, "0 \tSched change           \t98 \t16 \tIN : 10; OUT : 98;");
	contains(text, "0 \tSyscall exit           \t10 \t");
	free(text);
}

/* Process 10 alone was recorded, and others had its CPU for 30 of its 40 us. */
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

static void of_whom_a_filter_left_out_nothing_is_told(void)
{
	char *text = report_of(make_filtered(), "-a");

	join_lines(text);
	contains(text, " the 2 CPUs of the machine that were seen were 12 % busy with what the filter let pass: ");
	contains(text, "   1       ?         -  "); /* how busy it was nobody knows */
	contains(text, " more, of whom nothing is known: they did not pass the filter; --all shows them)");
	contains(text, "  CPU  busy %  programs  kernel  irq  softirq   unknown ");
	contains(text, "System idle: not known, ");
	CU_ASSERT_PTR_NULL(strstr(text, "used no CPU"));
	free(text);
	text = report_of(make_filtered(), "--json");
	contains(text, "\"filtered\":true,");
	contains(text, "\"idle_ns\":null,\"unknown_ns\":30000}");
	free(text);
	text = report_of(make_filtered(), "--critical-path=10");
	join_lines(text);
	contains(text, " For 30.00 us it waited for CPUs that somebody may have had whom the recording left out.");
	CU_ASSERT_PTR_NULL(strstr(text, "nobody"));
	free(text);
}

static void a_process_may_be_called_nobody(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 41000);
	tb_thread(tb, 10, 10, 1, "ten", 0, true);
	tb_thread(tb, 50, 50, 1, "nobody", 0, false);
	tb_switch(tb, 0, 3000, 10, 50, TRACE_TASK_RUNNING);
	tb_switch(tb, 0, 33000, 50, 10, TRACE_TASK_RUNNING);
	text = report_of(tb, "--critical-path=10");
	join_lines(text);
	contains(text, " The CPU that it waited for was mostly taken by nobody 50: 30.00 us.");
	free(text);
}

static void a_window_and_omitted_events(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d --from=0.000020 --to=0.0000255 -osched_switch", &text), 0);
	contains(text, "RETURN : 4096");
	CU_ASSERT_PTR_NULL(strstr(text, "Trap"));
	CU_ASSERT_PTR_NULL(strstr(text, "Sched"));
	free(text);
}

/* ---- usage ---- */

static void wrong_usage_is_one_line_and_status_2(void)
{
	static const struct {
		const char *arguments;
		const char *says;
	} wrong[] = {
		{"", "no trace given"},
		{"-Z t", "option -Z is not known"},
		{"--nonsense t", "option --nonsense is not known"},
		{"-c t", "needs its value glued to it"},
		{"-cx t", "'x' is not a number"},
		{"--sort=tallest t", "is not a key to sort by"},
		{"-a --top=0 t", "'0' is not a number of rows"},
		{"--pid", "needs a value"},
		{"--json=1 t", "takes no value"},
		{"a b c d", "is one too many"},
		{"--diff a", "needs two traces"},
		{"-a a /nonexistent/out", "use --output /nonexistent/out"},
		{"-d --from=2 --to=1 t", "--from has to be before --to"},
		{"--diff -d a b", "--diff goes with none of -d, --verify and --critical-path"},
		{"--diff --verify a b", "--diff goes with none of"},
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char *text;

		CU_ASSERT_EQUAL(visualizer_run(wrong[i].arguments, &text), 2);
		contains(text, wrong[i].says);
		CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
}

static void options_without_effect_are_told(void)
{
	static const struct {
		const char *options, *wanted;
	} cases[] = {
		{"-a -c0", "warning: --cpu has no effect here: it chooses a CPU for lists (-d)\n"},
		{"-tsched", "warning: --trace has no effect here: "},
		{"-a --from=0.00001", "warning: --from has no effect here: it chooses a time for lists (-d) and --critical-path\n"},
		{"-s --pid=10", "warning: --pid has no effect here: "},
		{"-d --comm=one", "warning: --comm has no effect here: "},
		{"-a -d -c0 --pid=10 --from=0.00001", NULL},
		{"--critical-path=one --from=0.00001", NULL},
		{"--json --comm=one", NULL},
	};
	char *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(run_on_trace(cases[i].options, &text), 0);
		if (cases[i].wanted)
			contains(text, cases[i].wanted);
		else
			CU_ASSERT_PTR_NULL(strstr(text, "has no effect"));
		free(text);
	}
}

static void failures_name_the_cause_and_status_is_1(void)
{
	char *text;

	CU_ASSERT_EQUAL(visualizer_run("-a /nonexistent/t.trace", &text), 1);
	contains(text, "/nonexistent/t.trace");
	free(text);
	CU_ASSERT_EQUAL(visualizer_run("-a /etc/passwd", &text), 1);
	contains(text, "/etc/passwd");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --output /nonexistent/out", &text), 1);
	contains(text, "/nonexistent/out cannot be written: No such file or directory");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --output /dev/full", &text), 1);
	contains(text, "/dev/full could not be written completely: No space left on device");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -tNOSUCH", &text), 2);
	contains(text, "'NOSUCH' is no event");
	free(text);
}

static void a_list_that_would_be_empty_says_why(void)
{
	char *text;

	CU_ASSERT_EQUAL(run_on_trace("-d -c9", &text), 2);
	contains(text, "the trace has no CPU 9: it has 1, counted from 0\n");
	CU_ASSERT_PTR_NULL(strstr(text, "Event"));
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d --from=5", &text), 2);
	contains(text, "--from is behind the end of the trace, which is 0.");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -tpage_alloc", &text), 0);
	contains(text, "the trace has no event to list that was asked for; tracevisualizer -s tells ");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -tsys_enter", &text), 0); /* of whatever number of arguments */
	contains(text, "SYSCALL : read(");
	CU_ASSERT_PTR_NULL(strstr(text, "no event to list"));
	free(text);
}

/* "tracevisualizer -a *.trace" names two or three traces, and the third word is where the report goes. */
static void a_trace_is_never_written_over(void)
{
	char arguments[256], copy[64], *text;
	struct stat before, after;

	snprintf(copy, sizeof(copy), "%s.copy", trace_path);
	snprintf(arguments, sizeof(arguments), "cp %s %s", trace_path, copy);
	CU_ASSERT_EQUAL(system(arguments), 0);
	CU_ASSERT_EQUAL(stat(trace_path, &before), 0);
	snprintf(arguments, sizeof(arguments), "-d %s --output %s", trace_path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	contains(text, "is a trace and is not replaced; remove it, or name another file\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "-a %s %s", trace_path, copy);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 2);
	contains(text, "is another trace; one at a time, or --diff ");
	free(text);
	snprintf(arguments, sizeof(arguments), "-a %s /etc/passwd %s", copy, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff %s %s %s", copy, copy, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	free(text);
	CU_ASSERT_EQUAL(stat(trace_path, &after), 0);
	CU_ASSERT_EQUAL(after.st_size, before.st_size);
	unlink(copy);
}

static void verified_json_is_json(void)
{
	char arguments[256], *text;
	json_t *json;

	snprintf(arguments, sizeof(arguments), "--json --verify --output %s.json %s", trace_path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "balance to the nanosecond\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "%s.json", trace_path);
	json = json_load_file(arguments, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL(json);
	json_decref(json);
	unlink(arguments);
}

static void help_fits_a_screen(void)
{
	char *text;
	int lines = 0;

	CU_ASSERT_EQUAL(visualizer_run("--help", &text), 0);
	for (const char *at = text; (at = strchr(at, '\n')); at++)
		lines++;
	CU_ASSERT(lines <= 24);
	for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
		CU_ASSERT(end - at <= 80);
	free(text);
}

/* What the kernel calls "TCP" is no path; who waited for a CPU that nobody had, waited for it to wake up; what ended a call, nobody saw. */
static void strange_rows_have_words(void)
{
	struct tb *tb = tb_new();
	char *text;

	tb_window(tb, 1000, 41000);
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_read, "read");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_thread(tb, 40, 40, 1, "one", 0, true);
	tb_fd(tb, 40, 3, 8, 500, S_IFSOCK | 0777, "TCP");
	tb_sys_enter(tb, 0, 2000, SYS_read, 3, 0, 100);
	tb_sys_exit(tb, 0, 3000, 100);
	tb_sys_enter(tb, 0, 4000, SYS_futex, 0x1000, 0, 0);
	tb_switch(tb, 0, 5000, 40, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, 11000, 40, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 31000, 0, 40, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 32000, 0);
	text = report_of(tb, "-a --ns --pid=40");
	contains(text, "for the end of futex via futex; it waited 50 % for a CPU,\nmostly until one woke up, and used");
	contains(text, "20000  50.00         (nobody: it had to wake up)\n");
	contains(text, "6000  15.00      1  the end of futex via futex\n");
	contains(text, "(sockets, TCP)\n");
	free(text);
}

static void old_positionals_and_a_pipe_work(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "-a %s /etc/passwd %s.out", trace_path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	snprintf(arguments, sizeof(arguments), "%s.out", trace_path);
	CU_ASSERT_EQUAL(access(arguments, R_OK), 0);
	unlink(arguments);
	snprintf(arguments, sizeof(arguments), "--verify - < %s", trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "balance to the nanosecond");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
#define CASE(name) {#name, name}
		CASE(the_summary_has_the_labels_of_the_original),
		CASE(a_process_page_is_as_expected),
		CASE(processes_without_a_name_read_well),
		CASE(the_verdict_and_the_tables_of_one_process_come_first),
		CASE(nothing_is_wider_than_the_terminal),
		CASE(a_narrow_terminal_has_fewer_numbers_and_is_told_so),
		CASE(titles_and_paths_are_not_wider_than_the_terminal),
		CASE(a_damaged_chunk_is_told_in_every_output),
		CASE(losses_that_nobody_counted_are_no_number),
		CASE(a_report_begins_with_a_verdict_and_no_colours_in_a_pipe),
		CASE(top_and_sort_choose_the_processes),
		CASE(each_size_has_its_unit),
		CASE(who_used_no_cpu_is_said_to_have_used_none),
		CASE(a_table_has_a_row_at_least),
		CASE(sections_tell_of_locks_pairs_and_interrupts),
		CASE(the_json_tells_of_disks_and_which_had_a_file),
		CASE(the_table_of_files_names_the_disk),
		CASE(a_disk_is_no_file),
		CASE(strange_rows_have_words),
		CASE(the_json_tells_who_waited_for_whom),
		CASE(quantiles_are_within_3_percent_and_extremes_exact),
		CASE(the_verdict_is_about_the_command_and_what_it_started),
		CASE(what_is_not_the_greater_half_is_not_most_of_it),
		CASE(own_threads_are_no_processes_of_the_same_name),
		CASE(who_used_all_of_it_is_not_said_to_have_used_most),
		CASE(a_report_without_system_calls_does_not_divide_time_on_a_cpu),
		CASE(a_report_without_interrupts_and_page_faults_does_not_tell_of_none),
		CASE(who_is_sorted_by_what_is_not_known_is_sorted_by_cpu),
		CASE(interrupts_that_were_recorded_are_told_and_of_others_there_is_no_zero),
		CASE(what_was_not_recorded_is_not_zero),
		CASE(events_of_a_damaged_chunk_are_told_once),
		CASE(a_halt_at_the_end_does_not_take_wakeups_away),
		CASE(no_name_ends_with_half_a_character),
		CASE(a_path_on_cpus_is_divided_only_if_calls_were_recorded),
		CASE(without_scheduling_no_time_is_told),
		CASE(the_number_of_events_is_that_of_the_trace),
		CASE(a_command_did_not_run_while_it_was_held),
		CASE(a_command_that_is_known_by_its_name_only_is_told_as_such),
		CASE(a_comparison_tells_commands_that_are_known_by_their_names_only),
		CASE(disks_have_their_requests_and_times),
		CASE(an_empty_trace_and_a_name_that_nobody_has_are_told_so),
		CASE(deadline_threads_have_their_priority),
		CASE(waits_of_each_kind_have_words),
		CASE(a_hidden_thread_waited_for_nobody_knows_what),
		CASE(two_traces_are_compared_by_name),
		CASE(a_comparison_as_json_has_its_schema),
		CASE(a_comparison_divides_only_what_both_recorded),
		CASE(the_json_is_valid_and_has_the_schema),
		CASE(names_that_are_not_utf8_become_valid),
		CASE(the_json_of_locks_and_strange_names_is_valid),
		CASE(the_list_has_the_columns_of_the_original),
		CASE(columns_can_be_left_out),
		CASE(calls_show_the_arguments_that_they_have),
		CASE(one_process_comes_with_the_change_that_brings_it_in),
		CASE(a_list_of_some_processes_names_nobody_who_may_have_left),
		CASE(of_whom_a_filter_left_out_nothing_is_told),
		CASE(a_process_may_be_called_nobody),
		CASE(a_window_and_omitted_events),
		CASE(wrong_usage_is_one_line_and_status_2),
		CASE(options_without_effect_are_told),
		CASE(failures_name_the_cause_and_status_is_1),
		CASE(a_list_that_would_be_empty_says_why),
		CASE(a_trace_is_never_written_over),
		CASE(verified_json_is_json),
		CASE(help_fits_a_screen),
		CASE(old_positionals_and_a_pipe_work),
		{NULL, NULL},
	};
	int result;

	make_trace();
	make_story();
	result = unit_main("report", cases, argc, argv);
	unlink(trace_path);
	unlink(story_path);
	return result;
}
