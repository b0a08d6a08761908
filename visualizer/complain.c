/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include "progress_line.h"

int complain(int status, const char *format, ...)
{
	va_list arguments;

	progress_line_erase();
	fputs("tracevisualizer: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputs("\n", stderr);
	return status;
}
