/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_user.c - programs with tracepoints and the daemon on the real kernel.
 *
 * Their events are in the trace exactly once, or counted as lost, at the right time, with the right
 * thread and CPU, whichever starts first and whichever is killed.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace/reader.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define WORKLOAD TRACE_TESTS "/workload_user"
#define PLUGIN	 TRACE_TESTS "/libworkload_user_plugin.so"

enum { MAX_CPUS = 1024 };

/* ---- helpers ---- */

static struct trace *open_verified(const char *path)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(path, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_verify(trace, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
	return trace;
}

static bool is_named(const struct trace_event *event, const char *name)
{
	return event->id >= TRACE_EV_MAX && !strcmp(event->type->name, name);
}

static uint64_t field(const struct trace_event *event, size_t idx)
{
	return trace_event_u64(event, &event->type->fields[idx]);
}

static uint32_t tid_of(const struct trace_event *event)
{
	return *(const uint32_t *)event->payload;
}

/**
 * struct count - the events of a name, which carry consecutive numbers, per thread or over all
 * threads
 */
struct count {
	uint64_t events;
	/* a number that does not follow the thread's last one; the first of a thread has to be 0 if
	 * @from_0 */
	uint64_t breaks;
	uint64_t first_break; /* the number after it */
	uint64_t first;
	uint64_t last;
	uint64_t threads;
};

static struct count count_events(const struct trace *trace, const char *name, bool from_0)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	uint64_t *next = calloc(1 << 22, sizeof(*next)); /* by thread */
	const struct trace_event *event;
	struct count count = {0};

	while ((event = trace_cursor_next(cursor))) {
		uint64_t n, *expected;

		if (!is_named(event, name))
			continue;
		n = field(event, 0);
		expected = &next[tid_of(event) % (1 << 22)];
		count.threads += !*expected;
		if ((*expected || from_0) && n != (*expected ? *expected - 1 : 0)) {
			count.first_break = count.breaks ? count.first_break : n;
			count.breaks++;
		}
		count.first = count.events ? count.first : n;
		count.last = n;
		*expected = n + 2;
		count.events++;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	free(next);
	return count;
}

/**
 * struct totals - sums over the streams of programs: those from 0x10000 on
 */
struct totals {
	uint64_t stored;
	uint64_t lost;
	uint64_t overwritten;
	uint64_t filtered;
	uint64_t attempted;
	uint64_t streams;
};

static struct totals user_totals(const struct trace *trace)
{
	struct totals totals = {0};

	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stats = trace_get_stream(trace, i);

		if (stats->stream < 0x10000 || stats->stream >= 0xffff0000)
			continue;
		totals.stored += stats->stored;
		totals.lost += stats->discarded;
		totals.overwritten += stats->overwritten;
		totals.filtered += stats->filtered;
		totals.attempted += stats->attempted;
		totals.streams++;
	}
	return totals;
}

/* The number of streams that name their program. */
static uint64_t announced(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	uint64_t nr = 0;

	while ((event = trace_cursor_next(cursor)))
		nr += event->id == TRACE_EV_user_stream;
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	return nr;
}

static pid_t start(const char *program, ...)
{
	const char *arguments[16] = {program};
	va_list list;
	pid_t pid;

	va_start(list, program);
	for (int i = 1; i < 15 && (arguments[i] = va_arg(list, const char *)); i++)
		;
	va_end(list);
	pid = fork();
	if (!pid) {
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		execv(program, (char *const *)arguments);
		_exit(127);
	}
	return pid;
}

static void end(pid_t pid, int signal_number)
{
	if (signal_number)
		kill(pid, signal_number);
	waitpid(pid, NULL, 0);
}

/* ---- complete recordings ---- */

static void a_program_that_the_daemon_starts_is_recorded_from_its_first_event_on(void)
{
	struct session s;
	struct trace *trace;
	struct count count;
	struct totals totals;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet %s -- " WORKLOAD " count 20000 > %s", TRACE_BIN, s.trace,
				    s.truth),
			0);
	trace = open_verified(s.trace);
	count = count_events(trace, "demo:count", true);
	totals = user_totals(trace);
	CU_ASSERT_EQUAL(count.events, 20000);
	CU_ASSERT_EQUAL(count.breaks, 0);
	CU_ASSERT_EQUAL(count.threads, 1);
	CU_ASSERT_EQUAL(totals.lost, 0);
	CU_ASSERT_EQUAL(totals.filtered, 0);
	CU_ASSERT_EQUAL(totals.stored, 20000 + totals.streams);
	CU_ASSERT_EQUAL(announced(trace), totals.streams);
	trace_close(trace);
	session_end(&s);
}

