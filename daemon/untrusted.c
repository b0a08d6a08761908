/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "untrusted.h"

#include <stdio.h>
#include <string.h>
#include <trace/saturate.h>

#include "clock.h"
#include "format_text.h"

/* ---- counters ---- */

uint64_t untrusted_max_events(uint64_t since_ns, uint32_t nr_cpus)
{
	uint64_t now_ns = clock_now();

	return now_ns > since_ns ? trace_multiply_saturated(now_ns - since_ns, nr_cpus) : 0;
}

void untrusted_counter_begin(struct untrusted_counter *counter, uint64_t value)
{
	*counter = (struct untrusted_counter){.before = value, .highest = value};
}

void untrusted_counter_take(struct untrusted_counter *counter, uint64_t value, uint64_t max)
{
	counter->impossible |= value < counter->highest || value - counter->before > max;
	if (!counter->impossible)
		counter->highest = value;
}

uint64_t untrusted_counter_sum(const struct untrusted_counter *counter)
{
	return trace_add_saturated(counter->highest - counter->before, counter->impossible);
}

/* ---- the programs ---- */

static const struct {
	unsigned int reason;
	const char *text;
} reasons_texts[] = {
	{DISTRUST_TIME, "times in the future"},
	{DISTRUST_CPU, "rings of CPUs that the machine does not have"},
	{DISTRUST_COUNTER, "impossible loss counters"},
	{DISTRUST_MEMORY, "inconsistent data"},
};

uint64_t distrusted_add(struct distrusted_programs *programs, pid_t pid, const char *exe, unsigned int reasons)
{
	uint64_t idx = programs->nr++;

	if (idx < DISTRUSTED_NAMED_MAX) {
		programs->named[idx] = (struct distrusted_program){.pid = pid, .reasons = reasons};
		snprintf(programs->named[idx].exe, sizeof(programs->named[idx].exe), "%s", exe);
	}
	return idx;
}

void distrusted_add_reasons(struct distrusted_programs *programs, uint64_t idx, unsigned int reasons)
{
	if (idx < DISTRUSTED_NAMED_MAX)
		programs->named[idx].reasons |= reasons;
}

static void print_reasons(unsigned int reasons, char *text, size_t size)
{
	size_t used = 0;

	*text = '\0';
	for (size_t i = 0; i < sizeof(reasons_texts) / sizeof(reasons_texts[0]) && used < size; i++)
		if (reasons & reasons_texts[i].reason)
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "",
						 reasons_texts[i].text);
}

void distrusted_describe(const struct distrusted_programs *programs, void (*describe)(void *context, const char *text),
			 void *context)
{
	char reasons[160], text[sizeof(programs->named[0].exe) + sizeof(reasons) + 160];

	for (uint64_t i = 0; i < programs->nr && i < DISTRUSTED_NAMED_MAX; i++) {
		const struct distrusted_program *one = &programs->named[i];

		print_reasons(one->reasons, reasons, sizeof(reasons));
		snprintf(text, sizeof(text),
			 "events of process %d (%s): it wrote impossible values into its trace buffers (%s), so its "
			 "events and its losses are incomplete",
			 (int)one->pid, one->exe, reasons);
		describe(context, text);
	}
	if (programs->nr > DISTRUSTED_NAMED_MAX) {
		snprintf(text, sizeof(text),
			 "events of %s more processes that wrote impossible values into their trace buffers: their "
			 "events and their losses are incomplete",
			 text_count(programs->nr - DISTRUSTED_NAMED_MAX).s);
		describe(context, text);
	}
}
