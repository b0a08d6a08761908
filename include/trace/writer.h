/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_WRITER_H
#define TRACE_WRITER_H
/*
 * writer.h - write a trace file. Format: docs/FORMAT.md.
 *
 * Writing has two steps, so that the drain path never waits for a disk. trace_writer_pack() turns
 * the records of a sub-buffer into columns, straight out of shared memory (any thread; afterwards
 * the sub-buffer may be released). trace_writer_write() compresses and appends them (one thread at
 * a time, in the order of each stream's sub-buffers).
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
struct trace_chunk_header;

/**
 * struct trace_writer_options - zeroed = the defaults
 * @size: sizeof of the caller's struct
 * @level: zstd level; 0 = 1
 * @start_ns: begin of the recording, CLOCK_MONOTONIC. @start_realtime_ns:
 *     CLOCK_REALTIME of the same instant
 * @block_bytes: the size of the blocks to come. The writer allocates for them now, so that the
 *     first blocks take no longer than the others. 0 = it allocates with the first blocks
 * @take: gets each chunk, compressed, instead of a file; the descriptor is -1 then. It copies what
 *     it keeps, and returns 0 or a negative errno, as a write does. The thread that writes calls
 *     it. trace_writer_statistics() and trace_writer_finish() are not for such a writer
 * @take_context: the first argument of @take
 */
struct trace_writer_options {
	size_t size;
	int level;
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	size_t block_bytes;
	int (*take)(void *take_context, const struct trace_chunk_header *header, const void *payload);
	void *take_context;
};

/**
 * trace_writer_new() - begin a trace on @fd
 * @fd: borrowed; a regular file, pipe or socket open for writing. The writer only appends, and
 *     seeks only to undo a failed write. The caller ignores SIGPIPE and SIGXFSZ.
 * Writes the file header and the schema of the catalogue. Returns NULL with the errno of
 * the write, or with -ENOMEM.
 */
