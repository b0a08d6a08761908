/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INTERRUPTED_H
#define ANALYZER_INTERRUPTED_H
/* interrupted.h - calls that something interrupted while their thread waited, and their waits */
#include <stdbool.h>
#include <stdint.h>

struct frame;
struct pending;
struct trace_analysis;
struct trace_signal_deliver;
struct trace_thread;

/* see interrupted.c */
struct interruption_row {
	uint64_t key;
	uint32_t process, by; /* indexes; @by 0: no process */
	uint32_t call;
	uint8_t via;	/* enum via */
	uint8_t signal; /* 0: none */
	uint64_t ns;
	uint64_t count;
};

/**
 * interrupted_return() - keep the last wait of the call @frame of @thread, which returns @ret, if
 * the call was interrupted
 */
void interrupted_return(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret);
/**
 * interrupted_at_once() - the same for a call that has no wait to keep: restart_syscall() may
 * continue it
 */
void interrupted_at_once(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, int64_t ret);
/** interrupted_enter() - @thread, which has interrupted waits, enters the call @frame */
void interrupted_enter(struct trace_analysis *a, struct trace_thread *thread, struct frame *frame);
/**
 * interrupted_left() - @thread, which has interrupted waits, has left the call @frame, and the
 * waits in it are decided
 * @from: when it entered the call
 */
void interrupted_left(struct trace_analysis *a, struct trace_thread *thread, const struct frame *frame, uint64_t from);
/** interrupted_end() - decide the interrupted waits of @thread: the call does not go on */
void interrupted_end(struct trace_analysis *a, struct trace_thread *thread);
/** interrupted_signal() - a signal is delivered to @thread, which has interrupted waits */
void interrupted_signal(struct trace_analysis *a, struct trace_thread *thread,
			const struct trace_signal_deliver *delivered);
/**
 * interrupted_released() - @thread, which has interrupted waits, has got a lock after the wait
 * @wait, in a call that may go on
 */
void interrupted_released(struct trace_thread *thread, const struct pending *wait);
/** interrupted_user_event() - the program of @thread, which may be NULL, does something else */
void interrupted_user_event(struct trace_analysis *a, struct trace_thread *thread);
/** interrupted_mark() - mark the files of the interrupted waits of @thread in the bit set @files */
void interrupted_mark(const struct trace_thread *thread, uint64_t *files);

/** signal_stops() - does @signal stop a process? */
bool signal_stops(uint32_t signal);
#endif
