/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "level.h"
#include "priority.h"
#include "format_text.h"
#include "writer_queue.h"

enum work_kind {
	WORK_BLOCK,
	WORK_CLOCK,
	WORK_SYNC,
	WORK_CALL,
};

/**
 * struct work - one item for the writer thread. It is owned by the pusher, then by the queue, then
 * by the writer thread, which frees it.
 */
struct work {
	struct cds_wfcq_node node; /* in the queue */
	enum work_kind kind;
	struct trace_packed *packed; /* owned; WORK_BLOCK */
	size_t bytes;
	uint64_t events;
	uint64_t *lost; /* borrowed; used by the pusher */
	struct clock_sample clock;
	writer_thread_fn call; /* WORK_CALL */
	void *context;	       /* borrowed */
};

/**
 * struct writer_thread
 * @queued_bytes: bytes of the items that are not written yet. The pusher adds, the writer
 *     subtracts.
 * @wants_below: wake the pusher when @queued_bytes is below this; 0: it does not wait. The pusher
 *     sets it, the writer clears it and then wakes the pusher.
 * @written: items written so far. @pushed: items pushed, without those that were dropped
 * @lost_write: a copy of the total, which the pusher reads for each sub-buffer of a program
 * @first_error: the writer writes it before it sets @failed, and never again
 */
struct writer_thread {
	pthread_t thread;
	struct trace_writer *writer; /* borrowed; used by the writer thread only */
	int fd;
	int wake_fd;
	size_t limit_bytes;
	bool adapts; /* the compression level is not fixed; set by the pusher */

	/* used by the pusher only */
	bool running;
	uint64_t pushed;

	struct writer_queue queue;
	size_t queued_bytes;
	size_t wants_below;

	/* written by the writer thread only */
	struct level level; /* not read by the pusher */
	uint64_t written;
	uint64_t synced;
	uint64_t lost_write;
	struct trace_error first_error;
	bool failed;

	pthread_mutex_t mutex; /* guards totals */
	struct trace_writer_totals totals;
};

/* ---- the writer thread ---- */

static struct work *work_free(struct work *work)
{
	if (work)
		trace_packed_free(work->packed);
	free(work);
	return NULL;
}

static int work_write(struct writer_thread *thread, struct work *work, struct trace_error *ret_error)
{
	struct trace_packed *packed = work->packed;
	int err = 0;

	switch (work->kind) {
	case WORK_BLOCK:
		work->packed = NULL;
		err = trace_writer_write(thread->writer, packed, ret_error);
		break;
	case WORK_CLOCK:
		err = trace_writer_clock(thread->writer, work->clock.monotonic_ns, work->clock.realtime_ns,
					 work->clock.tsc, ret_error);
		break;
	case WORK_SYNC:
		if (thread->fd >= 0 && fdatasync(thread->fd) < 0 && errno != EINVAL &&
		    errno != EROFS) /* a pipe cannot be synced */
			err = error_set(ret_error, -errno, "cannot sync the trace to disk: %s", strerror(errno));
		break;
	case WORK_CALL:
		err = work->call(work->context, thread->writer, ret_error);
		break;
	}
	return err;
}

static void wake_pusher(struct writer_thread *thread)
{
	uint64_t one = 1;

	if (write(thread->wake_fd, &one, sizeof(one)) < 0)
		return; /* EAGAIN: the counter is at its maximum, so the eventfd is readable already */
}

static void level_follow(struct writer_thread *thread, uint64_t write_ns, uint64_t all_ns, size_t queued_bytes)
{
	int step = thread->level.step,
	    level = level_block(&thread->level, write_ns, all_ns, queued_bytes, thread->limit_bytes);

	if (thread->level.step != step)
		trace_writer_set_level(thread->writer, level);
}

/* Returns how long this item took in system calls that write. */
static uint64_t update_totals(struct writer_thread *thread)
{
	struct trace_writer_totals totals;
	uint64_t before_ns;

	trace_writer_totals(thread->writer, &totals);
	__atomic_store_n(&thread->lost_write, totals.lost_write, __ATOMIC_RELAXED);
	pthread_mutex_lock(&thread->mutex);
	before_ns = thread->totals.write_ns;
	thread->totals = totals;
	pthread_mutex_unlock(&thread->mutex);
	return totals.write_ns - before_ns;
}

