/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profil_timers.c - ticks by a timer on the CPU time of each thread, for processes that may not use
 * perf events
 *
 * The kernel looks at such timers 100 to 1000 times a second. It sends one signal for all ticks
 * since the last one, with their number, so all of them have the address of the signal.
 *
 * The handler only writes the address into a queue, which has many writers, any thread in any
 * handler, and one reader, which holds the profile's lock:
 *
 *   writer  takes the slot at queue_head by a compare-and-swap, if the reader has freed it  [Q1]
 *           writes it, and publishes it by its sequence number                              [Q2]
 *   reader  reads the slot at queue_tail if it is published                                 [Q3]
 *           and frees it by moving queue_tail                                               [Q4]
 *
 * Q3 pairs with Q2, so that the reader sees the slot's contents; Q1 pairs with Q4, so that the
 * writer does not write over a slot that is being read.
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "profil_ticks.h"

#define QUEUE_SLOTS 4096 /* a power of two: 1 s of 16 threads on CPUs, at 250 signals a second each */

/* The clock of CPU time of a thread, as the kernel numbers it (linux/include/linux/posix-timers.h,
 * make_thread_cpuclock() with CPUCLOCK_SCHED). */
#define THREAD_CLOCK(tid) ((clockid_t)(~(unsigned int)(tid) << 3 | 6))

struct profil_slot {
	_Atomic uint64_t sequence; /* written by the writer at Q2: its position + 1 */
	uint64_t address;
	uint64_t ticks;
};

static struct profil_slot queue[QUEUE_SLOTS];
static _Atomic uint64_t queue_head; /* written by writers */
static _Atomic uint64_t queue_tail; /* written by the reader */
static _Atomic uint64_t queue_lost; /* written by writers */

struct profil_timer {
	pid_t tid;
	int timer;
	unsigned int seen; /* the search that found the thread last */
};

static struct {
	struct profil_timer *timers; /* owned */
	size_t nr, room;
	uint64_t period_ns;
	pid_t own_tid;
	unsigned int searches;
	int signal; /* 0: none is taken */
} state;

/* ---- the queue ---- */

static void queue_put(uint64_t address, uint64_t ticks)
{
	uint64_t head = atomic_load_explicit(&queue_head, memory_order_relaxed);
	struct profil_slot *slot;

	do {
		/* [Q1] */
		if (head - atomic_load_explicit(&queue_tail, memory_order_acquire) >= QUEUE_SLOTS) {
			atomic_fetch_add_explicit(&queue_lost, ticks, memory_order_relaxed);
			return;
		}
	} while (!atomic_compare_exchange_weak_explicit(&queue_head, &head, head + 1, memory_order_relaxed,
							memory_order_relaxed));
	slot = &queue[head % QUEUE_SLOTS];
	slot->address = address;
	slot->ticks = ticks;
	atomic_store_explicit(&slot->sequence, head + 1, memory_order_release); /* [Q2] */
}

static bool queue_take(uint64_t *ret_address, uint64_t *ret_ticks)
{
	uint64_t tail = atomic_load_explicit(&queue_tail, memory_order_relaxed);
	struct profil_slot *slot = &queue[tail % QUEUE_SLOTS];

	if (atomic_load_explicit(&slot->sequence, memory_order_acquire) != tail + 1) /* [Q3] */
		return false;
	*ret_address = slot->address;
	*ret_ticks = slot->ticks;
	atomic_store_explicit(&queue_tail, tail + 1, memory_order_release); /* [Q4] */
	return true;
}

/* ---- the signal ---- */

