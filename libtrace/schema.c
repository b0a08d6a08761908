/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* schema.c - serialize event types into a schema chunk, and read them back. */
#include "schema.h"

#include "catalogue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>
#include <trace/user_memory.h>

static const char *const kind_names[TRACE_NR_KINDS] = {
#define KIND(name) [TRACE_KIND_##name] = #name
	KIND(DEC),    KIND(HEX),    KIND(NS),	   KIND(TID),	 KIND(CPU),   KIND(BOOL),    KIND(SYSCALL),
	KIND(RESULT), KIND(IRQ),    KIND(SOFTIRQ), KIND(VECTOR), KIND(STATE), KIND(CONTEXT), KIND(DEV),
	KIND(MODE),   KIND(SIGNAL), KIND(FAMILY),  KIND(PORT),	 KIND(ADDR),  KIND(EVENT),   KIND(COMM),
	KIND(PATH),   KIND(TEXT),   KIND(PAD),	   KIND(FLOAT),	 KIND(CHAR),  KIND(STRING),  KIND(BYTES),
#undef KIND
};

/* ---- writing ---- */

/**
 * struct texts - the concatenated texts of the schema; grows. @failed: out of memory, the rest is
 * invalid
 */
struct texts {
	char *data;
	size_t bytes;
	size_t room;
	bool failed;
};

static uint32_t texts_add(struct texts *texts, const char *text)
{
	size_t bytes = strlen(text) + 1;
	size_t at = texts->bytes;

	if (texts->failed)
		return 0;
	if (at + bytes > texts->room) {
		size_t room = 2 * (at + bytes) + 4096;
		char *data = realloc(texts->data, room);

		if (!data) {
			texts->failed = true;
			return 0;
		}
		texts->data = data;
		texts->room = room;
	}
	memcpy(texts->data + at, text, bytes);
	texts->bytes += bytes;
	return (uint32_t)at;
}

static struct trace_schema_type type_to_disk(const struct trace_event_type *type, uint32_t first_field,
					     struct texts *texts)
{
	return (struct trace_schema_type){
		.id = type->id,
		.nr_fields = type->nr_fields,
		.fixed_bytes = type->fixed_bytes,
		.has_string = type->has_string,
		.flags = type->flags,
		.first_field = first_field,
		.name = texts_add(texts, type->name),
		.category = texts_add(texts, trace_category_name(type->category)),
		.classic = texts_add(texts, type->classic),
		.program = texts_add(texts, type->program),
		.text = texts_add(texts, type->text),
		.doc = texts_add(texts, type->doc),
		.source = texts_add(texts, type->source ? type->source : ""),
		.role = (uint16_t)type->role,
	};
}

static struct trace_schema_field field_to_disk(const struct trace_field *field, struct texts *texts)
{
	return (struct trace_schema_field){
		.name = texts_add(texts, field->name),
		.kind = texts_add(texts, kind_names[field->kind]),
		.offset = field->offset,
		.bytes = field->bytes,
		.is_signed = field->is_signed,
	};
}

unsigned char *schema_serialize(const struct trace_event_type *const *from, size_t nr, size_t *ret_bytes)
{
	struct trace_schema_header header = {.nr_types = (uint32_t)nr,
					     .type_bytes = sizeof(struct trace_schema_type),
					     .field_bytes = sizeof(struct trace_schema_field)};
	struct texts texts = {0};
	struct trace_schema_type *types;
	struct trace_schema_field *fields;
	unsigned char *payload = NULL, *at;
	uint32_t nr_fields = 0;

	for (size_t i = 0; i < nr; i++)
		header.nr_fields += from[i]->nr_fields;
	types = calloc(nr + 1, sizeof(*types));
	fields = calloc(header.nr_fields + 1, sizeof(*fields));
	if (!types || !fields)
		goto done;
	for (size_t i = 0; i < nr; i++) {
		types[i] = type_to_disk(from[i], nr_fields, &texts);
		for (size_t j = 0; j < from[i]->nr_fields; j++)
			fields[nr_fields++] = field_to_disk(&from[i]->fields[j], &texts);
	}
	if (texts.failed)
		goto done;
	header.text_bytes = (uint32_t)texts.bytes;
	*ret_bytes = sizeof(header) + nr * sizeof(*types) + nr_fields * sizeof(*fields) + texts.bytes;
	payload = malloc(*ret_bytes);
	if (!payload)
		goto done;
	at = mempcpy(payload, &header, sizeof(header));
	at = mempcpy(at, types, nr * sizeof(*types));
	at = mempcpy(at, fields, nr_fields * sizeof(*fields));
	memcpy(at, texts.data, texts.bytes);
done:
	free(types);
	free(fields);
	free(texts.data);
	return payload;
}

