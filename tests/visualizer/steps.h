/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_STEPS_H
#define TESTS_STEPS_H
/*
 * steps.h - what a trace costs tracevisualizer, in steps instead of time.
 *
 * A test that uses this has the reader, the analysis and tracevisualizer as a part of its own, built so that each branch of them calls a function in steps.c: that
 * counts. The same story is told with so many threads, files or chunks, with twice and with four times as many. Each time there are twice as many more the steps
 * that come on top double, if each costs the same, and are four times as many where each is looked for among all others. TRACE_STORY=file in the environment
 * keeps the last story.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/format.h>
#include <trace/writer.h>
#include "unit.h"

enum {
	ONE = 100,
	OTHER = 200,
	MANY = 1000,
	NR_CPU_STREAMS = 3,
	PROGRAM = NR_CPU_STREAMS,
	OTHER_PROGRAM,
	START,
	NR_STREAMS
};

/** struct story - a trace in the making. @streams: of CPUs, then of two programs, then what was there before; @ns: of its last event */
struct story {
	struct trace_writer *writer;
	struct trace_source streams[NR_STREAMS];
	uint64_t ns;
	int fd;
};

void flush(struct story *story, struct trace_source *stream);
void add(struct story *story, struct trace_source *stream, uint64_t ns, uint16_t id, const void *payload, size_t bytes,
	 const char *text);

/* On CPU @of, as the next event of all. */
#define EVENT(story, of, name, text, ...)                                                                              \
	add(story, &(story)->streams[of], ++(story)->ns, TRACE_EV_##name, &(struct trace_##name){__VA_ARGS__},         \
	    sizeof(struct trace_##name), text)
/* What was there at the start, or is still there at the end. */
#define BEFORE(story, name, text, ...)                                                                                 \
	add(story, &(story)->streams[START], 1000, TRACE_EV_##name, &(struct trace_##name){__VA_ARGS__},               \
	    sizeof(struct trace_##name), text)

void thread(struct story *story, uint32_t tid, uint32_t tgid, int32_t call);
void run(struct story *story, uint32_t cpu, uint32_t from, uint32_t to);
void enter(struct story *story, uint32_t cpu, uint32_t call, uint64_t first);
void leave(struct story *story, uint32_t cpu, int64_t result);
/** lose() - an event of @stream is lost here */
void lose(struct story *story, struct trace_source *stream);

/** tell_fn - @nr of whatever it is about */
typedef void (*tell_fn)(struct story *story, uint32_t nr);

/** each_costs_the_same() - asserts that the report of @option takes twice as many more steps for twice as much more of what @tell is about; returns if so */
bool each_costs_the_same(tell_fn tell, uint32_t nr, const char *option);
#endif
