/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_identity.c - processes change their user, control group, parent and name on the real
 * kernel, and the report has the values and the time of each.
 *
 * This is the program as well: "test_e2e_identity do TRUTH FOLDER". Root only; skipped (77) where
 * the kernel cannot be recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "e2e_session.h"
#include "truth_file.h"
#include "unit.h"

#define NOBODY	   65534
#define GROUP_ROOT "/sys/fs/cgroup/unified"
#define GROUP	   "/trace-e2e-identity"
#define THREADS	   "/trace-e2e-threads" /* whose thread may be in another group than its process */

/* ---- the program ---- */

static long long now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void spin_ms(long long ms)
{
	long long end = now_ns() + ms * 1000000;

	while (now_ns() < end)
		;
}

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* How often this process has left its CPU for another thread, while it was runnable. */
static long preemptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nivcsw;
}

static void wait_for(const char *key, pid_t child)
{
	write_truth(key, child);
	need(waitpid(child, NULL, 0) == child, "wait");
}

static void drop_privileges(void)
{
	pid_t child = fork();

	if (child)
		return wait_for("drops", child);
	spin_ms(20);
	need(!setresgid(NOBODY, NOBODY, NOBODY), "setresgid");
	write_truth("drops_root_ns", cpu_ns());
	need(!setresuid(NOBODY, NOBODY, NOBODY), "setresuid");
	spin_ms(60);
	write_truth("drops_all_ns", cpu_ns());
	write_truth("drops_preemptions", preemptions());
	_exit(0);
}

static void *be_another_user(void *unused)
{
	(void)unused;
	need(!syscall(SYS_setresuid, -1, 33, -1), "setresuid of a thread");
	write_truth("thread_of_33", syscall(SYS_gettid));
	spin_ms(5);
	return NULL;
}

/* The C library changes all threads; the system call changes one. */
static void change_one_thread(void)
{
	pid_t child = fork();
	pthread_t thread;

	if (child)
		return wait_for("one_thread", child);
	need(!pthread_create(&thread, NULL, be_another_user, NULL), "thread");
	pthread_join(thread, NULL);
	_exit(0);
}

/* Executes a copy of this program that belongs to another user and has the set-uid bits. */
static void execute_set_uid(const char *folder)
{
	char copy[256];
	pid_t child;

	snprintf(copy, sizeof(copy), "%s/set-uid", folder);
	child = fork();
	if (child)
		return wait_for("set_uid", child);
	execl(copy, "set-uid", "spin", NULL);
	perror(copy);
	_exit(1);
}

static void begin_in_a_group(void)
{
	struct clone_args arguments = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
	pid_t child;
	int fd;

	mkdir(GROUP_ROOT GROUP, 0755);
	fd = open(GROUP_ROOT GROUP, O_RDONLY | O_DIRECTORY);
	write_truth("has_groups", fd >= 0);
	if (fd < 0)
		return;
	arguments.cgroup = (uint64_t)fd;
	child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));
	need(child >= 0, "clone3");
	if (!child) {
		spin_ms(5);
		_exit(0);
	}
	wait_for("into_group", child);
	close(fd);
}

static void move_to_a_group(void)
{
	pid_t child = fork();
	FILE *procs;

	if (child)
		return wait_for("moved", child);
	spin_ms(20);
	procs = fopen(GROUP_ROOT GROUP "/cgroup.procs", "we");
	need(procs && fputs("0", procs) >= 0 && !fclose(procs), "cgroup.procs");
	write_truth("moved_before_ns", cpu_ns());
	spin_ms(40);
	write_truth("moved_all_ns", cpu_ns());
	write_truth("moved_preemptions", preemptions());
	_exit(0);
}

static bool put(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	return file && fputs(text, file) >= 0 && !fclose(file);
}