static uint64_t interrupted_address(const ucontext_t *context)
{
#ifdef __x86_64__
	return (uint64_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
	return context->uc_mcontext.pc;
#endif
}

static void take_signal(int number, siginfo_t *info, void *context)
{
	if (info->si_code == SI_TIMER)
		queue_put(interrupted_address(context), 1 + (uint64_t)(info->si_overrun > 0 ? info->si_overrun : 0));
}

/* The highest real-time signal that the program does not use. A signal that may still be on its way
 * when the profile ends must not kill the program, so the handler stays. */
static int take_free_signal(void)
{
	struct sigaction old, ours = {.sa_sigaction = take_signal, .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK};

	for (int number = SIGRTMAX; number >= SIGRTMIN; number--)
		if (!sigaction(number, NULL, &old) &&
		    (old.sa_sigaction == take_signal || (!(old.sa_flags & SA_SIGINFO) && old.sa_handler == SIG_DFL)) &&
		    !sigaction(number, &ours, NULL))
			return number;
	return -EAGAIN;
}

/* ---- timers ---- */

static int begin_timer(pid_t tid)
{
	struct itimerspec time = {
		.it_interval = {(time_t)(state.period_ns / 1000000000), (long)(state.period_ns % 1000000000)}};
	struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = state.signal};
	struct profil_timer *bigger;
	int timer;

	if (state.nr == state.room) {
		bigger = reallocarray(state.timers, state.room + 64, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		state.timers = bigger;
		state.room += 64;
	}
	event._sigev_un._tid = tid;
	if (syscall(SYS_timer_create, THREAD_CLOCK(tid), &event, &timer) < 0)
		return errno == EINVAL ? 0 : -errno; /* the thread has ended */
	time.it_value = time.it_interval;
	if (syscall(SYS_timer_settime, timer, 0, &time, NULL) < 0) {
		syscall(SYS_timer_delete, timer);
		return 0;
	}
	state.timers[state.nr++] = (struct profil_timer){tid, timer, state.searches};
	return 0;
}

static int visit_thread(void *context, pid_t tid)
{
	for (size_t i = 0; i < state.nr; i++)
		if (state.timers[i].tid == tid) {
			state.timers[i].seen = state.searches;
			return 0;
		}
	return tid == state.own_tid ? 0 : begin_timer(tid);
}

/* Timers of threads that have ended stay, so they are deleted here. */
static void delete_unseen(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < state.nr; i++)
		if (state.timers[i].seen == state.searches)
			state.timers[kept++] = state.timers[i];
		else
			syscall(SYS_timer_delete, state.timers[i].timer);
	state.nr = kept;
}

static void timers_search(void)
{
	state.searches++;
	if (!profil_each_thread(visit_thread, NULL))
		delete_unseen();
}

static void timers_end(void)
{
	state.searches++;
	delete_unseen();
	free(state.timers);
	memset(&state, 0, sizeof(state));
}

static int timers_begin(uint64_t period_ns, pid_t own_tid)
{
	uint64_t late_address, late_ticks;
	int err;

	memset(&state, 0, sizeof(state));
	state.period_ns = period_ns;
	state.own_tid = own_tid;
	state.signal = take_free_signal();
	if (state.signal < 0)
		return state.signal;
	while (queue_take(&late_address, &late_ticks)) /* signals that came after the last profile */
		;
	state.searches = 1;
	err = profil_each_thread(visit_thread, NULL);
	if (err)
		timers_end();
	return err;
}

/* Each timer runs from its creation on. */
static void timers_start(void)
{
}

static uint64_t timers_drain(profil_take_fn take, void *into)
{
	uint64_t address, ticks;

	while (queue_take(&address, &ticks))
		take(into, address, ticks);
	return atomic_exchange_explicit(&queue_lost, 0, memory_order_relaxed);
}

/*
 * The child has no timers. A thread of the parent that was in queue_put() during the fork has left
 * a slot that it will not publish here.
 */
static void timers_forget(void)
{
	free(state.timers);
	memset(&state, 0, sizeof(state));
	for (size_t i = 0; i < QUEUE_SLOTS; i++)
		atomic_store(&queue[i].sequence, 0);
	atomic_store(&queue_head, 0);
	atomic_store(&queue_tail, 0);
	atomic_store(&queue_lost, 0);
}

static bool timers_user_only(void)
{
	return false;
}

const struct profil_source profil_timers = {
	.begin = timers_begin,
	.start = timers_start,
	.search = timers_search,
	.drain = timers_drain,
	.end = timers_end,
	.forget = timers_forget,
	.user_only = timers_user_only,
	.by_timers = true,
};
