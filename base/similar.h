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
 * similar_is_near() - can @candidate be what the user meant?
 * An error is a wrong, missing or additional character, or two neighbours that are exchanged; names
 * end after 128 characters. Near is at most one error per three characters of the whole name, or
 * per four of an abbreviation: the beginning of the name or of a word in it ("criticl" is near
 * critical-path, "swich" near sched_switch). Near is also a name that contains the other.
 * @ret_distance: to choose the nearest; what an abbreviation leaves out counts as one error
 */
bool similar_is_near(const char *wanted, const char *candidate, size_t *ret_distance);
/** similar_offer() - keep @candidate, borrowed, if it is nearer than the best so far */
void similar_offer(struct similar *best, const char *candidate);
#endif
