/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event_json.c - events as JSON, one object a line.
 *
 * Programs read millions of them, so each line is built by hand in a large buffer, and what does
 * not change is prepared once: the keys of a type, and the digits of a second. Keys may be added,
 * but never renamed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "checked_memory.h"
#include "event_json.h"
#include "syscall_table.h"
#include "thread_names.h"
#include "utf8.h"

#define BUFFER_BYTES	(1u << 20)
#define NS_PER_SECOND	1000000000ull
#define NO_THREAD	UINT32_MAX
#define ESCAPED		6   /* bytes of the longest escape: \u001f */
#define LINE_BYTES	512 /* without the fields */
#define NUMBER_BYTES	32
#define MAX_TYPES	65536u
#define NR_THREAD_TEXTS 1024u

struct json_field {
	const struct trace_field *field;
	char *key; /* owned: ,"name": */
	size_t key_bytes;
};

/* The parts that the lines of all events of a type have in common. */
struct json_type {
	const struct trace_event_type *type;
	char *head; /* owned: ,"event":"name" */
	size_t head_bytes;
	struct json_field *fields; /* owned */
	size_t nr_fields;
	size_t room; /* for the fields, without their texts */
};

/* ,"pid":10,"tid":10,"comm":"name" */
struct thread_text {
	uint64_t names; /* event_json.nr_notes when it was made; 0: none */
	uint32_t tid;
	size_t nr;
	char bytes[160];
};

struct event_json {
	const struct trace *trace; /* borrowed */
	FILE *out;		   /* borrowed */
	char *buffer;		   /* owned */
	size_t used, room;
	struct thread_names names;
	struct json_type **types; /* owned array, and each; by event id */
	int64_t offset_ns;	  /* from the clock of the trace to that of the wall */
	bool has_wall;
	uint64_t second;     /* the one in second_text */
	size_t second_bytes; /* 0: none yet */
	char second_text[48];
	uint64_t nr_notes; /* events that made or named a thread, from 1 on */
	struct thread_text thread_texts[NR_THREAD_TEXTS];
	char digits[100][2];
};

static const char hex_digits[] = "0123456789abcdef";

/* ---- texts and numbers ---- */

static inline void put_bytes(struct event_json *json, const char *text, size_t bytes)
{
	memcpy(json->buffer + json->used, text, bytes);
	json->used += bytes;
}

#define PUT(json, text) put_bytes(json, text, sizeof(text) - 1)

static void put_u64(struct event_json *json, uint64_t number)
{
	char text[20], *at = text + sizeof(text);

	for (; number >= 100; number /= 100)
		memcpy(at -= 2, json->digits[number % 100], 2);
	if (number >= 10)
		memcpy(at -= 2, json->digits[number], 2);
	else
		*--at = (char)('0' + number);
	put_bytes(json, at, (size_t)(text + sizeof(text) - at));
}

