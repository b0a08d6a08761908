/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STRETCH_LOG_H
#define ANALYZER_STRETCH_LOG_H
/*
 * stretch_log.h - what a pass added to tables, one entry after the other, as bytes: stretches.h.
 *
 * The numbers of entries are columns. The end of an entry is the difference from that of the entry
 * before. An id is left out if it is the one that came after the entry before the last time: the
 * calls of a program repeat themselves.
 */
#include <stdbool.h>
#include <trace/analysis.h>
#include "index_bytes.h"
#include "state_thread.h"

/*
 * BLOCKED, WAIT_CPU, INTERRUPTED: the thread @id was in that state; calls that an edge cuts need it
 * FILE_WAIT: as BLOCKED, but @id is the use of a file
 * MAJOR: the trap @id was a major one. LOCK: a thread waited for the lock @id
 * SPAN: a scope or request of a program ended. OPEN: one was left open. CROSSED: one that began
 *     before this stretch ended or was left open. UNMATCHED: an end without a begin
 * HIT: of a probe. EVENT: a program recorded one; @bytes: 0, or 1 more than those of a long one
 */
enum stretch_kind {
	STRETCH_CALL,
	STRETCH_BLOCKED,
	STRETCH_WAIT_CPU,
	STRETCH_INTERRUPTED,
	STRETCH_FILE_WAIT,
	STRETCH_READ,
	STRETCH_WRITE,
	STRETCH_MAJOR,
	STRETCH_LOCK,
	STRETCH_SPAN,
	STRETCH_OPEN,
	STRETCH_CROSSED,
	STRETCH_UNMATCHED,
	STRETCH_HIT,
	STRETCH_EVENT,
	NR_STRETCH_KINDS,
};

/*
 * struct stretch_entry - @id: of a row, but for the first three states: of a thread
 * @from_ns, @to_ns: READ, WRITE, MAJOR, UNMATCHED, HIT and EVENT have one time, @to_ns
 * @interrupted, @wait_cpu, @wait: parts of a CALL; the rest is CPU time
 * @bytes: READ, WRITE, EVENT
 * @times, @queued: of a SPAN
 * @begin: if @has_begin, a CALL that crosses a stretch: the sums of its thread when it began
 */
struct stretch_entry {
	enum stretch_kind kind;
	bool is_error, has_begin;
	uint32_t id;
	uint64_t from_ns, to_ns;
	uint64_t interrupted, wait_cpu, wait;
	uint64_t bytes;
	struct thread_snapshot begin;
	struct trace_times times;
	uint64_t queued;
};

/*
 * A number is divided into its low byte and the rest, in the column after it, if it is a time. MORE
 * has bytes, and parts of calls.
 */
enum stretch_column {
	COLUMN_TAG,
	COLUMN_ID,
	COLUMN_END,
	COLUMN_END_REST,
	COLUMN_LENGTH,
	COLUMN_LENGTH_REST,
	COLUMN_MORE,
	NR_STRETCH_COLUMNS,
};

#define STRETCH_NEXT_BITS 13

/*
 * struct stretch_stream - the place of a writer or reader
 * @next: what came after an entry the last time, by its kind. @last_entry: id and kind
 */
struct stretch_stream {
	uint64_t last_ns;
	uint32_t last_entry;
	uint32_t next[1u << STRETCH_NEXT_BITS];
};

struct stretch_writer {
	struct stretch_stream stream;
	struct bytes_out columns[NR_STRETCH_COLUMNS]; /* owned */
	uint32_t nr;
};
/** stretch_writer_begin() - an empty log from @begin_ns on; the memory of the last one stays */
void stretch_writer_begin(struct stretch_writer *writer, uint64_t begin_ns);
void stretch_put(struct stretch_writer *writer, const struct stretch_entry *entry);
/** stretch_writer_end() - append all columns to @out */
void stretch_writer_end(const struct stretch_writer *writer, struct bytes_out *out);
void stretch_writer_clear(struct stretch_writer *writer);

/* struct stretch_reader - @columns: borrowed. @failed: the bytes are not those of a writer */
struct stretch_reader {
	struct stretch_stream stream;
	struct bytes_in columns[NR_STRETCH_COLUMNS];
	bool failed;
};
void stretch_reader_begin(struct stretch_reader *reader, const uint8_t *bytes, size_t nr, uint64_t begin_ns);
/** stretch_get() - the next entry; false: none, or it has @failed */
bool stretch_get(struct stretch_reader *reader, struct stretch_entry *ret_entry);
#endif
