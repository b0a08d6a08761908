/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_priority.c - the daemon's threads are real-time ones as long as there is a reason for it. As root. */
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

#define SECOND 1000000000ull
#define POLICY(tid) (sched_getscheduler(tid) & ~SCHED_RESET_ON_FORK)
#define CROWD_MAX 4096

/** struct worker - a thread of the daemon: enters, and stays until it is told to leave, and then to end */
struct worker {
	pthread_t thread;
	atomic_int tid, step;
	int niceness;
};

static void worker_wait(struct worker *worker, int step)
{
	while (worker->step < step)
		usleep(100); /* not in the way: it may be a real-time thread */
}

static void *worker_main(void *context)
{
	struct worker *worker = context;

	priority_enter(worker->niceness);
	worker->tid = (int)syscall(SYS_gettid);
	worker_wait(worker, 1);
	priority_leave();
	worker->tid = 0;
	worker_wait(worker, 2);
	return NULL;
}

static int worker_start(struct worker *worker, int niceness)
{
	*worker = (struct worker){ .niceness = niceness };
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

static void who_comes_late_is_a_real_time_thread_for_some_time(void)
{
	struct worker drain, writer;
	int drain_tid = worker_start(&drain, -15), writer_tid = worker_start(&writer, -5);

	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_OTHER);
	priority_watch(true, 100 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_RR);
	CU_ASSERT_EQUAL(POLICY(getpid()), SCHED_OTHER);
	priority_watch(false, 104 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_watch(true, 105 * SECOND);
	priority_watch(false, 109 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_watch(false, 111 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(getpriority(PRIO_PROCESS, (id_t)drain_tid), -15);
	CU_ASSERT_EQUAL(getpriority(PRIO_PROCESS, (id_t)writer_tid), -5);
	worker_end(&drain);
	worker_end(&writer);
}

static void who_enters_later_is_as_the_others_and_who_leaves_is_not(void)
{
	struct worker drain, writer;
	int drain_tid = worker_start(&drain, -15), writer_tid;

	priority_watch(true, 200 * SECOND);
	writer_tid = worker_start(&writer, -5);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_RR);
	worker_leave(&writer);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_watch(false, 206 * SECOND);
	priority_watch(true, 207 * SECOND);
	CU_ASSERT_EQUAL(POLICY(writer_tid), SCHED_OTHER);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	priority_watch(false, 213 * SECOND);
	worker_end(&drain);
	worker_end(&writer);
}

/* What the daemon starts is none of its threads. */
static void what_a_real_time_thread_makes_is_none(void)
{
	int status = -1, child;

	priority_enter(0);
	priority_watch(true, 300 * SECOND);
	CU_ASSERT_EQUAL(POLICY(0), SCHED_RR);
	child = fork();
	if (child == 0)
		_exit(sched_getscheduler(0));
	waitpid(child, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == SCHED_OTHER);
	priority_leave();
	CU_ASSERT_EQUAL(POLICY(0), SCHED_OTHER);
	priority_watch(false, 306 * SECOND);
}

static void who_was_made_one_by_somebody_else_stays_it(void)
{
	struct sched_param param = { .sched_priority = 7 };

	CU_ASSERT_EQUAL_FATAL(sched_setscheduler(0, SCHED_FIFO, &param), 0);
	priority_enter(-15);
	priority_watch(true, 400 * SECOND);
	CU_ASSERT_EQUAL(POLICY(0), SCHED_FIFO);
	priority_leave();
	priority_watch(false, 406 * SECOND);
	CU_ASSERT_EQUAL(POLICY(0), SCHED_FIFO);
	param.sched_priority = 0;
	sched_setscheduler(0, SCHED_OTHER, &param);
	setpriority(PRIO_PROCESS, 0, 0);
}

static void *spin(void *context)
{
	const atomic_bool *stop = context;

	while (!*stop)
		;
	return NULL;
}

static void where_many_want_a_cpu_it_is_a_reason(void)
{
	static pthread_t crowd[CROWD_MAX];
	atomic_bool stop = false;
	struct worker drain;
	int drain_tid = worker_start(&drain, -15), nr = 0, most = (int)sysconf(_SC_NPROCESSORS_ONLN) * 16 + 8;

	priority_watch(false, 500 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_OTHER);
	while (nr < most && nr < CROWD_MAX && pthread_create(&crowd[nr], NULL, spin, &stop) == 0)
		nr++;
	priority_watch(false, 501 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_RR);
	stop = true;
	while (nr)
		pthread_join(crowd[--nr], NULL);
	priority_watch(false, 507 * SECOND);
	CU_ASSERT_EQUAL(POLICY(drain_tid), SCHED_OTHER);
	worker_end(&drain);
}

static void without_the_right_all_stays_as_it_is(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 } };
	struct rlimit zero = { 0, 0 };
	int status = -1, child = fork();

	if (child == 0) {
		setrlimit(RLIMIT_RTPRIO, &zero);
		setrlimit(RLIMIT_NICE, &zero);
		if (syscall(SYS_capset, &head, none) != 0)
			_exit(2);
		priority_enter(-15);
		priority_watch(true, 600 * SECOND);
		if (POLICY(0) != SCHED_OTHER || getpriority(PRIO_PROCESS, 0) != 0)
			_exit(3);
		priority_watch(false, 606 * SECOND);
		priority_leave();
		_exit(POLICY(0) == SCHED_OTHER ? 0 : 4);
	}
	waitpid(child, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(who_comes_late_is_a_real_time_thread_for_some_time),
		CASE(who_enters_later_is_as_the_others_and_who_leaves_is_not),
		CASE(what_a_real_time_thread_makes_is_none),
		CASE(who_was_made_one_by_somebody_else_stays_it),
		CASE(where_many_want_a_cpu_it_is_a_reason),
		CASE(without_the_right_all_stays_as_it_is),
		{NULL, NULL},
	};

	return unit_main("priority", cases, argc, argv);
}
