/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sample_period.h"

#include "select.h"

#if defined(__x86_64__)
#include <cpuid.h>

#define LEAF_FEATURES  1
#define IN_GUEST_SHIFT 31 /* of ECX: all hypervisors set it, and no processor */

static bool is_guest(void)
{
	unsigned int eax, ebx, ecx, edx;

	return __get_cpuid(LEAF_FEATURES, &eax, &ebx, &ecx, &edx) && ecx >> IN_GUEST_SHIFT;
}
#else
static bool is_guest(void)
{
	return false;
}
#endif

uint64_t samples_default_ns(void)
{
	return is_guest() ? SAMPLES_GUEST_NS : SAMPLES_DEFAULT_NS;
}

struct samples samples_init(uint64_t period, uint32_t nr_cpus, uint64_t seed)
{
	return (struct samples){.period = period, .nr_cpus = nr_cpus, .state = seed | 1};
}

/* xorshift64 of Marsaglia, "Xorshift RNGs", 2003, with the shifts 13, 7, 17 */
static uint64_t next_random(struct samples *samples)
{
	samples->state ^= samples->state << 13;
	samples->state ^= samples->state >> 7;
	samples->state ^= samples->state << 17;
	return samples->state;
}

uint64_t samples_next_period(struct samples *samples)
{
	uint64_t quarter = samples->period / 4;

	return samples->period - quarter + (next_random(samples) >> 16) % (2 * quarter + 1);
}

static void choose(uint64_t mask[TRACE_MASK_WORDS], uint32_t event, bool is_possible, bool wanted)
{
	if (!is_possible)
		mask[event / 64] &= ~(1ull << event % 64);
	else if (wanted)
		select_set(mask, event);
}

void samples_choose(uint64_t mask[TRACE_MASK_WORDS], const struct tracer_options *options, bool wanted)
{
	choose(mask, TRACE_EV_sample, options->sample_period, wanted);
	choose(mask, TRACE_EV_fs_map, options->sample_period || options->caller != TRACER_CALLER_NONE, wanted);
}

void samples_tick(struct samples *samples, struct tracer *tracer)
{
	for (uint32_t cpu = 0; cpu < samples->nr_cpus; cpu++)
		tracer_set_sample_period(tracer, cpu, samples_next_period(samples));
}
