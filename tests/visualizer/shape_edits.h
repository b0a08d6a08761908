/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SHAPE_EDITS_H
#define TESTS_SHAPE_EDITS_H
/* shape_edits.h - the possible edits of a decoded trace. Each edit is a few numbers, and all
 * numbers are valid. */
#include "random_story.h"
#include "reshape.h"

/**
 * struct shape_edit - one edit
 * @what: the kind of edit, on which the meaning of the others depends: mostly @where is a chunk or
 *   a type, @which a payload in it, and @value the new value
 */
struct shape_edit {
	uint8_t what;
	uint8_t field;
	uint16_t where;
	uint32_t which;
	uint64_t value;
};

void shape_edit(struct reshape *r, const struct shape_edit *edit);
/**
 * shape_edit_random() - any edit, with limits or numbers with a meaning as values
 */
struct shape_edit shape_edit_random(struct dice *dice);
#endif
