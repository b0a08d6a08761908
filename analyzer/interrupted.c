/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * interrupted.c - calls that something interrupted while their thread waited
 *
 * A signal, a stop, a tracer or the freezer wakes a thread that waits in a system call. The call
 * returns -ERESTARTSYS, one of its kin, or -EINTR: it did not get what it waited for. The thread
 * that interrupted it is neither the writer of the pipe nor the holder of the lock. The wait goes
 * on for what it was for, in one of these ways:
 * - The kernel enters the call again, with the same number and arguments.
 * - The kernel calls restart_syscall(), which continues the call that was interrupted. Here it is
 *   that call, with its arguments.
 * - The program calls again with the same arguments after -EINTR.
 *
 * So the wait is kept until the call that goes on has ended: its cause is then the cause of the
 * last wait in that call. If the call does not go on, the call alone decides (wait.c).
 *
 * io_uring_enter() that has submitted requests returns their number instead of an error when it is
 * interrupted. It goes on with the next io_uring_enter() of the same ring.
 *
 * The completion of a request of io_uring interrupts its submitter, too, which completes the
 * request before the call goes on. If the call waits for a ring, an eventfd or several files, and
 * ends then without another wait, the request ended it: the waits are for the file of the request,
 * as those of io_uring_enter() are.
 *
 * A signal with a handler ends some calls as a matter of course. pause() does not go on then: the
 * signal is what ended it. The same holds for poll(), select(), epoll_wait() and io_uring_enter(),
 * with one exception: the program makes the call again at once, for the same files, and neither the
 * handler nor the program has made another call. Then the handler told the program nothing to do.
 *
 * Example: a thread reads from a pipe at 0 ms. A timer's signal interrupts the read at 10 ms, and
 * the handler has SA_RESTART. The read begins again at 10.1 ms, and a writer ends it at 30 ms. Both
 * waits, 10 ms and 19.9 ms, are for the writer, via "pipe". If it is a lock, each wait is split
 * among the threads that owned the lock in turn until the release that ended the last one.
 *
 * The interruption is a row of its own: the call, what interrupted it, how often, and how long the
 * waits had lasted.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "interrupted.h"
#include "kernel_numbers.h"
#include "pending.h"
#include "result_order.h"
#include "sort.h"
#include "state.h"
#include "state_frame.h"
#include "thread_rare.h"
#include "wait.h"
#include "wait_holder.h"
#include "wait_path.h"
#include "window.h"

#define FIRST_ROOM	 8    /* number of waits of one call; it doubles */
#define MAX_WAITS	 1024 /* of one call; the oldest are decided earlier if there are more */
#define AT_ONCE_NS	 200000
#define MAX_OTHERS	 64   /* calls of handlers until the call counts as ended */
#define FIRST_RESTART	 -512 /* -ERESTARTSYS ... -ERESTART_RESTARTBLOCK of the kernel's linux/errno.h */
#define LAST_RESTART	 -516
#define FIRST_HANDLER	 2    /* SIG_DFL and SIG_IGN are no handlers */
#define RESTART_NOT_CALL -515 /* -ENOIOCTLCMD is no interruption */

struct interrupted_call {
	struct frame frame;
	uint32_t nr, room;
	uint32_t handlers;  /* signal handlers in progress */
	uint32_t nr_others; /* calls of theirs */
	bool goes_on;	    /* the thread is in the call again */
	bool had_handler;
	bool by_request;      /* a request of io_uring ended it */
	uint64_t returned_ns; /* when it returned after the last wait */
	struct waker release; /* the wakeup by which the call got the lock; lock 0: it waits for none */
	uint64_t release_ns;
	/*
	 * the cause by the call alone at the first interruption: the process may exit until the end
	 */
	struct wait_cause first;
	struct pending waits[]; /* @room; behind them its path argument, "": it has none */
};

static char *path_of(struct interrupted_call *call)
{
	return (char *)(call->waits + call->room);
}

