/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * functions.c - libtracer-functions.so: records every call and return of functions compiled with
 * -finstrument-functions (LD_PRELOAD, or -ltracer-functions)
 * The compiler inserts calls of these two at both ends of each function; the C
 * library's versions do nothing.
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
