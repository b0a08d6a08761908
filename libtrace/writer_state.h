/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_WRITER_STATE_H
#define LIBTRACE_WRITER_STATE_H
/*
 * writer_state.h - the state of a writer, which its files share.
 *
 *     writer_chunk.c     compress a payload and append it as a chunk
 *     writer_types.c     descriptions of the types of programs
 *     writer_streams.c   account for the events and losses of each stream
 *     writer_strings.c   names of numbers
 *     writer_end.c       statistics, table, index and end mark
 *     writer.c           begin, blocks, and release
 */
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>
#include <trace/writer.h>
#include <zstd.h>

#include "output_stream.h"
#include "pack.h"
#include "schema.h"
#include "stream_map.h"

/**
 * struct writer_stream - loss accounting of one ring
 * @number: events up to the last chunk, stored or lost
 * @lost_total: lost events, as the producer counts them
 * @lost_before, @lost_write: lost since the last chunk, by the producer and by failed writes
 * @undecodable: undecodable records of blocks without any event, not yet in any chunk
 * @total_...: sums over the whole trace
 */
struct writer_stream {
	uint32_t kind;
	uint32_t stream;
	uint32_t cpu;
	uint64_t seq;
	uint64_t number;
	uint64_t lost_total;
	uint64_t lost_before;
	uint64_t lost_write;
	uint64_t undecodable;
	uint64_t last_ns;
	uint64_t total_written;
	uint64_t total_lost_before;
	uint64_t total_lost_write;
	uint64_t total_lost_inside;
	uint16_t lost_cause;
	bool jump;
};

/** struct writer_buffer - a growing byte array */
struct writer_buffer {
	unsigned char *data; /* owned */
	size_t bytes;
	size_t room;
};

struct trace_writer {
	struct output_stream output;
	struct trace_writer_totals totals;
	int (*take)(void *take_context, const struct trace_chunk_header *header,
		    const void *payload); /* NULL: a file */
	void *take_context;
	ZSTD_CCtx *zstd; /* owned */
	int level;	 /* of it */
	struct packing packing;
	uint32_t trace_id;
	struct writer_buffer packed;  /* compressed payload of the current chunk */
	struct writer_buffer index;   /* array of struct trace_index_entry */
	struct writer_buffer streams; /* array of struct writer_stream, in order of appearance */
	struct stream_map stream_map; /* from kind and number to index in @streams */
	uint64_t nr_ended;	      /* streams of which the statistics are in the file */
	struct writer_buffer strings; /* payload of the next strings chunk */
	uint64_t next_note;	      /* key behind the last TRACE_STRING_NOT_TRACED */
	uint64_t missing_note;	      /* key of the first of these without memory; UINT64_MAX: none */
	bool misses_strings;	      /* there was no memory for some */
	pthread_mutex_t strings_lock;
	struct writer_buffer unwritten; /* older strings, from @unwritten_at on; only for the writing thread */
	size_t unwritten_at;
	struct schema types;		/* types of programs, from trace_writer_event_type() */
	struct writer_buffer type_keys; /* hash table of struct type_key, at most half full */
	size_t nr_types_written;	/* of @types */
	pthread_mutex_t types_lock;
};

/** writer_bare_new() - a writer that has written nothing, and cannot compress; NULL: -ENOMEM */
struct trace_writer *writer_bare_new(int fd, uint32_t trace_id, struct trace_error *ret_error);

#endif
