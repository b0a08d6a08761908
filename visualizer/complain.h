/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_COMPLAIN_H
#define VISUALIZER_COMPLAIN_H

/**
 * complain() - write "tracevisualizer: ", the message and a newline to stderr
 * The message names the error and the way out. Returns @status, for the caller to return.
 */
int complain(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

struct trace_error;
/** complain_of_error() - the same with the message of @error; returns 1 */
int complain_of_error(const struct trace_error *error);

#endif
