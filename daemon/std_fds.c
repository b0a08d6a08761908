/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "std_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * Using such a stream is an error, as for a closed one, because /dev/null is opened in the wrong
 * direction. A command that the daemon starts finds it closed (O_CLOEXEC).
 */
void std_fds_occupy(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			/* open() returns the lowest free number */
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_NOCTTY | O_CLOEXEC);
}
