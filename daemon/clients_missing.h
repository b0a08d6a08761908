/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENTS_MISSING_H
#define DAEMON_CLIENTS_MISSING_H
/* clients_missing.h - describes the events of traced programs that are not in the trace */
#include <stddef.h>

struct clients;

/**
 * clients_describe_unmatched() - describe the patterns that matched no event of a program, no
 * probe
 * and no tracepoint of the kernel. Returns their number
 */
size_t clients_describe_unmatched(const struct clients *clients, void (*describe)(void *context, const char *text),
				  void *context);

/**
 * clients_describe_missing() - describe what of programs is not in the trace and cannot be counted
 * These are: programs that another daemon recorded; tracepoints that found no space in their
 * program's registry or in
 * the trace; programs that may have ended before the daemon noticed them; programs that wrote
 * impossible numbers.
 * @describe: called once for each text
 */
void clients_describe_missing(const struct clients *clients, void (*describe)(void *context, const char *text),
			      void *context);
#endif
