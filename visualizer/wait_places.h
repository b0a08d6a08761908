/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_WAIT_PLACES_H
#define VISUALIZER_WAIT_PLACES_H
/*
 * wait_places.h - the functions in which threads waited, and those in which they used the CPUs, for
 * reports that are no profile
 *
 * They are known from stacks of waits and from samples (tracedaemon --sample). Names are looked up
 * when a report asks for them.
 */
#include <trace/analysis.h>
#include <trace/critical_path.h>

struct report;
struct string;
struct wait_places;

/**
 * struct wait_place - the function of the program with the most time of a wait, or of CPU time
 * @function: "" if it has no name; NULL: not known where. @file: of it
 * @ns: of that time, there. @of_ns: of that time
 * @woken_in: of a wait, where most of it was ended: profile_waker_name(); "" or NULL if that is not
 *     known. @woken_in_ns: so much of it
 */
struct wait_place {
	const char *function;
	const char *file;
	uint64_t ns, of_ns;
	const char *woken_in;
	uint64_t woken_in_ns;
};

/** wait_places_new() - after the pass; NULL: the trace has neither stacks of waits nor samples */
struct wait_places *wait_places_new(const struct report *report);
struct wait_places *wait_places_free(struct wait_places *places); /* NULL is fine; returns NULL */
/**
 * wait_places_told() - none but those that wait_places_tell() adds: the function in which a thread
 * used the CPUs most in its own code
 * It returns @place with a copy of its name, which @places owns.
 */
struct wait_places *wait_places_told(void);
struct wait_place wait_places_tell(struct wait_places *places, const struct trace_thread *thread,
				   const struct wait_place *place);
/** wait_places_tell_wait() - the same of the wait that wait_place_key() gave @key */
struct wait_place wait_places_tell_wait(struct wait_places *places, const char *key, const struct wait_place *place);
/** wait_places_know() - there are stacks of waits, or with @of_cpu samples; NULL is fine */
bool wait_places_know(const struct wait_places *places, bool of_cpu);
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
/** wait_place_key() - add the words by which wait_place_of_program() finds a wait; no NUL */
void wait_place_key(const struct trace_path_segment *segment, struct string *key);
/**
 * wait_place_text() - "flush_orders", "read_all 64 %", "(not known)"
 * It adds nothing if the trace has no stacks of waits.
 */
void wait_place_text(const struct wait_place *place, struct string *text);
/** wait_place_waker_text() - "release_order", "(timer) 64 %"; nothing if it is not known */
void wait_place_waker_text(const struct wait_place *place, struct string *text);

/** enum cpu_part - CPU time in own code; in calls and other work of the kernel; in traps */
enum cpu_part { CPU_ALL, CPU_OWN_CODE, CPU_KERNEL, CPU_TRAPS, NR_CPU_PARTS };
/**
 * cpu_place_of_process() - of its CPU time; cpu_place_of_thread(): the same of a thread;
 * cpu_place_of_title(): of all processes with this title
 */
struct wait_place cpu_place_of_process(struct wait_places *places, const struct trace_process *process,
				       enum cpu_part part);
struct wait_place cpu_place_of_thread(struct wait_places *places, const struct trace_thread *thread,
				      enum cpu_part part);
struct wait_place cpu_place_of_title(struct wait_places *places, const struct trace_analysis *analysis,
				     const char *title);
/**
 * cpu_place_text() - "sort_rows 64 %"; nothing if no function has a quarter of the time, or if the
 * one that has most of it has no name
 */
void cpu_place_text(const struct wait_place *place, struct string *text);
#endif