/* In a pid namespace the daemon sees other numbers than the kernel. The program is the one that the
 * kernel's events name. */
static void in_a_namespace_of_processes_events_are_of_their_program(void)
{
	struct session s;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("unshare --pid --fork --mount-proc %s/tracedaemon --quiet %s -- " WORKLOAD
				    " count 20000 > %s",
				    TRACE_BIN, s.trace, s.truth),
			0);
	trace_close(open_verified(s.trace));
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer -a --all %s > %s/report", TRACE_BIN, s.trace, s.folder), 0);
	CU_ASSERT_EQUAL(session_run("grep -q '^ *20,000 .* demo:count *workload_user (' %s/report", s.folder), 0);
	session_end(&s);
}

static void threads_are_distinguished(void)
{
	struct session s;
	struct trace *trace;
	struct count count;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet %s -- " WORKLOAD " threads 200 300 > %s", TRACE_BIN,
				    s.trace, s.truth),
			0);
	trace = open_verified(s.trace);
	count = count_events(trace, "demo:count", true);
	CU_ASSERT_EQUAL(count.events + user_totals(trace).lost, 200 * 300);
	/* while a ring is set up for a CPU, events of other threads there are counted as lost */
	CU_ASSERT_TRUE(count.breaks <= user_totals(trace).lost);
	CU_ASSERT_TRUE(count.threads + user_totals(trace).lost >= 200);
	trace_close(trace);
	session_end(&s);
}

static void children_have_streams_of_their_own(void)
{
	struct session s;
	struct trace *trace;
	struct count count;
	struct totals totals;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet %s -- " WORKLOAD " forks 300 10 > %s", TRACE_BIN, s.trace,
				    s.truth),
			0);
	trace = open_verified(s.trace);
	count = count_events(trace, "demo:count", true);
	totals = user_totals(trace);
	CU_ASSERT_EQUAL(count.events + totals.lost, 300 * 10);
	CU_ASSERT_EQUAL(totals.lost, 0);
	CU_ASSERT_EQUAL(count.breaks, 0);
	CU_ASSERT_EQUAL(count.threads, 300);
	if (count.events != 300 * 10)
		fprintf(stderr, "%llu events of %llu children, %llu lost, %llu filtered\n",
			(unsigned long long)count.events, (unsigned long long)count.threads,
			(unsigned long long)totals.lost, (unsigned long long)totals.filtered);
	CU_ASSERT_TRUE(totals.streams >= 300);
	CU_ASSERT_EQUAL(announced(trace), totals.streams);
	trace_close(trace);
	session_end(&s);
}

static void libraries_that_are_loaded_and_unloaded_are_recorded(void)
{
	struct session s;
	struct trace *trace;
	struct count count;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet %s -- " WORKLOAD " plugin " PLUGIN " 500 > %s", TRACE_BIN,
				    s.trace, s.truth),
			0);
	trace = open_verified(s.trace);
	count = count_events(trace, "plugin:called", true);
	CU_ASSERT_EQUAL(count.events, 1000);
	CU_ASSERT_EQUAL(count.breaks, 1); /* the second time it begins at 0 again */
	trace_close(trace);
	session_end(&s);
}

static void patterns_choose_events_and_refused_ones_are_counted(void)
{
	struct session s;
	struct trace *trace;
	struct totals totals;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -e 'sched,demo:after' %s -- " WORKLOAD " clock 1000 > %s",
				    TRACE_BIN, s.trace, s.truth),
			0);
	trace = open_verified(s.trace);
	totals = user_totals(trace);
	CU_ASSERT_EQUAL(count_events(trace, "demo:after", true).events, 1000);
	CU_ASSERT_EQUAL(count_events(trace, "demo:clock", true).events, 0);
	/* filtered: before the daemon had looked */
	CU_ASSERT_EQUAL(totals.attempted, 1000 + totals.streams + totals.filtered);
	trace_close(trace);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet --no-user %s -- " WORKLOAD " clock 1000 > %s", TRACE_BIN,
				    s.trace, s.truth),
			0);
	trace = open_verified(s.trace);
	CU_ASSERT_EQUAL(user_totals(trace).streams, 0);
	trace_close(trace);
	session_end(&s);
}

