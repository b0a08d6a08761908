/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* plausible.c - the limits of losses, times and CPU numbers, and the chunks that exceed them. */
#include "plausible.h"

#include <errno.h>
#include <stdlib.h>
#include <trace/saturate.h>

#include "chunk.h"
#include "trace.h"

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

/* ---- times and CPUs ---- */

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

/* The latest possible time of any other event; unlimited if the recording was cut off. */
static uint64_t end_of_recorder(const struct trace *trace)
{
	return trace->statistics && trace->info.clean_end ? trace_add_saturated(trace->info.end_ns, PLAUSIBLE_END_NS)
							  : UINT64_MAX;
}

/* The latest possible time of a program's event; unlimited if the recording was cut off. */
static uint64_t end_of_programs(const struct trace *trace)
{
	uint64_t end_ns = trace->info.end_ns > trace->last_ns ? trace->info.end_ns : trace->last_ns, clock_ns = 0;

	if (!trace->statistics)
		return UINT64_MAX;
	for (size_t i = 0; i < trace->nr_clocks; i++)
		clock_ns = clock_ns > trace->clocks[i].monotonic_ns ? clock_ns : trace->clocks[i].monotonic_ns;
	if (clock_ns <= end_ns)
		return end_ns;
	return clock_ns - end_ns < PLAUSIBLE_END_NS ? clock_ns : end_ns + PLAUSIBLE_END_NS;
}

static int refuse_chunk(struct trace *trace, size_t idx, const struct trace_table_entry *of, uint64_t end_ns)
{
	typedef unsigned long long ull;
	bool is_of_program = stream_is_of_program(of->stream);
	const char *whose = is_of_program ? ", of a program," : "";
	int error = trace_mark_unusable(trace, idx);

	if (error)
		return error;
	if (of->last_ns > end_ns)
		return trace_add_damage(trace, of->offset, of->packed_bytes,
					"offset %llu: stream %u%s has events at %llu ns, but the recording ended at "
					"%llu ns",
					(ull)of->offset, of->stream, whose, (ull)of->last_ns,
					(ull)(is_of_program ? end_ns : trace->info.end_ns));
	return trace_add_damage(trace, of->offset, of->packed_bytes,
				"offset %llu: stream %u%s has events of CPU %u, which the machine does not have",
				(ull)of->offset, of->stream, whose, of->cpu);
}

/* Rarely needed: walk all chunks, refuse the impossible ones and sum up the others again. */
static int refuse_chunks(struct trace *trace, uint64_t end_ns, uint32_t nr_cpus)
{
	int error = 0;

	trace->user_last_ns = trace->user_nr_cpus = 0;
	for (size_t i = 0; !error && i < trace->nr_chunks; i++) {
		struct trace_table_entry of = chunk_entry(trace, i)->of;

		if (of.kind != TRACE_CHUNK_EVENTS || !stream_is_of_program(of.stream))
			continue;
		if (of.last_ns > end_ns || of.cpu >= nr_cpus) {
			error = refuse_chunk(trace, i, &of, end_ns);
			continue;
		}
		trace->user_last_ns = trace->user_last_ns > of.last_ns ? trace->user_last_ns : of.last_ns;
		trace->user_nr_cpus = trace->user_nr_cpus > of.cpu ? trace->user_nr_cpus : of.cpu + 1;
	}
	return error;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

/* The same for the streams of the kernel and of the recorder. */
static int refuse_others(struct trace *trace, uint64_t end_ns, uint32_t nr_cpus)
{
	int error = 0;

	trace->last_ns = trace->info.nr_cpus = 0;
	for (size_t i = 0; !error && i < trace->nr_chunks; i++) {
		struct trace_table_entry of = chunk_entry(trace, i)->of;

		if (of.kind != TRACE_CHUNK_EVENTS || stream_is_of_program(of.stream))
			continue;
		if (of.last_ns > end_ns || of.cpu >= nr_cpus) {
			error = refuse_chunk(trace, i, &of, end_ns);
			continue;
		}
		trace->last_ns = trace->last_ns > of.last_ns ? trace->last_ns : of.last_ns;
		trace->info.nr_cpus = larger(trace->info.nr_cpus, of.cpu + 1);
	}
	for (size_t i = 0; !error && trace->statistics && i < trace->nr_streams; i++) {
		const struct trace_statistics_stream *stream = &trace->statistics[i];

		if (stream_is_of_program(stream->stream) || stream->cpu >= TRACE_CPUS_MAX)
			continue;
		if (stream->cpu < nr_cpus)
			trace->info.nr_cpus = larger(trace->info.nr_cpus, stream->cpu + 1);
		else
			error = trace_add_damage(trace, trace->statistics_at, 0,
						 "offset %llu: stream %u is of CPU %u, which the machine does not have",
						 (unsigned long long)trace->statistics_at, stream->stream, stream->cpu);
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
				(unsigned long long)trace->statistics_at, stream->stream, stream->cpu);
		else if (stream->cpu >= trace->user_nr_cpus)
			trace->user_nr_cpus = stream->cpu + 1;
	}
	return error;
}

int plausible_load(struct trace *trace, bool *ret_refused)
{
	uint64_t end_ns = end_of_recorder(trace);
	uint32_t nr_cpus = noted_cpus(trace) ? noted_cpus(trace) : TRACE_CPUS_MAX;
	bool are_refused = trace->last_ns > end_ns || trace->info.nr_cpus > nr_cpus;
	int error = are_refused ? refuse_others(trace, end_ns, nr_cpus) : 0;

	end_ns = end_of_programs(trace);
	nr_cpus = cpus_of_machine(trace);
	*ret_refused = trace->user_last_ns > end_ns || trace->user_nr_cpus > nr_cpus;
	if (!error && *ret_refused)
		error = refuse_chunks(trace, end_ns, nr_cpus);
	*ret_refused |= are_refused;
	if (!error)
		error = refuse_statistics(trace, nr_cpus);
	trace->limit_cpus = nr_cpus;
	if (trace->user_nr_cpus > trace->info.nr_cpus)
		trace->info.nr_cpus = trace->user_nr_cpus;
	if (trace->user_last_ns > trace->last_ns)
		trace->last_ns = trace->user_last_ns;
	return error;
}
