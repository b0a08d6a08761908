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
#define CROWD 16L /* threads that want each CPU: one of -15 has two thirds of it then, one of -5 a sixth */
#define CALM_NS 5000000000u /* real-time threads so long after there was a reason last */

static struct {
	pthread_mutex_t mutex;
	pid_t tids[THREADS_MAX]; /* 0: free */
	bool is_urgent;
	uint64_t reason_ns; /* there was one last; if is_urgent */
	int load_fd;	    /* /proc/loadavg; -1: not open */
	long nr_cpus;	    /* 0: not known yet */
} priority = { .mutex = PTHREAD_MUTEX_INITIALIZER, .load_fd = -1 };

/* What it forks or creates is neither. To give that up later takes a right, so it is kept. */
static void set_policy(pid_t tid, bool is_urgent)
{
	struct sched_param param = { .sched_priority = is_urgent ? sched_get_priority_min(SCHED_RR) : 0 };

	sched_setscheduler(tid, (is_urgent ? SCHED_RR : SCHED_OTHER) | SCHED_RESET_ON_FORK, &param);
}

static pid_t *slot_locked(pid_t tid)
{
	for (int i = 0; i < THREADS_MAX; i++)
		if (priority.tids[i] == tid)
			return &priority.tids[i];
	return NULL;
}

void priority_enter(int niceness)
{
	pid_t tid = (pid_t)syscall(SYS_gettid), *slot;

	setpriority(PRIO_PROCESS, (id_t)tid, niceness); /* Linux: of the thread */
	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	pthread_mutex_lock(&priority.mutex);
	slot = slot_locked(0);
	if (slot) {
		*slot = tid;
		if (priority.is_urgent)
			set_policy(tid, true);
	}
	pthread_mutex_unlock(&priority.mutex);
}

void priority_leave(void)
{
	pid_t tid = (pid_t)syscall(SYS_gettid), *slot;

	pthread_mutex_lock(&priority.mutex);
	slot = slot_locked(tid);
	if (slot) {
		*slot = 0;
		if (priority.is_urgent)
			set_policy(tid, false);
	}
	pthread_mutex_unlock(&priority.mutex);
}

/* How many threads of the machine have a CPU or want one; 0: nobody tells. */
static long nr_runnable(void)
{
	char text[64];
	ssize_t bytes;
	long nr = 0;

	if (priority.load_fd < 0)
		priority.load_fd = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
	bytes = priority.load_fd < 0 ? -1 : pread(priority.load_fd, text, sizeof(text) - 1, 0);
	if (bytes <= 0)
		return 0;
	text[bytes] = '\0';
	return sscanf(text, "%*s %*s %*s %ld/", &nr) == 1 ? nr : 0;
}

static void set_urgent(bool is_urgent)
{
	pthread_mutex_lock(&priority.mutex);
	priority.is_urgent = is_urgent;
	for (int i = 0; i < THREADS_MAX; i++)
		if (priority.tids[i])
			set_policy(priority.tids[i], is_urgent);
	pthread_mutex_unlock(&priority.mutex);
}

void priority_watch(bool is_late, uint64_t now_ns)
{
	if (!priority.nr_cpus)
		priority.nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (is_late || nr_runnable() > CROWD * priority.nr_cpus) {
		priority.reason_ns = now_ns;
		if (!priority.is_urgent)
			set_urgent(true);
	} else if (priority.is_urgent && now_ns - priority.reason_ns > CALM_NS) {
		set_urgent(false);
	}
}
