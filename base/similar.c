/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "similar.h"

#include <string.h>

#define NAME_MAX_CHARS 128

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

static bool is_same(char a, char b)
{
	return (a | 0x20) == (b | 0x20);
}

/*
 * The three last rows of the table of distances between the first i characters of @a and the first
 * j of @b.
 */
size_t similar_distance(const char *a, const char *b)
{
	size_t rows[3][NAME_MAX_CHARS + 1], nr_b = strnlen(b, NAME_MAX_CHARS), *row = rows[0];

	for (size_t j = 0; j <= nr_b; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		const size_t *before = rows[(i + 2) % 3], *two_before = rows[(i + 1) % 3];

		row = rows[i % 3];
		row[0] = i;
		for (size_t j = 1; j <= nr_b; j++) {
			row[j] = min3(before[j] + 1, row[j - 1] + 1, before[j - 1] + !is_same(a[i - 1], b[j - 1]));
			if (i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]))
				row[j] = min3(row[j], row[j], two_before[j - 2] + 1);
		}
	}
	return row[nr_b];
}

bool similar_is_near(const char *wanted, const char *candidate, size_t distance)
{
	size_t chars = strlen(wanted), candidate_chars = strlen(candidate),
	       fewer = chars < candidate_chars ? chars : candidate_chars;

	if (3 * distance <= (chars > candidate_chars ? chars : candidate_chars))
		return true;
	return fewer >= 3 && (strcasestr(wanted, candidate) || strcasestr(candidate, wanted));
}

void similar_offer(struct similar *best, const char *candidate)
{
	size_t distance = similar_distance(best->wanted, candidate);

	if (!similar_is_near(best->wanted, candidate, distance) || (best->name && best->distance <= distance))
		return;
	best->name = candidate;
	best->distance = distance;
}
