/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dynamic.c - events that a program declares while it runs
 *
 * A declaration becomes the same struct trace_tracepoint that a macro of <trace/tracepoint.h> has
 * as static data, and everything behind it is shared with those.
 *
 * Declared events are in a table of lists without locks: a thread searches the list, and puts a new
 * event in front with one compare-and-swap. An event is never removed, because records, the
 * registry and other threads refer to it. So a child that was forked while another thread declared
 * an event finds every list complete.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/dynamic.h>
#include "user.h"

#define API __attribute__((visibility("default")))

#define NR_LISTS   256
#define NAME_BYTES 64 /* with the NUL */
#define MAX_NAMES  (TRACE_DYNAMIC_MAX_FIELDS * NAME_BYTES)
#define WORD_BYTES 8

_Static_assert(TRACE_DYNAMIC_EVENT == (int)USER_ROLE_EVENT &&
		       TRACE_DYNAMIC_REQUEST_HANDOFF == (int)USER_ROLE_REQUEST_HANDOFF,
	       "the roles are those of the registry");

/* @texts: what @tracepoint points to. @next: in its list */
struct trace_dynamic {
	struct trace_tracepoint tracepoint;
	struct trace_dynamic *next;
	struct trace_tracepoint_field fields[TRACE_DYNAMIC_MAX_FIELDS];
	char texts[];
};

/* A declaration that was read. @names: of the fields, separated by commas, as in a macro */
struct declaration {
	const char *provider;
	const char *name;
	const char *file;
	uint32_t line;
	uint8_t role;
	uint8_t nr_fields;
	uint8_t nr_texts;
	uint16_t payload_bytes;
	struct trace_tracepoint_field fields[TRACE_DYNAMIC_MAX_FIELDS];
	char names[MAX_NAMES + 1];
};

static struct trace_dynamic *lists[NR_LISTS];
static uint32_t nr_events;
static struct trace_dynamic no_room = {.tracepoint = {.flag = &user_flag_off}};

/* ---- reading a declaration ---- */

static const struct {
	const char *name;
	uint8_t type;
	uint8_t bytes;
} types[] = {
	{"i8", USER_FIELD_SIGNED, 1},	 {"i16", USER_FIELD_SIGNED, 2},	  {"i32", USER_FIELD_SIGNED, 4},
	{"i64", USER_FIELD_SIGNED, 8},	 {"u8", USER_FIELD_UNSIGNED, 1},  {"u16", USER_FIELD_UNSIGNED, 2},
	{"u32", USER_FIELD_UNSIGNED, 4}, {"u64", USER_FIELD_UNSIGNED, 8}, {"f32", USER_FIELD_FLOAT, 4},
	{"f64", USER_FIELD_FLOAT, 8},	 {"bool", USER_FIELD_BOOL, 1},	  {"pointer", USER_FIELD_POINTER, 8},
	{"text", USER_FIELD_STRING, 4},	 {"bytes", USER_FIELD_BYTES, 4},
};

static bool is_text(const struct trace_tracepoint_field *field)
{
	return field->type == USER_FIELD_STRING || field->type == USER_FIELD_BYTES;
}

/* The length of the name at @at; 0 if there is none, or if it is too long. */
static size_t name_length(const char *at)
{
	size_t length = 0;

	if (*at >= '0' && *at <= '9')
		return 0;
	while ((at[length] >= 'a' && at[length] <= 'z') || (at[length] >= 'A' && at[length] <= 'Z') ||
	       (at[length] >= '0' && at[length] <= '9') || at[length] == '_')
		length++;
	return length < NAME_BYTES ? length : 0;
}

static bool is_name(const char *text)
{
	size_t length = text ? name_length(text) : 0;

	return length && !text[length];
}

/* Is there a field of this name? Each name in @names has a comma before and after it. */
static bool has_name(const char *names, const char *name, size_t length)
{
	for (const char *at = names; (at = strchr(at, ',')) != NULL; at++)
		if (strncmp(at + 1, name, length) == 0 && at[1 + length] == ',')
			return true;
	return false;
}

static bool add_field(struct declaration *d, size_t *names_used, const char *name, size_t length, const char *type,
		      size_t type_length)
{
	struct trace_tracepoint_field *field = &d->fields[d->nr_fields];
	unsigned int align;

	if (!length || d->nr_fields == TRACE_DYNAMIC_MAX_FIELDS || has_name(d->names, name, length))
		return false;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strlen(types[i].name) != type_length || strncmp(types[i].name, type, type_length) != 0)
			continue;
		align = types[i].bytes < 4 ? types[i].bytes : 4;
		field->type = types[i].type;
		field->bytes = types[i].bytes;
		field->offset = (uint16_t)((d->payload_bytes + align - 1) / align * align);
		d->payload_bytes = (uint16_t)(field->offset + field->bytes);
		d->nr_texts = (uint8_t)(d->nr_texts + is_text(field));
		d->nr_fields++;
		memcpy(d->names + *names_used, name, length);
		*names_used += length;
		d->names[(*names_used)++] = ',';
		return true;
	}
	return false;
}

