/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * wait_holder.c - evidence that the waker held what a thread waited for
 *
 * A wait for a file is for its data, whichever thread woke. But data that a process gives comes
 * from that process, and a lock is free when its holder releases it. The waker's own call shows
 * which of these it was:
 *
 *	it wrote to /dev/fuse                        it is the server of the file system
 *	it used a userfaultfd                        it provided the page
 *	it mapped, forked or exited, and shares      it held the lock of the address space
 *	the memory
 *	it used a descriptor of the file, or         it held the lock of that file
 *	changed its mode, owner, length ... by
 *	its path
 *	it made, removed or listed names in a        it held the lock of that directory
 *	directory on the way to the file
 *
 * Example: `first` is in mkdir("/data/a") when it wakes a thread in mkdir("/data/b"). Both change
 * /data, and one of them at a time may. The wait is for `first`, via "lock", on /data.
 */
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "state.h"
#include "state_frame.h"
#include "wait_holder.h"

static bool ends_with(const char *text, const char *end)
{
	size_t bytes = strlen(text), end_bytes = strlen(end);

	return bytes >= end_bytes && strcmp(text + bytes - end_bytes, end) == 0;
}

bool wakes_frozen(const struct trace_analysis *a, const struct waker *waker)
{
	const char *path = file_text(a, waker->file);

	return ends_with(path, "/cgroup.freeze") || ends_with(path, "/freezer.state");
}

bool serves_files(const struct trace_analysis *a, file_idx file)
{
	const char *path = file_text(a, file);

	return (ends_with(path, "/fuse") || ends_with(path, "/cuse")) && LINUX_S_ISCHR(a->files.list[file].mode);
}

bool provides_pages(const struct trace_analysis *a, file_idx file)
{
	return strstr(file_text(a, file), "[userfaultfd") != NULL;
}

/* ---- address spaces ---- */

static bool locks_memory(const struct trace_analysis *a, const struct waker *waker)
{
	switch (a->calls[waker->call].class) {
	case CALL_BRK:
	case CALL_EXEC:
	case CALL_EXIT:
	case CALL_FORK:
	case CALL_MEMORY:
	case CALL_MMAP:
	case CALL_MREMAP:
	case CALL_MUNMAP:
	case CALL_SHMAT:
		return true;
	default:
		return false;
	}
}

bool held_memory(const struct trace_analysis *a, const struct trace_thread *thread, const struct waker *waker)
{
	const struct trace_thread *by = waker->thread;

	return locks_memory(a, waker) &&
	       (by->process == thread->process || (by->memory && by->memory == thread->memory));
}

#define PROC "/proc/"

bool held_memory_of(const struct waker *waker, const char *path)
{
	static const char *const files[] = {"/maps",	"/smaps", "/smaps_rollup", "/numa_maps", "/cmdline",
					    "/environ", "/mem",	  "/pagemap",	   "/clear_refs"};
	const struct trace_process *process = waker->thread->process;
	unsigned long pid = strncmp(path, PROC, strlen(PROC)) == 0 ? strtoul(path + strlen(PROC), NULL, 10) : 0;

	if (!pid || (pid != process->pid && pid != process->ns_pid))
		return false;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (ends_with(path, files[i]))
			return true;
	return false;
}

/* ---- directories ---- */

/* Calls that take the lock of a directory. */
static bool locks_directory(const struct trace_analysis *a, const struct waker *waker)
{
	enum call_class class = (enum call_class)a->calls[waker->call].class;

	return class == CALL_PATH || class == CALL_INODE || class == CALL_OPEN || class == CALL_EXEC ||
	       class == CALL_GETDENTS || class == CALL_BIND;
}

/* The length of the directory part of @path, without the '/' at its end; of "/file" 1. */
static size_t directory_length(const char *path)
{
	size_t bytes = strlen(path);

	while (bytes > 1 && path[bytes - 1] == '/')
		bytes--; /* mkdir("new/") */
	while (bytes && path[bytes - 1] != '/')
		bytes--;
	return bytes > 1 ? bytes - 1 : bytes;
}

/* The way to @path leads through the directory, which is the first @bytes of @directory. */
static bool leads_through(const char *path, const char *directory, size_t bytes)
{
	if (directory[bytes - 1] == '/') /* "/" is on every way: only its own names count */
		return directory_length(path) == bytes;
	return strncmp(path, directory, bytes) == 0 && (path[bytes] == '/' || path[bytes] == '\0');
}

/* The path argument of the call that the waker was in. It may be recorded after the wakeup. */
static const char *path_of_waker(const struct trace_analysis *a, const struct waker *waker)
{
	const struct trace_thread *thread = waker->thread;
	string_id path = waker->cause == CAUSE_NONE ? (string_id)waker->detail : 0;
	bool is_late = !path && thread->late_from_ns <= waker->ns && waker->ns <= thread->late_to_ns;

	return strings_text(&a->strings, is_late ? thread->late_path : path);
}

/* The call acts on a descriptor of the regular file, such as a write or an fsync. */
static bool used_descriptor(const struct trace_analysis *a, file_idx file, const char *path)
{
	return strcmp(file_text(a, file), path) == 0 && LINUX_S_ISREG(a->files.list[file].mode);
}

bool held_file(const struct trace_analysis *a, const struct waker *waker, const char *path)
{
	if (*path != '/') /* of an unknown directory */
		return false;
	return used_descriptor(a, waker->file, path) || used_descriptor(a, waker->second_file, path) ||
	       (a->calls[waker->call].flags & CALL_CHANGES_INODE && strcmp(path_of_waker(a, waker), path) == 0);
}

string_id held_directory(struct trace_analysis *a, const struct waker *waker, const char *path)
{
	bool lists = a->calls[waker->call].class == CALL_GETDENTS;
	const char *used = lists ? file_text(a, waker->file) : path_of_waker(a, waker);
	size_t bytes = lists ? strlen(used) : directory_length(used);
	char *directory;
	string_id id;

	if (!locks_directory(a, waker) || !bytes || *path != '/' || !leads_through(path, used, bytes))
		return 0;
	directory = strndup(used, bytes);
	id = directory ? strings_intern(&a->strings, directory) : 0;
	free(directory);
	return id;
}
