/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_KEEP_SHRINK_H
#define DAEMON_KEEP_SHRINK_H
/*
 * keep_shrink.h - compress kept chunks once more, with idle CPU time
 *
 *	keep --give--> slots --thread--> slots --take--> keep
 *
 * The thread has the policy SCHED_IDLE, and takes at most a twentieth of one CPU. So it may stand
 * still for seconds at any instruction, and no thread may wait for it: it takes no mutex, and frees
 * no memory that another thread allocated. Its partner is the thread that calls keep_take(): both
 * share a ring of slots, with one writer for each count.
 */
#include <stdbool.h>

struct keep_shrink;
struct kept_chunk;

struct keep_shrink *keep_shrink_new(void);			  /* NULL: no thread, or no memory */
struct keep_shrink *keep_shrink_free(struct keep_shrink *shrink); /* NULL is fine; returns NULL */

/**
 * keep_shrink_give() - the thread is to compress @chunk, and becomes one of its users
 * Returns false when all slots are in use, or there is no memory.
 */
bool keep_shrink_give(struct keep_shrink *shrink, struct kept_chunk *chunk);

/**
 * keep_shrink_take() - the next chunk that is done; false: none is
 * @ret_chunk: as it was given. @ret_shorter: the same events; NULL: it is no shorter. The caller
 *     becomes the user of both
 */
bool keep_shrink_take(struct keep_shrink *shrink, struct kept_chunk **ret_chunk, struct kept_chunk **ret_shorter);
#endif
