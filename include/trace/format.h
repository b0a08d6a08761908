/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H
/*
 * format.h - the trace file on disk: all its structs. docs/FORMAT.md is normative,
 * and a test compares the two.
 *
 *	file header | chunk | chunk | ... | table chunks | root chunk | index chunks | end mark
 *
 * All numbers are little-endian and no struct is aligned: copy a struct out of the file before you
 * use it. The structs have no padding. Writers store 0 in reserved fields; readers ignore them.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/events.h>
#include <trace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACE_FORMAT_MAJOR 2 /* a reader refuses any other; version 1 was before the first release */
/* additions: 1 the table, 2 flags of chunks, 3 the promise of heartbeats, 4 columns of steps,
 * 5 times with codes by context, 6 stacks, 7 letters of times, 8 claimed losses */
#define TRACE_FORMAT_MINOR 8

/* clang-format off */
#define TRACE_FILE_MAGIC "\x89TRACE\r\n"
#define TRACE_CHUNK_MAGIC "\x8a" \
			  "chunk\r\n"
#define TRACE_END_MAGIC "\x8b" \
			"end..\r\n"
/* clang-format on */
#define TRACE_MAGIC_BYTES 8

/* bytes of a payload before compression, and of the records that it represents */
#define TRACE_RAW_MAX		     (16u << 20)
#define TRACE_CPUS_MAX		     8192u	/* CPU numbers are below this, as in Linux */
#define TRACE_CHUNK_EVENTS_MAX	     (2u << 20) /* records of 8 bytes in TRACE_RAW_MAX */
#define TRACE_CHUNK_HEADER_MAX_BYTES 4096u	/* limit for newer minor versions */
/* per index chunk of a recorder: few enough to stay in the cache after a reader
 * has computed their checksum */
#define TRACE_INDEX_ENTRIES    1024
#define TRACE_TABLE_ENTRIES    2048	   /* the same, per table chunk */
#define TRACE_STRING_MAX_BYTES (63u << 10) /* of one text in a strings chunk */

/**
 * struct trace_file_header - the first bytes of the file. @checksum: XXH3-64 of all bytes
 * before it; it is the last field
 */
struct trace_file_header {
	uint8_t magic[TRACE_MAGIC_BYTES];
	uint16_t version_major;
	uint16_t version_minor;
	uint32_t header_bytes; /* offset of the first chunk */
	uint64_t start_ns;
	uint64_t start_realtime_ns;
	uint64_t schema_checksum; /* XXH3-64 of the raw payload of the first schema chunk */
	uint32_t trace_id;	  /* random; in every chunk of the file */
	uint32_t reserved;
	uint64_t reserved2;
	uint64_t checksum;
};

/* of the payload before compression */
enum trace_chunk_encoding {
	TRACE_ENCODING_PLAIN = 0,   /* the structs of the kind */
	TRACE_ENCODING_COLUMNS = 3, /* events and start state; 1 and 2 were earlier codings in version 1 */
};

enum trace_chunk_compression {
	TRACE_COMPRESSION_NONE = 0,
	TRACE_COMPRESSION_ZSTD = 1, /* one or more frames in sequence */
};

enum trace_chunk_flag {
	TRACE_CHUNK_FLAG_JUMP = 1, /* a sub-buffer before this one is missing, and its events were not counted */
	/* some of undecodable were in blocks before this one, of which
	 * no record could be decoded */
	TRACE_CHUNK_FLAG_INSIDE_BEFORE = 2,
	TRACE_CHUNK_FLAG_MORE = 4, /* statistics, not compressed: their streams continue in the next such chunk */
};

/**
 * struct trace_chunk_header - before every payload
 * @checksum: XXH3-64 of the header_bytes - 8 bytes before it; always the last 8 bytes of the header
 * @events_before: number of the chunk's first event in its stream: counts every event of the stream
 *     before it, stored or lost
 * @lost_before: events that the producer lost between the stream's previous chunk and
 *     this one; @lost_cause: why
 * @lost_write: events in blocks between these two that could not be written
 * @undecodable: undecodable events of this block; with TRACE_CHUNK_FLAG_INSIDE_BEFORE also of
 *     earlier blocks since the previous chunk
 * @missed: sum over the chunk's trace_missed events
 * @seq: number of the sub-buffer in its ring; in statistics: number of streams in the chunks with
 *     TRACE_CHUNK_FLAG_MORE before it
 * @ids: bit n of the 256: the chunk holds events of id n; bit 255: of an id from 256 on
 * Fields from stream to ids are 0 in kinds that do not use them.
 */
