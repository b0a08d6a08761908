/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "similar.h"

#include <string.h>

#define NAME_MAX_CHARS 128
#define PART_CHARS_MIN 3
#define SEPARATORS     "-_ :/"

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
 * The number of typing errors between @a and @b, ignoring case: wrong, missing and additional
 * characters, and neighbours that are exchanged. The rows are the last three of the table of
 * distances between the first i characters of @a and the first j of @b.
 * @ret_beginning: the least distance between @a and a beginning of @b
 */
static size_t distance(const char *a, const char *b, size_t *ret_beginning)
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
	*ret_beginning = row[nr_b];
	for (size_t j = 0; j <= nr_b; j++)
		*ret_beginning = min3(*ret_beginning, *ret_beginning, row[j]);
	return row[nr_b];
}

/* The least distance between @wanted and the beginning of @candidate, or of a word in it. */
static size_t distance_of_part(const char *wanted, const char *candidate)
{
	size_t least = NAME_MAX_CHARS, beginning;

	for (const char *word = candidate; *word; word += strspn(word, SEPARATORS)) {
		distance(wanted, word, &beginning);
		least = min3(least, least, beginning);
		word += strcspn(word, SEPARATORS);
	}
	return least;
}

bool similar_is_near(const char *wanted, const char *candidate, size_t *ret_distance)
{
	size_t chars = strlen(wanted), candidate_chars = strlen(candidate), beginning,
	       whole = distance(wanted, candidate, &beginning), part = distance_of_part(wanted, candidate);

	*ret_distance = min3(whole, whole, part + 1);
	if (3 * whole <= (chars > candidate_chars ? chars : candidate_chars) ||
	    (chars > PART_CHARS_MIN && 4 * part <= chars))
		return true;
	*ret_distance = whole;
	return (chars >= PART_CHARS_MIN && strcasestr(candidate, wanted)) ||
	       (candidate_chars >= PART_CHARS_MIN && strcasestr(wanted, candidate));
}

void similar_offer(struct similar *best, const char *candidate)
{
	size_t distance_of_it;

	if (!similar_is_near(best->wanted, candidate, &distance_of_it) ||
	    (best->name && best->distance <= distance_of_it))
		return;
	best->name = candidate;
	best->distance = distance_of_it;
}
