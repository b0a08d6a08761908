/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writer.c - append chunks to a file or a pipe, and account for every event.
 *
 * A failed write costs only the current block. On a regular file the writer truncates the partial
 * chunk. On a pipe the partial chunk stays, and the reader skips it: it looks for the magic and
 * checksum of the next chunk. The next chunk of the stream declares the events of the failed block
 * as lost (lost_write).
 *
 * A block without any valid record is different: a damaged or hostile program made it, and the disk
 * lost nothing. A chunk without events does not exist, so the stream's next chunk declares these
 * records as undecodable (undecodable).
 */
#include <trace/writer.h>

#include "clock_ns.h"
#include "error_set.h"
#include "output_stream.h"
#include "pack.h"
#include "pages.h"
#include "schema.h"
#include "stream_map.h"
#include "table_entry.h"
#include "times.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <trace/saturate.h>
#include <xxhash.h>
#include <zstd.h>

/**
 * struct stream - loss accounting of one ring
 * @number: events up to the last chunk, stored or lost
 * @lost_total: lost events, as the producer counts them
 * @lost_before, @lost_write: lost since the last chunk, by the producer and by failed writes
 * @undecodable: undecodable records of blocks without any event, not yet in any chunk
 * @total_...: sums over the whole trace
 */
struct stream {
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

/** struct buffer - a growing byte array */
struct buffer {
	unsigned char *data; /* owned */
	size_t bytes;
	size_t room;
};

struct trace_writer {
	struct output output;
	struct trace_writer_totals totals;
	ZSTD_CCtx *zstd;       /* owned */
	struct packing packing;
	uint32_t trace_id;
	struct buffer packed;  /* compressed payload of the current chunk */
	struct buffer index;   /* array of struct trace_index_entry */
	struct buffer streams; /* array of struct stream, in order of appearance */
	struct stream_map stream_map; /* from kind and number to index in @streams */
	struct buffer strings; /* payload of the next strings chunk */
	pthread_mutex_t strings_lock;
	struct buffer unwritten; /* older strings, from @unwritten_at on; only for the writing thread */
	size_t unwritten_at;
	struct schema types;	       /* types of programs, from trace_writer_event_type() */
	struct buffer type_keys;       /* hash table of struct type_key, at most half full */
	size_t nr_types_written;       /* of @types */
	pthread_mutex_t types_lock;
};

/**
 * struct type_key - identity of a type: the hash of its serialized form. @id 0: the entry is free
 */
struct type_key {
	uint64_t hash[2];
	uint16_t id;
};

enum {
	STREAMS_BEGIN = 16, /* buffer_reserve() doubles it */
	TYPES_PER_CHUNK = TRACE_RAW_MAX / SCHEMA_TYPE_MAX_BYTES,
};

static void *buffer_reserve(struct buffer *buffer, size_t bytes)
{
	if (buffer->bytes + bytes > buffer->room) {
		size_t room = (buffer->bytes + bytes) * 2;
		unsigned char *data = realloc(buffer->data, room);

		if (!data)
			return NULL;
		buffer->data = data;
		buffer->room = room;
	}
	return buffer->data + buffer->bytes;
}

static void *buffer_add(struct buffer *buffer, const void *data, size_t bytes)
{
	void *place = buffer_reserve(buffer, bytes);

	if (!place)
		return NULL;
	memcpy(place, data, bytes);
	buffer->bytes += bytes;
	return place;
}

/* ---- chunks ---- */

/**
 * struct raw - a payload before compression
 * @texts_at: offset of the texts, which need statistics of their own; 0: none
 * @codes_at: offset of the incompressible part, which extends to the end; 0: none
 */
struct raw {
	const unsigned char *data;
	uint32_t texts_at;
	uint32_t codes_at;
};

enum {
	PARTS_LEAST_BYTES = 1024,  /* for less, another frame is not worth its header */
	TEXTS_LEAST_BYTES = 4096,  /* for less, it is not worth its own table of letters either */
	STORED_HEAD = 0xa0, /* frame header: size in 4 bytes, single segment, no checksum, no dictionary */
	STORED_HEAD_BYTES = 4 + 1 + 4 + 3, /* with the header of the first block */
	STORED_BLOCK_BYTES = 128 << 10,
	PREPARE_BYTES = 256 << 10, /* more than zstd processes at once */
	/*
	 * of the fastest level: the table fits the L1 cache; costs 0.007 bytes per event, saves 1/8
	 * of the time
	 */
	FAST_HASH_LOG = 11,
};

/* Append a compressed frame to writer->packed, which has room for it. */
static bool frame_put(struct trace_writer *writer, ZSTD_CCtx *zstd, const unsigned char *data, size_t bytes)
{
	struct buffer *packed = &writer->packed;
	size_t added = bytes ? ZSTD_compress2(zstd, packed->data + packed->bytes, packed->room - packed->bytes, data, bytes) : 0;

	if (ZSTD_isError(added))
		return false;
	packed->bytes += added;
	return true;
}

/*
 * Append a zstd frame (RFC 8878) with uncompressed blocks: magic, frame header, size, then blocks
 * of at most 128 KiB, each after a header of 3 bytes.
 */
static bool stored_frame_put(struct trace_writer *writer, const unsigned char *data, uint32_t bytes)
{
	struct buffer *packed = &writer->packed;
	unsigned char *at = packed->data + packed->bytes;
	uint32_t magic = ZSTD_MAGICNUMBER;

	if (!bytes)
		return true;
	if (bytes + bytes / STORED_BLOCK_BYTES * 3 + STORED_HEAD_BYTES > packed->room - packed->bytes)
		return false;
	at = mempcpy(at, &magic, sizeof(magic));
	*at++ = STORED_HEAD;
	at = mempcpy(at, &bytes, sizeof(bytes));
	while (bytes) {
		/* block type 0: raw */
		uint32_t part = bytes < STORED_BLOCK_BYTES ? bytes : STORED_BLOCK_BYTES, head = part << 3 | (part == bytes);

		at = mempcpy(mempcpy(at, &head, 3), data, part);
		data += part;
		bytes -= part;
	}
	packed->bytes = (size_t)(at - packed->data);
	return true;
}

static bool frames_put(struct trace_writer *writer, const struct raw *raw, uint32_t bytes)
{
	uint32_t codes_at = !raw->codes_at || bytes < PARTS_LEAST_BYTES ? bytes : raw->codes_at;

	uint32_t texts_at = raw->texts_at < TEXTS_LEAST_BYTES || codes_at - raw->texts_at < TEXTS_LEAST_BYTES ? codes_at : raw->texts_at;

	return frame_put(writer, writer->zstd, raw->data, texts_at) && frame_put(writer, writer->zstd, raw->data + texts_at, codes_at - texts_at) &&
	       stored_frame_put(writer, raw->data + codes_at, bytes - codes_at);
}

static const void *chunk_compress(struct trace_writer *writer, struct trace_chunk_header *header, const struct raw *raw)
{
	writer->packed.bytes = 0;
	header->compression = TRACE_COMPRESSION_NONE;
	header->packed_bytes = header->raw_bytes;
	/* index, table and root: readers use them in the file */
	if (header->kind >= TRACE_CHUNK_INDEX || header->raw_bytes < 64 || header->flags & TRACE_CHUNK_FLAG_MORE ||
	    !buffer_reserve(&writer->packed, 3 * ZSTD_compressBound(0) + ZSTD_compressBound(header->raw_bytes)))
		return raw->data;
	if (!frames_put(writer, raw, header->raw_bytes) || writer->packed.bytes >= header->raw_bytes)
		return raw->data;
	header->compression = TRACE_COMPRESSION_ZSTD;
	header->packed_bytes = (uint32_t)writer->packed.bytes;
	return writer->packed.data;
}

static int chunk_write(struct trace_writer *writer, struct trace_chunk_header *header, const struct raw *raw, struct trace_error *ret_error)
{
	const void *payload = chunk_compress(writer, header, raw);
	struct trace_index_entry *entry = buffer_reserve(&writer->index, sizeof(*entry));
	struct iovec parts[2] = { { header, sizeof(*header) }, { (void *)payload, header->packed_bytes } };
	uint64_t begin_ns;
	int error;

	if (!entry)
		return error_set(ret_error, -ENOMEM, "no memory for the index of the trace: its last block is lost");
	memcpy(header->magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header->header_bytes = sizeof(*header);
	header->trace_id = writer->trace_id;
	header->payload_checksum = XXH3_64bits(payload, header->packed_bytes);
	header->checksum = XXH3_64bits(header, offsetof(struct trace_chunk_header, checksum));
	*entry = (struct trace_index_entry){ .offset = writer->output.bytes, .header = *header };
	begin_ns = clock_monotonic_ns();
	error = output_write(&writer->output, parts, 2, ret_error);
	writer->totals.write_ns += clock_monotonic_ns() - begin_ns;
	if (error)
		return error;
	writer->index.bytes += sizeof(*entry);
	writer->totals.chunks++;
	writer->totals.raw_bytes += header->raw_bytes;
	writer->totals.file_bytes = writer->output.bytes;
	return 0;
}

static int chunk_write_plain(struct trace_writer *writer, enum trace_chunk_kind kind, const void *raw, size_t bytes,
			     struct trace_error *ret_error)
{
	struct trace_chunk_header header = { .kind = (uint16_t)kind, .raw_bytes = (uint32_t)bytes };

	return chunk_write(writer, &header, &(struct raw){ .data = raw }, ret_error);
}

/* ---- begin ---- */

static int header_write(struct trace_writer *writer, const struct trace_writer_options *options, uint64_t schema_checksum,
			struct trace_error *ret_error)
{
	struct trace_file_header header = {
		.version_major = TRACE_FORMAT_MAJOR,
		.version_minor = TRACE_FORMAT_MINOR,
		.header_bytes = sizeof(header),
		.start_ns = options->start_ns,
		.start_realtime_ns = options->start_realtime_ns,
		.schema_checksum = schema_checksum,
		.trace_id = writer->trace_id,
	};
	struct iovec part = { &header, sizeof(header) };

	memcpy(header.magic, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_file_header, checksum));
	return output_write(&writer->output, &part, 1, ret_error);
}

static uint32_t make_trace_id(void)
{
	struct timespec now;
	uint32_t id;

	if (getrandom(&id, sizeof(id), GRND_NONBLOCK) == (ssize_t)sizeof(id))
		return id;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint32_t)now.tv_nsec ^ (uint32_t)now.tv_sec;
}

