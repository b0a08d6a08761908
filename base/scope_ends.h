/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_SCOPE_ENDS_H
#define BASE_SCOPE_ENDS_H
/* scope_ends.h - names of tracepoints of the kernel that are the two ends of a scope. */
#include <stdbool.h>
#include <stddef.h>

/**
 * scope_ends_stem() - length of @name without _enter, _entry, _begin or _start; for an end without
 * _exit or _end. The whole length if it has none of them
 */
size_t scope_ends_stem(const char *name, bool is_end);

#endif
