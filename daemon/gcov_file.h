/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GCOV_FILE_H
#define DAEMON_GCOV_FILE_H
/* gcov_file.h - .gcda files: gcc's documentation of them is gcc/gcov-io.h. */
#include <stdbool.h>
#include <stddef.h>
#include <trace/error.h>
#include "gcov_counters.h"

/**
 * gcov_file_name() - the file of a unit below a folder: the unit's path without "..", and ".gcda"
 * Control characters become '?'.
 */
void gcov_file_name(const struct gcov_unit *unit, char *ret_name, size_t size);
/**
 * gcov_files_write() - write @units below @folder, a descriptor, where gcov_file_name() says
 * Earlier files of these names are replaced by whole ones, once all are written. A link to where
 * the .gcno of a unit should be is put beside its file, as gcov and lcov expect.
 * @path: of the folder, for messages
 * Returns 0; or a negative errno with a sentence, and earlier files are as before, unless only a
 * rename failed.
 */
int gcov_files_write(int folder, const struct gcov_units *units, const char *path, struct trace_error *ret_error);
/**
 * gcov_file_read() - the unit in @name below @folder, which is a descriptor
 * @ret_unit: without a path; free it with gcov_unit_free()
 * Returns 0; -EBADMSG: it is no regular file, larger than 256 MiB, or not a complete file of
 * counts; -ENOMEM; or the negative errno of opening or reading it, such as -ENOENT or -EACCES.
 */
int gcov_file_read(int folder, const char *name, struct gcov_unit *ret_unit);
#endif
