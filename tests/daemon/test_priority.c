/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_priority.c - the daemon's threads have real-time priority while there is a reason for it.
 * test_e2e.c tests that many runnable threads are one. */
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "priority.h"
#include "unit.h"

#define SECOND	    1000000000ull
#define POLICY(tid) (sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK)

/**
 * struct worker - a thread of the daemon that enters, and that leaves and ends on request
 */
struct worker {
	pthread_t thread;
	atomic_int tid, step;
	enum priority_role role;
};

static void worker_wait(struct worker *worker, int step)
{
	while (worker->step < step)
		usleep(100); /* so that it does not block others: it may be a real-time thread */
}

static void *worker_main(void *context)
{
	struct worker *worker = context;

	priority_enter(worker->role);
	worker->tid = (int)syscall(SYS_gettid);
	worker_wait(worker, 1);
	priority_leave();
	worker->tid = 0;
	worker_wait(worker, 2);
	return NULL;
}

static int worker_start(struct worker *worker, enum priority_role role)
{
	*worker = (struct worker){.role = role};
	CU_ASSERT_EQUAL_FATAL(pthread_create(&worker->thread, NULL, worker_main, worker), 0);
	while (!worker->tid)
		usleep(100);
	return worker->tid;
}

static void worker_leave(struct worker *worker)
{
	worker->step = 1;
	while (worker->tid)
		usleep(100);
}

static void worker_end(struct worker *worker)
{
	worker->step = 2;
	pthread_join(worker->thread, NULL);
}

static int real_time_priority(int tid)
{
	struct sched_param param = {.sched_priority = -1};

	sched_getparam(tid, &param);
	return param.sched_priority;
}

static void a_late_thread_is_real_time_for_some_time(void)
{
	struct worker drain, writer;
	int drain_tid = worker_start(&drain, PRIORITY_DRAIN), writer_tid = worker_start(&writer, PRIORITY_WRITER);

	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_OTHER);
	priority_decide(true, 100 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_RR);
	CU_ASSERT_EQUAL(POLICY(getpid()), SCHED_OTHER);
	CU_ASSERT(real_time_priority(drain_tid) > real_time_priority(writer_tid));
	CU_ASSERT_EQUAL(real_time_priority(writer_tid), sched_get_priority_min(SCHED_RR));
	priority_decide(false, 104 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_decide(true, 105 * SECOND);
	priority_decide(false, 109 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_decide(false, 111 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(getpriority(PRIO_PROCESS, (id_t)drain_tid), -15);
	CU_ASSERT_EQUAL(getpriority(PRIO_PROCESS, (id_t)writer_tid), -5);
	worker_end(&drain);
	worker_end(&writer);
}

static void a_thread_is_real_time_from_entering_to_leaving(void)
{
	struct worker drain, writer;
	int drain_tid = worker_start(&drain, PRIORITY_DRAIN), writer_tid;

	priority_decide(true, 200 * SECOND);
	writer_tid = worker_start(&writer, PRIORITY_WRITER);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_RR);
	worker_leave(&writer);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_decide(false, 206 * SECOND);
	priority_decide(true, 207 * SECOND);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_decide(false, 213 * SECOND);
	worker_end(&drain);
	worker_end(&writer);
}

/* A child that the daemon starts is none of its threads. */
static void children_of_a_real_time_thread_are_not_real_time(void)
{
	int status = -1, child;

	priority_enter(PRIORITY_WRITER);
	priority_decide(true, 300 * SECOND);
	CU_ASSERT_EQUAL(POLICY(0), SCHED_RR);
	child = fork();
	if (child == 0)
		_exit(sched_getscheduler(0));
	waitpid(child, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == SCHED_OTHER);
	priority_leave();
	CU_ASSERT_EQUAL(POLICY(0), SCHED_OTHER);
	priority_enter(PRIORITY_WRITER); /* once more */
	CU_ASSERT_EQUAL(POLICY(0), SCHED_RR);
	priority_leave();
	priority_decide(false, 306 * SECOND);
}

static void a_thread_made_real_time_by_others_stays_so(void)
{
	struct sched_param param = {.sched_priority = 7};

	CU_ASSERT_EQUAL_FATAL(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	priority_enter(PRIORITY_DRAIN);
	priority_decide(true, 400 * SECOND);
	CU_ASSERT_EQUAL(POLICY(0), SCHED_FIFO);
	priority_leave();
	priority_decide(false, 406 * SECOND);
	CU_ASSERT_EQUAL(POLICY(0), SCHED_FIFO);
	param.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &param);
	setpriority(PRIO_PROCESS, 0, 0);
}

static void without_permission_nothing_changes(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}};
	struct rlimit zero = {0, 0};
	int status = -1, before = getpriority(PRIO_PROCESS, 0), child = fork();

	if (child == 0) {
		setrlimit(RLIMIT_RTPRIO, &zero);
		setrlimit(RLIMIT_NICE, &zero);
		if (syscall(SYS_capset, &head, none) != 0)
			_exit(2);
		priority_enter(PRIORITY_DRAIN);
		priority_decide(true, 600 * SECOND);
		if (POLICY(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != before)
			_exit(3);
		priority_decide(false, 606 * SECOND);
		priority_leave();
		_exit(POLICY(0) == SCHED_OTHER ? 0 : 4);
	}
	waitpid(child, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#define EXIT_SKIPPED 77

/* Neither for users other than root nor in a control group without real-time threads. */
static bool is_allowed(void)
{
	struct sched_param param = {.sched_priority = sched_get_priority_min(SCHED_RR)};
	int status = -1, child = fork();

	if (child == 0)
		_exit(setpriority(PRIO_PROCESS, 0, -15) != 0 || sched_setscheduler(0, SCHED_RR, &param) != 0);
	waitpid(child, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_late_thread_is_real_time_for_some_time),
		CASE(a_thread_is_real_time_from_entering_to_leaving),
		CASE(children_of_a_real_time_thread_are_not_real_time),
		CASE(a_thread_made_real_time_by_others_stays_so),
		CASE(without_permission_nothing_changes),
		{NULL, NULL},
	};

	/* ./check runs some tests on idle CPU time, from which no thread becomes real-time */
	sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
	if (!is_allowed())
		return EXIT_SKIPPED;
	return unit_main("priority", cases, argc, argv);
}
