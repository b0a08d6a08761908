/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PLAUSIBLE_H
#define LIBTRACE_PLAUSIBLE_H
/*
 * plausible.h - reject numbers that no recorder can have produced; private to the reader.
 *
 * SECURITY: a program can write the memory with its records, and a trace may come from anyone. A
 * good recorder rejects impossible numbers (daemon/untrusted.h). A trace with such numbers is
 * damaged: the reader does not use the chunk, and trace_get_damage() and trace_verify() report why.
 *
 * - An event of a program is not later than the end of the recording, and does not extend it. Other
 *   events come until the recorder has detached its programs, which takes a busy machine seconds.
 * - The recorder reads the clock when it has drained its buffers: no event before the last reading
 *   in the file, and no end of the recording, is later, but for PLAUSIBLE_END_NS.
 * - An event of the kernel is not earlier than the start. No machine is up for PLAUSIBLE_MAX_NS.
 * - A program does not run on a CPU that the machine does not have, and does not add one. The
 *   kernel has no more CPUs than the recorder noted. Each CPU has a ring or two, so the number of a
 *   ring is not below that of its CPU.
 * - A CPU records at most one event per ns since the machine was booted, so neither a loss nor a
 *   sum of losses is larger.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/format.h>

struct trace;

/* Streams of programs: docs/FORMAT.md, "Streams". */
#define STREAM_USER_FIRST 0x10000u
#define STREAM_USER_END	  0xffff0000u

static inline bool stream_is_of_program(uint32_t stream)
{
	return stream >= STREAM_USER_FIRST && stream < STREAM_USER_END;
}

/* How much later than the recorder's last reading of the clock an event or an end may be. */
#define PLAUSIBLE_END_NS 10000000000ull
/* 146 years; CLOCK_REALTIME comes there in the year 2116. */
#define PLAUSIBLE_MAX_NS (1ull << 62)
/* Traces made by hand have clocks that begin at 0. */
#define PLAUSIBLE_LOSS_MIN (1ull << 32)

/**
 * plausible_max() - maximum number of events of a stream until @ns of CLOCK_MONOTONIC
 * @nr_cpus: CPUs of the machine; a ring of the kernel belongs to one CPU
 */
uint64_t plausible_max(uint32_t stream, uint64_t ns, uint32_t nr_cpus);

/** plausible_chunk() - are the loss counters of a chunk possible? */
bool plausible_chunk(const struct trace_chunk_header *header);

/**
 * plausible_statistics() - are a stream's statistics possible, until @end_ns on a machine with
 * @nr_cpus?
 */
bool plausible_statistics(const struct trace_statistics_stream *stream, uint64_t end_ns, uint32_t nr_cpus);

/**
 * plausible_load() - refuse chunks later than the end or on impossible CPUs, and find the number of
 * CPUs
 * Called once the metadata are known.
 * @ret_refused: chunks were refused; what was computed from the chunks must be computed again
 * Returns 0 or -ENOMEM.
 */
int plausible_load(struct trace *trace, bool *ret_refused) TRACE_NODISCARD;
#endif
