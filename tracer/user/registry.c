/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * registry.c - the registry of event types in the program memory
 *
 * An entry is made from the static data of a tracepoint macro, appended, and never removed. If a
 * library is unloaded and loaded again, its event types get the numbers that they had.
 */
#include <ctype.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "user.h"

#define MAX_FIELDS 16

/* An entry under construction, with room for the longest. */
struct registry_draft {
	struct user_event event;
	struct user_field fields[MAX_FIELDS];
	char text[(4 + MAX_FIELDS) * USER_MAX_NAME_BYTES];
};

/* Append at most USER_MAX_NAME_BYTES - 1 bytes of text to the entry's texts; returns the offset. */
static uint16_t add_text(struct user_event *event, char *text, const char *from, size_t length)
{
	uint16_t offset = (uint16_t)event->text_bytes;

	if (length > USER_MAX_NAME_BYTES - 1)
		length = USER_MAX_NAME_BYTES - 1;
	memcpy(text + offset, from, length);
	text[offset + length] = '\0';
	event->text_bytes += (uint32_t)length + 1;
	return offset;
}

static const char *skip_blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

/* The end of the argument at @at: a comma outside of parentheses and quotes, or the end. */
static const char *argument_end(const char *at)
{
	int depth = 0;

	for (; *at && !(*at == ',' && depth == 0); at++) {
		if (*at == '(')
			depth++;
		else if (*at == ')')
			depth--;
		else if (*at == '"' || *at == '\'') {
			char quote = *at;

			for (at++; *at && *at != quote; at++)
				if (*at == '\\' && at[1])
					at++;
			if (!*at)
				break;
		}
	}
	return at;
}

/* The expansion of trace_field() in a macro that wraps tracepoint(): its name is a text. Returns
 * NULL if @at is something else. */
static const char *expanded_name(const char *at)
{
	static const char *const begins[] = {"_Generic(\"", "::trace_detail::named(\""};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(at, begins[i], strlen(begins[i])) == 0)
			return at + strlen(begins[i]);
	return NULL;
}

/* Make a valid, readable name from an expression: order->id is order_id. Returns its length. */
static size_t name_of(const char *at, const char *end, unsigned int number, char *name, size_t bytes)
{
	static const char named[] = "trace_field";
	const char *expanded = expanded_name(at);
	size_t length = 0;

	if (expanded) {
		at = expanded;
		end = at + strcspn(at, "\"");
	} else if ((size_t)(end - at) > sizeof(named) && strncmp(at, named, sizeof(named) - 1) == 0) {
		const char *inside = skip_blanks(at + sizeof(named) - 1);

		if (*inside == '(') {
			at = skip_blanks(inside + 1);
			end = argument_end(at);
		}
	} else if ((size_t)(end - at) > 11 && strncmp(at, "trace_bytes", 11) == 0 && *skip_blanks(at + 11) == '(') {
		at = skip_blanks(skip_blanks(at + 11) + 1);
		end = argument_end(at);
	}
	if (*at == '"' || (isdigit((unsigned char)*at))) /* a constant has no name */
		end = at;
	for (; at < end && length + 1 < bytes; at++) {
		if (isalnum((unsigned char)*at) || *at == '_')
			name[length++] = *at;
		else if (length && name[length - 1] != '_')
			name[length++] = '_';
	}
	while (length && name[length - 1] == '_')
		length--;
	if (!length)
		length = (size_t)snprintf(name, bytes, "field%u", number);
	name[length] = '\0';
	return length;
}

static bool name_is_used(const struct registry_draft *entry, unsigned int fields, const char *name)
{
	for (unsigned int i = 0; i < fields; i++)
		if (strcmp(entry->text + entry->fields[i].name, name) == 0)
			return true;
	return false;
}

static void add_fields(struct registry_draft *entry, const struct trace_tracepoint *tracepoint)
{
	const char *at = skip_blanks(tracepoint->field_names);

	for (unsigned int i = 0; i < entry->event.nr_fields; i++) {
		const struct trace_tracepoint_field *from = &tracepoint->fields[i];
		const char *end = argument_end(at);
		char name[USER_MAX_NAME_BYTES - 4];
		size_t length = name_of(at, end, i + 1, name, sizeof(name) - 3);

		for (unsigned int n = 2; n < 100 && name_is_used(entry, i, name); n++)
			snprintf(name + length, sizeof(name) - length, "_%u", n);
		entry->fields[i] =
			(struct user_field){.offset = from->offset, .bytes = from->bytes, .type = from->type};
		entry->fields[i].name = add_text(&entry->event, entry->text, name, strlen(name));
		at = skip_blanks(*end ? end + 1 : end);
	}
}

