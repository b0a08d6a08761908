/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Attacks that this file prevents (CVE-2025-27591, CVE-2024-45770, CVE-2021-24032): a root daemon
 * follows a planted symbolic link, writes through a hard link, or creates a file that others can
 * read before its mode is set.
 * So the daemon always creates the file, exclusively and with its final mode. It replaces an old
 * trace of its own by a rename, and never opens and truncates it. A reader that has mapped the old
 * trace can continue.
 * The replacement happens after the recording has begun, so that an early failure does not destroy
 * the last trace.
 */
#include "output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <trace/format.h>

#include "format_text.h"
#include "message.h"
#include "sudo_user.h"

#define OUTPUT_TRIES 8 /* another process may create and remove a file of that name meanwhile */

static int check_stdout(struct trace_error *ret_error)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY)
		return error_set(ret_error, -EBADF, "stdout is not open for writing");
	if (isatty(STDOUT_FILENO))
		return error_set(ret_error, -EINVAL,
				 "stdout is a terminal, and a trace is not text; redirect it, or name a file");
	return 0;
}

static const struct {
	const char *name;
	const char *beginning;
} kinds[] = {
	[OUTPUT_TRACE] = {"trace", TRACE_FILE_MAGIC},
	[OUTPUT_PROC] = {"list of processes", "PID: "},
};

/* Is the file of that kind, or empty? A mistyped name must not destroy a file. */
static bool is_kind_or_empty(int fd, enum output_kind kind)
{
	size_t length = strlen(kinds[kind].beginning);
	char beginning[16];
	ssize_t bytes = pread(fd, beginning, length, 0);

	return bytes == 0 || (bytes == (ssize_t)length && memcmp(beginning, kinds[kind].beginning, length) == 0);
}

/*
 * Replacing a file that is being written would remove another recording, which would continue in a
 * file without a name.
 */
static bool is_being_written(int fd)
{
	return flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
}

/* Checks the kind of the file's contents, and that no recording is writing it. */
static int check_contents(const char *path, enum output_kind kind, struct trace_error *ret_error)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int err = 0;

	if (fd < 0 || !is_kind_or_empty(fd, kind))
		err = error_set(ret_error, -EEXIST,
				"%s is not a %s and is not replaced; remove it, or name another file", path,
				kinds[kind].name);
	else if (is_being_written(fd))
		err = error_set(ret_error, -EBUSY,
				"%s is being written by another recording and is not replaced; name another file",
				path);
	if (fd >= 0)
		close(fd);
	return err;
}

static bool is_ours(const struct stat *old)
{
	struct sudo_user user;

	return old->st_uid == geteuid() || (sudo_user_find(&user) && old->st_uid == user.uid);
}

/* May the file at @path be replaced? */
static int check_old(const char *path, const struct stat *old, enum output_kind kind, struct trace_error *ret_error)
{
	if (S_ISLNK(old->st_mode))
		return error_set(ret_error, -ELOOP,
				 "%s is a symbolic link, which is not followed; name the file itself", path);
	if (S_ISDIR(old->st_mode))
		return error_set(ret_error, -EISDIR, "%s is a directory; name a file in it", path);
	if (!S_ISREG(old->st_mode))
		return error_set(ret_error, -EEXIST,
				 "%s is not a regular file; for a pipe or a device write to stdout: - > %s", path,
				 path);
	if (!is_ours(old))
		return error_set(ret_error, -EPERM,
				 "%s belongs to uid %u and is not replaced; remove it, or name another file", path,
				 (unsigned int)old->st_uid);
	return check_contents(path, kind, ret_error);
}

static int create_failed(const char *path, int err, struct trace_error *ret_error)
{
	const char *advice = "";

	if (err == -ENOENT)
		advice = "; create its directory first";
	else if (err == -EISDIR)
		advice = "; name a file in it";
	else if (err == -EACCES || err == -EROFS || err == -ENOSPC || err == -EDQUOT)
		advice = "; name a file elsewhere";
	return error_set(ret_error, err, "cannot create %s: %s%s", path, strerror(-err), advice);
}

static struct output_file file_of(const struct stat *status)
{
	return (struct output_file){status->st_dev, status->st_ino};
}

static int open_new(const char *path, struct trace_error *ret_error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);

	if (fd < 0)
		return create_failed(path, -errno, ret_error);
	flock(fd, LOCK_EX | LOCK_NB); /* for is_being_written(); on file systems without locks that check is not made */
	return fd;
}

