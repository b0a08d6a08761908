/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* user_library.c - a shared library with a tracepoint, for dlopen(). */
#include <trace/tracepoint.h>

void library_event(int n);
__attribute__((visibility("default"))) void library_event(int n)
{
	tracepoint(library, loaded, n);
}
