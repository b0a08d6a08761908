/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* json.c - write JSON incrementally. */
#include <inttypes.h>
#include <math.h>
#include "json.h"
#include "utf8.h"

/* Names come from the kernel and from programs: invalid UTF-8 becomes U+FFFD. */
void json_string(struct json *json, const char *text)
{
	static const char escapes[] = {
		['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};
	FILE *out = json->out;

	putc('"', out);
	while (*text) {
		unsigned char byte = (unsigned char)*text;
		size_t bytes = 1;
		bool is_valid = byte < 0x80 || utf8_char(text, SIZE_MAX, &bytes) != UTF8_INVALID;

		if (byte < sizeof(escapes) && escapes[byte]) {
			fprintf(out, "\\%c", escapes[byte]);
		} else if (byte < 0x20 || byte == 0x7f) {
			fprintf(out, "\\u%04x", byte);
		} else if (!is_valid) {
			fputs("\xef\xbf\xbd", out);
		} else {
			fwrite(text, 1, bytes, out);
		}
		text += bytes;
	}
	putc('"', out);
}

void json_separate(struct json *json)
{
	if (!json->first)
		fputs(",", json->out);
	json->first = false;
}

void json_key(struct json *json, const char *key)
{
	json_separate(json);
	json_string(json, key);
	putc(':', json->out);
}

void json_open(struct json *json, const char *key, const char *bracket)
{
	if (key)
		json_key(json, key);
	else
		json_separate(json);
	fputs(bracket, json->out);
	json->first = true;
}

void json_close(struct json *json, const char *bracket)
{
	fputs(bracket, json->out);
	json->first = false;
}

void json_u64(struct json *json, const char *key, uint64_t value)
{
	json_key(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_known(struct json *json, const char *key, uint64_t value, bool known)
{
	json_key(json, key);
	if (known)
		fprintf(json->out, "%" PRIu64, value);
	else
		fputs("null", json->out);
}

void json_text(struct json *json, const char *key, const char *value)
{
	json_key(json, key);
	json_string(json, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

void json_double(struct json *json, const char *key, double value)
{
	json_key(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.17g", value); /* the program is in the C locale: charset.c */
	else
		fputs("null", json->out);
}
