/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "join_error.h"

#include <errno.h>
#include <stdio.h>

#include "clock.h"
#include "message.h"
#include "format_text.h"

void user_barred_begin(struct user_barred *barred, bool waits, const struct trace_error *why)
{
	barred->why = *why;
	barred->until_ns = 0;
	if (barred->wanted)
		message_warning("programs that start now cannot join%s: %s", waits ? " until the other daemon ends" : "", why->message);
}

void user_barred_end(struct user_barred *barred)
{
	if (barred->why.code)
		barred->until_ns = clock_now();
}

bool user_barred_now(const struct user_barred *barred)
{
	return barred->why.code && !barred->until_ns;
}

/* An obstacle that ended before the trace began does not matter. */
static bool was_within(const struct user_barred *barred, uint64_t start_ns)
{
	return barred->why.code && barred->until_ns > start_ns;
}

void user_barred_tell(const struct user_barred *barred, uint64_t start_ns, bool any_joined, void (*tell)(void *context, const char *text), void *context)
{
	const char *why = barred->why.code == -EADDRINUSE ? "another daemon recorded them" : barred->why.message;
	char text[sizeof(barred->why.message) + 128];

	if (!barred->wanted)
		return;
	if (user_barred_now(barred)) { /* programs that started earlier were found in /proc */
		snprintf(text, sizeof(text), "events of %s: they could not join, %s", any_joined ? "other programs" : "programs", why);
		tell(context, text);
	} else if (was_within(barred, start_ns)) {
		snprintf(text, sizeof(text), "events of programs in the first %s: they could not join, %s", text_seconds(barred->until_ns - start_ns).s, why);
		tell(context, text);
	} else if (barred->others_had) {
		tell(context, "events of some programs: another daemon recorded them");
	}
}
