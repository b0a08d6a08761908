/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_RESHAPE_H
#define TESTS_RESHAPE_H
/*
 * reshape.h - decode a trace file, edit it, and encode it again with correct sizes and checksums.
 *
 * The result may be a trace that our writer would never make: events of another size than the
 * catalogue's, fields at other offsets, numbers that no kernel has. Columns are encoded plainly.
 * Compressed payloads are compressed again, and the table is built anew. An edit may falsify either
 * of them.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

enum { RESHAPE_MOST_WORDS = 255 };

/**
 * struct reshape_events - the events of one type in a chunk
 */
struct reshape_events {
	struct trace_columns_type head; /* with the payloads' words and flags as they are here */
	uint64_t *words;		/* owned; payload after payload */
	uint64_t *lengths;		/* owned; of each payload's string, if it has one */
	unsigned char *texts;		/* owned; text after text */
	size_t text_bytes;
	unsigned char *numbers; /* owned; planes of the payloads' numbers */
	size_t number_bytes;
	unsigned char *stacks; /* owned; in place of all words but the first, and of the lengths */
	size_t stacks_bytes;
};

/**
 * struct reshape_lie - a false value to write at offset @at; counted from the end if it lies beyond
 * it
 */
struct reshape_lie {
	bool is_told;
	uint64_t chunk, value;
	size_t at;
};

/**
 * struct reshape_frame - how a payload is written into the file
 * @compression: TRACE_COMPRESSION_ZSTD: compressed; another value: uncompressed, but declared as
 *   this
 * @more: bytes that the header declares in addition
 * @missing: bytes cut off at the end of the frame
 * @times: how often the frame is written
 * @flipped, @bits: a byte of the frame, and the bits to flip in it
 */
struct reshape_frame {
	uint16_t compression;
	uint32_t more, missing, times;
	size_t flipped;
	unsigned char bits;
};

struct reshape_chunk {
	struct trace_chunk_header header;
	unsigned char *raw; /* owned: the payload before compression. Not used for events */
	size_t raw_bytes;
	struct reshape_frame frame;
	struct reshape_events *events; /* owned; NULL: the chunk is of another kind, or damaged */
	struct trace_columns_header head;
	struct trace_columns_times clock;
	unsigned char *ids; /* borrowed from raw, as the following ones */
	unsigned char *times;
	size_t times_bytes;
};

struct reshape {
	struct trace_file_header header;
	struct reshape_chunk *chunks; /* owned */
	size_t nr;
	bool complete;		      /* with an index and an end mark, as at first */
	bool has_table;		      /* likewise */
	size_t stride;		      /* of its entries */
	struct reshape_lie lie;	      /* replaces these 8 bytes of that chunk's index entry */
	struct reshape_lie table_lie; /* replaces 8 bytes of the table */
	struct reshape_lie root_lie;  /* replaces 8 bytes of the root; @chunk is not used */
};

/**
 * reshape_new() - decode the trace in these @bytes at @data, which our writer has made; leave out
 * its index and table
 */
struct reshape *reshape_new(const unsigned char *data, size_t bytes);
struct reshape *reshape_free(struct reshape *r); /* accepts NULL; returns NULL */

/**
 * reshape_put() - encode the file
 * @ret_bytes: its size
 * Returns the file, owned by the caller.
 */
unsigned char *reshape_put(const struct reshape *r, size_t *ret_bytes);

/**
 * reshape_type() - find event type number @nr; it may be changed in place
 * @ret_fields: its first field, or NULL if its fields are missing
 * Returns NULL if there is no such type.
 */
struct trace_schema_type *reshape_type(const struct reshape *r, size_t nr, struct trace_schema_field **ret_fields);
/**
 * reshape_type_by_id() - find the event type with this id
 */
struct trace_schema_type *reshape_type_by_id(const struct reshape *r, uint32_t id,
					     struct trace_schema_field **ret_fields);
/**
 * reshape_resize() - give events of @id @words of 8 bytes, and a string or none, in the schema and
 * in all chunks
 * Added words are 0, added strings empty. Fields that no longer fit are removed, with all fields
 * after them.
 */
void reshape_resize(struct reshape *r, uint32_t id, uint32_t words, bool string);
/**
 * reshape_events_resize() - resize one chunk's events, whatever the schema says
 */
void reshape_events_resize(struct reshape_events *events, uint32_t words, bool string);
#endif
