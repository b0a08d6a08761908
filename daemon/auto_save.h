/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_AUTO_SAVE_H
#define DAEMON_AUTO_SAVE_H
/*
 * auto_save.h - the files that a flight recorder saves by itself: when, under which names, how many
 *
 * A trigger is taken if the last one is long enough ago and there are not too many files yet. The
 * file is written some time later, so that it also has what followed. Triggers that are not taken
 * are counted, and told with the next file.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

#include "keep_save.h"
#include "save_on.h"
#include "triggers.h"

/**
 * struct auto_options - all borrowed until auto_save_free()
 * @path: what the names of the files begin with: stall.trace means stall-20261126-231641.trace.
 *     NULL: trace
 * @after_ns: from a trigger to the save. @distance_ns: from a trigger to the next one
 * @max_files: no more are saved
 * @prints: a line on stdout for each file; otherwise a message
 */
struct auto_options {
	struct save_on on[SAVE_ON_MAX];
	size_t nr_on;
	uint64_t after_ns;
	uint64_t distance_ns;
	uint64_t max_files;
	const char *path;
	bool prints;
};

struct auto_save;

/** auto_save_new() - returns NULL with the reason */
struct auto_save *auto_save_new(const struct auto_options *options, struct trace_error *ret_error);
struct auto_save *auto_save_free(struct auto_save *saves); /* NULL is fine; returns NULL */

/** auto_save_hit() - a trigger was fulfilled. trigger_fn */
void auto_save_hit(void *saves, const struct trigger_hit *hit);
/** auto_save_fd() - readable when a file is due */
int auto_save_fd(const struct auto_save *saves);
/** auto_save_is_due() - is the file of a trigger still to be written? */
bool auto_save_is_due(const struct auto_save *saves);
/** auto_save_wait() - try again in a moment: another save is being written */
void auto_save_wait(struct auto_save *saves);

/**
 * auto_save_open() - create the file that is due. Returns its descriptor, borrowed until
 * auto_save_close(); or a negative errno: the trigger is dropped
 */
int auto_save_open(struct auto_save *saves, struct trace_error *ret_error);
/**
 * auto_save_reason() - what the file is for, as TRACE_INFO_SAVED_FOR; borrowed until the next call
 */
const char *auto_save_reason(struct auto_save *saves);
/**
 * auto_save_close() - report the file. @error: why it could not be written; NULL: it is complete
 */
void auto_save_close(struct auto_save *saves, const struct keep_saved *saved, const struct trace_error *error);

/** auto_save_count() - files so far, at most, and triggers that were left out */
void auto_save_count(const struct auto_save *saves, uint64_t *ret_files, uint64_t *ret_max, uint64_t *ret_left_out);
/** auto_save_print() - files and triggers so far, for a status; as snprintf() */
size_t auto_save_print(const struct auto_save *saves, char *text, size_t size);
#endif
