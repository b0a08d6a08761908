/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * writer_types.c - the types of programs: each gets an id when it is first described, and its
 * description is in the file before its first event.
 */
#include "writer_types.h"

#include "catalogue.h"
#include "error_set.h"
#include "writer_chunk.h"
#include "writer_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/**
 * struct type_key - identity of a type: the hash of its serialized form. @id 0: the entry is free
 */
struct type_key {
	uint64_t hash[2];
	uint16_t id;
};

enum { TYPES_PER_CHUNK = TRACE_RAW_MAX / SCHEMA_TYPE_MAX_BYTES };

/* The key's entry in the table, or the free entry where it belongs. */
static struct type_key *type_key_find(const struct writer_buffer *table, const struct type_key *key)
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
	struct writer_buffer larger = {.room = (nr ? 2 * nr : 64) * sizeof(struct type_key)};

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
static struct type_key *type_key_of(struct trace_writer *writer, const struct trace_event_type *type,
				    struct type_key *key)
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

static int type_add(struct trace_writer *writer, const struct trace_event_type *type, uint16_t *ret_id,
		    struct trace_error *ret_error)
{
	struct trace_event_type numbered = *type;
	const struct trace_event_type *list = &numbered;
	struct type_key key = {.id = (uint16_t)(TRACE_EV_MAX + writer->types.nr_types)},
			*entry = type_key_of(writer, type, &key);
	unsigned char *payload;
	size_t bytes = 0;
	int error;

	if (!entry)
		return error_set(ret_error, -ENOMEM, "no memory for the description of an event");
	if (entry->id) {
		*ret_id = entry->id;
		return 0;
	}
	if (TRACE_EV_MAX + writer->types.nr_types >= SCHEMA_NR_IDS)
		return error_set(ret_error, -ENOSPC, "programs have more event types than a trace can hold: %d",
				 SCHEMA_NR_IDS - TRACE_EV_MAX);
	numbered.id = key.id;
	payload = schema_serialize(&list, 1, &bytes);
	error = !payload			? -ENOMEM
		: bytes > SCHEMA_TYPE_MAX_BYTES ? -EBADMSG
						: schema_add(&writer->types, payload, bytes);
	free(payload);
	if (error)
		return error_set(ret_error, error == -EBADMSG ? -EINVAL : error,
				 error == -EBADMSG ? "the description of an event is invalid"
						   : "no memory for the description of an event");
	*entry = key;
	*ret_id = key.id;
	return 0;
}

int trace_writer_event_type(struct trace_writer *writer, const struct trace_event_type *type, uint16_t *ret_id,
			    struct trace_error *ret_error)
{
	int error;

	pthread_mutex_lock(&writer->types_lock);
	error = type_add(writer, type, ret_id, ret_error);
	pthread_mutex_unlock(&writer->types_lock);
	return error;
}

uint16_t trace_writer_known_type(struct trace_writer *writer, const struct trace_event_type *type)
{
	const struct type_key *entry;
	struct type_key key;
	uint16_t id;

	pthread_mutex_lock(&writer->types_lock);
	entry = type_key_of(writer, type, &key);
	id = entry ? entry->id : 0;
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

int writer_types_write(struct trace_writer *writer, struct trace_error *ret_error)
{
	size_t nr, bytes;
	int error = 0;

	while (!error) {
		unsigned char *payload = types_serialize(writer, &nr, &bytes);

		if (!nr)
			break;
		error = payload ? writer_chunk_write_plain(writer, TRACE_CHUNK_SCHEMA, payload, bytes, ret_error)
				: error_set(ret_error, -ENOMEM, "no memory for the schema of the trace");
		free(payload);
		if (!error)
			writer->nr_types_written += nr;
	}
	return error;
}