static int writer_begin(struct trace_writer *writer, const struct trace_writer_options *options, struct trace_error *ret_error)
{
	size_t bytes;
	unsigned char *schema = schema_serialize_catalogue(&bytes);
	int error;

	if (!schema)
		return error_set(ret_error, -ENOMEM, "no memory for the schema of the trace");
	error = header_write(writer, options, XXH3_64bits(schema, bytes), ret_error);
	if (!error)
		error = chunk_write_plain(writer, TRACE_CHUNK_SCHEMA, schema, bytes, ret_error);
	free(schema);
	return error;
}

static void compressors_free(struct trace_writer *writer)
{
	if (!writer)
		return;
	ZSTD_freeCCtx(writer->zstd);
}

static void level_set(ZSTD_CCtx *zstd, int level)
{
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_compressionLevel, level);
	ZSTD_CCtx_setParameter(zstd, ZSTD_c_hashLog, level == 1 ? FAST_HASH_LOG : 0); /* 0: the level's default */
}

static bool compressors_new(struct trace_writer *writer, int level)
{
	writer->zstd = ZSTD_createCCtx();
	if (!writer->zstd)
		return false;
	level_set(writer->zstd, level);
	return true;
}

/* Compress something, so that zstd allocates and touches its memory now. */
static void compressors_prepare(struct trace_writer *writer, size_t block_bytes)
{
	size_t bytes = block_bytes < PREPARE_BYTES ? block_bytes : PREPARE_BYTES;
	unsigned char *data = malloc(bytes);
	uint32_t number = 1;

	writer->packed.bytes = 0;
	if (!data || !buffer_reserve(&writer->packed, ZSTD_compressBound(block_bytes) / 2))
		goto end;
	for (size_t i = 0; i < bytes; i++) {
		number = number * 1664525 + 1013904223;
		/* small numbers are more frequent, as in columns */
		data[i] = (unsigned char)(number >> 24 & number >> 16 & number >> 8);
	}
	frame_put(writer, writer->zstd, data, bytes);
end:
	free(data);
}

