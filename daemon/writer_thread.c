/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "clock.h"
#include "level.h"
#include "priority.h"
#include "format_text.h"

enum work_kind {
	WORK_BLOCK,
	WORK_CLOCK,
	WORK_SYNC,
};

/**
 * struct work - one item for the writer thread. It is owned by the pusher, then by the queue, then
 * by the writer thread, which frees it.
 */
struct work {
	struct work *next;
	enum work_kind kind;
	struct trace_packed *packed; /* owned; WORK_BLOCK */
	size_t bytes;
	uint64_t events;
	uint64_t *lost; /* borrowed; used by the pusher */
	struct clock_sample clock;
};

struct writer_thread {
	pthread_t thread;
	bool running;		     /* used by the pusher only */
	struct trace_writer *writer; /* borrowed; used by the writer thread only */
	int fd;
	int wake_fd;
	size_t limit_bytes;

	pthread_mutex_t mutex; /* guards all below */
	pthread_cond_t changed;
	struct work *first;
	struct work **end;
	size_t queued_bytes;
	bool busy; /* the thread is processing an item */
	bool stopping;
	size_t wants_below; /* wake the pusher when the queue is below so many bytes; 0: it does not wait */
	bool adapts;	 /* the compression level is not fixed */
	struct level level;
	uint64_t synced;
	struct trace_writer_totals totals;
	struct trace_error first_error;
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
		err = trace_writer_clock(thread->writer, work->clock.monotonic_ns, work->clock.realtime_ns, work->clock.tsc,
					 ret_error);
		break;
	case WORK_SYNC:
		if (fdatasync(thread->fd) < 0 && errno != EINVAL && errno != EROFS) /* a pipe cannot be synced */
			err = error_set(ret_error, -errno, "cannot sync the trace to disk: %s", strerror(errno));
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

static void level_follow_locked(struct writer_thread *thread, uint64_t write_ns, uint64_t all_ns)
{
	int step = thread->level.step, level = level_block(&thread->level, write_ns, all_ns, thread->queued_bytes, thread->limit_bytes);

	if (thread->level.step != step)
		trace_writer_set_level(thread->writer, level);
}

static void work_done_locked(struct writer_thread *thread, const struct work *work, uint64_t all_ns, int err, const struct trace_error *error)
{
	uint64_t write_ns = thread->totals.write_ns;
	bool wake = work->kind == WORK_SYNC;

	thread->busy = false;
	thread->queued_bytes -= work->bytes;
	trace_writer_totals(thread->writer, &thread->totals);
	if (work->kind == WORK_BLOCK && thread->adapts)
		level_follow_locked(thread, thread->totals.write_ns - write_ns, all_ns);
	if (err && !thread->first_error.code)
		thread->first_error = *error;
	if (work->kind == WORK_SYNC)
		thread->synced++;
	if (thread->queued_bytes < thread->wants_below) {
		thread->wants_below = 0;
		wake = true;
	}
	if (wake)
		wake_pusher(thread);
}

static struct work *next_work_locked(struct writer_thread *thread)
{
	struct work *work;

	while (!thread->first && !thread->stopping)
		pthread_cond_wait(&thread->changed, &thread->mutex);
	work = thread->first;
	if (!work)
		return NULL;
	thread->first = work->next;
	if (!thread->first)
		thread->end = &thread->first;
	thread->busy = true;
	return work;
}

static void *writer_thread_main(void *context)
{
	struct writer_thread *thread = context;
	struct trace_error error = {0};
	struct work *work;
	int err;

	priority_enter(PRIORITY_WRITER);
	pthread_mutex_lock(&thread->mutex);
	while ((work = next_work_locked(thread))) {
		uint64_t begin_ns = clock_now();

		pthread_mutex_unlock(&thread->mutex);
		err = work_write(thread, work, &error);
		pthread_mutex_lock(&thread->mutex);
		work_done_locked(thread, work, clock_now() - begin_ns, err, &error);
		work_free(work);
	}
	pthread_mutex_unlock(&thread->mutex);
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

struct writer_thread *writer_thread_new(struct trace_writer *writer, int fd, size_t limit_bytes, struct trace_error *ret_error)
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
	thread->end = &thread->first;
	trace_writer_totals(writer, &thread->totals);
	pthread_mutex_init(&thread->mutex, NULL);
	pthread_cond_init(&thread->changed, NULL);
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
	pthread_mutex_lock(&thread->mutex);
	thread->adapts = true;
	pthread_mutex_unlock(&thread->mutex);
}

static bool is_full(struct writer_thread *thread, size_t limit)
{
	bool full;

	pthread_mutex_lock(&thread->mutex);
	full = thread->queued_bytes >= limit;
	if (full)
		thread->wants_below = thread->limit_bytes - thread->limit_bytes / 4;
	pthread_mutex_unlock(&thread->mutex);
	return full;
}

bool writer_thread_full(struct writer_thread *thread)
{
	return is_full(thread, thread->limit_bytes);
}

bool writer_thread_is_crowded(struct writer_thread *thread)
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
	pthread_mutex_lock(&thread->mutex);
	*thread->end = work;
	thread->end = &work->next;
	thread->queued_bytes += work->bytes;
	pthread_mutex_unlock(&thread->mutex);
	pthread_cond_signal(&thread->changed); /* after unlocking, so that the woken thread can take the mutex */
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

uint64_t writer_thread_synced(struct writer_thread *thread)
{
	uint64_t synced;

	pthread_mutex_lock(&thread->mutex);
	synced = thread->synced;
	pthread_mutex_unlock(&thread->mutex);
	return synced;
}

void writer_thread_totals(struct writer_thread *thread, struct trace_writer_totals *ret_totals)
{
	pthread_mutex_lock(&thread->mutex);
	*ret_totals = thread->totals;
	pthread_mutex_unlock(&thread->mutex);
}

int writer_thread_error(struct writer_thread *thread, struct trace_error *ret_error)
{
	int code;

	pthread_mutex_lock(&thread->mutex);
	code = thread->first_error.code;
	if (code && ret_error)
		*ret_error = thread->first_error;
	pthread_mutex_unlock(&thread->mutex);
	return code;
}

bool writer_thread_empty(struct writer_thread *thread)
{
	bool empty;

	pthread_mutex_lock(&thread->mutex);
	empty = !thread->first && !thread->busy;
	pthread_mutex_unlock(&thread->mutex);
	return empty;
}

void writer_thread_abandon(struct writer_thread *thread)
{
	struct work *work, *next;

	pthread_mutex_lock(&thread->mutex);
	work = thread->first;
	thread->first = NULL;
	thread->end = &thread->first;
	for (struct work *w = work; w; w = w->next) {
		thread->queued_bytes -= w->bytes;
		if (w->lost)
			*w->lost += w->events;
	}
	pthread_mutex_unlock(&thread->mutex);
	for (; work; work = next) {
		next = work->next;
		work_free(work);
	}
}

void writer_thread_stop(struct writer_thread *thread)
{
	if (!thread->running)
		return;
	pthread_mutex_lock(&thread->mutex);
	thread->stopping = true;
	pthread_cond_signal(&thread->changed);
	pthread_mutex_unlock(&thread->mutex);
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
	pthread_cond_destroy(&thread->changed);
	pthread_mutex_destroy(&thread->mutex);
	free(thread);
	return NULL;
}
