/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join_error.h"

#include <errno.h>
#include <stdio.h>

#include "clock.h"
#include "message.h"
#include "format_text.h"

void join_error_begin(struct join_error *error, bool waits, const struct trace_error *why)
{
	error->why = *why;
	error->until_ns = 0;
	if (error->wanted)
		message_warning("programs that start now cannot join%s: %s",
				waits ? " until the other daemon ends" : "", why->message);
}

void join_error_end(struct join_error *error)
{
	if (error->why.code)
		error->until_ns = clock_now();
}

bool join_error_now(const struct join_error *error)
{
	return error->why.code && !error->until_ns;
}

/* An obstacle that ended before the trace began does not matter. */
static bool concerns_trace(const struct join_error *error, uint64_t start_ns)
{
	return error->why.code && error->until_ns > start_ns;
}

void join_error_describe(const struct join_error *error, uint64_t start_ns, bool any_joined,
			 void (*describe)(void *context, const char *text), void *context)
{
	const char *why = error->why.code == -EADDRINUSE ? "another daemon recorded them" : error->why.message;
	char text[sizeof(error->why.message) + 128];

	if (!error->wanted)
		return;
	if (join_error_now(error)) { /* programs that started earlier were found in /proc */
		snprintf(text, sizeof(text), "events of %s: they could not join, %s",
			 any_joined ? "other programs" : "programs", why);
		describe(context, text);
	} else if (concerns_trace(error, start_ns)) {
		snprintf(text, sizeof(text), "events of programs in the first %s: they could not join, %s",
			 text_seconds(error->until_ns - start_ns).s, why);
		describe(context, text);
	} else if (error->others_recorded) {
		describe(context, "events of some programs: another daemon recorded them");
	}
}
