/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_DIRECTORY_H
#define ANALYZER_STATE_DIRECTORY_H
/* state_directory.h - the working and root directories of threads, and whole paths */
#include <stdint.h>
#include "handler.h"
#include "hash_table.h"
#include "state_file.h"

struct frame;
struct trace_analysis;
struct trace_thread;

/* shared by CLONE_FS; 0: not known */
struct directories {
	file_idx working;
	file_idx root; /* only if it is not that of the mount tree */
	uint32_t refs;
	uint64_t doubts; /* @working is not known if it is not that of struct doubt */
};

struct directories *directories_new(struct trace_analysis *a);
struct directories *directories_ref(struct directories *directories);
struct directories *directories_unref(struct directories *directories);
struct directories *directories_copy(struct trace_analysis *a, const struct directories *directories);
/** directories_own() - @thread gets a copy of those that it shared */
void directories_own(struct trace_analysis *a, struct trace_thread *thread);

/** directory_working() - the working directory of @thread; 0: not known */
file_idx directory_working(const struct trace_analysis *a, const struct trace_thread *thread);

/**
 * path_whole() - the path that was passed to the call of @frame, from the root of the mount tree
 *
 * If the directory where it begins is not known, it begins with "...". Traces without fs_dir do not
 * have these directories: then it is as the program gave it.
 */
string_id path_whole(struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);

/** directory_learn() - take an fs_dir of an event or of the start state */
void directory_learn(struct trace_analysis *a, const struct trace_event *event);
/** directory_put() - @thread has @file as TRACE_FD_WORKING_DIRECTORY or TRACE_FD_ROOT_DIRECTORY */
void directory_put(struct trace_analysis *a, struct trace_thread *thread, int32_t fd, file_idx file);

event_handler on_fs_dir;
#endif
