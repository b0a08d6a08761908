/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_KEPT_H
#define DAEMON_USER_KEPT_H
/*
 * user_kept.h - one ring of a program, as a flight recorder sees it: the latest records stay where they are until somebody asks for them.
 *
 * While the program lives they are read out of its memory, which it goes on writing; when it has died they are taken out of it once, and kept here.
 * How many were overwritten, and before which of those that are left, the ring tells (subbuf_records_before()); so nobody has to look at it meanwhile.
 * Programs with a libtracer that cannot overwrite keep their oldest records instead, until they are asked for.
 *
 * Nothing in the ring is believed, as in drain.h. One thread.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/subbuf.h>

#include "user_clock.h"

struct user_kept;

/**
 * struct user_kept_source - @fd: of the memory, borrowed, and @offset of the ring in it. @overwrites: its writers do. @whole: all that is in it counts,
 * and happened since @start_ns
 * @patience: as for user_kept_reset(), if not @whole
 */
struct user_kept_source {
	struct subbuf_ring ring;
	int fd;
	off_t offset;
	uint64_t start_ns;
	bool overwrites;
	bool whole;
	int *patience;
};

/** user_kept_new() - NULL: no memory */
struct user_kept *user_kept_new(const struct user_kept_source *source);
struct user_kept *user_kept_free(struct user_kept *kept); /* NULL is fine; returns NULL */

/**
 * user_kept_reset() - what is in it now does not count any more
 * @patience: how many ms writers inside may be waited for, here and below: one for all rings of all programs, which a program can use up once. Then
 * what is not complete counts as unfinished.
 */
void user_kept_reset(struct user_kept *kept, int *patience);

/** user_kept_save() - the program is dead, and its memory goes: take all it left. Returns the bytes that this takes */
size_t user_kept_save(struct user_kept *kept);

/** user_kept_drop() - of what was saved the oldest part goes. Returns how many bytes that gives back; 0: nothing is left */
size_t user_kept_drop(struct user_kept *kept);

/**
 * struct user_kept_books - @lost: of a ring: no room, or never finished, or cannot be read while somebody is writing there
 * @overwritten: were there and are not any more
 */
struct user_kept_books {
	uint64_t lost;
	uint64_t overwritten;
};

/**
 * user_kept_read() - what it holds, oldest first
 * @take: is given a copy of each sub-buffer, behind USER_KEPT_ROOM bytes that are free, with the number of its records, and how many were lost or
 * overwritten before it. Returns 0; or -ENOMEM, or what @take returned if that is not 0.
 */
#define USER_KEPT_ROOM 2048
int user_kept_read(struct user_kept *kept, int (*take)(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total), void *context,
		   struct user_kept_books *ret_books, int *patience);

/** user_kept_pairs() - what the program says of the clocks: at most @max pairs, in the order of the sub-buffers. Returns how many */
size_t user_kept_pairs(const struct user_kept *kept, struct user_clock_knot *pairs, size_t max);

/** user_kept_oldest() - when the oldest sub-buffer was opened, in the ring's own time, and in ns if known (else 0). False: there is none */
bool user_kept_oldest(const struct user_kept *kept, struct user_clock_knot *ret_oldest);

/** user_kept_is_broken() - did the program write what no writer of records does? */
bool user_kept_is_broken(const struct user_kept *kept);
/** user_kept_is_doubted() - do its counters say what no program can have counted? */
bool user_kept_is_doubted(const struct user_kept *kept);
#endif
