/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "scope_ends.h"

#include <string.h>

static const char *const begins[] = {"_enter", "_entry", "_begin", "_start", NULL};
static const char *const ends[] = {"_exit", "_end", NULL};

size_t scope_ends_stem(const char *name, bool is_end)
{
	size_t length = strlen(name), cut;

	for (const char *const *suffix = is_end ? ends : begins; *suffix; suffix++) {
		cut = strlen(*suffix);
		if (cut < length && strcmp(name + length - cut, *suffix) == 0)
			return length - cut;
	}
	return length;
}
