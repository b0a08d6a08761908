/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_list.h"

#include <unistd.h>

#include "message.h"
#include "user_find.h"
#include "user_mapping.h"

/** struct listing - the state of one listing */
struct listing {
	FILE *out;
	size_t nr;
};

static void print_event(struct listing *listing, const struct user_description *description,
			const struct user_identity *identity)
{
	fprintf(listing->out, "%-18s %-9s %-11s %-8s %s; %s (%d)\n", description->name, "user", "-", "on",
		*description->source ? description->source : "?", *identity->exe ? identity->exe : "?",
		(int)identity->pid);
	listing->nr++;
}

/*
 * Lists only the process that owns the memory, because its children and daemons map it too. A scope
 * is one line.
 */
static void on_found(void *context, int fd, struct user_identity *identity)
{
	struct user_mapping mapping = {.fd = -1};
	struct user_description description;
	struct trace_error error;

	if (user_mapping_open(&mapping, fd, false, &error) == 0 &&
	    user_find_inner_pid(identity->pid) == (pid_t)mapping.pid)
		while (user_mapping_next_event(&mapping, &description))
			if (description.type.role != TRACE_ROLE_END)
				print_event(context, &description, identity);
	user_mapping_close(&mapping);
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

size_t user_list(FILE *out)
{
	struct listing listing = {.out = out};
	int err;

	err = user_find_programs(on_found, &listing);
	if (err)
		message_warning("the list may be incomplete, the search for programs failed: %s",
				user_find_error_text(err));
	return listing.nr;
}