static size_t bytes_of(uint32_t room, size_t path_bytes)
{
	return sizeof(struct interrupted_call) + room * sizeof(struct pending) + path_bytes;
}

static bool is_interruption(int64_t ret)
{
	return ret == -LINUX_EINTR || (ret <= FIRST_RESTART && ret >= LAST_RESTART && ret != RESTART_NOT_CALL);
}

bool signal_stops(uint32_t signal)
{
	return signal == LINUX_SIGSTOP || signal == LINUX_SIGTSTP || signal == LINUX_SIGTTIN || signal == LINUX_SIGTTOU;
}

/* ---- interruptions ---- */

static enum via via_of(const struct trace_analysis *a, const struct waker *waker)
{
	if (waker->by_signal)
		return VIA_SIGNAL;
	if (waker->thread && wakes_frozen(a, waker))
		return VIA_FREEZER;
	return waker->thread && a->calls[waker->call].class == CALL_PTRACE ? VIA_PTRACE : VIA_NONE;
}

static bool is_row(const struct interruption_row *row, const struct interruption_row *wanted)
{
	return row->process == wanted->process && row->by == wanted->by && row->call == wanted->call &&
	       row->via == wanted->via && row->signal == wanted->signal;
}

static void interruption_add(struct trace_analysis *a, const struct trace_thread *thread, uint32_t call,
			     const struct pending *wait)
{
	const struct waker *waker = &wait->waker;
	bool is_task = waker->thread && !(waker->thread->flags & THREAD_KERNEL);
	struct interruption_row *row, wanted = {.process = thread->process->idx,
						.by = is_task ? waker->thread->process->idx : 0,
						.call = call,
						.via = (uint8_t)via_of(a, waker),
						.signal = waker->by_signal};
	uint64_t key = hash_u64(((uint64_t)wanted.process << 32 | wanted.by) ^
				hash_u64((uint64_t)call << 16 | wanted.via << 8 | wanted.signal)),
		 ns = wait->known_ns, count = 1;

	if (!window_wait(a, wait, &ns, &count))
		return;
	for (;; key++) {
		key += !key;
		row = acct_row(a, &a->interruptions, sizeof(*row), key);
		if (a->failed)
			return;
		if (!row->process) {
			wanted.key = key;
			*row = wanted;
		}
		if (is_row(row, &wanted))
			break;
	}
	row->ns += ns;
	row->count += count;
}

static int order(const void *left, const void *right)
{
	const struct trace_interruption *l = left, *r = right;
	int difference = descending(l->ns, r->ns);

	difference = difference ?: strcmp(l->call, r->call);
	difference = difference ?: by_process(l->process, r->process);
	difference = difference ?: by_process(l->by, r->by);
	difference = difference ?: strcmp(l->via, r->via);
	difference = difference ?: ascending(l->signal, r->signal);
	difference = difference ?: descending(l->count, r->count);
	return difference;
}

struct trace_interruption *trace_interruptions(const struct trace_analysis *a, size_t *ret_nr)
{
	struct trace_interruption *list = calloc(a->interruptions.used + 1, sizeof(*list)), *at = list;

	for (const struct interruption_row *row = NULL;
	     list && (row = table_next(&a->interruptions, sizeof(*row), row)); at++)
		*at = (struct trace_interruption){
			.process = a->threads.processes[row->process],
			.by = row->by ? a->threads.processes[row->by] : NULL,
			.call = strings_text(&a->strings, a->calls[row->call].name),
			.via = via_name((enum via)row->via),
			.signal = row->signal,
			.ns = row->ns,
			.count = row->count,
		};
	if (list && sort_rows(list, *ret_nr = (size_t)(at - list), sizeof(*list), order))
		return list;
	free(list);
	return NULL;
}

/* ---- the cause of the kept waits ---- */

