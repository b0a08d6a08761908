/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PROGRAM_NAMES_H
#define DAEMON_PROGRAM_NAMES_H
/*
 * program_names.h - at the end of a recording with samples: the names of the code that they hit, so
 * that the trace can be profiled on another machine
 */
#include <trace/writer.h>

struct build_ids;

#define PROGRAM_NAMES_NS 2000000000ull /* at the end of a recording */

/**
 * program_names_write() - read the trace in the file @fd until now, and add the names to @writer
 * It stops after @limit_ns; the threads with the most samples come first. A pipe, or a file above
 * 512 MiB, gets no names. A profile looks up what is missing when it is made.
 * @ids: have the names of files that are gone; may be NULL
 * @next_note: the first number of texts of TRACE_STRING_NOT_TRACED, which say what is missing, if
 *     anything
 */
void program_names_write(struct trace_writer *writer, int fd, uint64_t limit_ns, const struct build_ids *ids,
			 uint64_t next_note);

#endif
