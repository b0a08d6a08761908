/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * recorded_masks.c - which events were recorded, by the masks in the trace
 *
 * A mask is valid until the next one.
 */
#include <string.h>
#include "recorded_masks.h"
#include "state.h"

bool was_left_out(const struct trace *trace, const char *what)
{
	const char *left_out = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_LEFT_OUT);

	return left_out && strcmp(left_out, what) == 0;
}

bool is_recorded(const struct trace_event *event, uint32_t id)
{
	const struct trace_trace_mask *mask = event->payload;
	const uint64_t words[TRACE_MASK_WORDS] = {mask->mask0, mask->mask1, mask->mask2, mask->mask3};

	return words[id / 64] >> id % 64 & 1;
}

/* Does the mask include all events that change which file a descriptor refers to? */
bool has_opens(const struct trace_event *event)
{
	static const uint32_t ids[] = {TRACE_EV_fs_open, TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6,
				       TRACE_EV_sys_exit};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (!is_recorded(event, ids[i]))
			return false;
	return true;
}

/* The mask of @event is valid from now on. */
void mask_apply(struct recorded_masks *masks, const struct trace_event *event)
{
	bool switches = is_recorded(event, TRACE_EV_sched_switch);

	masks->any = true;
	masks->paused = !switches;
	masks->sees_opens = has_opens(event);
	masks->no_wakings = !is_recorded(event, TRACE_EV_sched_waking);
	masks->no_entries = !is_recorded(event, TRACE_EV_sys_enter);
	masks->no_exits = !is_recorded(event, TRACE_EV_sys_exit);
	for (uint32_t id = 0; id < TRACE_EV_MAX; id++)
		if (is_recorded(event, id))
			masks->recorded[id / 64] |= 1ull << id % 64;
		else if (switches)
			masks->unrecorded[id / 64] |= 1ull << id % 64;
}

/* The window begins with this mask: drop the knowledge of earlier masks. */
void mask_begin(struct recorded_masks *masks, const struct trace_event *event)
{
	memset(masks->recorded, 0, sizeof(masks->recorded));
	memset(masks->unrecorded, 0, sizeof(masks->unrecorded));
	mask_apply(masks, event);
}

bool trace_analysis_is_filtered(const struct trace_analysis *a)
{
	return a->filter.is_on;
}

enum trace_recorded trace_analysis_recorded(const struct trace_analysis *a, uint32_t id)
{
	enum trace_recorded never;

	if (id >= TRACE_EV_MAX)
		return TRACE_RECORDED_NEVER;
	/* some events came all the same, and their time is accounted */
	never = a->counts[id] ? TRACE_RECORDED_PARTLY : TRACE_RECORDED_NEVER;
	if (!a->masks.any)
		return was_left_out(a->trace, TRACE_LEFT_OUT_KERNEL) && id >= TRACE_EV_sys_enter &&
				       id < TRACE_EV_user_stream
			       ? never
			       : TRACE_RECORDED_ALWAYS;
	if (!(a->masks.recorded[id / 64] >> id % 64 & 1))
		return never;
	return a->masks.unrecorded[id / 64] >> id % 64 & 1 ? TRACE_RECORDED_PARTLY : TRACE_RECORDED_ALWAYS;
}

bool trace_analysis_sees_wakeups(const struct trace_analysis *a)
{
	return trace_analysis_recorded(a, TRACE_EV_sched_waking) == TRACE_RECORDED_ALWAYS;
}

/*
 * Were all of @ids always recorded? Time in which no scheduling changes were recorded does not
 * count, since the results say nothing about that time.
 */
static bool sees(const struct trace_analysis *a, const uint32_t *ids, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (trace_analysis_recorded(a, ids[i]) != TRACE_RECORDED_ALWAYS)
			return false;
	return true;
}

bool trace_analysis_sees_calls(const struct trace_analysis *a)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit};

	return sees(a, ids, sizeof(ids) / sizeof(ids[0]));
}

bool trace_analysis_sees_traps(const struct trace_analysis *a)
{
	static const uint32_t ids[] = {TRACE_EV_fault_entry, TRACE_EV_fault_exit};

	return sees(a, ids, sizeof(ids) / sizeof(ids[0]));
}

bool trace_analysis_sees_interrupts(const struct trace_analysis *a)
{
	static const uint32_t ids[] = {TRACE_EV_irq_entry,    TRACE_EV_irq_exit,     TRACE_EV_softirq_entry,
				       TRACE_EV_softirq_exit, TRACE_EV_vector_entry, TRACE_EV_vector_exit};

	return sees(a, ids, sizeof(ids) / sizeof(ids[0]));
}
