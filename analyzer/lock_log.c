/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * lock_log.c - the releases of each lock, and the owners of the lock during a wait
 *
 * Terms. A release is a wakeup of a thread that waited for the lock, by the thread that owned it.
 * The kernel shows releases with waiters only, but while a thread waits there is one.
 *
 * Rule for locks. Between two releases the lock had one owner: the thread of the second release.
 * So a wait is split at the releases in it, and each piece is for the thread that ended it.
 *
 * Example: A owns the lock from 0 to 30 ms, then B until 50 ms, then C until 60 ms. D waits from
 * 15 to 60 ms. The log has (30, A wakes B), (50, B wakes C), (60, C wakes D). D's wait is 15 ms
 * for A, 20 ms for B and 10 ms for C.
 *
 * A futex is a lock if its waiters show it: they called FUTEX_LOCK_PI, or they expected the value
 * 2 (locked, with waiters: glibc, Go, Rust) or a thread id with FUTEX_WAITERS (robust mutexes,
 * musl). All waits so far must agree, because a counter passes the value 2, too.
 *
 * Rule for all others: conditions, semaphores, reader-writer locks, locks of files. A release
 * there does not prove that the lock had been owned. The wait is for the thread that ended it,
 * from the time on when that thread itself was woken from a wait for the same object; before
 * that, for the thread that woke it; and so on. The critical path goes the same way.
 *
 * Requeue. A condition may move its waiters to the futex of a mutex (FUTEX_CMP_REQUEUE). Such a
 * wait ends by a release of the mutex. Until the requeue it was for the thread that requeued, then
 * for the owners of the mutex. With several requeues during the wait it is not known which one
 * moved the thread: between the first and the last one the owner is unknown. The futexes may be in
 * memory that processes share: then another process may release the second one.
 *
 * A reader-writer lock may have many owners at once, and a reader that need not wait gets it
 * without an event. A writer waits for the last reader, the one that wakes it. That reader may have
 * got the lock during the wait: all that the trace shows is that it did not before it began to
 * live.
 *
 * A log keeps the latest releases, up to MAX_RELEASES. The part of a wait before them has an
 * unknown owner.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "array_room.h"
#include "lock_log.h"
#include "kernel_numbers.h"
#include "state.h"
#include "state_frame.h"

#define MIN_RELEASES 4u
#define FEW_RELEASES 64u   /* a log grows beyond this only if it covers less than RECENT_NS */
#define MAX_RELEASES 4096u /* a power of two */
#define RECENT_NS    10000000000u

struct lock_idx_row {
	uint64_t key;
	uint32_t idx;
};

/* ---- the identity of a lock ---- */

enum lock_domain { DOMAIN_MEMORY = 1, DOMAIN_SHARED, DOMAIN_FILE, DOMAIN_SEMAPHORE };

static uint64_t lock_key(enum lock_domain domain, uint64_t object, uint64_t place)
{
	return hash_u64(hash_u64(object ^ (uint64_t)domain << 60) ^ place) | 1;
}

/* The futex calls of Linux 6.7 have other arguments than futex(2). */
struct futex_call {
	uint32_t command;
	uint32_t value; /* the value that a waiter expects */
	bool is_private;
};

static struct futex_call futex_call_of(const struct trace_analysis *a, const struct frame *frame)
{
	const char *name = strings_text(&a->strings, a->calls[frame->call].name);
	const uint64_t *args = frame->args;

	if (frame->nr_args < 3)
		return (struct futex_call){.command = UINT32_MAX};
	if (strcmp(name, "futex_wait") == 0)
		return (struct futex_call){LINUX_FUTEX_WAIT, (uint32_t)args[1], args[3] & LINUX_FUTEX_PRIVATE_FLAG};
	if (strcmp(name, "futex_wake") == 0)
		return (struct futex_call){LINUX_FUTEX_WAKE, 0, args[3] & LINUX_FUTEX_PRIVATE_FLAG};
	if (strncmp(name, "futex_", 6) == 0 && strcmp(name, "futex_time64") != 0)
		return (struct futex_call){.command = UINT32_MAX}; /* its addresses are in memory */
	return (struct futex_call){(uint32_t)args[1] & (uint32_t)LINUX_FUTEX_CMD_MASK, (uint32_t)args[2],
				   args[1] & LINUX_FUTEX_PRIVATE_FLAG};
}

/*
 * A word in a file that is mapped shared is one futex, by whichever path, wherever and from which
 * offset on a process has mapped it.
 */
