/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * json.c - write JSON incrementally.
 *
 * The caller has the stream alone, so no call takes its lock: most of an answer are short texts and
 * numbers, and the locks would take longer than these.
 */
#include <math.h>
#include "json.h"
#include "utf8.h"

static const char escapes[] = {
	['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};

/* The first bytes of @text that a string may have as they are. */
static size_t plain_bytes(const char *text)
{
	size_t bytes = 0, next;

	for (;; bytes += next) {
		unsigned char byte = (unsigned char)text[bytes];

		next = 1;
		if (byte < 0x20 || byte == 0x7f || byte == '"' || byte == '\\')
			return bytes;
		if (byte >= 0x80 && utf8_char(text + bytes, SIZE_MAX, &next) == UTF8_INVALID)
			return bytes;
	}
}

static void put_special(FILE *out, unsigned char byte)
{
	if (byte < sizeof(escapes) && escapes[byte])
		fprintf(out, "\\%c", escapes[byte]);
	else if (byte < 0x80)
		fprintf(out, "\\u%04x", byte);
	else
		fputs("\xef\xbf\xbd", out);
}

/* Names come from the kernel and from programs: invalid UTF-8 becomes U+FFFD. */
void json_string(struct json *json, const char *text)
{
	FILE *out = json->out;

	putc_unlocked('"', out);
	while (*text) {
		size_t bytes = plain_bytes(text);

		fwrite_unlocked(text, 1, bytes, out);
		text += bytes;
		if (*text)
			put_special(out, (unsigned char)*text++);
	}
	putc_unlocked('"', out);
}

/* As "%" PRIu64, which takes longer: most of a large answer are numbers. */
static void put_u64(FILE *out, uint64_t value)
{
	char digits[20], *end = digits + sizeof(digits), *at = end;

	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	fwrite_unlocked(at, 1, (size_t)(end - at), out);
}

void json_separate(struct json *json)
{
	if (!json->first)
		putc_unlocked(',', json->out);
	json->first = false;
}

void json_key(struct json *json, const char *key)
{
	json_separate(json);
	json_string(json, key);
	putc_unlocked(':', json->out);
}

void json_open(struct json *json, const char *key, const char *bracket)
{
	if (key)
		json_key(json, key);
	else
		json_separate(json);
	fputs_unlocked(bracket, json->out);
	json->first = true;
}

void json_close(struct json *json, const char *bracket)
{
	fputs_unlocked(bracket, json->out);
	json->first = false;
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	put_u64(json->out, value);
}

void json_known(struct json *json, const char *key, uint64_t value, bool known)
{
	json_key(json, key);
	if (known)
		put_u64(json->out, value);
	else
		fputs_unlocked("null", json->out);
}

void json_text(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	fputs_unlocked(value ? "true" : "false", json->out);
}

void json_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.17g", value); /* the program is in the C locale: charset.c */
	else
		fputs_unlocked("null", json->out);
}
