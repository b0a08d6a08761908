/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_BACKGROUND_H
#define DAEMON_BACKGROUND_H
/* background.h - detach from the terminal, but only when recording works. */

/**
 * background_start() - fork; the parent waits for background_ready() and exits with 0, or for the
 * child's end and exits with its status
 * Returns in the child: the descriptor for background_ready(), or a negative errno if the fork
 * failed.
 */
int background_start(void);

/**
 * background_ready() - let the parent exit and detach from the terminal; from now on messages go to
 * the system log
 */
void background_ready(int ready_fd);
#endif
