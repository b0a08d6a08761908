/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process_dump.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "error_set.h"
#include "file_opener.h"
#include "message.h"

pid_t process_dump_pid(const char *verb, const char *text)
{
	char *end;
	long pid;

	errno = 0;
	pid = strtol(text, &end, 10);
	if (end != text && !*end && !errno && pid > 0 && pid <= INT_MAX)
		return (pid_t)pid;
	message_error("%s: '%s' is not the number of a process", verb, text);
	return 0;
}

const char *process_dump_why(int err)
{
	switch (err) {
	case -ESRCH:
		return "it has ended";
	case -EPERM:
		return "its memory may be read by root, or by who may debug it";
	case -ETIMEDOUT:
		return "its memory does not answer: " FILE_WHY;
	default:
		return file_why(err);
	}
}

int process_dump_folder(const char *path, bool is_chosen, struct trace_error *ret_error)
{
	struct stat status;
	int folder, err;

	if (mkdir(path, 0777) < 0 && errno != EEXIST)
		return error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	folder = open(path, O_RDONLY | O_DIRECTORY | (is_chosen ? 0 : O_NOFOLLOW) | O_CLOEXEC);
	if (folder < 0)
		return error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	if (is_chosen || (fstat(folder, &status) == 0 && status.st_uid == geteuid()))
		return folder;
	err = error_set(ret_error, -EPERM, "%s belongs to another user: name a folder", path);
	close(folder);
	return err;
}
