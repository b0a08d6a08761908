/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_SKELETON_H
#define TRACER_PROBE_SKELETON_H
/* probe_skeleton.h - the generated skeleton of probes.bpf.c, after the types that it needs. */
#include "config.h"
#include "probe_recipe.h"
#include "probes.skel.h"
#endif
