/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PLAUSIBLE_H
#define LIBTRACE_PLAUSIBLE_H
/*
 * plausible.h - the reader's gate for numbers that no recorder can have found: private to the reader.
 *
 * SECURITY: what a program recorded comes from memory that the program can write, and a trace may be anybody's. A good recorder refuses impossible numbers
 * (daemon/doubt.h); a trace that holds them all the same is damaged there: the chunk is not used, trace_get_damage() and trace_verify() say why.
 *
 *	an event of a program is not later than the end of the recording        nor does it make the recording longer
 *	a program does not run on a CPU that the machine does not have         nor does it make the machine larger
 *	a CPU records at most one event per ns since the machine was booted    so no loss is larger, nor a sum of losses
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/format.h>

struct trace;

/* Streams of programs: docs/FORMAT.md, "Streams". */
#define STREAM_USER_FIRST 0x10000u
#define STREAM_USER_END	  0xffff0000u

static inline bool stream_is_of_program(uint32_t stream)
{
	return stream >= STREAM_USER_FIRST && stream < STREAM_USER_END;
}

/* The recorder drains its buffers for so long after the end, at most, and notes the clocks behind that. */
#define PLAUSIBLE_END_NS 10000000000ull
/* Traces that are made by hand have clocks that begin at 0. */
#define PLAUSIBLE_LOSS_LEAST (1ull << 32)

/** plausible_most() - events that a stream can have had until @ns of CLOCK_MONOTONIC. @nr_cpus: of the machine; a ring of the kernel's is of one */
uint64_t plausible_most(uint32_t stream, uint64_t ns, uint32_t nr_cpus);

/** plausible_chunk() - can the numbers of lost events of a chunk be true? */
bool plausible_chunk(const struct trace_chunk_header *header);

/** plausible_statistics() - can the books of a stream be true, until @end_ns on a machine of @nr_cpus? */
bool plausible_statistics(const struct trace_statistics_stream *stream, uint64_t end_ns, uint32_t nr_cpus);

/**
 * plausible_load() - when the metadata are known: leave out the chunks of programs that are later than the end, or of no CPU, and find the CPUs
 * 0 or -ENOMEM. @ret_spoiled: there were such chunks: what was made of the chunks so far must be made again
 */
int plausible_load(struct trace *trace, bool *ret_spoiled);
#endif