/* sigtimedwait(): a signal that it does not wait for interrupts it. */
static bool waits_for_some_signals(const struct trace_analysis *a, const struct frame *frame)
{
	return strncmp(strings_text(&a->strings, a->calls[frame->call].name), "rt_sigtimedwait", 15) == 0;
}

/* A signal with a handler ends these calls in any case. */
static bool ends_by_signal(const struct trace_analysis *a, const struct frame *frame)
{
	switch (frame_class(a, frame)) {
	case CALL_PAUSE:
		return !waits_for_some_signals(a, frame);
	case CALL_AIO:
	case CALL_EPOLL_WAIT:
	case CALL_POLL:
	case CALL_SELECT:
	case CALL_URING_ENTER:
		return true;
	default:
		return false;
	}
}

/* A signal with a handler, or one that killed the thread, ended the call as a matter of course. */
static bool signal_ended(const struct trace_analysis *a, const struct interrupted_call *call)
{
	uint8_t signal = call->waits[call->nr - 1].waker.by_signal;

	return !call->goes_on && ends_by_signal(a, &call->frame) &&
	       (call->had_handler || (signal && !signal_stops(signal)));
}

/* The cause of the first @nr kept waits if the call does not go on. */
static struct wait_cause alone(struct trace_analysis *a, struct trace_thread *thread,
			       const struct interrupted_call *call, uint32_t nr)
{
	struct pending wait = call->waits[nr - 1];
	struct wait_cause v;
	bool is_vague;

	wait.by_request = call->by_request;
	if (!call->by_request && !signal_ended(a, call)) {
		memset(&wait.waker, 0, sizeof(wait.waker));
		wait.waker.call = CALL_UNKNOWN;
		wait.cut = wait.interrupted = true;
	}
	v = wait_decide(a, thread, &wait);
	is_vague = v.kind != TRACE_WAIT_PROCESS || v.target == PROCESS_SEVERAL || v.target == PROCESS_UNKNOWN;
	return is_vague && wait.interrupted && call->first.kind == TRACE_WAIT_PROCESS ? call->first : v;
}

/*
 * A wait for the lock that the call got. A release in an earlier wait tells no owner of this one:
 * the thread did not get the lock then.
 */
static void account_lock(struct trace_analysis *a, struct trace_thread *thread, const struct pending *wait,
			 const struct wait_cause *cause)
{
	struct waker release = thread->interrupted->release;
	uint64_t release_ns = thread->interrupted->release_ns;

	if (release_ns < wait->to) {
		release.thread = NULL;
		release_ns = wait->to;
	}
	pending_split(a, thread, wait, cause, &release, release_ns);
}

/* Account the first @nr kept waits, in the frame of their call. @known: their cause; NULL: none */
static void decide(struct trace_analysis *a, struct trace_thread *thread, uint32_t nr, const struct wait_cause *known)
{
	struct interrupted_call *call = thread->interrupted;
	struct frame frame = thread->frames[0];
	uint8_t depth = thread->depth;
	char *path = thread->path;
	bool ended = !known && (call->by_request || signal_ended(a, call));
	struct wait_cause cause;

	thread->frames[0] = call->frame;
	thread->depth = 1;
	thread->path = path_of(call);
	cause = known ? *known : alone(a, thread, call, nr);
	for (uint32_t i = 0; i < nr; i++) {
		if (!ended || i + 1 < call->nr)
			interruption_add(a, thread, call->frame.call, &call->waits[i]);
		if (known && call->release.lock) {
			account_lock(a, thread, &call->waits[i], &cause);
			continue;
		}
		memset(&call->waits[i].waker, 0, sizeof(call->waits[i].waker));
		pending_account(a, thread, &call->waits[i], &cause);
	}
	memmove(call->waits, call->waits + nr, (call->nr - nr) * sizeof(call->waits[0]));
	call->nr -= nr;
	thread->frames[0] = frame;
	thread->depth = depth;
	thread->path = path;
}