/* ---- time, thread and CPU ---- */

/**
 * struct axis - one thread's own readings of the clock, between the trace's times
 */
struct axis {
	uint64_t clock_ns; /* of the last demo:clock */
	uint64_t before_ns;
	uint64_t worst_ns;
	uint64_t nr_between;
	uint64_t nr_wrong_order;
	bool in_call;
};

/**
 * struct turn - the thread on a CPU since the last switch recorded there: its next_tid, and the
 * events of the traced thread since. A tracer may not see all threads
 */
struct turn {
	uint32_t tid;
	uint64_t nr_events;
};

static uint64_t outside(uint64_t ns, uint64_t from_ns, uint64_t to_ns)
{
	return ns < from_ns ? from_ns - ns : ns > to_ns ? ns - to_ns : 0;
}

static void tracepoints_have_the_clocks_time_and_are_outside_system_calls(void)
{
	enum { NR = 5000 };
	struct turn *turns = calloc(MAX_CPUS, sizeof(*turns));
	uint64_t nr_user = 0, nr_elsewhere = 0;
	const struct trace_event *event;
	struct axis axis = {0};
	struct trace_cursor *cursor;
	struct trace *trace;
	struct session s;
	uint32_t tid;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet %s -- " WORKLOAD " clock %d > %s", TRACE_BIN, s.trace, NR,
				    s.truth),
			0);
	trace = open_verified(s.trace);
	tid = (uint32_t)session_truth(&s, "pid");
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor))) {
		uint32_t cpu = event->cpu % MAX_CPUS;

		if (event->id == TRACE_EV_sched_switch) {
			const struct trace_sched_switch *change = event->payload;

			if (turns[cpu].tid != tid && change->prev_tid != tid)
				nr_elsewhere += turns[cpu].nr_events;
			turns[cpu] = (struct turn){.tid = change->next_tid};
		} else if (event->id == TRACE_EV_sys_enter && turns[cpu].tid == tid) {
			axis.in_call |= ((const struct trace_sys_enter *)event->payload)->nr == SYS_getppid;
		} else if (event->id == TRACE_EV_sys_exit && turns[cpu].tid == tid) {
			axis.in_call = false;
		} else if (event->id >= TRACE_EV_MAX && tid_of(event) == tid) {
			nr_user++;
			turns[cpu].nr_events++;
			axis.nr_wrong_order += axis.in_call;
			if (is_named(event, "demo:clock")) {
				axis.clock_ns = event->ts_ns;
				axis.before_ns = field(event, 1);
			} else if (is_named(event, "demo:after")) {
				uint64_t off = outside(axis.clock_ns, axis.before_ns, field(event, 1));

				axis.worst_ns = off > axis.worst_ns ? off : axis.worst_ns;
				axis.nr_between++;
			}
		}
	}
	CU_ASSERT_EQUAL(axis.nr_between, NR);
	CU_ASSERT_EQUAL(nr_user, 2 * NR);
	CU_ASSERT_TRUE(axis.worst_ns < 1000);
	CU_ASSERT_EQUAL(axis.nr_wrong_order, 0);
	CU_ASSERT_EQUAL(nr_elsewhere, 0);
	if (axis.worst_ns >= 1000 || axis.nr_wrong_order || nr_elsewhere)
		fprintf(stderr, "%llu ns off; %llu within getppid(), %llu on another thread's CPU\n",
			(unsigned long long)axis.worst_ns, (unsigned long long)axis.nr_wrong_order,
			(unsigned long long)nr_elsewhere);
	free(turns);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
	session_end(&s);
}

/* ---- order of starting, and deaths ---- */

static void a_program_that_runs_already_is_found(void)
{
	struct session s;
	struct trace *trace;
	struct count count;
	pid_t pid = start(WORKLOAD, "ticks", "100000", NULL);

	session_begin(&s);
	usleep(100000);
	for (int run = 0; run < 2; run++) { /* one recording after the other */
		CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -tu400000 %s", TRACE_BIN, s.trace), 0);
		trace = open_verified(s.trace);
		count = count_events(trace, "demo:tick", false);
		CU_ASSERT_TRUE(count.events > 10);
		CU_ASSERT_EQUAL(count.breaks, 0);
		CU_ASSERT_EQUAL(count.last - count.first + 1, count.events);
		CU_ASSERT_EQUAL(user_totals(trace).lost, 0);
		trace_close(trace);
	}
	end(pid, SIGKILL);
	session_end(&s);
}

