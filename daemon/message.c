/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "message.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "progress_line.h"
#include "waiting_line.h"

static const char *message_program = "tracedaemon";
static bool message_quiet;
static bool message_logs;

void message_init(const char *program, bool quiet)
{
	message_program = program;
	message_quiet = quiet;
}

void message_to_log(void)
{
	openlog(message_program, LOG_PID, LOG_DAEMON);
	message_logs = true;
}

static void message_print(const char *kind, const char *format, va_list arguments)
{
	char text[1024];

	vsnprintf(text, sizeof(text), format, arguments);
	for (char *c = text; *c; c++) /* quoted names may contain control characters */
		*c = iscntrl((unsigned char)*c) ? '?' : *c;
	if (message_logs) {
		syslog(LOG_NOTICE, "%s%s", kind, text);
		return;
	}
	waiting_line_end();
	progress_line_erase();
	/* One call, so one write: stderr may be shared with the command. */
	fprintf(stderr, "%s: %s%s\n", message_program, kind, text);
}

void message_waiting(const char *what)
{
	if (!message_quiet && !message_logs)
		waiting_line_begin(message_program, what);
}

void message_waiting_end(void)
{
	waiting_line_end();
}

void message_note(const char *format, ...)
{
	va_list arguments;

	if (message_quiet)
		return;
	va_start(arguments, format);
	message_print("", format, arguments);
	va_end(arguments);
}

void message_warning(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print("warning: ", format, arguments);
	va_end(arguments);
}

void message_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	message_print("", format, arguments);
	va_end(arguments);
}

int message_end(int status)
{
	bool failed;

	errno = 0;
	failed = fflush(stdout) || ferror(stdout); /* a failed write is tried again here, to get its errno */
	if (!failed)
		return status;
	/*
	 * output of just more than a buffer may have been given up before: another byte gets the
	 * errno
	 */
	if (!errno && write(STDOUT_FILENO, "\n", 1) < 0 && errno == EINTR)
		errno = 0;
	message_error("standard output could not be written completely: %s", strerror(errno ? errno : EIO));
	return status ? status : 1;
}
