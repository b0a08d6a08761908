/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* event.c - reads the fields of an event at the positions that its type gives. */
#include <string.h>
#include <trace/reader.h>
#include <trace/user_memory.h>

#include "schema.h"

/*
 * Reads a number of @bytes bytes at @at. Each size has a move of its own; a copy of variable size
 * would be a call.
 */
static inline uint64_t number_at(const unsigned char *at, size_t bytes)
{
	uint64_t word;
	uint32_t half;
	uint16_t quarter;

	switch (bytes) {
	case 8:
		memcpy(&word, at, 8);
		return word;
	case 4:
		memcpy(&half, at, 4);
		return half;
	case 2:
		memcpy(&quarter, at, 2);
		return quarter;
	default:
		return *at;
	}
}

uint64_t trace_event_u64(const struct trace_event *event, const struct trace_field *field)
{
	uint64_t value;

	if (!field || field->bytes == 0)
		return 0;
	value = number_at((const unsigned char *)event->payload + field->offset, field->bytes);
	if (field->is_signed && field->bytes < 8) {
		unsigned int shift = 64 - 8 * field->bytes;

		value = (uint64_t)((int64_t)(value << shift) >> shift);
	}
	return value;
}

double trace_event_double(const struct trace_event *event, const struct trace_field *field)
{
	uint64_t bits = trace_event_u64(event, field);
	uint32_t low = (uint32_t)bits;
	double number;
	float half;

	if (!field || field->kind != TRACE_KIND_FLOAT)
		return field && field->is_signed ? (double)(int64_t)bits : (double)bits;
	if (field->bytes == 8) {
		memcpy(&number, &bits, sizeof(number));
		return number;
	}
	memcpy(&half, &low, sizeof(half));
	return half;
}

const char *trace_event_string(const struct trace_event *event)
{
	bool has_one = event->type->has_string && !type_has_references(event->type);

	return has_one ? (const char *)event->payload + event->type->fixed_bytes : "";
}

const void *trace_event_bytes(const struct trace_event *event, const struct trace_field *field, size_t *ret_bytes)
{
	size_t payload_bytes = event->payload_bytes - event->type->has_string; /* without the NUL */
	struct user_reference reference;

	*ret_bytes = 0;
	if (field && field->bytes == 0 && event->type->has_string) {
		*ret_bytes = strlen(trace_event_string(event));
		return trace_event_string(event);
	}
	if (!field || !field_is_reference(field))
		return NULL;
	memcpy(&reference, (const unsigned char *)event->payload + field->offset, sizeof(reference));
	if ((size_t)reference.offset + reference.bytes > payload_bytes)
		return NULL;
	*ret_bytes = reference.bytes;
	return (const unsigned char *)event->payload + reference.offset;
}
