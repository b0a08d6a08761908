/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e.c - record real programs on the real kernel, and compare the report with what the
 * programs measured themselves (tests/kernel/workload.c). Root only; skipped (77) where the kernel
 * cannot be recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trace/reader.h>
#include "e2e_session.h"
#include "spend.h"
#include "unit.h"

#define PERCENT 0.01

static const char *bin = TRACE_BIN;

/* The ns in waits of @kind, @via if not NULL, for @pid if not 0. */
static long long wait_ns(json_t *process, const char *kind, const char *via, long long pid)
{
	long long ns = 0;
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(process, "waits"), i, wait) {
		const char *its_kind = json_string_value(json_object_get(wait, "kind"));
		const char *its_via = json_string_value(json_object_get(wait, "via"));

		if (strcmp(its_kind, kind) == 0 && (!via || (its_via && strcmp(its_via, via) == 0)) &&
		    (!pid || json_number(wait, "pid") == pid))
			ns += json_number(wait, "ns");
	}
	return ns;
}

/* elapsed = user + system + interrupted + wait_cpu + waits, to the nanosecond, for each process and
 * thread. */
static void check_sums(json_t *one)
{
	long long sum = json_number(one, "user_ns") + json_number(one, "system_ns") +
			json_number(one, "interrupted_ns") + json_number(one, "wait_cpu_ns");
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(one, "waits"), i, wait)
		sum += json_number(wait, "ns");
	CU_ASSERT_EQUAL(sum, json_number(one, "elapsed_ns"));
}

static void check_all_sums(json_t *report)
{
	json_t *process, *thread;
	size_t i, j;

	json_array_foreach(json_object_get(report, "processes"), i, process) {
		check_sums(process);
		json_array_foreach(json_object_get(process, "threads"), j, thread)
			check_sums(thread);
	}
}

