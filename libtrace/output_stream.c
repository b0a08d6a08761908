/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* output_stream.c - complete or undone writes to the file or pipe of a trace. */
#include "output_stream.h"

#include "error_set.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void output_init(struct output_stream *output, int fd)
{
	struct stat stat;
	bool append = fcntl(fd, F_GETFL) & O_APPEND;

	*output = (struct output_stream){.fd = fd, .begin = -1};
	if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
		output->begin = append ? stat.st_size : lseek(fd, 0, SEEK_CUR);
}

static void parts_advance(struct iovec **parts, int *nr_parts, size_t bytes)
{
	while (*nr_parts && bytes >= (*parts)->iov_len) {
		bytes -= (*parts)->iov_len;
		++*parts;
		--*nr_parts;
	}
	if (*nr_parts) {
		(*parts)->iov_base = (char *)(*parts)->iov_base + bytes;
		(*parts)->iov_len -= bytes;
	}
}

/* Removes @bytes that a failed write had written. Returns the number that it could not remove. */
static uint64_t output_take_back(const struct output_stream *output, uint64_t bytes)
{
	if (output->begin < 0)
		return bytes;
	if (ftruncate(output->fd, output->begin + (int64_t)output->bytes) < 0)
		return bytes;
	lseek(output->fd, output->begin + (int64_t)output->bytes, SEEK_SET);
	return 0;
}

int output_write(struct output_stream *output, struct iovec *parts, int nr_parts, struct trace_error *ret_error)
{
	uint64_t done = 0;
	int error;

	parts_advance(&parts, &nr_parts, 0);
	while (nr_parts) {
		ssize_t bytes = writev(output->fd, parts, nr_parts);

		if (bytes == 0)
			errno = EIO; /* a device that accepts nothing without an error */
		if (bytes > 0) {
			done += (uint64_t)bytes;
			parts_advance(&parts, &nr_parts, (size_t)bytes);
		} else if (errno == EAGAIN) {
			poll(&(struct pollfd){.fd = output->fd, .events = POLLOUT}, 1, -1);
		} else if (errno != EINTR) {
			error = -errno;
			output->bytes += output_take_back(output, done);
			return error_set(ret_error, error, "cannot write the trace at offset %llu: %s",
					 (unsigned long long)output->bytes, strerror(-error));
		}
	}
	output->bytes += done;
	return 0;
}
