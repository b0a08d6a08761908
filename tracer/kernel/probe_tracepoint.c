/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_tracepoint.c - turn the kernel's tracepoints into places, events and recipes.
 *
 * A recipe reads the fields out of the record that the kernel makes for perf: its address is what
 * the BPF program gets (probe_recipe.h, PROBE_WORD_RECORD).
 *
 * Two tracepoints of one name, such as ext4_sync_file_enter and ext4_sync_file_exit, are the two
 * ends
 * of a scope if both are recorded. Those of interrupts are not: the thread on the CPU does not do
 * what happens between them.
 */
#include <stdbool.h>
#include <stdint.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "condition_text.h"
#include "error_set.h"
#include "probe_code.h"
#include "probe_entry.h"
#include "probe_recipe.h"
#include "probe_spec.h"
#include "probe_tracepoint.h"
#include "scope_ends.h"
#include "tracefs.h"

#define MAX_ELEMENTS 8 /* arrays of more numbers are recorded as bytes */

struct tracepoint_search {
	struct trace_probes *probes;
	const struct probe_spec *spec;
	size_t nr_matching;
	size_t nr_added;
	struct trace_error *ret_error;
};

/* ---- fields ---- */

static bool is_of_char(const struct tracefs_field *field)
{
	return !strncmp(field->type, "char", 4) && (field->type[4] == '\0' || field->type[4] == '[');
}

static bool is_address(const char *name)
{
	return !strcmp(name, "ip") || !strcmp(name, "call_site") || !strcmp(name, "caller");
}

static void read_number(const struct tracefs_field *from, uint32_t offset, struct probe_field *field)
{
	uint8_t unused_bits = (uint8_t)(64 - 8 * from->bytes);

	*field = (struct probe_field){.kind = TRACE_KIND_DEC,
				      .is_signed = from->is_signed,
				      .bytes = (uint8_t)from->bytes};
	field->argument = (struct trace_probe_argument){
		.start = TRACE_PROBE_REGISTER,
		.base = PROBE_WORD_RECORD,
		.nr_loads = 1,
		.load_bytes = (uint8_t)from->bytes,
		.is_signed = from->is_signed,
		.shift_left = unused_bits,
		.shift_right = unused_bits,
	};
	field->argument.offsets[0] = offset;
	if (strchr(from->type, '*') || is_address(from->name))
		field->kind = TRACE_KIND_HEX;
	else if (!strcmp(from->type, "bool"))
		field->kind = TRACE_KIND_BOOL;
	else if (!strcmp(from->type, "dev_t") && from->bytes == 4)
		field->kind = TRACE_KIND_DEV;
}

/* The arguments of a system call have 8 bytes, whatever their type: an int is in the lower 4. */
static void narrow(const char *subsystem, struct tracefs_field *from)
{
	if (strcmp(subsystem, "syscalls") || from->bytes != 8 ||
	    (strcmp(from->type, "int") && strcmp(from->type, "pid_t")))
		return;
	from->bytes = 4;
	from->is_signed = true;
}

static void read_memory(const struct tracefs_field *from, struct probe_field *field)
{
	uint32_t bytes = from->kind == TRACEFS_ARRAY ? from->bytes * from->count : TRACE_PROBE_MAX_STRING_BYTES;
	bool is_text = is_of_char(from);

	*field = (struct probe_field){.kind = is_text ? TRACE_KIND_STRING : TRACE_KIND_BYTES, .bytes = 4};
	field->argument = (struct trace_probe_argument){
		.start = from->kind == TRACEFS_ARRAY ? TRACE_PROBE_REGISTER : TRACE_PROBE_LOCATED,
		.shape = is_text ? TRACE_PROBE_STRING : TRACE_PROBE_BYTES,
		.base = PROBE_WORD_RECORD,
		.index = from->kind == TRACEFS_REL_LOC,
		.load_bytes = 8,
		.field_bytes = 4,
		.max_bytes = (uint16_t)(bytes < TRACE_PROBE_MAX_STRING_BYTES ? bytes : TRACE_PROBE_MAX_STRING_BYTES),
		.constant = from->offset,
	};
}

/* Is the field among those that the user named? Without any, all are. */
static bool is_named(const struct probe_spec *spec, const char *name, const char **ret_name)
{
	*ret_name = name;
	for (uint32_t i = 0; i < spec->nr_arguments; i++)
		if (!strcmp(spec->arguments[i].expression, name)) {
			if (*spec->arguments[i].name)
				*ret_name = spec->arguments[i].name;
			return true;
		}
	return !spec->nr_arguments;
}

