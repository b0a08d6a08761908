/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_TRACER_MAPS_H
#define TRACER_TRACER_MAPS_H
/* tracer_maps.h - what processes map as code, for tracers that record addresses of code. */
#include <trace/tracer.h>

/**
 * tracer_open_code_maps() - prepare to record mappings, if the options say that addresses are
 * recorded. Returns 0, or a negative errno with a sentence
 */
int tracer_open_code_maps(struct tracer *tracer, struct trace_error *ret_error);
/** tracer_switch_code_maps() - on if @mask has events with addresses of code, else off */
void tracer_switch_code_maps(struct tracer *tracer, const uint64_t mask[TRACE_MASK_WORDS]);
#endif
