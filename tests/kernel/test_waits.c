/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_waits.c - one recording of one wait of every kind (workload_waits.c), compared with the
 * report: length, target, and process.
 *
 * Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trace/analysis.h>
#include "e2e_session.h"
#include "unit.h"

#define SLACK_NS 100000
/* between the switch to a thread in the trace and the start of its perf clock: 3 us here, with
 * recording */
#define SWITCH_NS 5000
/* recordings of a wait if its length is wrong: the host may take the CPU between a wakeup and the
 * reading of the clock */
#define MAX_ATTEMPTS 6

static struct session session; /* of all scenarios */
static bool verified;

static bool verifies(const struct session *s)
{
	return session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, s->trace) == 0;
}

static long long truth_in(const struct session *s, const char *scenario, const char *key)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%s", scenario, key);
	return session_truth(s, name);
}

static long long truth_of(const char *scenario, const char *key)
{
	return truth_in(&session, scenario, key);
}

/* The waits of all threads of a recording. */
struct told {
	uint32_t tid;
	uint64_t from_ns, to_ns;
	enum trace_state state;
	enum trace_wait_kind kind;
	char *via, *target; /* owned */
	long long pid;	    /* of the process that was waited for; -1: none */
};
struct told_waits {
	struct told *all; /* owned */
	size_t nr;
};
static struct told_waits told; /* of the session of all scenarios */

static void tell(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct told_waits *waits = data;

	if (interval->state != TRACE_STATE_WAIT_CPU && interval->state != TRACE_STATE_BLOCKED)
		return;
	waits->all = reallocarray(waits->all, waits->nr + 1, sizeof(*waits->all));
	waits->all[waits->nr++] = (struct told){.tid = trace_thread_tid(interval->thread),
						.from_ns = interval->from_ns,
						.to_ns = interval->to_ns,
						.state = interval->state,
						.kind = interval->kind,
						.via = strdup(interval->via),
						.target = strdup(interval->target),
						.pid = interval->other ? (long long)trace_process_pid(interval->other)
								       : -1};
}

static bool tell_all(const struct session *s, struct told_waits *waits)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(s->trace, &error);
	struct trace_analysis *analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	bool ok = analysis && !trace_analysis_on_interval(analysis, tell, waits) &&
		  !trace_analysis_run(analysis, &error);

	trace_analysis_free(analysis);
	trace_close(trace);
	return ok;
}

static void told_free(struct told_waits *waits)
{
	for (size_t i = 0; i < waits->nr; i++) {
		free(waits->all[i].via);
		free(waits->all[i].target);
	}
	free(waits->all);
}

/* Once, for all test cases. */
static void record(void)
{
	if (session.report)
		return;
	session_begin(&session);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s -- %s %s %s 2>/dev/null", TRACE_BIN, session.trace,
					  TRACE_WORKLOAD_WAITS, session.truth, session.folder),
			      0);
	verified = verifies(&session);
	CU_ASSERT_FATAL(tell_all(&session, &told));
	session.report = session_load(&session, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
}

static bool is_text(const json_t *object, const char *key, const char *text)
{
	return strcmp(json_text(object, key), text) == 0;
}

static bool ends_with(const char *text, const char *end)
{
	return strlen(text) >= strlen(end) && strcmp(text + strlen(text) - strlen(end), end) == 0;
}

/* An expected row: kind, via, for a process the name in the truth ("who"), for a file the end of
 * its path. */
struct expected {
	const char *scenario;
	const char *kind;
	const char *via;
	const char *path;
	bool first_thread; /* only its waits: other threads wait for the same */
};

static bool matches(const struct session *s, json_t *wait, const struct expected *e)
{
	if (!is_text(wait, "kind", e->kind) || !is_text(wait, "via", e->via))
		return false;
	if (strcmp(e->kind, "process") == 0)
		return json_number(wait, "pid") == truth_in(s, e->scenario, "who");
	if (strcmp(e->kind, "stopped") == 0)
		return json_number(wait, "pid") > 0;
	return !e->path || ends_with(json_text(wait, "target"), e->path);
}

/* ---- the thread's states between its two readings of the clock ---- */

/* It normally waited for one thing. */
struct window {
	uint32_t tid;
	uint64_t start_ns, end_ns;
	const struct expected *expected;
	long long who;
	uint64_t wait_ns;    /* of the expected wait */
	uint64_t else_ns;    /* blocked for another reason */
	uint64_t unknown_ns; /* a part of that: it is not known whether it was blocked */
	uint64_t queued_ns;  /* for a CPU */
	uint64_t ended_ns;   /* end of the last expected wait */
	long long nr;	     /* of waits */
};

static bool is_expected(const struct window *window, const struct told *wait)
{
	const struct expected *e = window->expected;

	if (strcmp(trace_wait_kind_name(wait->kind), e->kind) != 0 || strcmp(wait->via, e->via) != 0)
		return false;
	if (strcmp(e->kind, "process") == 0)
		return wait->pid == window->who;
	return !e->path || ends_with(wait->target, e->path);
}

static void add_wait(struct window *window, const struct told *wait)
{
	uint64_t from = wait->from_ns > window->start_ns ? wait->from_ns : window->start_ns;
	uint64_t to = wait->to_ns < window->end_ns ? wait->to_ns : window->end_ns;

	if (from >= to || wait->tid != window->tid)
		return;
	window->nr += wait->state == TRACE_STATE_BLOCKED;
	if (wait->state == TRACE_STATE_WAIT_CPU)
		window->queued_ns += to - from;
	else if (!is_expected(window, wait))
		window->else_ns += to - from, window->unknown_ns += wait->kind == TRACE_WAIT_UNKNOWN ? to - from : 0;
	else
		window->wait_ns += to - from, window->ended_ns = to;
}