/*
 * Fields beyond the number that a probe can have are left out; the event's documentation says so.
 */
static void add_field(struct probe_entry *entry, const char *name, const struct probe_field *field)
{
	uint32_t idx = entry->probe.nr_arguments;

	if (!probe_entry_add_field(entry, name, field, NULL))
		snprintf(entry->names[idx], sizeof(entry->names[idx]), "%s", name); /* with its underscores */
	else
		snprintf(entry->doc, sizeof(entry->doc), "tracepoint of the kernel, without %.100s and what follows",
			 name);
}

static void add_elements(struct probe_entry *entry, const char *name, const struct tracefs_field *from)
{
	struct probe_field field;
	char element[TRACEFS_NAME_BYTES + 16];

	for (uint32_t i = 0; i < from->count; i++) {
		snprintf(element, sizeof(element), "%s_%u", name, i);
		read_number(from, from->offset + i * from->bytes, &field);
		add_field(entry, element, &field);
	}
}

static bool is_array_of_numbers(const struct tracefs_field *from)
{
	return from->kind == TRACEFS_ARRAY && from->count <= MAX_ELEMENTS &&
	       (from->bytes == 2 || from->bytes == 4 || from->bytes == 8);
}

/*
 * The kernel gives BPF programs only the registers of a system call, so the texts that newer
 * kernels
 * add to the record are not there.
 */
static bool is_available(const char *subsystem, const struct tracefs_field *from)
{
	return strcmp(subsystem, "syscalls") || from->kind == TRACEFS_NUMBER;
}

static void add_fields(struct probe_entry *entry, const struct probe_spec *spec, const struct tracefs_event *event)
{
	const char *at = event->format, *name;
	struct tracefs_field from;
	struct probe_field field;

	while (tracefs_next_field(&at, &from)) {
		if (!is_named(spec, from.name, &name) || !is_available(event->subsystem, &from))
			continue;
		narrow(event->subsystem, &from);
		if (is_array_of_numbers(&from)) {
			add_elements(entry, name, &from);
			continue;
		}
		if (from.kind == TRACEFS_NUMBER)
			read_number(&from, from.offset, &field);
		else
			read_memory(&from, &field);
		add_field(entry, name, &field);
	}
	probe_entry_lay_out(entry);
}

/* ---- scopes ---- */

