/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plausible.c - the limits of losses, times and CPU numbers, and the chunks that exceed them. */
#include "plausible.h"

#include <stdio.h>
#include <stdlib.h>
#include <trace/saturate.h>

#include "chunk.h"
#include "trace.h"

typedef unsigned long long ull;

/* ---- losses ---- */

uint64_t plausible_max(uint32_t stream, uint64_t ns, uint32_t nr_cpus)
{
	uint64_t max = trace_multiply_saturated(ns, stream < STREAM_USER_FIRST || !nr_cpus ? 1 : nr_cpus);

	return max > PLAUSIBLE_LOSS_MIN ? max : PLAUSIBLE_LOSS_MIN;
}

/* The number of CPUs is not known yet. */
bool plausible_chunk(const struct trace_chunk_header *header)
{
	uint64_t max = plausible_max(header->stream, header->last_ns, TRACE_CPUS_MAX);

	return header->lost_before <= max && header->lost_write <= max && header->missed <= max &&
	       header->events_before <= max;
}

bool plausible_statistics(const struct trace_statistics_stream *stream, uint64_t end_ns, uint32_t nr_cpus)
{
	const uint64_t recorded[] = {stream->stored, stream->discarded, stream->overwritten, stream->missed,
				     stream->filtered};
	const uint64_t written[] = {stream->written, stream->lost_write, stream->undecodable, stream->lost_before};
	uint64_t max = plausible_max(stream->stream, end_ns, nr_cpus), sum = 0, sum_written = 0;

	for (size_t i = 0; i < sizeof(recorded) / sizeof(recorded[0]); i++)
		sum = trace_add_saturated(sum, recorded[i]);
	for (size_t i = 0; i < sizeof(written) / sizeof(written[0]); i++)
		sum_written = trace_add_saturated(sum_written, written[i]);
	return sum <= max && sum_written <= max && stream->attempted <= max;
}

/* ---- the clock ---- */

/* The latest reading of the clock. */
static uint64_t last_clock_ns(const struct trace *trace)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < trace->nr_clocks; i++) {
		uint64_t ns = trace->clocks[i].of.monotonic_ns;

		last_ns = ns > last_ns && ns <= PLAUSIBLE_MAX_NS ? ns : last_ns;
	}
	return last_ns;
}

static uint64_t last_event_ns(const struct trace *trace)
{
	uint64_t ns = trace->last_ns > trace->user_last_ns ? trace->last_ns : trace->user_last_ns;

	return ns <= PLAUSIBLE_MAX_NS ? ns : 0;
}

/* The recorder reads the clock after the end. */
static int refuse_end(struct trace *trace)
{
	uint64_t end_ns = trace->info.end_ns, clock_ns = last_clock_ns(trace);
	bool is_late = clock_ns && end_ns > clock_ns && end_ns - clock_ns > PLAUSIBLE_END_NS;

	if (!trace->statistics || (!is_late && end_ns <= PLAUSIBLE_MAX_NS))
		return 0;
	trace->info.end_ns = clock_ns ? clock_ns : last_event_ns(trace);
	return clock_ns ? trace_add_damage(trace, trace->statistics_at, 0,
					   "offset %llu: the recording cannot have ended at %llu ns: the recorder last "
					   "read its clock at %llu ns",
					   (ull)trace->statistics_at, (ull)end_ns, (ull)clock_ns)
			: trace_add_damage(trace, trace->statistics_at, 0,
					   "offset %llu: the recording cannot have ended at %llu ns: no machine is up "
					   "for 146 years",
					   (ull)trace->statistics_at, (ull)end_ns);
}

/* ---- times and CPUs ---- */

/*
 * The limits of events. @start_ns does not concern programs, whose events trace_verify()
 * compares.
 * @clock_ns: latest time of events before @clock_at, the offset of the last reading of the clock
 */
struct limits {
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t clock_ns, clock_at;
	uint32_t nr_cpus;
};

/* The number of CPUs that the recorder noted; 0: it noted none. */
static uint32_t noted_cpus(const struct trace *trace)
{
	const char *text = string_table_get(&trace->strings, TRACE_STRING_INFO, TRACE_INFO_CPUS);
	unsigned long nr = text ? strtoul(text, NULL, 10) : 0;

	return nr <= TRACE_CPUS_MAX ? (uint32_t)nr : 0;
}