static void keep_error(struct writer_thread *thread, const struct trace_error *error)
{
	if (thread->failed)
		return;
	thread->first_error = *error;
	/* [Q7] Publishes first_error. Pairs with Q8 in writer_thread_error(). */
	__atomic_store_n(&thread->failed, true, __ATOMIC_RELEASE);
}

/*
 * The item is no longer queued. If the pusher waits for room and there is room now, wake it.
 * [Q5] and [Q6] are sequentially consistent, as are their partners in is_full(): either this thread
 * sees that the pusher waits, or the pusher sees the room. Clearing wants_below comes before the
 * wakeup, so a pusher that sets it again meanwhile is woken as well.
 */
static void leave_queue(struct writer_thread *thread, const struct work *work)
{
	size_t queued_bytes = __atomic_sub_fetch(&thread->queued_bytes, work->bytes, __ATOMIC_SEQ_CST); /* [Q5] */
	bool wake = work->kind == WORK_SYNC;

	if (queued_bytes < __atomic_load_n(&thread->wants_below, __ATOMIC_SEQ_CST)) { /* [Q6] */
		__atomic_store_n(&thread->wants_below, 0, __ATOMIC_SEQ_CST);
		wake = true;
	}
	if (wake)
		wake_pusher(thread);
}

static void work_done(struct writer_thread *thread, const struct work *work, uint64_t all_ns, int err,
		      const struct trace_error *error)
{
	uint64_t write_ns = update_totals(thread);
	size_t queued_bytes = __atomic_load_n(&thread->queued_bytes, __ATOMIC_RELAXED) - work->bytes;

	if (work->kind == WORK_BLOCK && __atomic_load_n(&thread->adapts, __ATOMIC_RELAXED))
		level_follow(thread, write_ns, all_ns, queued_bytes);
	if (err)
		keep_error(thread, error);
	if (work->kind == WORK_SYNC)
		__atomic_store_n(&thread->synced, thread->synced + 1, __ATOMIC_RELEASE);
	/* [Q9] All of the above is done. Pairs with Q10 in writer_thread_empty(). */
	__atomic_store_n(&thread->written, thread->written + 1, __ATOMIC_RELEASE);
	leave_queue(thread, work);
}

static struct work *work_of(struct cds_wfcq_node *node)
{
	return node ? (struct work *)(void *)((char *)node - offsetof(struct work, node)) : NULL;
}

static void *writer_thread_main(void *context)
{
	struct writer_thread *thread = context;
	struct trace_error error = {0};
	struct work *work;
	int err;

	priority_enter(PRIORITY_WRITER);
	while ((work = work_of(writer_queue_take(&thread->queue)))) {
		uint64_t begin_ns = clock_now();

		err = work_write(thread, work, &error);
		work_done(thread, work, clock_now() - begin_ns, err, &error);
		work_free(work);
	}
	priority_leave();
	return NULL;
}

/* ---- the pushing thread ---- */

/*
 * Blocks all signals in the new thread, because the main thread receives them through its signalfd.
 */
static int start_blocked(struct writer_thread *thread)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	err = pthread_create(&thread->thread, NULL, writer_thread_main, thread);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

struct writer_thread *writer_thread_new(struct trace_writer *writer, int fd, size_t limit_bytes,
					struct trace_error *ret_error)
{
	struct writer_thread *thread = calloc(1, sizeof(*thread));
	int err;

	if (!thread) {
		error_set(ret_error, -ENOMEM, "no memory for the writer's queue");
		return NULL;
	}
	thread->writer = writer;
	thread->fd = fd;
	thread->limit_bytes = limit_bytes;
	trace_writer_totals(writer, &thread->totals);
	writer_queue_init(&thread->queue);
	pthread_mutex_init(&thread->mutex, NULL);
	thread->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	err = thread->wake_fd < 0 ? -errno : start_blocked(thread);
	if (err) {
		error_set(ret_error, err, "cannot start the writer's thread: %s", strerror(-err));
		return writer_thread_free(thread);
	}
	thread->running = true;
	return thread;
}

void writer_thread_adapt(struct writer_thread *thread)
{
	__atomic_store_n(&thread->adapts, true, __ATOMIC_RELAXED);
}

/* Without room the writer wakes the pusher later. The partners of Q5 and Q6 are in here. */
static bool is_full(struct writer_thread *thread, size_t limit)
{
	if (__atomic_load_n(&thread->queued_bytes, __ATOMIC_RELAXED) < limit)
		return false;
	__atomic_store_n(&thread->wants_below, thread->limit_bytes - thread->limit_bytes / 4, __ATOMIC_SEQ_CST);
	return __atomic_load_n(&thread->queued_bytes, __ATOMIC_SEQ_CST) >= limit;
}

