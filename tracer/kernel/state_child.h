/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_STATE_CHILD_H
#define TRACER_STATE_CHILD_H
/*
 * state_child.h - reads the state of processes in a child, and takes its records
 *
 * SECURITY: the descriptors that a poll() waits for are in the memory of its process. A page of it
 * may be of a file that another user serves, and does not answer for (file_opener.h): the read of
 * such a page waits for ever. The same holds for /proc/PID/cmdline and for the iterators over
 * mappings: the kernel takes the lock of the mappings for them (file_opener.h). The child has the
 * rights to read processes. If it says nothing for STATE_ANSWER_NS, it is abandoned, and another
 * one begins behind the process, which is skipped from then on. The processes of a user with
 * FILE_MAX_UNANSWERED of them are skipped without a wait, so the users of the others lose nothing.
 */
#include "jail_child.h"
#include "start_state.h"

#define STATE_ANSWER_NS	    1000000000ull
#define STATE_MAX_ABANDONED 32 /* in one reading of the state, of all users */

/**
 * state_child_read() - call @walk in a child, and the receiver of @c here for each of its records
 * @walk: calls state_child_at() before each process; @first: the first one to visit. The child has
 *     copies, so the caller does not see what @walk changes.
 * The receiver of @c is called with a record of NULL while the child says nothing for a while.
 * Returns 0, what @walk or the receiver returned, or a negative errno
 */
int state_child_read(struct tracer_collector *c, int (*walk)(void *context, uint32_t first), void *context);

/**
 * state_child_await() - the next packet of a child of @c; the receiver of @c is called as above
 * Returns as jail_answer()
 */
ssize_t state_child_await(struct tracer_collector *c, const struct jail_child *child, void *packet, size_t room);

/** state_child_at() - in the child: the next process. Returns false: skip it */
bool state_child_at(struct tracer_collector *c, uint32_t tgid);

#endif
