/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SHAPE_EDITS_H
#define TESTS_SHAPE_EDITS_H
/* shape_edits.h - what can be changed in a trace that is taken apart, each change as a few numbers of which all make sense. */
#include "random_story.h"
#include "reshape.h"

/** struct shape_edit - @what to do; what the others say depends on that: mostly @where (a chunk, a type), @which in it (a payload), and with which @value */
struct shape_edit {
	uint8_t what;
	uint8_t field;
	uint16_t where;
	uint32_t which;
	uint64_t value;
};

void shape_edit(struct reshape *r, const struct shape_edit *edit);
/** shape_edit_random() - any; with numbers at which something ends, or that mean something */
struct shape_edit shape_edit_random(struct dice *dice);
#endif
