/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_TRACEFILE_H
#define DAEMON_TRACEFILE_H
/*
 * tracefile.h - the contents of every trace besides events: where it was recorded, and names for
 * numbers
 */
#include <trace/tracer.h>
#include <trace/writer.h>

/**
 * tracefile_describe() - write host, kernel, the command (NULL-terminated words, or NULL), names,
 * and what is not traced
 * @filter: the recorded processes; NULL: all
 * Call it after tracer_start(), and before another thread uses @writer. Returns 0, or the negative
 * errno of the write.
 */
int tracefile_describe(struct tracer *tracer, struct trace_writer *writer, char *const *command,
		       const struct tracer_options *filter, struct trace_error *ret_error);
/**
 * tracefile_nr_not_traced() - number of texts about what is not traced that tracefile_describe()
 * writes, from 0
 */
uint64_t tracefile_nr_not_traced(struct tracer *tracer, const struct tracer_options *filter);
/**
 * tracefile_print_unfollowed() - at the end, the text about descendants that a filter could not
 * follow
 * @start_ns: start of the trace. Returns false if there are none.
 */
bool tracefile_print_unfollowed(const struct tracer *tracer, uint64_t start_ns, char *text, size_t size);
/** tracefile_code_names() - the functions of the kernel that samples hit; NULL @tracer is fine */
void tracefile_code_names(struct trace_writer *writer, const struct tracer *tracer);
/**
 * tracefile_work_names() - at the end: the names of the functions of the kernel's deferred work
 */
void tracefile_work_names(struct trace_writer *writer, const struct tracer *tracer);
/** tracefile_device_names() - at the end: disks and network devices may have come meanwhile */
void tracefile_device_names(struct trace_writer *writer, const struct tracer *tracer);
/** tracefile_distrusted() - write at the end how many programs wrote impossible numbers */
void tracefile_distrusted(struct trace_writer *writer, uint64_t nr_programs);

enum { TRACEFILE_TEXT_BYTES = 256 };

/**
 * tracefile_print_lost_maps() - that it is not known @nr times where programs mapped their code
 * Returns false: @nr is 0
 */
bool tracefile_print_lost_maps(uint64_t nr, char *ret_text, size_t size);
/**
 * tracefile_print_unanswered() - what was not read because file systems did not answer
 * (file_opener.h), or not yet. Returns false: nothing
 */
bool tracefile_print_unanswered(char *ret_text, size_t size);

#endif
