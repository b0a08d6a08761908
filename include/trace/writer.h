/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H
/*
 * writer.h - write a trace file. Format: docs/FORMAT.md.
 *
 * Two steps, so that the drain path never waits for a disk: trace_writer_pack() turns the records of a sub-buffer into
 * columns, straight out of shared memory (any thread; after it the sub-buffer may be released), and
 * trace_writer_write() compresses and appends (one thread at a time, in the order of each stream's sub-buffers).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/events.h>
#include <trace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_writer;
struct trace_packed;

/**
 * struct trace_writer_options - zeroed = the defaults
 * @size: sizeof of the caller's struct
 * @level: zstd level; 0 = 1
 * @start_ns: begin of the recording, CLOCK_MONOTONIC. @start_realtime_ns: CLOCK_REALTIME of the same instant
 * @block_bytes: blocks of so many bytes will come: what they need is made ready now, so that the first ones take no longer than the others. 0 = they ask for it
 */
struct trace_writer_options {
	size_t size;
	int level;
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	size_t block_bytes;
};

/**
 * trace_writer_new() - begin a trace on @fd
 * @fd: borrowed; a regular file, pipe or socket open for writing. Only appended to, never sought, except back over a write
 *      that failed. The caller ignores SIGPIPE and SIGXFSZ.
 * Writes the file header and the schema of the catalogue. Returns NULL with the errno of the write, -ENOMEM.
 */
struct trace_writer *trace_writer_new(int fd, const struct trace_writer_options *options, struct trace_error *ret_error);

/**
 * trace_writer_event_type() - describe an event that the catalogue does not have, before records of it are packed
 * @type: its name, fields, role, flags ...; its id does not count; copied. All of its fields lie in fixed_bytes, a multiple of 8;
 *        when it has fields of kind STRING or BYTES, has_string is set, and records carry the bytes they refer to behind the fixed part.
 * @ret_id: of its records, from TRACE_EV_MAX on; the same for an identical description
 * Any thread, beside packing and writing. A schema chunk with it is written before the next chunk that holds such events.
 * Returns 0; -EINVAL: the description makes no sense or is larger than 64 KiB; -ENOSPC: all ids are in use; -ENOMEM.
 */
int trace_writer_event_type(struct trace_writer *writer, const struct trace_event_type *type, uint16_t *ret_id, struct trace_error *ret_error);

/** trace_writer_known_type() - the id that trace_writer_event_type() gave to an identical description, or 0: it gave none. Any thread */
uint16_t trace_writer_known_type(struct trace_writer *writer, const struct trace_event_type *type);

/** trace_writer_type() - the type of records of this id, the catalogue's or the writer's copy of a description; NULL: there is none. Any thread */
const struct trace_event_type *trace_writer_type(const struct trace_writer *writer, uint32_t id);

/**
 * struct trace_source - where a block of records comes from: a sub-buffer, or records of the daemon's own
 * @records, @bytes: consecutive struct trace_record; those for two or three events (struct trace_record_call) count as so many
 * @base_ns: full time of which records carry the low bits; not after any of them
 * @seq: counts from 1 within a stream. @stream: any number, one per ring. @cpu: its CPU
 * @nr_records: as the producer counted, without padding; when fewer are found the difference is counted as lost
 * @lost_total: events lost in this stream before this block, ever; the writer forms differences
 * @lost_cause: TRACE_GAP_DISCARDED, OVERWRITTEN or SUSPECT
 */
struct trace_source {
	const void *records;
	size_t bytes;
	uint64_t base_ns;
	uint64_t seq;
	uint64_t lost_total;
	uint32_t stream;
	uint32_t cpu;
	uint32_t nr_records;
	uint16_t kind; /* TRACE_CHUNK_EVENTS or TRACE_CHUNK_START_STATE */
	uint16_t lost_cause;
};

