/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROGRAMS_H
#define TRACER_PROGRAMS_H
/* programs.h - the list of the BPF programs, and their loading. */
#include "loader.h"

void tracer_list_programs(struct tracer *tracer);
int tracer_load_programs(struct tracer *tracer, struct trace_error *ret_error);
bool tracer_program_serves(const struct tracer_program *program, uint32_t event);
/** tracer_program_wanted() - does @mask have an event of @program? */
bool tracer_program_wanted(const struct tracer *tracer, const struct tracer_program *program,
			   const uint64_t mask[TRACE_MASK_WORDS]);
/** tracer_stem_length() - the length of NAME in NAME or NAME__variant */
size_t tracer_stem_length(const char *program);

#endif
