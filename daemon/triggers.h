/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_TRIGGERS_H
#define DAEMON_TRIGGERS_H
/*
 * triggers.h - decides from the recorded events whether a value of --save-on is fulfilled
 *
 * A wait is the time from the switch that takes a thread off its CPU, because it cannot run, until
 * it is woken. It is reported as soon as it is longer than the limit, even if it has not ended.
 * Without a name only waits count that no signal ends (for disks, memory, locks of the kernel): on
 * every machine many threads rest for seconds. With a name every wait of that thread or program
 * counts.
 *
 * One thread.
 */
#include <stddef.h>
#include <stdint.h>
#include <trace/tracer.h>

#include "save_on.h"
#include "trigger_marks.h"

#define TRIGGER_TEXT_BYTES 200

/**
 * struct trigger_hit - @text: what happened: "postgres (13786) waited 429 ms". @ns: when
 * @tid: the thread; 0: none. @begin_ns: of what it did for so long; @ns if it has no length
 */
struct trigger_hit {
	const struct save_on *on;
	uint64_t ns;
	uint32_t tid;
	uint64_t begin_ns;
	char text[TRIGGER_TEXT_BYTES];
};

typedef void (*trigger_fn)(void *context, const struct trigger_hit *hit);

struct triggers;

/**
 * triggers_new() - @rules: borrowed until triggers_free(). @tracer: borrowed, to find processes;
 * NULL: no names are found. NULL: no memory
 */
struct triggers *triggers_new(const struct save_on *rules, size_t nr_rules, struct tracer *tracer, trigger_fn hit,
			      void *context);
struct triggers *triggers_free(struct triggers *triggers); /* NULL is fine; returns NULL */

/** triggers_run() - look at all marks up to @until_ns, and at what lasts until then */
void triggers_run(struct triggers *triggers, struct trigger_marks *marks, uint64_t until_ns);
#endif