static long long thread_cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static void *leave_the_group(void *unused)
{
	(void)unused;
	spin_ms(20);
	need(put(GROUP_ROOT THREADS "/apart/cgroup.threads", "0"), "cgroup.threads");
	write_truth("apart_before_ns", thread_cpu_ns());
	spin_ms(40);
	write_truth("apart_all_ns", thread_cpu_ns());
	write_truth("apart_preemptions", preemptions());
	return NULL;
}

static void move_a_thread(void)
{
	pthread_t thread;
	pid_t child;

	mkdir(GROUP_ROOT THREADS, 0755);
	mkdir(GROUP_ROOT THREADS "/apart", 0755);
	write_truth("has_threaded_groups", put(GROUP_ROOT THREADS "/apart/cgroup.type", "threaded"));
	child = fork();
	if (child)
		return wait_for("of_threads", child);
	if (put(GROUP_ROOT THREADS "/cgroup.procs", "0") && !pthread_create(&thread, NULL, leave_the_group, NULL))
		pthread_join(thread, NULL);
	_exit(0);
}

/* A supervisor, its child that ends at once, and a grandchild that outlives the recording. */
static void leave_an_orphan(bool supervised)
{
	int fds[2];
	pid_t supervisor, orphan = 0;

	need(!pipe(fds), "pipe");
	supervisor = fork();
	if (!supervisor) {
		pid_t middle;

		if (supervised)
			prctl(PR_SET_CHILD_SUBREAPER, 1);
		middle = fork();
		if (!middle) {
			orphan = fork();
			if (!orphan) {
				usleep(700000);
				_exit(0);
			}
			need(write(fds[1], &orphan, sizeof(orphan)) == sizeof(orphan), "pipe");
			_exit(0);
		}
		waitpid(middle, NULL, 0);
		if (supervised)
			waitpid(-1, NULL, 0);
		_exit(0);
	}
	need(read(fds[0], &orphan, sizeof(orphan)) == sizeof(orphan), "pipe");
	write_truth(supervised ? "supervisor" : "parent_without_supervisor", supervisor);
	write_truth(supervised ? "orphan" : "orphan_of_init", orphan);
	if (!supervised)
		waitpid(supervisor, NULL, 0);
}

/* ---- families in pid namespaces: all numbers are those of the namespace of /proc ---- */

#define DEPTH 70

static volatile struct family {
	pid_t init, orphan, subreaper, below, joined, of_joined, deep;
} * family; /* shared by all its processes */

static pid_t own_pid(void)
{
	char number[16];
	ssize_t bytes = readlink("/proc/self", number, sizeof(number) - 1);

	number[bytes > 0 ? bytes : 0] = '\0';
	return atoi(number);
}

static pid_t parent_of(pid_t pid)
{
	char path[64];
	int parent = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	stat = fopen(path, "re");
	if (stat && fscanf(stat, "%*d (%*[^)]) %*c %d", &parent) != 1)
		parent = 0;
	if (stat)
		fclose(stat);
	return parent;
}

static void await_number(volatile pid_t *pid)
{
	for (int i = 0; i < 2000 && !*pid; i++)
		usleep(1000);
	need(*pid, "a process of the family");
}

/* A process begins, and its parent ends. The caller waits for the latter. */
static void leave_one(volatile pid_t *ret_pid)
{
	pid_t middle = fork();

	need(middle >= 0, "fork");
	if (middle)
		return need(waitpid(middle, NULL, 0) == middle, "wait");
	if (!fork()) {
		*ret_pid = own_pid();
		for (;;)
			pause();
	}
	await_number(ret_pid);
	_exit(0);
}

static void be_init(void)
{
	leave_one(&family->orphan);
	if (!fork()) {
		prctl(PR_SET_CHILD_SUBREAPER, 1);
		leave_one(&family->below);
		family->subreaper = own_pid();
		for (;;)
			pause();
	}
	for (;;)
		pause();
}

/* Its child is process 1 of a namespace of pids, in one of users, and gets another parent. */
static void begin_namespace(void)
{
	pid_t pid = fork();

	if (pid)
		return need(waitpid(pid, NULL, 0) == pid, "wait");
	need(!unshare(CLONE_NEWUSER | CLONE_NEWPID), "unshare");
	pid = fork();
	if (!pid)
		be_init();
	family->init = pid;
	await_number(&family->subreaper);
	_exit(0);
}

