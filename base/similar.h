/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_SIMILAR_H
#define BASE_SIMILAR_H
/* similar.h - the name that a wrongly typed word was probably meant to be. */
#include <stdbool.h>
#include <stddef.h>

/**
 * struct similar - the search for the name nearest to @wanted
 * @name: the best so far; NULL: none is near
 */
struct similar {
	const char *wanted;
	const char *name;
	size_t distance;
};

/**
 * similar_distance() - the number of typing errors between @a and @b, ignoring case
 * An error is a wrong, missing or additional character, or two neighbours that are exchanged. @b
 * ends after 128 characters.
 */
size_t similar_distance(const char *a, const char *b);
/** similar_is_near() - at most one error per three characters, or one name contains the other */
bool similar_is_near(const char *wanted, const char *candidate, size_t distance);
/** similar_offer() - keep @candidate, borrowed, if it is nearer than the best so far */
void similar_offer(struct similar *best, const char *candidate);
#endif
