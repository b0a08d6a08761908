/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lost_programs.h"

#include <stdio.h>
#include <string.h>

#include "format_text.h"

/* The end of a path says more than its begin. */
static const char *last_part(const char *name, size_t size)
{
	size_t length = strlen(name);

	return length < size ? name : name + length - size + 1;
}

void lost_programs_add(struct lost_programs *programs, pid_t pid, const char *name, const char *why)
{
	struct lost_program *one;

	if (programs->nr++ >= LOST_PROGRAMS_NAMED)
		return;
	one = &programs->named[programs->nr - 1];
	one->pid = pid;
	snprintf(one->name, sizeof(one->name), "%s", *name ? last_part(name, sizeof(one->name)) : "no name");
	snprintf(one->why, sizeof(one->why), "%s", why);
}

void lost_programs_describe(const struct lost_programs *programs, void (*describe)(void *context, const char *text),
			    void *context)
{
	char text[sizeof(programs->named[0].name) + sizeof(programs->named[0].why) + 96];

	for (uint64_t i = 0; i < programs->nr && i < LOST_PROGRAMS_NAMED; i++) {
		const struct lost_program *one = &programs->named[i];

		snprintf(text, sizeof(text), "events of process %d (%s), which are lost: %s", (int)one->pid, one->name,
			 one->why);
		describe(context, text);
	}
	if (programs->nr <= LOST_PROGRAMS_NAMED)
		return;
	snprintf(text, sizeof(text), "events of %s more processes, which are lost for such reasons",
		 text_count(programs->nr - LOST_PROGRAMS_NAMED).s);
	describe(context, text);
}
