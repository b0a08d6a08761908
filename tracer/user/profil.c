/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profil.c - a program counts where its own CPU time goes: what is on, its thread, and fork()
 *
 * A source gives pieces of a period (profil_ticks.h), and each n-th piece is a tick, of whatever
 * thread: with a period of 10 ms and pieces of 1 ms, a hundred threads that ran for 3 ms each have
 * 30 ticks. A thread of the library adds them to the cells.
 *
 *   lock          held by the functions of the interface, for as long as they take, and by fork()
 *   cells_lock    held by the thread, and by trace_profil_status(), while they drain the source
 *
 * The thread takes only the second one, so a profile can end, and wait for the thread, with the
 * first one.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <trace/profil.h>
#include <unistd.h>
#include "profil_cells.h"
#include "profil_ticks.h"

#define MAX_PIECE_NS	1000000 /* 1 ms */
#define DRAIN_PERIOD_NS 20000000
#define STACK_BYTES	(256 << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t cells_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t thread_wakes;
static uint64_t chosen_period_ns; /* under lock; 0: the default */

static struct {
	const struct profil_source *source; /* NULL: no profile is on */
	struct profil_cells cells;
	uint64_t period_ns;
	uint64_t pieces; /* of a period */
	uint64_t piece;	 /* pieces since the last tick */
	uint64_t lost;	 /* pieces */
	uint64_t begin_ns, end_ns;
	pthread_t thread;
	pid_t tid; /* of it */
	bool thread_ends;
	bool user_only, by_timers;
} profile;

/* ---- time ---- */

static uint64_t clock_of(clockid_t clock)
{
	struct timespec time = {0};

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* The CPU time of the process, without that of the library's thread */
static uint64_t cpu_ns(void)
{
	uint64_t all = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	clockid_t own;

	return pthread_getcpuclockid(profile.thread, &own) ? all : all - clock_of(own);
}

/* ---- ticks ---- */

static void take_piece(void *into, uint64_t address, uint64_t pieces)
{
	uint64_t ticks;

	profile.piece += pieces;
	ticks = profile.piece / profile.pieces;
	profile.piece %= profile.pieces;
	if (ticks)
		profil_cells_add(&profile.cells, address, ticks);
}

/* The caller has cells_lock. */
static void drain(void)
{
	profile.lost += profile.source->drain(take_piece, NULL);
}

/* ---- the thread ---- */

static void *thread_run(void *unused)
{
	struct timespec until;

	pthread_mutex_lock(&cells_lock);
	profile.tid = (pid_t)syscall(SYS_gettid);
	pthread_cond_broadcast(&thread_wakes);
	while (!profile.thread_ends) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += DRAIN_PERIOD_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&thread_wakes, &cells_lock, &until);
		if (profile.source) {
			profile.source->search();
			drain();
		}
	}
	pthread_mutex_unlock(&cells_lock);
	return NULL;
}

/* Signals of the program are for the program's threads. */
static int thread_begin(void)
{
	pthread_condattr_t condition;
	pthread_attr_t attributes;
	sigset_t all, old;
	int err;

	pthread_condattr_init(&condition);
	pthread_condattr_setclock(&condition, CLOCK_MONOTONIC);
	pthread_cond_init(&thread_wakes, &condition);
	pthread_condattr_destroy(&condition);
	profile.thread_ends = false;
	profile.tid = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	err = pthread_create(&profile.thread, &attributes, thread_run, NULL);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		return -err;
	pthread_mutex_lock(&cells_lock);
	while (!profile.tid)
		pthread_cond_wait(&thread_wakes, &cells_lock);
	pthread_mutex_unlock(&cells_lock);
	return 0;
}

static void thread_end(void)
{
	pthread_mutex_lock(&cells_lock);
	profile.thread_ends = true;
	pthread_cond_broadcast(&thread_wakes);
	pthread_mutex_unlock(&cells_lock);
	pthread_join(profile.thread, NULL);
}

/* ---- on and off; the caller has lock ---- */

static void profile_end(void)
{
	if (!profile.source)
		return;
	profile.end_ns = cpu_ns();
	thread_end();
	drain();
	profile.source->end();
	profile.source = NULL;
	profil_cells_clear(&profile.cells);
}

/* Perf events are not allowed everywhere, and a large process may not have enough descriptors. */
static int source_begin(uint64_t piece_ns, const struct profil_source **ret_source)
{
	static const struct profil_source *const sources[] = {&profil_events, &profil_timers};
	int err = 0;

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		err = sources[i]->begin(piece_ns, profile.tid);
		if (!err) {
			*ret_source = sources[i];
			return 0;
		}
	}
	return err;
}

/* Begins with the cells of @profile. */
static int profile_continue(void)
{
	uint64_t pieces = (profile.period_ns + MAX_PIECE_NS - 1) / MAX_PIECE_NS;
	const struct profil_source *source = NULL;
	int err = thread_begin();

	if (err)
		return err;
	profile.pieces = pieces;
	profile.piece = profile.lost = 0;
	pthread_mutex_lock(&cells_lock);
	err = source_begin(profile.period_ns / pieces, &source);
	if (!err) {
		profile.begin_ns = cpu_ns();
		source->start();
		profile.user_only = source->user_only();
		profile.by_timers = source->by_timers;
		profile.source = source;
	}
	pthread_mutex_unlock(&cells_lock);
	if (err)
		thread_end();
	return err;
}

