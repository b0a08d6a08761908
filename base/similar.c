/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "similar.h"

#include <string.h>

#define NAME_MAX_CHARS 128

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t ab = a < b ? a : b;

	return ab < c ? ab : c;
}

size_t similar_distance(const char *a, const char *b)
{
	size_t row[NAME_MAX_CHARS + 1], nr_b = strnlen(b, NAME_MAX_CHARS), diagonal, above;

	for (size_t j = 0; j <= nr_b; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		diagonal = row[0];
		row[0] = i + 1;
		for (size_t j = 0; j < nr_b; j++) {
			above = row[j + 1];
			row[j + 1] = min3(above + 1, row[j] + 1, diagonal + ((a[i] | 0x20) != (b[j] | 0x20)));
			diagonal = above;
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
