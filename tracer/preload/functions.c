// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * functions.c - libtracer-functions.so: every call and return of functions that were compiled with -finstrument-functions, as events
 * (LD_PRELOAD, or -ltracer-functions). The compiler calls these two at both ends of each function; without us the C library's do nothing.
 */
#include <trace/tracepoint.h>
#include "next.h"

PRELOAD_EXPORT void __cyg_profile_func_enter(void *function, void *caller);
PRELOAD_EXPORT void __cyg_profile_func_exit(void *function, void *caller);

PRELOAD_EXPORT void __cyg_profile_func_enter(void *function, void *caller)
{
	tracepoint(function, enter, function, caller);
}

PRELOAD_EXPORT void __cyg_profile_func_exit(void *function, void *caller)
{
	tracepoint(function, exit, function, caller);
}
