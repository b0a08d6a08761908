/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_path.c - the via that the path of a file shows: see wait_path.h */
#include <stdint.h>
#include <string.h>
#include "wait_path.h"

static const struct {
	const char *prefix;
	uint8_t via;
} anonymous_files[] = {
	{"[eventfd", VIA_EVENTFD},
	{"[signalfd", VIA_SIGNAL},
	{"[eventpoll", VIA_POLL},
	{"[io_uring", VIA_URING},
	{"[pidfd", VIA_PIDFD},
	{"pidfd:", VIA_PIDFD},
	{"inotify", VIA_INOTIFY},
	{"[inotify", VIA_INOTIFY},
	{"[fanotify", VIA_INOTIFY},
	{"[userfaultfd", VIA_MEMORY},
	{"pipe:", VIA_PIPE},
	{"socket:", VIA_SOCKET},
	/* a pseudoterminal: a process has the other end */
	{"/dev/pts/", VIA_TTY},
	{"/dev/ptmx", VIA_TTY},
};

const char *path_anonymous(const char *path)
{
	return strncmp(path, "anon_inode:", 11) == 0 ? path + 11 : path;
}

static enum via via_of_path(const char *path)
{
	path = path_anonymous(path);
	for (size_t i = 0; i < sizeof(anonymous_files) / sizeof(anonymous_files[0]); i++)
		if (strncmp(path, anonymous_files[i].prefix, strlen(anonymous_files[i].prefix)) == 0)
			return (enum via)anonymous_files[i].via;
	return VIA_NONE;
}

enum via file_via(const struct trace_analysis *a, file_idx file)
{
	return via_of_path(file_text(a, file));
}