/*
 * The number that the recorder noted; else the CPUs with a ring of the kernel, which is all CPUs if
 * the kernel was recorded; else no limit.
 */
static uint32_t cpus_of_machine(const struct trace *trace)
{
	uint32_t nr = noted_cpus(trace);

	if (nr)
		return nr;
	return trace->statistics && trace->info.nr_cpus ? trace->info.nr_cpus : TRACE_CPUS_MAX;
}

/*
 * A writer that was stopped between its clock and its record has an event before the start. If the
 * recording was cut off, its end is not known.
 */
static struct limits limits_of_recorder(const struct trace *trace)
{
	uint64_t start_ns = trace->info.start_ns, end_ns = trace->info.end_ns, clock_ns = last_clock_ns(trace);
	size_t nr = trace->nr_clocks;

	return (struct limits){
		.start_ns = start_ns > PLAUSIBLE_END_NS ? start_ns - PLAUSIBLE_END_NS : 0,
		.end_ns = trace->statistics && trace->info.clean_end
				  ? trace_add_saturated(clock_ns > end_ns ? clock_ns : end_ns, PLAUSIBLE_END_NS)
				  : PLAUSIBLE_MAX_NS,
		.clock_ns = trace_add_saturated(clock_ns, PLAUSIBLE_END_NS),
		.clock_at = nr ? trace->clocks[nr - 1].offset : 0,
		.nr_cpus = noted_cpus(trace) ? noted_cpus(trace) : TRACE_CPUS_MAX,
	};
}

/* The latest possible time of a program's event; that of any event if the recording was cut off. */
static uint64_t end_of_programs(const struct trace *trace)
{
	uint64_t end_ns = trace->info.end_ns > trace->last_ns ? trace->info.end_ns : trace->last_ns,
		 clock_ns = last_clock_ns(trace);

	if (!trace->statistics)
		return PLAUSIBLE_MAX_NS;
	if (clock_ns <= end_ns)
		return end_ns;
	return clock_ns - end_ns < PLAUSIBLE_END_NS ? clock_ns : end_ns + PLAUSIBLE_END_NS;
}

static bool stream_is_of_cpu(uint32_t stream)
{
	return stream < STREAM_USER_FIRST;
}

/* Write into @text what is impossible about a chunk, or return false. */
static bool is_impossible(const struct trace *trace, const struct trace_table_entry *of, const struct limits *limits,
			  char *text, size_t size)
{
	bool is_of_program = stream_is_of_program(of->stream);

	if (of->last_ns > limits->end_ns && limits->end_ns < PLAUSIBLE_MAX_NS)
		snprintf(text, size, "has events at %llu ns, but the recording ended at %llu ns", (ull)of->last_ns,
			 (ull)(is_of_program ? limits->end_ns : trace->info.end_ns));
	else if (of->last_ns > PLAUSIBLE_MAX_NS)
		snprintf(text, size, "has events at %llu ns, but no machine is up for 146 years", (ull)of->last_ns);
	else if (of->offset < limits->clock_at && of->last_ns > limits->clock_ns)
		snprintf(text, size, "has events at %llu ns, but the recorder read its clock later, at %llu ns",
			 (ull)of->last_ns, (ull)last_clock_ns(trace));
	else if (stream_is_of_cpu(of->stream) && of->stream % 2 == 0 && of->first_ns < limits->start_ns)
		snprintf(text, size, "has events at %llu ns, but the recording began at %llu ns", (ull)of->first_ns,
			 (ull)trace->info.start_ns);
	else if (of->cpu >= limits->nr_cpus)
		snprintf(text, size, "has events of CPU %u, which the machine does not have", of->cpu);
	else if (stream_is_of_cpu(of->stream) && of->cpu > of->stream)
		snprintf(text, size, "has events of CPU %u, but that CPU's streams have higher numbers", of->cpu);
	else
		return false;
	return true;
}

