/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_WHOLE_FILE_H
#define BASE_WHOLE_FILE_H
/*
 * whole_file.h - a file that has its name only when it is complete. If the program ends before, an
 * older file of that name stays.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <trace/error.h>

#define WHOLE_FILES_MAX 4u

/** struct whole_file - zeroed = none */
struct whole_file {
	FILE *out;
	char *path; /* owned; the final one; NULL: @out is a pipe or a device, and written directly */
	char *name; /* owned; its name until then; NULL: it has none */
};

/** whole_file_open() - returns 0 or a negative errno */
int whole_file_open(struct whole_file *file, const char *path) TRACE_NODISCARD;
/** whole_file_close() - give it the name, or remove it unless @is_kept; 0 or a negative errno */
int whole_file_close(struct whole_file *file, bool is_kept) TRACE_NODISCARD;
/**
 * whole_files_open() - files that belong together; after an error none is open
 * @nr: at most WHOLE_FILES_MAX. Returns 0 or a negative errno; then *ret_idx is the file's
 */
int whole_files_open(struct whole_file *files, const char *const *paths, size_t nr, size_t *ret_idx) TRACE_NODISCARD;
/**
 * whole_files_close() - all get their names, or none does
 * @error: of what was to be written, or 0; after one none is kept
 * Returns @error, or else 0 or a negative errno; then *ret_idx is the file that caused it. After an
 * error older files of these names are as they were; on a file system without RENAME_EXCHANGE those
 * before *ret_idx are lost if it is their names that fail.
 */
int whole_files_close(struct whole_file *files, size_t nr, int error, size_t *ret_idx) TRACE_NODISCARD;
#endif