/* Without accounting a stream's losses would be unknown: allocate that of the first streams now. */
static bool books_begin(struct trace_writer *writer)
{
	return buffer_reserve(&writer->streams, STREAMS_BEGIN * sizeof(struct stream)) && stream_map_begin(&writer->stream_map);
}

struct trace_writer *trace_writer_new(int fd, const struct trace_writer_options *options, struct trace_error *ret_error)
{
	struct trace_writer_options all = { 0 };
	struct trace_writer *writer = calloc(1, sizeof(*writer));

	if (options)
		memcpy(&all, options, options->size < sizeof(all) ? options->size : sizeof(all));
	if (!writer || !compressors_new(writer, all.level ? all.level : 1) || !books_begin(writer)) {
		error_set(ret_error, -ENOMEM, "no memory for a trace writer");
		compressors_free(writer);
		if (writer)
			free(writer->streams.data);
		free(writer);
		return NULL;
	}
	pthread_mutex_init(&writer->strings_lock, NULL);
	packing_init(&writer->packing);
	pthread_mutex_init(&writer->types_lock, NULL);
	output_init(&writer->output, fd);
	writer->trace_id = make_trace_id();
	if (writer_begin(writer, &all, ret_error) < 0)
		return trace_writer_free(writer);
	if (all.block_bytes) {
		packing_prepare(&writer->packing, all.block_bytes);
		compressors_prepare(writer, all.block_bytes);
	}
	return writer;
}


