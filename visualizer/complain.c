/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>

int complain(int status, const char *format, ...)
{
	va_list arguments;

	fputs("tracevisualizer: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputs("\n", stderr);
	return status;
}
