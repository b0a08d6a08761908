/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_DOUBT_H
#define DAEMON_DOUBT_H
/*
 * doubt.h - the one gate for numbers that a program wrote into its shared memory: times, CPU numbers (cpus.h), loss counters.
 *
 * SECURITY: an unprivileged program can write any number there. A number that passes this gate can still be a lie, but only about the program itself and
 * only within what the program could have done: no event of the future, no CPU that the machine does not have, no more losses than the program had
 * time to cause. The gate refuses everything else, the daemon says so once per program, and the trace keeps the list of these programs.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- times ---- */

/*
 * An event is written before the daemon copies it, so its time is earlier than the daemon's next reading of the clock. The two clocks of two CPUs may
 * differ a little; a converted time is within 1 us. A time that is later by less than this counts as the time of the reading, a later one is refused.
 */
#define DOUBT_CLOCK_ERROR_NS 100000ull

static inline bool doubt_time(uint64_t ns, uint64_t taken_ns)
{
	return ns > taken_ns && ns - taken_ns > DOUBT_CLOCK_ERROR_NS;
}

/* ---- counters ---- */

/** doubt_most() - events that @nr_cpus CPUs can have counted since @since_ns: one per ns on each. A real program needs 10 ns and more for one */
uint64_t doubt_most(uint64_t since_ns, uint32_t nr_cpus);

/**
 * struct doubt_counter - a counter in the memory of a program
 * @before: its value when counting began. @highest: the largest value that was plausible; at least @before
 * @impossible: it went backwards, or grew faster than it can. It is not read any more
 */
struct doubt_counter {
	uint64_t before;
	uint64_t highest;
	bool impossible;
};

/** doubt_counter_begin() - count from @value on */
void doubt_counter_begin(struct doubt_counter *counter, uint64_t value);
/** doubt_counter_take() - the counter says @value now, and cannot have grown by more than @most since the begin */
void doubt_counter_take(struct doubt_counter *counter, uint64_t value, uint64_t most);
/** doubt_counter_sum() - what it counted since the begin. If it is impossible, one event more stands for the unknown rest */
uint64_t doubt_counter_sum(const struct doubt_counter *counter);

/* ---- the programs ---- */

enum doubt_reason { /* bits */
	DOUBT_MEMORY = 1,  /* rings or registry contradict themselves */
	DOUBT_TIME = 2,	   /* events of the future */
	DOUBT_CPU = 4,	   /* a ring of a CPU that the machine does not have */
	DOUBT_COUNTER = 8, /* loss counters that went backwards, or too fast */
};

#define DOUBTS_NAMED 8 /* programs; the others are counted */

/** struct doubts - the programs that wrote impossible numbers, in the order in which the daemon found out. Zeroed: none */
struct doubts {
	uint64_t nr;
	struct doubted {
		pid_t pid;
		unsigned int reasons;
		char exe[256];
	} named[DOUBTS_NAMED];
};

/** doubts_add() - one more program, with its first reason. Returns its place, for doubts_reason() */
uint64_t doubts_add(struct doubts *doubts, pid_t pid, const char *exe, unsigned int reasons);
/** doubts_reason() - one more reason for the program at @place */
void doubts_reason(struct doubts *doubts, uint64_t place, unsigned int reasons);
/** doubts_tell() - a text per named program, and one for the others */
void doubts_tell(const struct doubts *doubts, void (*tell)(void *context, const char *text), void *context);
#endif