static int refuse_chunk(struct trace *trace, size_t idx, const struct trace_table_entry *of, const char *text)
{
	int error = trace_mark_unusable(trace, idx);

	return error ? error
		     : trace_add_damage(trace, of->offset, of->packed_bytes, "offset %llu: stream %u%s %s",
					(ull)of->offset, of->stream,
					stream_is_of_program(of->stream) ? ", of a program," : "", text);
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/*
 * Refuse the impossible chunks of programs, or those of the kernel and the recorder, and sum up the
 * others again.
 */
static int refuse_chunks(struct trace *trace, bool of_programs, const struct limits *limits, bool *refused)
{
	uint64_t last_ns = 0;
	uint32_t nr_cpus = 0;
	char text[160];
	int error = 0;

	for (size_t i = 0; !error && i < trace->nr_chunks; i++) {
		struct trace_table_entry of = chunk_entry(trace, i)->of;

		if (of.kind != TRACE_CHUNK_EVENTS || stream_is_of_program(of.stream) != of_programs)
			continue;
		if (is_impossible(trace, &of, limits, text, sizeof(text))) {
			error = refuse_chunk(trace, i, &of, text);
			*refused = true;
			continue;
		}
		last_ns = last_ns > of.last_ns ? last_ns : of.last_ns;
		nr_cpus = larger(nr_cpus, of.cpu + 1);
	}
	*(of_programs ? &trace->user_last_ns : &trace->last_ns) = last_ns;
	*(of_programs ? &trace->user_nr_cpus : &trace->info.nr_cpus) = nr_cpus;
	return error;
}

/* A ring of the kernel without records occurs in the statistics only. A CPU has one ring or two. */
static int refuse_rings(struct trace *trace, uint32_t nr_cpus)
{
	int error = 0;

	for (size_t i = 0; !error && trace->statistics && i < trace->nr_streams; i++) {
		const struct trace_statistics_stream *stream = &trace->statistics[i];

		if (stream_is_of_program(stream->stream) || stream->cpu >= TRACE_CPUS_MAX)
			continue;
		if (stream->cpu < nr_cpus && stream->cpu <= stream->stream)
			trace->info.nr_cpus = larger(trace->info.nr_cpus, stream->cpu + 1);
		else
			error = trace_add_damage(trace, trace->statistics_at, 0,
						 "offset %llu: stream %u is of CPU %u, which the machine does not have",
						 (ull)trace->statistics_at, stream->stream, stream->cpu);
	}
	return error;
}

/* A ring without records occurs in the statistics only. */
static int refuse_statistics(struct trace *trace, uint32_t nr_cpus)
{
	int error = 0;

	for (size_t i = 0; !error && trace->statistics && i < trace->nr_streams; i++) {
		const struct trace_statistics_stream *stream = &trace->statistics[i];

		if (!stream_is_of_program(stream->stream) || stream->cpu >= TRACE_CPUS_MAX)
			continue;
		if (stream->cpu >= nr_cpus)
			error = trace_add_damage(
				trace, trace->statistics_at, 0,
				"offset %llu: stream %u, of a program, is of CPU %u, which the machine does not have",
				(ull)trace->statistics_at, stream->stream, stream->cpu);
		else if (stream->cpu >= trace->user_nr_cpus)
			trace->user_nr_cpus = stream->cpu + 1;
	}
	return error;
}

int plausible_load(struct trace *trace, bool *ret_refused)
{
	struct limits limits;
	int error = refuse_end(trace);

	*ret_refused = false;
	limits = limits_of_recorder(trace);
	if (!error)
		error = refuse_chunks(trace, false, &limits, ret_refused);
	if (!error)
		error = refuse_rings(trace, limits.nr_cpus);
	limits.end_ns = end_of_programs(trace);
	limits.nr_cpus = cpus_of_machine(trace);
	if (!error)
		error = refuse_chunks(trace, true, &limits, ret_refused);
	if (!error)
		error = refuse_statistics(trace, limits.nr_cpus);
	trace->limit_cpus = limits.nr_cpus;
	trace->info.nr_cpus = larger(trace->info.nr_cpus, trace->user_nr_cpus);
	if (trace->user_last_ns > trace->last_ns)
		trace->last_ns = trace->user_last_ns;
	return error;
}
