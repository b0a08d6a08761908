/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "code_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "file_opener.h"

int code_file_open(const char *folder, const char *path)
{
	struct file_opener opener = {0};
	char below[PATH_MAX];
	struct stat status;
	int fd = -ENOENT;

	if (folder && snprintf(below, sizeof(below), "%s%s", folder, path) < (int)sizeof(below))
		fd = file_opener_unserved(&opener, below, 0, &status);
	if (fd < 0)
		fd = file_opener_unserved(&opener, path, 0, &status);
	file_opener_close(&opener);
	return fd;
}

const char *code_file_why(int err)
{
	switch (err) {
	case -EREMOTE:
		return "another user may serve its file system";
	case -ETIMEDOUT:
		return "its file system does not answer";
	default:
		return file_why(err);
	}
}
