/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_BACKGROUND_H
#define DAEMON_BACKGROUND_H
/* background.h - leave the terminal, but not before it is known that recording works. */

/**
 * background_start() - fork; the parent stays until background_ready() or the child's end, and exits with 0 or its status
 * Returns in the child: the descriptor for background_ready(); negative errno when it could not fork.
 */
int background_start(void);

/** background_ready() - let the parent go and drop the terminal; messages go to the system's log from now on */
void background_ready(int ready_fd);
#endif
