/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_COMMAND_NAME_H
#define BASE_COMMAND_NAME_H
/*
 * command_name.h - does a thread run the recorded command? The library and the program both use
 * this.
 */
#include <string.h>
#include <trace/analysis.h>

/* The last component of @path: "make" for "/usr/bin/make". */
static inline const char *name_in_path(const char *path, size_t *bytes)
{
	const char *slash = memrchr(path, '/', *bytes);

	if (!slash)
		return path;
	*bytes -= (size_t)(slash + 1 - path);
	return slash + 1;
}

/**
 * runs_command() - has @thread begun to run @command ("/usr/bin/make -j2"), now that it executes
 * the file @path?
 * The kernel names a thread after the path given to execve(), before it records the event. The
 * event has the resolved path. If sh is a symbolic link, the thread's name is "sh" although the
 * event has /usr/bin/dash. The kernel cuts the name to 15 bytes.
 */
static inline bool runs_command(const struct trace_thread *thread, const char *path, const char *command)
{
	size_t bytes = strcspn(command, " "), path_bytes = strlen(path), cut;
	const char *name = name_in_path(command, &bytes), *file = name_in_path(path, &path_bytes),
		   *comm = trace_thread_comm(thread);

	cut = bytes < 15 ? bytes : 15;
	if (!bytes)
		return false;
	return (strlen(comm) == cut && memcmp(comm, name, cut) == 0) ||
	       (path_bytes == bytes && memcmp(file, name, bytes) == 0);
}

#endif