/* "id:i32 price:f64" */
static bool read_fields(struct declaration *d, const char *at)
{
	size_t used = 1;

	d->names[0] = ',';
	d->payload_bytes = 4; /* the thread's number */
	for (at += strspn(at, " "); *at; at += strspn(at, " ")) {
		size_t length = name_length(at), type_length;
		const char *type = at + length + 1;

		if (at[length] != ':')
			return false;
		type_length = strcspn(type, " ");
		if (!add_field(d, &used, at, length, type, type_length))
			return false;
		at = type + type_length;
	}
	d->names[used - 1] = '\0';
	memmove(d->names, d->names + 1, used); /* without the comma in front */
	d->payload_bytes = (uint16_t)((d->payload_bytes + 3) / 4 * 4);
	return true;
}

static bool read_declaration(struct declaration *d, const char *provider, const char *name, uint32_t role,
			     const char *fields, const char *file, uint32_t line)
{
	static const struct declaration empty;

	*d = empty;
	if (!is_name(provider) || !is_name(name) || role > TRACE_DYNAMIC_REQUEST_HANDOFF || !read_fields(d, fields))
		return false;
	if (role >= TRACE_DYNAMIC_COUNTER && d->nr_fields == 0) /* their first field has a meaning */
		return false;
	d->provider = provider;
	d->name = name;
	d->role = (uint8_t)role;
	d->file = file ? file : "";
	d->line = line;
	return true;
}

/* ---- the table of events ---- */

static struct trace_dynamic **list_of(const struct declaration *d)
{
	uint32_t hash = 2166136261u ^ d->line ^ d->role; /* FNV-1a */

	for (const char *at = d->provider; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	for (const char *at = d->name; *at; at++)
		hash = (hash ^ (unsigned char)*at) * 16777619u;
	return &lists[(hash ^ hash >> 16) % NR_LISTS];
}

static bool is_same(const struct trace_dynamic *event, const struct declaration *d)
{
	const struct trace_tracepoint *tracepoint = &event->tracepoint;

	return tracepoint->line == d->line && tracepoint->role == d->role && tracepoint->nr_fields == d->nr_fields &&
	       memcmp(event->fields, d->fields, sizeof(d->fields)) == 0 && strcmp(tracepoint->name, d->name) == 0 &&
	       strcmp(tracepoint->provider, d->provider) == 0 && strcmp(tracepoint->field_names, d->names) == 0 &&
	       strcmp(tracepoint->file, d->file) == 0;
}

/* The event, among those from @first to before @end. */
static struct trace_dynamic *find(struct trace_dynamic *first, const struct trace_dynamic *end,
				  const struct declaration *d)
{
	for (; first != end; first = first->next)
		if (is_same(first, d))
			return first;
	return NULL;
}

static const char *add_text(char **at, const char *text)
{
	char *copy = *at;

	*at = stpcpy(copy, text) + 1;
	return copy;
}

/* Returns NULL if there is no room. */
static struct trace_dynamic *new_event(const struct declaration *d)
{
	size_t bytes = sizeof(struct trace_dynamic) + strlen(d->provider) + strlen(d->name) + strlen(d->names) +
		       strlen(d->file) + 4;
	struct trace_dynamic *event;
	char *text;

	if (__atomic_load_n(&nr_events, __ATOMIC_RELAXED) >= USER_MAX_EVENTS - 1)
		return NULL;
	event = aligned_alloc(_Alignof(struct trace_dynamic), (bytes + 63) & ~(size_t)63);
	if (!event)
		return NULL;
	memset(event, 0, sizeof(*event));
	memcpy(event->fields, d->fields, sizeof(d->fields));
	text = event->texts;
	event->tracepoint = (struct trace_tracepoint){
		.flag = &event->tracepoint.off,
		.provider = add_text(&text, d->provider),
		.name = add_text(&text, d->name),
		.field_names = add_text(&text, d->names),
		.file = add_text(&text, d->file),
		.function = "",
		.fields = event->fields,
		.line = d->line,
		.payload_bytes = d->payload_bytes,
		.nr_fields = d->nr_fields,
		.nr_texts = d->nr_texts,
		.role = d->role,
		.version = TRACE_TRACEPOINT_VERSION,
		.off = 1,
	};
	return event;
}

/* The event of @d, which may be new; @no_room. */
static struct trace_dynamic *event_of(const struct declaration *d)
{
	struct trace_dynamic **list = list_of(d), *first = __atomic_load_n(list, __ATOMIC_ACQUIRE), *added;
	struct trace_dynamic *event = find(first, NULL, d);

