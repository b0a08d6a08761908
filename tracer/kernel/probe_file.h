/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_FILE_H
#define TRACER_PROBE_FILE_H
/* probe_file.h - finds a file by name, like ld.so, or as a process has it mapped. */
#include <sys/types.h>
#include <trace/error.h>

/**
 * probe_find_file() - find the file that @name means
 * Without @pid: a path, the library that ld.so would load by that name, or a program in PATH. With
 * @pid: the file that this process has mapped by that name, or that exists at that path in the root
 * of the process.
 * Returns 0 with a path that can be opened, or -ENOENT ...
 */
int probe_find_file(const char *name, pid_t pid, char ret_path[4096], struct trace_error *ret_error);

/** probe_find_file_here() - the same without a child: the caller may have to wait for ever */
int probe_find_file_here(const char *name, pid_t pid, char ret_path[4096], struct trace_error *ret_error);

/**
 * probe_file_exists() - is there a file of this name? Asked in a child
 * Returns 1, 0, or a negative errno: -ETIMEDOUT, its file system does not answer ...
 */
int probe_file_exists(const char *path, struct trace_error *ret_error);

/** probe_real_path() - realpath() in a child. Returns 0 or a negative errno */
int probe_real_path(const char *path, char ret_path[4096]);

#endif
