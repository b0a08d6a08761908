/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_DEMANGLE_H
#define BASE_DEMANGLE_H
/*
 * demangle.h - readable names of C++ and Rust functions, from the C++ run-time library. It is
 * loaded on demand: linking it for a few names is not worth it. Any thread may call these
 * functions.
 */

#include <stdbool.h>

/**
 * demangle_prepare() - load the C++ run-time library now, because this process is about to lose the
 * right to open files
 */
void demangle_prepare(void);

/** demangle_is_prepared() - has this process, or one that forked it, tried to load the library? */
bool demangle_is_prepared(void);

/**
 * demangle() - demangle @name
 * Returns the readable name, which the caller frees. Returns NULL if @name is not mangled, if the
 * C++ run-time library is not installed, or, with errno = ENOMEM, if there is no memory.
 */
char *demangle(const char *name);

#endif
