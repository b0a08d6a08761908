/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_READ_END_H
#define BASE_READ_END_H
/*
 * read_end.h - why a loop over fgets(), getline(), fread() or readdir() ended: at the end of its
 * file or folder, or at an error.
 *
 * All four return the same for both, so that a part of a file looks like the whole. Each loop over
 * the first three asks one of these functions, or ferror(); the loops over folders use
 * folder_next() (tests/reads_are_ended).
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <trace/error.h>

/**
 * read_error() - 0, or the negative errno of the read of @file that failed
 * Call it just after the loop, as errno is not kept.
 */
static inline int TRACE_NODISCARD read_error(FILE *file)
{
	return ferror(file) ? -(errno ? errno : EIO) : 0;
}

/**
 * read_lines_error() - the same behind a loop over getline() that only a result of -1 ends
 * getline() sets no error of the stream if it has no memory for the line (glibc 2.36).
 */
static inline int TRACE_NODISCARD read_lines_error(FILE *file)
{
	return feof(file) ? 0 : -(errno ? errno : EIO);
}

/** read_end() - as read_error(), and close @file; NULL is fine */
static inline int TRACE_NODISCARD read_end(FILE *file)
{
	int error = file ? read_error(file) : 0;

	if (file)
		fclose(file);
	return error;
}

/**
 * folder_next() - the next entry of @folder; NULL at its end, or if it cannot be read
 * @error: gets the negative errno of the second; else it stays as it is
 * The folder in /proc of a process that has exited ends.
 */
static inline struct dirent *folder_next(DIR *folder, int *error)
{
	struct dirent *entry;

	errno = 0;
	entry = readdir(folder);
	if (!entry && errno && errno != ENOENT && errno != ESRCH)
		*error = -errno;
	return entry;
}
#endif