/*
 * The time between the two readings of the clock, minus the thread's time on a CPU (from the
 * kernel) and in a queue for one, is the wait. The wait cannot have ended before the other thread
 * acted. A sandbox may hide the switches from its own threads: after one, what a thread did until
 * its next event is unknown. A tenth of the wait may be.
 */
static bool is_as_long(const struct session *s, const struct told_waits *waits, const struct expected *e)
{
	struct window window = {.tid = (uint32_t)truth_in(s, e->scenario, "tid"),
				.start_ns = (uint64_t)truth_in(s, e->scenario, "start_ns"),
				.end_ns = (uint64_t)truth_in(s, e->scenario, "end_ns"),
				.who = truth_in(s, e->scenario, "who"),
				.expected = e};
	long long acts = truth_in(s, e->scenario, "acts_ns"), expected, off;

	CU_ASSERT_FATAL(window.end_ns > window.start_ns);
	for (size_t i = 0; i < waits->nr; i++)
		add_wait(&window, &waits->all[i]);
	expected = (long long)(window.end_ns - window.start_ns - window.queued_ns) - truth_in(s, e->scenario, "cpu_ns");
	off = (long long)window.wait_ns - expected;
	if (off < 0 && (long long)window.unknown_ns < expected / 10)
		off = -off > (long long)window.unknown_ns ? off + (long long)window.unknown_ns : 0;
	off = off > 0 ? off : off < -window.nr * SWITCH_NS ? -off - window.nr * SWITCH_NS : 0;
	if (getenv("TRACE_VERBOSE"))
		fprintf(stderr, "\n    %s: waited %llu ns, expected %lld; %llu for a CPU, %llu for something else ",
			e->scenario, (unsigned long long)window.wait_ns, expected, (unsigned long long)window.queued_ns,
			(unsigned long long)window.else_ns);
	return off <= (expected / 100 > SLACK_NS ? expected / 100 : SLACK_NS) &&
	       (acts < 0 || window.ended_ns > (uint64_t)acts);
}

/* The report has the row, and its length matches the thread's own measurement. */
static bool is_right(const struct session *s, const struct told_waits *waits, const struct expected *e)
{
	json_t *process = json_process(s->report, truth_in(s, e->scenario, "pid")), *wait;
	long long ns = 0;
	size_t i;

	json_array_foreach(json_object_get(e->first_thread ? json_array_get(json_object_get(process, "threads"), 0)
							   : process,
					   "waits"),
			   i, wait)
		if (matches(s, wait, e))
			ns += json_number(wait, "ns");
	return ns > 0 && is_as_long(s, waits, e);
}

/* In a recording of this wait alone. */
static bool is_right_again(const struct expected *e)
{
	struct told_waits waits = {0};
	struct session again;
	bool right;

	session_begin(&again);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon %s -- %s %s %s %s 2>/dev/null", TRACE_BIN, again.trace,
					  TRACE_WORKLOAD_WAITS, again.truth, again.folder, e->scenario),
			      0);
	again.report = session_load(&again, "");
	CU_ASSERT_FATAL(tell_all(&again, &waits));
	right = is_right(&again, &waits, e);
	told_free(&waits);
	session_end(&again);
	return right;
}

static void print_waits(json_t *process)
{
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(process, "waits"), i, wait)
		fprintf(stderr, "    %s\n", json_dumps(wait, JSON_COMPACT));
}

/* Within 1 % or 100 us. */
static void check(const struct expected *e)
{
	bool right;

	record();
	if (truth_of(e->scenario, "skipped") == 1)
		return;
	right = is_right(&session, &told, e);
	for (int attempt = 1; !right && attempt < MAX_ATTEMPTS; attempt++)
		right = is_right_again(e);
	if (!right) {
		fprintf(stderr, "\n    %s (%s via '%s') is off, or not there:\n", e->scenario, e->kind, e->via);
		print_waits(json_process(session.report, truth_of(e->scenario, "pid")));
	}
	CU_ASSERT(right);
}

/* ---- waits that begin before the recording and end after it ---- */

#define NR_LOCKERS 4 /* threads of one process: flock of two files, fcntl of two */

/* Children that hold one end each of a pipe, or a lock, or wait for it; one that waits for a child
 * of its own; and one with threads that wait for locks of different files, and of both kinds. */
struct around {
	pid_t reader, poller, selecter, epoller, writer, holder, locker, parent, child, lockers, holders[NR_LOCKERS];
};

static void rest(void)
{
	for (;;)
		pause();
}

static void read_it(int fd)
{
	char byte;

	if (read(fd, &byte, 1) < 0)
		_exit(1);
}

static void poll_it(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLIN};

	poll(&one, 1, -1);
}

static void select_it(int fd)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	select(fd + 1, &set, NULL, NULL, NULL);
}

static void epoll_it(int fd)
{
	struct epoll_event event = {.events = EPOLLIN};
	int epoll = epoll_create1(0);

	if (!epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event))
		epoll_wait(epoll, &event, 1, -1);
}

static void hold_it(int fd)
{
}

static int locked[2]; /* a pipe: the holder of the lock writes to it */

static void lock_it(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	flock(open(path, O_RDWR), LOCK_EX); /* opened anew, because an inherited descriptor would share the lock */
	if (write(locked[1], "", 1) != 1)
		_exit(1);
}

