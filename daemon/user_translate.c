/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_translate.h"

#include <string.h>
#include <trace/events.h>

#include "clock.h"
#include "user_program_state.h"
#include "user_distrust.h"
#include "user_types.h"

/*
 * A record can be up to 65,535 units earlier than the base of its sub-buffer, because reading the
 * clock is not ordered with the accesses before it. Its 32-bit difference then exceeds this value.
 */
#define USER_EARLIER (UINT32_MAX - 65535u)

bool user_translate_ns(struct user_program *program, uint64_t time, uint64_t *ret_ns)
{
	if (program->mapping.clock == SUBBUF_CLOCK_TSC)
		return user_clock_ns(&program->recording->clock, time, ret_ns);
	*ret_ns = time;
	return time <= INT64_MAX;
}

void user_translate_read_clocks(struct user_program *program)
{
	struct clock_sample now;

	if (program->mapping.clock != SUBBUF_CLOCK_TSC)
		return;
	now = clock_take_sample();
	user_clock_add(&program->recording->clock, &now);
}

/* The decision about one record. */
enum record_decision { DECISION_KEEP, DECISION_BAD, DECISION_FILTERED, DECISION_EARLY, DECISION_UNTYPED };

/* Decides why a record does not go into the trace. */
static enum record_decision why_unwanted(const struct user_local *event, uint64_t ns)
{
	if (!event || !event->name)
		return DECISION_BAD;
	return event->wanted && ns >= event->wanted_ns ? DECISION_UNTYPED : DECISION_FILTERED;
}

/**
 * struct subbuf_times - the times of a sub-buffer
 * @base: its base in the program's clock. @base_ns: the same in ns
 * @taken_ns: when its copy was complete
 */
struct subbuf_times {
	uint64_t base;
	uint64_t base_ns;
	uint64_t taken_ns;
};

/* The time of an event in ns. False: the time is invalid or in the future. */
static bool time_of(struct user_program *program, const struct subbuf_times *times, uint32_t time, uint64_t *ret_ns)
{
	uint32_t delta = time - (uint32_t)times->base;
	uint64_t ns;

	if (!user_translate_ns(program, times->base + (delta < USER_EARLIER ? delta : 0), &ns))
		return false;
	if (untrusted_time_is_future(ns, times->taken_ns)) {
		user_distrust(program, DISTRUST_TIME);
		return false;
	}
	*ret_ns = ns < times->taken_ns ? ns : times->taken_ns;
	return true;
}

static bool is_outside(const struct user_recording *recording, uint64_t ns)
{
	return ns < recording->start_ns || (recording->end_ns && ns > recording->end_ns);
}

static enum record_decision decide(struct user_program *program, struct trace_record *record,
				   const unsigned char *payload, const struct subbuf_times *times)
{
	const struct user_local *event = record->id < program->nr_events ? &program->events[record->id] : NULL;
	uint64_t ns, base_ns = times->base_ns;

	if (!time_of(program, times, record->time, &ns))
		return DECISION_BAD;
	if (is_outside(program->recording, ns))
		return DECISION_EARLY;
	if (!event || !event->global || !event->wanted || ns < event->wanted_ns)
		return why_unwanted(event, ns);
	if (event->condition && !trace_condition_holds(event->condition, payload, record->words * 8u - sizeof(*record)))
		return DECISION_FILTERED;
	record->id = event->global;
	record->time = (uint32_t)base_ns + (ns - base_ns > UINT32_MAX ? UINT32_MAX
					    : ns < base_ns	      ? 0
								      : (uint32_t)(ns - base_ns));
	return DECISION_KEEP;
}

/*
 * Put the identity of the stream before its first record, and again if a chunk with it may be lost.
 * It uses the free bytes in front of the copy.
 */
static void announce(struct user_ring *ring, struct drain_copy *copy)
{
	const struct user_identity *identity = &ring->program->identity;
	struct trace_user_stream stream = {ring->stream, (uint32_t)identity->number, identity->uid, ring->cpu};
	size_t bytes = (sizeof(struct trace_record) + sizeof(stream) + strlen(identity->exe) + 1 + 7) & ~(size_t)7;
	uint64_t start_ns = ring->program->recording->start_ns, ns = copy->base_ns;
	struct trace_record record = {.id = TRACE_EV_user_stream, .words = (trace_u8)(bytes / 8)};
	unsigned char *at = copy->records - bytes;

	if (ns < start_ns && start_ns - ns <= UINT32_MAX)
		/*
		 * the sub-buffer was opened before the recording, but no event of the stream is
		 * older than the start
		 */
		ns = start_ns;
	record.time = (uint32_t)ns;
	memset(at, 0, bytes);
	memcpy(at, &record, sizeof(record));
	memcpy(at + sizeof(record), &stream, sizeof(stream));
	memcpy(at + sizeof(record) + sizeof(stream), identity->exe, strlen(identity->exe));
	copy->records = at;
	copy->bytes += bytes;
	copy->nr_records++;
	copy->added = 1;
	ring->announced = true;
	ring->unwritten = copy->unwritten;
}

static void leave_out(struct drain_copy *copy, enum record_decision decision, uint32_t *bad)
{
	*bad += decision == DECISION_BAD;
	copy->filtered += decision == DECISION_FILTERED;
	copy->early += decision == DECISION_EARLY;
	copy->untyped += decision == DECISION_UNTYPED;
}

/*
 * Records that are left out become padding. So do invalid records, but nr_records still counts
 * them.
 */
bool user_translate(void *context, struct drain_copy *copy)
{
	struct user_ring *ring = context;
	struct user_program *program = ring->program;
	struct subbuf_times times = {.base = copy->base_ns};
	uint32_t found = 0, bad = 0, kept, counted = copy->nr_records;
	struct trace_record record;

	user_translate_read_clocks(program);
	user_types_look(program); /* a program registers an event before it makes the first record */
	times.taken_ns = clock_now();
	if (!user_translate_ns(program, times.base, &times.base_ns))
		return false;
	if (times.base_ns > times.taken_ns)
		/* all records are refused, except those within the error of the clocks */
		times.base_ns = times.taken_ns;
	for (size_t at = 0; at + sizeof(record) <= copy->bytes; at += record.words * 8u) {
		enum record_decision decision;

		memcpy(&record, copy->records + at, sizeof(record));
		if (record.words == 0 || record.words * 8u > copy->bytes - at) {
			copy->bytes = at;
			break;
		}
		if (record.id == TRACE_EV_padding)
			continue;
		decision = decide(program, &record, copy->records + at + sizeof(record), &times);
		found++;
		if (decision != DECISION_KEEP) {
			leave_out(copy, decision, &bad);
			record.id = TRACE_EV_padding;
		}
		memcpy(copy->records + at, &record, sizeof(record));
	}
	kept = found - bad - copy->filtered - copy->early - copy->untyped;
	copy->nr_records = kept + bad + (counted > found ? counted - found : 0);
	copy->base_ns = times.base_ns;
	if (copy->nr_records && (!ring->announced || ring->unwritten != copy->unwritten))
		announce(ring, copy);
	return true;
}
