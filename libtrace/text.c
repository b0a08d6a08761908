/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace.h"
#include <stdio.h>

int trace_event_format(const struct trace *trace, const struct trace_event *event, char *buffer, size_t size)
{
	return snprintf(buffer, size, "%s", event->type->name);
}
