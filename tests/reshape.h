/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_RESHAPE_H
#define TESTS_RESHAPE_H
/*
 * reshape.h - a trace file taken apart, to be changed, and put together again with sizes and checksums that are right.
 *
 * What a writer of ours would never make: events of another size than the catalogue's, fields elsewhere, numbers that no kernel has. Columns are plain when
 * they are put together. What was compressed is again, and the table is made anew: of both it can be said what is wrong with them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

enum { RESHAPE_MOST_WORDS = 255 };

/** struct reshape_events - the events of one type in a chunk */
struct reshape_events {
	struct trace_columns_type head; /* with the payloads' words and flags as they are here */
	uint64_t *words;		/* owned; of each payload behind those of the one before */
	uint64_t *lengths;		/* owned; of each payload's string, if it has one */
	unsigned char *texts;		/* owned; one behind the other */
	size_t text_bytes;
	unsigned char *numbers; /* owned; planes of the payloads' numbers */
	size_t number_bytes;
};

/** struct reshape_lie - in place of what is at @at, or, counted from the end, beyond it */
struct reshape_lie {
	bool is_told;
	uint64_t chunk, value;
	size_t at;
};

/**
 * struct reshape_frame - how a payload stands in the file
 * @compression: TRACE_COMPRESSION_ZSTD: it is compressed; another: it is as it is, but said to be that
 * @more: of the bytes before that its header tells so many more. @missing: so many of the last bytes of the frame are not there. @times: it is there so often
 * @flipped, @bits: a byte of it with other bits
 */
struct reshape_frame {
	uint16_t compression;
	uint32_t more, missing, times;
	size_t flipped;
	unsigned char bits;
};

struct reshape_chunk {
	struct trace_chunk_header header;
	unsigned char *raw; /* owned: its payload as it was, before compression. Of the events that does not count */
	size_t raw_bytes;
	struct reshape_frame frame;
	struct reshape_events *events; /* owned; NULL: of another kind, or damaged */
	struct trace_columns_header head;
	struct trace_columns_times clock;
	unsigned char *ids;   /* borrowed from raw, as what follows */
	unsigned char *times;
	size_t times_bytes;
};

struct reshape {
	struct trace_file_header header;
	struct reshape_chunk *chunks; /* owned */
	size_t nr;
	bool complete; /* with an index and an end mark, as it is at first */
	bool has_table; /* likewise */
	size_t stride;	/* of its entries */
	struct reshape_lie lie;	      /* what the index tells of that chunk, in place of these 8 bytes of its entry */
	struct reshape_lie table_lie; /* what the table does */
	struct reshape_lie root_lie;  /* and what is told of the table; @chunk does not matter */
};

/** reshape_new() - take apart the trace in these @bytes at @data, which a writer of ours has made; its index and table are left out */
struct reshape *reshape_new(const unsigned char *data, size_t bytes);
struct reshape *reshape_free(struct reshape *r); /* NULL is fine; returns NULL */

/** reshape_put() - the file, the caller's; @ret_bytes: its size */
unsigned char *reshape_put(const struct reshape *r, size_t *ret_bytes);

/** reshape_type() - number @nr of the event types, or NULL; @ret_fields: its first field, NULL: it has none that are there. To be changed in place */
struct trace_schema_type *reshape_type(const struct reshape *r, size_t nr, struct trace_schema_field **ret_fields);
/** reshape_type_by_id() - the same of this id */
struct trace_schema_type *reshape_type_by_id(const struct reshape *r, uint32_t id, struct trace_schema_field **ret_fields);
/**
 * reshape_resize() - events of @id have @words of 8 bytes from now on, and a string or none: in the schema, and in all chunks
 * Words that come are 0, strings empty. Fields that have no room any more are gone, with those behind them.
 */
void reshape_resize(struct reshape *r, uint32_t id, uint32_t words, bool string);
/** reshape_events_resize() - the same of one chunk's events, whatever the schema says */
void reshape_events_resize(struct reshape_events *events, uint32_t words, bool string);
#endif
