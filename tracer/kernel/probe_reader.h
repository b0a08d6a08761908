/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_READER_H
#define TRACER_PROBE_READER_H
/*
 * probe_reader.h - the process that reads the ELF and DWARF data of a program, and its
 * restrictions.
 *
 * SECURITY: the file may come from any user, and libelf and libdw are large. So the caller forks a
 * reader, which drops all rights before it reads the first byte. The caller opens the files. The
 * reader parses them and answers with records of a fixed form. The caller checks each number and
 * text of the answer before use.
 *
 *     probe_files.c     which files may be opened for a program, and how (caller)
 *     probe_answer.c    the records: written by the reader, checked by the caller
 *     probe_reader.c    requests for files, and the end (both)
 *     base/jail.c       rights, limits and system calls that the reader drops (reader)
 *     base/jail_child.c fork and the end of the reader (both)
 */
#include <stdint.h>
#include <trace/error.h>

struct probe_opener;
struct probe_answer;
struct probe_record;

/**
 * struct probe_reading - what to read from a file
 * @read: runs in the reader: opens the file with @opener and writes its results to @answer. Returns
 *        0 or a negative errno with @ret_error
 * @take: runs in the caller for each entry or row; a return value other than 0 ends the reading.
 *        @file_bytes: size of the file
 */
struct probe_reading {
	int (*read)(void *context, struct probe_opener *opener, struct probe_answer *answer,
		    struct trace_error *ret_error);
	int (*take)(void *context, struct probe_record *record, uint64_t file_bytes, struct trace_error *ret_error);
	void *context;
};

/**
 * probe_reader_run() - read the file at @path in a process without rights
 * Returns 0; the error of @read or @take; a negative errno of opening the file; or -EBADMSG: the
 * reader was stopped, or its answer is impossible.
 */
int probe_reader_run(const char *path, const struct probe_reading *reading, struct trace_error *ret_error);

#endif
