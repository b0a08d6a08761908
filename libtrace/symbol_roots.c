/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "symbol_roots.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "read_end.h"

#define MAX_ROOTS 64

struct root_list {
	struct statx seen[MAX_ROOTS + 1]; /* the first one is our own */
	size_t nr;
};

static bool is_new(struct root_list *list, const char *root)
{
	struct statx status;

	/* SECURITY: a user may serve the root of a process. This takes what the kernel knows. */
	if (list->nr > MAX_ROOTS || statx(AT_FDCWD, root, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_INO, &status))
		return false;
	for (size_t i = 0; i < list->nr; i++)
		if (list->seen[i].stx_dev_major == status.stx_dev_major &&
		    list->seen[i].stx_dev_minor == status.stx_dev_minor && list->seen[i].stx_ino == status.stx_ino)
			return false;
	list->seen[list->nr++] = status;
	return true;
}

int symbol_roots_search(symbol_root_fn fn, void *context)
{
	struct root_list list = {.nr = 0};
	DIR *processes = opendir("/proc");
	struct dirent *entry;
	int error = processes || errno == ENOENT ? 0 : -errno;
	bool found = false;

	is_new(&list, "/");
	while (processes && !found && (entry = folder_next(processes, &error))) {
		char root[sizeof("/proc//root") + sizeof(entry->d_name)];

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		snprintf(root, sizeof(root), "/proc/%s/root", entry->d_name);
		found = is_new(&list, root) && fn(context, root);
	}
	if (processes)
		closedir(processes);
	return found ? 1 : error;
}