static void record_with(struct session *s, const char *options, const char *scenario)
{
	session_begin(s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s %s -- %s %s %s %s 2>%s/stderr", bin, options, s->trace,
					  TRACE_WORKLOAD, scenario, s->truth, s->folder, s->folder),
			      0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >/dev/null", bin, s->trace), 0);
	s->report = session_load(s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s->report);
	check_all_sums(s->report);
	s->process = json_process(s->report, session_truth(s, "pid"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(s->process);
}

static void record(struct session *s, const char *scenario)
{
	record_with(s, "-b2097152", scenario); /* room for the events of a busy machine */
}

/* |got - expected| is within 1 % of expected, or within @slack. */
static void check_near(const char *what, long long got, long long expected, long long slack)
{
	long long allowed = (long long)(expected * PERCENT);
	long long off = got > expected ? got - expected : expected - got;

	if (allowed < slack)
		allowed = slack;
	if (off > allowed)
		fprintf(stderr, "\n    %s: %lld, expected %lld (off by %.2f %%)\n", what, got, expected,
			100.0 * off / expected);
	CU_ASSERT(off <= allowed);
}

/* The same for CPU time, which may exceed the kernel's clocks by the time that a hypervisor
 * took. */
static void check_cpu(const struct session *s, const char *what, long long got, long long expected, long long slack)
{
	long long more = got - expected, stolen = session_stolen_ns(s);

	check_near(what, got - (more < 0 ? 0 : more < stolen ? more : stolen), expected, slack);
}

/* ---- waits ---- */

/* The program's measured waits include its way onto the CPU afterwards, which the report lists
 * separately. */
static long long wait_slack(const struct session *s)
{
	return json_number(s->process, "wait_cpu_ns") + 500000;
}

/* For a process that only waits: all its other time is spent on the way into the wait and back,
 * however long the machine takes. */
static long long way_slack(const struct session *s)
{
	return wait_slack(s) + json_number(s->process, "user_ns") + json_number(s->process, "system_ns") +
	       json_number(s->process, "interrupted_ns");
}

static void sleeping_is_timeout(void)
{
	struct session s;

	record(&s, "sleeps");
	check_near("timeout", wait_ns(s.process, "timeout", NULL, 0), session_truth(&s, "slept_ns"), way_slack(&s));
	CU_ASSERT_EQUAL(json_number(json_row(s.process, "syscalls", "name", "clock_nanosleep"), "calls"), 3);
	session_end(&s);
}

static void poll_timing_out_is_timeout(void)
{
	struct session s;

	record(&s, "timeouts");
	check_near("timeout", wait_ns(s.process, "timeout", NULL, 0), session_truth(&s, "timeout_ns"), way_slack(&s));
	session_end(&s);
}

static void waits_for_child(const char *scenario, const char *via)
{
	struct session s;

	record(&s, scenario);
	check_near(via, wait_ns(s.process, "process", via, session_truth(&s, "child")), session_truth(&s, "waited_ns"),
		   way_slack(&s));
	session_end(&s);
}

static void waitpid_names_the_child(void)
{
	waits_for_child("waitpid", "waitpid");
}

static void pipe_names_the_writer(void)
{
	waits_for_child("pipe", "pipe");
}

static void unix_socket_names_the_peer(void)
{
	waits_for_child("unix", "unix");
}

static void local_tcp_names_the_peer(void)
{
	waits_for_child("tcp", "tcp");
}

static void signal_names_the_sender(void)
{
	waits_for_child("signal", "signal");
}

static void mutex_names_the_holder(void)
{
	struct session s;

	record(&s, "futex");
	/* pthread_join, also on a futex, ends right after. */
	check_near("futex", wait_ns(s.process, "process", "futex", session_truth(&s, "pid")),
		   session_truth(&s, "waited_ns"), wait_slack(&s));
	session_end(&s);
}

static void cold_file_names_the_path(void)
{
	struct session s;
	char path[96];
	json_t *file, *wait, *found = NULL;
	long long waited;
	size_t i;

	record(&s, "file");
	snprintf(path, sizeof(path), "%s/data", s.folder);
	file = json_row(s.process, "files", "path", path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL(json_number(file, "read_bytes"), 64 << 20);
	CU_ASSERT_EQUAL(json_number(file, "written_bytes"), 64 << 20);
	json_array_foreach(json_object_get(s.process, "waits"), i, wait)
		if (!strcmp(json_string_value(json_object_get(wait, "kind")), "file") &&
		    !strcmp(json_string_value(json_object_get(wait, "target")), path))
			found = wait;
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	/* The read waited for elapsed - CPU; the fsync before it waited longer. */
	waited = session_truth(&s, "read_elapsed_ns") - session_truth(&s, "read_cpu_ns");
	CU_ASSERT(json_number(found, "ns") >= waited - wait_slack(&s));
	session_end(&s);
}

static void contention_names_the_competitor(void)
{
	struct session s;
	json_t *first, *other, *row, *second = NULL;
	long long cpu, elapsed;
	size_t i;

	record(&s, "contention");
	first = json_process(s.report, session_truth(&s, "first"));
	other = json_process(s.report, session_truth(&s, "second"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	CU_ASSERT_PTR_NOT_NULL_FATAL(other);
	cpu = json_number(first, "user_ns") + json_number(first, "system_ns") + json_number(first, "interrupted_ns");
	check_cpu(&s, "CPU of the first", cpu, session_truth(&s, "first_cpu_ns"), 1000000);
	elapsed = session_truth(&s, "first_elapsed_ns");
	check_near("its wait for a CPU", json_number(first, "wait_cpu_ns"), elapsed - session_truth(&s, "first_cpu_ns"),
		   elapsed / 100 + session_stolen_ns(&s));
	json_array_foreach(json_object_get(first, "wait_cpu_for"), i, row)
		if (json_number(row, "pid") == session_truth(&s, "second"))
			second = row;
	CU_ASSERT_PTR_NOT_NULL_FATAL(second);
	/* Both began together and got the same share: while one waited, the CPU time of the other
	 * and of other programs passed. */
	CU_ASSERT(json_number(second, "ns") * 100 >= session_truth(&s, "second_cpu_ns") * 80);
	CU_ASSERT(json_number(second, "ns") * 100 <=
		  session_truth(&s, "second_cpu_ns") * 101 + session_stolen_ns(&s) * 100);
	session_end(&s);
}

/* ---- CPU time and counts ---- */

static void cpu_time_agrees_with_getrusage(void)
{
	struct session s;
	long long cpu;

	record(&s, "cpu");
	cpu = json_number(s.process, "user_ns") + json_number(s.process, "system_ns") +
	      json_number(s.process, "interrupted_ns");
	check_cpu(&s, "CPU", cpu, session_truth(&s, "cpu_ns"), 1000000);
	check_cpu(&s, "getrusage", cpu, session_truth(&s, "rusage_ns"), 5000000); /* its ticks are 4 ms */
	session_end(&s);
}

static long long count_switches_from(const char *path, unsigned int tid, long long from_ns, long long until_ns)
{
	struct trace *trace = trace_open(path, NULL);
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, NULL, NULL) : NULL;
	const struct trace_event *event;
	long long count = 0;

	while (cursor && (event = trace_cursor_next(cursor)) && (long long)event->ts_ns <= until_ns)
		if (event->id == TRACE_EV_sched_switch && (long long)event->ts_ns >= from_ns &&
		    ((const struct trace_sched_switch *)event->payload)->prev_tid == tid)
			count++;
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	return count;
}

static void counts_are_exact(void)
{
	struct session s;
	json_t *getppid_row, *open_row;
	long long counted;
	unsigned int pid;

	record(&s, "counts");
	CU_ASSERT_EQUAL(json_number(json_object_get(s.report, "trace"), "lost"), 0);
	getppid_row = json_row(s.process, "syscalls", "name", "getppid");
	CU_ASSERT_EQUAL(json_number(getppid_row, "calls"), 5000);
	open_row = json_row(s.process, "syscalls", "name", "openat");
	CU_ASSERT_EQUAL(json_number(open_row, "errors"), 100);
	pid = (unsigned int)session_truth(&s, "pid");
	counted = session_truth(&s, "switches") - session_truth(&s, "switches_before");
	CU_ASSERT(count_switches_from(s.trace, pid, session_truth(&s, "from_last_ns"),
				      session_truth(&s, "until_first_ns")) <= counted);
	CU_ASSERT(count_switches_from(s.trace, pid, session_truth(&s, "from_first_ns"),
				      session_truth(&s, "until_last_ns")) >= counted);
	session_end(&s);
}

/* The kernel's own count of context switches, read inside the recording and around it, encloses
 * ours. */
static void context_switches_agree_with_proc_stat(void)
{
	long long before = system_switches(), recorded = 0;
	struct session s;
	struct trace *trace;
	struct trace_cursor *cursor;
	const struct trace_event *event;

	record(&s, "switches");
	trace = trace_open(s.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		recorded += event->id == TRACE_EV_sched_switch;
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	CU_ASSERT(session_truth(&s, "switches") > 60000);
	CU_ASSERT(recorded >= session_truth(&s, "switches"));
	CU_ASSERT(recorded <= system_switches() - before);
	session_end(&s);
}

/* The number of events of this type in the trace. */
static long long count_events(const struct session *s, uint32_t id)
{
	struct trace *trace = trace_open(s->trace, NULL);
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, NULL, NULL) : NULL;
	const struct trace_event *event;
	long long count = 0;

	while (cursor && (event = trace_cursor_next(cursor)))
		count += event->id == id;
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	return count;
}

/* The program touches memory that the kernel populates without a fault, though it counts one for
 * each page. The trace has one thread. */
static void nothing_ends_that_did_not_begin(const struct session *s)
{
	struct trace *trace = trace_open(s->trace, NULL);
	struct trace_cursor *cursor = trace ? trace_cursor_new(trace, NULL, NULL) : NULL;
	const struct trace_event *event;
	bool populating = false;
	int began = 0, ended = 0, calls = 0;

	while (cursor && (event = trace_cursor_next(cursor))) {
		const struct trace_sys_enter3 *call = event->payload;

		if (event->id == TRACE_EV_sys_enter3)
			populating = call->nr == SYS_madvise && call->arg2 == MADV_POPULATE_WRITE;
		calls += event->id == TRACE_EV_sys_enter3 && populating;
		began += event->id == TRACE_EV_fault_entry && populating;
		ended += event->id == TRACE_EV_fault_exit && populating;
		populating &= event->id != TRACE_EV_sys_exit;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	CU_ASSERT_EQUAL(calls, 1);
	CU_ASSERT_EQUAL(began, 0);
	CU_ASSERT_EQUAL(ended, 0);
}

static void pages_populated_without_a_fault_are_no_faults(void)
{
	struct session s;

	record_with(&s, "-b2097152 --follow", "faults");
	nothing_ends_that_did_not_begin(&s);
	session_end(&s);
}

static void faults_agree_with_getrusage(void)
{
	struct session s;
	long long count = 0, major = 0;
	json_t *trap;
	size_t i;

	record(&s, "faults");
	json_array_foreach(json_object_get(s.process, "traps"), i, trap) {
		count += json_number(trap, "count");
		major += json_number(trap, "major");
	}
	CU_ASSERT(session_truth(&s, "major") >= 0);
	CU_ASSERT(major >= session_truth(&s, "major"));
	CU_ASSERT(major <= session_truth(&s, "major") + 100);
	/* Pages populated without a fault have no fault_entry, and must have no fault_exit. */
	CU_ASSERT(count_events(&s, TRACE_EV_fault_exit) <= count_events(&s, TRACE_EV_fault_entry) + 1000);
	CU_ASSERT(count >= session_truth(&s, "faults"));
	CU_ASSERT(count <= session_truth(&s, "faults") + 1000); /* the program's own start */
	session_end(&s);
}

/* ---- losses, kills, filters ---- */

static void losses_are_counted_and_accounting_adds_up(void)
{
	struct session s;
	json_t *trace;

	record_with(&s, "-b16384 -n2", "storm");
	trace = json_object_get(s.report, "trace");
	CU_ASSERT(json_number(trace, "lost") > 0);
	CU_ASSERT(json_array_size(json_object_get(trace, "gaps")) > 0);
	CU_ASSERT_EQUAL(session_run("grep -qi lost %s/stderr", s.folder), 0);
	session_end(&s);
}

static void a_killed_recording_stays_readable(void)
{
	struct session s;
	struct trace *trace;
	pid_t daemon;

	session_begin(&s);
	daemon = fork();
	if (daemon == 0) {
		char path[256];

		snprintf(path, sizeof(path), "%s/tracedaemon", bin);
		if (!freopen("/dev/null", "w", stderr))
			_exit(127);
		execl(path, "tracedaemon", "-ts30", s.trace, (char *)NULL);
		_exit(127);
	}
	/* the file gets its name when the recording begins, and its first bytes with the state */
	session_run("for i in $(seq 600); do test -s %s && exit; sleep 0.1; done", s.trace);
	session_run("%s storm %s %s", TRACE_WORKLOAD, s.truth, s.folder);
	session_run("for i in $(seq 600); do test $(stat -c %%s %s) -gt 1000000 && exit; sleep 0.1; done", s.trace);
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	trace = trace_open(s.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_FALSE(trace_get_info(trace)->clean_end);
	CU_ASSERT_PTR_NOT_NULL(trace_string(trace, TRACE_STRING_BUILD_ID, 0)); /* of a program that ran at the start */
	CU_ASSERT(trace_get_info(trace)->events > 100000);
	trace_close(trace);
	s.report = session_load(&s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	check_all_sums(s.report);
	session_end(&s);
}

static long long calls_of(json_t *process)
{
	long long calls = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(process, "syscalls"), i, row)
		/* a call that shows only in scheduling events */
		if (json_string_value(json_object_get(row, "name"))[0] != '(')
			calls += json_number(row, "calls");
	return calls;
}

/* A process that the filter keeps out: one call had begun before the recording, and the next one
 * was entered unrecorded. */
static void check_is_left_out(json_t *process)
{
	long long calls = calls_of(process), threads = (long long)json_array_size(json_object_get(process, "threads"));
	bool is_left_out = calls <= 2 * threads;

	CU_ASSERT(is_left_out);
	if (!is_left_out)
		fprintf(stderr, "%s %lld of user %lld: %lld calls by %lld threads\n", json_text(process, "comm"),
			json_number(process, "pid"), json_number(process, "uid"), calls, threads);
}

/* For other users only the start state knows which system calls their threads were in. Tests that
 * run beside this one have programs of the usual other user, 65534. */
static void a_uid_filter_keeps_other_users_out(void)
{
	enum { USER = 61234 };
	struct session s;
	json_t *process;
	size_t i;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("chmod 777 %s; %s/tracedaemon -u%d %s -- setpriv --reuid %d "
					  "--clear-groups %s counts %s %s 2>/dev/null",
					  s.folder, bin, USER, s.trace, USER, TRACE_WORKLOAD, s.truth, s.folder),
			      0);
	s.report = session_load(&s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	s.process = json_process(s.report, session_truth(&s, "pid"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.process);
	CU_ASSERT_EQUAL(json_number(json_row(s.process, "syscalls", "name", "getppid"), "calls"), 5000);
	json_array_foreach(json_object_get(s.report, "processes"), i, process)
		if (json_number(process, "uid") != USER && json_number(process, "ppid") != session_truth(&s, "pid"))
			check_is_left_out(process);
	session_end(&s);
}

/* It sleeps from before the recording until after its end: no event shows it. */
static void a_chosen_process_that_only_sleeps_is_known(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(
		session_run("sleep 60 & echo pid $! >%s; sleep 0.2; %s/tracedaemon --quiet -tu300000 -P$! %s; kill $!",
			    s.truth, bin, s.trace),
		0);
	s.report = session_load(&s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	s.process = json_process(s.report, session_truth(&s, "pid"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.process);
	CU_ASSERT(json_number(s.process, "elapsed_ns") >= 300000000);
	CU_ASSERT_EQUAL(json_number(json_row(s.process, "waits", "kind", "timeout"), "ns"),
			json_number(s.process, "elapsed_ns"));
	session_end(&s);
}

/* A shell, the workload that it starts, and the workload's twenty children: all of them, and no
 * other process. */
static void following_a_command_includes_its_descendants(void)
{
	long long children = 0;
	struct session s;
	json_t *process;
	size_t i;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --follow %s -- sh -c '%s counts %s %s; :' 2>%s/log", bin,
					  s.trace, TRACE_WORKLOAD, s.truth, s.folder, s.folder),
			      0);
	s.report = session_load(&s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.report);
	s.process = json_process(s.report, session_truth(&s, "pid"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(s.process);
	CU_ASSERT_EQUAL(json_number(json_row(s.process, "syscalls", "name", "getppid"), "calls"), 5000);
	json_array_foreach(json_object_get(s.report, "processes"), i, process)
		if (json_number(process, "ppid") == session_truth(&s, "pid") &&
		    json_row(process, "syscalls", "name", "exit_group"))
			children++;
		else if (json_number(process, "pid") != json_number(s.process, "pid") &&
			 json_number(process, "pid") != json_number(s.process, "ppid"))
			check_is_left_out(process);
	CU_ASSERT_EQUAL(children, 20);
	if (children != 20)
		session_run("echo %lld children; cat %s/log", children, s.folder);
	session_end(&s);
}

/* Each event makes the daemon wake up, write and wait. None of that may be recorded, or recording
 * would feed on itself. */
static void the_daemon_does_not_record_itself(void)
{
	struct session s;
	json_t *process;
	size_t i, daemons = 0;

	record_with(&s, "-b16384", "storm");
	json_array_foreach(json_object_get(s.report, "processes"), i, process)
		if (json_number(process, "pid") == json_number(s.process, "ppid")) {
			daemons++;
			check_is_left_out(process);
		}
	CU_ASSERT_EQUAL(daemons, 1);
	session_end(&s);
}

static void only_the_selected_events_are_recorded(void)
{
	struct session s;
	struct trace *trace;
	struct trace_cursor *cursor;
	const struct trace_event *event;
	unsigned long long others = 0, switches = 0;

	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon -esched_switch %s -- %s sleeps %s %s 2>/dev/null", bin,
					  s.trace, TRACE_WORKLOAD, s.truth, s.folder),
			      0);
	trace = trace_open(s.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		if (event->id == TRACE_EV_sched_switch)
			switches++;
		else if (event->type->category != TRACE_CATEGORY_TRACE &&
			 !(event->type->flags & TRACE_EVENT_STRUCTURAL))
			others++; /* the events of processes are recorded as well, so that events have an owner */
	CU_ASSERT(switches > 0);
	CU_ASSERT_EQUAL(others, 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	session_end(&s);
}

static void a_commands_exit_status_is_ours(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon %s -- sh -c 'exit 7' 2>/dev/null", bin, s.trace), 7);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon %s -- sh -c 'kill -9 $$' 2>/dev/null", bin, s.trace), 137);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon %s -- /is/not/there 2>/dev/null", bin, s.trace), 127);
	session_end(&s);
}

/* The daemon raises its limit of open descriptors. The command has the limit that it was started
 * with. */
static void a_low_limit_of_descriptors_is_raised(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(
		session_run("ulimit -Sn 30; %s/tracedaemon %s -- sh -c 'exec test $(ulimit -Sn) = 30' 2>/dev/null", bin,
			    s.trace),
		0);
	/* so that each step in turn finds no free descriptor */
	for (int limit = 26; limit <= 40; limit += getenv("TRACE_TEST_LONG") ? 1 : 5) {
		CU_ASSERT_EQUAL(session_run("ulimit -n %d; %s/tracedaemon %s -- true 2>%s/stderr", limit, bin, s.trace,
					    s.folder),
				1);
		CU_ASSERT_EQUAL(session_run("grep -q 'too few open files are allowed .*ulimit -n' %s/stderr", s.folder),
				0);
	}
	session_end(&s);
}

/* However much of it fails. */
static void without_memory_no_other_cause_is_reported(void)
{
	struct session s;

	session_begin(&s);
	session_run("for v in 14000 16000 18000 20000 22000 24000 26000; do (ulimit -v $v; exec %s/tracedaemon %s -- "
		    "true) 2>>%s/stderr; done",
		    bin, s.trace, s.folder);
	CU_ASSERT_EQUAL(session_run("grep -q 'No such process' %s/stderr", s.folder), 1);
	session_end(&s);
}

/* Its share of a CPU would be too small to keep up. Its two threads with a deadline are real-time
 * threads meanwhile; the command that it started is not. Before, they are not, unless the machine
 * has many runnable threads (field 4 of /proc/loadavg) anyhow. */
static void among_many_runnable_threads_the_daemon_gets_a_cpu(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(
		session_run(
			"%s/tracedaemon --quiet %s -- sh -c 'chrt -ap $PPID >%s/before; cut -d\" \" -f4 /proc/loadavg "
			"| cut -d/ -f1 >%s/runnable; pids=; for i in $(seq $((16 * "
			"$(getconf _NPROCESSORS_ONLN) + 20))); do yes >/dev/null & pids=\"$pids $!\"; done; sleep 1; "
			"chrt -ap $PPID >%s/after; chrt -p $$ >%s/command; kill $pids; wait' 2>/dev/null",
			bin, s.trace, s.folder, s.folder, s.folder, s.folder),
		0);
	CU_ASSERT_EQUAL(
		session_run("test $(cat %s/runnable) -gt $((8 * $(getconf _NPROCESSORS_ONLN))) -o $(grep -c SCHED_RR "
			    "%s/before) = 0 -a $(grep -c SCHED_OTHER %s/before) -ge 2",
			    s.folder, s.folder, s.folder),
		0);
	CU_ASSERT_EQUAL(session_run("test $(grep -c SCHED_RR %s/after) = 2", s.folder), 0);
	CU_ASSERT_EQUAL(session_run("grep -q 'SCHED_OTHER$' %s/command", s.folder), 0);
	session_end(&s);
}

static void a_pipe_carries_a_trace(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon -ts1 - 2>/dev/null | %s/tracevisualizer --verify - >/dev/null", bin,
				    bin),
			0);
	session_end(&s);
}

static const struct unit_case cases[] = {
	{"sleeping_is_timeout", sleeping_is_timeout},
	{"poll_timing_out_is_timeout", poll_timing_out_is_timeout},
	{"waitpid_names_the_child", waitpid_names_the_child},
	{"pipe_names_the_writer", pipe_names_the_writer},
	{"unix_socket_names_the_peer", unix_socket_names_the_peer},
	{"local_tcp_names_the_peer", local_tcp_names_the_peer},
	{"signal_names_the_sender", signal_names_the_sender},
	{"mutex_names_the_holder", mutex_names_the_holder},
	{"cold_file_names_the_path", cold_file_names_the_path},
	{"contention_names_the_competitor", contention_names_the_competitor},
	{"cpu_time_agrees_with_getrusage", cpu_time_agrees_with_getrusage},
	{"counts_are_exact", counts_are_exact},
	{"context_switches_agree_with_proc_stat", context_switches_agree_with_proc_stat},
	{"faults_agree_with_getrusage", faults_agree_with_getrusage},
	{"pages_populated_without_a_fault_are_no_faults", pages_populated_without_a_fault_are_no_faults},
	{"losses_are_counted_and_accounting_adds_up", losses_are_counted_and_accounting_adds_up},
	{"a_killed_recording_stays_readable", a_killed_recording_stays_readable},
	{"a_uid_filter_keeps_other_users_out", a_uid_filter_keeps_other_users_out},
	{"a_chosen_process_that_only_sleeps_is_known", a_chosen_process_that_only_sleeps_is_known},
	{"following_a_command_includes_its_descendants", following_a_command_includes_its_descendants},
	{"the_daemon_does_not_record_itself", the_daemon_does_not_record_itself},
	{"only_the_selected_events_are_recorded", only_the_selected_events_are_recorded},
	{"a_commands_exit_status_is_ours", a_commands_exit_status_is_ours},
	{"a_low_limit_of_descriptors_is_raised", a_low_limit_of_descriptors_is_raised},
	{"without_memory_no_other_cause_is_reported", without_memory_no_other_cause_is_reported},
	{"among_many_runnable_threads_the_daemon_gets_a_cpu", among_many_runnable_threads_the_daemon_gets_a_cpu},
	{"a_pipe_carries_a_trace", a_pipe_carries_a_trace},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("end to end", cases, argc, argv);
}
