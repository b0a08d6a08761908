/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_VALUE_NAMES_H
#define BASE_VALUE_NAMES_H
/* value_names.h - names of flags and choices of system calls, as the kernel's headers have them. */
#include <stddef.h>
#include <stdint.h>

/** struct value_name - @number of @name; in its set the first of a number */
struct value_name {
	const char *name;
	uint64_t number;
};

/** struct value_set - @name: of the set, as call_arguments.def has it */
struct value_set {
	const char *name;
	const struct value_name *values;
	size_t nr_values;
};

/** value_set_find() - the set of this name (@chars of it), or NULL */
const struct value_set *value_set_find(const char *name, size_t chars);
/** value_name_find() - the name of @number in the set called @set, or NULL */
const char *value_name_find(const char *set, uint64_t number);
/** value_number_find() - the number of a name of a set that exists; 0 if it has no such name */
uint64_t value_number_find(const char *set, const char *name);
#endif
