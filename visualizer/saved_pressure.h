/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SAVED_PRESSURE_H
#define VISUALIZER_SAVED_PRESSURE_H
/*
 * saved_pressure.h - a trace that the kernel's pressure (PSI) saved: the thread that it kept
 * waiting
 */
#include "saved_for.h"

/**
 * saved_pressure_path() - of the thread that waited longest for the resource of the trigger of
 * @saved, in the time in which the kernel counted; the caller frees it
 * @s: gets a sentence that says so: "app.py 42 waited longest for files then: 280 ms."
 * Returns NULL if another trigger saved the trace, or if no thread waited for the resource.
 */
struct trace_critical_path *saved_pressure_path(const struct report *report, const struct process_row *rows, size_t nr,
						const struct saved_for *saved, struct string *s);
#endif
