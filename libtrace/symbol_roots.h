/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_ROOTS_H
#define LIBTRACE_SYMBOL_ROOTS_H
/* symbol_roots.h - the root folders of containers: the programs in them have paths of their own. */
#include <stdbool.h>
#include <trace/error.h>

/** symbol_root_fn - @root: "/proc/PID/root". Returns true to end the search */
typedef bool (*symbol_root_fn)(void *context, const char *root);

/**
 * symbol_roots_search() - call @fn once for each root that a running process has and that is not
 * the caller's own, at most 64
 * Only root sees those of other users. Returns 1 if @fn returned true, 0 if it never did, negative
 * errno if it never did and there may be more roots.
 */
int TRACE_NODISCARD symbol_roots_search(symbol_root_fn fn, void *context);

#endif
