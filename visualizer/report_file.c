/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_file.c - a report that has its name only when it is complete: whole_file.h.
 *
 * A pipe or a device is written in place, and so is a file that has several names, that would
 * change its owner, or that is in a folder without room for another file.
 */
#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "whole_file.h"

/**
 * struct report_file - an output file
 * @whole: .out is NULL: it is written in place, and the rest is about that
 * @is_new: report_file_open() created it
 * @has_begun: its old content is gone
 * @is_dropped: further writes are ignored
 */
struct report_file {
	struct whole_file whole;
	int fd;
	bool is_new;
	bool has_begun;
	bool is_dropped;
	char path[];
};

static struct report_file *opened; /* the only file; borrowed; NULL: none */

/* Empties a plain file before the first write. Other files cannot be truncated (EINVAL). */
static bool begin(struct report_file *file)
{
	if (!file->has_begun && ftruncate(file->fd, 0) < 0 && errno != EINVAL)
		return false;
	file->has_begun = true;
	return true;
}

/* Returns the number of bytes written; if fewer than @size, errno says why. */
static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	struct report_file *file = cookie;
	size_t done = 0;

	if (file->is_dropped)
		return (ssize_t)size;
	if (!begin(file))
		return 0;
	while (done < size) {
		ssize_t written = write(file->fd, bytes + done, size - done);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			break;
		done += (size_t)written;
	}
	return (ssize_t)done;
}

static int close_file(void *cookie)
{
	struct report_file *file = cookie;
	int result = file->fd >= 0 ? close(file->fd) : 0, cause = errno;

	if (opened == file)
		opened = NULL;
	free(file);
	errno = cause;
	return result;
}

/* Removes a partial report. The old content is lost if writing had begun. */
static void take_back(struct report_file *file)
{
	file->is_dropped = true;
	if (file->has_begun && ftruncate(file->fd, 0) < 0)
		return; /* a pipe or device: its reader has the data */
	if (file->is_new)
		unlink(file->path);
}

/* ---- beside its name ---- */

static bool begins_with(const char *path, const char *folder)
{
	return strncmp(path, folder, strlen(folder)) == 0;
}

/* /dev/stdout and /proc/self/fd/1 are what they lead to, which may have no name. */
static bool can_be_beside(const char *path, struct stat *ret_old, bool *ret_is_there)
{
	*ret_is_there = stat(path, ret_old) == 0;
	if (begins_with(path, "/dev/") || begins_with(path, "/proc/"))
		return false;
	if (!*ret_is_there)
		return errno == ENOENT && lstat(path, ret_old) < 0;
	return S_ISREG(ret_old->st_mode) && ret_old->st_nlink == 1 && access(path, W_OK) == 0;
}

/* It has the rights and the owner of the file that it will replace. */
static bool is_like(int fd, const struct stat *old)
{
	struct stat own;

	return fstat(fd, &own) == 0 &&
	       ((own.st_uid == old->st_uid && own.st_gid == old->st_gid) ||
		fchown(fd, old->st_uid, old->st_gid) == 0) &&
	       fchmod(fd, old->st_mode & 07777) == 0;
}

static bool open_beside(struct report_file *file, const char *path)
{
	struct stat old;
	bool is_there;

	if (!can_be_beside(path, &old, &is_there) || whole_file_open(&file->whole, path) < 0)
		return false;
	file->fd = fileno(file->whole.out);
	if (!is_there || is_like(file->fd, &old))
		return true;
	if (whole_file_close(&file->whole, false) < 0) /* nothing was written */
		file->whole = (struct whole_file){0};
	return false;
}

static int close_beside(struct report_file *file, bool is_kept)
{
	int error = whole_file_close(&file->whole, is_kept);

	opened = NULL;
	free(file);
	errno = -error;
	return is_kept && error ? EOF : 0;
}

/* ---- both ---- */

static FILE *open_in_place(struct report_file *file)
{
	static const cookie_io_functions_t functions = {.write = write_some, .close = close_file};
	FILE *stream;

	file->fd = open(file->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0 && errno == ENOENT) {
		file->fd = open(file->path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
		file->is_new = true;
	}
	stream = file->fd < 0 ? NULL : fopencookie(file, "w", functions);
	if (!stream) {
		int cause = errno;

		if (file->fd >= 0)
			take_back(file);
		close_file(file);
		errno = cause;
	}
	return stream;
}

FILE *report_file_open(const char *path, struct report_file **ret_file)
{
	struct report_file *file = calloc(1, sizeof(*file) + strlen(path) + 1);
	FILE *stream;

	if (!file)
		return NULL;
	strcpy(file->path, path);
	stream = open_beside(file, path) ? file->whole.out : open_in_place(file);
	*ret_file = opened = stream ? file : NULL;
	return stream;
}

int report_file_fd(const struct report_file *file)
{
	return file->fd;
}

int report_file_close(FILE *stream, struct report_file *file, bool is_kept)
{
	if (file->whole.out)
		return close_beside(file, is_kept);
	if (is_kept)
		begin(file);
	else
		take_back(file);
	return fclose(stream);
}

void report_file_take_back(void)
{
	if (opened && !opened->whole.out)
		take_back(opened);
	else if (opened && opened->whole.name)
		unlink(opened->whole.name);
}
