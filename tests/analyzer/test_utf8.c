/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_utf8.c - utf8_char() takes the bytes for characters that GLib takes for them. */
#include <glib.h>
#include <stdbool.h>

#include "unit.h"
#include "utf8.h"

static bool agrees(const char *text, size_t most)
{
	gunichar wanted = g_utf8_get_char_validated(text, most == SIZE_MAX ? -1 : (gssize)most);
	bool is_valid = wanted != (gunichar)-1 && wanted != (gunichar)-2;
	size_t bytes;
	uint32_t c = utf8_char(text, most, &bytes);

	return is_valid ? c == wanted && bytes == (size_t)(g_utf8_next_char(text) - text)
			: c == UTF8_INVALID && bytes == 1;
}

static void all_bytes_are_taken_as_glib_takes_them(void)
{
	static const char last[] = {0, 0x7f, (char)0x80, (char)0xbf, (char)0xc0};
	unsigned int step = 3 * (unsigned int)unit_step(7);
	size_t nr_differ = 0;

	for (unsigned int first = 1; first < 256; first++)
		for (unsigned int second = 0; second < 256; second++)
			for (unsigned int third = second % step; third < 256; third += step)
				for (size_t i = 0; i < sizeof(last); i++) {
					char text[] = {(char)first, (char)second, (char)third, last[i], 0};

					nr_differ += !agrees(text, SIZE_MAX);
					nr_differ += text[0] && text[1] && text[2] && !agrees(text, i % 3 + 1);
				}
	CU_ASSERT_EQUAL(nr_differ, 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {CASE(all_bytes_are_taken_as_glib_takes_them), {NULL, NULL}};

	return unit_main("UTF-8", cases, argc, argv);
}
