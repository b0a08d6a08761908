/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_text_stream.c - a stream into memory has all that was written, or no text.
 *
 * Each allocation fails, once or from then on. The stream of the C library (open_memstream()) fails
 * here: it leaves bytes out, and ferror() and fclose() return 0.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "no_memory.h"
#include "text_stream.h"
#include "unit.h"

#define NR_LINES   20000u
#define LINE_BYTES 7u

static bool is_whole(const char *text, size_t bytes)
{
	char line[LINE_BYTES + 1];

	for (unsigned int i = 0; i < NR_LINES; i++) {
		snprintf(line, sizeof(line), "%06u\n", i);
		if ((i + 1) * LINE_BYTES > bytes || memcmp(text + (size_t)i * LINE_BYTES, line, LINE_BYTES) != 0)
			return false;
	}
	return bytes == (size_t)NR_LINES * LINE_BYTES && text[bytes] == 0;
}

/* Returns the number of allocations, or 0 if one failed. */
static long write_lines(long fails_at, bool and_after)
{
	struct text_stream stream;
	char *text = NULL;
	size_t bytes = 0;
	long nr = 0;
	int error;

	no_memory_at(fails_at, and_after);
	error = text_stream_begin(&stream);
	if (!error) {
		for (unsigned int i = 0; i < NR_LINES; i++)
			fprintf(stream.out, "%06u\n", i);
		error = text_stream_end(&stream, &text, &bytes);
	}
	nr = no_memory_struck() ? 0 : no_memory_nr();
	no_memory_at(0, false);
	CU_ASSERT(error ? error == -ENOMEM && !text && !nr : is_whole(text, bytes));
	free(text);
	return nr;
}

static void a_text_without_memory_is_whole_or_missing(void)
{
	long nr = write_lines(0, false) + write_lines(1000, false);

	CU_ASSERT(nr > 10);
	for (long at = 1; at <= nr; at++) {
		write_lines(at, false);
		write_lines(at, true);
	}
}

static void an_empty_text_has_its_end(void)
{
	struct text_stream stream;
	char *text = NULL;
	size_t bytes = 1;

	CU_ASSERT_EQUAL_FATAL(text_stream_begin(&stream), 0);
	CU_ASSERT_EQUAL_FATAL(text_stream_end(&stream, &text, &bytes), 0);
	CU_ASSERT(bytes == 0 && *text == 0);
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_text_without_memory_is_whole_or_missing),
		CASE(an_empty_text_has_its_end),
		{NULL, NULL},
	};

	return unit_main("streams into memory", cases, argc, argv);
}
