/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_STEPS_REPEATED_H
#define TESTS_STEPS_REPEATED_H
/* steps_repeated.h - what stories of steps.h have many of: things, and happenings. */
#include "steps.h"

/**
 * what_fn - make thing number @i, or let event number @i happen
 * ONE runs on CPU 0 and OTHER on CPU 1, before and after the call.
 */
typedef void (*what_fn)(struct story *story, uint32_t i);

/* Costs that grow by design in some pairs: see is_paid(). */
enum cost { NO_COST, THREADS, GAPS, DESCRIPTORS, EXECS, REQUESTS };

/** struct repeated_step - a thing or happening; @before: called @nr times before the first @fn */
struct repeated_step {
	const char *name;
	what_fn fn, before;
	enum cost cost;
};

/* Each ends with an entry without a name. */
extern const struct repeated_step repeated_things[], repeated_happenings[];

/** repeated_named() - the entry of @list with this name */
const struct repeated_step *repeated_named(const struct repeated_step *list, const char *name);
/** repeated_tell() - @nr of @thing, and then @nr of @happening */
void repeated_tell(struct story *story, const struct repeated_step *thing, const struct repeated_step *happening,
		   uint32_t nr);
#endif
