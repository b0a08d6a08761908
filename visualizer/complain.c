/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <trace/error.h>
#include "progress_line.h"
#include "value_text.h"

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

int complain_of_error(const struct trace_error *error)
{
	char line[4 * sizeof(error->message)]; /* a file name may have any bytes: four characters for each */

	return complain(1, "%s", text_name(error->message, line, sizeof(line)));
}
