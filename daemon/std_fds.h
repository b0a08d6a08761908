/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_STD_FDS_H
#define DAEMON_STD_FDS_H
/* std_fds.h - stdin, stdout and stderr, if the daemon's parent closed some of them */

/**
 * std_fds_occupy() - open something in place of closed standard streams, before anything else is
 * opened
 * Otherwise a file of the daemon could get such a number. Then messages would be written into it,
 * and --background would replace it by /dev/null.
 */
void std_fds_occupy(void);
#endif