static void a_daemon_that_is_killed_is_followed_by_the_next(void)
{
	struct session s;
	struct trace *trace;
	struct count count;
	pid_t program = start(WORKLOAD, "ticks", "100000", NULL), daemon;

	session_begin(&s);
	usleep(50000);
	daemon = start(TRACE_BIN "/tracedaemon", "--quiet", s.trace, NULL);
	usleep(500000);
	end(daemon, SIGKILL);
	usleep(200000); /* the program continues while no daemon is connected */
	CU_ASSERT_EQUAL(kill(program, 0), 0);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -tu400000 %s", TRACE_BIN, s.trace), 0);
	trace = open_verified(s.trace);
	count = count_events(trace, "demo:tick", false);
	CU_ASSERT_TRUE(count.events > 10);
	CU_ASSERT_EQUAL(count.breaks, 0);
	CU_ASSERT_EQUAL(user_totals(trace).lost, 0);
	trace_close(trace);
	end(program, SIGKILL);
	session_end(&s);
}

static uint64_t attempted_in(const char *path)
{
	uint64_t number = 0;
	FILE *file = fopen(path, "re");

	if (!file || fread(&number, sizeof(number), 1, file) != 1)
		number = 0;
	if (file)
		fclose(file);
	return number;
}

/* The program is killed while it records, again and again. One of the attempted events, the one
 * being recorded, may be neither stored nor counted. */
static void a_program_that_is_killed_loses_the_record_in_flight_only(void)
{
	struct session s;
	char file[128];

	session_begin(&s);
	snprintf(file, sizeof(file), "%s/attempted", s.folder);
	for (int round = 0; round < 8; round++) {
		struct trace *trace;
		struct count count;
		struct totals totals;
		uint64_t attempted, known;

		unlink(file); /* on a busy machine it may die before it creates one */
		session_run("%s/tracedaemon --quiet %s -- sh -c '" WORKLOAD
			    " storm %s & sleep 0.%02d; kill -9 $!; wait' 2>/dev/null",
			    TRACE_BIN, s.trace, file, 3 + 2 * round);
		attempted = attempted_in(file);
		trace = open_verified(s.trace);
		count = count_events(trace, "demo:storm", true);
		totals = user_totals(trace);
		known = count.events + totals.lost + totals.filtered;
		CU_ASSERT_TRUE(count.events > 0 || attempted == 0);
		CU_ASSERT_TRUE(known == attempted || known + 1 == attempted);
		if (known != attempted && known + 1 != attempted)
			fprintf(stderr, "attempted %llu; stored %llu, lost %llu, filtered %llu\n",
				(unsigned long long)attempted, (unsigned long long)count.events,
				(unsigned long long)totals.lost, (unsigned long long)totals.filtered);
		trace_close(trace);
	}
	session_end(&s);
}

/*
 * A program that was killed while it recorded, and one that continues, in several snapshots: each
 * event that the first attempted is in the snapshot or was overwritten, except the event in which
 * it died.
 */