static bool is_of_interrupt(const char *name)
{
	static const char *const begins[] = {"irq:", "irq_vectors:", "ipi:", "timer:", "csd:", "napi:", "exceptions:"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	return false;
}

/* A condition may drop one end and keep the other. */
static bool can_be_end(const struct probe_entry *entry)
{
	return entry->probe.tracepoint && entry->type.role == TRACE_ROLE_EVENT && !entry->probe.condition.nr_tests;
}

/* The length of the name without the suffix of @role; 0: it has none. */
static size_t stem_as(const struct probe_entry *entry, enum trace_event_role role)
{
	size_t chars = scope_ends_stem(entry->name, role == TRACE_ROLE_END);

	return entry->name[chars] ? chars : 0;
}

static struct probe_entry *end_of(struct trace_probes *probes, const struct probe_entry *begin)
{
	size_t chars = stem_as(begin, TRACE_ROLE_BEGIN);

	for (size_t i = 0; chars && i < probes->nr; i++)
		if (can_be_end(probes->entries[i]) && !strncmp(probes->entries[i]->name, begin->name, chars) &&
		    stem_as(probes->entries[i], TRACE_ROLE_END) == chars)
			return probes->entries[i];
	return NULL;
}

static void pair_scopes(struct trace_probes *probes)
{
	for (size_t i = 0; i < probes->nr; i++) {
		struct probe_entry *begin = probes->entries[i], *end;

		if (!can_be_end(begin) || is_of_interrupt(begin->name))
			continue;
		end = end_of(probes, begin);
		if (!end)
			continue;
		begin->type.role = TRACE_ROLE_BEGIN;
		end->type.role = TRACE_ROLE_END;
	}
}

/* ---- tracepoints ---- */

static bool has_all_named(const struct probe_spec *spec, const struct probe_entry *entry)
{
	return !spec->nr_arguments || entry->type.nr_fields >= spec->nr_arguments;
}

static struct probe_entry *entry_of(struct trace_probes *probes, uint32_t id)
{
	for (size_t i = 0; i < probes->nr; i++)
		if (probes->entries[i]->probe.tracepoint == id)
			return probes->entries[i];
	return NULL;
}

static int set_condition(struct tracepoint_search *search, struct probe_entry *entry, bool *ret_available)
{
	struct trace_error error;
	size_t missing;
	int err = condition_compile(&search->spec->condition, &entry->type, &entry->probe.condition, &missing, &error);

	*ret_available = !err && has_all_named(search->spec, entry);
	if (err && err != -ENOENT)
		return error_set(search->ret_error, err, "%s: %s", entry->name, error.message);
	return 0;
}

static int add_tracepoint(void *context, const struct tracefs_event *event)
{
	struct tracepoint_search *search = context;
	uint32_t id = tracefs_event_id(event->format);
	struct probe_entry *entry = entry_of(search->probes, id);
	bool is_new = !entry, available;
	int err;

	if (!id)
		return 0;
	search->nr_matching++;
	if (is_new)
		entry = probe_entry_new(search->probes, "", search->ret_error);
	if (!entry)
		return search->ret_error->code;
	if (is_new) {
		entry->probe.in_kernel = true;
		entry->probe.tracepoint = id;
		snprintf(entry->doc, sizeof(entry->doc), "tracepoint of the kernel");
		snprintf(entry->function, sizeof(entry->function), "%.120s:%.120s", event->subsystem, event->name);
		snprintf(entry->name, sizeof(entry->name), "%s", entry->function);
		add_fields(entry, search->spec, event);
	}
	err = set_condition(search, entry, &available);
	search->nr_added += available;
	if (is_new && !available)
		free(search->probes->entries[--search->probes->nr]);
	return err;
}

static int none_added(const struct tracepoint_search *search, bool subsystem_found)
{
	const struct probe_spec *spec = search->spec;

	if (search->nr_matching)
		return error_set(search->ret_error, -ENOENT,
				 "%s:%s has no such fields; tracedaemon --list '%s:%s' lists those that it has",
				 spec->provider, spec->function, spec->provider, spec->function);
	if (subsystem_found)
		return error_set(search->ret_error, -ENOENT,
				 "the kernel has no tracepoint %s:%s; tracedaemon --list '%s:*' lists them",
				 spec->provider, spec->function, spec->provider);
	return error_set(search->ret_error, -ENXIO, "the kernel has no tracepoints %s:*; tracedaemon --list lists all",
			 spec->provider);
}

int probe_tracepoint_add(struct trace_probes *probes, const struct probe_spec *spec, struct trace_error *ret_error)
{
	struct tracepoint_search search = {.probes = probes, .spec = spec, .ret_error = ret_error};
	bool found;
	int err = tracefs_each(spec->provider, spec->function, true, add_tracepoint, &search, &found, ret_error);

	if (!err && !search.nr_added)
		err = none_added(&search, found);
	if (!err)
		pair_scopes(probes);
	return err;
}

/* ---- the list ---- */

struct tracepoint_rows {
	void (*row)(void *context, const char *name, const char *fields);
	void *context;
	int nr;
};

static int list_tracepoint(void *context, const struct tracefs_event *event)
{
	struct tracepoint_rows *rows = context;
	char name[2 * TRACEFS_NAME_BYTES + 2], fields[1024] = "";
	const char *at = event->format;
	struct tracefs_field field;
	size_t used = 0;

	while (tracefs_next_field(&at, &field))
		if (used + strlen(field.name) + 2 < sizeof(fields) && is_available(event->subsystem, &field))
			used += (size_t)snprintf(fields + used, sizeof(fields) - used, "%s%s", used ? " " : "",
						 field.name);
	snprintf(name, sizeof(name), "%.127s:%.127s", event->subsystem, event->name);
	rows->row(rows->context, name, fields);
	rows->nr++;
	return 0;
}

int probe_tracepoint_list(const struct probe_spec *spec, bool with_fields,
			  void (*row)(void *context, const char *name, const char *fields), void *context,
			  struct trace_error *ret_error)
{
	struct tracepoint_rows rows = {.row = row, .context = context};
	const char *name = *spec->function ? spec->function : "*";
	int err = tracefs_each(*spec->provider ? spec->provider : "*", name, with_fields, list_tracepoint, &rows, NULL,
			       ret_error);

	return err ? err : rows.nr;
}