/* ---- types of programs ---- */

const struct schema *writer_schema(const struct trace_writer *writer)
{
	return &writer->types;
}

struct packing *writer_packing(struct trace_writer *writer)
{
	return &writer->packing;
}

/* The key's entry in the table, or the free entry where it belongs. */
static struct type_key *type_key_find(const struct buffer *table, const struct type_key *key)
{
	struct type_key *keys = (struct type_key *)table->data;
	size_t nr = table->bytes / sizeof(*keys);
	size_t at = key->hash[0] & (nr - 1);

	while (keys[at].id && memcmp(keys[at].hash, key->hash, sizeof(key->hash)) != 0)
		at = (at + 1) & (nr - 1);
	return &keys[at];
}

static bool type_keys_reserve(struct trace_writer *writer)
{
	size_t nr = writer->type_keys.bytes / sizeof(struct type_key);
	const struct type_key *keys = (const struct type_key *)writer->type_keys.data;
	struct buffer larger = { .room = (nr ? 2 * nr : 64) * sizeof(struct type_key) };

	if (nr >= 2 * (writer->types.nr_types + 1))
		return true;
	larger.data = calloc(1, larger.room);
	larger.bytes = larger.room;
	if (!larger.data)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (keys[i].id)
			*type_key_find(&larger, &keys[i]) = keys[i];
	free(writer->type_keys.data);
	writer->type_keys = larger;
	return true;
}

/* The entry of the type in the table of known types, free if it is new. NULL: no memory. */
static struct type_key *type_place(struct trace_writer *writer, const struct trace_event_type *type, struct type_key *key)
{
	struct trace_event_type numbered = *type;
	const struct trace_event_type *list = &numbered;
	unsigned char *payload;
	XXH128_hash_t hash;
	size_t bytes = 0;

	numbered.id = TRACE_EV_MAX; /* all compared types get the same id */
	payload = schema_serialize(&list, 1, &bytes);
	if (!payload || !type_keys_reserve(writer)) {
		free(payload);
		return NULL;
	}
	hash = XXH3_128bits(payload, bytes);
	free(payload);
	key->hash[0] = hash.low64;
	key->hash[1] = hash.high64;
	return type_key_find(&writer->type_keys, key);
}

static int type_add(struct trace_writer *writer, const struct trace_event_type *type, uint16_t *ret_id, struct trace_error *ret_error)
{
	struct trace_event_type numbered = *type;
	const struct trace_event_type *list = &numbered;
	struct type_key key = { .id = (uint16_t)(TRACE_EV_MAX + writer->types.nr_types) }, *place = type_place(writer, type, &key);
	unsigned char *payload;
	size_t bytes = 0;
	int error;

	if (!place)
		return error_set(ret_error, -ENOMEM, "no memory for the description of an event");
	if (place->id) {
		*ret_id = place->id;
		return 0;
	}
	if (TRACE_EV_MAX + writer->types.nr_types >= SCHEMA_NR_IDS)
		return error_set(ret_error, -ENOSPC, "programs have more event types than a trace can hold: %d", SCHEMA_NR_IDS - TRACE_EV_MAX);
	numbered.id = key.id;
	payload = schema_serialize(&list, 1, &bytes);
	error = !payload ? -ENOMEM : bytes > SCHEMA_TYPE_MAX_BYTES ? -EBADMSG : schema_add(&writer->types, payload, bytes);
	free(payload);
	if (error)
		return error_set(ret_error, error == -EBADMSG ? -EINVAL : error, error == -EBADMSG ? "the description of an event is invalid" :
												     "no memory for the description of an event");
	*place = key;
	*ret_id = key.id;
	return 0;
}

int trace_writer_event_type(struct trace_writer *writer, const struct trace_event_type *type, uint16_t *ret_id, struct trace_error *ret_error)
{
	int error;

	pthread_mutex_lock(&writer->types_lock);
	error = type_add(writer, type, ret_id, ret_error);
	pthread_mutex_unlock(&writer->types_lock);
	return error;
}

