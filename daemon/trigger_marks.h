/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_TRIGGER_MARKS_H
#define DAEMON_TRIGGER_MARKS_H
/*
 * trigger_marks.h - what the triggers of a flight recorder need of the records that are drained
 *
 * Each sub-buffer is read once more, before it is packed, and the few records that a trigger needs
 * become marks. The rings are drained one after the other, so the marks are put into the order of
 * their times before triggers.c looks at them. Without triggers nothing is read.
 */
#include <stddef.h>
#include <stdint.h>
#include <trace/writer.h>

#include "save_on.h"

enum mark_kind {
	MARK_SWITCH, /* @tid left the CPU in @state, and @other runs now */
	MARK_WAKING, /* @tid is woken */
	MARK_SIGNAL, /* @tid gets the signal @other */
	MARK_EVENT,
	MARK_BEGIN, /* of the scope @other */
	MARK_END,
	MARK_CALL,   /* a system call begins on the CPU */
	MARK_RETURN, /* the call on the CPU ends */
	MARK_NAME,   /* @tid has a name of @rules: of a program that it runs (@other is 1), or its own */
	MARK_FORK,   /* @other made @tid, which has its name */
	MARK_FREE,   /* @tid is gone */
	MARK_LOST,   /* events are missing before: what was under way is not known any more */
};

/**
 * struct trigger_mark - one record
 * @tid: of events of programs: the thread as the program sees it; 0: the one on the CPU
 * @rules: the values of --save-on that it concerns, a bit each
 * @producer: tells programs apart; -1: the kernel
 * @order: of marks of the same time
 */
struct trigger_mark {
	uint64_t ns;
	uint32_t order;
	uint32_t cpu;
	uint32_t tid;
	uint32_t other;
	uint32_t state;
	uint32_t rules;
	int32_t producer;
	enum mark_kind kind;
};

struct trigger_marks;

/**
 * trigger_marks_new() - @rules, @writer: borrowed until trigger_marks_free(); the writer knows the
 * types of programs. NULL: no memory
 */
struct trigger_marks *trigger_marks_new(const struct save_on *rules, size_t nr_rules,
					const struct trace_writer *writer);
struct trigger_marks *trigger_marks_free(struct trigger_marks *marks); /* NULL is fine; returns NULL */

/** trigger_marks_read() - make the marks of a sub-buffer */
void trigger_marks_read(struct trigger_marks *marks, const struct trace_source *source, int producer);

/**
 * trigger_marks_take() - deliver all marks up to @until_ns in time order, and forget them
 */
void trigger_marks_take(struct trigger_marks *marks, uint64_t until_ns,
			void (*take)(void *context, const struct trigger_mark *mark), void *context);
#endif
