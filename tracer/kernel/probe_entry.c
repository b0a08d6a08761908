/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe_entry.c - the list of places, and the fields of their events. */
#include "probe_entry.h"

#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "probe_code.h"

/* ---- the list ---- */

struct trace_probes *trace_probes_new(void)
{
	return calloc(1, sizeof(struct trace_probes));
}

struct trace_probes *trace_probes_free(struct trace_probes *probes)
{
	if (!probes)
		return NULL;
	for (size_t i = 0; i < probes->nr; i++)
		free(probes->entries[i]);
	free(probes->entries);
	free(probes);
	return NULL;
}

size_t trace_probes_nr(const struct trace_probes *probes)
{
	return probes->nr;
}

const struct trace_probe *trace_probes_get(const struct trace_probes *probes, size_t idx)
{
	return idx < probes->nr ? &probes->entries[idx]->probe : NULL;
}

void probe_entry_too_many(struct trace_error *ret_error)
{
	error_set(ret_error, -E2BIG, "more than %d places to probe; use a narrower pattern", TRACE_PROBE_MAX_PLACES);
}

struct probe_entry *probe_entry_new(struct trace_probes *probes, const char *file, struct trace_error *ret_error)
{
	struct probe_entry *entry;

	if (probes->nr == TRACE_PROBE_MAX_PLACES) {
		probe_entry_too_many(ret_error);
		return NULL;
	}
	if (probes->nr == probes->room) {
		size_t room = probes->room ? 2 * probes->room : 16;
		struct probe_entry **entries = reallocarray(probes->entries, room, sizeof(*entries));

		if (!entries) {
			error_set(ret_error, -ENOMEM, "out of memory");
			return NULL;
		}
		probes->entries = entries;
		probes->room = room;
	}
	entry = calloc(1, sizeof(*entry) + strlen(file) + 1);
	if (!entry) {
		error_set(ret_error, -ENOMEM, "out of memory");
		return NULL;
	}
	memcpy(entry->file, file, strlen(file));
	entry->probe.type = &entry->type;
	entry->probe.file = entry->file;
	entry->probe.function = entry->function;
	entry->probe.option = probes->nr_options;
	entry->type = (struct trace_event_type){
		.name = entry->name,
		.classic = "NONE",
		.text = "",
		.doc = entry->doc,
		.program = "NONE",
		.fields = entry->fields,
		.category = TRACE_CATEGORY_USER,
		.flags = TRACE_EVENT_ON,
		.source = entry->source,
	};
	probes->entries[probes->nr++] = entry;
	return entry;
}

/* ---- fields ---- */

/*
 * Make a field name from an expression, like tracepoint(): order->id becomes order_id, $arg1
 * becomes arg1. A duplicate gets a number.
 */
static void name_field(struct probe_entry *entry, uint32_t idx, const char *expression)
{
	char *name = entry->names[idx], *at = name, *end = name + TRACE_PROBE_NAME_BYTES - 8;
	unsigned int number = 1;
	size_t chars;

	for (; *expression && at < end; expression++)
		if (isalnum((unsigned char)*expression))
			*at++ = *expression;
		else if (at > name && at[-1] != '_')
			*at++ = '_';
	while (at > name && at[-1] == '_')
		at--;
	*at = '\0';
	chars = (size_t)(at - name);
	for (uint32_t i = 0; i < idx; i++)
		if (!strcmp(entry->names[i], name)) {
			snprintf(name + chars, 8, "_%u", ++number);
			i = UINT32_MAX; /* start over with the number */
		}
}

int probe_entry_add_field(struct probe_entry *entry, const char *name, const struct probe_field *field,
			  struct trace_error *ret_error)
{
	uint32_t idx = entry->probe.nr_arguments;
	unsigned int at = entry->type.fixed_bytes;
	struct trace_probe_argument *argument = &entry->probe.arguments[idx];

	if (idx == TRACE_PROBE_MAX_ARGUMENTS)
		return error_set(ret_error, -EINVAL, "%s: a probe has at most %d arguments", entry->name,
				 TRACE_PROBE_MAX_ARGUMENTS);
	at = (at + field->bytes - 1u) & ~(field->bytes - 1u);
	*argument = field->argument;
	argument->field_offset = (uint16_t)at;
	argument->field_bytes = field->bytes;
	name_field(entry, idx, name);
	entry->fields[idx] = (struct trace_field){
		.name = entry->names[idx],
		.offset = (uint16_t)at,
		.bytes = field->bytes,
		.is_signed = field->is_signed,
		.kind = field->kind,
	};
	entry->type.has_string |= field->kind == TRACE_KIND_STRING || field->kind == TRACE_KIND_BYTES;
	entry->type.fixed_bytes = (uint16_t)(at + field->bytes);
	entry->type.nr_fields = (uint16_t)++entry->probe.nr_arguments;
	return 0;
}

/* Compute the offsets again, because widths may have grown. */
void probe_entry_lay_out(struct probe_entry *entry)
{
	unsigned int at = 0;

	for (uint32_t i = 0; i < entry->type.nr_fields; i++) {
		struct trace_field *field = &entry->fields[i];
		struct trace_probe_argument *argument = &entry->probe.arguments[i];

		at = (at + field->bytes - 1u) & ~(field->bytes - 1u);
		field->offset = argument->field_offset = (uint16_t)at;
		argument->field_bytes = field->bytes;
		at += field->bytes;
	}
	entry->type.fixed_bytes = (uint16_t)((at + 7u) & ~7u);
}
