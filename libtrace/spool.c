/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * spool.c - copy a trace from a pipe to an unlinked temporary file, because the reader maps its
 * input.
 */
#include "spool.h"

#include "error_set.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/format.h>
#include <unistd.h>

static int temporary_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	int fd;

	if (!folder || !*folder)
		folder = "/var/tmp"; /* a trace is large: do not put it in memory */
	fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	if ((size_t)snprintf(path, sizeof(path), "%s/trace-XXXXXX", folder) >= sizeof(path))
		return -ENAMETOOLONG;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

static int write_all(int fd, const char *data, size_t bytes)
{
	while (bytes) {
		ssize_t done = write(fd, data, bytes);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			data += done;
			bytes -= (size_t)done;
		}
	}
	return 0;
}

/*
 * Read until @room bytes or the end of the file. Returns the number of bytes or a negative errno.
 */
static ssize_t read_all(int fd, char *buffer, size_t room)
{
	size_t bytes = 0;

	while (bytes < room) {
		ssize_t got = read(fd, buffer + bytes, room - bytes);

		if (got == 0)
			break;
		if (got > 0)
			bytes += (size_t)got;
		else if (errno != EINTR)
			return -errno;
	}
	return (ssize_t)bytes;
}

/*
 * Can the input not be a trace? trace_open() would refuse it, but /dev/zero would fill the disk
 * before.
 */
static bool is_no_trace(const char *beginning, size_t bytes)
{
	return bytes == TRACE_SEARCHED_BYTES && memcmp(beginning, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES) != 0 &&
	       !memmem(beginning, bytes, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
}

static int copy_all(int from, int to, bool *ret_is_read)
{
	char *buffer = malloc(TRACE_SEARCHED_BYTES);
	bool ends = false, begun = false;
	int error = buffer ? 0 : -ENOMEM;

	while (!error && !ends) {
		ssize_t bytes = read_all(from, buffer, TRACE_SEARCHED_BYTES);

		error = bytes < 0 ? (int)bytes : write_all(to, buffer, (size_t)bytes);
		*ret_is_read = bytes >= 0;
		ends = bytes < (ssize_t)TRACE_SEARCHED_BYTES || (!begun && is_no_trace(buffer, (size_t)bytes));
		begun = true;
	}
	free(buffer);
	return error;
}

static int no_temporary_file(const char *name, int error, struct trace_error *ret_error)
{
	return error_set(ret_error, error,
			 "%s: cannot make a temporary file to hold the trace: %s; set TMPDIR to a folder with room",
			 name, strerror(-error));
}

static int spool(int from, const char *name, struct trace_error *ret_error)
{
	int fd = temporary_file(), error;
	bool is_read = true;

	if (fd < 0)
		return no_temporary_file(name, fd, ret_error);
	error = copy_all(from, fd, &is_read);
	if (!error)
		return fd;
	close(fd);
	if (!is_read)
		return error_set(ret_error, error, "%s: cannot read the trace: %s", name, strerror(-error));
	return error_set(ret_error, error,
			 "%s: cannot copy the trace to a temporary file: %s; set TMPDIR to a folder with room", name,
			 strerror(-error));
}

/* Opens a file or pipe. Returns the descriptor or a negative errno. */
static int input_open(const char *path, bool *ret_is_file, struct trace_error *ret_error)
{
	bool is_stdin = !strcmp(path, "-");
	int fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) < 0) {
		int error = -errno;

		if (fd >= 0)
			close(fd);
		return error_set(ret_error, error, "%s: cannot open the trace: %s%s",
				 is_stdin ? "standard input" : path, strerror(-error),
				 error == -EACCES ? "; only its owner, and root by sudo, may read it" : "");
	}
	if (S_ISDIR(stat.st_mode)) {
		close(fd);
		return error_set(ret_error, -EINVAL, "%s: is a directory, not a trace", path);
	}
	*ret_is_file = S_ISREG(stat.st_mode);
	return fd;
}

int spool_open(const char *path, struct trace_error *ret_error)
{
	bool is_file;
	int fd = input_open(path, &is_file, ret_error), spooled;

	if (fd < 0 || is_file)
		return fd;
	spooled = spool(fd, strcmp(path, "-") == 0 ? "standard input" : path, ret_error);
	close(fd);
	return spooled;
}

/* ---- a pipe that is followed ---- */

int spool_begin(const char *path, int *ret_input, struct trace_error *ret_error)
{
	bool is_file;
	int fd = input_open(path, &is_file, ret_error), spooled;

	*ret_input = -1;
	if (fd < 0 || is_file)
		return fd;
	spooled = temporary_file();
	if (spooled < 0) {
		close(fd);
		return no_temporary_file(path, spooled, ret_error);
	}
	*ret_input = fd;
	return spooled;
}

int spool_more(int from, int to, bool wait, bool *ret_ended)
{
	struct pollfd ready = {.fd = from, .events = POLLIN};
	char *buffer = malloc(TRACE_SEARCHED_BYTES);
	int error = buffer ? 0 : -ENOMEM, nr_ready;

	while (!error && !*ret_ended && (nr_ready = poll(&ready, 1, wait ? -1 : 0))) {
		ssize_t got = nr_ready < 0 ? -1 : read(from, buffer, TRACE_SEARCHED_BYTES);

		if (got < 0)
			error = errno == EINTR || errno == EAGAIN ? 0 : -errno;
		else if (got == 0)
			*ret_ended = true;
		else
			error = write_all(to, buffer, (size_t)got);
		wait = wait && got <= 0;
	}
	free(buffer);
	return error;
}
