/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* value_text.c - times, sizes, names and percentages as text. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "charset.h"
#include "number_text.h"
#include "utf8.h"
#include "value_text.h"

const char *text_ns(const struct text_output *output, uint64_t ns, struct value_text *text)
{
	if (output->exact)
		snprintf(text->bytes, sizeof(text->bytes), "%" PRIu64, ns);
	else if (ns == 0)
		snprintf(text->bytes, sizeof(text->bytes), "-");
	else if (ns < 1000)
		snprintf(text->bytes, sizeof(text->bytes), "%" PRIu64 " ns", ns);
	else if (ns < 999995) /* a value that rounds to 1000.00 takes the next unit */
		snprintf(text->bytes, sizeof(text->bytes), "%.2f us", (double)ns / 1e3);
	else if (ns < 999995000)
		snprintf(text->bytes, sizeof(text->bytes), "%.2f ms", (double)ns / 1e6);
	else
		snprintf(text->bytes, sizeof(text->bytes), "%.3f s", (double)ns / 1e9);
	return text->bytes;
}

const char *text_difference(const struct text_output *output, uint64_t a, uint64_t b, struct value_text *text)
{
	struct value_text ns;

	if (a == b)
		snprintf(text->bytes, sizeof(text->bytes), output->exact ? "0" : "-");
	else
		snprintf(text->bytes, sizeof(text->bytes), "%c%.40s", b > a ? '+' : '-',
			 text_ns(output, b > a ? b - a : a - b, &ns));
	return text->bytes;
}

const char *text_bytes(const struct text_output *output, uint64_t bytes, struct value_text *text)
{
	if (output->exact)
		snprintf(text->bytes, sizeof(text->bytes), "%" PRIu64, bytes);
	else
		snprintf(text->bytes, sizeof(text->bytes), "%s", number_bytes(bytes).s);
	return text->bytes;
}

const char *text_count(const struct text_output *output, uint64_t count, struct value_text *text)
{
	if (output->exact)
		snprintf(text->bytes, sizeof(text->bytes), "%" PRIu64, count);
	else
		snprintf(text->bytes, sizeof(text->bytes), "%s", number_count(count).s);
	return text->bytes;
}

/* Control characters, and the separators of lines and paragraphs */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029;
}

const char *text_name(const char *name, char *buffer, size_t size)
{
	size_t used = 0;

	while (*name) {
		size_t bytes;
		uint32_t c = utf8_char(name, SIZE_MAX, &bytes);
		bool plain = (c < 0x80 || !charset_hides()) && c != UTF8_INVALID && !is_control(c);

		bytes = plain ? bytes : 1;

		if (used + (plain ? bytes : 4) >= size)
			break;
		if (plain)
			memcpy(buffer + used, name, bytes);
		else
			snprintf(buffer + used, size - used, "\\x%02x", (unsigned char)*name);
		used += plain ? bytes : 4;
		name += bytes;
	}
	buffer[used] = 0;
	return buffer;
}

const char *text_comm(const char *comm, char *buffer, size_t size)
{
	return text_name(*comm ? comm : "(no name)", buffer, size);
}

const char *text_process(const char *comm, uint32_t pid, char *buffer, size_t size)
{
	char number[16];

	if (!pid)
		return text_comm(comm, buffer, size);
	snprintf(number, sizeof(number), " (%u)", pid);
	if (!*comm)
		snprintf(buffer, size, "process %u", pid);
	else
		strcat((char *)text_name(comm, buffer, size - strlen(number)), number);
	return buffer;
}

const char *text_unidentified(const char *comm)
{
	return strcmp(comm, "several") == 0   ? "several processes"
	       : strcmp(comm, "unknown") == 0 ? "an unknown process"
					      : NULL;
}

double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
