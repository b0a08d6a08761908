/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SCHEMA_H
#define LIBTRACE_SCHEMA_H
/* schema.h - event types: the library's own catalogue, and the schema of a trace. */
#include <stdbool.h>
#include <trace/reader.h>

enum {
	SCHEMA_NR_IDS = 65536,
	SCHEMA_MAX_BYTES = 256 << 20,	  /* all schema chunks of a trace together */
	SCHEMA_TYPE_MAX_BYTES = 64 << 10, /* one type with its fields and texts */
};

/**
 * struct schema - the event types of a trace. Zeroed = empty
 * One thread adds types. Other threads may call schema_type() concurrently, but must not use
 * @types.
 * @by_id: types with ids of the catalogue; NULL: not in the trace
 * @by_user_id: types with ids from TRACE_EV_MAX on; NULL: none
 */
struct schema {
	const struct trace_event_type *by_id[TRACE_EV_MAX];
	const struct trace_event_type **by_user_id; /* owned */
	const struct trace_event_type **types;	    /* owned; all types in order of appearance */
	size_t nr_types;
	size_t types_room;
	void **memory; /* owned; memory blocks of the types */
	size_t nr_memory;
	size_t memory_room;
	size_t memory_bytes;
};

/** schema_type() - the type with @id, or NULL */
static inline const struct trace_event_type *schema_type(const struct schema *schema, uint32_t id)
{
	const struct trace_event_type **by_user_id;

	if (id < TRACE_EV_MAX)
		return schema->by_id[id];
	by_user_id = __atomic_load_n(&schema->by_user_id, __ATOMIC_ACQUIRE); /* pairs with schema_put() */
	return by_user_id && id < SCHEMA_NR_IDS ? __atomic_load_n(&by_user_id[id - TRACE_EV_MAX], __ATOMIC_ACQUIRE)
						: NULL;
}

/** schema_serialize() - the payload of a schema chunk with @nr types; malloc'ed. NULL: no memory */
unsigned char *schema_serialize(const struct trace_event_type *const *types, size_t nr, size_t *ret_bytes);

/** schema_serialize_catalogue() - the same for the library's own types */
unsigned char *schema_serialize_catalogue(size_t *ret_bytes);

/**
 * schema_add() - add the types of a schema chunk's payload. 0, -EBADMSG (nothing added) or -ENOMEM
 */
int schema_add(struct schema *schema, const unsigned char *payload, size_t bytes) TRACE_NODISCARD;

/** schema_add_catalogue() - add the library's own types that the trace lacks. 0 or -ENOMEM */
int schema_add_catalogue(struct schema *schema) TRACE_NODISCARD;

/** field_is_reference() - does the field refer to bytes elsewhere in the payload? */
static inline bool field_is_reference(const struct trace_field *field)
{
	return field->kind == TRACE_KIND_STRING || field->kind == TRACE_KIND_BYTES;
}

/**
 * type_has_references() - do fields refer to the bytes after the fixed part? Otherwise these are a
 * string with its NUL
 */
bool type_has_references(const struct trace_event_type *type);

void schema_release(struct schema *schema);

#endif
