/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "failing_stream.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct failing {
	FILE *file; /* owned */
	size_t left;
};

FILE *__real_fopen(const char *path, const char *mode);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
struct dirent *__real_readdir(DIR *folder);
struct dirent *__wrap_readdir(DIR *folder);

static size_t fails_after, folders_fail, entries_left;

void streams_fail_after(size_t bytes)
{
	fails_after = bytes;
}

static ssize_t read_some(void *cookie, char *bytes, size_t size)
{
	struct failing *failing = cookie;
	size_t got;

	if (!failing->left) {
		errno = EIO;
		return -1;
	}
	got = fread(bytes, 1, size < failing->left ? size : failing->left, failing->file);
	failing->left -= got;
	return (ssize_t)got;
}

static int close_it(void *cookie)
{
	struct failing *failing = cookie;
	int result = fclose(failing->file);

	free(failing);
	return result;
}

static int seek_to(void *cookie, off64_t *at, int whence)
{
	struct failing *failing = cookie;

	return fseeko(failing->file, *at, whence);
}

static FILE *failing_of(FILE *file, const char *mode)
{
	static const cookie_io_functions_t functions = {.read = read_some, .seek = seek_to, .close = close_it};
	struct failing *failing;

	if (!file || !fails_after || *mode != 'r')
		return file;
	failing = malloc(sizeof(*failing));
	*failing = (struct failing){file, fails_after};
	return fopencookie(failing, "r", functions);
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return failing_of(__real_fopen(path, mode), mode);
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
	return failing_of(__real_fdopen(fd, mode), mode);
}

void folders_fail_after(size_t nr)
{
	folders_fail = entries_left = nr;
}

struct dirent *__wrap_readdir(DIR *folder)
{
	if (!folders_fail || entries_left) {
		entries_left -= folders_fail ? 1 : 0;
		return __real_readdir(folder);
	}
	errno = EIO;
	return NULL;
}
