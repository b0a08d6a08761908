/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * event_text.c - events as text. It uses printf for floating point only, because lists have
 * millions of lines.
 */
#include "event_text.h"
#include "linux_names.h"
#include "kernel_numbers.h"
#include "syscall_table.h"

#include "trace.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/** struct text_sink - the output buffer. @bytes goes on counting when the buffer is full */
struct text_sink {
	char *buffer;
	size_t room; /* without the NUL */
	size_t bytes;
};

/* Copies without a call: a line has about ten copies, and most have a few bytes. */
static inline void copy_short(char *to, const char *from, size_t bytes)
{
	if (bytes > 16) {
		memcpy(to, from, bytes);
	} else if (bytes >= 8) { /* two words that may overlap */
		memcpy(to, from, 8);
		memcpy(to + bytes - 8, from + bytes - 8, 8);
	} else if (bytes >= 4) {
		memcpy(to, from, 4);
		memcpy(to + bytes - 4, from + bytes - 4, 4);
	} else {
		for (size_t i = 0; i < bytes; i++)
			to[i] = from[i];
	}
}

static inline void put_bytes(struct text_sink *sink, const char *text, size_t bytes)
{
	size_t room = sink->bytes < sink->room ? sink->room - sink->bytes : 0;

	if (room && bytes <= room) /* without room there may be no buffer */
		copy_short(sink->buffer + sink->bytes, text, bytes);
	else if (room)
		memcpy(sink->buffer + sink->bytes, text, room);
	sink->bytes += bytes;
}

static void put_text(struct text_sink *sink, const char *text)
{
	put_bytes(sink, text, strlen(text));
}

static void put_number(struct text_sink *sink, uint64_t value)
{
	static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
				    "41424344454647484950515253545556575859"
				    "60616263646566676869707172737475767778798081828384858687888990919293949596979899";
	char digits[24], *at = digits + sizeof(digits);

	for (; value >= 100; value /= 100)
		memcpy(at -= 2, &pairs[2 * (value % 100)], 2);
	if (value >= 10)
		memcpy(at -= 2, &pairs[2 * value], 2);
	else
		*--at = (char)('0' + value);
	put_bytes(sink, at, (size_t)(digits + sizeof(digits) - at));
}

