/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_SAMPLE_SKELETON_H
#define TRACER_SAMPLE_SKELETON_H
/* sample_skeleton.h - the generated skeleton of samples.bpf.c, after the types that it needs. */
#include "config.h"
#include "samples.skel.h"
#endif
