/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unavailable.c - why this kernel cannot record an event, found once for the process
 */
#include <bpf/btf.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "loader.h"
#include "constants.h"
#include "not_traced.h"
#include "programs.h"

static char reasons[TRACE_EV_MAX][96]; /* by event; constant once they are known */
static bool reasons_are_known;
static pthread_mutex_t reasons_lock = PTHREAD_MUTEX_INITIALIZER;

/* A call without memory leaves the reasons unknown, and the next call tries again. */
static void find_reasons(void)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	if (!tracer)
		return;
	libbpf_set_print(tracer_silent);
	tracer->types = btf__load_vmlinux_btf();
	tracer->skeleton = tracer_open_programs();
	if (tracer->types && tracer->skeleton)
		tracer_list_programs(tracer);
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		struct tracer_program *p = &tracer->programs[i];

		if (p->event && p->unavailable[0] && !(p->is_elsewhere && tracer_has_sibling(tracer, p)))
			memcpy(reasons[p->event], p->unavailable, sizeof(reasons[0]));
	}
	reasons_are_known = true;
	tracer_free(tracer);
}

const char *tracer_unavailable(uint32_t id)
{
	bool is_unavailable;

	pthread_mutex_lock(&reasons_lock);
	if (!reasons_are_known)
		find_reasons();
	is_unavailable = id < TRACE_EV_MAX && reasons[id][0];
	pthread_mutex_unlock(&reasons_lock);
	return is_unavailable ? reasons[id] : NULL;
}
