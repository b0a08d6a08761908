/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* anonymous_names.c - names of numbers, and descriptions of events, with pseudonyms. */
#include "anonymous_names.h"
#include "schema.h"
#include "writer_chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- names of numbers ---- */

static void put(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out)
{
	if (bytes && !writer_buffer_add(out, text, bytes))
		names->failed = true;
}

/* "6.18.0" of "6.18.0-acme" */
static size_t version_bytes(const char *text, size_t bytes)
{
	size_t at = 0;

	while (at < bytes && text[at] && strchr("0123456789.", text[at]))
		at++;
	return at;
}

/* The kernel has cut the name of the command's thread; docs/GLOSSARY.md, comm. */
static void put_command(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out)
{
	const char *end = memchr(text, ' ', bytes), *slash;
	size_t word = end ? (size_t)(end - text) : bytes;

	slash = memrchr(text, '/', word);
	if (word - (slash ? (size_t)(slash + 1 - text) : 0) > 15)
		word = (slash ? (size_t)(slash + 1 - text) : 0) + 15;
	pseudonym_path(names, text, word, out);
}

static void put_info(struct pseudonyms *names, uint64_t key, const char *text, size_t bytes, struct writer_buffer *out)
{
	switch (key) {
	case TRACE_INFO_HOST:
		put(names, "host", bytes ? 4 : 0, out);
		break;
	case TRACE_INFO_KERNEL:
		put(names, text, version_bytes(text, bytes), out);
		break;
	case TRACE_INFO_COMMAND:
		put_command(names, text, bytes, out);
		break;
	case TRACE_INFO_MACHINE:
	case TRACE_INFO_CLOCK:
	case TRACE_INFO_LEFT_OUT:
	case TRACE_INFO_CHOSEN:
	case TRACE_INFO_CPUS:
	case TRACE_INFO_DISTRUSTED:
	case TRACE_INFO_RECORDER:
	case TRACE_INFO_PART:
	case TRACE_INFO_SAMPLED_BY:
		put(names, text, bytes, out);
		break;
	default: /* the number of the boot, a trigger, which has names, and what a newer recorder has */
		break;
	}
}

/* "sock_send: ..." begins with the name of an event; what is missing of a program is a note. */
static void put_not_traced(struct pseudonyms *names, const char *text, size_t bytes, struct writer_buffer *out)
{
	const char *colon = memchr(text, ':', bytes);
	size_t word = colon ? (size_t)(colon - text) : 0;

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		const char *name = trace_catalogue_type(i)->name;

		if (strlen(name) == word && memcmp(name, text, word) == 0) {
			put(names, text, word, out);
			put(names, ": ", 2, out);
			break;
		}
	}
	pseudonym_name(names, PSEUDONYM_NOTE, text, bytes, out);
}

static void put_string(struct pseudonyms *names, const struct trace_string_entry *entry, const char *text,
		       struct writer_buffer *out)
{
	switch (entry->space) {
	case TRACE_STRING_SYSCALL:
	case TRACE_STRING_SYSCALL_32:
	case TRACE_STRING_SOFTIRQ:
	case TRACE_STRING_VECTOR:
	case TRACE_STRING_SYMBOL:
		put(names, text, entry->text_bytes, out);
		break;
	case TRACE_STRING_IRQ:
		pseudonym_name(names, PSEUDONYM_INTERRUPT, text, entry->text_bytes, out);
		break;
	case TRACE_STRING_INFO:
		put_info(names, entry->key, text, entry->text_bytes, out);
		break;
	case TRACE_STRING_NOT_TRACED:
		put_not_traced(names, text, entry->text_bytes, out);
		break;
	case TRACE_STRING_DEVICE:
	case TRACE_STRING_NETDEV:
		pseudonym_device(names, entry->space == TRACE_STRING_NETDEV, text, entry->text_bytes, out);
		break;
	default: /* builds of programs, and what a newer recorder has */
		break;
	}
}