unsigned char *schema_serialize_catalogue(size_t *ret_bytes)
{
	const struct trace_event_type *types[TRACE_EV_MAX];

	for (size_t i = 0; i < trace_catalogue_size(); i++)
		types[i] = trace_catalogue_type(i);
	return schema_serialize(types, trace_catalogue_size(), ret_bytes);
}

/* ---- reading ---- */

/**
 * struct view - a schema chunk's payload; all its parts are checked to lie inside it
 * @left, @type_left: bytes that all types, and the current type, may still use
 * SECURITY: types can share fields and texts, so a payload of 16 MiB could expand without limit.
 * Each use is therefore counted.
 */
struct view {
	struct trace_schema_header header;
	size_t left;
	size_t type_left;
	const unsigned char *types;
	const unsigned char *fields;
	const char *texts; /* ends with a NUL */
};

/* The payload must have room for the header. */
static bool view_init(struct view *view, const unsigned char *payload, size_t bytes)
{
	struct trace_schema_header *header = &view->header;
	size_t types_bytes, fields_bytes, total;

	memcpy(header, payload, sizeof(*header));
	if (header->type_bytes < offsetof(struct trace_schema_type, source) ||
	    header->field_bytes < sizeof(struct trace_schema_field) || header->text_bytes == 0 ||
	    __builtin_mul_overflow((size_t)header->nr_types, header->type_bytes, &types_bytes) ||
	    __builtin_mul_overflow((size_t)header->nr_fields, header->field_bytes, &fields_bytes) ||
	    __builtin_add_overflow(sizeof(*header) + (size_t)header->text_bytes, types_bytes, &total) ||
	    __builtin_add_overflow(total, fields_bytes, &total) || total > bytes)
		return false;
	view->types = payload + sizeof(*header);
	view->fields = view->types + types_bytes;
	view->texts = (const char *)view->fields + fields_bytes;
	view->left = TRACE_RAW_MAX;
	return view->texts[header->text_bytes - 1] == '\0';
}

static void view_take(struct view *view, size_t bytes)
{
	view->type_left -= bytes < view->type_left ? bytes : view->type_left;
}

static const char *view_text(struct view *view, uint32_t at)
{
	const char *text = at < view->header.text_bytes ? view->texts + at : "";

	view_take(view, strnlen(text, view->type_left) + 1);
	return text;
}

static enum trace_field_kind kind_by_name(const char *name, bool is_string)
{
	for (int kind = 0; kind < TRACE_NR_KINDS; kind++)
		if (!strcmp(kind_names[kind], name))
			return (enum trace_field_kind)kind;
	return is_string ? TRACE_KIND_TEXT : TRACE_KIND_DEC;
}

static enum trace_category category_by_name(const char *name)
{
	for (int category = 0; category < TRACE_NR_CATEGORIES; category++)
		if (!strcmp(trace_category_name((enum trace_category)category), name))
			return (enum trace_category)category;
	return TRACE_CATEGORY_USER;
}

static bool field_from_disk(struct view *view, size_t idx, const struct trace_schema_type *owner,
			    struct trace_field *ret_field)
{
	struct trace_schema_field disk;
	bool is_string;