/**
 * trace_writer_pack() - records into columns
 * Any thread. Does no I/O and keeps no pointer into @source. Nothing in the records is trusted, and they may change meanwhile.
 * A record that its type does not allow (unknown id, too small, string without NUL, reference out of bounds) is left out; one whose size
 * cannot be ends the block. Both are counted as lost inside the block (cause SUSPECT), up to @nr_records; so is a block of which nothing is left, in
 * the next one of its stream.
 * Returns what to give to trace_writer_write() or trace_packed_free(); NULL with -ENOMEM, or -EINVAL for a block larger than
 * 16 MiB or of another kind.
 */
struct trace_packed *trace_writer_pack(struct trace_writer *writer, const struct trace_source *source, struct trace_error *ret_error);
struct trace_packed *trace_packed_free(struct trace_packed *packed); /* NULL is fine; returns NULL */
size_t trace_packed_bytes(const struct trace_packed *packed);	      /* memory held, for a queue's limit */

/**
 * trace_writer_write() - compress and append one block; consumes @packed
 * Returns 0, or the negative errno of the write. After a failure the file is cut back to its last whole chunk where that is possible
 * (regular files), the block's events are counted as lost in its stream, and later blocks may be written: disk full
 * costs what could not be written, nothing else.
 */
int trace_writer_write(struct trace_writer *writer, struct trace_packed *packed, struct trace_error *ret_error);

/**
 * trace_writer_string() - remember a name for a number; written with the next trace_writer_flush_strings() or at the end
 * Of system calls it tells which arguments are kept (syscalls.def) in what is packed from then on: those that the call does not have become 0,
 * because records hold what happened to be in the registers, and of some addresses only stays that they are none of NULL.
 */
int trace_writer_string(struct trace_writer *writer, enum trace_string_space space, uint64_t key, const char *text);
/**
 * trace_writer_flush_strings() - write them. The thread that writes
 * Returns 0, or the negative errno of the write. What could not be written stays, before what came since: the next block that can be written
 * takes it along, or the next flush.
 */
int trace_writer_flush_strings(struct trace_writer *writer, struct trace_error *ret_error);

/** trace_writer_clock() - a clock correspondence: the same instant on three clocks; @tsc 0 = not known */
int trace_writer_clock(struct trace_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns, uint64_t tsc, struct trace_error *ret_error);

/**
 * trace_writer_statistics() - the final (or an intermediate) account of all streams; @end_ns: end of the recording so far
 * Returns 0, the negative errno of the write, -ENOMEM.
 */
int trace_writer_statistics(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr_streams, uint64_t end_ns,
			    struct trace_error *ret_error);

/**
 * trace_writer_set_level() - compress what is written from now on at another level of zstd's; negative ones are faster than 1
 * The thread that writes. What is in the file already stays as it is; a reader need not know.
 */
void trace_writer_set_level(struct trace_writer *writer, int level);

/**
 * struct trace_writer_totals - what was written
 * @lost_write: events that a failed write dropped; @lost_inside: events that could not be understood; @write_ns: spent in system calls that write
 */
struct trace_writer_totals {
	uint64_t events;
	uint64_t chunks;
	uint64_t raw_bytes;
	uint64_t file_bytes;
	uint64_t lost_write;
	uint64_t write_ns;
	uint64_t lost_inside;
};
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow" /* C++ thinks that the function, named as its struct is, hides a constructor */
void trace_writer_totals(const struct trace_writer *writer, struct trace_writer_totals *ret_totals);
#pragma GCC diagnostic pop

/** trace_writer_finish() - strings, index and end mark; the trace is complete. Then trace_writer_free(). 0 or negative errno. */
int trace_writer_finish(struct trace_writer *writer, struct trace_error *ret_error);
/** trace_writer_free() - release; without trace_writer_finish() the file reads as cut off. NULL is fine. Returns NULL. */
struct trace_writer *trace_writer_free(struct trace_writer *writer);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
