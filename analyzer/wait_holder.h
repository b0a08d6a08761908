/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_HOLDER_H
#define ANALYZER_WAIT_HOLDER_H
/*
 * wait_holder.h - evidence that the waker held what a thread waited for: a file server, the
 * provider of a page, the holder of a directory's or an address space's lock
 *
 * The waker is a task: @waker->thread is not NULL. If a worker acts for it, @waker has no call and
 * no file.
 */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"
#include "state_file.h"

struct trace_analysis;
struct trace_thread;
struct waker;

/** wakes_frozen() - did @waker write to the file by which the freezer of a control group thaws? */
bool wakes_frozen(const struct trace_analysis *a, const struct waker *waker);
/** serves_files() - is @file the device by which a program serves a file system (FUSE)? */
bool serves_files(const struct trace_analysis *a, file_idx file);
/** provides_pages() - is @file a userfaultfd? */
bool provides_pages(const struct trace_analysis *a, file_idx file);
/** held_memory() - was @waker in a call that locks the address space which @thread uses, too? */
bool held_memory(const struct trace_analysis *a, const struct trace_thread *thread, const struct waker *waker);
/**
 * held_memory_of() - the same for the address space that @path of /proc describes
 */
bool held_memory_of(const struct waker *waker, const char *path);
/**
 * held_file() - did @waker's call take the lock of the file @path: did it use a descriptor of the
 * file, or change its inode by its path?
 */
bool held_file(const struct trace_analysis *a, const struct waker *waker, const char *path);
/**
 * held_directory() - the directory that @waker's call acted in, if the way to @path leads through
 *
 * Returns 0 if the paths do not show one.
 */
string_id held_directory(struct trace_analysis *a, const struct waker *waker, const char *path);
#endif
