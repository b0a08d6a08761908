/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keep_shrink.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <trace/writer.h>

#include "clock_ns.h"
#include "keep.h"

enum {
	NR_SLOTS = 8,
	BEHIND_SLOTS = 4,     /* with more to do, the thread takes the faster level */
	LEVEL_BEHIND = 9,     /* redis-benchmark: 5.6 % shorter, 15 ns an event */
	LEVEL_UNHURRIED = 15, /* 7.5 %, 91 ns */
	CPU_SHARE = 20,	      /* the thread takes at most one in so many ns of a CPU */
	PAUSE_MAX_S = 2,
};

/**
 * struct shrink_slot - a chunk, and room for its copy; keep_take()'s thread owns, allocates and
 * frees both
 * @bytes: of the new payload; as many as the old one has: nothing was gained
 */
struct shrink_slot {
	struct kept_chunk *chunk;
	struct kept_chunk *shorter;
	size_t bytes;
};

/**
 * struct keep_shrink - the ring
 * @given: slots that were given; written by keep_take()'s thread. @done: slots that were done;
 *     written by the idle thread. @taken: slots that were taken back; only keep_take()'s thread
 * @work: one count for each given slot, and one for the end. @end: posted for the end
 */
struct keep_shrink {
	struct shrink_slot slots[NR_SLOTS];
	uint32_t given;
	uint32_t done;
	uint32_t taken;
	bool is_ended;
	sem_t work;
	sem_t end;
	pthread_t thread;
	struct trace_shrinker *shrinker; /* owned; used by the idle thread */
};

/* ---- the idle thread ---- */

/* Returns false when the end has come. */
static bool pause_for(struct keep_shrink *shrink, uint64_t used_ns)
{
	uint64_t until_ns, pause_ns = used_ns * (CPU_SHARE - 1);
	struct timespec until;

	if (pause_ns > PAUSE_MAX_S * 1000000000ull)
		pause_ns = PAUSE_MAX_S * 1000000000ull;
	until_ns = clock_monotonic_ns() + pause_ns;
	until = (struct timespec){.tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000)};
	return sem_clockwait(&shrink->end, CLOCK_MONOTONIC, &until) < 0;
}

static void slot_do(struct keep_shrink *shrink, struct shrink_slot *slot, int level)
{
	slot->bytes = trace_shrink_chunk(shrink->shrinker, &slot->chunk->header, slot->chunk->payload, level,
					 slot->shorter->payload);
}

static void *shrink_main(void *context)
{
	const struct sched_param none = {0};
	struct keep_shrink *shrink = context;
	uint32_t done = 0;

	if (pthread_setschedparam(pthread_self(), SCHED_IDLE, &none))
		return NULL; /* chunks stay as they are: with the daemon's priority it would disturb programs */
	while (sem_wait(&shrink->work) == 0 && !__atomic_load_n(&shrink->is_ended, __ATOMIC_RELAXED)) {
		/* [S2] Sees the slot that was given. Pairs with S1 in keep_shrink_give(). */
		uint32_t given = __atomic_load_n(&shrink->given, __ATOMIC_ACQUIRE);
		uint64_t begin_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

		slot_do(shrink, &shrink->slots[done % NR_SLOTS],
			given - done > BEHIND_SLOTS ? LEVEL_BEHIND : LEVEL_UNHURRIED);
		/* [S3] Publishes the copy. Pairs with S4 in keep_shrink_take(). */
		__atomic_store_n(&shrink->done, ++done, __ATOMIC_RELEASE);
		if (!pause_for(shrink, clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns))
			break;
	}
	return NULL;
}

/* ---- its partner ---- */

bool keep_shrink_give(struct keep_shrink *shrink, struct kept_chunk *chunk)
{
	struct shrink_slot *slot = &shrink->slots[shrink->given % NR_SLOTS];

	if (shrink->given - shrink->taken == NR_SLOTS)
		return false;
	slot->shorter = malloc(sizeof(*slot->shorter) + chunk->header.packed_bytes);
	if (!slot->shorter)
		return false;
	slot->chunk = chunk;
	__atomic_add_fetch(&chunk->users, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&shrink->given, shrink->given + 1, __ATOMIC_RELEASE); /* [S1] pairs with S2 */
	sem_post(&shrink->work);
	return true;
}

/* The copy as a chunk, without the room that it did not need; NULL: nothing was gained. */
static struct kept_chunk *shorter_of(const struct shrink_slot *slot)
{
	struct kept_chunk *shorter = slot->shorter, *trimmed;

	if (slot->bytes >= slot->chunk->header.packed_bytes) {
		free(shorter);
		return NULL;
	}
	trimmed = realloc(shorter, sizeof(*shorter) + slot->bytes);
	shorter = trimmed ? trimmed : shorter;
	shorter->next = NULL;
	shorter->users = 1;
	shorter->header = slot->chunk->header;
	shorter->header.packed_bytes = (uint32_t)slot->bytes;
	return shorter;
}

bool keep_shrink_take(struct keep_shrink *shrink, struct kept_chunk **ret_chunk, struct kept_chunk **ret_shorter)
{
	const struct shrink_slot *slot = &shrink->slots[shrink->taken % NR_SLOTS];

	if (__atomic_load_n(&shrink->done, __ATOMIC_ACQUIRE) == shrink->taken) /* [S4] pairs with S3 */
		return false;
	*ret_chunk = slot->chunk;
	*ret_shorter = shorter_of(slot);
	shrink->taken++;
	return true;
}

/* ---- begin and end ---- */

/* Blocks all signals in the new thread: the main thread receives them through its signalfd. */
static bool start(struct keep_shrink *shrink)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(&shrink->thread, NULL, shrink_main, shrink);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !err;
}

struct keep_shrink *keep_shrink_new(void)
{
	struct keep_shrink *shrink = calloc(1, sizeof(*shrink));

	if (!shrink)
		return NULL;
	shrink->shrinker = trace_shrinker_new();
	sem_init(&shrink->work, 0, 0);
	sem_init(&shrink->end, 0, 0);
	if (shrink->shrinker && start(shrink))
		return shrink;
	trace_shrinker_free(shrink->shrinker);
	free(shrink);
	return NULL;
}

/* The thread may be inside a chunk on a busy machine: with the usual policy it ends soon. */
static void stop(struct keep_shrink *shrink)
{
	const struct sched_param none = {0};

	__atomic_store_n(&shrink->is_ended, true, __ATOMIC_RELAXED);
	pthread_setschedparam(shrink->thread, SCHED_OTHER, &none); /* without the privilege it takes longer */
	sem_post(&shrink->end);
	sem_post(&shrink->work);
	pthread_join(shrink->thread, NULL);
}

struct keep_shrink *keep_shrink_free(struct keep_shrink *shrink)
{
	if (!shrink)
		return NULL;
	stop(shrink);
	for (; shrink->taken != shrink->given; shrink->taken++) {
		kept_chunk_release(shrink->slots[shrink->taken % NR_SLOTS].chunk);
		free(shrink->slots[shrink->taken % NR_SLOTS].shorter);
	}
	trace_shrinker_free(shrink->shrinker);
	sem_destroy(&shrink->work);
	sem_destroy(&shrink->end);
	free(shrink);
	return NULL;
}
