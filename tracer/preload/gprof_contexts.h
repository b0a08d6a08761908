/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_GPROF_CONTEXTS_H
#define TRACER_PRELOAD_GPROF_CONTEXTS_H
/*
 * gprof_contexts.h - the times of all contexts, as a text
 */
#include <stdio.h>
#include "gprof_names.h"

/** gprof_contexts_put() - a line for each. 0 or -ENOMEM */
int gprof_contexts_put(FILE *file, const struct gprof_names *names);
#endif
