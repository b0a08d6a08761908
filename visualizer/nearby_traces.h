/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_NEARBY_TRACES_H
#define VISUALIZER_NEARBY_TRACES_H
/* nearby_traces.h - the way out when a trace does not exist: those that its folder has. */

struct trace_error;
/**
 * complain_of_open() - write why the trace @path cannot be opened
 * If there is no such file, the line also has the trace that the user may have meant, or the newest
 * traces of the folder, or how to record one. Returns 1.
 */
int complain_of_open(const char *path, const struct trace_error *error);

#endif