uint16_t trace_writer_known_type(struct trace_writer *writer, const struct trace_event_type *type)
{
	const struct type_key *place;
	struct type_key key;
	uint16_t id;

	pthread_mutex_lock(&writer->types_lock);
	place = type_place(writer, type, &key);
	id = place ? place->id : 0;
	pthread_mutex_unlock(&writer->types_lock);
	return id;
}

const struct trace_event_type *trace_writer_type(const struct trace_writer *writer, uint32_t id)
{
	return id < TRACE_EV_MAX ? catalogue_by_id(id) : schema_type(&writer->types, id);
}

/* Serialize descriptions that the file does not have yet, at most TYPES_PER_CHUNK of them. */
static unsigned char *types_serialize(struct trace_writer *writer, size_t *ret_nr, size_t *ret_bytes)
{
	unsigned char *payload = NULL;

	pthread_mutex_lock(&writer->types_lock);
	*ret_nr = writer->types.nr_types - writer->nr_types_written;
	*ret_nr = *ret_nr < TYPES_PER_CHUNK ? *ret_nr : TYPES_PER_CHUNK;
	if (*ret_nr)
		payload = schema_serialize(writer->types.types + writer->nr_types_written, *ret_nr, ret_bytes);
	pthread_mutex_unlock(&writer->types_lock);
	return payload;
}

static int types_write(struct trace_writer *writer, struct trace_error *ret_error)
{
	size_t nr, bytes;
	int error = 0;

	while (!error) {
		unsigned char *payload = types_serialize(writer, &nr, &bytes);

		if (!nr)
			break;
		error = payload ? chunk_write_plain(writer, TRACE_CHUNK_SCHEMA, payload, bytes, ret_error) :
				  error_set(ret_error, -ENOMEM, "no memory for the schema of the trace");
		free(payload);
		if (!error)
			writer->nr_types_written += nr;
	}
	return error;
}

/* ---- blocks ---- */

static struct stream *stream_find(const struct trace_writer *writer, uint32_t kind, uint32_t stream)
{
	uint32_t idx = stream_map_find(&writer->stream_map, kind, stream);

	return idx == STREAM_NONE ? NULL : (struct stream *)writer->streams.data + idx;
}

static struct stream *stream_of(struct trace_writer *writer, const struct trace_chunk_header *header)
{
	struct stream new = { .kind = header->kind, .stream = header->stream, .cpu = header->cpu };
	struct stream *stream = stream_find(writer, header->kind, header->stream);

	if (stream)
		return stream;
	/* reserve early for as many again: a failure now may not happen at the next call */
	buffer_reserve(&writer->streams, writer->streams.bytes + sizeof(new));
	if (!buffer_reserve(&writer->streams, sizeof(new)) ||
	    !stream_map_put(&writer->stream_map, new.kind, new.stream, (uint32_t)(writer->streams.bytes / sizeof(new))))
		return NULL;
	return buffer_add(&writer->streams, &new, sizeof(new));
}

/*
 * Account for what the block says about the time before it: losses of the producer, and skipped
 * sub-buffers.
 */
static void stream_account_before(struct stream *stream, const struct trace_packed *packed)
{
	const struct trace_chunk_header *header = &packed->header;
	uint64_t lost = packed->lost_total > stream->lost_total ? packed->lost_total - stream->lost_total : 0;

	stream->jump |= header->seq != stream->seq + 1 && !lost;
	stream->seq = header->seq;
	stream->cpu = header->cpu;
	stream->lost_total += lost;
	stream->lost_before += lost;
	stream->total_lost_before += lost;
	if (lost)
		stream->lost_cause = header->lost_cause;
}

/* @undecodable: of this block only */
static void stream_account_inside(struct trace_writer *writer, struct stream *stream, uint32_t undecodable)
{
	stream->total_lost_inside += undecodable;
	writer->totals.undecodable += undecodable;
}

static void stream_account_written(struct trace_writer *writer, struct stream *stream, const struct trace_chunk_header *header, uint32_t undecodable)
{
	stream->number = trace_add_saturated(header->events_before, (uint64_t)header->events + header->undecodable);
	stream->lost_before = 0;
	stream->lost_write = 0;
	stream->undecodable -= header->undecodable - undecodable;
	stream->jump = false;
	stream->last_ns = header->last_ns;
	stream->total_written += header->events;
	writer->totals.events += header->events;
	stream_account_inside(writer, stream, undecodable);
}

static void stream_account_dropped(struct trace_writer *writer, struct stream *stream, const struct trace_chunk_header *header, uint32_t undecodable)
{
	uint64_t lost = (uint64_t)header->events + undecodable;

	stream->lost_write += lost;
	stream->total_lost_write += lost;
	writer->totals.lost_write += lost;
}

