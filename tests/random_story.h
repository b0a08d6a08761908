/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_RANDOM_STORY_H
#define TESTS_RANDOM_STORY_H
/*
 * random_story.h - traces with events of every kind, well-formed, but with random contents: threads
 * run on two CPUs at once, die twice, return from calls that they never made.
 *
 * The moods reach from pure noise to a plausible machine. Many events have the same time, also at
 * the very end.
 */
#include "builder.h"

/**
 * struct mood - the parameters of a trace
 * @noise: percent of the events that are completely random
 * @switches: percent of the other events that are switches
 * @sleeps: percent of the switches that end with a sleep
 * @cuts: percent of the events that begin a new chunk of their CPU
 * @overwrites: the losses are those of a flight recorder
 * @streams: structural events and those of programs have streams of their own, and chunks of one
 *   stream may overlap
 * @masks: the recorded event types change
 * @moves: threads migrate, are created and freed
 * @programs: threads record scopes and requests, under numbers that others reuse later
 * @nr_events: their number; 0: 4000
 */
struct mood {
	uint32_t noise, nr_tids, switches, sleeps, cuts, nr_events;
	bool losses, overwrites, streams, masks, programs, moves;
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

/**
 * random_story() - the story of a seed; to be freed
 */
struct tb *random_story(uint64_t seed, const struct mood *mood);
#endif