	if (event)
		return event;
	added = new_event(d);
	if (!added)
		return &no_room;
	for (;;) {
		added->next = first; /* [U2] pairs with the loads of the list here */
		if (__atomic_compare_exchange_n(list, &first, added, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			break;
		event = find(first, added->next, d); /* among those that other threads added meanwhile */
		if (event) {
			free(added);
			return event;
		}
	}
	__atomic_fetch_add(&nr_events, 1, __ATOMIC_RELAXED);
	return added;
}

API int trace_dynamic_declare(const char *provider, const char *name, uint32_t role, const char *fields,
			      const char *file, uint32_t line, struct trace_dynamic **ret_event)
{
	struct declaration declaration;
	struct trace_dynamic *event;
	int saved_errno = errno;

	if (!read_declaration(&declaration, provider, name, role, fields ? fields : "", file, line))
		return -EINVAL;
	event = event_of(&declaration);
	if (event == &no_room)
		user_count_unregistered();
	else
		user_register(&event->tracepoint, true);
	errno = saved_errno;
	*ret_event = event;
	return 0;
}

API const char *trace_dynamic_rules(void)
{
	return "names are letters, digits and underscores, not a digit first, at most 63 bytes, each field another "
	       "one; an "
	       "event has at most 16 fields, of the types i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 bool pointer text "
	       "bytes, and a counter or request at least one";
}

/* ---- recording ---- */

API const volatile unsigned char *trace_dynamic_flag(const struct trace_dynamic *event)
{
	return __atomic_load_n(&event->tracepoint.flag, __ATOMIC_ACQUIRE);
}

/* Store the value @word in the image, in the field's size. The first small field of 4 bytes clears
 * them. */
static inline void store(unsigned char *image, const struct trace_tracepoint_field *field, uint64_t word)
{
	double number;
	float rounded;
	unsigned char truth = word != 0;

	if (field->bytes < 4 && field->offset % 4 == 0)
		memset(image + field->offset, 0, 4);
	switch (field->type) {
	case USER_FIELD_BOOL:
		image[field->offset] = truth;
		break;
	case USER_FIELD_FLOAT:
		if (field->bytes == sizeof(rounded)) {
			memcpy(&number, &word, sizeof(number));
			rounded = (float)number;
			memcpy(image + field->offset, &rounded, sizeof(rounded));
			break;
		}
		memcpy(image + field->offset, &word, sizeof(word));
		break;
	default: /* the low bytes of an integer; a constant size is one store */
		if (field->bytes == 8)
			memcpy(image + field->offset, &word, 8);
		else if (field->bytes == 4)
			memcpy(image + field->offset, &word, 4);
		else
			memcpy(image + field->offset, &word, field->bytes);
	}
}

API void trace_dynamic_record(struct trace_dynamic *event, const void *values, size_t bytes)
{
	struct trace_tracepoint *tracepoint = &event->tracepoint;
	uint32_t image[1 + TRACE_DYNAMIC_MAX_FIELDS * WORD_BYTES / 4];
	struct trace_bytes_value texts[TRACE_DYNAMIC_MAX_FIELDS];
	size_t at = tracepoint->nr_fields * (size_t)WORD_BYTES; /* the next text */

	if (!trace_is_on_(__atomic_load_n(&tracepoint->flag, __ATOMIC_RELAXED)))
		return;
	image[0] = 0; /* for the thread's number */
	for (size_t i = 0; i < tracepoint->nr_fields; i++) {
		const struct trace_tracepoint_field *field = &tracepoint->fields[i];
		uint64_t word = 0;

		if ((i + 1) * WORD_BYTES <= bytes)
			memcpy(&word, (const char *)values + i * WORD_BYTES, WORD_BYTES);
		if (!is_text(field)) {
			store((unsigned char *)image, field, word);
			continue;
		}
		if (word > bytes || at > bytes - word)
			word = at < bytes ? bytes - at : 0;
		texts[i] = word ? trace_bytes((const char *)values + at, word) : trace_bytes(NULL, 0);
		at += word;
	}
	if (tracepoint->nr_texts)
		trace_tracepoint_record_texts(tracepoint, image, texts);
	else
		trace_tracepoint_record(tracepoint, image);
}