/* Without a text there is no name, so such an entry is left out. */
int anonymous_strings(struct pseudonyms *names, const unsigned char *raw, size_t bytes, struct writer_buffer *out)
{
	const unsigned char *end = raw + bytes;
	struct trace_string_entry entry;

	while (raw < end) {
		size_t at = out->bytes;

		if ((size_t)(end - raw) < sizeof(entry))
			return -EBADMSG;
		memcpy(&entry, raw, sizeof(entry));
		raw += sizeof(entry);
		if ((size_t)(end - raw) < entry.text_bytes)
			return -EBADMSG;
		put(names, (const char *)&entry, sizeof(entry), out);
		put_string(names, &entry, (const char *)raw, out);
		raw += entry.text_bytes;
		if (names->failed)
			return -ENOMEM;
		if (out->bytes == at + sizeof(entry)) {
			out->bytes = at;
			continue;
		}
		entry.text_bytes = (uint16_t)(out->bytes - at - sizeof(entry));
		entry.reserved = 0;
		memcpy(out->data + at, &entry, sizeof(entry));
	}
	return 0;
}

/* ---- descriptions of events ---- */

/** struct new_type - a description with pseudonyms. @names: all of them, with their NULs; owned */
struct new_type {
	struct trace_event_type type;
	struct trace_field *fields; /* owned */
	struct writer_buffer names;
};

/* The name keeps the end that tells its role: "provider-1:event-2.begin". */
static void new_name(struct pseudonyms *names, const struct trace_event_type *type, struct writer_buffer *out)
{
	size_t stem = trace_type_stem(type);
	const char *colon = memchr(type->name, ':', stem), *event = colon ? colon + 1 : type->name;

	if (colon) {
		pseudonym_name(names, PSEUDONYM_PROVIDER, type->name, (size_t)(colon - type->name), out);
		put(names, ":", 1, out);
	}
	pseudonym_name(names, PSEUDONYM_EVENT, event, (size_t)(type->name + stem - event), out);
	put(names, type->name + stem, strlen(type->name + stem) + 1, out);
}

static bool new_type_make(struct pseudonyms *names, const struct trace_event_type *old, struct new_type *new)
{
	size_t at;

	*new = (struct new_type){.type = *old, .fields = calloc(old->nr_fields + 1u, sizeof(*new->fields))};
	if (!new->fields)
		return false;
	new_name(names, old, &new->names);
	for (size_t i = 0; i < old->nr_fields; i++) {
		new->fields[i] = old->fields[i];
		pseudonym_name(names, PSEUDONYM_FIELD, old->fields[i].name, strlen(old->fields[i].name), &new->names);
		put(names, "", 1, &new->names);
	}
	if (names->failed)
		return false;
	new->type.name = (const char *)new->names.data;
	new->type.text = new->type.doc = new->type.source = "";
	new->type.classic = new->type.program = "NONE";
	new->type.fields = new->fields;
	at = strlen(new->type.name) + 1;
	for (size_t i = 0; i < old->nr_fields; i++) {
		new->fields[i].name = (const char *)new->names.data + at;
		at += strlen(new->fields[i].name) + 1;
	}
	return true;
}

static int rewrite_types(struct pseudonyms *names, const struct schema *schema, struct writer_buffer *out)
{
	struct new_type *new = calloc(schema->nr_types, sizeof(*new));
	const struct trace_event_type **types = calloc(schema->nr_types, sizeof(*types));
	unsigned char *payload = NULL;
	bool is_good = new &&types;
	size_t bytes = 0;

	for (size_t i = 0; is_good && i < schema->nr_types; i++) {
		types[i] = schema->types[i]->id < TRACE_EV_MAX ? schema->types[i] : &new[i].type;
		if (schema->types[i]->id >= TRACE_EV_MAX)
			is_good = new_type_make(names, schema->types[i], &new[i]);
	}
	if (is_good)
		payload = schema_serialize(types, schema->nr_types, &bytes);
	is_good = payload && writer_buffer_add(out, payload, bytes);
	for (size_t i = 0; new &&i < schema->nr_types; i++) {
		free(new[i].fields);
		free(new[i].names.data);
	}
	free(payload);
	free(types);
	free(new);
	return is_good ? 0 : -ENOMEM;
}

int anonymous_schema(struct pseudonyms *names, const unsigned char *raw, size_t bytes, struct writer_buffer *out)
{
	struct schema schema = {0};
	bool has_programs = false;
	int error = schema_add(&schema, raw, bytes);

	for (size_t i = 0; !error && i < schema.nr_types; i++)
		has_programs |= schema.types[i]->id >= TRACE_EV_MAX;
	if (!error && has_programs)
		error = rewrite_types(names, &schema, out);
	else if (!error && !writer_buffer_add(out, raw, bytes))
		error = -ENOMEM;
	schema_release(&schema);
	return error;
}
