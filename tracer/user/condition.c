/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * condition.c - conditions of events, which the daemon writes into the program memory
 *
 * An event without a condition must not pay for those of others. The inlined code records an event
 * by itself only if tracepoint->word is set. So an event has no word until the daemon has seen it
 * and has given it no condition: until then, and for ever if it has one, each event comes here.
 */
#include "user.h"

static bool is_seen(const struct user_memory *memory, uint16_t id)
{
	if (__atomic_load_n(&memory->seen_id, __ATOMIC_ACQUIRE) >= id)
		return true;
	/* a daemon that knows no conditions */
	return __atomic_load_n(&memory->daemon_pid, __ATOMIC_ACQUIRE) != 0 &&
	       !(__atomic_load_n(&memory->daemon_features, __ATOMIC_RELAXED) & USER_DAEMON_SEES);
}

bool user_condition_passes(const struct user_state *state, struct trace_tracepoint *tracepoint, const void *image,
			   uint32_t bytes)
{
	const struct user_memory *memory = state->memory;
	bool seen = is_seen(memory, tracepoint->id); /* before the flag, which is written first */
	unsigned int flag = user_flag(tracepoint);
	const struct trace_condition *conditions;

	if (flag < USER_FLAG_CONDITION) {
		if (seen && flag)
			__atomic_store_n(&tracepoint->word, user_word(tracepoint), __ATOMIC_RELAXED);
		return true;
	}
	if (flag - USER_FLAG_CONDITION >= USER_MAX_CONDITIONS)
		return true;
	conditions = (const struct trace_condition *)((const char *)memory + memory->conditions_offset);
	return trace_condition_holds(&conditions[flag - USER_FLAG_CONDITION], image, bytes);
}

void user_condition_inherit(struct user_memory *memory, const struct user_memory *from)
{
	const unsigned char *flags = (const unsigned char *)from + from->flags_offset;
	const struct trace_condition *conditions =
		(const struct trace_condition *)((const char *)from + from->conditions_offset);
	struct trace_condition *copies = (struct trace_condition *)((char *)memory + memory->conditions_offset);

	for (uint32_t id = 1; id < USER_MAX_EVENTS; id++)
		if (flags[id] >= USER_FLAG_CONDITION && flags[id] < USER_FLAG_CONDITION + USER_MAX_CONDITIONS)
			copies[flags[id] - USER_FLAG_CONDITION] = conditions[flags[id] - USER_FLAG_CONDITION];
}