static uint64_t futex_key(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t address,
			  bool is_private)
{
	uint64_t memory = thread->memory ? (uintptr_t)thread->memory : thread->process->idx, offset;
	file_idx shared = is_private ? 0 : memory_shared(thread->memory, address, &offset);
	const struct traced_file *file = shared ? &a->files.list[shared] : NULL;

	if (!file)
		return lock_key(DOMAIN_MEMORY, memory, address);
	if (!file->ino && !file->dev) /* only its path is known */
		return lock_key(DOMAIN_SHARED, shared, offset);
	return lock_key(DOMAIN_SHARED, hash_u64(file->ino) ^ file->dev, offset);
}

static uint64_t file_key(const struct trace_analysis *a, const struct frame *frame)
{
	const struct traced_file *file = frame->file ? &a->files.list[frame->file] : NULL;
	uint64_t command = frame->nr_args > 1 ? (uint32_t)frame->args[1] : 0;

	if (!frame->file || (frame_class(a, frame) == CALL_FCNTL && command != LINUX_F_SETLKW &&
			     command != LINUX_F_SETLKW64 && command != LINUX_F_OFD_SETLKW))
		return 0;
	return lock_key(DOMAIN_FILE, file->ino, file->dev);
}

static uint64_t semaphore_key(const struct trace_analysis *a, const struct frame *frame)
{
	const char *name = strings_text(&a->strings, a->calls[frame->call].name);
	bool is_ipc = strcmp(name, "ipc") == 0;

	if (frame->nr_args < 2 || (!is_ipc && strncmp(name, "sem", 3) != 0))
		return 0;
	return lock_key(DOMAIN_SEMAPHORE, (uint32_t)frame->args[is_ipc ? 1 : 0], 0);
}

/* The lock that @thread waits for in the call of @frame; 0: none. */
static uint64_t key_of(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	struct futex_call call;

	switch (frame_class(a, frame)) {
	case CALL_FUTEX:
		call = futex_call_of(a, frame);
		return call.command == UINT32_MAX ? 0 : futex_key(a, thread, frame->args[0], call.is_private);
	case CALL_FCNTL:
		return file_key(a, frame);
	case CALL_IPC:
		return semaphore_key(a, frame);
	default:
		return a->calls[frame->call].flags & CALL_IS_LOCK ? file_key(a, frame) : 0;
	}
}

/* ---- the logs ---- */

static uint32_t log_find(const struct trace_analysis *a, uint64_t key)
{
	const struct lock_idx_row *row = key ? table_find(&a->lock_logs.by_key, sizeof(*row), key) : NULL;

	return row ? row->idx : 0;
}

static uint32_t log_new(struct lock_logs *logs)
{
	if (logs->nr >= logs->max) {
		uint32_t max = logs->max ? logs->max * 2 : 32;
		struct lock_log *bigger = reallocarray(logs->list, max, sizeof(*bigger));

		if (!bigger)
			return 0;
		logs->list = bigger;
		logs->max = max;
		logs->nr += !logs->nr;
	}
	memset(&logs->list[logs->nr], 0, sizeof(logs->list[0]));
	return logs->nr++;
}

static uint32_t log_get(struct trace_analysis *a, uint64_t key)
{
	struct lock_idx_row *row = table_add(&a->lock_logs.by_key, sizeof(*row), key);

	if (row && !row->idx)
		row->idx = log_new(&a->lock_logs);
	if (!row || !row->idx)
		a->failed = -ENOMEM;
	return row ? row->idx : 0;
}

static struct lock_release *release_at(const struct lock_log *log, uint64_t nr)
{
	return &log->list[nr & (log->capacity - 1)];
}

static uint64_t oldest(const struct lock_log *log)
{
	return log->nr > log->capacity ? log->nr - log->capacity : 0;
}

static bool log_may_grow(const struct lock_log *log, uint64_t ns)
{
	if (log->nr < log->capacity || log->capacity >= MAX_RELEASES)
		return false;
	return log->capacity < FEW_RELEASES || ns - release_at(log, oldest(log))->ns < RECENT_NS;
}