static void header_fill_before(struct trace_chunk_header *header, const struct stream *stream)
{
	uint64_t room = UINT32_MAX - header->undecodable;

	header->lost_before = stream->lost_before;
	header->lost_write = stream->lost_write;
	header->lost_cause = stream->lost_cause;
	header->events_before = trace_add_saturated(stream->number, stream->lost_before);
	header->events_before = trace_add_saturated(header->events_before, stream->lost_write);
	/* the rest goes to the next chunk */
	header->undecodable += (uint32_t)(stream->undecodable < room ? stream->undecodable : room);
	header->flags = (stream->jump ? TRACE_CHUNK_FLAG_JUMP : 0) | (stream->undecodable ? TRACE_CHUNK_FLAG_INSIDE_BEFORE : 0);
}

static bool holds_user_events(const struct trace_chunk_header *header)
{
	return header->ids[TRACE_EV_USER / 64] >> TRACE_EV_USER % 64 & 1;
}

static int packed_write(struct trace_writer *writer, struct stream *stream, struct trace_packed *packed, struct trace_error *ret_error)
{
	struct trace_chunk_header *header = &packed->header;
	uint32_t undecodable = header->undecodable;
	int error;

	if (!header->events) {
		stream->undecodable += undecodable;
		stream_account_inside(writer, stream, undecodable);
		return 0;
	}
	error = holds_user_events(header) ? types_write(writer, ret_error) : 0;
	if (!error) {
		header_fill_before(header, stream);
		error = chunk_write(writer, header, &(struct raw){ packed->raw, packed->texts_at, packed->codes_at }, ret_error);
	}
	if (!error)
		stream_account_written(writer, stream, header, undecodable);
	else
		stream_account_dropped(writer, stream, header, undecodable);
	return error;
}

/* ---- strings ---- */

int trace_writer_string(struct trace_writer *writer, enum trace_string_space space, uint64_t key, const char *text)
{
	size_t bytes = strnlen(text, TRACE_STRING_MAX_BYTES);
	struct trace_string_entry entry = { .space = (uint16_t)space, .text_bytes = (uint16_t)bytes, .key = key };
	unsigned char *place;

	syscall_args_name(&writer->packing.args, space, key, text);
	pthread_mutex_lock(&writer->strings_lock);
	place = buffer_reserve(&writer->strings, sizeof(entry) + bytes);
	if (place) {
		memcpy(mempcpy(place, &entry, sizeof(entry)), text, bytes);
		writer->strings.bytes += sizeof(entry) + bytes;
	}
	pthread_mutex_unlock(&writer->strings_lock);
	return place ? 0 : -ENOMEM;
}

/* The number of bytes of entries from @at on that fit one chunk. */
static size_t strings_portion(const struct buffer *strings, size_t at)
{
	size_t end = at;

	while (end < strings->bytes) {
		struct trace_string_entry entry;
		size_t bytes;

		memcpy(&entry, strings->data + end, sizeof(entry));
		bytes = sizeof(entry) + entry.text_bytes;
		if (end + bytes - at > TRACE_RAW_MAX)
			break;
		end += bytes;
	}
	return end - at;
}

/*
 * Take the next strings to write once the previous ones are written. The order is kept, because the
 * last of two strings with the same key is valid.
 */
static bool strings_take(struct trace_writer *writer)
{
	if (writer->unwritten_at < writer->unwritten.bytes)
		return true;
	free(writer->unwritten.data);
	pthread_mutex_lock(&writer->strings_lock);
	writer->unwritten = writer->strings;
	writer->strings = (struct buffer){ 0 };
	pthread_mutex_unlock(&writer->strings_lock);
	writer->unwritten_at = 0;
	return writer->unwritten.bytes;
}

static int strings_write(struct trace_writer *writer, struct trace_error *ret_error)
{
	size_t bytes = strings_portion(&writer->unwritten, writer->unwritten_at);
	int error = chunk_write_plain(writer, TRACE_CHUNK_STRINGS, writer->unwritten.data + writer->unwritten_at, bytes, ret_error);

	if (!error)
		writer->unwritten_at += bytes;
	return error;
}

int trace_writer_flush_strings(struct trace_writer *writer, struct trace_error *ret_error)
{
	int error = 0;

	while (!error && strings_take(writer))
		error = strings_write(writer, ret_error);
	return error;
}

/*
 * The disk has room again. If the write fails again the strings stay queued; the error has already
 * been reported.
 */
