/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PART_CONTEXT_H
#define LIBTRACE_PART_CONTEXT_H
/*
 * part_context.h - the call or interrupt in which an event happened: the events since it began.
 *
 * An event that is kept outside of a part is kept with its context, because it means nothing
 * without: the descriptor that a call returned belongs to the call, and a wakeup is of the packet
 * that an interrupt received.
 */
#include <trace/error.h>
#include "hash_table.h"
#include "part_choice.h"

/**
 * struct part_context - of a thread, or of the interrupts of a CPU
 * @events: numbers of the events since it began; owned
 * @depth: calls or interrupts inside each other; 0: the thread is in user mode
 * @is_kept: what follows in it is kept, too
 * @is_new: of a thread, until its first call ends, or a few runs: its first events tell what it did
 *     before
 * @is_at_start: of a thread: no call of it has ended yet, so it may be in one
 * @is_kernel: a thread of the kernel: it has none
 * @is_awaited: of a thread, after the part: its call or wait is not over
 */
struct part_context {
	uint64_t *events;
	size_t nr, room;
	uint32_t depth;
	uint32_t nr_runs;
	bool is_kept, is_awaited, was_kept, is_new, is_at_start, is_kernel;
};

/**
 * struct part_cpu - @current: the thread on it; NULL: idle, or not known
 * @slice: the interrupts since the last switch: a wait for the CPU is charged with a part of them
 */
struct part_cpu {
	struct part_context *current;
	struct part_context interrupts, slice;
	bool switched;
};

/**
 * struct part_stream - a row of a table. @last: number of its last event + 1
 * @nr: its events so far
 */
struct part_stream {
	uint64_t key; /* stream + 1 */
	uint64_t last;
	uint64_t nr;
	size_t next_loss;
};

/** struct part_loss - before event number @before of a stream, @lost others are missing */
struct part_loss {
	uint32_t stream;
	uint16_t cause;
	uint64_t before;
	uint64_t lost;
};
struct part_losses {
	struct part_loss *at; /* owned */
	size_t nr;
};
/** part_losses_of() - what the chunks of @trace declare; 0 or -ENOMEM */
int part_losses_of(const struct trace *trace, struct part_losses *ret_losses) TRACE_NODISCARD;
/** part_loss_next() - the loss right before the stream's next event, once; NULL: there is none */
const struct part_loss *part_loss_next(const struct part_losses *losses, struct part_stream *stream);

/** part_keep() - keep the event with this number */
void part_keep(struct part_choice *choice, uint64_t event);
/** part_count() - make room for the bit of one more event, and return its number */
uint64_t part_count(struct part_choice *choice);

void context_add(struct part_choice *choice, struct part_context *context, uint64_t event);
void context_clear(struct part_context *context);
/** context_keep() - keep all events of @context until now */
void context_keep(struct part_choice *choice, struct part_context *context);
/** context_thread() - that of thread @tid in @threads; NULL: tid 0, the idle thread */
struct part_context *context_thread(struct part_choice *choice, struct hash_table *threads, uint32_t tid);
/** struct part_thread_row - a row of that table */
struct part_thread_row {
	uint64_t key;
	struct part_context *context; /* owned */
};
#endif