struct trace_chunk_header {
	uint8_t magic[TRACE_MAGIC_BYTES];
	uint16_t header_bytes;
	uint16_t kind;
	uint8_t encoding;
	uint8_t compression;
	uint16_t flags;
	uint32_t trace_id;
	uint32_t stream;
	uint32_t cpu;
	uint32_t events;
	uint64_t seq;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t events_before;
	uint64_t lost_before;
	uint64_t lost_write;
	uint64_t missed;
	uint32_t undecodable;
	uint16_t lost_cause;
	uint16_t reserved;
	uint32_t raw_bytes;
	uint32_t packed_bytes;
	uint64_t ids[TRACE_MASK_WORDS];
	uint64_t payload_checksum; /* XXH3-64 of the packed_bytes after the header */
	uint64_t checksum;
};

/** struct trace_end_mark - the last bytes of a complete trace */
struct trace_end_mark {
	uint8_t magic[TRACE_MAGIC_BYTES];
	uint32_t trace_id;
	uint32_t nr_index_chunks;
	uint64_t index_offset; /* of the first index chunk */
	uint64_t file_bytes;   /* with this mark */
	uint64_t checksum;     /* XXH3-64 of all bytes before it */
};

/* ---- payloads ---- */

/**
 * struct trace_columns_header - events, start state: followed by the times' header, the types, the
 * ids, the fields, the strings, the times
 */
struct trace_columns_header {
	uint32_t events;
	uint32_t nr_types; /* 1..255 */
	uint64_t first_ns;
	uint32_t string_bytes;
	uint32_t stack_bytes; /* of the strings of types with TRACE_COLUMNS_STACKS; they are not among the texts */
};

#define TRACE_TIMES_STREAMS 4 /* number of parts of the times, so that a reader can decode them in parallel */

/**
 * struct trace_columns_times - how the times are coded: in steps of the
 * clock. docs/FORMAT.md, "Times"
 */
struct trace_columns_times {
	uint64_t step; /* ns, times 2^32 */
	int32_t odd;   /* ns, times 2^16: added to times after an odd number of steps */
	uint32_t nr_corrections;
	uint32_t code_bytes;
	uint32_t bit_bytes[TRACE_TIMES_STREAMS];
	uint32_t coding; /* of the codes: 0 by type, 1 by context, 2 by context, with letters */
};

enum trace_columns_flag {
	TRACE_COLUMNS_STRING = 1,  /* its payloads end with a string */
	TRACE_COLUMNS_INDEXES = 2, /* each different payload is stored once; each event has the number of its payload */
	TRACE_COLUMNS_STACKS = 4,  /* the payloads are stacks of samples, coded by the one before */
};

/**
 * struct trace_columns_type - an event type that occurs in the block. @words: size of the fixed
 * payload in 8 bytes; @payloads: number of different payloads
 */
struct trace_columns_type {
	uint16_t id;
	uint8_t words;
	uint8_t flags;
	uint32_t events;
	uint32_t payloads;
};

/* the first byte of a column */
enum trace_column_coding {
	TRACE_COLUMN_PLAIN = 0,	     /* byte planes */
	TRACE_COLUMN_DICTIONARY = 1, /* the upper bytes are an index into a table of at most 256 entries */
	TRACE_COLUMN_STEPS = 2,	     /* a column of differences to the latest word with the same key */
	TRACE_NR_COLUMN_CODINGS,
};

/**
 * struct trace_schema_header - schema: followed by the types, the fields, the texts. The file has
 * the strides, because newer structs may be larger
 */
struct trace_schema_header {
	uint32_t nr_types;
	uint32_t nr_fields;
	uint32_t type_bytes;
	uint32_t field_bytes;
	uint32_t text_bytes;
	uint32_t reserved;
};

/** struct trace_schema_type - texts are offsets into the texts */
struct trace_schema_type {
	uint16_t id;
	uint16_t nr_fields;
	uint16_t fixed_bytes; /* a multiple of 8 */
	uint16_t has_string;
	uint32_t flags;
	uint32_t first_field;
	uint32_t name;
	uint32_t category;
	uint32_t classic;
	uint32_t program;
	uint32_t text;
	uint32_t doc;
	uint32_t source; /* since 1.1, as are the next fields */
	uint16_t role;
	uint16_t reserved;
};