/* Processes of that namespace whose parent is outside, and their children. */
static void join_namespace(void)
{
	pid_t pid = fork();
	char path[64];
	int fd;

	if (pid)
		return need(waitpid(pid, NULL, 0) == pid, "wait");
	snprintf(path, sizeof(path), "/proc/%d/ns/pid", family->init);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	need(fd >= 0 && !setns(fd, CLONE_NEWPID), path);
	leave_one(&family->of_joined);
	if (!fork()) {
		family->joined = own_pid();
		for (;;)
			pause();
	}
	await_number(&family->joined);
	_exit(0);
}

static void go_deep(int depth)
{
	pid_t pid = depth ? fork() : 0;

	if (!depth) {
		leave_one(&family->deep);
		return;
	}
	if (pid)
		return need(waitpid(pid, NULL, 0) == pid, "wait");
	go_deep(depth - 1);
	_exit(0);
}

static void write_parent(const char *key, pid_t pid)
{
	char of[64];

	snprintf(of, sizeof(of), "%s_parent", key);
	write_truth(key, pid);
	write_truth(of, parent_of(pid));
}

/* The reaper of all that begin and join the namespace, which ends with its init. */
static void supervise_namespaces(void)
{
	pid_t supervisor = fork();

	if (supervisor)
		return wait_for("outside", supervisor);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	begin_namespace();
	join_namespace();
	go_deep(DEPTH);
	usleep(50000);
	write_parent("ns_init", family->init);
	write_parent("ns_orphan", family->orphan);
	write_parent("ns_below", family->below);
	write_parent("ns_joined", family->joined);
	write_parent("ns_of_joined", family->of_joined);
	write_parent("deep", family->deep);
	kill(family->deep, SIGKILL);
	kill(family->init, SIGKILL);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

static void nest_families(void)
{
	family = mmap(NULL, sizeof(*family), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	need(family != MAP_FAILED, "mmap");
	supervise_namespaces();
}

static void *fork_one(void *pid)
{
	*(pid_t *)pid = fork();
	if (*(pid_t *)pid == 0) {
		usleep(50000);
		_exit(0);
	}
	return NULL;
}

/* The thread that forks ends; its process does not. */
static void fork_in_a_thread(void)
{
	pthread_t thread;
	pid_t child;

	need(!pthread_create(&thread, NULL, fork_one, &child), "thread");
	pthread_join(thread, NULL);
	wait_for("of_a_thread", child);
}

static void change_the_name(void)
{
	pid_t child = fork();

	if (child)
		return wait_for("named", child);
	spin_ms(20);
	write_truth("named_before_ns", cpu_ns());
	write_truth("named_preemptions", preemptions());
	prctl(PR_SET_NAME, "e2e-worker");
	spin_ms(20);
	_exit(0);
}

static int program(const char *truth_path, const char *folder)
{
	truth = fopen(truth_path, "ae");
	need(truth, truth_path);
	write_truth("program", getpid());
	drop_privileges();
	change_one_thread();
	execute_set_uid(folder);
	begin_in_a_group();
	if (access(GROUP_ROOT GROUP, F_OK) == 0)
		move_to_a_group();
	if (access(GROUP_ROOT, F_OK) == 0)
		move_a_thread();
	fork_in_a_thread();
	change_the_name();
	nest_families();
	leave_an_orphan(false);
	leave_an_orphan(true);
	usleep(100000); /* the recording ends while the supervisor waits */
	return 0;
}

/* ---- two processes with one memory, from before the recording on ---- */

static volatile int turns;
static char stack_of_waker[65536];

static int be_waker(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		syscall(SYS_nanosleep, &(struct timespec){.tv_nsec = 20000000}, NULL);
		turns++;
		syscall(SYS_futex, &turns, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	return 0;
}

/* Returns its number. @ret_waker: that of the process that it waits for */
static pid_t begin_pair(pid_t *ret_waker)
{
	int fds[2];
	pid_t pid;

	need(!pipe(fds), "pipe");
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		*ret_waker = clone(be_waker, stack_of_waker + sizeof(stack_of_waker), CLONE_VM | SIGCHLD, NULL);
		need(write(fds[1], ret_waker, sizeof(*ret_waker)) == sizeof(*ret_waker), "pipe");
		for (int seen = turns;; seen = turns)
			syscall(SYS_futex, &turns, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
	}
	need(read(fds[0], ret_waker, sizeof(*ret_waker)) == sizeof(*ret_waker), "pipe");
	close(fds[0]);
	close(fds[1]);
	return pid;
}

/* ---- the test ---- */

static struct session session;

static int record(const char *options)
{
	char self[256];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[bytes > 0 ? bytes : 0] = '\0';
	session_begin(&session);
	session_run("cp '%s' %s/set-uid && chown %d:%d %s/set-uid && chmod 6755 %s/set-uid && chmod 755 %s", self,
		    session.folder, NOBODY, NOBODY, session.folder, session.folder, session.folder);
	return session_run("%s/tracedaemon --quiet %s %s -- %s do %s %s >%s/out 2>&1 </dev/null", TRACE_BIN, options,
			   session.trace, self, session.truth, session.folder, session.folder);
}

static pid_t pair_waiter, pair_waker;

static void the_program_is_recorded(void)
{
	int result;

	pair_waiter = begin_pair(&pair_waker);
	result = record("");
	kill(pair_waiter, SIGKILL);
	waitpid(pair_waiter, NULL, 0);
	CU_ASSERT_EQUAL_FATAL(result, 0);
	session.report = session_load(&session, "");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
}

static json_t *process(const char *key)
{
	json_t *found = json_process(session.report, session_truth(&session, key));

	CU_ASSERT_PTR_NOT_NULL(found);
	return found;
}

/* The CPU time that @process had while @key of its identity was @value. */
static long long cpu_as(const json_t *of, const char *key, json_t *value)
{
	long long sum = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(of, "identities"), i, row)
		if (json_equal(json_object_get(row, key), value))
			sum += json_number(row, "cpu_ns") + json_number(row, "interrupted_ns");
	json_decref(value);
	return sum;
}

/*
 * Both clocks of the kernel leave out what the hypervisor took. At each preemption the clock of the
 * other thread may have the time since its wakeup, up to a tick, 4 ms: rule_run_time.c. So may that
 * of this thread when it begins.
 */
static void near(const char *what, const char *of, long long ns, long long truth_ns)
{
	long long slack = truth_ns / 50 + 4000000 * (1 + session_truth(&session, of)) + session_stolen_ns(&session);

	if (ns < truth_ns - slack || ns > truth_ns + slack)
		fprintf(stderr, "%s: %lld ns, but truth is %lld ns\n", what, ns, truth_ns);
	CU_ASSERT_TRUE(ns >= truth_ns - slack && ns <= truth_ns + slack);
}

static long long difference(const char *key, const char *less)
{
	return session_truth(&session, key) - session_truth(&session, less);
}

static void the_time_before_and_after_setresuid_is_that_of_each_user(void)
{
	json_t *drops = process("drops");

	CU_ASSERT_EQUAL(json_number(drops, "uid"), NOBODY);
	CU_ASSERT_EQUAL(json_number(drops, "gid"), NOBODY);
	near("as root", "drops_preemptions", cpu_as(drops, "uid", json_integer(0)),
	     session_truth(&session, "drops_root_ns"));
	near("the CPU time as nobody", "drops_preemptions", cpu_as(drops, "uid", json_integer(NOBODY)),
	     difference("drops_all_ns", "drops_root_ns"));
}

static void a_thread_has_a_user_of_its_own(void)
{
	json_t *of = process("one_thread"), *thread;
	size_t i;
	int nr = 0;

	CU_ASSERT_EQUAL(json_number(of, "uid"), 0);
	json_array_foreach(json_object_get(of, "threads"), i, thread)
		if (json_number(thread, "tid") == session_truth(&session, "thread_of_33") && ++nr)
			CU_ASSERT_EQUAL(json_number(thread, "uid"), 33);
	CU_ASSERT_EQUAL(nr, 1);
}

static void a_set_uid_program_has_the_user_of_its_file(void)
{
	CU_ASSERT_EQUAL(json_number(process("set_uid"), "uid"), NOBODY);
	CU_ASSERT_EQUAL(json_number(process("set_uid"), "gid"), NOBODY);
}

static void a_process_is_in_the_group_that_it_was_born_in_or_moved_to(void)
{
	json_t *moved;

	if (!session_truth(&session, "has_groups"))
		return;
	CU_ASSERT_STRING_EQUAL(json_text(process("into_group"), "cgroup"), GROUP);
	moved = process("moved");
	CU_ASSERT_STRING_EQUAL(json_text(moved, "cgroup"), GROUP);
	near("before the move", "moved_preemptions",
	     cpu_as(moved, "cgroup", json_string(json_text(process("program"), "cgroup"))),
	     session_truth(&session, "moved_before_ns"));
	near("after the move", "moved_preemptions", cpu_as(moved, "cgroup", json_string(GROUP)),
	     difference("moved_all_ns", "moved_before_ns"));
}

static void a_thread_may_be_in_another_group_than_its_process(void)
{
	json_t *of;

	if (session_truth(&session, "has_threaded_groups") != 1)
		return;
	of = process("of_threads");
	CU_ASSERT_STRING_EQUAL(json_text(of, "cgroup"), THREADS);
	near("a thread in its group", "apart_preemptions", cpu_as(of, "cgroup", json_string(THREADS "/apart")),
	     difference("apart_all_ns", "apart_before_ns"));
}

static void an_orphan_is_the_child_of_its_reaper(void)
{
	long long orphan = session_truth(&session, "orphan"), waited = 0;
	json_t *row;
	size_t i;

	CU_ASSERT_EQUAL(json_number(process("orphan"), "ppid"), session_truth(&session, "supervisor"));
	CU_ASSERT_EQUAL(json_number(process("orphan_of_init"), "ppid"), 1);
	CU_ASSERT_EQUAL(json_number(process("of_a_thread"), "ppid"), session_truth(&session, "program"));
	json_array_foreach(json_object_get(process("supervisor"), "waits"), i, row)
		if (json_number(row, "pid") == orphan)
			waited += json_number(row, "ns");
	CU_ASSERT_TRUE(waited >= 90000000);
}

static void its_parent_was(const char *key)
{
	long long truth_ppid, longest_ns = 0;
	char of[64];
	json_t *row;
	size_t i;

	snprintf(of, sizeof(of), "%s_parent", key);
	truth_ppid = session_truth(&session, of);
	CU_ASSERT_TRUE(truth_ppid > 0);
	json_array_foreach(json_object_get(process(key), "identities"), i, row) {
		long long ns = json_number(row, "last_ns") - json_number(row, "first_ns");

		if (json_number(row, "ppid") == truth_ppid && ns > longest_ns)
			longest_ns = ns;
	}
	if (longest_ns < 40000000)
		fprintf(stderr, "%s: parent %lld for %lld ns\n", key, truth_ppid, longest_ns);
	CU_ASSERT_TRUE(longest_ns >= 40000000);
}

/* By /proc, 50 ms after the last adoption. */
static void a_reaper_is_of_the_namespace_of_the_parent_that_ends(void)
{
	its_parent_was("ns_init");
	its_parent_was("ns_orphan");
	its_parent_was("ns_below");
	its_parent_was("ns_joined");
	its_parent_was("ns_of_joined");
	CU_ASSERT_EQUAL(session_truth(&session, "ns_init_parent"), session_truth(&session, "outside"));
	CU_ASSERT_EQUAL(session_truth(&session, "ns_joined_parent"), session_truth(&session, "outside"));
	CU_ASSERT_EQUAL(session_truth(&session, "ns_of_joined_parent"), session_truth(&session, "ns_init"));
}

static void a_reaper_may_be_seventy_generations_away(void)
{
	its_parent_was("deep");
	CU_ASSERT_EQUAL(session_truth(&session, "deep_parent"), session_truth(&session, "outside"));
}

static void processes_with_one_memory_wait_for_each_other(void)
{
	const json_t *waiter = json_process(session.report, pair_waiter);
	long long for_waker = 0, all = 0;
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(waiter, "waits"), i, row) {
		all += json_number(row, "ns");
		if (json_number(row, "pid") == pair_waker && strcmp(json_text(row, "via"), "futex") == 0)
			for_waker += json_number(row, "ns");
	}
	if (!all || for_waker < all / 10 * 9)
		fprintf(stderr, "waited %lld ns for the other process, of %lld ns\n", for_waker, all);
	CU_ASSERT_TRUE(all > 0);
	CU_ASSERT_TRUE(for_waker >= all / 10 * 9);
}

static void a_name_has_the_time_under_it(void)
{
	near("before the name", "named_preemptions",
	     cpu_as(process("named"), "comm", json_string(json_text(process("program"), "comm"))),
	     session_truth(&session, "named_before_ns"));
}

static void the_sums_and_the_parents_verify(void)
{
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, session.trace), 0);
}