/* @bits: bits of a digit, 4 or 3. */
static inline void put_bits(struct text_sink *sink, uint64_t value, unsigned int bits)
{
	char digits[24], *at = digits + sizeof(digits);

	do
		*--at = "0123456789abcdef"[value & ((1u << bits) - 1)];
	while (value >>= bits);
	put_bytes(sink, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_signed(struct text_sink *sink, int64_t value)
{
	if (value < 0)
		put_bytes(sink, "-", 1);
	put_number(sink, value < 0 ? -(uint64_t)value : (uint64_t)value);
}

/* ---- strings that a traced program chose ---- */

static inline bool is_plain(unsigned char character)
{
	return character >= 0x20 && character < 0x7f;
}

/* Length of the valid and printable UTF-8 character at @text, 1 to 4 bytes. 0: there is none. */
static size_t character_bytes(const unsigned char *text)
{
	static const uint32_t smallest[5] = {0, 0, 0x80, 0x800, 0x10000};
	size_t bytes = *text < 0x80 ? 1 : *text >> 5 == 6 ? 2 : *text >> 4 == 14 ? 3 : *text >> 3 == 30 ? 4 : 0;
	uint32_t code = bytes == 1 ? *text : *text & (0xffu >> (bytes + 1));

	for (size_t i = 1; i < bytes; i++) {
		if (text[i] >> 6 != 2) /* also at the terminating NUL */
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (bytes == 0 || code < smallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		return 0;
	return code < 0x20 || (code >= 0x7f && code < 0xa0) ? 0 : bytes;
}

static void put_hex_byte(struct text_sink *sink, unsigned char byte)
{
	put_bytes(sink, &"0123456789abcdef"[byte >> 4], 1);
	put_bytes(sink, &"0123456789abcdef"[byte & 15], 1);
}

static void put_sanitized(struct text_sink *sink, const char *string)
{
	const unsigned char *text = (const unsigned char *)string;

	while (*text) {
		const unsigned char *begin = text;
		size_t bytes;

		while (is_plain(*text) || (bytes = character_bytes(text)))
			text += is_plain(*text) ? 1 : bytes;
		put_bytes(sink, (const char *)begin, (size_t)(text - begin));
		if (!*text)
			break;
		put_bytes(sink, "\\x", 2);
		put_hex_byte(sink, *text++);
	}
}

/*
 * Writes literal text of a type's template. Any program can have written the template into the
 * file. No valid character crosses the end, because a '{' or NUL is there.
 */
static void put_literal(struct text_sink *sink, const char *literal, size_t bytes)
{
	const unsigned char *text = (const unsigned char *)literal, *end = text + bytes;

	while (text < end) {
		size_t length = character_bytes(text);

		if (length) {
			put_bytes(sink, (const char *)text, length);
		} else {
			put_bytes(sink, "\\x", 2);
			put_hex_byte(sink, *text);
		}
		text += length ? length : 1;
	}
}

static bool needs_escape(const char *literal, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		if (!is_plain((unsigned char)literal[i]))
			return true;
	return false;
}

/* Writes a string of a program in quotation marks, with its own marks and backslashes escaped. */
static void put_quoted(struct text_sink *sink, const unsigned char *text, size_t bytes, char mark)
{
	const unsigned char *end = text + bytes;

	put_bytes(sink, &mark, 1);
	while (text < end) {
		unsigned char copy[5] = {0};
		size_t length;

		/* the NUL ends a cut character */
		memcpy(copy, text, end - text < 4 ? (size_t)(end - text) : 4);
		length = character_bytes(copy);
		if (*text == '\n' || *text == '\t') {
			put_text(sink, *text == '\n' ? "\\n" : "\\t");
		} else if (!length) {
			put_bytes(sink, "\\x", 2);
			put_hex_byte(sink, *text);
		} else {
			if (*text == (unsigned char)mark || *text == '\\')
				put_bytes(sink, "\\", 1);
			put_bytes(sink, (const char *)text, length);
		}
		text += length ? length : 1;
	}
	put_bytes(sink, &mark, 1);
}

/* ---- one function for each kind ---- */

/** struct value - a field that is being written */
struct value {
	const struct trace *trace;
	const struct trace_event *event;
	const struct text_piece *piece;
	uint64_t number;
};

static void put_dec(struct text_sink *sink, const struct value *value)
{
	if (value->piece->field->is_signed)
		put_signed(sink, (int64_t)value->number);
	else
		put_number(sink, value->number);
}

static void put_hex(struct text_sink *sink, const struct value *value)
{
	put_bytes(sink, "0x", 2);
	put_bits(sink, value->number, 4);
}

static void put_octal(struct text_sink *sink, const struct value *value)
{
	put_bytes(sink, "0", 1);
	put_bits(sink, value->number, 3);
}

/* Arguments of a program are in one line, as in ps(1). */
static void put_args(struct text_sink *sink, const char *args)
{
	char text[TRACE_RECORD_MAX_BYTES];

	snprintf(text, sizeof(text), "%s", args);
	for (char *at = text; (at = strchr(at, TRACE_ARGS_SEPARATOR));)
		*at = ' ';
	put_sanitized(sink, text);
}

static void put_string(struct text_sink *sink, const struct value *value)
{
	if (value->event->id == TRACE_EV_start_args || value->event->id == TRACE_EV_sched_args)
		put_args(sink, trace_event_string(value->event));
	else
		put_sanitized(sink, trace_event_string(value->event));
}

static void put_named(struct text_sink *sink, const struct value *value, enum trace_string_space space)
{
	const char *name = string_table_get(&value->trace->strings, space, value->number);

	if (name)
		put_sanitized(sink, name);
	else
		put_dec(sink, value);
}

static void put_syscall(struct text_sink *sink, const struct value *value)
{
	bool is_32 = trace_event_u64(value->event, value->piece->beside) == TRACE_ABI_32;
	const char *name = string_table_get(&value->trace->strings,
					    is_32 ? TRACE_STRING_SYSCALL_32 : TRACE_STRING_SYSCALL, value->number);

	if (!name)
		name = syscall_name_of(value->number);
	if (name)
		put_sanitized(sink, name);
	else
		put_signed(sink, (int32_t)value->number); /* programs make calls with the number -1, too */
}

static void put_irq(struct text_sink *sink, const struct value *value)
{
	put_named(sink, value, TRACE_STRING_IRQ);
}

static void put_softirq(struct text_sink *sink, const struct value *value)
{
	put_named(sink, value, TRACE_STRING_SOFTIRQ);
}

static void put_vector(struct text_sink *sink, const struct value *value)
{
	put_named(sink, value, TRACE_STRING_VECTOR);
}

static void put_result(struct text_sink *sink, const struct value *value)
{
	const char *name = (int64_t)value->number < 0 ? linux_errno_name(-value->number) : NULL;

	if (!name) {
		put_signed(sink, (int64_t)value->number);
		return;
	}
	put_bytes(sink, "-", 1);
	put_text(sink, name);
}

static void put_state(struct text_sink *sink, const struct value *value)
{
	static const struct {
		uint32_t bits;
		char letter;
	} letters[] = {
		{TRACE_TASK_UNINTERRUPTIBLE | TRACE_TASK_NOLOAD, 'I'},
		{TRACE_TASK_INTERRUPTIBLE, 'S'},
		{TRACE_TASK_UNINTERRUPTIBLE, 'D'},
		{TRACE_TASK_STOPPED, 'T'},
		{TRACE_TASK_TRACED, 't'},
		{TRACE_TASK_EXIT_DEAD, 'X'},
		{TRACE_TASK_EXIT_ZOMBIE, 'Z'},
		{TRACE_TASK_PARKED, 'P'},
		{TRACE_TASK_DEAD, 'X'},
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if ((value->number & letters[i].bits) == letters[i].bits) {
			put_bytes(sink, &letters[i].letter, 1);
			return;
		}
	if (value->number == TRACE_TASK_RUNNING)
		put_bytes(sink, "R", 1);
	else
		put_hex(sink, value);
}

static void put_context(struct text_sink *sink, const struct value *value)
{
	static const char *const names[] = {"task", "softirq", "irq", "nmi"};

	if (value->number < sizeof(names) / sizeof(names[0]))
		put_text(sink, names[value->number]);
	else
		put_dec(sink, value);
}

static void put_dev(struct text_sink *sink, const struct value *value)
{
	const char *name = string_table_get(&value->trace->strings, TRACE_STRING_DEVICE, value->number);

	if (name) {
		put_sanitized(sink, name);
		return;
	}
	put_number(sink, value->number >> 20);
	put_bytes(sink, ":", 1);
	put_number(sink, value->number & 0xfffff);
}

static void put_signal(struct text_sink *sink, const struct value *value)
{
	const char *name = linux_signal_name(value->number);

	put_text(sink, "SIG");
	if (name)
		put_text(sink, name);
	else
		put_number(sink, value->number);
}

static void put_family(struct text_sink *sink, const struct value *value)
{
	static const char *const names[LINUX_AF_MAX] = {
		[LINUX_AF_UNSPEC] = "unspec",	    [LINUX_AF_UNIX] = "unix",	    [LINUX_AF_INET] = "inet",
		[LINUX_AF_INET6] = "inet6",	    [LINUX_AF_NETLINK] = "netlink", [LINUX_AF_PACKET] = "packet",
		[LINUX_AF_VSOCK] = "vsock",	    [LINUX_AF_ALG] = "alg",	    [LINUX_AF_XDP] = "xdp",
		[LINUX_AF_BLUETOOTH] = "bluetooth",
	};

	if (value->number < LINUX_AF_MAX && names[value->number])
		put_text(sink, names[value->number]);
	else
		put_dec(sink, value);
}

/* Writes an IPv6 address in brackets, because a port may follow. All zeros: there is no address. */
static void put_addr(struct text_sink *sink, const struct value *value)
{
	uint64_t low = trace_event_u64(value->event, value->piece->beside);
	char text[INET6_ADDRSTRLEN];
	struct in6_addr address;

	if (!value->piece->beside) {
		put_hex(sink, value);
		return;
	}
	memcpy(address.s6_addr, &value->number, 8);
	memcpy(address.s6_addr + 8, &low, 8);
	if (IN6_IS_ADDR_UNSPECIFIED(&address)) {
		put_bytes(sink, "*", 1);
	} else if (IN6_IS_ADDR_V4MAPPED(&address)) {
		inet_ntop(AF_INET, address.s6_addr + 12, text, sizeof(text));
		put_text(sink, text);
	} else {
		inet_ntop(AF_INET6, &address, text, sizeof(text));
		put_bytes(sink, "[", 1);
		put_text(sink, text);
		put_bytes(sink, "]", 1);
	}
}

static void put_event(struct text_sink *sink, const struct value *value)
{
	const struct trace_event_type *type = value->number <= UINT32_MAX
						      ? schema_type(&value->trace->schema, (uint32_t)value->number)
						      : NULL;

	if (type)
		put_sanitized(sink, type->name);
	else
		put_dec(sink, value);
}

/* Writes the smallest number of digits that reads back as the same number. */
static void put_float(struct text_sink *sink, const struct value *value)
{
	double number = trace_event_double(value->event, value->piece->field);
	bool is_float = value->piece->field->bytes == 4;
	char text[40];

	for (int digits = is_float ? 6 : 15; digits <= (is_float ? 9 : 17); digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, number);
		if (is_float ? strtof(text, NULL) == (float)number : strtod(text, NULL) == number)
			break;
	}
	/* some locales have a decimal comma */
	text[strcspn(text, ",")] = text[strcspn(text, ",")] ? '.' : '\0';
	put_text(sink, text);
}

static void put_char(struct text_sink *sink, const struct value *value)
{
	unsigned char byte = (unsigned char)value->number;

	if (value->piece->field->bytes == 1 || value->number < 0x80)
		put_quoted(sink, &byte, 1, '\'');
	else
		put_hex(sink, value);
}

static void put_reference(struct text_sink *sink, const struct value *value)
{
	size_t bytes;
	const unsigned char *at = trace_event_bytes(value->event, value->piece->field, &bytes);

	if (!at) {
		put_text(sink, "?");
		return;
	}
	if (value->piece->field->kind == TRACE_KIND_STRING) {
		put_quoted(sink, at, bytes, '"');
		return;
	}
	for (size_t i = 0; i < bytes; i++)
		put_hex_byte(sink, at[i]);
}

static void (*const put_kind[TRACE_NR_KINDS])(struct text_sink *sink, const struct value *value) = {
	[TRACE_KIND_DEC] = put_dec,	    [TRACE_KIND_HEX] = put_hex,	      [TRACE_KIND_NS] = put_dec,
	[TRACE_KIND_TID] = put_dec,	    [TRACE_KIND_CPU] = put_dec,	      [TRACE_KIND_BOOL] = put_dec,
	[TRACE_KIND_SYSCALL] = put_syscall, [TRACE_KIND_RESULT] = put_result, [TRACE_KIND_IRQ] = put_irq,
	[TRACE_KIND_SOFTIRQ] = put_softirq, [TRACE_KIND_VECTOR] = put_vector, [TRACE_KIND_STATE] = put_state,
	[TRACE_KIND_CONTEXT] = put_context, [TRACE_KIND_DEV] = put_dev,	      [TRACE_KIND_MODE] = put_octal,
	[TRACE_KIND_SIGNAL] = put_signal,   [TRACE_KIND_FAMILY] = put_family, [TRACE_KIND_PORT] = put_dec,
	[TRACE_KIND_ADDR] = put_addr,	    [TRACE_KIND_EVENT] = put_event,   [TRACE_KIND_COMM] = put_string,
	[TRACE_KIND_PATH] = put_string,	    [TRACE_KIND_TEXT] = put_string,   [TRACE_KIND_PAD] = put_dec,
	[TRACE_KIND_FLOAT] = put_float,	    [TRACE_KIND_CHAR] = put_char,     [TRACE_KIND_STRING] = put_reference,
	[TRACE_KIND_BYTES] = put_reference,
};

/* ---- templates ---- */

static const struct trace_field *field_named(const struct trace_event_type *type, const char *name, size_t bytes)
{
	for (size_t i = 0; i < type->nr_fields; i++)
		if (!strncmp(type->fields[i].name, name, bytes) && !type->fields[i].name[bytes])
			return &type->fields[i];
	return NULL;
}

static const struct trace_field *field_beside(const struct trace_event_type *type, const struct trace_field *field)
{
	size_t bytes = strlen(field->name);
	char name[64];

	if (field->kind == TRACE_KIND_SYSCALL)
		return trace_type_field(type, "abi");
	if (field->kind != TRACE_KIND_ADDR || bytes < 3 || bytes >= sizeof(name) ||
	    strcmp(field->name + bytes - 3, "_hi") != 0)
		return NULL;
	memcpy(name, field->name, bytes - 2);
	memcpy(name + bytes - 2, "lo", 3);
	return trace_type_field(type, name);
}

/*
 * Returns the next piece of @text, and moves @text after it. A brace that encloses no field name is
 * text.
 */
static struct text_piece piece_next(const struct trace_event_type *type, const char **text)
{
	struct text_piece piece = {.literal = *text};
	const char *open = *text;

	while ((open = strchr(open, '{'))) {
		size_t bytes = strcspn(open + 1, "{}");
		const char *close = open + 1 + bytes;

		piece.field = *close == '}' ? field_named(type, open + 1, bytes) : NULL;
		if (piece.field) {
			piece.literal_bytes = (uint32_t)(open - *text);
			piece.beside = field_beside(type, piece.field);
			*text = close + 1;
			return piece;
		}
		/*
		 * Each name is searched only up to the next brace, because a crafted file may have
		 * nothing but braces.
		 */
		open = close;
	}
	piece.literal_bytes = (uint32_t)strlen(*text);
	*text += piece.literal_bytes;
	return piece;
}

/* A type without a text of its own shows its fields with their names. */
static int compile_fields(const struct trace_event_type *type, struct text_template *ret_template)
{
	ret_template->nr = 0;
	ret_template->pieces = calloc(type->nr_fields + 1u, sizeof(*ret_template->pieces));
	if (!ret_template->pieces)
		return -ENOMEM;
	for (size_t i = 0; i < type->nr_fields; i++)
		ret_template->pieces[ret_template->nr++] =
			(struct text_piece){.literal = " ",
					    .literal_bytes = i > 0,
					    .field = &type->fields[i],
					    .beside = field_beside(type, &type->fields[i]),
					    .named = true};
	return 0;
}

int text_compile(const struct trace_event_type *type, struct text_template *ret_template)
{
	const char *text = type->text;
	size_t nr_max = 1;

	if (!*text)
		return compile_fields(type, ret_template);
	for (const char *at = text; *at; at++)
		nr_max += *at == '{';
	ret_template->pieces = calloc(nr_max, sizeof(*ret_template->pieces));
	if (!ret_template->pieces)
		return -ENOMEM;
	ret_template->nr = 0;
	while (*text) {
		struct text_piece piece = piece_next(type, &text);

		piece.needs_escape = needs_escape(piece.literal, piece.literal_bytes);
		piece.or_unknown = piece.field && type->id == TRACE_EV_trace_lost &&
				   strcmp(piece.field->name, "lost") == 0;
		ret_template->pieces[ret_template->nr++] = piece;
	}
	return 0;
}

int trace_event_format(const struct trace *trace, const struct trace_event *event, char *buffer, size_t size)
{
	const struct text_template *template = &trace->templates[event->id < trace->nr_templates ? event->id : 0];
	struct text_sink sink = {.buffer = buffer, .room = size ? size - 1 : 0};

	for (size_t i = 0; i < template->nr; i++) {
		const struct text_piece *piece = &template->pieces[i];
		struct value value = {.trace = trace, .event = event, .piece = piece};

		if (piece->needs_escape)
			put_literal(&sink, piece->literal, piece->literal_bytes);
		else
			put_bytes(&sink, piece->literal, piece->literal_bytes);
		if (!piece->field)
			continue;
		if (piece->named) {
			put_sanitized(&sink, piece->field->name);
			put_bytes(&sink, "=", 1);
		}
		value.number = trace_event_u64(event, piece->field);
		if (piece->or_unknown && !value.number)
			put_text(&sink, "an unknown number of");
		else
			(piece->field->bytes ? put_kind[piece->field->kind] : put_string)(&sink, &value);
	}
	if (size)
		buffer[sink.bytes < sink.room ? sink.bytes : sink.room] = '\0';
	return (int)sink.bytes;
}
