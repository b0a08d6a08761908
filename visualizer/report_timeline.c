/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_timeline.c - tracevisualizer --timeline: the states of all threads over time, for a
 * viewer.
 *
 * The output is JSON in the "trace event format", which ui.perfetto.dev and chrome://tracing read.
 * A thread has a track, and each of its intervals is a slice on that track: its activity or its
 * wait. A wakeup is an arrow from the waker's track. A CPU has a track of the threads that ran on
 * it.
 *
 * The pass writes everything as it reads, so memory does not grow with the trace. The slices of a
 * thread are not in order, because the cause of a wait is known only after the wait; viewers sort
 * them. A name chooses by all that the trace tells of a process, as in other reports, so a pass
 * before this one finds the threads. Times are in microseconds from the start of the trace, with
 * three decimals, so they are exact to the nanosecond.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/param.h> /* MIN(), MAX() */
#include "checked_memory.h"
#include "complain.h"
#include "json.h"
#include "losses.h"
#include "process_choice.h"
#include "recorded.h"
#include "report_timeline.h"

#define CPU_TRACKS 0	/* the "process" of the CPU tracks: no process has this pid */
#define NAME_BYTES 4352 /* a path and some words */

#define SHORT_NAME_BYTES 64 /* a system call or an interrupt */

/*
 * The time slice of a CPU. Consecutive intervals of one thread on the CPU become one slice of its
 * track. Equal consecutive states become one slice of the thread's track.
 */
struct cpu_slice {
	const struct trace_thread *thread; /* NULL: no chosen thread */
	uint64_t from_ns;
	uint64_t to_ns;
	enum trace_state state;
	uint64_t state_from_ns;
	char name[SHORT_NAME_BYTES];
};

struct timeline_output {
	const struct report *report;
	struct json json;
	uint64_t start_ns; /* start of the trace */
	uint64_t from_ns;  /* the window to show */
	uint64_t to_ns;
	uint64_t nr_arrows;
	bool *chosen; /* owned; by index of the thread. NULL: @report's options choose */
	size_t nr_chosen;
	struct cpu_slice *slices; /* owned; one per CPU */
	size_t nr_slices, room_slices;
};

/* The indexes of threads are the same in each pass. */
static bool is_shown(const struct timeline_output *t, const struct trace_thread *thread)
{
	uint32_t index = trace_thread_index(thread);

	return t->chosen ? index < t->nr_chosen && t->chosen[index]
			 : process_is_chosen(&t->report->options->processes, trace_thread_process(thread));
}

/* ---- one event of the format ---- */

static void micros(struct json *json, const char *key, uint64_t ns)
{
	json_key(json, key);
	fprintf(json->out, "%" PRIu64 ".%03u", ns / 1000, (unsigned int)(ns % 1000));
}

static void event_begin(struct timeline_output *t, const char *phase, uint32_t pid, uint32_t tid)
{
	json_open(&t->json, NULL, "\n{");
	json_text(&t->json, "ph", phase);
	json_u64(&t->json, "pid", pid);
	json_u64(&t->json, "tid", tid);
}

static void slice_begin(struct timeline_output *t, uint32_t pid, uint32_t tid, uint64_t from_ns, uint64_t to_ns,
			const char *category, const char *name)
{
	event_begin(t, "X", pid, tid);
	micros(&t->json, "ts", from_ns - t->start_ns);
	micros(&t->json, "dur", to_ns - from_ns);
	json_text(&t->json, "cat", category);
	json_text(&t->json, "name", name);
}

static void event_end(struct timeline_output *t)
{
	json_close(&t->json, "}");
}

/* Names a track. */
static void track_named(struct timeline_output *t, const char *what, uint32_t pid, uint32_t tid, const char *name)
{
	event_begin(t, "M", pid, tid);
	json_text(&t->json, "name", what);
	json_open(&t->json, "args", "{");
	json_text(&t->json, "name", name);
	json_close(&t->json, "}");
	event_end(t);
}

/* ---- names of intervals ---- */

static void wait_name(const struct trace_interval *interval, char *name)
{
	const char *kind = trace_wait_kind_name(interval->kind), *via = *interval->via ? " via " : "";

	if (interval->kind == TRACE_WAIT_PROCESS && interval->other)
		snprintf(name, NAME_BYTES, "%s %s (%u)%s%s", kind, trace_process_title(interval->other),
			 trace_process_pid(interval->other), via, interval->via);
	else
		snprintf(name, NAME_BYTES, "%s%s%s%s%s", kind, *interval->target ? " " : "", interval->target, via,
			 interval->via);
}

static const char *on_cpu_name(const struct trace_interval *interval)
{
	bool is_named = interval->state == TRACE_STATE_SYSCALL || interval->state == TRACE_STATE_INTERRUPTED;

	if (interval->state == TRACE_STATE_TRAP)
		return "page fault";
	return is_named && interval->name ? interval->name : trace_state_name(interval->state);
}

