/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* error_set.c - fill in an error that a caller asked for. */
#include "error_set.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct trace_error *ret_error, int code, const char *format, ...)
{
	va_list arguments;

	if (!ret_error)
		return code;
	ret_error->code = code;
	va_start(arguments, format);
	vsnprintf(ret_error->message, sizeof(ret_error->message), format, arguments);
	va_end(arguments);
	return code;
}