static void decide_first(struct trace_analysis *a, struct trace_thread *thread)
{
	struct interrupted_call *call = thread->interrupted;
	uint64_t last_wait = thread->last_wait, last_wait_ns = thread->last_wait_ns;

	if (!ends_by_signal(a, &call->frame) ||
	    (frame_class(a, &call->frame) == CALL_URING_ENTER && !signal_ended(a, call)))
		call->first = alone(a, thread, call, call->nr);
	thread->last_wait = last_wait;
	thread->last_wait_ns = last_wait_ns;
}

static void end(struct trace_analysis *a, struct trace_thread *thread, const struct wait_cause *known)
{
	if (thread->interrupted->nr)
		decide(a, thread, thread->interrupted->nr, known);
	free(thread->interrupted);
	thread->interrupted = NULL;
	thread->is_interrupted = false;
	a->nr_interrupted--;
}

void interrupted_end(struct trace_analysis *a, struct trace_thread *thread)
{
	end(a, thread, NULL);
}

void interrupted_mark(const struct trace_thread *thread, uint64_t *files)
{
	const struct interrupted_call *call = thread->interrupted;

	if (!call)
		return;
	files[call->frame.file / 64] |= 1ull << call->frame.file % 64;
	for (uint32_t i = 0; i < call->nr; i++) {
		const struct waker *waker = &call->waits[i].waker;

		files[waker->file / 64] |= 1ull << waker->file % 64;
		files[waker->second_file / 64] |= 1ull << waker->second_file % 64;
	}
}

/* ---- the way of a call ---- */

static bool is_same_call(const struct trace_analysis *a, const struct interrupted_call *call, const struct frame *frame)
{
	if (frame_class(a, frame) == CALL_URING_ENTER) /* it has submitted its requests */
		return frame->call == call->frame.call && frame->args[0] == call->frame.args[0];
	return frame->call == call->frame.call && frame->nr_args == call->frame.nr_args &&
	       memcmp(frame->args, call->frame.args, frame->nr_args * sizeof(frame->args[0])) == 0;
}

/* The timeout may be another: the program may have computed what is left of it. */
static bool polls_the_same(const struct interrupted_call *call, const struct frame *frame)
{
	return frame->call == call->frame.call && frame->nr_args >= 2 && frame->nr_args == call->frame.nr_args &&
	       memcmp(frame->args, call->frame.args, 2 * sizeof(frame->args[0])) == 0;
}

static bool goes_on_with(const struct trace_analysis *a, const struct interrupted_call *call, const struct frame *frame)
{
	if (!call->had_handler || !ends_by_signal(a, &call->frame))
		return is_same_call(a, call, frame);
	return (frame_class(a, frame) == CALL_URING_ENTER ? is_same_call(a, call, frame)
							  : polls_the_same(call, frame)) &&
	       frame->begin.ns - call->returned_ns <= AT_ONCE_NS;
}

static bool keep(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame)
{
	const char *path = frame->has_path ? thread->path : "";
	size_t bytes = strlen(path) + 1;
	struct thread_rare *rare = thread_rare(a, thread);
	struct interrupted_call *call = rare ? calloc(1, bytes_of(FIRST_ROOM, bytes)) : NULL;

	if (!call) {
		a->failed = -ENOMEM;
		return false;
	}
	call->frame = *frame;
	call->room = FIRST_ROOM;
	memcpy(path_of(call), path, bytes);
	thread->interrupted = call;
	thread->is_interrupted = true;
	rare->interrupted_ns = frame->begin.ns;
	a->nr_interrupted++;
	return true;
}

/* exit_group() wakes all threads of the process so that they exit: wait.c names that. */
static bool is_woken_to_die(const struct trace_analysis *a, const struct trace_thread *thread,
			    const struct waker *waker)
{
	return waker->thread && waker->thread->process == thread->process && a->calls[waker->call].class == CALL_EXIT;
}

/*
 * A signal woke the thread, but what it waited for was there before the thread ran. So the call
 * returned that, and the sender of the signal is not the process that it waited for. The child that
 * wait4() returns is known (wait_call.c).
 */
