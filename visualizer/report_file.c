/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "report_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** struct output - @is_new: it was not there before. @has_begun: nothing is left of what was. @is_dropped: nothing more is written */
struct output {
	int fd;
	bool is_new;
	bool has_begun;
	bool is_dropped;
	char path[];
};

static struct output *opened; /* the one there is; borrowed; NULL: none */

/* What is no plain file has nothing to be emptied. */
static bool begin(struct output *output)
{
	if (!output->has_begun && ftruncate(output->fd, 0) < 0 && errno != EINVAL)
		return false;
	output->has_begun = true;
	return true;
}

/* Returns the bytes that were written; fewer: errno says why. */
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

/* What was there before is lost if writing had begun; a part of a report is never left. */
static void take_back(struct output *output)
{
	output->is_dropped = true;
	if (output->has_begun && ftruncate(output->fd, 0) < 0)
		return; /* a pipe, a device: who reads it has it */
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
