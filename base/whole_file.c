/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * whole_file.c - write a file without a name (O_TMPFILE), or with another one where the file system
 * cannot do that, and rename it at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "whole_file.h"

/* NULL: no memory. */
static char *text_of(const char *a, size_t bytes, const char *b)
{
	char *text;

	return asprintf(&text, "%.*s%s", (int)bytes, a, b) < 0 ? NULL : text;
}

/* The folder of @path, with its slash; "" for a plain name. */
static size_t folder_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A file without a name in the folder of the final one, else one with another name. */
static int open_beside(struct whole_file *file)
{
	char *folder = text_of(file->path, folder_bytes(file->path), ".");
	int fd = folder ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
	mode_t mask;

	free(folder);
	if (fd >= 0)
		return fd;
	file->name = text_of(file->path, strlen(file->path), ".XXXXXX");
	if (!file->name)
		return -ENOMEM;
	fd = mkostemp(file->name, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask) < 0) { /* it keeps the rights of its owner only */
	}
	return fd;
}

/* The file that @path leads to by links: the link stays. */
static char *final_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : text_of(path, strlen(path), "");
}

int whole_file_open(struct whole_file *file, const char *path)
{
	struct stat info;
	int fd;

	*file = (struct whole_file){0};
	if (strcmp(path, "-") == 0) {
		file->out = stdout;
		return 0;
	}
	if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
		fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	} else {
		file->path = final_path(path);
		fd = file->path ? open_beside(file) : -ENOMEM;
	}
	if (fd >= 0)
		file->out = fdopen(fd, "w");
	if (file->out)
		return 0;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && file->name)
		unlink(file->name);
	free(file->path);
	free(file->name);
	*file = (struct whole_file){0};
	return fd < 0 ? fd : -ENOMEM;
}

/* Gives a file without a name one that no other file has. */
static int take_name(struct whole_file *file)
{
	char source[64];

	snprintf(source, sizeof(source), "/proc/self/fd/%d", fileno(file->out));
	for (unsigned int i = 0; i < 100; i++) {
		char ending[32];

		snprintf(ending, sizeof(ending), ".%d-%u", (int)getpid(), i);
		file->name = text_of(file->path, strlen(file->path), ending);
		if (!file->name)
			return -ENOMEM;
		if (linkat(AT_FDCWD, source, AT_FDCWD, file->name, AT_SYMLINK_FOLLOW) == 0)
			return 0;
		free(file->name);
		file->name = NULL;
		if (errno != EEXIST)
			break;
	}
	return -errno;
}

int whole_file_close(struct whole_file *file, bool is_kept)
{
	int error = fflush(file->out) != 0 || ferror(file->out) ? -(errno ? errno : EIO) : 0;

	if (!error && is_kept && file->path && !file->name)
		error = take_name(file);
	if (file->out != stdout && fclose(file->out) != 0 && !error)
		error = -errno;
	if (!error && is_kept && file->path && rename(file->name, file->path) < 0)
		error = -errno;
	if ((error || !is_kept) && file->name)
		unlink(file->name);
	free(file->path);
	free(file->name);
	*file = (struct whole_file){0};
	return error;
}