static bool came_with_signal(const struct trace_analysis *a, const struct trace_thread *thread,
			     const struct frame *frame, const struct pending *last)
{
	bool goes_on = thread->is_interrupted && thread->interrupted->goes_on;

	return last->waker.by_signal && frame_class(a, frame) != CALL_PAUSE && !ends_by_signal(a, frame) &&
	       (goes_on || frame_class(a, frame) != CALL_WAIT) &&
	       file_via(a, frame->file) != VIA_SIGNAL; /* a signalfd: it waits for signals */
}

/* The call returned the number of its submitted requests, and none of them was complete. */
static bool is_interrupted_ring(const struct trace_analysis *a, const struct frame *frame, const struct pending *last,
				int64_t ret)
{
	return ret >= 0 && frame_class(a, frame) == CALL_URING_ENTER && !last->waker.ring_file &&
	       via_of(a, &last->waker) != VIA_NONE;
}

static bool room_for_wait(struct trace_analysis *a, struct trace_thread *thread)
{
	struct interrupted_call *call = thread->interrupted;
	size_t bytes = strlen(path_of(call)) + 1;
	uint32_t room = 2 * call->room;

	if (call->nr < call->room)
		return true;
	call = realloc(call, bytes_of(room, bytes));
	if (!call) {
		a->failed = -ENOMEM;
		return false;
	}
	memmove(call->waits + room, path_of(call), bytes);
	call->room = room;
	thread->interrupted = call;
	return true;
}

/*
 * Events are missing in the wait. A wait that ended while a hidden thread ran, so without a wakeup,
 * is complete if the kernel enters the call again: the result shows that it was interrupted.
 */
static bool misses(const struct pending *wait, int64_t ret)
{
	return wait->cut && (wait->known_ns != wait->to - wait->from || ret == -LINUX_EINTR);
}

void interrupted_return(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	struct pending *last = &thread->pending[thread->nr_pending - 1];
	struct interrupted_call *call;
	bool is_over = !(is_interruption(ret) || is_interrupted_ring(a, frame, last, ret));

	if (is_over && last->waker.closes)
		last->waker.by_signal = 0; /* the kernel closes files before it sends SIGCHLD */
	if ((is_over && !came_with_signal(a, thread, frame, last)) || last->depth != 1 || misses(last, ret) ||
	    frame->call == CALL_UNKNOWN || is_woken_to_die(a, thread, &last->waker) ||
	    (last->task_state & TASK_STATE_QUOTA))
		return;
	if (thread->is_interrupted && !(thread->interrupted->goes_on && is_same_call(a, thread->interrupted, frame)))
		interrupted_end(a, thread);
	if (!thread->is_interrupted && !keep(a, thread, frame))
		return;
	call = thread->interrupted;
	if (call->nr == MAX_WAITS) {
		decide(a, thread, MAX_WAITS / 2, NULL);
		if (a->failed)
			return;
	}
	if (!room_for_wait(a, thread))
		return;
	call = thread->interrupted;
	call->waits[call->nr++] = *last;
	call->returned_ns = a->now;
	call->goes_on = is_over;
	call->had_handler = false;
	thread->nr_pending--;
	if (call->nr == 1)
		decide_first(a, thread);
}

void interrupted_at_once(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret)
{
	if (ret != LAST_RESTART || frame->call == CALL_UNKNOWN)
		return;
	if (thread->is_interrupted && thread->interrupted->returned_ns == a->now)
		return; /* its last wait was kept */
	if (thread->is_interrupted && !(thread->interrupted->goes_on && is_same_call(a, thread->interrupted, frame)))
		interrupted_end(a, thread);
	if (!thread->is_interrupted && !keep(a, thread, frame))
		return;
	thread->interrupted->returned_ns = a->now;
	thread->interrupted->goes_on = thread->interrupted->had_handler = false;
}

