/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_WAIT_PLACES_H
#define VISUALIZER_WAIT_PLACES_H
/*
 * wait_places.h - the functions in which threads waited or ran, for reports that are no profile
 *
 * They are known from stacks of waits and samples (tracedaemon --sample). Names are looked up when
 * a report asks for them.
 */
#include <trace/analysis.h>
#include <trace/critical_path.h>

struct report;
struct string;
struct wait_places;

/**
 * struct wait_place - the function of the program with the most time of a wait
 * @function: "" if it has no name; NULL: not known where. @file: of it
 * @ns: of the wait, there. @of_ns: of the wait
 */
struct wait_place {
	const char *function;
	const char *file;
	uint64_t ns, of_ns;
};

/** wait_places_new() - after the pass; NULL: the trace has no stacks of waits */
struct wait_places *wait_places_new(const struct report *report);
struct wait_places *wait_places_free(struct wait_places *places); /* NULL is fine; returns NULL */
/**
 * wait_place_of_process() - of a row of its figures; wait_place_of_thread(): the same of a thread
 * @places: NULL: not known where
 */
struct wait_place wait_place_of_process(struct wait_places *places, const struct trace_process *process,
					const struct trace_wait *wait);
struct wait_place wait_place_of_thread(struct wait_places *places, const struct trace_thread *thread,
				       const struct trace_wait *wait);
/** wait_place_of_program() - of all threads with the name of @segment's that waited as it did */
struct wait_place wait_place_of_program(struct wait_places *places, const struct trace_path_segment *segment);
/**
 * run_place_of_process() - the function in which it was most of the time in its own code
 * Only with a profile of all samples.
 */
struct wait_place run_place_of_process(struct wait_places *places, const struct trace_process *process);
/**
 * wait_place_text() - "flush_orders", "read_all 64 %", "(not known)"
 * It adds nothing if the trace has no stacks of waits.
 */
void wait_place_text(const struct wait_place *place, struct string *text);
#endif
