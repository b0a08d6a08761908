/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * not_traced.c - the notes about what is not recorded
 */
#include "not_traced.h"

#include <stdio.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include "loader.h"
#include "percpu.h"
#include "programs.h"

/* A variant with a tracepoint that this machine lacks, or has in another form, is not missed if the
 * event has another variant. */
bool tracer_has_sibling(const struct tracer *tracer, const struct tracer_program *p)
{
	const char *name = bpf_program__name(p->program);
	size_t length = tracer_stem_length(name);

	for (size_t i = 0; i < tracer->nr_programs; i++) {
		const char *other = bpf_program__name(tracer->programs[i].program);

		if (!tracer->programs[i].unavailable[0] && tracer_stem_length(other) == length &&
		    strncmp(name, other, length) == 0)
			return true;
	}
	return false;
}

void tracer_note_not_traced(struct tracer *tracer, const struct tracer_program *p)
{
	char text[192];

	if (p->is_elsewhere && tracer_has_sibling(tracer, p))
		return;
	snprintf(text, sizeof(text), "%s: %s", bpf_program__name(p->program), p->unavailable);
	tracer_note(tracer, text);
}

void tracer_note(struct tracer *tracer, const char *text)
{
	for (size_t i = 0; i < tracer->nr_not_traced; i++)
		if (strcmp(tracer->not_traced[i], text) == 0)
			return;
	if (tracer->nr_not_traced < TRACER_MAX_NOT_TRACED)
		snprintf(tracer->not_traced[tracer->nr_not_traced++], TRACER_NOTE_BYTES, "%s", text);
}

static bool is_virtual(void)
{
#if defined(__x86_64__)
	unsigned int a, b, c, d;

	return __get_cpuid(1, &a, &b, &c, &d) && c >> 31;
#else
	return true;
#endif
}

void tracer_note_steal(struct tracer *tracer)
{
	if (is_virtual() && tracer_member_offset(tracer->types, "rq", "prev_steal_time_rq") < 0)
		tracer_note(tracer, "cpu_stolen: this kernel does not count the time that the host of a virtual "
				    "machine takes (CONFIG_PARAVIRT_TIME_ACCOUNTING)");
}