/* Build the whole entry as it will be in the memory, except its id. */
static void describe(struct registry_draft *entry, const struct trace_tracepoint *tracepoint)
{
	size_t file = strlen(tracepoint->file);
	uint32_t bytes;

	memset(entry, 0, sizeof(*entry));
	entry->event.role = tracepoint->role;
	entry->event.payload_bytes = tracepoint->payload_bytes;
	entry->event.nr_fields = tracepoint->nr_fields < MAX_FIELDS ? tracepoint->nr_fields : MAX_FIELDS;
	entry->event.line = tracepoint->line;
	entry->event.provider = add_text(&entry->event, entry->text, tracepoint->provider,
					 strlen(tracepoint->provider));
	entry->event.name = add_text(&entry->event, entry->text, tracepoint->name, strlen(tracepoint->name));
	if (file > USER_MAX_NAME_BYTES - 1) /* the end of a path is more useful */
		entry->event.file = add_text(&entry->event, entry->text,
					     tracepoint->file + file - (USER_MAX_NAME_BYTES - 1),
					     USER_MAX_NAME_BYTES - 1);
	else
		entry->event.file = add_text(&entry->event, entry->text, tracepoint->file, file);
	entry->event.function = add_text(&entry->event, entry->text, tracepoint->function,
					 strlen(tracepoint->function));
	add_fields(entry, tracepoint);
	memmove((char *)entry + sizeof(entry->event) + entry->event.nr_fields * sizeof(struct user_field), entry->text,
		entry->event.text_bytes);
	bytes = (uint32_t)(sizeof(entry->event) + entry->event.nr_fields * sizeof(struct user_field) +
			   entry->event.text_bytes);
	memset((char *)entry + bytes, 0, -bytes & 7);
	entry->event.bytes = (bytes + 7) & ~7u;
}

/* The number of an identical entry, or that of a new one, appended.
 * Returns 0 if there is no room. */
static uint16_t number_of(struct user_state *state, struct registry_draft *entry)
{
	struct user_memory *memory = state->memory;
	char *registry = (char *)memory + memory->registry_offset;
	uint64_t used = memory->registry_used, at = 0;
	uint16_t last = 0;

	while (at < used) {
		struct user_event *event = (struct user_event *)(registry + at);

		last = entry->event.id = event->id;
		if (event->bytes == entry->event.bytes && memcmp(event, entry, event->bytes) == 0)
			return event->id;
		at += event->bytes;
	}
	if (last + 1u >= memory->max_events || used + entry->event.bytes > memory->registry_bytes)
		return 0;
	entry->event.id = (uint16_t)(last + 1);
	memcpy(registry + used, entry, entry->event.bytes);
	__atomic_store_n(&state->flags[last + 1], (unsigned char)__atomic_load_n(&memory->new_flag, __ATOMIC_RELAXED),
			 __ATOMIC_RELAXED);
	__atomic_store_n(&memory->registry_used, used + entry->event.bytes, __ATOMIC_RELEASE); /* [U1] */
	return (uint16_t)(last + 1);
}

static bool lock(struct user_state *state, bool wait)
{
	const struct timespec nap = {0, 100000};

	for (int naps = wait ? 20000 : 0;; naps--) {
		if (__atomic_exchange_n(&state->registering, 1, __ATOMIC_ACQUIRE) == 0)
			return true;
		if (naps <= 0)
			return false;
		nanosleep(&nap, NULL);
	}
}

bool user_register(struct trace_tracepoint *tracepoint, bool wait)
{
	struct user_state *state;
	struct registry_draft entry;
	bool busy = false;
	uint16_t id;

	if (tracepoint->version != TRACE_TRACEPOINT_VERSION)
		return false;
	if (__atomic_load_n(&tracepoint->id, __ATOMIC_ACQUIRE) != 0)
		return true;
	state = user_ready(&busy);
	if (!state) {
		if (!busy)
			user_leave_to_parent(tracepoint);
		return false;
	}
	if (!lock(state, wait))
		return false;
	if (tracepoint->id != 0) { /* another thread has registered this declared event meanwhile */
		__atomic_store_n(&state->registering, 0, __ATOMIC_RELEASE);
		return true;
	}
	describe(&entry, tracepoint);
	id = number_of(state, &entry);
	if (id) /* its word comes later: condition.c */
		__atomic_store_n(&tracepoint->id, id, __ATOMIC_RELEASE);
	else
		__atomic_fetch_add(&state->memory->unregistered, 1, __ATOMIC_RELAXED);
	__atomic_store_n(&tracepoint->flag, id ? &state->flags[id] : &user_flag_off, __ATOMIC_RELEASE);
	__atomic_store_n(&state->registering, 0, __ATOMIC_RELEASE);
	return true;
}

void user_count_unregistered(void)
{
	bool busy = false;
	struct user_state *state = user_ready(&busy);

	if (state)
		__atomic_fetch_add(&state->memory->unregistered, 1, __ATOMIC_RELAXED);
}

__attribute__((visibility("default"))) void trace_tracepoint_register(struct trace_tracepoint *begin,
								      struct trace_tracepoint *end)
{
	int saved_errno = errno;

	for (struct trace_tracepoint *tracepoint = begin; tracepoint < end; tracepoint++)
		if (tracepoint->version == TRACE_TRACEPOINT_VERSION)
			user_register(tracepoint, true);
		else
			__atomic_store_n(&tracepoint->flag, &user_flag_off, __ATOMIC_RELEASE);
	errno = saved_errno;
}
