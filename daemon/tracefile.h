/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_TRACEFILE_H
#define DAEMON_TRACEFILE_H
/* tracefile.h - what stands in every trace besides events: where it was recorded, and the names of numbers. */
#include <trace/tracer.h>
#include <trace/writer.h>

/**
 * tracefile_describe() - host, kernel, the recording's command (NULL-terminated words, or NULL), names, what is not traced
 * @filter: whom events are recorded of; NULL: everybody
 * Call after tracer_start(), and before another thread uses @writer. Returns 0, or the negative errno of the write.
 */
int tracefile_describe(struct tracer *tracer, struct trace_writer *writer, char *const *command, const struct tracer_options *filter,
		       struct trace_error *ret_error);
/** tracefile_nr_not_traced() - how many texts of what is not traced tracefile_describe() writes, numbered from 0 */
uint64_t tracefile_nr_not_traced(struct tracer *tracer, const struct tracer_options *filter);
/** tracefile_print_unfollowed() - one more such text, for the end: whom a filter with descendants lost sight of. @start_ns: of the trace. False: nobody */
bool tracefile_print_unfollowed(const struct tracer *tracer, uint64_t start_ns, char *text, size_t size);
/** tracefile_doubted() - so many programs wrote impossible numbers; at the end */
void tracefile_doubted(struct trace_writer *writer, uint64_t nr_programs);

enum { TRACEFILE_TEXT_BYTES = 256 };
#endif