/* ---- CPUs ---- */

static bool is_on_cpu(const struct trace_interval *interval)
{
	return interval->cpu >= 0 && interval->state != TRACE_STATE_WAIT_CPU && interval->state != TRACE_STATE_BLOCKED;
}

static void state_end(struct timeline_output *t, uint32_t cpu)
{
	const struct cpu_slice *slice = &t->slices[cpu];

	slice_begin(t, trace_process_pid(trace_thread_process(slice->thread)), trace_thread_tid(slice->thread),
		    slice->state_from_ns, slice->to_ns, trace_state_name(slice->state), slice->name);
	json_open(&t->json, "args", "{");
	json_u64(&t->json, "cpu", cpu);
	json_close(&t->json, "}");
	event_end(t);
}

static void cpu_slice_end(struct timeline_output *t, uint32_t cpu)
{
	struct cpu_slice *slice = &t->slices[cpu];

	if (!slice->thread)
		return;
	state_end(t, cpu);
	slice_begin(t, CPU_TRACKS, cpu, slice->from_ns, slice->to_ns, "cpu", trace_thread_comm(slice->thread));
	json_open(&t->json, "args", "{");
	json_u64(&t->json, "pid", trace_process_pid(trace_thread_process(slice->thread)));
	json_u64(&t->json, "tid", trace_thread_tid(slice->thread));
	json_close(&t->json, "}");
	event_end(t);
	slice->thread = NULL;
}

static void make_room(struct timeline_output *t, uint32_t cpu)
{
	for (; t->nr_slices <= cpu; t->nr_slices++) {
		t->slices = memory_grow(t->slices, t->nr_slices, &t->room_slices, sizeof(*t->slices));
		t->slices[t->nr_slices] = (struct cpu_slice){0};
	}
}

static void cpu_slice_continue(struct timeline_output *t, const struct trace_interval *interval, uint64_t from_ns,
			       uint64_t to_ns)
{
	uint32_t cpu = (uint32_t)interval->cpu;
	const char *name = on_cpu_name(interval);
	struct cpu_slice *slice;

	make_room(t, cpu);
	slice = &t->slices[cpu];
	if (slice->thread != interval->thread || slice->to_ns != from_ns) {
		cpu_slice_end(t, cpu);
		*slice = (struct cpu_slice){.thread = interval->thread,
					    .from_ns = from_ns,
					    .state = interval->state,
					    .state_from_ns = from_ns};
	} else if (slice->state != interval->state || strncmp(slice->name, name, sizeof(slice->name) - 1) != 0) {
		state_end(t, cpu);
		slice->state = interval->state;
		slice->state_from_ns = from_ns;
	}
	snprintf(slice->name, sizeof(slice->name), "%s", name);
	slice->to_ns = to_ns;
}

/* ---- threads ---- */

static void arrow_end(struct timeline_output *t, const char *phase, const struct trace_thread *thread, uint64_t ns)
{
	event_begin(t, phase, trace_process_pid(trace_thread_process(thread)), trace_thread_tid(thread));
	micros(&t->json, "ts", ns - t->start_ns);
	json_u64(&t->json, "id", t->nr_arrows);
	json_text(&t->json, "cat", "wakeup");
	json_text(&t->json, "name", "wakes");
	if (*phase == 'f')
		/* bind the arrow to the slice that begins at this time, not to the next one */
		json_text(&t->json, "bp", "e");
	event_end(t);
}

static void arrow(struct timeline_output *t, const struct trace_interval *interval)
{
	if (!interval->waker || interval->to_ns > t->to_ns || !is_shown(t, interval->waker))
		return;
	t->nr_arrows++;
	arrow_end(t, "s", interval->waker, interval->to_ns);
	arrow_end(t, "f", interval->thread, interval->to_ns);
}

/* The arguments of a wait, for a CPU or other: the CPU, the call, the waker. */
static void wait_arguments(struct timeline_output *t, const struct trace_interval *interval)
{
	struct json *json = &t->json;

	json_open(json, "args", "{");
	if (interval->cpu >= 0)
		json_u64(json, "cpu", (uint32_t)interval->cpu);
	if (interval->name && interval->state == TRACE_STATE_BLOCKED)
		json_text(json, "in", interval->name);
	if (interval->idle)
		json_bool(json, "idle", true);
	if (interval->waker) {
		json_text(json, "woken_by", trace_thread_comm(interval->waker));
		json_u64(json, "woken_by_tid", trace_thread_tid(interval->waker));
	}
	json_close(json, "}");
}

