/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * struct output - an output file
 * @is_new: output_open() created it
 * @has_begun: its old content is gone
 * @is_dropped: further writes are ignored
 */
struct output {
	int fd;
	bool is_new;
	bool has_begun;
	bool is_dropped;
	char path[];
};

static struct output *opened; /* the only output; borrowed; NULL: none */

/* Empties a plain file before the first write. Other files cannot be truncated (EINVAL). */
static bool begin(struct output *output)
{
	if (!output->has_begun && ftruncate(output->fd, 0) < 0 && errno != EINVAL)
		return false;
	output->has_begun = true;
	return true;
}

/* Returns the number of bytes written; if fewer than @size, errno says why. */
static ssize_t write_some(void *cookie, const char *bytes, size_t size)
{
	struct output *output = cookie;
	size_t done = 0;

	if (output->is_dropped)
		return (ssize_t)size;
	if (!begin(output))
		return 0;
	while (done < size) {
		ssize_t written = write(output->fd, bytes + done, size - done);

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
	struct output *output = cookie;
	int result = output->fd >= 0 ? close(output->fd) : 0, cause = errno;

	if (opened == output)
		opened = NULL;
	free(output);
	errno = cause;
	return result;
}

/* Removes a partial report. The old content is lost if writing had begun. */
static void take_back(struct output *output)
{
	output->is_dropped = true;
	if (output->has_begun && ftruncate(output->fd, 0) < 0)
		return; /* a pipe or device: its reader has the data */
	if (output->is_new)
		unlink(output->path);
}

FILE *output_open(const char *path, struct output **ret_output)
{
	static const cookie_io_functions_t functions = {.write = write_some, .close = close_file};
	struct output *output = calloc(1, sizeof(*output) + strlen(path) + 1);
	FILE *stream;

	if (!output)
		return NULL;
	strcpy(output->path, path);
	output->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (output->fd < 0 && errno == ENOENT) {
		output->fd = open(path, O_WRONLY | O_CREAT | O_NOCTTY | O_CLOEXEC, 0666);
		output->is_new = true;
	}
	stream = output->fd < 0 ? NULL : fopencookie(output, "w", functions);
	if (!stream) {
		int cause = errno;

		if (output->fd >= 0)
			take_back(output);
		close_file(output);
		errno = cause;
	}
	*ret_output = opened = stream ? output : NULL;
	return stream;
}

int output_fd(const struct output *output)
{
	return output->fd;
}

int output_close(FILE *stream, struct output *output, bool is_kept)
{
	if (is_kept)
		begin(output);
	else
		take_back(output);
	return fclose(stream);
}

void output_take_back(void)
{
	if (opened)
		take_back(opened);
}
