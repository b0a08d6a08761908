/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * struct report_file - an output file
 * @is_new: report_file_open() created it
 * @has_begun: its old content is gone
 * @is_dropped: further writes are ignored
 */
struct report_file {
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

FILE *report_file_open(const char *path, struct report_file **ret_file)
{
	static const cookie_io_functions_t functions = {.write = write_some, .close = close_file};
	struct report_file *file = calloc(1, sizeof(*file) + strlen(path) + 1);
	FILE *stream;

	if (!file)
		return NULL;
	strcpy(file->path, path);
	file->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (file->fd < 0 && errno == ENOENT) {
		file->fd = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
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
	*ret_file = opened = stream ? file : NULL;
	return stream;
}

int report_file_fd(const struct report_file *file)
{
	return file->fd;
}

int report_file_close(FILE *stream, struct report_file *file, bool is_kept)
{
	if (is_kept)
		begin(file);
	else
		take_back(file);
	return fclose(stream);
}

void report_file_take_back(void)
{
	if (opened)
		take_back(opened);
}