static int profile_begin(const struct trace_prof *regions, size_t nr, unsigned int cell_bytes, uint64_t period_ns)
{
	struct profil_cells cells;
	int nr_used = profil_cells_set(&cells, regions, nr, cell_bytes), err;

	if (nr_used <= 0) {
		profil_cells_clear(&cells);
		return nr_used;
	}
	profile.cells = cells;
	profile.period_ns = period_ns;
	err = profile_continue();
	if (err)
		profil_cells_clear(&profile.cells);
	return err;
}

/* ---- fork() ---- */

static void before_fork(void)
{
	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&cells_lock);
}

static void after_fork(void)
{
	pthread_mutex_unlock(&cells_lock);
	pthread_mutex_unlock(&lock);
}

/* The child's profile begins with the parent's cells as they are, and counts its own ticks. */
static void after_fork_in_child(void)
{
	const struct profil_source *source = profile.source;

	pthread_mutex_unlock(&cells_lock);
	if (source) {
		source->forget();
		profile.source = NULL;
		profile.cells.ticks = profile.cells.nowhere = profile.cells.full = 0;
		if (profile_continue())
			profil_cells_clear(&profile.cells);
	}
	pthread_mutex_unlock(&lock);
}

static void watch_forks(void)
{
	pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ---- the interface ---- */

#define API __attribute__((visibility("default")))

static int begin_or_end(const struct trace_prof *regions, size_t nr, unsigned int cell_bytes, uint64_t default_ns,
			uint64_t *ret_period_ns)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int err;

	pthread_once(&once, watch_forks);
	pthread_mutex_lock(&lock);
	profile_end();
	*ret_period_ns = chosen_period_ns ? chosen_period_ns : default_ns;
	err = profile_begin(regions, nr, cell_bytes, *ret_period_ns);
	pthread_mutex_unlock(&lock);
	return err;
}

API int trace_profil(unsigned short *cells, size_t bytes, size_t offset, unsigned int scale)
{
	struct trace_prof region = {.pr_base = cells, .pr_size = bytes, .pr_off = offset, .pr_scale = scale};
	uint64_t period_ns;

	return begin_or_end(&region, cells ? 1 : 0, sizeof(*cells), TRACE_PROFIL_PERIOD_NS, &period_ns);
}

API int trace_sprofil(const struct trace_prof *regions, int nr, struct timeval *ret_tick, unsigned int flags)
{
	unsigned int cell_bytes = flags & TRACE_PROF_UINT64 ? 8 : flags & TRACE_PROF_UINT ? 4 : 2;
	uint64_t period_ns, us;
	int err;

	if (nr < 0 || flags & ~(unsigned int)(TRACE_PROF_UINT | TRACE_PROF_FAST | TRACE_PROF_UINT64) ||
	    (flags & TRACE_PROF_UINT && flags & TRACE_PROF_UINT64))
		return -EINVAL;
	err = begin_or_end(regions, (size_t)nr, cell_bytes,
			   flags & TRACE_PROF_FAST ? TRACE_PROFIL_FAST_NS : TRACE_PROFIL_PERIOD_NS, &period_ns);
	us = (period_ns + 999) / 1000;
	if (!err && ret_tick)
		*ret_tick = (struct timeval){(time_t)(us / 1000000), (suseconds_t)(us % 1000000)};
	return err;
}

API int trace_profil_set_period(uint64_t period_ns)
{
	if (period_ns && (period_ns < TRACE_PROFIL_MIN_PERIOD_NS || period_ns > TRACE_PROFIL_MAX_PERIOD_NS))
		return -EINVAL;
	pthread_mutex_lock(&lock);
	chosen_period_ns = period_ns;
	pthread_mutex_unlock(&lock);
	return 0;
}

API void trace_profil_status(struct trace_profil_status *ret_status, size_t size)
{
	struct trace_profil_status status = {0};

	pthread_mutex_lock(&lock);
	pthread_mutex_lock(&cells_lock);
	if (profile.source)
		drain();
	status.period_ns = profile.period_ns;
	status.ticks = profile.cells.ticks;
	status.outside = profile.cells.nowhere;
	status.full = profile.cells.full;
	status.lost = profile.pieces ? profile.lost / profile.pieces : 0;
	status.cpu_ns = profile.source ? cpu_ns() - profile.begin_ns : profile.end_ns - profile.begin_ns;
	status.is_on = profile.source != NULL;
	status.user_only = profile.user_only;
	status.by_timers = profile.by_timers;
	status.faulted = profile.cells.faulted;
	pthread_mutex_unlock(&cells_lock);
	pthread_mutex_unlock(&lock);
	memcpy(ret_status, &status, size < sizeof(status) ? size : sizeof(status));
}