/* A child that runs @act with @fd, and has closed @other. */
static pid_t child_with(int fd, int other, void (*act)(int fd))
{
	pid_t child = fork();

	if (child)
		return child;
	if (other >= 0)
		close(other);
	act(fd);
	rest();
	_exit(0);
}

static void locks_begin(struct around *around)
{
	FILE *file = tmpfile();
	char byte;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT_EQUAL_FATAL(pipe(locked), 0);
	around->holder = child_with(fileno(file), -1, lock_it);
	CU_ASSERT_EQUAL(read(locked[0], &byte, 1), 1);
	around->locker = child_with(fileno(file), -1, lock_it);
	fclose(file);
	close(locked[0]);
	close(locked[1]);
}

static void lock_whole(int fd, size_t nr)
{
	struct flock whole = {.l_type = F_WRLCK};

	if (nr < NR_LOCKERS / 2 ? flock(fd, LOCK_EX) : fcntl(fd, F_SETLKW, &whole))
		_exit(1);
}

static char lockers_paths[NR_LOCKERS][32];

static void *locker_main(void *nr)
{
	lock_whole(open(lockers_paths[(size_t)nr], O_RDWR), (size_t)nr);
	return NULL;
}

/* The last thread is the first to wait. */
static void lockers_wait(void)
{
	pthread_t thread;

	for (size_t nr = NR_LOCKERS; nr-- > 0; usleep(10000))
		if (pthread_create(&thread, NULL, locker_main, (void *)nr))
			_exit(1);
}

static void lockers_begin(struct around *around)
{
	int ready[2];
	char byte;

	CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
	for (size_t nr = 0; nr < NR_LOCKERS; nr++) {
		int fd;

		strcpy(lockers_paths[nr], "/tmp/test-waits-XXXXXX");
		fd = mkstemp(lockers_paths[nr]);
		CU_ASSERT_FATAL(fd >= 0);
		around->holders[nr] = fork();
		if (around->holders[nr] == 0) {
			lock_whole(fd = open(lockers_paths[nr], O_RDWR), nr);
			if (write(ready[1], "", 1) == 1)
				rest();
			_exit(1);
		}
		close(fd);
		CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	}
	close(ready[0]);
	close(ready[1]);
	around->lockers = fork();
	if (around->lockers == 0) {
		lockers_wait();
		rest();
	}
}

static struct around around_begin(void)
{
	struct around around = {0};
	int fds[2], answer[2];

	lockers_begin(&around);
	locks_begin(&around); /* before the pipes: children created later inherit them */
	CU_ASSERT_FATAL(!pipe(fds) && !pipe(answer));
	around.reader = child_with(fds[0], fds[1], read_it);
	around.poller = child_with(fds[0], fds[1], poll_it);
	around.selecter = child_with(fds[0], fds[1], select_it);
	around.epoller = child_with(fds[0], fds[1], epoll_it);
	around.writer = child_with(fds[1], fds[0], hold_it);
	close(fds[0]);
	close(fds[1]);
	around.parent = fork();
	if (around.parent == 0) {
		pid_t child = fork();

		if (child == 0)
			rest();
		if (write(answer[1], &child, sizeof(child)) == sizeof(child))
			waitpid(child, NULL, 0);
		_exit(0);
	}
	CU_ASSERT_EQUAL_FATAL(read(answer[0], &around.child, sizeof(around.child)), sizeof(around.child));
	close(answer[0]);
	close(answer[1]);
	usleep(100000); /* so that all are asleep */
	return around;
}

static void around_end(const struct around *around)
{
	const pid_t all[] = {around->child,   around->parent, around->reader, around->poller, around->selecter,
			     around->epoller, around->writer, around->holder, around->locker, around->lockers};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		kill(all[i], SIGKILL);
	for (size_t nr = 0; nr < NR_LOCKERS; nr++) {
		kill(around->holders[nr], SIGKILL);
		unlink(lockers_paths[nr]);
	}
	while (wait(NULL) > 0)
		;
}

/* @pid waits all the time for @whom. */
static void check_all_of_it(json_t *from, pid_t pid, const char *via, pid_t whom)
{
	json_t *process = json_process(from, pid), *wait = json_array_get(json_object_get(process, "waits"), 0);

	CU_ASSERT_PTR_NOT_NULL_FATAL(wait);
	CU_ASSERT(is_text(wait, "kind", "process") && is_text(wait, "via", via));
	CU_ASSERT_EQUAL(json_number(wait, "pid"), whom);
	CU_ASSERT_EQUAL(json_number(wait, "ns"), json_number(process, "elapsed_ns"));
}

/* Each thread waits for the holder of its own file's lock. */
static void check_lockers(struct session *s, const struct around *around)
{
	json_t *process = json_process(s->report, around->lockers), *thread, *wait;
	size_t i, nr, found = 0;

	json_array_foreach(json_object_get(process, "threads"), i, thread) {
		wait = json_array_get(json_object_get(thread, "waits"), 0);
		for (nr = 0; nr < NR_LOCKERS; nr++)
			if (ends_with(json_text(wait, "path"), lockers_paths[nr])) {
				found++;
				CU_ASSERT(is_text(wait, "kind", "process") && is_text(wait, "via", "lock"));
				CU_ASSERT_EQUAL(json_number(wait, "pid"), around->holders[nr]);
			}
	}
	CU_ASSERT_EQUAL(found, NR_LOCKERS);
}

