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

static void name_of(const char *name, char *into, size_t size)
{
	snprintf(into, size, "%s", *name ? last_part(name, size) : "no name");
}

void lost_programs_add(struct lost_programs *programs, pid_t pid, const char *name, const char *why)
{
	uint64_t at = programs->nr++;

	if (at < LOST_PROGRAMS_NAMED) {
		struct lost_program *one = &programs->named[at];

		one->pid = pid;
		name_of(name, one->name, sizeof(one->name));
		snprintf(one->why, sizeof(one->why), "%s", why);
	} else if (at < LOST_PROGRAMS_NAMED + LOST_PROGRAMS_LISTED) {
		struct listed_program *one = &programs->listed[at - LOST_PROGRAMS_NAMED];

		one->pid = pid;
		name_of(name, one->name, sizeof(one->name));
	}
}

/* All that are behind those with a reason */
static void describe_others(const struct lost_programs *programs, void (*describe)(void *context, const char *text),
			    void *context)
{
	uint64_t nr = programs->nr - LOST_PROGRAMS_NAMED;
	char text[LOST_PROGRAMS_LISTED * (sizeof(programs->listed[0].name) + 16) + 160];
	size_t used = (size_t)snprintf(text, sizeof(text),
				       "events of %s more process%s, which are lost for such reasons", text_count(nr).s,
				       nr == 1 ? "" : "es");

	for (uint64_t i = 0; i < nr && i < LOST_PROGRAMS_LISTED; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d (%s)", i ? ", " : ": ",
					 (int)programs->listed[i].pid, programs->listed[i].name);
	if (nr > LOST_PROGRAMS_LISTED)
		snprintf(text + used, sizeof(text) - used, " and %s more", text_count(nr - LOST_PROGRAMS_LISTED).s);
	describe(context, text);
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
	if (programs->nr > LOST_PROGRAMS_NAMED)
		describe_others(programs, describe, context);
}