struct trace_schema_field {
	uint32_t name;
	uint32_t kind;
	uint16_t offset;
	uint8_t bytes; /* 0: the string */
	uint8_t is_signed;
};

/**
 * struct trace_string_entry - strings: entries, each followed by its text without NUL. If a number
 * occurs twice, the later entry is valid
 */
struct trace_string_entry {
	uint16_t space;
	uint16_t text_bytes;
	uint32_t reserved;
	uint64_t key;
};

/** struct trace_clock_entry - clock: one or more. @tsc 0: not known */
struct trace_clock_entry {
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t tsc;
};

/**
 * struct trace_statistics_header - statistics: followed by the streams. The last such chunk is
 * valid, together with those before it that have TRACE_CHUNK_FLAG_MORE
 */
struct trace_statistics_header {
	uint32_t nr_streams;
	uint32_t stream_bytes; /* stride */
	uint64_t end_ns;
};

/**
 * struct trace_statistics_stream - the recorder's statistics of a stream, followed by
 * those of the file's writer
 */
struct trace_statistics_stream {
	uint32_t stream;
	uint32_t cpu;
	uint64_t stored;
	uint64_t discarded;
	uint64_t overwritten;
	uint64_t missed;
	uint64_t filtered;
	uint64_t attempted;
	uint64_t written;     /* events in chunks of the file */
	uint64_t lost_write;  /* in blocks that could not be written */
	uint64_t undecodable; /* undecodable */
	uint64_t lost_before; /* sum of the events that the producer declared lost */
	uint64_t last_ns;     /* of the last chunk written, 0 none */
	uint64_t claimed;     /* of the lost events: counted by programs only, from version 2.8 on */
};
#define TRACE_STATISTICS_STREAM_MIN 96 /* bytes, in versions before 2.8 */

/** struct trace_index_entry - index: where a chunk is, and its whole header */
struct trace_index_entry {
	uint64_t offset;
	struct trace_chunk_header header;
};

enum trace_table_flag {
	TRACE_TABLE_LOSS = 1, /* its header has lost_before, lost_write, missed, undecodable or TRACE_CHUNK_FLAG_JUMP */
};

/**
 * struct trace_table_entry - table: the fields of a chunk's header that a
 * reader needs to open a trace
 */
struct trace_table_entry {
	uint64_t offset; /* of the chunk */
	uint64_t seq;
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t events_before;
	uint32_t events;
	uint32_t stream;
	uint32_t cpu;
	uint32_t raw_bytes;
	uint32_t packed_bytes;
	uint16_t kind;
	uint8_t encoding;
	uint8_t flags; /* enum trace_table_flag */
};

/**
 * struct trace_table_root - root: where the table is. A reader finds its chunk because it ends
 * where the first index chunk begins
 */
struct trace_table_root {
	uint64_t offset; /* of the first table chunk */
	uint64_t nr_entries;
	uint32_t nr_chunks;	/* table chunks */
	uint32_t entry_bytes;	/* stride */
	uint32_t header_bytes;	/* header size of each chunk in the file */
	uint32_t index_entries; /* in each index chunk except the last */
};

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
	      "the file is little-endian and its structs are used as they are");
static_assert(sizeof(struct trace_file_header) == 64, "no padding");
static_assert(sizeof(struct trace_chunk_header) == 152, "no padding");
static_assert(sizeof(struct trace_end_mark) == 40, "no padding");
static_assert(sizeof(struct trace_columns_header) == 24, "no padding");
static_assert(sizeof(struct trace_columns_times) == 40, "no padding");
static_assert(sizeof(struct trace_columns_type) == 12, "no padding");
static_assert(sizeof(struct trace_schema_header) == 24, "no padding");
static_assert(sizeof(struct trace_schema_type) == 48, "no padding");
static_assert(sizeof(struct trace_schema_field) == 12, "no padding");
static_assert(sizeof(struct trace_string_entry) == 16, "no padding");
static_assert(sizeof(struct trace_statistics_header) == 16, "no padding");
static_assert(sizeof(struct trace_statistics_stream) == 104, "no padding");
static_assert(sizeof(struct trace_index_entry) == 160, "no padding");
static_assert(sizeof(struct trace_table_entry) == 64, "no padding");
static_assert(sizeof(struct trace_table_root) == 32, "no padding");

#ifdef __cplusplus
}
#endif
#endif