static void check_around(struct session *s, const struct around *around)
{
	CU_ASSERT(verifies(s));
	s->report = session_load(s, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s->report);
	check_all_of_it(s->report, around->reader, "pipe", around->writer);
	check_all_of_it(s->report, around->poller, "pipe", around->writer);
	check_all_of_it(s->report, around->selecter, "pipe", around->writer);
	check_all_of_it(s->report, around->epoller, "pipe", around->writer);
	check_all_of_it(s->report, around->locker, "lock", around->holder);
	check_all_of_it(s->report, around->parent, "waitpid", around->child);
	check_lockers(s, around);
}

static void a_wait_around_the_recording_is_known_from_its_call(void)
{
	struct around around;
	struct session s;

	session_begin(&s);
	around = around_begin();
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon %s -- sleep 0.2 2>/dev/null", TRACE_BIN, s.trace), 0);
	around_end(&around);
	check_around(&s, &around);
	session_end(&s);
}

/* A flight recorder reads the same state when a snapshot is taken. */
static void a_wait_around_a_snapshot_is_known_from_its_call(void)
{
	struct around around;
	struct session s;

	session_begin(&s);
	around = around_begin();
	CU_ASSERT_EQUAL(
		session_run("%s/tracedaemon -k -b4194304 --control %s/control 2>/dev/null", TRACE_BIN, s.folder), 0);
	usleep(300000);
	CU_ASSERT_EQUAL(
		session_run("%s/tracedaemon -j %s --control %s/control 2>/dev/null", TRACE_BIN, s.trace, s.folder), 0);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon -q --control %s/control 2>/dev/null", TRACE_BIN, s.folder), 0);
	around_end(&around);
	check_around(&s, &around);
	session_end(&s);
}

/* A child does not count after exec has closed its end. */
static void a_descriptor_closed_by_exec_does_not_count(void)
{
	json_t *process, *wait;
	struct session s;
	long long pid;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon %s -- %s %s %s held_across_exec 2>/dev/null", TRACE_BIN, s.trace,
				    TRACE_WORKLOAD_WAITS, s.truth, s.folder),
			0);
	s.report = session_load(&s, "");
	pid = session_truth(&s, "held_across_exec.pid");
	process = json_process(s.report, pid);
	wait = json_array_get(json_object_get(process, "waits"), 0);
	CU_ASSERT_PTR_NOT_NULL(wait);
	CU_ASSERT(is_text(wait, "kind", "process") && is_text(wait, "via", "pipe"));
	CU_ASSERT_EQUAL(json_number(wait, "pid"), session_truth(&s, "held_across_exec.who"));
	CU_ASSERT(json_number(wait, "ns") > 100000000);
	session_end(&s);
}

/* unshare gives its child a pid namespace, in which it is the first process. */
static void a_process_in_a_container_has_two_numbers(void)
{
	json_t *process, *found = NULL;
	struct session s;
	size_t i;

	if (session_run("unshare -fp true 2>/dev/null") != 0)
		return;
	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon %s -- unshare -fp sleep 0.1 2>/dev/null", TRACE_BIN, s.trace), 0);
	s.report = session_load(&s, "");
	json_array_foreach(json_object_get(s.report, "processes"), i, process)
		if (is_text(process, "comm", "sleep") && json_number(process, "ns_pid") == 1)
			found = process;
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_NOT_EQUAL(json_number(found, "pid"), 1);
	session_end(&s);
}

/* Bytes read by requests of a ring count like bytes read by system calls. */
static void files_show_what_rings_read(void)
{
	static const char *const scenarios[] = {"uring_file", "uring_direct", "uring_open"};
	json_t *file;
	size_t i;

	record();
	for (size_t j = 0; j < sizeof(scenarios) / sizeof(scenarios[0]); j++) {
		json_t *process = json_process(session.report, truth_of(scenarios[j], "pid"));
		long long bytes = 0;

		if (truth_of(scenarios[j], "skipped") == 1)
			continue;
		json_array_foreach(json_object_get(process, "files"), i, file)
			if (strstr(json_text(file, "path"), scenarios[j]))
				bytes += json_number(file, "read_bytes");
		CU_ASSERT_EQUAL(bytes, 32 << 20);
	}
}

/* The shell moves itself while it is recorded; its later children begin in the new group. */
static void move_below(const char *root)
{
	json_t *process, *found = NULL, *chosen;
	struct session s;
	char path[128];
	size_t i;

	snprintf(path, sizeof(path), "%s/trace-moves-%d", root, getpid());
	if (session_run("test -e %s/cgroup.procs && mkdir %s 2>/dev/null", root, path) != 0)
		return; /* there is no such hierarchy */
	session_begin(&s);
	CU_ASSERT_EQUAL(
		session_run("%s/tracedaemon --follow %s -- sh -c 'echo $$ > %s/cgroup.procs; echo shell $$ > %s; "
			    "sleep 0.1; :' 2>/dev/null",
			    TRACE_BIN, s.trace, path, s.truth),
		0);
	s.report = session_load(&s, "");
	json_array_foreach(json_object_get(s.report, "processes"), i, process)
		if (is_text(process, "comm", "sleep") && json_number(process, "ppid") == session_truth(&s, "shell"))
			found = process; /* the machine may have others of that name */
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	CU_ASSERT_STRING_EQUAL(json_text(found, "cgroup"), path + strlen(root));
	process = json_process(s.report, json_number(found, "ppid"));
	CU_ASSERT_STRING_EQUAL(json_text(process, "cgroup"), path + strlen(root));
	snprintf(path, sizeof(path), "--cgroup=/trace-moves-%d", getpid());
	chosen = session_load(&s, path);
	CU_ASSERT_EQUAL(json_array_size(json_object_get(chosen, "processes")), 2);
	json_decref(chosen);
	session_end(&s);
	session_run("rmdir %s/trace-moves-%d", root, getpid());
}

