/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file_server.c - what statfs(2), /proc/self/mountinfo and FIEMAP tell of a file. */
#include "file_server.h"

#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "read_end.h"

/* An overlay asks the file below it, and FUSE has no answer. */
static bool has_extents(int fd)
{
	struct fiemap extents = {.fm_length = 1};

	return ioctl(fd, FS_IOC_FIEMAP, &extents) == 0;
}

/*
 * fusermount(1) sets the option for the user that called it. The options are the last field, and
 * the kernel's are the first of them; the other fields of a line can be any text.
 */
static bool is_of_another(const char *line)
{
	const char *options = strrchr(line, ' '), *user = options ? strstr(options, ",user_id=") : NULL;
	unsigned long uid = user ? strtoul(user + strlen(",user_id="), NULL, 10) : 0;

	return uid && uid != geteuid();
}

/*
 * Only root can mount in this namespace: proc_pid_mountinfo(5). If its table cannot be read, the
 * file counts as mounted here by another user.
 */
static bool is_mounted_here(int fd, bool *ret_is_of_another)
{
	struct statx status;
	FILE *mounts = NULL;
	char *line = NULL;
	size_t room = 0;
	bool is_found = false, is_unknown;

	if (!statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status) && status.stx_mask & STATX_MNT_ID)
		mounts = fopen("/proc/self/mountinfo", "re");
	while (mounts && !is_found && getline(&line, &room, mounts) >= 0)
		is_found = strtoull(line, NULL, 10) == status.stx_mnt_id;
	is_unknown = mounts && !is_found && read_lines_error(mounts);
	*ret_is_of_another = is_unknown || (is_found && is_of_another(line));
	free(line);
	if (mounts)
		fclose(mounts);
	return is_found || is_unknown;
}

bool file_is_served(int fd)
{
	struct statfs system;
	bool is_of_another;

	if (fstatfs(fd, &system) < 0)
		return true;
	if (system.f_type != FUSE_SUPER_MAGIC && system.f_type != OVERLAYFS_SUPER_MAGIC)
		return false;
	if (is_mounted_here(fd, &is_of_another))
		return is_of_another;
	return system.f_type == FUSE_SUPER_MAGIC || !has_extents(fd);
}