static void wait_slice(struct timeline_output *t, const struct trace_interval *interval, uint64_t from_ns,
		       uint64_t to_ns)
{
	uint32_t pid = trace_process_pid(trace_thread_process(interval->thread)),
		 tid = trace_thread_tid(interval->thread);
	const char *category = trace_state_name(interval->state);
	char name[NAME_BYTES];

	if (interval->state == TRACE_STATE_BLOCKED)
		wait_name(interval, name);
	slice_begin(t, pid, tid, from_ns, to_ns, category, interval->state == TRACE_STATE_BLOCKED ? name : category);
	wait_arguments(t, interval);
	event_end(t);
	if (interval->state == TRACE_STATE_BLOCKED)
		arrow(t, interval);
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct timeline_output *t = data;
	uint64_t from_ns = MAX(interval->from_ns, t->from_ns), to_ns = MIN(interval->to_ns, t->to_ns);

	if (from_ns >= to_ns || !is_shown(t, interval->thread))
		return;
	if (is_on_cpu(interval))
		cpu_slice_continue(t, interval, from_ns, to_ns);
	else
		wait_slice(t, interval, from_ns, to_ns);
}

/* ---- before and after the pass ---- */

struct timeline_output *timeline_free(struct timeline_output *timeline)
{
	if (timeline) {
		free(timeline->slices);
		free(timeline->chosen);
	}
	free(timeline);
	return NULL;
}

int timeline_check(const struct report *report)
{
	if (!is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL))
		return 0;
	return complain(
		1, "the kernel was not recorded, only events of programs: what threads did is unknown; record as root");
}

typedef void on_thread(struct timeline_output *t, uint32_t index);

static void count_thread(struct timeline_output *t, uint32_t index)
{
	t->nr_chosen = MAX(t->nr_chosen, (size_t)index + 1);
}

static void choose_thread(struct timeline_output *t, uint32_t index)
{
	t->chosen[index] = true;
}

static void each_chosen(struct timeline_output *t, const struct process_choice *choice,
			const struct trace_analysis *before, on_thread *act)
{
	for (size_t i = 0; i < trace_nr_processes(before); i++) {
		const struct trace_process *process = trace_get_process(before, i);

		if (process_is_chosen(choice, process))
			for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
				act(t, trace_thread_index(thread));
	}
}

void timeline_choose(struct report *report, const struct trace_analysis *before)
{
	struct timeline_output *t = memory_take(1, sizeof(*t));

	report->timeline = t;
	each_chosen(t, &report->options->processes, before, count_thread);
	t->chosen = memory_take(t->nr_chosen + 1, sizeof(*t->chosen));
	each_chosen(t, &report->options->processes, before, choose_thread);
}

void timeline_begin(struct report *report)
{
	struct timeline_output *t = report->timeline ? report->timeline : memory_take(1, sizeof(*t));

	report->timeline = t;
	t->report = report;
	t->json = (struct json){.out = report->output.out, .first = true};
	t->start_ns = trace_get_info(report->trace)->complete_from_ns;
	t->from_ns = report->window.from_ns;
	t->to_ns = report->window.to_ns;
	json_open(&t->json, NULL, "{");
	json_text(&t->json, "displayTimeUnit", "ns");
	json_open(&t->json, "traceEvents", "[");
	if (trace_analysis_on_interval(report->analysis, on_interval, t) < 0)
		memory_end();
}

static void name_threads(struct timeline_output *t, const struct trace_process *process)
{
	uint32_t pid = trace_process_pid(process);

	track_named(t, "process_name", pid, pid, trace_process_title(process));
	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
		track_named(t, "thread_name", pid, trace_thread_tid(thread), trace_thread_comm(thread));
}

/* The start time of the trace, and its losses. */
static void put_trace_info(struct timeline_output *t)
{
	const struct trace_info *info = trace_get_info(t->report->trace);

	json_open(&t->json, "otherData", "{");
	json_u64(&t->json, "start_ns", info->complete_from_ns);
	losses_json(&t->json, t->report->trace, t->report->analysis);
	json_close(&t->json, "}");
}

void timeline_end(const struct report *report)
{
	struct timeline_output *t = report->timeline;
	char name[32];

	for (uint32_t cpu = 0; cpu < t->nr_slices; cpu++) {
		cpu_slice_end(t, cpu);
		snprintf(name, sizeof(name), "CPU %u", cpu);
		track_named(t, "thread_name", CPU_TRACKS, cpu, name);
	}
	track_named(t, "process_name", CPU_TRACKS, 0, "CPUs");
	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++)
		if (process_is_chosen(&report->options->processes, trace_get_process(report->analysis, i)))
			name_threads(t, trace_get_process(report->analysis, i));
	json_close(&t->json, "]");
	report_check_memory(report);
	put_trace_info(t);
	json_close(&t->json, "}\n");
}