static void a_process_that_moves_is_shown_in_its_new_control_group(void)
{
	move_below(access("/sys/fs/cgroup/unified/cgroup.procs", W_OK) == 0 ? "/sys/fs/cgroup/unified"
									    : "/sys/fs/cgroup");
}

static void a_process_in_the_root_of_version_2_is_shown_in_the_group_of_its_cpu_controller(void)
{
	move_below("/sys/fs/cgroup/cpu");
}

/* The sum of the waits of a scenario's process for files whose paths end in that. */
static long long waited_for_file(const char *scenario, const char *end)
{
	long long ns = 0;
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(json_process(session.report, truth_of(scenario, "pid")), "waits"), i, wait)
		if (is_text(wait, "kind", "file") && ends_with(json_text(wait, "target"), end))
			ns += json_number(wait, "ns");
	return ns;
}

/* Each call waits for 20 ms, until another process lets the file system go. */
static void paths_are_whole_however_a_call_gives_them(void)
{
	static const char *const paths[] = {"1/cold", "2/cold",	      "4/cold",	       "5/cold",	   "6/cold",
					    "7/cold", "renamed/cold", "risen/11/cold", "12 (deleted)/gone"};
	char path[64];

	record();
	if (truth_of("frozen_names", "skipped") == 1)
		return;
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		snprintf(path, sizeof(path), "/frozen_names-mount/%s", paths[i]);
		if (waited_for_file("frozen_names", path) < 15000000)
			fprintf(stderr, "\n    %s: %lld ns ", path, waited_for_file("frozen_names", path));
		CU_ASSERT(waited_for_file("frozen_names", path) >= 15000000);
	}
	CU_ASSERT(waited_for_file("frozen_names", "/cold") >= 8 * 15000000);
}

/* A process in a chroot of its own: it is another process, so the whole report is searched. */
static void in_a_chroot_paths_begin_at_its_root(void)
{
	json_t *process, *wait;
	long long ns = 0;
	size_t i, j;

	record();
	if (truth_of("frozen_names", "skipped") == 1)
		return;
	json_array_foreach(json_object_get(session.report, "processes"), i, process)
		json_array_foreach(json_object_get(process, "waits"), j, wait)
			if (ends_with(json_text(wait, "target"), "/frozen_names-mount/13/cold"))
				ns += json_number(wait, "ns");
	CU_ASSERT(ns >= 15000000);
}

static void a_program_that_is_not_in_memory_waits_for_its_own_file(void)
{
	json_t *wait;
	size_t i;

	record();
	CU_ASSERT(waited_for_file("cold_exec", "cold_exec-program") > 0);
	json_array_foreach(json_object_get(json_process(session.report, truth_of("cold_exec", "pid")), "waits"), i,
			   wait)
		if (is_text(wait, "kind", "file"))
			CU_ASSERT_EQUAL(json_text(wait, "target")[0], '/');
}

/* Its pages are of the layer, and their file has another path there. */
static void a_program_on_an_overlay_waits_for_the_file_that_was_executed(void)
{
	record();
	if (truth_of("overlay_exec", "skipped") == 1)
		return;
	CU_ASSERT(waited_for_file("overlay_exec", "merged/program") > 0);
	CU_ASSERT_EQUAL(waited_for_file("overlay_exec", "lower/program"), 0);
}

/* The kernel thread that polls for requests belongs to the process, and waits for the same. */
static void a_polled_ring_names_the_pipes_writer(void)
{
	check(&(struct expected){
		.scenario = "uring_polled", .kind = "process", .via = "io_uring", .first_thread = true});
}

static void all_accounting_adds_up(void)
{
	record();
	CU_ASSERT(verified);
}

static void check_row(const char *scenario, const char *kind, const char *via, const char *path)
{
	check(&(struct expected){.scenario = scenario, .kind = kind, .via = via, .path = path});
}

