/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_STEPS_H
#define TESTS_STEPS_H
/*
 * steps.h - the cost of a trace for tracevisualizer, in steps instead of time.
 *
 * A test with this header contains the reader, the analysis and tracevisualizer. They are built so
 * that each branch calls a function in steps.c, which counts it as a step. The test runs a story
 * with N threads, files or chunks, then with 2 N, and then with 4 N. With constant cost per thing,
 * the additional steps double: from N to 2 N it costs N more, from 2 N to 4 N it costs 2 N more.
 * With a search among all things for each of them, they quadruple: 3 N^2 more and 12 N^2 more.
 * TRACE_STORY=file in the environment keeps the last story.
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

/**
 * struct story - a trace under construction
 * @streams: of the CPUs, of two programs, and of the start state
 * @ns: time of the last event
 */
struct story {
	struct trace_writer *writer;
	struct trace_source streams[NR_STREAMS];
	uint64_t ns;
	int fd;
};

void flush(struct story *story, struct trace_source *stream);
void add(struct story *story, struct trace_source *stream, uint64_t ns, uint16_t id, const void *payload, size_t bytes,
	 const char *text);

/* Adds an event on CPU @of, one ns after the last event of all. */
#define EVENT(story, of, name, text, ...)                                                                      \
	add(story, &(story)->streams[of], ++(story)->ns, TRACE_EV_##name, &(struct trace_##name){__VA_ARGS__}, \
	    sizeof(struct trace_##name), text)
/* Adds an event of the start state. */
#define BEFORE(story, name, text, ...)                                                                   \
	add(story, &(story)->streams[START], 1000, TRACE_EV_##name, &(struct trace_##name){__VA_ARGS__}, \
	    sizeof(struct trace_##name), text)

void thread(struct story *story, uint32_t tid, uint32_t tgid, int32_t call);
void run(struct story *story, uint32_t cpu, uint32_t from, uint32_t to);
void enter(struct story *story, uint32_t cpu, uint32_t call, uint64_t first);
void leave(struct story *story, uint32_t cpu, int64_t result);
/** lose() - lose an event of @stream here */
void lose(struct story *story, struct trace_source *stream);

/** tell_fn - write a story with @nr things */
typedef void (*tell_fn)(struct story *story, uint32_t nr);

/**
 * each_costs_the_same() - assert that the report of @option takes constant steps per thing of @tell
 * @option: VIEW: each question of the view instead, whose answer has constant bytes per thing, too
 * Returns whether this holds. TRACE_STEPS=1 in the environment prints all figures.
 */
bool each_costs_the_same(tell_fn tell, uint32_t nr, const char *option);
#define VIEW "view"
/** struct view_cost - of one question: branches, and bytes of its answer */
struct view_cost {
	uint64_t steps, bytes;
};
/** view_cost_of() - the cost of @question, one of those in steps.c, with @nr things of @tell */
struct view_cost view_cost_of(tell_fn tell, uint32_t nr, const char *question);
/** each_costs_the_same_shown() - the same for -a and the view */
bool each_costs_the_same_shown(tell_fn tell, uint32_t nr);

/** steps_user_type() - the id of a program's event with a number, which the first call makes */
uint16_t steps_user_type(struct story *story, const char *name, enum trace_event_role role);

#endif