static void strings_write_again(struct trace_writer *writer)
{
	while (writer->unwritten_at < writer->unwritten.bytes && !strings_write(writer, NULL))
		;
}

/* ---- a block ---- */

int trace_writer_write(struct trace_writer *writer, struct trace_packed *packed, struct trace_error *ret_error)
{
	struct stream *stream = stream_of(writer, &packed->header);
	int error = 0;

	if (!stream) {
		for (const struct trace_packed *part = packed; part; part = part->next)
			writer->totals.lost_write += (uint64_t)part->header.events + part->header.undecodable;
		packing_recycle(&writer->packing, packed);
		return error_set(ret_error, -ENOMEM, "no memory for the statistics of one more stream: its block is lost");
	}
	stream_account_before(stream, packed);
	for (struct trace_packed *part = packed; part; part = part->next) {
		int part_error = packed_write(writer, stream, part, ret_error);

		error = error ? error : part_error;
	}
	packing_recycle(&writer->packing, packed);
	if (!error && writer->unwritten_at < writer->unwritten.bytes)
		strings_write_again(writer);
	return error;
}

/* ---- clock, statistics ---- */

int trace_writer_clock(struct trace_writer *writer, uint64_t monotonic_ns, uint64_t realtime_ns, uint64_t tsc, struct trace_error *ret_error)
{
	struct trace_clock_entry entry = { .monotonic_ns = monotonic_ns, .realtime_ns = realtime_ns, .tsc = tsc };

	return chunk_write_plain(writer, TRACE_CHUNK_CLOCK, &entry, sizeof(entry), ret_error);
}

/*
 * Combine the recorder's statistics of a stream with what this writer did with its blocks, of all
 * kinds.
 */
static struct trace_statistics_stream statistics_stream(const struct trace_writer *writer, const struct trace_stream_stats *stats)
{
	static const uint32_t kinds[] = { TRACE_CHUNK_START_STATE, TRACE_CHUNK_EVENTS };
	struct trace_statistics_stream disk = {
		.stream = stats->stream,
		.cpu = stats->cpu,
		.stored = stats->stored,
		.discarded = stats->discarded,
		.overwritten = stats->overwritten,
		.missed = stats->missed,
		.filtered = stats->filtered,
		.attempted = stats->attempted,
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct stream *stream = stream_find(writer, kinds[i], stats->stream);

		if (!stream)
			continue;
		disk.written += stream->total_written;
		disk.lost_write += stream->total_lost_write;
		disk.undecodable += stream->total_lost_inside;
		disk.lost_before = trace_add_saturated(disk.lost_before, stream->total_lost_before);
		disk.last_ns = disk.last_ns > stream->last_ns ? disk.last_ns : stream->last_ns;
	}
	return disk;
}

/* per chunk */
enum { STATISTICS_MOST = (TRACE_RAW_MAX - sizeof(struct trace_statistics_header)) / sizeof(struct trace_statistics_stream) };

/* @before: streams in the previous chunks of this list */
static int statistics_write(struct trace_writer *writer, const struct trace_stream_stats *streams, struct trace_statistics_header header, uint64_t before,
			    bool has_more, struct trace_error *ret_error)
{
	size_t bytes = sizeof(header) + header.nr_streams * sizeof(struct trace_statistics_stream);
	struct trace_chunk_header chunk = { .kind = TRACE_CHUNK_STATISTICS, .flags = has_more ? TRACE_CHUNK_FLAG_MORE : 0, .seq = before, .raw_bytes = (uint32_t)bytes };
	unsigned char *raw = malloc(bytes), *at = raw;
	int error;

	if (!raw)
		return error_set(ret_error, -ENOMEM, "no memory for the statistics of %u streams", header.nr_streams);
	at = mempcpy(at, &header, sizeof(header));
	for (size_t i = 0; i < header.nr_streams; i++) {
		struct trace_statistics_stream stream = statistics_stream(writer, &streams[i]);

		at = mempcpy(at, &stream, sizeof(stream));
	}
	error = chunk_write(writer, &chunk, &(struct raw){ .data = raw }, ret_error);
	free(raw);
	return error;
}

int trace_writer_statistics(struct trace_writer *writer, const struct trace_stream_stats *streams, size_t nr_streams, uint64_t end_ns,
			    struct trace_error *ret_error)
{
	struct trace_statistics_header header = { .stream_bytes = sizeof(struct trace_statistics_stream), .end_ns = end_ns };
	size_t done = 0;
	int error;

