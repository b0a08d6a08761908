/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_set.h"
#include "format_text.h"
#include "program_title.h"
#include <trace/events.h>

#define LISTED 5 /* processes in a message */

/* The bytes of /proc/PID/FILE, with a NUL at the end; 0: the process has exited, or has none. */
static size_t read_proc(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/**
 * struct name_search - @list: the first of those that were found, for a message
 */
struct name_search {
	const char *name;
	pid_t first;
	size_t nr;
	char list[LISTED * (PROGRAM_TITLE_BYTES + 16)];
};

static void found(struct name_search *search, pid_t pid, const char *args, bool is_cut, const char *comm)
{
	char title[PROGRAM_TITLE_BYTES];
	size_t used = strlen(search->list);

	if (!search->nr++)
		search->first = pid;
	if (search->nr > LISTED)
		return;
	if (!program_title(args, is_cut, comm, title))
		snprintf(title, sizeof(title), "%s", comm);
	for (char *at = title; *at; at++) /* a terminal shows it */
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	snprintf(search->list + used, sizeof(search->list) - used, "%s%d %s", used ? ", " : "", (int)pid, title);
}

static void look_at(struct name_search *search, pid_t pid)
{
	char args[4096], comm[32];
	size_t bytes = read_proc(pid, "cmdline", args, sizeof(args));

	if (!read_proc(pid, "comm", comm, sizeof(comm)) || pid == getpid())
		return;
	comm[strcspn(comm, "\n")] = '\0';
	while (bytes && (args[bytes - 1] == '\0' || args[bytes - 1] == ' '))
		bytes--;
	args[bytes] = '\0';
	for (size_t i = 0; i < bytes; i++)
		if (!args[i])
			args[i] = TRACE_ARGS_SEPARATOR;
	if (program_is_called(args, bytes + 1 == sizeof(args), comm, search->name))
		found(search, pid, args, false, comm);
}

int process_of_name(const char *name, pid_t *ret_pid, struct trace_error *ret_error)
{
	struct name_search search = {.name = name};
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			look_at(&search, (pid_t)strtoul(entry->d_name, NULL, 10));
	if (folder)
		closedir(folder);
	if (!search.nr)
		return error_set(ret_error, -EINVAL,
				 "--pid: no process is called \"%s\": give its number, or the name of its program or "
				 "script, as ps -e shows them",
				 name);
	if (search.nr > 1)
		return error_set(ret_error, -EINVAL,
				 "--pid: %zu processes are called \"%s\": %s%s; give the number of one (--follow adds "
				 "its descendants)",
				 search.nr, name, search.list, search.nr > LISTED ? ", ..." : "");
	*ret_pid = search.first;
	return 0;
}