static void log_add(struct trace_analysis *a, struct lock_log *log, struct lock_release release)
{
	uint32_t capacity = log->capacity ? log->capacity * 2 : MIN_RELEASES;
	struct lock_release *bigger;

	if (!log->capacity || log_may_grow(log, release.ns)) {
		bigger = malloc(capacity * sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		for (uint64_t i = oldest(log); i < log->nr; i++)
			bigger[i & (capacity - 1)] = *release_at(log, i);
		free(log->list);
		log->list = bigger;
		log->capacity = capacity;
	}
	*release_at(log, log->nr++) = release;
}

void lock_logs_clear(struct lock_logs *logs)
{
	for (uint32_t i = 1; i < logs->nr; i++)
		free(logs->list[i].list);
	free(logs->list);
	free(logs->pieces);
	table_clear(&logs->by_key);
}

/* ---- releases ---- */

#define VALUE_CONTENDED 2u /* of a mutex: locked, and a thread waits */

static bool has_owner_id(uint32_t value)
{
	return (value & LINUX_FUTEX_WAITERS) && (value & LINUX_FUTEX_TID_MASK) &&
	       (value & LINUX_FUTEX_TID_MASK) != LINUX_FUTEX_TID_MASK;
}

/* Note if a wait at this futex shows a lock. */
static void log_learn(struct lock_log *log, const struct futex_call *call)
{
	switch (call->command) {
	case LINUX_FUTEX_LOCK_PI:
	case LINUX_FUTEX_LOCK_PI2:
		log->has_owner = true;
		break;
	case LINUX_FUTEX_WAIT:
	case LINUX_FUTEX_WAIT_BITSET:
		if (call->value == VALUE_CONTENDED || has_owner_id(call->value))
			log->has_owner = true;
		else
			log->has_none = true;
		break;
	default:
		log->has_none = true;
	}
}

static bool log_is_lock(const struct lock_log *log)
{
	return log->has_owner && !log->has_none;
}

bool futex_is_lock(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	struct futex_call call = futex_call_of(a, frame);
	uint32_t known = log_find(a, key_of(a, thread, frame));
	struct lock_log log = {0};

	if (known && (a->lock_logs.list[known].has_owner || a->lock_logs.list[known].has_none))
		return log_is_lock(&a->lock_logs.list[known]);
	log_learn(&log, &call);
	return log_is_lock(&log);
}

/* The last requeue at the futex of @wait since the call of @wait began; NULL: none. */
static const struct lock_release *last_requeue(const struct trace_analysis *a, const struct trace_thread *thread,
					       const struct frame *wait)
{
	uint32_t known = log_find(a, key_of(a, thread, wait));
	const struct lock_log *log = known ? &a->lock_logs.list[known] : NULL;

	if (!log)
		return NULL;
	for (uint64_t i = log->nr; i > oldest(log) && release_at(log, i - 1)->ns >= wait->begin.ns; i--)
		if (!release_at(log, i - 1)->woken)
			return release_at(log, i - 1);
	return NULL;
}

/* Hash of the file that has the futex and that processes share; 0: it is in one memory. */
static uint32_t shared_memory_of(const struct trace_analysis *a, const struct trace_thread *thread, uint64_t address,
				 bool is_private)
{
	uint64_t offset;
	file_idx shared = is_private ? 0 : memory_shared(thread->memory, address, &offset);
	const struct traced_file *file = shared ? &a->files.list[shared] : NULL;

	return file ? (uint32_t)hash_u64(hash_u64(file->ino) ^ file->dev) | 1 : 0;
}

bool futex_was_moved(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	struct futex_call call = futex_call_of(a, frame);
	const struct lock_release *requeue = last_requeue(a, thread, frame);

	return requeue && requeue->to_memory != shared_memory_of(a, thread, frame->args[0], call.is_private);
}

/* A call of another process wakes in memory that both share. */
static bool wakes_in_common(const struct trace_thread *by, const struct trace_thread *woken, uint64_t address)
{
	uint64_t offset;

	return by->memory == woken->memory || memory_shared(by->memory, address, &offset);
}

/*
 * The lock that the waker released: that of its call, since a requeued thread still is in the wait
 * at its first futex. A process that ends releases what it held without a call.
 */
static uint32_t released_log(struct trace_analysis *a, struct trace_thread *by, const struct trace_thread *woken,
			     const struct frame *wait)
{
	const struct frame *frame = frame_syscall(by);
	bool is_futex = frame_class(a, wait) == CALL_FUTEX;
	const struct lock_release *requeue;
	struct futex_call call;

	if (is_futex && (by->flags & THREAD_EXITING) && (requeue = last_requeue(a, woken, wait)) && requeue->to)
		return requeue->to;
	if (!is_futex || !frame || frame_class(a, frame) != CALL_FUTEX)
		return log_get(a, key_of(a, woken, wait));
	call = futex_call_of(a, frame);
	if (!wakes_in_common(by, woken, frame->args[0]) ||
	    (call.command != LINUX_FUTEX_WAKE && call.command != LINUX_FUTEX_WAKE_BITSET &&
	     call.command != LINUX_FUTEX_UNLOCK_PI))
		return log_get(a, key_of(a, woken, wait));
	return log_get(a, futex_key(a, by, frame->args[0], call.is_private));
}

bool futex_is_foreign(const struct trace_analysis *a, struct trace_thread *thread, const struct trace_thread *by)
{
	const struct frame *frame = frame_syscall(thread);
	uint64_t offset;

	return frame && frame_class(a, frame) == CALL_FUTEX && frame->nr_args && by->process != thread->process &&
	       by->memory && thread->memory && by->memory != thread->memory && !thread->memory->has_foreign &&
	       !memory_shared(thread->memory, frame->args[0], &offset) && !futex_was_moved(a, thread, frame);
}

/* Can a call of this class release a lock of @wait? The death of a thread can, too. */
static bool may_release(const struct trace_analysis *a, struct trace_thread *by, struct trace_thread *woken,
			const struct frame *wait)
{
	const struct frame *frame = frame_syscall(by);

	if (by->flags & THREAD_EXITING)
		return !futex_is_foreign(a, woken, by);
	if (!frame)
		return false;
	switch (frame_class(a, frame)) {
	case CALL_EXIT:
	case CALL_FUTEX:
		return true;
	case CALL_KILL:
		return false;
	default:
		return frame_class(a, wait) != CALL_FUTEX;
	}
}

/* A sleep that signals do not end is one for a lock of the kernel, and not for that of the call. */
void lock_released(struct trace_analysis *a, struct trace_thread *woken, struct waker *waker)
{
	const struct frame *wait = frame_syscall(woken);
	struct trace_thread *by = waker->thread;
	struct futex_call call;
	uint64_t own;

	if (!wait || !by || waker->worker || (woken->task_state & TRACE_TASK_UNINTERRUPTIBLE) ||
	    (by->flags & THREAD_KERNEL) || !(own = key_of(a, woken, wait)) || !may_release(a, by, woken, wait))
		return;
	waker->lock = released_log(a, by, woken, wait);
	if (!waker->lock)
		return;
	if (waker->lock == log_find(a, own) && frame_class(a, wait) == CALL_FUTEX) {
		call = futex_call_of(a, wait);
		log_learn(&a->lock_logs.list[waker->lock], &call);
	}
	log_add(a, &a->lock_logs.list[waker->lock], (struct lock_release){.ns = waker->ns, .by = by, .woken = woken});
}

/* A FUTEX_WAKE of anything but a lock: the mutex of a condition is released after its signal. */
static void note_signal(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			bool is_private)
{
	uint32_t known = log_find(a, futex_key(a, thread, frame->args[0], is_private));

	if (known && log_is_lock(&a->lock_logs.list[known]))
		return;
	if (!thread->signals)
		thread->signals = calloc(1, sizeof(*thread->signals));
	if (!thread->signals) {
		a->failed = -ENOMEM;
		return;
	}
	thread->signals->last[thread->signals->nr++ % NR_SIGNALS] = (struct futex_signal){.futex = frame->args[0],
											  .ns = frame->begin.ns};
}

struct futex_place {
	uint64_t address; /* 0: not recorded */
	bool is_private;
};

static void note_requeue(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame,
			 struct futex_place from, struct futex_place second)
{
	uint32_t log = log_get(a, futex_key(a, thread, from.address, from.is_private)),
		 to = second.address ? log_get(a, futex_key(a, thread, second.address, second.is_private)) : 0;
	struct lock_release requeue = {.ns = frame->begin.ns, .by = thread, .to = to};

	if (to)
		requeue.to_memory = shared_memory_of(a, thread, second.address, second.is_private);
	if (log)
		log_add(a, &a->lock_logs.list[log], requeue);
}

/* The futexes of futex_requeue(2) are in memory. */
void on_futex_moved(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_futex_moved *moved = event->payload;
	struct trace_thread *thread = cpu->current;
	struct frame *frame = thread ? frame_syscall(thread) : NULL;

	if (frame && frame_class(a, frame) == CALL_FUTEX)
		note_requeue(a, thread, frame,
			     (struct futex_place){moved->from, moved->from_flags & LINUX_FUTEX_PRIVATE_FLAG},
			     (struct futex_place){moved->to, moved->to_flags & LINUX_FUTEX_PRIVATE_FLAG});
}

void futex_called(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame)
{
	struct futex_call call = futex_call_of(a, frame);

	switch (call.command) {
	case LINUX_FUTEX_WAKE:
	case LINUX_FUTEX_WAKE_BITSET:
		note_signal(a, thread, frame, call.is_private);
		break;
	case LINUX_FUTEX_REQUEUE:
	case LINUX_FUTEX_CMP_REQUEUE:
	case LINUX_FUTEX_CMP_REQUEUE_PI:
		note_requeue(a, thread, frame, (struct futex_place){frame->args[0], call.is_private},
			     (struct futex_place){frame->nr_args > 4 ? frame->args[4] : 0, call.is_private});
		break;
	default:
		break;
	}
}

/* ---- the owners during a wait ---- */

/* Adds a piece before the others. They are collected from the end of the wait on. */
static void piece_add(struct trace_analysis *a, size_t *nr, uint64_t from, uint64_t to, struct trace_thread *owner)
{
	struct lock_logs *logs = &a->lock_logs;

	if (from >= to)
		return;
	if (owner && owner->start_ns > from) { /* before its begin it owned nothing */
		piece_add(a, nr, owner->start_ns, to, owner);
		to = owner->start_ns < to ? owner->start_ns : to;
		owner = NULL;
	}
	if (*nr && logs->pieces[*nr - 1].owner == owner) {
		logs->pieces[*nr - 1].from = from;
		return;
	}
	if (!array_room((void **)&logs->pieces, (uint32_t)*nr, &logs->max_pieces, sizeof(*logs->pieces))) {
		a->failed = -ENOMEM;
		return;
	}
	logs->pieces[(*nr)++] = (struct lock_piece){from, to, owner};
}

/* The pieces of a wait at one lock that @owner ended at @to. */
static void add_owners(struct trace_analysis *a, size_t *nr, const struct lock_log *log, uint64_t from, uint64_t to,
		       struct trace_thread *owner)
{
	bool is_lock = log_is_lock(log);
	uint64_t i;

	for (i = log->nr; i > oldest(log) && release_at(log, i - 1)->ns > from; i--) {
		const struct lock_release *release = release_at(log, i - 1);

		if (release->ns >= to || !release->woken || (!is_lock && release->woken != owner))
			continue;
		piece_add(a, nr, release->ns, to, owner);
		owner = release->by;
		to = release->ns;
	}
	if (i && i == oldest(log)) { /* the releases before are not known any more */
		uint64_t known = release_at(log, i)->ns < to ? release_at(log, i)->ns : to;

		piece_add(a, nr, known, to, owner);
		owner = NULL;
		to = known;
	}
	piece_add(a, nr, from, to, owner);
}

/* Returns the number of requeues at @log in the wait, and the first and the last one. */
static size_t find_requeues(const struct lock_log *log, uint64_t from, uint64_t to, struct lock_release *ret_first,
			    struct lock_release *ret_last)
{
	size_t nr = 0;

	for (uint64_t i = log->nr; i > oldest(log) && release_at(log, i - 1)->ns > from; i--) {
		const struct lock_release *release = release_at(log, i - 1);

		if (release->woken || release->ns >= to)
			continue;
		*ret_first = *release;
		if (!nr++)
			*ret_last = *release;
	}
	return nr;
}

const struct lock_piece *lock_split(struct trace_analysis *a, const struct trace_thread *thread,
				    const struct pending *pending, size_t *ret_nr)
{
	const struct lock_log *log = &a->lock_logs.list[pending->waker.lock];
	uint64_t from = pending->from, to = pending->to;
	uint32_t own = log_find(a, key_of(a, thread, &thread->frames[0]));
	struct lock_release first, last;
	struct lock_piece *pieces;
	size_t nr = 0;

	if (own == pending->waker.lock || !own) {
		add_owners(a, &nr, log, from, to, pending->waker.thread);
	} else if (find_requeues(&a->lock_logs.list[own], from, to, &first, &last)) {
		add_owners(a, &nr, log, last.ns, to, pending->waker.thread);
		piece_add(a, &nr, first.ns, last.ns, NULL);
		add_owners(a, &nr, &a->lock_logs.list[own], from, first.ns, first.by);
	} else {
		piece_add(a, &nr, from, to, pending->waker.thread);
	}
	pieces = a->lock_logs.pieces;
	for (size_t i = 0; i < nr / 2; i++) {
		struct lock_piece piece = pieces[i];

		pieces[i] = pieces[nr - 1 - i];
		pieces[nr - 1 - i] = piece;
	}
	*ret_nr = nr;
	return pieces;
}
