/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_STD_FDS_H
#define DAEMON_STD_FDS_H
/* std_fds.h - stdin, stdout and stderr, which whoever starts us may have closed. */

/**
 * streams_occupy() - put something in the place of those that are closed, before anything else is opened
 * Otherwise files of ours would have their numbers: messages would be written into them, and --background would put /dev/null over them.
 */
void streams_occupy(void);
#endif