/* The filter by user takes a process while it is that user. */
static void a_recording_of_one_user_has_only_the_time_of_that_user(void)
{
	long long elapsed;
	json_t *drops;

	session_end(&session);
	CU_ASSERT_EQUAL(record("-u65534"), 0);
	session.report = session_load(&session, "");
	drops = process("drops");
	near("the CPU time only as nobody", "drops_preemptions",
	     json_number(drops, "cpu_ns") + json_number(drops, "interrupted_ns"),
	     difference("drops_all_ns", "drops_root_ns"));
	session_end(&session);
	CU_ASSERT_EQUAL(record("-u0"), 0);
	session.report = session_load(&session, "");
	drops = process("drops");
	near("only as root", "drops_preemptions", json_number(drops, "cpu_ns") + json_number(drops, "interrupted_ns"),
	     session_truth(&session, "drops_root_ns"));
	elapsed = json_number(drops, "end_ns") - json_number(drops, "start_ns");
	CU_ASSERT_TRUE(elapsed > 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_program_is_recorded),
		CASE(the_time_before_and_after_setresuid_is_that_of_each_user),
		CASE(a_thread_has_a_user_of_its_own),
		CASE(a_set_uid_program_has_the_user_of_its_file),
		CASE(a_process_is_in_the_group_that_it_was_born_in_or_moved_to),
		CASE(a_thread_may_be_in_another_group_than_its_process),
		CASE(an_orphan_is_the_child_of_its_reaper),
		CASE(a_reaper_is_of_the_namespace_of_the_parent_that_ends),
		CASE(a_reaper_may_be_seventy_generations_away),
		CASE(processes_with_one_memory_wait_for_each_other),
		CASE(a_name_has_the_time_under_it),
		CASE(the_sums_and_the_parents_verify),
		CASE(a_recording_of_one_user_has_only_the_time_of_that_user),
		{NULL, NULL},
	};
	int status;

	if (argc > 3 && strcmp(argv[1], "do") == 0)
		return program(argv[2], argv[3]);
	if (argc > 1 && strcmp(argv[1], "spin") == 0) {
		spin_ms(5);
		return 0;
	}
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_identity: needs root and a kernel with BTF\n");
		return 77;
	}
	status = unit_main("identity on the kernel", cases, argc, argv);
	session_end(&session);
	rmdir(GROUP_ROOT GROUP);
	rmdir(GROUP_ROOT THREADS "/apart");
	rmdir(GROUP_ROOT THREADS);
	return status;
}