void interrupted_enter(struct trace_analysis *a, struct trace_thread *thread, struct frame *frame)
{
	struct interrupted_call *call = thread->interrupted;
	uint32_t flags = a->calls[frame->call].flags;

	if (flags & CALL_RESTARTS) {
		struct frame again = call->frame;

		again.begin = frame->begin;
		*frame = again;
		frame->fd_seen = frame->file_seen = false;
		call->goes_on = true;
	} else if (goes_on_with(a, call, frame)) {
		memcpy(call->frame.args, frame->args, frame->nr_args * sizeof(frame->args[0]));
		call->goes_on = true;
	} else if ((flags & CALL_ENDS_HANDLER) && call->handlers) {
		call->handlers--;
	} else if (!call->handlers || ends_by_signal(a, &call->frame) || ++call->nr_others > MAX_OTHERS) {
		interrupted_end(a, thread);
	}
}

/* Does the end of @call show that the latest request that @thread completed had a result for it? */
static bool ended_by_request(const struct trace_analysis *a, const struct trace_thread *thread,
			     const struct interrupted_call *call)
{
	const struct trace_process *process = thread->process;
	enum call_class class = frame_class(a, &call->frame);
	enum via via = file_via(a, call->frame.file);
	bool has_results = via == VIA_URING || via == VIA_EVENTFD || class == CALL_POLL || class == CALL_SELECT ||
			   class == CALL_EPOLL_WAIT;

	return has_results && call->nr && via_of(a, &call->waits[call->nr - 1].waker) == VIA_NONE &&
	       process->uring_by == thread->tid && process->uring_ns >= call->returned_ns;
}

void interrupted_left(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, uint64_t from)
{
	struct interrupted_call *call = thread->interrupted;
	struct wait_cause last = wait_of_key(thread->last_wait);
	bool decides = thread->last_wait_ns > from && last.kind != TRACE_WAIT_UNKNOWN && last.kind != TRACE_WAIT_OTHER;

	if (!call->goes_on)
		return;
	decides &= frame->call == call->frame.call && frame->nr_args == call->frame.nr_args;
	if (decides) /* futex_waitv(2): the futex that ended it is known only now */
		memcpy(call->frame.args, frame->args, frame->nr_args * sizeof(frame->args[0]));
	else if (call->had_handler) /* the program polled again, but did not wait */
		call->goes_on = false;
	else
		call->by_request = ended_by_request(a, thread, call);
	end(a, thread, decides ? &last : NULL);
}

void interrupted_released(struct trace_thread *thread, const struct pending *wait)
{
	if (!thread->interrupted->goes_on || wait->depth != 1)
		return;
	thread->interrupted->release = wait->waker;
	thread->interrupted->release_ns = wait->to;
}

/*
 * The first signal that is delivered after the interruption is what woke the thread, if the wakeup
 * shows nothing else: no event of a signal follows the wakeup by a child that exits.
 */
static void learn_signal(const struct trace_analysis *a, struct interrupted_call *call, uint32_t signal)
{
	struct waker *waker = call->nr ? &call->waits[call->nr - 1].waker : NULL;

	if (waker && !call->goes_on && !call->had_handler && via_of(a, waker) == VIA_NONE)
		waker->by_signal = (uint8_t)signal;
}

void interrupted_signal(struct trace_analysis *a, struct trace_thread *thread,
			const struct trace_signal_deliver *delivered)
{
	learn_signal(a, thread->interrupted, delivered->signal);
	if (delivered->handler < FIRST_HANDLER)
		return;
	thread->interrupted->handlers++;
	thread->interrupted->had_handler = true;
	if (frame_class(a, &thread->interrupted->frame) == CALL_PAUSE && ends_by_signal(a, &thread->interrupted->frame))
		interrupted_end(a, thread);
}

void interrupted_user_event(struct trace_analysis *a, struct trace_thread *thread)
{
	if (thread && thread->is_interrupted && !thread->depth)
		interrupted_end(a, thread);
}
