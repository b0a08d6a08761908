/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_UNTRUSTED_H
#define DAEMON_UNTRUSTED_H
/*
 * untrusted.h - checks every number that a program wrote into its shared memory: times, CPU numbers
 * (cpus.h), loss counters.
 *
 * SECURITY: an unprivileged program can write any number there. A number that passes the check can
 * still be false, but only about the program itself, and only within what the program could have
 * done: no event in the future, no CPU that the machine does not have, no more losses than the
 * program had time to cause. The check refuses all other numbers. The daemon reports this once per
 * program, and the trace lists these programs.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- times ---- */

/*
 * An event is written before the daemon copies it, so its time is earlier than the daemon's next
 * reading of the clock. The clocks of two CPUs may differ a little, and a converted time is within
 * 1 us. A time that is later by at most UNTRUSTED_CLOCK_ERROR_NS counts as the time of the reading;
 * a later one is refused.
 */
#define UNTRUSTED_CLOCK_ERROR_NS 100000ull

static inline bool untrusted_time_is_future(uint64_t ns, uint64_t taken_ns)
{
	return ns > taken_ns && ns - taken_ns > UNTRUSTED_CLOCK_ERROR_NS;
}

/* ---- counters ---- */

/**
 * untrusted_max_events() - maximum number of events that @nr_cpus CPUs can have counted since
 * @since_ns: one per ns on each. A real program needs at least 10 ns for one
 */
uint64_t untrusted_max_events(uint64_t since_ns, uint32_t nr_cpus);

/**
 * struct untrusted_counter - a counter in a program's memory
 * @before: its value when counting began
 * @highest: the largest plausible value so far; at least @before
 * @impossible: it decreased, or grew faster than possible; it is not read any more
 */
struct untrusted_counter {
	uint64_t before;
	uint64_t highest;
	bool impossible;
};

/** untrusted_counter_begin() - start counting at @value */
void untrusted_counter_begin(struct untrusted_counter *counter, uint64_t value);
/** untrusted_counter_take() - the counter is @value now; it cannot have grown by more than @max */
void untrusted_counter_take(struct untrusted_counter *counter, uint64_t value, uint64_t max);
/**
 * untrusted_counter_sum() - the count since the beginning. If the counter is impossible, one more
 * event stands for the unknown rest
 */
uint64_t untrusted_counter_sum(const struct untrusted_counter *counter);

/* ---- the programs ---- */

/* bit mask */
enum distrust_reason {
	DISTRUST_MEMORY = 1,  /* rings or registry are inconsistent */
	DISTRUST_TIME = 2,    /* events in the future */
	DISTRUST_CPU = 4,     /* a ring of a CPU that the machine does not have */
	DISTRUST_COUNTER = 8, /* loss counters that decreased, or grew too fast */
};

#define DISTRUSTED_NAMED_MAX 8 /* programs with name; further ones are only counted */

/**
 * struct distrusted_programs - the programs that wrote impossible numbers, in the order of
 * detection. Zeroed: none
 */
struct distrusted_programs {
	uint64_t nr;
	struct distrusted_program {
		pid_t pid;
		unsigned int reasons;
		char exe[256];
	} named[DISTRUSTED_NAMED_MAX];
};

/**
 * distrusted_add() - add a program with its first reason. Returns its index, for
 * distrusted_add_reasons()
 */
uint64_t distrusted_add(struct distrusted_programs *programs, pid_t pid, const char *exe, unsigned int reasons);
/** distrusted_add_reasons() - add a reason for the program at index @idx */
void distrusted_add_reasons(struct distrusted_programs *programs, uint64_t idx, unsigned int reasons);
/** distrusted_describe() - one text for each program with name, and one for all others */
void distrusted_describe(const struct distrusted_programs *programs, void (*describe)(void *context, const char *text),
			 void *context);
#endif