bool writer_thread_full(struct writer_thread *thread)
{
	return is_full(thread, thread->limit_bytes);
}

bool writer_thread_is_nearly_full(struct writer_thread *thread)
{
	return is_full(thread, thread->limit_bytes - thread->limit_bytes / 8);
}

int writer_thread_wake_fd(const struct writer_thread *thread)
{
	return thread->wake_fd;
}

void writer_thread_acknowledge(struct writer_thread *thread)
{
	uint64_t count;

	if (read(thread->wake_fd, &count, sizeof(count)) < 0)
		return; /* nothing was signalled */
}

static void push(struct writer_thread *thread, struct work *work)
{
	thread->pushed++;
	__atomic_fetch_add(&thread->queued_bytes, work->bytes, __ATOMIC_SEQ_CST);
	writer_queue_push(&thread->queue, &work->node);
}

int writer_thread_push(struct writer_thread *thread, struct trace_packed *packed, uint64_t events, uint64_t *lost)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work) {
		trace_packed_free(packed);
		return -ENOMEM;
	}
	work->kind = WORK_BLOCK;
	work->packed = packed;
	work->bytes = trace_packed_bytes(packed) + sizeof(*work);
	work->events = events;
	work->lost = lost;
	push(thread, work);
	return 0;
}

int writer_thread_push_clock(struct writer_thread *thread, const struct clock_sample *sample)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return -ENOMEM;
	work->kind = WORK_CLOCK;
	work->clock = *sample;
	push(thread, work);
	return 0;
}

int writer_thread_push_sync(struct writer_thread *thread)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return -ENOMEM;
	work->kind = WORK_SYNC;
	push(thread, work);
	return 0;
}

int writer_thread_push_call(struct writer_thread *thread, writer_thread_fn call, void *context)
{
	struct work *work = calloc(1, sizeof(*work));

	if (!work)
		return -ENOMEM;
	work->kind = WORK_CALL;
	work->call = call;
	work->context = context;
	push(thread, work);
	return 0;
}

uint64_t writer_thread_synced(const struct writer_thread *thread)
{
	return __atomic_load_n(&thread->synced, __ATOMIC_ACQUIRE);
}

void writer_thread_totals(struct writer_thread *thread, struct trace_writer_totals *ret_totals)
{
	pthread_mutex_lock(&thread->mutex);
	*ret_totals = thread->totals;
	pthread_mutex_unlock(&thread->mutex);
}

uint64_t writer_thread_lost(const struct writer_thread *thread)
{
	return __atomic_load_n(&thread->lost_write, __ATOMIC_RELAXED);
}

int writer_thread_error(const struct writer_thread *thread, struct trace_error *ret_error)
{
	if (!__atomic_load_n(&thread->failed, __ATOMIC_ACQUIRE)) /* [Q8] pairs with Q7 */
		return 0;
	if (ret_error)
		*ret_error = thread->first_error;
	return thread->first_error.code;
}

bool writer_thread_empty(const struct writer_thread *thread)
{
	return __atomic_load_n(&thread->written, __ATOMIC_ACQUIRE) == thread->pushed; /* [Q10] pairs with Q9 */
}

void writer_thread_abandon(struct writer_thread *thread)
{
	struct work *work;

	while ((work = work_of(writer_queue_drop(&thread->queue)))) {
		thread->pushed--;
		__atomic_fetch_sub(&thread->queued_bytes, work->bytes, __ATOMIC_SEQ_CST);
		if (work->lost)
			*work->lost += work->events;
		work_free(work);
	}
}

void writer_thread_stop(struct writer_thread *thread)
{
	if (!thread->running)
		return;
	writer_queue_stop(&thread->queue);
	pthread_join(thread->thread, NULL);
	thread->running = false;
}

struct writer_thread *writer_thread_free(struct writer_thread *thread)
{
	if (!thread)
		return NULL;
	writer_thread_stop(thread);
	writer_thread_abandon(thread);
	if (thread->wake_fd >= 0)
		close(thread->wake_fd);
	writer_queue_destroy(&thread->queue);
	pthread_mutex_destroy(&thread->mutex);
	free(thread);
	return NULL;
}
