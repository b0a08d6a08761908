/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_START_ARGS_H
#define TRACER_START_ARGS_H
/* start_args.h - the arguments of a process, from /proc. */
#include "start_state.h"

/**
 * tracer_emit_args() - emit start_args of a process; nothing if it has none (it has exited, or is
 * the kernel's), or if the options leave arguments out
 * @only_titles: only a title that the program itself wrote over its arguments ("postgres: writer"):
 *     its first word has a blank in it
 */
int tracer_emit_args(struct tracer_collector *c, uint32_t tgid, uint64_t ts_ns, bool only_titles);

/** tracer_args_are_shown() - false if a user records who may see own processes only */
bool tracer_args_are_shown(const struct tracer_collector *c, uint32_t tgid);

#endif
