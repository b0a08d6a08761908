/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SAMPLE_PERIOD_H
#define DAEMON_SAMPLE_PERIOD_H
/*
 * sample_period.h - what samples need while they are taken: another period some times a second. One
 * thread.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracer.h>

#define SAMPLES_DEFAULT_NS 997000ull  /* prime numbers of us: few programs have that period */
#define SAMPLES_GUEST_NS   2503000ull /* the default in a virtual machine */
#define SAMPLES_MIN_NS	   20000ull   /* at 10 us the kernel loses a quarter of the samples */
#define SAMPLES_MAX_NS	   1000000000ull
#define SAMPLES_TICK_NS	   100000000ull

/**
 * struct samples - @period: the mean, in ns or events (struct tracer_options); @state: of the
 * random numbers, any but 0
 */
struct samples {
	uint64_t period;
	uint64_t state;
	uint32_t nr_cpus;
};

/**
 * samples_default_ns() - the mean period if the user gives none
 * An interrupt of a timer takes some 39 us from a program with much code in a virtual machine,
 * 3.9 % at a period of 1 ms, and a few us without.
 */
uint64_t samples_default_ns(void);

/** samples_init() - @seed: any number */
struct samples samples_init(uint64_t period, uint32_t nr_cpus, uint64_t seed);

/** samples_next_period() - a period between 0.75 and 1.25 of the mean, all equally likely */
uint64_t samples_next_period(struct samples *samples);

/**
 * samples_choose() - the events of samples in a mask: as with sys_caller, a category or "all" does
 * not mean them
 * Without --sample it has no samples, and without that and -s no mappings of code. @wanted: if the
 * options ask for them, they are in it
 */
void samples_choose(uint64_t mask[TRACE_MASK_WORDS], const struct tracer_options *options, bool wanted);

/** samples_tick() - every SAMPLES_TICK_NS: give each CPU another period */
void samples_tick(struct samples *samples, struct tracer *tracer);
#endif