/* Creates the file next to the old one, which it will replace. */
static int open_beside(struct output_target *output, const struct stat *old, struct trace_error *ret_error)
{
	int fd;

	if (asprintf(&output->temporary, "%s.%d", output->path, (int)getpid()) < 0) {
		output->temporary = NULL;
		return error_set(ret_error, -ENOMEM, "no memory for a file name");
	}
	output->old = file_of(old);
	fd = open_new(output->temporary, ret_error);
	if (fd < 0) {
		free(output->temporary);
		output->temporary = NULL;
	}
	return fd;
}

static int create(struct output_target *output, enum output_kind kind, struct trace_error *ret_error)
{
	struct stat old;
	int fd, err;

	for (int i = 0; i < OUTPUT_TRIES; i++) {
		fd = open_new(output->path, ret_error);
		if (fd != -EEXIST)
			return fd;
		if (lstat(output->path, &old) < 0)
			continue; /* the old file has been removed meanwhile */
		err = check_old(output->path, &old, kind, ret_error);
		return err ? err : open_beside(output, &old, ret_error);
	}
	return error_set(ret_error, -EEXIST, "cannot create %s: another process keeps creating it; name another file",
			 output->path);
}

int output_open(struct output_target *ret_output, const char *path, enum output_kind kind,
		struct trace_error *ret_error)
{
	struct output_target output = {.fd = STDOUT_FILENO, .path = "stdout"};
	struct trace_error error;
	struct sudo_user user;
	struct stat status;
	int err;

	if (!strcmp(path, "-")) {
		err = check_stdout(ret_error);
		if (err)
			return err;
		*ret_output = output;
		return 0;
	}
	output.path = path;
	output.fd = create(&output, kind, &error);
	if (output.fd < 0) {
		*ret_error = error; /* only here: -EEXIST of the first attempt is no failure */
		return output.fd;
	}
	if (fstat(output.fd, &status) < 0) {
		err = -errno;
		close(output.fd);
		free(output.temporary);
		return error_set(ret_error, err, "cannot stat %s: %s", path, strerror(-err));
	}
	if (sudo_user_find(&user) && fchown(output.fd, user.uid, user.gid) < 0)
		message_warning("%s belongs to root, not to %s: %s", path, user.name, strerror(errno));
	output.created = true;
	output.file = file_of(&status);
	*ret_output = output;
	return 0;
}

static bool is_file(const char *path, const struct output_file *file)
{
	struct stat now;

	return lstat(path, &now) == 0 && now.st_dev == file->dev && now.st_ino == file->ino;
}

int output_commit(struct output_target *output, struct trace_error *ret_error)
{
	if (!output->temporary)
		return 0;
	if (!is_file(output->path, &output->old) && access(output->path, F_OK) == 0)
		return error_set(ret_error, -EEXIST,
				 "cannot replace %s: another process has just created it; name another file",
				 output->path);
	if (rename(output->temporary, output->path) < 0)
		return error_set(ret_error, -errno, "cannot replace %s: %s; name another file", output->path,
				 strerror(errno));
	free(output->temporary);
	output->temporary = NULL;
	return 0;
}

int output_check(const struct output_target *output, struct trace_error *ret_error)
{
	struct stat status;

	if (!output->created || fstat(output->fd, &status) < 0 || is_file(output->path, &output->file))
		return 0;
	if (status.st_nlink == 0)
		return error_set(ret_error, -ENOENT, "%s was removed", output->path);
	return error_set(ret_error, -ESTALE, "%s is no longer the recorded trace, which was renamed or moved",
			 output->path);
}

int output_close(struct output_target *output, struct trace_error *ret_error)
{
	int err = 0;

	if (output->fd < 0)
		return 0;
	if (output->created && fsync(output->fd) < 0)
		err = error_set(ret_error, -errno, "cannot sync %s to disk: %s; written events may be lost",
				output->path, strerror(errno));
	if (output->created && close(output->fd) < 0 && !err)
		err = error_set(ret_error, -errno, "cannot close %s: %s", output->path, strerror(errno));
	output->fd = -1;
	return err;
}

void output_discard(struct output_target *output)
{
	const char *path = output->temporary ? output->temporary : output->path;

	if (output->fd < 0)
		return;
	if (output->created) {
		if (is_file(path, &output->file))
			unlink(path);
		close(output->fd);
	}
	output->fd = -1;
	free(output->temporary);
	output->temporary = NULL;
}
