/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine.c - the program that a self-contained page runs as WebAssembly: a trace in memory, and
 * answers to questions about it (docs/VIEW.md).
 *
 * The page copies the trace to memory of engine_take(), and calls engine_open() once. Then it calls
 * engine_step() until the pass is complete, and engine_ask() meanwhile. Messages go to descriptor
 * 2. An engine that lacks memory ends with exit status 1.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace/reader.h>
#include "complain.h"
#include "view_session.h"

#define EXPORTED(name) __attribute__((export_name(#name))) name

void *EXPORTED(engine_take)(size_t bytes);
void EXPORTED(engine_give)(void *memory);
int EXPORTED(engine_open)(const unsigned char *bytes, size_t size, const char *name, uint64_t from_ns, uint64_t to_ns);
int EXPORTED(engine_step)(unsigned int step, unsigned int of);
size_t EXPORTED(engine_ask)(const char *question);
const char *EXPORTED(engine_answer)(void);

static struct view_session session;
static struct view_answer answer;

void *engine_take(size_t bytes)
{
	return malloc(bytes);
}

void engine_give(void *memory)
{
	free(memory);
}

/* A time in the clock of the trace, as an option would give it; 0: none is given. */
static struct time_point point_of(const struct trace *trace, uint64_t ns)
{
	return ns ? (struct time_point){.origin = TIME_AFTER_START, .ns = ns - trace_get_info(trace)->complete_from_ns}
		  : (struct time_point){0};
}

/*
 * @bytes stay as long as the engine. @from_ns, @to_ns: the window, in the clock of the trace; 0: it
 * is not given. Returns 0; 1 or 2 after a message.
 */
int engine_open(const unsigned char *bytes, size_t size, const char *name, uint64_t from_ns, uint64_t to_ns)
{
	struct visualizer_options options = {
		.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};
	struct trace_error error = {0};
	const struct trace *trace = trace_open_memory(bytes, size, name, &error);

	if (!trace)
		return complain_of_error(&error);
	options.window.from = point_of(trace, from_ns);
	options.window.to = point_of(trace, to_ns);
	return view_session_begin(&session, trace, &options);
}

/* view_session_step(): returns 1 at the end, 0 if events are left, -1 after a message. */
int engine_step(unsigned int step, unsigned int of)
{
	return view_session_step(&session, step, of);
}

/* Returns the bytes at engine_answer(), which stay until the next question. */
size_t engine_ask(const char *question)
{
	free(answer.bytes);
	answer = view_answer(&session, question);
	return answer.size;
}

const char *engine_answer(void)
{
	return answer.bytes;
}