	do {
		size_t left = nr_streams - done;

		header.nr_streams = left < STATISTICS_MOST ? (uint32_t)left : STATISTICS_MOST;
		/* NULL has no elements */
		error = statistics_write(writer, nr_streams ? streams + done : NULL, header, done, left > header.nr_streams, ret_error);
		done += header.nr_streams;
	} while (!error && done < nr_streams);
	return error;
}

/* ---- end ---- */

/*
 * The table lists every chunk before it, in as many chunks as needed; the root chunk holds its
 * position.
 */
static int table_write(struct trace_writer *writer, struct trace_error *ret_error)
{
	struct trace_table_entry *entries = malloc(TRACE_TABLE_ENTRIES * sizeof(*entries));
	struct trace_table_root root = { .offset = writer->output.bytes,
					 .nr_entries = writer->index.bytes / sizeof(struct trace_index_entry),
					 .entry_bytes = sizeof(*entries),
					 .header_bytes = sizeof(struct trace_chunk_header),
					 .index_entries = TRACE_INDEX_ENTRIES };
	int error = entries ? 0 : error_set(ret_error, -ENOMEM, "no memory for the table of the trace's chunks");

	for (size_t at = 0; !error && at < root.nr_entries; root.nr_chunks++) {
		/* reloaded: the index grows with each chunk */
		const struct trace_index_entry *index = (const struct trace_index_entry *)writer->index.data + at;
		size_t nr = root.nr_entries - at < TRACE_TABLE_ENTRIES ? root.nr_entries - at : TRACE_TABLE_ENTRIES;

		for (size_t i = 0; i < nr; i++)
			entries[i] = table_entry_of(index[i].offset, &index[i].header);
		error = chunk_write_plain(writer, TRACE_CHUNK_TABLE, entries, nr * sizeof(*entries), ret_error);
		at += nr;
	}
	free(entries);
	return error ? error : chunk_write_plain(writer, TRACE_CHUNK_ROOT, &root, sizeof(root), ret_error);
}

/* The index lists every chunk before the first index chunk. It may need several chunks. */
static int index_write(struct trace_writer *writer, uint32_t *ret_nr_chunks, struct trace_error *ret_error)
{
	size_t portion = TRACE_INDEX_ENTRIES * sizeof(struct trace_index_entry);
	struct buffer index = writer->index;
	uint32_t nr_chunks = 0;
	int error = 0;

	writer->index = (struct buffer){ 0 };
	for (size_t at = 0; !error && at < index.bytes; at += portion, nr_chunks++)
		error = chunk_write_plain(writer, TRACE_CHUNK_INDEX, index.data + at,
					  index.bytes - at < portion ? index.bytes - at : portion, ret_error);
	free(writer->index.data);
	writer->index = index;
	*ret_nr_chunks = nr_chunks;
	return error;
}

int trace_writer_finish(struct trace_writer *writer, struct trace_error *ret_error)
{
	struct trace_end_mark mark = { .trace_id = writer->trace_id };
	struct iovec part = { &mark, sizeof(mark) };
	int error = trace_writer_flush_strings(writer, ret_error);

	if (!error)
		error = table_write(writer, ret_error);
	if (error)
		return error;
	mark.index_offset = writer->output.bytes;
	error = index_write(writer, &mark.nr_index_chunks, ret_error);
	if (error)
		return error;
	memcpy(mark.magic, TRACE_END_MAGIC, TRACE_MAGIC_BYTES);
	mark.file_bytes = writer->output.bytes + sizeof(mark);
	mark.checksum = XXH3_64bits(&mark, offsetof(struct trace_end_mark, checksum));
	error = output_write(&writer->output, &part, 1, ret_error);
	writer->totals.file_bytes = writer->output.bytes;
	return error;
}

void trace_writer_set_level(struct trace_writer *writer, int level)
{
	level_set(writer->zstd, level);
}

void trace_writer_totals(const struct trace_writer *writer, struct trace_writer_totals *ret_totals)
{
	*ret_totals = writer->totals;
}

struct trace_writer *trace_writer_free(struct trace_writer *writer)
{
	if (!writer)
		return NULL;
	compressors_free(writer);
	free(writer->packed.data);
	free(writer->index.data);
	free(writer->streams.data);
	stream_map_release(&writer->stream_map);
	free(writer->strings.data);
	free(writer->unwritten.data);
	free(writer->type_keys.data);
	schema_release(&writer->types);
	packing_release(&writer->packing);
	pthread_mutex_destroy(&writer->strings_lock);
	pthread_mutex_destroy(&writer->types_lock);
	free(writer);
	return NULL;
}
