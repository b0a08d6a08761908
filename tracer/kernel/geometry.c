/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "geometry.h"

#include <unistd.h>

static unsigned int log2_floor(uint32_t value)
{
	return 31 - (unsigned int)__builtin_clz(value);
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* The usual size, or less on machines with many CPUs and little memory: all rings
 * together take a 32nd of it. */
static uint32_t default_subbuf_bytes(uint32_t nr_cpus, uint32_t nr_subbufs)
{
	uint64_t spare = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 32;
	uint32_t bytes = TRACER_DEFAULT_SUBBUF_BYTES;

	while (bytes > SUBBUF_MIN_BYTES && (uint64_t)nr_cpus * nr_subbufs * bytes > spare)
		bytes /= 2;
	return bytes;
}

void tracer_choose_geometry(struct tracer_options *options, uint32_t nr_cpus)
{
	if (!options->nr_subbufs)
		options->nr_subbufs = TRACER_DEFAULT_NR_SUBBUFS;
	/* The default size depends on this number. */
	options->nr_subbufs = 1u << log2_floor(clamp(options->nr_subbufs, 2, TRACER_MAX_SUBBUFS));
	if (!options->subbuf_bytes)
		options->subbuf_bytes = default_subbuf_bytes(nr_cpus, options->nr_subbufs);
	options->subbuf_bytes = 1u << log2_floor(clamp(options->subbuf_bytes, SUBBUF_MIN_BYTES, SUBBUF_MAX_BYTES));
	while ((uint64_t)options->subbuf_bytes * options->nr_subbufs >
	       128u << 20) /* a map's value must be allocated in one piece */
		options->nr_subbufs /= 2;
}

/* In most loads the other rings get four times as many bytes. Data of variable length, paths,
 * compresses best in long pieces. */
uint32_t tracer_structural_subbuf_bytes(const struct tracer_options *options)
{
	return clamp(options->subbuf_bytes / 4, TRACER_STRUCTURAL_SUBBUF_MIN, TRACER_STRUCTURAL_SUBBUF_MAX);
}
