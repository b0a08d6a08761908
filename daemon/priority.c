/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "priority.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS_MAX 4
/* With so many runnable threads per CPU niceness -15 gives two thirds of a CPU, -5 a sixth. */
#define RUNNABLE_PER_CPU_MAX 16L
/* Counting the runnable threads is expensive with hundreds of CPUs. */
#define COUNT_PERIOD_NS	  20000000u
#define REAL_TIME_HOLD_NS 5000000000u /* how long the threads stay real-time after the last reason */

static const int niceness[] = {[PRIORITY_WRITER] = -5, [PRIORITY_DRAIN] = -15};

struct deadline_thread {
	pid_t tid; /* 0: free */
	enum priority_role role;
};

static struct {
	pthread_mutex_t mutex; /* guards threads, and is_urgent except when the drain reads it */
	struct deadline_thread threads[THREADS_MAX];
	bool is_urgent;
	/* used by the drain only */
	uint64_t reason_ns;  /* time of the last reason; valid if is_urgent */
	uint64_t counted_ns; /* 0: not yet */
	bool is_overloaded;  /* result of the last count */
	int load_fd;	     /* /proc/loadavg, open until the process ends; -1: not open yet */
} priority = {.mutex = PTHREAD_MUTEX_INITIALIZER, .load_fd = -1};

/*
 * Threads and processes that it creates start with the normal policy and niceness 0. Clearing that
 * flag later needs a privilege, so it stays set.
 */
static void set_policy(const struct deadline_thread *thread, bool is_urgent)
{
	struct sched_param param = {.sched_priority = is_urgent ? sched_get_priority_min(SCHED_RR) + (int)thread->role
								: 0};

	sched_setscheduler(thread->tid, (is_urgent ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK, &param);
}

static struct deadline_thread *find_locked(pid_t tid)
{
	for (int i = 0; i < THREADS_MAX; i++)
		if (priority.threads[i].tid == tid)
			return &priority.threads[i];
	return NULL;
}

void priority_enter(enum priority_role role)
{
	pid_t tid = (pid_t)syscall(SYS_gettid);
	struct deadline_thread *thread;

	setpriority(PRIO_PROCESS, (id_t)tid, niceness[role]); /* on Linux this applies to the thread */
	if ((sched_getscheduler(0) & ~SCHED_RESET_ON_FORK) != SCHED_OTHER)
		return;
	pthread_mutex_lock(&priority.mutex);
	thread = find_locked(0);
	if (thread) {
		*thread = (struct deadline_thread){tid, role};
		if (priority.is_urgent)
			set_policy(thread, true);
	}
	pthread_mutex_unlock(&priority.mutex);
}

void priority_leave(void)
{
	struct deadline_thread *thread;

	pthread_mutex_lock(&priority.mutex);
	thread = find_locked((pid_t)syscall(SYS_gettid));
	if (thread) {
		if (priority.is_urgent)
			set_policy(thread, false);
		thread->tid = 0;
	}
	pthread_mutex_unlock(&priority.mutex);
}

/* Number of threads of the machine that run or are runnable; 0: not known. */
static long nr_runnable(void)
{
	char text[64];
	ssize_t bytes;
	long nr = 0;

	if (priority.load_fd < 0)
		priority.load_fd = open("/proc/loadavg", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	bytes = priority.load_fd < 0 ? -1 : pread(priority.load_fd, text, sizeof(text) - 1, 0);
	if (bytes <= 0)
		return 0;
	text[bytes] = '\0';
	return sscanf(text, "%*s %*s %*s %ld/", &nr) == 1 ? nr : 0;
}

static void count_runnable(uint64_t now_ns)
{
	static long nr_cpus; /* cached, because sysconf() reads a file */

	if (!nr_cpus)
		nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (nr_cpus < 1)
		nr_cpus = 1;
	priority.counted_ns = now_ns;
	priority.is_overloaded = nr_runnable() > RUNNABLE_PER_CPU_MAX * nr_cpus;
}

static void set_urgent(bool is_urgent)
{
	pthread_mutex_lock(&priority.mutex);
	priority.is_urgent = is_urgent;
	for (int i = 0; i < THREADS_MAX; i++)
		if (priority.threads[i].tid)
			set_policy(&priority.threads[i], is_urgent);
	pthread_mutex_unlock(&priority.mutex);
}

void priority_decide(bool is_reason, uint64_t now_ns)
{
	if (is_reason) {
		priority.reason_ns = now_ns;
		if (!priority.is_urgent)
			set_urgent(true);
	} else if (priority.is_urgent && now_ns - priority.reason_ns > REAL_TIME_HOLD_NS) {
		set_urgent(false);
	}
}

void priority_watch(bool is_late, uint64_t now_ns)
{
	if (!priority.counted_ns || now_ns - priority.counted_ns > COUNT_PERIOD_NS)
		count_runnable(now_ns);
	priority_decide(is_late || priority.is_overloaded, now_ns);
}
