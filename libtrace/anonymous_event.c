/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* anonymous_event.c - the payload of one event with pseudonyms. */
#include "anonymous_event.h"
#include "writer_chunk.h"

#include <string.h>
#include <trace/user_memory.h>

static bool is_user(const struct trace_event_type *type, const struct trace_field *field)
{
	return type->id < TRACE_EV_MAX && field->bytes == 4 &&
	       (strcmp(field->name, "uid") == 0 || strcmp(field->name, "gid") == 0);
}

bool anonymous_has_names(const struct trace_event_type *type)
{
	bool found = type->has_string;

	for (size_t i = 0; !found && i < type->nr_fields; i++)
		found = type->fields[i].kind == TRACE_KIND_ADDR || field_is_reference(&type->fields[i]) ||
			is_user(type, &type->fields[i]);
	return found;
}

/*
 * The two halves of an address are two fields in sequence. A half without the other one is
 * cleared.
 */
static size_t rewrite_address(struct pseudonyms *names, const struct trace_event_type *type, size_t idx,
			      unsigned char *payload)
{
	const struct trace_field *high = &type->fields[idx], *low = idx + 1 < type->nr_fields ? high + 1 : NULL;
	unsigned char address[16];

	if (!low || low->kind != TRACE_KIND_ADDR || high->bytes != 8 || low->bytes != 8) {
		memset(payload + high->offset, 0, high->bytes);
		return 1;
	}
	memcpy(address, payload + high->offset, 8);
	memcpy(address + 8, payload + low->offset, 8);
	pseudonym_address(names, address);
	memcpy(payload + high->offset, address, 8);
	memcpy(payload + low->offset, address + 8, 8);
	return 2;
}

static void rewrite_user(struct pseudonyms *names, const struct trace_field *field, unsigned char *payload)
{
	uint32_t id;

	memcpy(&id, payload + field->offset, sizeof(id));
	id = pseudonym_user(names, id);
	memcpy(payload + field->offset, &id, sizeof(id));
}

/*
 * The bytes of a reference; a wrong one becomes empty. So does the memory of an argument: equal
 * contents would have equal pseudonyms.
 */
static void rewrite_reference(struct pseudonyms *names, const struct trace_event_type *type,
			      const struct trace_field *field, unsigned char *payload, const char *text, size_t bytes,
			      struct writer_buffer *out)
{
	size_t begin = out->bytes;
	struct user_reference reference;

	memcpy(&reference, payload + field->offset, sizeof(reference));
	if (type->id != TRACE_EV_sys_data && reference.offset >= type->fixed_bytes &&
	    (size_t)reference.offset - type->fixed_bytes <= bytes &&
	    reference.bytes <= bytes - (reference.offset - type->fixed_bytes))
		pseudonym_name(names, PSEUDONYM_TEXT, text + reference.offset - type->fixed_bytes, reference.bytes,
			       out);
	reference.offset = (uint16_t)(type->fixed_bytes + begin);
	reference.bytes = (uint16_t)(out->bytes - begin);
	memcpy(payload + field->offset, &reference, sizeof(reference));
}

/* "bytes" is greater than the length of arguments that are cut. */
static void rewrite_arguments(struct pseudonyms *names, unsigned char *payload, const char *text, size_t bytes,
			      struct writer_buffer *out)
{
	struct trace_sched_args args;
	bool is_cut;

	memcpy(&args, payload, sizeof(args));
	is_cut = args.bytes > bytes;
	pseudonym_arguments(names, text, bytes, TRACE_ARGS_SEPARATOR, out);
	args.bytes = (uint32_t)out->bytes + is_cut;
	memcpy(payload, &args, sizeof(args));
}

static void rewrite_string(struct pseudonyms *names, const struct trace_event_type *type, unsigned char *payload,
			   const char *text, size_t bytes, struct writer_buffer *out)
{
	const struct trace_field *last = type->nr_fields ? &type->fields[type->nr_fields - 1] : NULL;
	enum trace_field_kind kind = last && !last->bytes ? last->kind : TRACE_KIND_TEXT;

	if ((type->id == TRACE_EV_start_args || type->id == TRACE_EV_sched_args) &&
	    type->fixed_bytes == sizeof(struct trace_sched_args))
		rewrite_arguments(names, payload, text, bytes, out);
	else if (kind == TRACE_KIND_COMM)
		pseudonym_thread(names, text, bytes, out);
	else if (kind == TRACE_KIND_PATH)
		pseudonym_path(names, text, bytes, out);
	else if (type->id == TRACE_EV_start_irq)
		pseudonym_name(names, PSEUDONYM_INTERRUPT, text, bytes, out);
	else if (type->id == TRACE_EV_trace_mark)
		pseudonym_name(names, PSEUDONYM_NOTE, text, bytes, out);
	else
		pseudonym_name(names, PSEUDONYM_TEXT, text, bytes, out);
}

void anonymous_event(struct pseudonyms *names, const struct trace_event_type *type, unsigned char *payload,
		     const char *text, size_t bytes, struct writer_buffer *out)
{
	bool has_references = false;

	if (type->id == TRACE_EV_sample && type->fixed_bytes == sizeof(struct trace_sample)) {
		/* addresses of code, which name nothing */
		if (bytes && !writer_buffer_add(out, text, bytes))
			names->failed = true;
		return;
	}
	for (size_t i = 0; i < type->nr_fields; i++) {
		const struct trace_field *field = &type->fields[i];

		if (field->kind == TRACE_KIND_ADDR) {
			i += rewrite_address(names, type, i, payload) - 1;
		} else if (is_user(type, field)) {
			rewrite_user(names, field, payload);
		} else if (field_is_reference(field)) {
			rewrite_reference(names, type, field, payload, text, bytes, out);
			has_references = true;
		}
	}
	if (type->has_string && !has_references)
		rewrite_string(names, type, payload, text, bytes, out);
}
