/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_LOOKAHEAD_H
#define BASE_LOOKAHEAD_H
/* lookahead.h - who leaves a CPU at its next scheduling change: of a thread that no tracer gets to see it is what tells who came after it (state_hidden.c). */
#include <stdbool.h>
#include <stdint.h>
#include <trace/reader.h>

/** struct lookahead - of one CPU; zeroed = at the begin. @prev: who leaves at the change at @ns, the @nr-th of that time; @lost: a loss comes first */
struct lookahead {
	struct trace_cursor *cursor; /* owned */
	uint64_t ns;
	uint32_t nr;
	uint32_t prev;
	uint32_t seeks;
	bool lost;
	int error; /* the changes ended for that reason, -ENOMEM: what was told may be wrong. Damage is a loss */
};

/**
 * lookahead_switch() - the first scheduling change of @cpu behind the one at @ns that is at hand, the @nr-th of that time
 * Returns false when there is none, or a loss comes before it: of those at one time, losses come first. Or, then with @ahead->error, for lack of memory.
 */
bool lookahead_switch(struct lookahead *ahead, const struct trace *trace, uint32_t cpu, uint64_t ns, uint32_t nr, uint32_t *ret_prev);
void lookahead_end(struct lookahead *ahead);

/** is_loss_of_switches() - is @event a trace_lost of events that tell who runs on its CPU? Those that the kernel skipped are told of only afterwards, and are few */
static inline bool is_loss_of_switches(const struct trace_event *event, uint32_t nr_cpus)
{
	const struct trace_trace_lost *lost = event->payload;

	return event->id == TRACE_EV_trace_lost && lost->cause != TRACE_GAP_MISSED && lost->stream < 2 * nr_cpus && lost->stream != 2 * event->cpu + 1;
}
#endif
