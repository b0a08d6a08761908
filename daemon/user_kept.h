/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_KEPT_H
#define DAEMON_USER_KEPT_H
/*
 * user_kept.h - one ring of a program in a flight recorder: the latest records stay in the ring
 * until a snapshot
 *
 * While the program lives, a snapshot copies the records out of its memory, and the program
 * continues to write there. When the program dies, user_kept_save() copies them once and keeps the
 * copy.
 * The ring itself counts the overwritten records and before which of the remaining ones they were:
 * subbuf_records_before(). So the daemon need not read the ring between snapshots.
 * A program with a libtracer that cannot overwrite keeps its oldest records until a snapshot.
 *
 * No value in the ring is trusted, as in drain.h. One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/subbuf.h>

#include "user_clock.h"

struct user_kept;

/**
 * struct user_kept_source - the ring to read
 * @fd: of the program's memory, borrowed. @offset: of the ring in it
 * @start_ns: everything in the ring happened after this, if @count_all
 * @overwrites: its writers can overwrite
 * @count_all: everything in the ring counts; otherwise only what comes later
 * @patience: as for user_kept_reset(), if not @count_all
 */
struct user_kept_source {
	struct subbuf_ring ring;
	int fd;
	off_t offset;
	uint64_t start_ns;
	bool overwrites;
	bool count_all;
	int *patience;
};

/** user_kept_new() - returns NULL without memory */
struct user_kept *user_kept_new(const struct user_kept_source *source);
struct user_kept *user_kept_free(struct user_kept *kept); /* NULL is fine; returns NULL */

/**
 * user_kept_reset() - drop what the ring holds now
 * @patience: ms to wait for writers inside a sub-buffer, here and below. All rings of all programs
 * share it, so a program can use it up once. After that incomplete sub-buffers count as unfinished.
 */
void user_kept_reset(struct user_kept *kept, int *patience);

/**
 * user_kept_save() - copy everything that a dead program left, before its memory is released
 * Returns the number of bytes allocated.
 */
size_t user_kept_save(struct user_kept *kept);

/**
 * user_kept_drop() - release the oldest saved sub-buffer. Returns the bytes released; 0: nothing is
 * left
 */
size_t user_kept_drop(struct user_kept *kept);

/**
 * struct user_kept_counts - the losses of a ring
 * @lost: events that were discarded, never finished, or unreadable because a writer is inside
 * @claimed: the part of @lost that only the program counted
 * @overwritten: records that were in the ring and have been overwritten
 */
struct user_kept_counts {
	uint64_t lost;
	uint64_t claimed;
	uint64_t overwritten;
};

/**
 * user_kept_read() - deliver what the ring holds, oldest first
 * @take: receives a copy of each sub-buffer with USER_KEPT_ROOM free bytes before it, the number of
 * its records, and the total of events lost or overwritten before it
 * Returns 0; -ENOMEM; or the first result of @take that is not 0.
 */
#define USER_KEPT_ROOM 2048
int user_kept_read(struct user_kept *kept,
		   int (*take)(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total),
		   void *context, struct user_kept_counts *ret_counts, int *patience);

/**
 * user_kept_pairs() - the clock pairs that the program noted, at most @max, in the order of the
 * sub-buffers
 * Returns how many.
 */
size_t user_kept_pairs(const struct user_kept *kept, struct user_clock_knot *pairs, size_t max);

/**
 * user_kept_oldest() - when the oldest sub-buffer was opened: in the ring's clock, and in ns or 0
 * if not known
 * Returns false if the ring holds none.
 */
bool user_kept_oldest(const struct user_kept *kept, struct user_clock_knot *ret_oldest);

/** user_kept_is_broken() - did the program write something that libtracer never writes? */
bool user_kept_is_broken(const struct user_kept *kept);
/** user_kept_is_distrusted() - do its counters hold impossible numbers? */
bool user_kept_is_distrusted(const struct user_kept *kept);
#endif