static void the_flight_recorder_has_programs_too(void)
{
	uint64_t ticks = 0, storm = 0, attempted, known;
	struct session s;
	char file[128];
	pid_t running, killed;

	session_begin(&s);
	snprintf(file, sizeof(file), "%s/attempted", s.folder);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -k --control %s/socket", TRACE_BIN, s.folder), 0);
	running = start(WORKLOAD, "ticks", "100000", NULL);
	killed = start(WORKLOAD, "storm", file, NULL);
	for (int i = 0; i < 3000 && attempted_in(file) < 100000; i++)
		usleep(10000);
	end(killed, SIGKILL);
	attempted = attempted_in(file);
	for (int round = 0; round < 2; round++) {
		struct trace *trace;
		struct count count;
		struct totals totals;

		usleep(100000);
		CU_ASSERT_EQUAL(session_run("%s/tracedaemon --quiet -j --control %s/socket %s", TRACE_BIN, s.folder,
					    s.trace),
				0);
		trace = open_verified(s.trace);
		totals = user_totals(trace);
		count = count_events(trace, "demo:storm", false);
		known = count.events + totals.overwritten + totals.lost + totals.filtered;
		CU_ASSERT_TRUE(count.events > 1000 && attempted > 1000);
		CU_ASSERT_TRUE(known == attempted || known + 1 == attempted);
		if (known != attempted && known + 1 != attempted)
			fprintf(stderr, "attempted %llu; kept %llu, overwritten %llu, lost %llu\n",
				(unsigned long long)attempted, (unsigned long long)count.events,
				(unsigned long long)totals.overwritten, (unsigned long long)totals.lost);
		CU_ASSERT_TRUE(!round || count.events == storm);
		storm = count.events;
		count = count_events(trace, "demo:tick", true);
		/* The daemon closes one ring after the other: a thread that migrates meanwhile may
		 * leave a tick in the first ring that only the next snapshot contains. */
		CU_ASSERT_TRUE(count.breaks == 0 || count.first_break + 100 > count.last);
		if (count.breaks)
			fprintf(stderr, "%llu breaks, the first before %llu of %llu\n",
				(unsigned long long)count.breaks, (unsigned long long)count.first_break,
				(unsigned long long)count.last);
		CU_ASSERT_TRUE(count.events > ticks + 20);
		ticks = count.events;
		CU_ASSERT_EQUAL(announced(trace), totals.streams);
		trace_close(trace);
	}
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer -a %s > /dev/null", TRACE_BIN, s.trace), 0);
	session_run("%s/tracedaemon -q --control %s/socket > /dev/null", TRACE_BIN, s.folder);
	end(running, SIGKILL);
	session_end(&s);
}

/* Two small sub-buffers for each CPU, and many events: no event is lost if the program and the
 * recording both allow waiting; otherwise some are. */
