/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HANDLER_H
#define ANALYZER_HANDLER_H
/*
 * handler.h - the type of an event's handler, which changes the state. analysis.c has the table of
 * handlers, and calls them with the event's CPU and time.
 */
#include <stdint.h>

struct cpu;
struct trace_analysis;
struct trace_event;

typedef void event_handler(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);
#endif
