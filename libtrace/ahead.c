/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ahead.c - the decoding thread, and its window of slots: a ring of chunks between the thread and
 * the cursor.
 */
#include "ahead.h"

#include "chunk.h"
#include "timeline.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>

/** struct slot - a chunk that is decoded or being decoded */
struct slot {
	struct block block;
	size_t span_idx;
	const char *reason;
	int error;
};

/**
 * struct ahead - slots, used in turn
 * @nr_done, @nr_taken: number of slots that the thread has filled, and that the cursor has emptied,
 *	since the start. @lock protects these fields and the following ones. The thread owns slot
 *	nr_done while nr_done < nr_taken + window; the cursor owns slot nr_taken while nr_taken <
 *	nr_done
 */
struct ahead {
	const struct trace *trace;
	const struct timeline *timeline;
	ahead_wants_fn wants;
	const void *context;
	size_t span_idx; /* only the thread uses it */
	unsigned int window;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t nr_done;
	size_t nr_taken;
	bool stop;		  /* the thread must end */
	bool finished;		  /* the thread has ended */
	struct unpacker unpacker; /* only the thread uses it */
	struct slot slots[];
};

/* Returns false when the thread must end. */
static bool wait_for_room(struct ahead *ahead)
{
	bool stop;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->stop && ahead->nr_done == ahead->nr_taken + ahead->window)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	stop = ahead->stop;
	pthread_mutex_unlock(&ahead->lock);
	return !stop;
}

static void *ahead_main(void *context)
{
	struct ahead *ahead = context;

	for (; ahead->span_idx < ahead->timeline->nr; ahead->span_idx++) {
		const struct span *span = &ahead->timeline->spans[ahead->span_idx];
		struct slot *slot;

		if (!ahead->wants(ahead->context, span))
			continue;
		if (!wait_for_room(ahead))
			break;
		/* only this thread writes nr_done */
		slot = &ahead->slots[ahead->nr_done % ahead->window];
		slot->span_idx = ahead->span_idx;
		slot->error = span_block(ahead->trace, span, &ahead->unpacker, &slot->block, &slot->reason);
		pthread_mutex_lock(&ahead->lock);
		ahead->nr_done++;
		pthread_cond_broadcast(&ahead->changed);
		pthread_mutex_unlock(&ahead->lock);
	}
	pthread_mutex_lock(&ahead->lock);
	ahead->finished = true;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	return NULL;
}

static bool has_cpus(void)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) < 0 || CPU_COUNT(&cpus) > 1;
}

/*
 * The program's own threads handle its signals, so this thread starts with all of them blocked, but
 * SIGBUS: it comes from a page that the file no longer has. If the thread blocked it, the kernel
 * would end the program and not call its handler.
 */
static int start_blocked(struct ahead *ahead)
{
	sigset_t all, old;
	int error;

	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	error = pthread_create(&ahead->thread, NULL, ahead_main, ahead);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

static void ahead_release(struct ahead *ahead)
{
	for (unsigned int i = 0; i < ahead->window; i++)
		block_release(&ahead->slots[i].block);
	unpacker_release(&ahead->unpacker);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
}

struct ahead *ahead_new(const struct trace *trace, const struct timeline *timeline, size_t span_idx,
			unsigned int window, struct pool *pool, ahead_wants_fn wants, const void *context)
{
	struct ahead *ahead = has_cpus() ? calloc(1, sizeof(*ahead) + window * sizeof(ahead->slots[0])) : NULL;

	if (!ahead)
		return NULL;
	ahead->trace = trace;
	ahead->timeline = timeline;
	ahead->span_idx = span_idx;
	ahead->window = window;
	ahead->wants = wants;
	ahead->context = context;
	for (unsigned int i = 0; i < window; i++)
		ahead->slots[i].block.pool = pool;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	if (start_blocked(ahead) == 0)
		return ahead;
	ahead_release(ahead);
	return NULL;
}

/*
 * The first slot for a chunk at or after @span_idx. NULL: there will be none. A slot may be for an
 * earlier chunk, if the header of that chunk changed after the thread had read it; such slots are
 * dropped.
 */
static struct slot *wait_for_slot_locked(struct ahead *ahead, size_t span_idx)
{
	for (;;) {
		struct slot *slot = &ahead->slots[ahead->nr_taken % ahead->window];

		if (ahead->nr_taken == ahead->nr_done) {
			if (ahead->finished)
				return NULL;
			pthread_cond_wait(&ahead->changed, &ahead->lock);
		} else if (slot->span_idx < span_idx) {
			ahead->nr_taken++;
			pthread_cond_broadcast(&ahead->changed);
		} else {
			return slot;
		}
	}
}

bool ahead_take(struct ahead *ahead, size_t span_idx, struct block *block, int *ret_error, const char **ret_reason)
{
	struct slot *slot;
	bool found;

	pthread_mutex_lock(&ahead->lock);
	slot = wait_for_slot_locked(ahead, span_idx);
	found = slot && slot->span_idx == span_idx;
	if (found) {
		struct block old = *block;

		*block = slot->block;
		slot->block = old;
		*ret_error = slot->error;
		*ret_reason = slot->reason;
		ahead->nr_taken++;
		pthread_cond_broadcast(&ahead->changed);
	}
	pthread_mutex_unlock(&ahead->lock);
	return found;
}

struct ahead *ahead_free(struct ahead *ahead)
{
	if (!ahead)
		return NULL;
	pthread_mutex_lock(&ahead->lock);
	ahead->stop = true;
	pthread_cond_broadcast(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	pthread_join(ahead->thread, NULL);
	ahead_release(ahead);
	return NULL;
}
