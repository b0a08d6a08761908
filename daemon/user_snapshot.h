/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_SNAPSHOT_H
#define DAEMON_USER_SNAPSHOT_H
/* user_snapshot.h - a flight recorder reads the rings of a program, without the drain */
#include <stddef.h>
#include <stdint.h>
#include <trace/writer.h>

#include "user_kept.h"

struct user_program;

/**
 * struct user_snapshot - the destination of a flight recorder's snapshot
 * @patience: ms that all programs together may wait for writers inside a sub-buffer
 * @push: takes a block; returns 0 or -ENOMEM. @add_stats: takes the final counts of a stream
 * @missed: events that never had a ring; @claimed: the part of them that only programs counted
 */
struct user_snapshot {
	struct trace_writer *writer;
	int patience;
	int (*push)(void *context, const struct trace_source *source);
	int (*add_stats)(void *context, const struct trace_stream_stats *stats);
	void *context;
	uint64_t missed;
	uint64_t claimed;
};

/**
 * user_snapshot_write() - write what its rings hold, or held when it died. Returns 0 or -ENOMEM
 */
int user_snapshot_write(struct user_program *program, struct user_snapshot *snapshot);
/**
 * user_snapshot_oldest_ns() - approximate time of its oldest kept event; UINT64_MAX: there is none
 */
uint64_t user_snapshot_oldest_ns(struct user_program *program);
/** user_snapshot_reset() - drop what its rings hold */
void user_snapshot_reset(struct user_program *program);
/**
 * user_snapshot_drop() - drop the oldest part of what a dead program left
 * Returns the number of bytes released; 0: nothing is left.
 */
size_t user_snapshot_drop(struct user_program *program);
/** user_snapshot_saved() - the number of bytes that it left when it died */
size_t user_snapshot_saved(const struct user_program *program);
/** user_snapshot_get_counts() - the counts that remain when a dead program is removed */
void user_snapshot_get_counts(struct user_program *program, struct user_kept_counts *ret_counts);
#endif
