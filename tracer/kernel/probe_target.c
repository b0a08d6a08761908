/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probe_target.h"

#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "read_end.h"

int probe_target_open(struct file_opener *opener, const struct trace_probe *probe, struct probe_target *ret_target)
{
	struct stat status;
	int fd = -EINVAL;

	if (!probe->in_kernel)
		fd = file_opener_unserved(opener, probe->file, (uint32_t)probe->pid, &status);
	if (fd >= 0)
		*ret_target = (struct probe_target){
			.dev = status.st_dev, .ino = status.st_ino, .bytes = status.st_size, .changed = status.st_mtim};
	return fd;
}

bool probe_target_is_same(const struct probe_target *one, const struct probe_target *two)
{
	return one->dev == two->dev && one->ino == two->ino && one->bytes == two->bytes &&
	       one->changed.tv_sec == two->changed.tv_sec && one->changed.tv_nsec == two->changed.tv_nsec;
}

/* Reading memory takes the lock, also where no memory is. */
bool probe_target_any_is_mute(struct file_opener *opener)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	bool is_mute = !processes;
	int error = 0;

	while (!is_mute && (entry = folder_next(processes, &error))) {
		uint32_t tgid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		char byte;
		int result = tgid ? file_opener_memory(opener, tgid, 0, &byte, sizeof(byte)) : 0;

		is_mute = result == -ETIMEDOUT || result == -EBUSY;
	}
	if (processes)
		closedir(processes);
	return is_mute || error;
}