	memcpy(&disk, view->fields + idx * view->header.field_bytes, sizeof(disk));
	is_string = disk.bytes == 0;
	if (is_string ? !owner->has_string || disk.offset != owner->fixed_bytes
		      : (disk.bytes & (disk.bytes - 1)) || disk.bytes > 8 ||
				disk.offset + disk.bytes > owner->fixed_bytes)
		return false;
	*ret_field = (struct trace_field){
		.name = view_text(view, disk.name),
		.offset = disk.offset,
		.bytes = disk.bytes,
		.is_signed = disk.is_signed,
		.kind = kind_by_name(view_text(view, disk.kind), is_string),
	};
	if (field_is_reference(ret_field))
		return disk.bytes == sizeof(struct user_reference);
	return ret_field->kind != TRACE_KIND_FLOAT || disk.bytes >= 4;
}

bool type_has_references(const struct trace_event_type *type)
{
	for (size_t i = 0; i < type->nr_fields; i++)
		if (field_is_reference(&type->fields[i]))
			return true;
	return false;
}

/*
 * Ids of the catalogue and of the recording are good. TRACE_EV_USER stands for all programs' events
 * and is never the id of a type.
 */
static bool id_is_good(uint16_t id)
{
	return id != 0 && id != TRACE_EV_USER;
}

/* A type has references or a string, not both; a type with a thread id has room for it. */
static bool type_is_good(const struct trace_event_type *type)
{
	bool references = type_has_references(type);

	for (size_t i = 0; references && i < type->nr_fields; i++)
		if (type->fields[i].bytes == 0)
			return false;
	return !(type->flags & TRACE_EVENT_TID) || type->fixed_bytes >= 8;
}

static bool type_from_disk(struct view *view, size_t idx, struct trace_field *fields, struct trace_event_type *ret_type)
{
	struct trace_schema_type disk = {.source = UINT32_MAX};
	size_t stride = view->header.type_bytes,
	       room = view->left < SCHEMA_TYPE_MAX_BYTES ? view->left : SCHEMA_TYPE_MAX_BYTES;

	memcpy(&disk, view->types + idx * stride,
	       stride < sizeof(disk) ? offsetof(struct trace_schema_type, source) : sizeof(disk));
	if (!id_is_good(disk.id) || disk.fixed_bytes % 8 || disk.fixed_bytes > TRACE_RECORD_MAX_BYTES - 8 ||
	    disk.first_field > view->header.nr_fields || disk.nr_fields > view->header.nr_fields - disk.first_field)
		return false;
	view->type_left = room;
	view_take(view, sizeof(disk) + disk.nr_fields * sizeof(struct trace_schema_field));
	fields += disk.first_field;
	for (size_t i = 0; i < disk.nr_fields; i++)
		if (!view->type_left || !field_from_disk(view, disk.first_field + i, &disk, &fields[i]))
			return false;
	*ret_type = (struct trace_event_type){
		.name = view_text(view, disk.name),
		.classic = view_text(view, disk.classic),
		.text = view_text(view, disk.text),
		.doc = view_text(view, disk.doc),
		.program = view_text(view, disk.program),
		.fields = fields,
		.nr_fields = disk.nr_fields,
		.id = disk.id,
		.fixed_bytes = disk.fixed_bytes,
		.has_string = disk.has_string,
		.category = category_by_name(view_text(view, disk.category)),
		.flags = disk.flags,
		.role = disk.role < TRACE_NR_ROLES ? (enum trace_event_role)disk.role : TRACE_ROLE_EVENT,
		.source = view_text(view, disk.source),
	};
	view->left -= room - view->type_left;
	return view->type_left && type_is_good(ret_type);
}

static bool schema_reserve(struct schema *schema, size_t nr)
{
	const struct trace_event_type **types;
	size_t room = 2 * (schema->nr_types + nr) + 64;

	if (schema->nr_types + nr <= schema->types_room)
		return true;
	types = reallocarray(schema->types, room, sizeof(*types));
	if (!types)
		return false;
	schema->types = types;
	schema->types_room = room;
	return true;
}

static const struct trace_event_type **schema_user_types(struct schema *schema)
{
	const struct trace_event_type **by_user_id = schema->by_user_id;

	if (by_user_id)
		return by_user_id;
	by_user_id = calloc(SCHEMA_NR_IDS - TRACE_EV_MAX, sizeof(*by_user_id));
	__atomic_store_n(&schema->by_user_id, by_user_id, __ATOMIC_RELEASE);
	return by_user_id;
}