#define PROCESS(claim, scenario, via)                       \
	static void claim(void)                             \
	{                                                   \
		check_row(#scenario, "process", via, NULL); \
	}
#define KIND(claim, scenario, kind, path)             \
	static void claim(void)                       \
	{                                             \
		check_row(#scenario, kind, "", path); \
	}
#define FILE_VIA(claim, scenario, via, path)             \
	static void claim(void)                          \
	{                                                \
		check_row(#scenario, "file", via, path); \
	}
#define STOPPED(claim, scenario, via)                       \
	static void claim(void)                             \
	{                                                   \
		check_row(#scenario, "stopped", via, NULL); \
	}
#define CLAIMS                                                                                                     \
	PROCESS(a_pipe_names_its_writer, pipe_read, "pipe")                                                        \
	PROCESS(a_unix_stream_names_its_peer, unix_stream, "unix")                                                 \
	PROCESS(a_unix_datagram_names_its_sender, unix_dgram, "unix")                                              \
	PROCESS(a_unix_seqpacket_names_its_sender, unix_seqpacket, "unix")                                         \
	PROCESS(local_tcp_names_its_peer, tcp, "tcp")                                                              \
	PROCESS(local_udp_names_its_peer, udp, "udp")                                                              \
	PROCESS(a_raw_socket_names_its_sender, raw, "socket")                                                      \
	PROCESS(unconnected_udp_names_its_sender, udp_unconnected, "udp")                                          \
	PROCESS(udp_from_another_namespace_names_its_sender, veth_udp, "udp")                                      \
	PROCESS(poll_names_the_sender_in_another_namespace, veth_udp_poll, "udp")                                  \
	PROCESS(tcp_from_another_namespace_names_its_peer, veth_tcp, "tcp")                                        \
	PROCESS(what_a_timer_sends_is_for_the_peer, delayed_acknowledgement, "tcp_timer")                          \
	PROCESS(an_eventfd_names_its_writer, read_eventfd, "eventfd")                                              \
	PROCESS(poll_names_the_pipes_writer, poll_pipe, "pipe")                                                    \
	PROCESS(poll_names_the_unix_peer, poll_unix, "unix")                                                       \
	PROCESS(poll_names_the_tcp_peer, poll_tcp, "tcp")                                                          \
	PROCESS(poll_names_the_eventfds_writer, poll_eventfd, "eventfd")                                           \
	PROCESS(poll_of_many_names_the_one, poll_many_eventfd, "eventfd")                                          \
	PROCESS(poll_of_many_names_the_pipe, poll_many_pipe, "pipe")                                               \
	PROCESS(select_names_the_pipes_writer, select_pipe, "pipe")                                                \
	PROCESS(epoll_names_the_pipes_writer, epoll_pipe, "pipe")                                                  \
	PROCESS(epoll_names_the_unix_peer, epoll_unix, "unix")                                                     \
	PROCESS(epoll_names_the_tcp_peer, epoll_tcp, "tcp")                                                        \
	PROCESS(epoll_names_the_eventfds_writer, epoll_eventfd, "eventfd")                                         \
	PROCESS(epoll_in_epoll_names_the_pipes_writer, epoll_in_epoll, "pipe")                                     \
	PROCESS(a_full_pipe_names_its_reader, full_pipe, "pipe")                                                   \
	PROCESS(a_full_unix_socket_names_its_reader, full_unix, "unix")                                            \
	PROCESS(a_full_tcp_connection_names_its_reader, full_tcp, "tcp")                                           \
	PROCESS(accept_names_who_connected, accept_tcp, "tcp")                                                     \
	PROCESS(poll_of_a_listener_names_who_connected, poll_accept, "tcp")                                        \
	PROCESS(accept_names_who_connected_by_unix, accept_unix, "unix")                                           \
	PROCESS(connect_names_who_accepted, connect_full, "unix")                                                  \
	PROCESS(a_condition_variable_names_who_signalled, condvar, "futex")                                        \
	PROCESS(a_join_names_the_process_of_the_thread, join, "join")                                              \
	PROCESS(a_posix_semaphore_names_who_posted, posix_semaphore, "futex")                                      \
	PROCESS(a_sysv_semaphore_names_who_posted, sysv_semaphore, "semaphore")                                    \
	PROCESS(a_sysv_message_queue_names_its_sender, sysv_messages, "mqueue")                                    \
	PROCESS(a_posix_message_queue_names_its_sender, posix_messages, "mqueue")                                  \
	PROCESS(a_waiter_that_was_moved_is_for_the_holder_that_ends, moved_to_holder, "futex")                     \
	PROCESS(so_is_one_that_futex_requeue_moved, moved_by_futex_requeue, "futex")                               \
	PROCESS(flock_names_the_holder, file_lock, "lock")                                                         \
	PROCESS(a_record_lock_names_the_holder, record_lock, "lock")                                               \
	PROCESS(a_leased_file_names_who_has_it, leased_file, "lock")                                               \
	PROCESS(a_watched_file_names_who_lets_it_be_opened, watched_file, "inotify")                               \
	PROCESS(waitpid_names_the_child_that_exits, waitpid_any, "waitpid")                                        \
	PROCESS(vfork_names_the_child, vfork_waits, "vfork")                                                       \
	PROCESS(a_polled_pidfd_names_the_child, pidfd, "pidfd")                                                    \
	PROCESS(pause_names_who_signalled, pause_for_signal, "signal")                                             \
	PROCESS(sigwait_names_who_signalled, sigwait_for_signal, "signal")                                         \
	PROCESS(a_signalfd_names_who_signalled, signalfd_read, "signal")                                           \
	PROCESS(a_polled_signalfd_names_who_signalled, poll_signalfd, "signal")                                    \
	PROCESS(inotify_names_who_changed_the_folder, inotify, "inotify")                                          \
	PROCESS(opening_a_fifo_names_who_opened_the_other_end, fifo, "pipe")                                       \
	PROCESS(a_pseudo_terminal_names_who_typed, terminal_read, "tty")                                           \
	PROCESS(a_passed_descriptor_is_known, passed_descriptor, "pipe")                                           \
	PROCESS(a_duplicated_descriptor_is_known, duplicated_descriptor, "pipe")                                   \
	PROCESS(a_ring_names_the_pipes_writer, uring_pipe, "io_uring")                                             \
	PROCESS(a_ring_names_the_unix_peer, uring_unix, "io_uring")                                                \
	PROCESS(a_rings_worker_waits_for_its_submitter, uring_worker, "io_uring")                                  \
	PROCESS(a_chain_of_a_ring_waits_for_its_parts, uring_chain, "io_uring")                                    \
	PROCESS(accept_by_a_ring_names_who_connected, uring_accept, "io_uring")                                    \
	PROCESS(what_a_ring_accepted_is_known, uring_accepted, "tcp")                                              \
	PROCESS(what_a_ring_accepted_into_a_slot_is_known, uring_accepted_direct, "io_uring")                      \
	PROCESS(what_a_ring_connected_is_known, uring_socket, "tcp")                                               \
	KIND(what_a_ring_opened_is_known, uring_open, "file", "uring_open-data")                                   \
	PROCESS(a_fault_that_a_process_serves_names_it, userfault, "memory")                                       \
	PROCESS(a_call_that_needs_a_served_page_names_its_server, userfault_in_call, "memory")                     \
	PROCESS(a_write_that_a_process_allows_names_it, userfault_of_write, "memory")                              \
	PROCESS(a_call_that_copies_to_a_served_page_names_its_server, userfault_of_copy, "memory")                 \
	PROCESS(a_server_with_a_passed_descriptor_is_named, userfault_of_passed, "memory")                         \
	KIND(pages_that_were_swapped_out_are_memory, swap, "memory", NULL)                                         \
	FILE_VIA(a_32_bit_read_names_the_file, file_by_32_bit_calls, "", "file_by_32_bit_calls-data")              \
	PROCESS(a_pipe_of_32_bit_calls_names_its_writer, pipe_by_32_bit_calls, "pipe")                             \
	PROCESS(a_32_bit_poll_names_the_peer, poll_by_32_bit_call, "unix")                                         \
	PROCESS(a_32_bit_wait_names_the_child, waitpid_by_32_bit_call, "waitpid")                                  \
	KIND(a_32_bit_futex_that_times_out_is_a_timeout, futex_by_32_bit_call, "timeout", NULL)                    \
	KIND(a_32_bit_futex_with_64_bit_times_is_a_timeout, futex_by_64_bit_time, "timeout", NULL)                 \
	PROCESS(memory_of_the_old_mmap_is_shared_with_a_child, futex_in_old_mapping, "futex")                      \
	PROCESS(a_32_bit_receive_names_the_peer, receive_by_socketcall, "unix")                                    \
	PROCESS(sockets_of_a_32_bit_call_are_known, socketpair_by_socketcall, "unix")                              \
	PROCESS(a_32_bit_accept_names_who_connected, accept_by_socketcall, "tcp")                                  \
	PROCESS(what_a_32_bit_call_accepted_is_known, accepted_by_socketcall, "tcp")                               \
	PROCESS(a_32_bit_semaphore_names_who_posted, semaphore_by_ipc, "semaphore")                                \
	PROCESS(a_descriptor_passed_to_a_32_bit_call_is_known, passed_to_32_bit, "pipe")                           \
	PROCESS(a_descriptor_taken_from_a_process_is_known, taken_descriptor, "pipe")                              \
	PROCESS(threads_share_descriptors, shared_table, "pipe")                                                   \
	PROCESS(a_thread_may_have_descriptors_of_its_own, unshared_table, "pipe")                                  \
	PROCESS(two_processes_may_share_descriptors, table_of_two_processes, "pipe")                               \
	PROCESS(a_number_that_is_used_again_is_the_new_file, number_used_again, "pipe")                            \
	PROCESS(an_end_that_a_ring_received_has_its_writer, end_by_ring, "pipe")                                   \
	PROCESS(an_end_in_a_message_is_closed_with_that, end_in_message, "pipe")                                   \
	PROCESS(an_end_of_a_shared_table_has_its_writer, end_of_shared_table, "pipe")                              \
	PROCESS(the_parent_of_a_traced_child_waits_for_it, waitpid_traced, "waitpid")                              \
	PROCESS(by_id_the_parent_waits_for_it_too, waitid_traced, "waitpid")                                       \
	PROCESS(waiting_by_pidfd_names_the_child, pidfd_wait, "waitpid")                                           \
	PROCESS(a_pidfd_in_epoll_names_the_child, epoll_pidfd, "pidfd")                                            \
	PROCESS(a_signal_by_pidfd_names_its_sender, pidfd_signal, "signal")                                        \
	KIND(a_timer_of_a_ring_is_a_timeout, uring_timeout, "timeout", NULL)                                       \
	KIND(select_may_time_out, select_timeout, "timeout", NULL)                                                 \
	KIND(epoll_may_time_out, epoll_timeout, "timeout", NULL)                                                   \
	KIND(sigwait_may_time_out, sigwait_timeout, "timeout", NULL)                                               \
	KIND(a_semaphore_may_time_out, semaphore_timeout, "timeout", NULL)                                         \
	KIND(a_message_queue_may_time_out, queue_timeout, "timeout", NULL)                                         \
	STOPPED(a_frozen_process_is_stopped, frozen, "freezer")                                                    \
	KIND(a_process_without_quota_waits_for_that, quota, "quota", NULL)                                         \
	KIND(a_thread_at_its_deadline_limit_waits_for_the_kernel, deadline, "kernel", "runtime of SCHED_DEADLINE") \
	KIND(what_another_one_reads_too_is_the_file, read_by_two, "file", "read_by_two-data")                      \
	KIND(what_the_kernel_writes_is_the_file, written_by_kernel, "file", "written_by_kernel-data")              \
	KIND(a_deleted_file_has_the_name_it_was_opened_by, deleted_file, "file", "deleted_file-data")              \
	KIND(a_renamed_file_has_its_new_name, renamed_file, "file", "renamed_file-new")                            \
	KIND(an_inode_that_is_used_again_is_the_new_file, inode_used_again, "file", "inode_used_again-data")       \
	KIND(a_file_in_another_root_has_its_whole_path, chroot_file, "file", "chroot_file-root/data")              \
	KIND(a_file_of_a_mount_namespace_is_known, mounted_file, "file", "mounted_file-mount/data")                \
	KIND(looking_for_a_cold_file_names_it, stat_cold, "file", "/cold")                                         \
	KIND(opening_a_cold_file_names_it, open_cold, "file", "/cold")                                             \
	KIND(deleting_a_cold_file_names_it, unlink_cold, "file", "/cold")                                          \
	KIND(listing_a_cold_folder_names_it, list_cold, "file", "/big")                                            \
	KIND(a_device_is_named, device_read, "device", "/dev/hwrng")                                               \
	KIND(a_datagram_from_another_host_names_it, datagram_from_afar, "network", "10.9.9.2:4000")                \
	KIND(poll_names_the_other_host, poll_from_afar, "network", "10.9.9.2:4000")                                \
	KIND(a_socket_names_the_host_to_which_it_sent, sent_afar, "network", "10.9.9.2:4000")                      \
	KIND(several_destinations_leave_only_the_port, sent_to_several, "network", "local port 4003")              \
	KIND(connect_names_the_other_host, connect_afar, "network", "10.9.9.2:4000")                               \
	KIND(a_connection_that_is_refused_names_the_other_host, refused_afar, "network", "10.9.9.2:4000")          \
	KIND(a_connection_that_is_not_answered_names_the_other_host, unanswered_afar, "network", "10.9.9.2:4000")  \
	STOPPED(a_stopped_process_is_stopped, stopped, "signal")                                                   \
	STOPPED(a_traced_process_is_stopped, traced, "ptrace")                                                     \
	KIND(a_timerfd_is_a_timeout, timerfd_read, "timeout", NULL)                                                \
	KIND(a_polled_timerfd_is_a_timeout, poll_timerfd, "timeout", NULL)                                         \
	KIND(a_timerfd_in_epoll_is_a_timeout, epoll_timerfd, "timeout", NULL)                                      \
	KIND(a_futex_that_times_out_is_a_timeout, condvar_timeout, "timeout", NULL)                                \
	KIND(a_receive_that_times_out_is_a_timeout, receive_timeout, "timeout", NULL)                              \
	KIND(a_32_bit_sleep_is_a_timeout, sleep_by_32_bit_call, "timeout", NULL)                                   \
	KIND(a_mapped_file_is_named, mapped_file, "file", "mapped_file-data")                                      \
	KIND(a_file_whose_pages_a_call_brings_in_is_named, populated_file, "file", "populated_file-data")          \
	KIND(so_is_one_that_is_mapped_with_its_pages, file_mapped_with_its_pages, "file",                          \
	     "file_mapped_with_its_pages-data")                                                                    \
	KIND(a_mapped_file_of_an_overlay_has_the_path_that_was_mapped, overlay_mapped, "file", "merged/data")      \
	KIND(a_file_of_an_overlay_has_the_path_that_was_opened, overlay_read, "file", "merged/data")               \
	KIND(fsync_names_the_file, fsync_file, "file", "fsync_file-data")                                          \
	FILE_VIA(a_ring_names_the_file, uring_file, "io_uring", "uring_file-data")                                 \
	FILE_VIA(what_a_ring_opened_into_a_slot_is_known, uring_direct, "io_uring", "uring_direct-data")
CLAIMS

static const struct unit_case cases[] = {
	{"all_accounting_adds_up", all_accounting_adds_up},
	{"files_show_what_rings_read", files_show_what_rings_read},
	{"a_process_that_moves_is_shown_in_its_new_control_group",
	 a_process_that_moves_is_shown_in_its_new_control_group},
	{"a_process_in_the_root_of_version_2_is_shown_in_the_group_of_its_cpu_controller",
	 a_process_in_the_root_of_version_2_is_shown_in_the_group_of_its_cpu_controller},
	{"a_wait_around_the_recording_is_known_from_its_call", a_wait_around_the_recording_is_known_from_its_call},
	{"a_wait_around_a_snapshot_is_known_from_its_call", a_wait_around_a_snapshot_is_known_from_its_call},
	{"a_descriptor_closed_by_exec_does_not_count", a_descriptor_closed_by_exec_does_not_count},
	CASE(paths_are_whole_however_a_call_gives_them),
	CASE(in_a_chroot_paths_begin_at_its_root),
	CASE(a_program_that_is_not_in_memory_waits_for_its_own_file),
	CASE(a_program_on_an_overlay_waits_for_the_file_that_was_executed),
	{"a_polled_ring_names_the_pipes_writer", a_polled_ring_names_the_pipes_writer},
#undef PROCESS
#undef KIND
#undef FILE_VIA
#undef STOPPED
#define PROCESS(claim, scenario, via)	     {#claim, claim},
#define KIND(claim, scenario, kind, path)    {#claim, claim},
#define FILE_VIA(claim, scenario, via, path) {#claim, claim},
#define STOPPED(claim, scenario, via)	     {#claim, claim},
	{"a_process_in_a_container_has_two_numbers", a_process_in_a_container_has_two_numbers},
	CLAIMS{NULL, NULL},
};

int main(int argc, char **argv)
{
	int failed;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_waits: needs root and a kernel with BTF\n");
		return 77;
	}
	failed = unit_main("waits", cases, argc, argv);
	told_free(&told);
	if (*session.folder)
		session_end(&session);
	return failed;
}
