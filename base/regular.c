/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* regular.c - the only function that opens files with a path or content from another user. */
#include "regular.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(const struct stat *status)
{
	if (!S_ISREG(status->st_mode))
		return -EINVAL;
	return (uint64_t)status->st_size > REGULAR_MAX_BYTES ? -EFBIG : 0;
}

/*
 * Opens the file of @path_fd, an O_PATH descriptor. The path itself may lead to another file by
 * now.
 */
static int open_target(int path_fd, int folder, const char *path)
{
	struct stat status, opened;
	char link[40];
	int fd, result;

	if (fstat(path_fd, &status) < 0)
		return -errno;
	result = check(&status);
	if (result)
		return result;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", path_fd);
	fd = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 && errno == ENOENT) /* /proc is not mounted */
		fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	result = fstat(fd, &opened) < 0 ? -errno : check(&opened);
	if (!result && (opened.st_dev != status.st_dev || opened.st_ino != status.st_ino))
		result = -ESTALE;
	if (!result)
		return fd;
	close(fd);
	return result;
}

static int open_regular(int folder, const char *path, int flags)
{
	int path_fd = openat(folder, path, O_PATH | O_CLOEXEC | flags), fd;

	if (path_fd < 0)
		return -errno;
	fd = open_target(path_fd, folder, path);
	close(path_fd);
	return fd;
}

int regular_open(const char *path)
{
	return open_regular(AT_FDCWD, path, 0);
}

int regular_open_at(int folder, const char *name)
{
	return open_regular(folder, name, O_NOFOLLOW);
}