/*
 * The list must have room for it. The first definition of an id is valid. The type of an event that
 * the reader makes itself is always the library's own.
 */
static int schema_put(struct schema *schema, const struct trace_event_type *type)
{
	const struct trace_event_type **entry;

	if (schema_type(schema, type->id))
		return 0;
	if (type->id == TRACE_EV_trace_lost)
		type = catalogue_by_id(TRACE_EV_trace_lost);
	if (type->id >= TRACE_EV_MAX && !schema_user_types(schema))
		return -ENOMEM;
	entry = type->id < TRACE_EV_MAX ? &schema->by_id[type->id] : &schema->by_user_id[type->id - TRACE_EV_MAX];
	__atomic_store_n(entry, type, __ATOMIC_RELEASE); /* pairs with schema_type() */
	schema->types[schema->nr_types++] = type;
	return 0;
}

/* Make room for three more blocks. */
static bool schema_reserve_memory(struct schema *schema)
{
	size_t room = 2 * schema->nr_memory + 16;
	void **memory;

	if (schema->nr_memory + 3 <= schema->memory_room)
		return true;
	memory = realloc(schema->memory, room * sizeof(*memory));
	if (!memory)
		return false;
	schema->memory = memory;
	schema->memory_room = room;
	return true;
}

int schema_add(struct schema *schema, const unsigned char *payload, size_t bytes)
{
	struct trace_event_type *types = NULL;
	struct trace_field *fields = NULL;
	unsigned char *copy = NULL;
	struct view view;
	int error = -EBADMSG;

	if (bytes < sizeof(view.header) || schema->memory_bytes + bytes > SCHEMA_MAX_BYTES)
		goto fail;
	error = -ENOMEM;
	copy = malloc(bytes + 1);
	if (!copy || !schema_reserve_memory(schema))
		goto fail;
	memcpy(copy, payload, bytes);
	error = -EBADMSG;
	if (!view_init(&view, copy, bytes))
		goto fail;
	error = -ENOMEM;
	types = calloc(view.header.nr_types + 1, sizeof(*types));
	fields = calloc(view.header.nr_fields + 1, sizeof(*fields));
	if (!types || !fields || !schema_reserve(schema, view.header.nr_types))
		goto fail;
	error = -EBADMSG;
	for (size_t i = 0; i < view.header.nr_types; i++)
		if (!type_from_disk(&view, i, fields, &types[i]))
			goto fail;
	schema->memory[schema->nr_memory++] = copy;
	schema->memory[schema->nr_memory++] = types;
	schema->memory[schema->nr_memory++] = fields;
	schema->memory_bytes += bytes;
	error = 0;
	for (size_t i = 0; !error && i < view.header.nr_types; i++)
		error = schema_put(schema, &types[i]);
	return error;
fail:
	free(copy);
	free(types);
	free(fields);
	return error;
}

int schema_add_catalogue(struct schema *schema)
{
	if (!schema_reserve(schema, trace_catalogue_size()))
		return -ENOMEM;
	for (size_t i = 0; i < trace_catalogue_size(); i++)
		schema_put(schema, trace_catalogue_type(i));
	return 0;
}

void schema_release(struct schema *schema)
{
	for (size_t i = 0; i < schema->nr_memory; i++)
		free(schema->memory[i]);
	free(schema->memory);
	free(schema->types);
	free(schema->by_user_id);
	*schema = (struct schema){0};
}

const struct trace_field *trace_type_field(const struct trace_event_type *type, const char *name)
{
	for (size_t i = 0; type && i < type->nr_fields; i++)
		if (!strcmp(type->fields[i].name, name))
			return &type->fields[i];
	return NULL;
}

const struct trace_field *trace_type_first_field(const struct trace_event_type *type)
{
	for (size_t i = 0; i < type->nr_fields; i++)
		if (!(type->flags & TRACE_EVENT_TID) || type->fields[i].offset)
			return &type->fields[i];
	return NULL;
}
