/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients_missing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <trace/saturate.h>
#include <trace/user_memory.h>

#include "clients_state.h"
#include "format_text.h"
#include "user_find.h"

size_t clients_describe_unmatched(const struct clients *clients, void (*describe)(void *context, const char *text),
				  void *context)
{
	char text[SELECT_PATTERN_MAX + 128];
	const struct select_user *user;
	size_t nr = 0;

	for (size_t at = 0; (user = select_unmatched(&clients->selection, &at)); nr++) {
		select_print_pattern(user, text, SELECT_PATTERN_MAX);
		snprintf(text + strlen(text), 128, ": no program had such an event");
		describe(context, text);
	}
	return nr;
}

void clients_describe_missing(const struct clients *clients, void (*describe)(void *context, const char *text),
			      void *context)
{
	uint64_t unregistered = clients->unregistered;
	char text[sizeof(clients->recording.why.message) + 128];

	join_error_describe(&clients->join_error, clients->recording.start_ns, clients->status.ever, describe, context);
	for (const struct client *client = clients->table.list; client; client = client->next)
		unregistered = trace_add_saturated(unregistered, user_program_unregistered(client->program));
	if (unregistered) {
		snprintf(text, sizeof(text), "%s tracepoints of programs: a program can have at most %u event types",
			 text_count(unregistered).s, USER_MAX_EVENTS - 1);
		describe(context, text);
	}
	if (clients->recording.undescribed) {
		snprintf(text, sizeof(text), "%s tracepoints of programs, whose events count as lost: %s",
			 text_count(clients->recording.undescribed).s, clients->recording.why.message);
		describe(context, text);
	}
	lost_programs_describe(&clients->lost, describe, context);
	if (clients->bell.lost) {
		snprintf(text, sizeof(text),
			 "at least %s programs that called the daemon faster than it answered: some may be missing",
			 text_count(clients->bell.lost).s);
		describe(context, text);
	}
	if (clients->bell.error && clients->join_error.wanted) {
		snprintf(text, sizeof(text),
			 "programs that begin in a container or a chroot without the daemon's socket, until the daemon "
			 "searches for them: %s",
			 clients->bell.error == -ENOTSUP ? "the kernel cannot report them"
							 : strerror(-clients->bell.error));
		describe(context, text);
	}
	if (clients->dead.nr_dropped) {
		snprintf(text, sizeof(text),
			 "children of %s ended programs: their users exceeded the number of ended programs that the "
			 "daemon keeps; some children may be missing",
			 text_count(clients->dead.nr_dropped).s);
		describe(context, text);
	}
	if (clients->accept.nr_refused) {
		snprintf(text, sizeof(text),
			 "programs of %s connections that a user opened faster than the limit: some programs may not "
			 "have tried again",
			 text_count(clients->accept.nr_refused).s);
		describe(context, text);
	}
	if (clients->search.error) {
		snprintf(text, sizeof(text),
			 "programs that already ran: the search for them failed (%s), so some may be missing",
			 user_find_error_text(clients->search.error));
		describe(context, text);
	}
	if (budget_is_shared(clients->budget))
		describe(context, "programs of the users that came after about 1,000 others, and share the limits of "
				  "one user: some may be missing");
	if (clients->accept.backlog_overflowed)
		describe(context, "programs that were killed before the daemon found them, because too many began at "
				  "once: some may be missing");
	distrusted_describe(&clients->recording.distrusted, describe, context);
}
