/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_STATE_CHILD_H
#define TRACER_STATE_CHILD_H
/*
 * state_child.h - reads the state of processes in a child, and takes its records
 *
 * SECURITY: the descriptors that a poll() waits for are in the memory of its process. A page of it
 * may be of a file that another user serves, and does not answer for (file_opener.h): the read of
 * such a page waits for ever. The child has the rights to read processes. If it says nothing for
 * STATE_ANSWER_NS, it is abandoned, and another one begins behind the process, which is skipped
 * from then on. The arguments in /proc/PID/cmdline need no child: the kernel reads no page of a
 * file for them (Linux 4.17).
 */
#include "start_state.h"

#define STATE_ANSWER_NS	    1000000000ull
#define STATE_MAX_ABANDONED 2 /* in one reading of the state */

/**
 * state_child_read() - call @walk in a child, and the receiver of @c here for each of its records
 * @walk: calls state_child_at() before each process; @first: the first one to visit. The child has
 *     copies, so the caller does not see what @walk changes.
 * The receiver of @c is called with a record of NULL while the child says nothing for a while.
 * Returns 0, what @walk or the receiver returned, or a negative errno
 */
int state_child_read(struct tracer_collector *c, int (*walk)(void *context, uint32_t first), void *context);

/** state_child_at() - in the child: the next process. Returns false: skip it */
bool state_child_at(struct tracer_collector *c, uint32_t tgid);

#endif
