/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* workload_user_plugin.c - a library with a tracepoint, to be loaded and unloaded by
 * workload_user.c. */
#include <trace/tracepoint.h>

__attribute__((visibility("default"))) void plugin_call(int n);

void plugin_call(int n)
{
	tracepoint(plugin, called, n);
}
