/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_NEXT_H
#define TRACER_PRELOAD_NEXT_H
/*
 * next.h - find the function that a preloaded function interposes
 *
 * It is looked up at the first call, which may come before any constructor has run, from any
 * thread. Several threads may look it up at once, and all get the same result. No event is recorded
 * meanwhile: recording comes after the call, or calls no interposed function.
 */
#include <dlfcn.h>
#include <stddef.h>

#define PRELOAD_EXPORT __attribute__((visibility("default")))

/* @version: for symbols that also have an older version in the library, which dlsym()
 *     alone may return; NULL = none. */
static inline void *preload_next(void **known, const char *name, const char *version)
{
	void *function = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (__builtin_expect(function != NULL, 1))
		return function;
	if (version)
		function = dlvsym(RTLD_NEXT, name, version);
	if (!function)
		function = dlsym(RTLD_NEXT, name);
	__atomic_store_n(known, function, __ATOMIC_RELAXED);
	return function;
}

/* NEXT(malloc) is a pointer to the next malloc. */
#define NEXT_VERSION(function, version)                                           \
	({                                                                        \
		static void *known_;                                              \
		(__typeof__(&function))preload_next(&known_, #function, version); \
	})
#define NEXT(function) NEXT_VERSION(function, NULL)

#endif