struct trace_writer *trace_writer_new(int fd, const struct trace_writer_options *options,
				      struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_writer_event_type() - describe an event that the catalogue does not have,
 * before its records are packed
 * @type: its name, fields, role, flags ...; copied; its id is ignored. All of its fields are within
 *     fixed_bytes, a multiple of 8. If it has fields of kind STRING or BYTES, has_string is set,
 *     and records carry the referenced bytes after the fixed part.
 * @ret_id: the id for its records, from TRACE_EV_MAX on; the same for an identical description
 * Any thread may call this, concurrently with packing and writing. A schema chunk with the type is
 * written before the next chunk that holds such events.
 * Returns 0; -EINVAL: the description is not valid or is larger than 64 KiB; -ENOSPC:
 * all ids are in use; -ENOMEM.
 */
int trace_writer_event_type(struct trace_writer *writer, const struct trace_event_type *type, uint16_t *ret_id,
			    struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_writer_known_type() - the id that trace_writer_event_type() gave to an identical
 * description, or 0: it gave none. Any thread
 */
uint16_t trace_writer_known_type(struct trace_writer *writer, const struct trace_event_type *type);

/**
 * trace_writer_type() - the type of records of this id, the catalogue's or the writer's copy of a
 * description; NULL: there is none. Any thread
 */
const struct trace_event_type *trace_writer_type(const struct trace_writer *writer, uint32_t id);

/**
 * struct trace_source - the origin of a block of records: a sub-buffer, or
 * records of the daemon's own
 * @records, @bytes: consecutive struct trace_record; a record for two or three events (struct
 *     trace_record_call) counts as that many
 * @base_ns: full time; records carry the low bits of theirs, and none is earlier
 * @seq: counts from 1 within a stream. @stream: any number, one per ring. @cpu: its CPU
 * @nr_records: as the producer counted, without padding; if fewer are found, the
 *     difference is counted as lost
 * @lost_total: events lost in this stream before this block, in total; the
 *     writer computes differences
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
 * trace_writer_pack() - turn records into columns
 * Any thread. Does no I/O and keeps no pointer into @source. SECURITY: it trusts no byte of the
 * records, and they may change meanwhile.
 * It omits a record that its type does not allow (unknown id, too small, string without NUL,
 * reference out of bounds), and ends the block at a record with an impossible size. Both are
 * counted as lost inside the block (cause SUSPECT), up to @nr_records. If nothing of a block is
 * left, the next block of its stream carries its count.
 * Returns the block for trace_writer_write() or trace_packed_free(); NULL with -ENOMEM, or with
 * -EINVAL for a block larger than 16 MiB or of another kind.
 */
struct trace_packed *trace_writer_pack(struct trace_writer *writer, const struct trace_source *source,
				       struct trace_error *ret_error) TRACE_NODISCARD;
struct trace_packed *trace_packed_free(struct trace_packed *packed); /* NULL is fine; returns NULL */
/** trace_packed_bytes() - memory in use, for a queue's limit */
size_t trace_packed_bytes(const struct trace_packed *packed);

/**
 * trace_writer_write() - compress and append one block; consumes @packed
 * Returns 0, or the negative errno of the write. After a failure the file is cut back to its last
 * complete chunk where that is possible (regular files), the block's events are counted as lost in
 * its stream, and later blocks may be written. So a full disk costs only the blocks that could not
 * be written.
 */
int trace_writer_write(struct trace_writer *writer, struct trace_packed *packed,
		       struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_writer_chunk() - append a chunk that the @take of another writer got
 * @header, @payload: as @take got them; borrowed. The chunks of a stream come in their order.
 * Chunks of the stream that are not appended before it count as overwritten: the chunk declares
 * their events as lost. Chunks that belong to no stream are appended as they are. Called by the
 * writing thread.
 * Returns 0 or the negative errno of the write.
 */
int trace_writer_chunk(struct trace_writer *writer, const struct trace_chunk_header *header, const void *payload,
		       struct trace_error *ret_error) TRACE_NODISCARD;

struct trace_shrinker;
/**
 * trace_shrinker_new() - what trace_shrink_chunk() works with: some MiB of memory, for one thread
 * NULL: no memory.
 */
struct trace_shrinker *trace_shrinker_new(void);
struct trace_shrinker *trace_shrinker_free(struct trace_shrinker *shrinker); /* NULL is fine; returns NULL */
/**
 * trace_shrink_chunk() - compress a chunk that @take got once more, at a higher zstd level
 * @ret_payload: has room for header->packed_bytes bytes. A reader finds the same events in it.
 * Returns its bytes, which the caller puts into packed_bytes of the header for
 * trace_writer_chunk(), where the checksums are made. If they are packed_bytes already, nothing was
 * gained, and @ret_payload is undefined.
 */
size_t trace_shrink_chunk(struct trace_shrinker *shrinker, const struct trace_chunk_header *header, const void *payload,
			  int level, void *ret_payload);

/**
 * trace_writer_string() - store a name for a number; written with the next
 * trace_writer_flush_strings() or at the end
 * The name of a system call also determines which of its arguments are kept (syscalls.def) in
 * blocks packed from then on. Arguments that the call does not have become 0, because records hold
 * whatever was in the registers. Some addresses are reduced to whether they are NULL.
 * Returns 0; -ENOMEM: the trace will lack it. The caller need not look: trace_writer_finish() tells
 * it, and writes it into the trace.
 */
int trace_writer_string(struct trace_writer *writer, enum trace_string_space space, uint64_t key, const char *text);
/**
 * trace_writer_flush_strings() - write the stored names. Called by the writing thread
 * Returns 0, or the negative errno of the write. Names that could not be written stay in the queue,
 * before later ones: the next block that is written carries them, or the next flush.
 */
int trace_writer_flush_strings(struct trace_writer *writer, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_writer_clock() - write a clock correspondence: one instant on three clocks; @tsc 0 = not
 * known. Called by the writing thread
 * Returns 0, the negative errno of the write, or -ENOMEM.
 */
int trace_writer_clock(struct trace_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns, uint64_t tsc,
		       struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_writer_statistics() - the final (or intermediate) statistics of all streams; @end_ns:
 * end of the recording so far
 * Returns 0, the negative errno of the write, or -ENOMEM.
 */
int trace_writer_statistics(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr_streams,
			    uint64_t end_ns, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_writer_end_streams() - the final statistics of @streams, of which no block follows
 * The writer forgets these streams, and trace_writer_statistics() does not have them again. They
 * count only in a trace with the statistics of the others behind them. Called by the writing
 * thread.
 * Returns 0, the negative errno of the write, or -ENOMEM; then the streams have not ended.
 */
int trace_writer_end_streams(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr_streams,
			     struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_writer_set_level() - compress later blocks at another zstd level;
 * negative levels are faster than 1
 * Called by the writing thread. Chunks already in the file do not change; readers need not know.
 */
void trace_writer_set_level(struct trace_writer *writer, int level);

/**
 * struct trace_writer_totals - sums of what was written
 * @lost_write: events that a failed write dropped; @undecodable: undecodable events; @write_ns:
 *     time in system calls that write
 */
struct trace_writer_totals {
	uint64_t events;
	uint64_t chunks;
	uint64_t raw_bytes;
	uint64_t file_bytes;
	uint64_t lost_write;
	uint64_t write_ns;
	uint64_t undecodable;
};
#pragma GCC diagnostic push
/* C++ takes the function, named like its struct, for one that hides a constructor */
#pragma GCC diagnostic ignored "-Wshadow"
/** trace_writer_totals() - the sums until now; called by the writing thread */
void trace_writer_totals(const struct trace_writer *writer, struct trace_writer_totals *ret_totals);
#pragma GCC diagnostic pop

/**
 * trace_writer_finish() - strings, index and end mark; the trace is complete
 * Then call trace_writer_free(). Returns 0 or a negative errno; -ENOMEM also if the trace is
 * complete but for strings without memory, which it says itself.
 */
int trace_writer_finish(struct trace_writer *writer, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_writer_free() - release; without trace_writer_finish() the file reads as cut off.
 * NULL is fine. Returns NULL.
 */
struct trace_writer *trace_writer_free(struct trace_writer *writer);

/* ---- copies ---- */

/**
 * trace_write_unpacked() - write a copy of @trace whose chunks are not compressed, for readers
 * without zstd
 * @fd: an empty file, open for writing. @most_bytes: of the copy
 * The copy has the same events, losses and damaged chunks, and is complete if @trace is. Bytes that
 * cannot be read are copied. The same trace makes the same bytes.
 * Returns 0; -EFBIG: it would be larger; -EBADMSG: @trace became shorter; -ENOMEM; or the negative
 * errno of the write.
 */
int trace_write_unpacked(const struct trace *trace, int fd, uint64_t most_bytes,
			 struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_write_anonymous() - the same copy with pseudonyms in place of names, such as "program-3",
 *     so that it can be given to others
 * Names of programs, threads, files, control groups, hosts, disks, interfaces and tracepoints,
 * arguments, texts, addresses and users have pseudonyms, one for each name. Names that all systems
 * have stay: /usr/lib, kworker/0:1, 127.0.0.1, user 0; docs/VIEW.md has the rule. The memory of
 * arguments (tracedaemon --args) is left out. Numbers stay:
 * times, process ids, sizes, ports, results of system calls, integers in events of programs. So
 * figures are the same. Bytes that cannot be read become zeros. The same trace makes the same
 * bytes.
 */
int trace_write_anonymous(const struct trace *trace, int fd, uint64_t most_bytes,
			  struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * enum trace_part_detail - what is kept of the events before and after a part
 * TRACE_PART_STATE: what is needed for the state at its begin, and to end what is in progress
 * TRACE_PART_SWITCHES: also all switches and wakeups: on a busy machine, what is known of the
 *     threads that had a CPU depends on how many waited for it, and how long
 * TRACE_PART_CALLS: also all system calls, sockets, block devices and work. Only page faults,
 *     interrupts, timers and memory are left out
 */
enum trace_part_detail { TRACE_PART_STATE = 0, TRACE_PART_SWITCHES = 1, TRACE_PART_CALLS = 2 };
/**
 * struct trace_part - a part of a trace, ns of its clock
 * @size: sizeof of the caller's struct: later versions add fields at the end
 * @from_ns, @to_ns: all events in it are kept, both ends included
 * @detail: enum trace_part_detail
 * @contradictions: of the whole trace, as trace_analysis_inconsistencies() tells them; for
 *     TRACE_INFO_PART
 */
struct trace_part {
	size_t size;
	uint64_t from_ns;
	uint64_t to_ns;
	uint32_t detail;
	uint64_t contradictions;
};
/**
 * trace_has_parts() - can a part of @trace be copied? False: it is not finished, is damaged, of
 *     another version, a part itself, or has losses that a copy cannot declare
 */
bool trace_has_parts(const struct trace *trace) TRACE_NODISCARD;
/**
 * trace_write_part() - write a smaller trace, in which an analysis of a window inside of @part
 *     finds nearly always what it finds in @trace
 * @fd: an empty file, open for writing
 * Before and after the part the copy has the start state, what changes processes, files and
 * sockets, the events of programs, and the calls, waits and interrupts that are in progress at the
 * two ends. In between it has switches of its own where others are left out, so that each event
 * still belongs to its thread. That is a proposal: a caller compares the figures, and takes another
 * detail or a longer part where they differ. The same part of the same trace makes the same bytes.
 * Returns 0; -ENOTSUP: not trace_has_parts(); -ENOMEM; or the negative errno of the write.
 */
int trace_write_part(const struct trace *trace, const struct trace_part *part, int fd,
		     struct trace_error *ret_error) TRACE_NODISCARD;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