static void put_s64(struct event_json *json, int64_t number)
{
	if (number < 0)
		PUT(json, "-");
	put_u64(json, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

static void put_hex(struct event_json *json, uint64_t number)
{
	char text[16], *at = text + sizeof(text);

	do {
		*--at = hex_digits[number & 15];
	} while (number >>= 4);
	PUT(json, "\"0x");
	put_bytes(json, at, (size_t)(text + sizeof(text) - at));
	PUT(json, "\"");
}

/* The nine digits of the nanoseconds in a second */
static void put_fraction(struct event_json *json, uint32_t ns)
{
	char *at = json->buffer + json->used;

	at[8] = (char)('0' + ns % 10);
	ns /= 10;
	for (int i = 6; i >= 0; i -= 2, ns /= 100)
		memcpy(at + i, json->digits[ns % 100], 2);
	json->used += 9;
}

/* A character that needs more than its own byte; returns the bytes of it in @text. */
static size_t put_special(struct event_json *json, const char *text, size_t bytes)
{
	static const char escapes[] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};
	unsigned char byte = (unsigned char)*text;
	char escape[8];
	size_t whole;

	if (byte < sizeof(escapes) && escapes[byte]) {
		put_bytes(json, (const char[]){'\\', escapes[byte]}, 2);
		return 1;
	}
	if (byte < 0x80) {
		put_bytes(json, escape, (size_t)snprintf(escape, sizeof(escape), "\\u%04x", byte));
		return 1;
	}
	if (utf8_char(text, bytes, &whole) == UTF8_INVALID)
		PUT(json, "\xef\xbf\xbd");
	else
		put_bytes(json, text, whole);
	return whole;
}

/* Quoted; invalid UTF-8 becomes U+FFFD. */
static void put_text(struct event_json *json, const char *text, size_t bytes)
{
	PUT(json, "\"");
	for (size_t i = 0; i < bytes;) {
		size_t plain = i;

		while (plain < bytes && text[plain] >= ' ' && text[plain] != '"' && text[plain] != '\\' &&
		       text[plain] != 0x7f)
			plain++;
		put_bytes(json, text + i, plain - i);
		i = plain;
		if (i < bytes)
			i += put_special(json, text + i, bytes - i);
	}
	PUT(json, "\"");
}

static void put_double(struct event_json *json, double value)
{
	char text[32];

	if (isfinite(value))
		put_bytes(json, text, (size_t)snprintf(text, sizeof(text), "%.17g", value));
	else
		PUT(json, "null");
}

/* Bytes as text: two hexadecimal digits for each */
static void put_octets(struct event_json *json, const unsigned char *bytes, size_t nr)
{
	PUT(json, "\"");
	for (size_t i = 0; i < nr; i++)
		put_bytes(json, (const char[]){hex_digits[bytes[i] >> 4], hex_digits[bytes[i] & 15]}, 2);
	PUT(json, "\"");
}

/* ---- types ---- */

static char *key_of(const char *before, const char *name, const char *behind, size_t *ret_bytes)
{
	struct event_json scratch = {.buffer = memory_take(strlen(name) * ESCAPED + LINE_BYTES, 1)};

	put_bytes(&scratch, before, strlen(before));
	put_text(&scratch, name, strlen(name));
	put_bytes(&scratch, behind, strlen(behind));
	*ret_bytes = scratch.used;
	return scratch.buffer;
}

static struct json_type *type_new(const struct trace_event_type *type)
{
	struct json_type *new = memory_take(1, sizeof(*new));

	new->type = type;
	new->head = key_of(",\"event\":", type->name, "", &new->head_bytes);
	new->fields = memory_take(type->nr_fields + 1u, sizeof(*new->fields));
	for (size_t i = 0; i < type->nr_fields; i++) {
		struct json_field *field = &new->fields[new->nr_fields];

		if (type->fields[i].kind == TRACE_KIND_PAD)
			continue;
		field->field = &type->fields[i];
		field->key = key_of(new->nr_fields ? "," : "", type->fields[i].name, ":", &field->key_bytes);
		new->room += field->key_bytes + NUMBER_BYTES;
		new->nr_fields++;
	}
	return new;
}

static struct json_type *type_of(struct event_json *json, const struct trace_event_type *type)
{
	if (!json->types[type->id])
		json->types[type->id] = type_new(type);
	return json->types[type->id];
}

static void type_free(struct json_type *type)
{
	for (size_t i = 0; type && i < type->nr_fields; i++)
		free(type->fields[i].key);
	if (type) {
		free(type->head);
		free(type->fields);
	}
	free(type);
}

/* ---- events ---- */

static void put_string(struct event_json *json, const struct trace_event *event, const struct trace_field *field)
{
	size_t bytes;
	const void *text = trace_event_bytes(event, field, &bytes);

	if (field->kind == TRACE_KIND_BYTES)
		put_octets(json, text, bytes);
	else
		put_text(json, text ? text : "", bytes);
}

static void put_value(struct event_json *json, const struct trace_event *event, const struct trace_field *field)
{
	char character;

	if (!field->bytes || field->kind == TRACE_KIND_STRING || field->kind == TRACE_KIND_BYTES) {
		put_string(json, event, field);
		return;
	}
	switch (field->kind) {
	case TRACE_KIND_FLOAT:
		put_double(json, trace_event_double(event, field));
		break;
	case TRACE_KIND_CHAR:
		character = (char)trace_event_u64(event, field);
		put_text(json, &character, 1);
		break;
	case TRACE_KIND_BOOL:
		if (trace_event_u64(event, field))
			PUT(json, "true");
		else
			PUT(json, "false");
		break;
	case TRACE_KIND_HEX:
	case TRACE_KIND_ADDR:
		put_hex(json, trace_event_u64(event, field));
		break;
	default:
		if (field->is_signed)
			put_s64(json, (int64_t)trace_event_u64(event, field));
		else
			put_u64(json, trace_event_u64(event, field));
	}
}

static void put_time(struct event_json *json, uint64_t ts_ns)
{
	uint64_t second = ts_ns / NS_PER_SECOND;

	PUT(json, "{\"ts_ns\":");
	if (second) {
		put_u64(json, second);
		put_fraction(json, (uint32_t)(ts_ns % NS_PER_SECOND));
	} else {
		put_u64(json, ts_ns);
	}
}

/* 2026-11-26T23:06:41.123456789Z */
static void put_wall(struct event_json *json, uint64_t ts_ns)
{
	uint64_t ns = ts_ns + (uint64_t)json->offset_ns, second = ns / NS_PER_SECOND;
	time_t whole = (time_t)second;
	struct tm utc;

	if (!json->has_wall) {
		PUT(json, ",\"time\":null");
		return;
	}
	if (second != json->second || !json->second_bytes) {
		json->second = second;
		json->second_bytes = strftime(json->second_text, sizeof(json->second_text),
					      ",\"time\":\"%Y-%m-%dT%H:%M:%S.", gmtime_r(&whole, &utc));
	}
	put_bytes(json, json->second_text, json->second_bytes);
	put_fraction(json, (uint32_t)(ns % NS_PER_SECOND));
	PUT(json, "Z\"");
}

static void put_new_thread(struct event_json *json, uint32_t tid)
{
	const struct thread_name *name = thread_names_find(&json->names, tid);

	PUT(json, ",\"pid\":");
	if (!tid || (name && name->pid))
		put_u64(json, tid ? name->pid : 0);
	else
		PUT(json, "null");
	PUT(json, ",\"tid\":");
	put_u64(json, tid);
	PUT(json, ",\"comm\":");
	put_text(json, name ? name->comm : "", name ? strlen(name->comm) : 0);
}

/* Mostly the text of the same few threads: it is kept until a thread is made or renamed. */
static void put_thread(struct event_json *json, uint32_t tid)
{
	struct thread_text *text = &json->thread_texts[tid % NR_THREAD_TEXTS];
	size_t before = json->used;

	if (tid == NO_THREAD) {
		PUT(json, ",\"pid\":null,\"tid\":null,\"comm\":\"\"");
		return;
	}
	if (text->tid == tid && text->names == json->nr_notes) {
		put_bytes(json, text->bytes, text->nr);
		return;
	}
	put_new_thread(json, tid);
	text->tid = tid;
	text->names = json->nr_notes;
	text->nr = json->used - before;
	memcpy(text->bytes, json->buffer + before, text->nr);
}

/* The name of the call that an entry begins */
static void put_call(struct event_json *json, const struct trace_event *event)
{
	const struct trace_sys_enter *enter = event->payload;
	uint32_t nr = enter->nr & ~0x40000000u; /* __X32_SYSCALL_BIT */
	enum trace_string_space space = enter->abi == TRACE_ABI_32 ? TRACE_STRING_SYSCALL_32 : TRACE_STRING_SYSCALL;
	const char *name = trace_string(json->trace, space, nr);

	if (!name)
		name = syscall_name_of(nr);
	if (!name)
		return;
	PUT(json, ",\"call\":");
	put_text(json, name, strnlen(name, LINE_BYTES / 2 / ESCAPED));
}

static void flush(struct event_json *json)
{
	fwrite(json->buffer, 1, json->used, json->out);
	json->used = 0;
}

static void make_room(struct event_json *json, size_t bytes)
{
	if (json->used + bytes <= json->room)
		return;
	flush(json);
	if (bytes <= json->room)
		return;
	free(json->buffer);
	json->room = bytes;
	json->buffer = memory_take(bytes, 1);
}

static void put_fields(struct event_json *json, const struct trace_event *event, const struct json_type *type)
{
	PUT(json, ",\"fields\":{");
	for (size_t i = 0; i < type->nr_fields; i++) {
		put_bytes(json, type->fields[i].key, type->fields[i].key_bytes);
		put_value(json, event, type->fields[i].field);
	}
	PUT(json, "}}\n");
}

void event_json_put(struct event_json *json, const struct trace_event *event, uint32_t tid)
{
	const struct json_type *type = event->type ? type_of(json, event->type) : NULL;

	make_room(json, LINE_BYTES * 2 + (type ? type->head_bytes + type->room : 0) +
				/* a text may be that of several fields */
				(size_t)event->payload_bytes * ESCAPED * (type ? type->nr_fields + 1 : 1));
	put_time(json, event->ts_ns);
	put_wall(json, event->ts_ns);
	PUT(json, ",\"cpu\":");
	if (event->cpu == UINT32_MAX)
		PUT(json, "null");
	else
		put_u64(json, event->cpu);
	put_thread(json, tid);
	if (!type) {
		PUT(json, ",\"event\":\"\",\"fields\":{}}\n");
		return;
	}
	put_bytes(json, type->head, type->head_bytes);
	if (event->id >= TRACE_EV_sys_enter && event->id <= TRACE_EV_sys_enter6)
		put_call(json, event);
	put_fields(json, event, type);
}

void event_json_note(struct event_json *json, const struct trace_event *event)
{
	if (thread_names_note(&json->names, event))
		json->nr_notes++;
}

/* ---- life cycle ---- */

struct event_json *event_json_new(const struct trace *trace, FILE *out, uint64_t from_ns)
{
	const struct trace_info *info = trace_get_info(trace);
	struct event_json *json = memory_take(1, sizeof(*json));

	json->trace = trace;
	json->out = out;
	json->room = BUFFER_BYTES;
	json->buffer = memory_take(BUFFER_BYTES, 1);
	json->types = memory_take(MAX_TYPES, sizeof(*json->types));
	json->has_wall = info->start_realtime_ns;
	json->offset_ns = (int64_t)(info->start_realtime_ns - info->start_ns);
	for (unsigned int i = 0; i < 100; i++) {
		json->digits[i][0] = (char)('0' + i / 10);
		json->digits[i][1] = (char)('0' + i % 10);
	}
	json->nr_notes = 1;
	thread_names_begin(&json->names, trace, from_ns);
	return json;
}

struct event_json *event_json_free(struct event_json *json)
{
	if (!json)
		return NULL;
	flush(json);
	for (size_t i = 0; i < MAX_TYPES; i++)
		type_free(json->types[i]);
	thread_names_release(&json->names);
	free(json->types);
	free(json->buffer);
	free(json);
	return NULL;
}
