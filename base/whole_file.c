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

/*
 * The first write that failed drops the buffer, and what is written then may succeed: errno is only
 * the cause if flushing fails.
 */
static int flush(FILE *out)
{
	int before = ferror(out) ? errno : 0;

	errno = 0;
	if (fflush(out) != 0)
		return -(errno ? errno : EIO);
	return ferror(out) ? -(before ? before : EIO) : 0;
}

/* Writes all of it, under a name that is not the final one. */
static int complete(struct whole_file *file, bool is_kept)
{
	int error = flush(file->out);

	if (!error && is_kept && file->path && !file->name)
		error = take_name(file);
	if (file->out != stdout && fclose(file->out) != 0 && !error)
		error = -errno;
	file->out = NULL;
	return error;
}

static void release(struct whole_file *file)
{
	if (file->name)
		unlink(file->name);
	free(file->path);
	free(file->name);
	*file = (struct whole_file){0};
}

/*
 * The old file of the final name gets the other name, so that give_back() can undo it. False: there
 * is none, or the file system cannot do that.
 */
static bool exchange_names(const struct whole_file *file)
{
	struct stat old;

	return lstat(file->path, &old) == 0 && S_ISREG(old.st_mode) &&
	       renameat2(AT_FDCWD, file->name, AT_FDCWD, file->path, RENAME_EXCHANGE) == 0;
}

/* Gives the file its final name. The names of the last one need no exchange: no error follows. */
static int give_name(const struct whole_file *file, bool is_last, bool *ret_has_old)
{
	*ret_has_old = file->path && !is_last && exchange_names(file);
	return !file->path || *ret_has_old || rename(file->name, file->path) == 0 ? 0 : -errno;
}

/* An error cannot be helped: another one is told already. */
static void give_back(const struct whole_file *file, bool has_old)
{
	if (file->path && (has_old ? rename(file->name, file->path) : unlink(file->path)) < 0)
		return;
}

static int close_all(struct whole_file *files, size_t nr, bool is_kept, size_t *ret_idx)
{
	bool has_old[WHOLE_FILES_MAX];
	size_t nr_named = 0;
	int error = 0;

	for (size_t i = 0; i < nr; i++) {
		int own = complete(&files[i], is_kept && !error);

		if (own && !error) {
			error = own;
			*ret_idx = i;
		}
	}
	while (!error && is_kept && nr_named < nr) {
		error = give_name(&files[nr_named], nr_named + 1 == nr, &has_old[nr_named]);
		if (error)
			*ret_idx = nr_named;
		else
			nr_named++;
	}
	while (error && nr_named--)
		give_back(&files[nr_named], has_old[nr_named]);
	for (size_t i = 0; i < nr; i++)
		release(&files[i]);
	return error;
}

int whole_files_close(struct whole_file *files, size_t nr, int error, size_t *ret_idx)
{
	size_t idx;
	int own = close_all(files, nr, !error, &idx);

	if (!error && own)
		*ret_idx = idx;
	return error ? error : own;
}

int whole_files_open(struct whole_file *files, const char *const *paths, size_t nr, size_t *ret_idx)
{
	for (size_t i = 0; i < nr; i++) {
		int error = whole_file_open(&files[i], paths[i]);

		if (error) {
			*ret_idx = i;
			return whole_files_close(files, i, error, NULL);
		}
	}
	return 0;
}

int whole_file_close(struct whole_file *file, bool is_kept)
{
	size_t idx;

	return close_all(file, 1, is_kept, &idx);
}
