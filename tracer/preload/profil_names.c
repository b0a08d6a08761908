/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profil_names.c - libtracer-profil.so: profil() and sprofil() of a program as it is are those of
 * <trace/profil.h> (LD_PRELOAD)
 *
 * TRACER_PROFIL_PERIOD in the environment is their period in us.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/profil.h>
#include <trace/profil.h>
#include <unistd.h>
#include "next.h"

_Static_assert(sizeof(struct prof) == sizeof(struct trace_prof) &&
		       offsetof(struct prof, pr_size) == offsetof(struct trace_prof, pr_size) &&
		       offsetof(struct prof, pr_off) == offsetof(struct trace_prof, pr_off) &&
		       offsetof(struct prof, pr_scale) == offsetof(struct trace_prof, pr_scale),
	       "sprofil() passes its regions on");
_Static_assert((int)PROF_USHORT == (int)TRACE_PROF_USHORT && (int)PROF_UINT == (int)TRACE_PROF_UINT &&
		       (int)PROF_FAST == (int)TRACE_PROF_FAST,
	       "sprofil() passes its flags on");

static __attribute__((constructor)) void read_environment(void)
{
	const char *text = getenv("TRACER_PROFIL_PERIOD");
	char *end;
	unsigned long long us = text ? strtoull(text, &end, 10) : 0;

	if (text &&
	    (end == text || *end || us > TRACE_PROFIL_MAX_PERIOD_NS / 1000 || trace_profil_set_period(us * 1000)))
		fprintf(stderr,
			"libtracer-profil: TRACER_PROFIL_PERIOD: '%s' is not a number of us from 20 to 1000000\n",
			text);
}

static int classic(int result)
{
	if (!result)
		return 0;
	errno = -result;
	return -1;
}

PRELOAD_EXPORT int profil(unsigned short *cells, size_t bytes, size_t offset, unsigned int scale)
{
	return classic(trace_profil(cells, bytes, offset, scale));
}

PRELOAD_EXPORT int sprofil(struct prof *regions, int nr, struct timeval *ret_tick, unsigned int flags)
{
	return classic(trace_sprofil((const struct trace_prof *)regions, nr, ret_tick, flags));
}

/* The classic functions have no way to say it. */
static __attribute__((destructor)) void tell_what_is_missing(void)
{
	struct trace_profil_status status;

	trace_profil_status(&status, sizeof(status));
	if (status.full)
		fprintf(stderr, "libtracer-profil: %llu ticks are not counted: their cells are at the maximum\n",
			(unsigned long long)status.full);
	if (status.lost)
		fprintf(stderr, "libtracer-profil: %llu ticks were lost: the period is short for this machine\n",
			(unsigned long long)status.lost);
	if (status.faulted)
		fprintf(stderr, "libtracer-profil: cells could not be written any more; their ticks are not counted\n");
}
