/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_RANDOM_STORY_H
#define TESTS_RANDOM_STORY_H
/*
 * random_story.h - traces of events of every kind, valid in their shape and random in all else: threads run on two CPUs at once, die twice, return from
 * calls they never made. In moods from pure noise to a plausible machine. Much happens at the same time, also at the very end.
 */
#include "builder.h"

/**
 * struct mood - what a trace is like
 * @noise: percent of the events are random in all
 * @switches: percent of the rest are switches, @sleeps of these end with a sleep
 * @cuts: percent of the events begin a new chunk of their CPU
 * @streams: structural events and those of programs have streams of their own, and chunks of one stream may overlap
 * @masks: what is recorded changes
 * @moves: threads are moved from CPU to CPU, made and freed
 * @programs: threads tell of scopes and requests, under numbers that others have later
 * @nr_events: so many; 0: 4000
 */
struct mood {
	uint32_t noise, nr_tids, switches, sleeps, cuts, nr_events;
	bool losses, streams, masks, programs, moves;
};

struct dice {
	uint64_t state;
	const struct mood *mood;
};

static inline uint64_t roll(struct dice *dice)
{
	uint64_t x = dice->state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static inline uint64_t below(struct dice *dice, uint64_t n)
{
	return roll(dice) % n;
}

/** random_story() - the one of this seed; to be freed */
struct tb *random_story(uint64_t seed, const struct mood *mood);
#endif
