/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SCHEMA_H
#define LIBTRACE_SCHEMA_H
/* schema.h - event types: the library's own catalogue, and the schema that a trace carries. */
#include <stdbool.h>
#include <trace/reader.h>

/** struct schema - the event types of a trace. Zeroed = empty */
struct schema {
	const struct trace_event_type *by_id[TRACE_EV_MAX]; /* NULL: not in the trace */
	const struct trace_event_type *types[TRACE_EV_MAX]; /* the same, without holes */
	size_t nr_types;
	void **memory; /* owned; blocks behind the types */
	size_t nr_memory;
};

/** schema_serialize() - the payload of the catalogue's schema chunk; malloc'ed. NULL: no memory */
unsigned char *schema_serialize(size_t *ret_bytes);

/** schema_add() - the types of a schema chunk's payload. 0, -EBADMSG (nothing added) or -ENOMEM */
int schema_add(struct schema *schema, const unsigned char *payload, size_t bytes);

/** schema_add_catalogue() - the library's own types where the trace has none */
void schema_add_catalogue(struct schema *schema);

void schema_release(struct schema *schema);

/** catalogue_types() - the library's own types by id, TRACE_EV_MAX of them, with holes: NULL */
const struct trace_event_type *const *catalogue_types(void);

/** catalogue_by_id() - the library's own type, or NULL */
const struct trace_event_type *catalogue_by_id(uint32_t id);

#endif
