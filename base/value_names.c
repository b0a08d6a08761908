/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "value_names.h"
#include <string.h>

/* All sets in a row; the name of a set is the row before its values. */
static const struct value_name rows[] = {
#define VALUES(name)	    {#name, UINT64_MAX},
#define VALUE(name, number) {#name, number},
#include "value_names.def"
};
#define NR_ROWS	 (sizeof(rows) / sizeof(rows[0]))
#define MAX_SETS 160

static struct value_set sets[MAX_SETS];
static size_t nr_sets;

static void find_sets(void)
{
	for (size_t i = 0; i < NR_ROWS && nr_sets < MAX_SETS; i++)
		if (rows[i].number == UINT64_MAX)
			sets[nr_sets++] = (struct value_set){rows[i].name, &rows[i + 1], 0};
		else if (nr_sets)
			sets[nr_sets - 1].nr_values++;
}

const struct value_set *value_set_find(const char *name, size_t chars)
{
	if (!nr_sets)
		find_sets();
	for (size_t i = 0; i < nr_sets; i++)
		if (strlen(sets[i].name) == chars && !strncmp(sets[i].name, name, chars))
			return &sets[i];
	return NULL;
}

const char *value_name_find(const char *set, uint64_t number)
{
	const struct value_set *found = value_set_find(set, strlen(set));

	for (size_t i = 0; found && i < found->nr_values; i++)
		if (found->values[i].number == number)
			return found->values[i].name;
	return NULL;
}

uint64_t value_number_find(const char *set, const char *name)
{
	const struct value_set *found = value_set_find(set, strlen(set));

	for (size_t i = 0; found && i < found->nr_values; i++)
		if (!strcmp(found->values[i].name, name))
			return found->values[i].number;
	return 0;
}