static void programs_wait_for_room_if_both_sides_allow_it(void)
{
	static const struct {
		const char *program, *daemon;
		bool all;
	} cases[] = {{"TRACER_BLOCKING=10000", "--block-programs", true},
		     {"TRACER_BLOCKING=10000", "", false},
		     {"", "--block-programs", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct session s;
		struct trace *trace;
		struct count count;
		struct totals totals;

		session_begin(&s);
		CU_ASSERT_EQUAL(session_run("env TRACER_BUFFERS=16Kx2 %s %s/tracedaemon --quiet -e 'sched,demo:*' %s "
					    "%s -- " WORKLOAD " count 50000 > %s",
					    cases[i].program, TRACE_BIN, cases[i].daemon, s.trace, s.truth),
				0);
		trace = open_verified(s.trace);
		count = count_events(trace, "demo:count", cases[i].all);
		totals = user_totals(trace);
		CU_ASSERT_EQUAL(count.events + totals.lost, 50000);
		CU_ASSERT_EQUAL(totals.lost == 0, cases[i].all);
		if (cases[i].all)
			CU_ASSERT_EQUAL(count.breaks, 0);
		trace_close(trace);
		session_end(&s);
	}
}

static void tracepoints_of_running_programs_are_listed(void)
{
	pid_t pid = start(WORKLOAD, "ticks", "100000", NULL);

	CU_ASSERT_EQUAL(session_run("for i in $(seq 100); do %s/tracedaemon --list | grep -q '^demo:tick "
				    ".*workload_user.c:.*(%d)$' && exit 0; sleep 0.1; done; exit 1",
				    TRACE_BIN, (int)pid),
			0);
	end(pid, SIGKILL);
	CU_ASSERT_NOT_EQUAL(session_run("%s/tracedaemon --list | grep -q '(%d)$'", TRACE_BIN, (int)pid), 0);
}

/* ---- without root ---- */

static void any_user_may_record_its_own_programs(void)
{
	struct session s;
	struct trace *trace;
	struct count count;
	char messages[1024] = "";
	FILE *file;

	session_begin(&s);
	session_run("chmod 0777 %s", s.folder);
	CU_ASSERT_EQUAL(session_run("cd %s && setpriv --reuid 65534 --regid 65534 --clear-groups env -u "
				    "XDG_RUNTIME_DIR -u TRACER_SOCKET %s/tracedaemon u.trace -- " WORKLOAD
				    " count 5000 > truth 2> messages",
				    s.folder, TRACE_BIN),
			0);
	snprintf(s.truth, sizeof(s.truth), "%s/messages", s.folder);
	file = fopen(s.truth, "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_TRUE(fread(messages, 1, sizeof(messages) - 1, file) > 0);
	fclose(file);
	CU_ASSERT_PTR_NOT_NULL(strstr(messages, "events of your programs only"));
	snprintf(s.trace, sizeof(s.trace), "%s/u.trace", s.folder);
	trace = open_verified(s.trace);
	count = count_events(trace, "demo:count", true);
	CU_ASSERT_EQUAL(count.events, 5000);
	CU_ASSERT_EQUAL(count.breaks, 0);
	CU_ASSERT_PTR_NOT_NULL(trace_not_traced(trace, 0));
	trace_close(trace);
	CU_ASSERT_EQUAL(session_run("cd %s && setpriv --reuid 65534 --regid 65534 --clear-groups env -u TRACER_SOCKET "
				    "%s/tracedaemon --quiet v.trace -- sh -c 'exit 7'",
				    s.folder, TRACE_BIN),
			7);
	CU_ASSERT_EQUAL(session_run("cd %s && setpriv --reuid 65534 --regid 65534 --clear-groups env -u TRACER_SOCKET "
				    "%s/tracedaemon --quiet -tu100000 w.trace",
				    s.folder, TRACE_BIN),
			0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s/w.trace > /dev/null", TRACE_BIN, s.folder), 0);
	CU_ASSERT_EQUAL(session_run("cd %s && setpriv --reuid 65534 --regid 65534 --clear-groups env "
				    "TRACER_SOCKET=%s/p sh -c '%s/tracedaemon --quiet -k --control c && " WORKLOAD
				    " count 3000 > /dev/null && %s/tracedaemon -p --control c > mask && %s/tracedaemon "
				    "--quiet -j --control c f.trace; %s/tracedaemon -q --control c > /dev/null'",
				    s.folder, s.folder, TRACE_BIN, TRACE_BIN, TRACE_BIN, TRACE_BIN),
			0);
	/* the selected events and no others */
	CU_ASSERT_EQUAL(session_run("grep -q user_stream %s/mask && ! grep -q 'sched_switch\\|sys_enter' %s/mask",
				    s.folder, s.folder),
			0);
	snprintf(s.trace, sizeof(s.trace), "%s/f.trace", s.folder);
	trace = open_verified(s.trace);
	CU_ASSERT_EQUAL(count_events(trace, "demo:count", true).events, 3000);
	trace_close(trace);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer -a %s/u.trace > /dev/null", TRACE_BIN, s.folder), 0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --json %s/u.trace > /dev/null", TRACE_BIN, s.folder), 0);
	session_end(&s);
}

static const struct unit_case cases[] = {
	{"a_program_that_the_daemon_starts_is_recorded_from_its_first_event_on",
	 a_program_that_the_daemon_starts_is_recorded_from_its_first_event_on},
	{"in_a_namespace_of_processes_events_are_of_their_program",
	 in_a_namespace_of_processes_events_are_of_their_program},
	{"threads_are_distinguished", threads_are_distinguished},
	{"children_have_streams_of_their_own", children_have_streams_of_their_own},
	{"libraries_that_are_loaded_and_unloaded_are_recorded", libraries_that_are_loaded_and_unloaded_are_recorded},
	{"patterns_choose_events_and_refused_ones_are_counted", patterns_choose_events_and_refused_ones_are_counted},
	{"tracepoints_have_the_clocks_time_and_are_outside_system_calls",
	 tracepoints_have_the_clocks_time_and_are_outside_system_calls},
	{"a_program_that_runs_already_is_found", a_program_that_runs_already_is_found},
	{"a_daemon_that_is_killed_is_followed_by_the_next", a_daemon_that_is_killed_is_followed_by_the_next},
	{"a_program_that_is_killed_loses_the_record_in_flight_only",
	 a_program_that_is_killed_loses_the_record_in_flight_only},
	{"programs_wait_for_room_if_both_sides_allow_it", programs_wait_for_room_if_both_sides_allow_it},
	{"the_flight_recorder_has_programs_too", the_flight_recorder_has_programs_too},
	{"tracepoints_of_running_programs_are_listed", tracepoints_of_running_programs_are_listed},
	{"any_user_may_record_its_own_programs", any_user_may_record_its_own_programs},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char place[64];

	if (geteuid() != 0)
		return 77;
	/* another daemon may use the default folder */
	snprintf(place, sizeof(place), "/var/tmp/trace-programs-%d", (int)getpid());
	setenv("TRACER_SOCKET", place, 1);
	return unit_main("programs", cases, argc, argv);
}
