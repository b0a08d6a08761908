/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_directory.c - the working and root directories of threads, and whole paths
 *
 * The kernel's path of a directory is without symbolic links. So a relative path that begins with
 * ".." goes up in it. Other ".." remain as the program gave them, because the name before may be a
 * link.
 *
 * Example: the working directory is /home/a/b. "../c//./d" is /home/a/c/d; "e/../f" is
 * /home/a/b/e/../f.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "state.h"
#include "state_directory.h"
#include "state_frame.h"

#define UNKNOWN_DIRECTORY "..."
#define PATH_ROOM	  8192

/* ---- directories of threads ---- */

struct directories *directories_new(struct trace_analysis *a)
{
	struct directories *directories = calloc(1, sizeof(*directories));

	if (!directories)
		a->failed = -ENOMEM;
	else
		*directories = (struct directories){.refs = 1, .doubts = a->doubt.nr};
	return directories;
}

struct directories *directories_ref(struct directories *directories)
{
	if (directories)
		directories->refs++;
	return directories;
}

struct directories *directories_unref(struct directories *directories)
{
	if (directories && --directories->refs == 0)
		free(directories);
	return NULL;
}

struct directories *directories_copy(struct trace_analysis *a, const struct directories *directories)
{
	struct directories *copy = directories ? directories_new(a) : NULL;

	if (copy) {
		copy->working = directories->working;
		copy->root = directories->root;
		copy->doubts = directories->doubts;
	}
	return copy;
}

void directories_own(struct trace_analysis *a, struct trace_thread *thread)
{
	struct directories *own;

	if (!thread->directories || thread->directories->refs == 1)
		return;
	own = directories_copy(a, thread->directories);
	directories_unref(thread->directories);
	thread->directories = own;
}

void directory_put(struct trace_analysis *a, struct trace_thread *thread, int32_t fd, file_idx file)
{
	if (!thread->directories)
		thread->directories = directories_new(a);
	if (!thread->directories)
		return;
	if (fd == TRACE_FD_WORKING_DIRECTORY) {
		/* a thread that is not seen may change it at any time */
		thread->directories->working = a->doubt.is_open && thread->directories->refs > 1 ? 0 : file;
		thread->directories->doubts = a->doubt.nr;
	} else if (fd == TRACE_FD_ROOT_DIRECTORY) {
		thread->directories->root = file;
	}
}

/*
 * The directory of a descriptor needs no handling here: the latest path of an inode is the one of
 * that directory now.
 */
void directory_learn(struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_fs_dir *dir = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, dir->tid);
	file_idx file = file_get(a, trace_event_string(event), dir->dev, dir->ino, dir->mode);

	if (!thread || thread->sched_state == SCHED_DEAD)
		return;
	if (dir->fd >= 0) {
		if (!fd_file(thread, dir->fd))
			fd_put(a, thread, dir->fd, file, false);
		return;
	}
	directory_put(a, thread, dir->fd, file);
}

void on_fs_dir(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	directory_learn(a, event);
}

/* ---- whole paths ---- */

file_idx directory_working(const struct trace_analysis *a, const struct trace_thread *thread)
{
	const struct directories *known = thread->directories;
	file_idx latest;

	if (!known || known->doubts != a->doubt.nr || !known->working)
		return 0;
	latest = a->files.list[known->working].ino
			 ? file_of_inode(a, a->files.list[known->working].dev, a->files.list[known->working].ino)
			 : 0;
	return latest ? latest : known->working;
}

/* The path of a directory now; "": not known. */
static const char *directory_text(const struct trace_analysis *a, file_idx file)
{
	const struct traced_file *directory = file ? &a->files.list[file] : NULL;
	file_idx latest = file && directory->ino ? file_of_inode(a, directory->dev, directory->ino) : 0;

	return file && LINUX_S_ISDIR(directory->mode) ? file_text(a, latest ? latest : file) : "";
}

static const char *base_of(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	int8_t at = a->calls[frame->call].directory;
	bool absolute = *thread->path == '/';

	if (!absolute && frame->path_late)
		return "";
	if (!absolute && at >= 0 && at < frame->nr_args && (int32_t)frame->args[at] != LINUX_AT_FDCWD)
		return directory_text(a, fd_file(thread, (int32_t)frame->args[at]));
	if (!thread->directories || (!absolute && thread->directories->doubts != a->doubt.nr))
		return "";
	return directory_text(a, absolute ? thread->directories->root : thread->directories->working);
}

/* Remove the last component of the @bytes of @base. Nothing is above the root. */
static size_t one_up(const char *base, size_t bytes)
{
	while (bytes && base[bytes - 1] != '/')
		bytes--;
	return bytes ? bytes - 1 : 0;
}

/* A component of a path ends here. */
static size_t component_bytes(const char *path)
{
	return strcspn(path, "/");
}

/* Append @path to the @bytes of @to, without "." and double slashes. */
static void append_path(char *to, size_t bytes, const char *path, bool goes_up)
{
	while (*path) {
		size_t component = component_bytes(path);

		if (goes_up && component == 2 && strncmp(path, "..", 2) == 0) {
			bytes = one_up(to, bytes);
		} else if (component && !(component == 1 && *path == '.')) {
			goes_up = false;
			if (bytes + component + 2 > PATH_ROOM)
				break;
			to[bytes++] = '/';
			memcpy(to + bytes, path, component);
			bytes += component;
		}
		path += component;
		path += strspn(path, "/");
	}
	if (!bytes)
		to[bytes++] = '/';
	to[bytes] = '\0';
}

string_id path_whole(struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame)
{
	const char *path = thread->path, *base = base_of(a, thread, frame);
	char whole[PATH_ROOM + 1];
	size_t bytes;

	if (!trace_type_by_id(a->trace, TRACE_EV_fs_dir) || (*path == '/' && !*base))
		return strings_intern(&a->strings, path);
	if (!*base)
		base = UNKNOWN_DIRECTORY;
	bytes = strlen(base);
	if (bytes > PATH_ROOM)
		return strings_intern(&a->strings, path);
	memcpy(whole, base, bytes);
	while (bytes && whole[bytes - 1] == '/')
		bytes--;
	append_path(whole, bytes, path, *path != '/' && *base == '/');
	return strings_intern(&a->strings, whole);
}
