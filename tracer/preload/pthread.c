/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pthread.c - libtracer-pthread.so: records waits for locks and conditions, and how long
 * locks were held (LD_PRELOAD)
 *
 * A lock is first tried. If it is free, no event is recorded, unless TRACER_PTHREAD=all is in the
 * environment: programs take locks millions of times a second and wait for few. If it is taken, the
 * wait has two events (contended, acquired), and the release of a lock that was waited for has one,
 * with the time it was held. A small table per thread lists the locks that the thread holds; locks
 * that do not fit get no release event.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace/tracepoint.h>
#include "next.h"

#define HELD_LOCKS 32
#define CALLER	   __builtin_return_address(0)

/* Thread-local memory that exists from the start: other models may allocate,
 * and allocators take locks. */
#define THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))

static bool record_all;

static __attribute__((constructor(101))) void read_environment(void)
{
	const char *mode = getenv("TRACER_PTHREAD");

	record_all = mode && !strcmp(mode, "all");
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* ---- locks that this thread holds and waited for ---- */

struct held_lock {
	const void *lock;
	uint64_t since_ns;
};

static THREAD_LOCAL struct held_lock held_locks[HELD_LOCKS];
static THREAD_LOCAL unsigned int nr_held;

static void hold(const void *lock)
{
	if (nr_held < HELD_LOCKS)
		held_locks[nr_held++] = (struct held_lock){lock, now()};
}

/* The latest entry of @lock: a recursive lock may be held several times. */
static bool release(const void *lock, uint64_t *ret_held_ns)
{
	for (unsigned int i = nr_held; i-- > 0;)
		if (held_locks[i].lock == lock) {
			*ret_held_ns = now() - held_locks[i].since_ns;
			held_locks[i] = held_locks[--nr_held];
			return true;
		}
	return false;
}

static bool is_taken(int result)
{
	return result == 0 || result == EOWNERDEAD;
}

/* ---- mutexes ---- */

static void mutex_taken(const void *lock, const void *caller)
{
	if (!record_all)
		return;
	hold(lock);
	tracepoint(pthread, mutex_locked, lock, caller);
}

/* @wait: how to take the lock, after the try failed. A macro, because the three
 * have different arguments. */
#define MUTEX_LOCK(mutex, wait)                                                               \
	({                                                                                    \
		const void *lock = (mutex), *caller = CALLER;                                 \
		int result = NEXT(pthread_mutex_trylock)(mutex);                              \
                                                                                              \
		if (result == EBUSY) {                                                        \
			uint64_t begin_ns = now(), waited_ns;                                 \
                                                                                              \
			tracepoint(pthread, mutex_contended, lock, caller);                   \
			result = (wait);                                                      \
			waited_ns = now() - begin_ns;                                         \
			if (is_taken(result))                                                 \
				hold(lock);                                                   \
			tracepoint(pthread, mutex_acquired, lock, result, waited_ns, caller); \
		} else if (is_taken(result)) {                                                \
			mutex_taken(lock, caller);                                            \
		}                                                                             \
		result;                                                                       \
	})

PRELOAD_EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return MUTEX_LOCK(mutex, NEXT(pthread_mutex_lock)(mutex));
}

PRELOAD_EXPORT int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until)
{
	return MUTEX_LOCK(mutex, NEXT(pthread_mutex_timedlock)(mutex, until));
}

PRELOAD_EXPORT int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until)
{
	return MUTEX_LOCK(mutex, NEXT(pthread_mutex_clocklock)(mutex, clock, until));
}

PRELOAD_EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	const void *lock = mutex, *caller = CALLER;
	int result = NEXT(pthread_mutex_trylock)(mutex);

	if (is_taken(result))
		mutex_taken(lock, caller);
	else if (result == EBUSY)
		tracepoint(pthread, mutex_busy, lock, caller);
	return result;
}

PRELOAD_EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	const void *lock = mutex, *caller = CALLER;
	uint64_t held_ns;

	if (release(lock, &held_ns))
		tracepoint(pthread, mutex_released, lock, held_ns, caller);
	return NEXT(pthread_mutex_unlock)(mutex);
}

/* ---- read-write locks ---- */

static void rwlock_taken(const void *lock, bool write, const void *caller)
{
	if (!record_all)
		return;
	hold(lock);
	tracepoint(pthread, rwlock_locked, lock, write, caller);
}

#define RWLOCK_LOCK(rwlock, is_write, try_first, wait)                                                \
	({                                                                                            \
		const void *lock = (rwlock), *caller = CALLER;                                        \
		const bool write = (is_write);                                                        \
		int result = (try_first);                                                             \
                                                                                                      \
		if (result == EBUSY || result == EAGAIN) {                                            \
			uint64_t begin_ns = now(), waited_ns;                                         \
                                                                                                      \
			tracepoint(pthread, rwlock_contended, lock, write, caller);                   \
			result = (wait);                                                              \
			waited_ns = now() - begin_ns;                                                 \
			if (!result)                                                                  \
				hold(lock);                                                           \
			tracepoint(pthread, rwlock_acquired, lock, write, result, waited_ns, caller); \
		} else if (!result) {                                                                 \
			rwlock_taken(lock, write, caller);                                            \
		}                                                                                     \
		result;                                                                               \
	})
