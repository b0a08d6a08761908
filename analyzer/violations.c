/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* violations.c - the events that break a rule */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include "error_set.h"
#include "state.h"
#include "violations.h"

void violation_note(struct trace_analysis *a, uint64_t ns, const char *format, ...)
{
	va_list args;

	if (a->violations.nr++)
		return;
	a->violations.ns = ns;
	va_start(args, format);
	vsnprintf(a->violations.text, sizeof(a->violations.text), format, args);
	va_end(args);
}

int violations_verify(const struct trace_analysis *a, struct trace_error *ret_error)
{
	const struct violations *v = &a->violations;

	if (!v->nr)
		return 0;
	return error_set(ret_error, -EBADMSG, "%" PRIu64 ".%09" PRIu64 " s after the start: %s%s",
			 (v->ns - a->start_ns) / 1000000000, (v->ns - a->start_ns) % 1000000000, v->text,
			 v->nr > 1 ? "; more such events follow" : "");
}