#define READ_LOCK(rwlock, wait)	 RWLOCK_LOCK(rwlock, false, NEXT(pthread_rwlock_tryrdlock)(rwlock), wait)
#define WRITE_LOCK(rwlock, wait) RWLOCK_LOCK(rwlock, true, NEXT(pthread_rwlock_trywrlock)(rwlock), wait)

PRELOAD_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *rwlock)
{
	return READ_LOCK(rwlock, NEXT(pthread_rwlock_rdlock)(rwlock));
}

PRELOAD_EXPORT int pthread_rwlock_timedrdlock(pthread_rwlock_t *rwlock, const struct timespec *until)
{
	return READ_LOCK(rwlock, NEXT(pthread_rwlock_timedrdlock)(rwlock, until));
}

PRELOAD_EXPORT int pthread_rwlock_clockrdlock(pthread_rwlock_t *rwlock, clockid_t clock, const struct timespec *until)
{
	return READ_LOCK(rwlock, NEXT(pthread_rwlock_clockrdlock)(rwlock, clock, until));
}

PRELOAD_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *rwlock)
{
	return WRITE_LOCK(rwlock, NEXT(pthread_rwlock_wrlock)(rwlock));
}

PRELOAD_EXPORT int pthread_rwlock_timedwrlock(pthread_rwlock_t *rwlock, const struct timespec *until)
{
	return WRITE_LOCK(rwlock, NEXT(pthread_rwlock_timedwrlock)(rwlock, until));
}

PRELOAD_EXPORT int pthread_rwlock_clockwrlock(pthread_rwlock_t *rwlock, clockid_t clock, const struct timespec *until)
{
	return WRITE_LOCK(rwlock, NEXT(pthread_rwlock_clockwrlock)(rwlock, clock, until));
}

PRELOAD_EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *rwlock)
{
	int result = NEXT(pthread_rwlock_tryrdlock)(rwlock);

	if (!result)
		rwlock_taken(rwlock, false, CALLER);
	return result;
}

PRELOAD_EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *rwlock)
{
	int result = NEXT(pthread_rwlock_trywrlock)(rwlock);

	if (!result)
		rwlock_taken(rwlock, true, CALLER);
	return result;
}

PRELOAD_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *rwlock)
{
	const void *lock = rwlock, *caller = CALLER;
	uint64_t held_ns;

	if (release(lock, &held_ns))
		tracepoint(pthread, rwlock_released, lock, held_ns, caller);
	return NEXT(pthread_rwlock_unlock)(rwlock);
}

/* ---- conditions: the C library has older versions under the same names ---- */

#define CONDITION_VERSION "GLIBC_2.3.2"

/* The thread releases the mutex while it waits, and takes it again: its held time starts anew. */
#define CONDITION_WAIT(condition_, mutex_, wait)                                                                 \
	({                                                                                                       \
		const void *condition = (condition_), *mutex_address = (mutex_), *caller = CALLER;               \
		uint64_t begin_ns = now(), waited_ns, held_ns;                                                   \
		bool was_held = release(mutex_address, &held_ns);                                                \
		int result;                                                                                      \
                                                                                                                 \
		if (was_held)                                                                                    \
			tracepoint(pthread, mutex_released, trace_field(lock, mutex_address), held_ns, caller);  \
		tracepoint(pthread, cond_wait, condition, trace_field(mutex, mutex_address), caller);            \
		result = (wait);                                                                                 \
		waited_ns = now() - begin_ns;                                                                    \
		if (was_held)                                                                                    \
			hold(mutex_address);                                                                     \
		tracepoint(pthread, cond_woken, condition, trace_field(mutex, mutex_address), result, waited_ns, \
			   caller);                                                                              \
		result;                                                                                          \
	})

PRELOAD_EXPORT int pthread_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex)
{
	return CONDITION_WAIT(cond, mutex, NEXT_VERSION(pthread_cond_wait, CONDITION_VERSION)(cond, mutex));
}

PRELOAD_EXPORT int pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *mutex, const struct timespec *until)
{
	return CONDITION_WAIT(cond, mutex, NEXT_VERSION(pthread_cond_timedwait, CONDITION_VERSION)(cond, mutex, until));
}

PRELOAD_EXPORT int pthread_cond_clockwait(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
					  const struct timespec *until)
{
	return CONDITION_WAIT(cond, mutex, NEXT(pthread_cond_clockwait)(cond, mutex, clock, until));
}

PRELOAD_EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	const void *caller = CALLER;

	tracepoint(pthread, cond_signal, trace_field(condition, (const void *)cond), caller);
	return NEXT_VERSION(pthread_cond_signal, CONDITION_VERSION)(cond);
}

PRELOAD_EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	const void *caller = CALLER;

	tracepoint(pthread, cond_broadcast, trace_field(condition, (const void *)cond), caller);
	return NEXT_VERSION(pthread_cond_broadcast, CONDITION_VERSION)(cond);
}
