/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "std_fds.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* To use one is an error all the same, as it is when it is closed: /dev/null the wrong way round. A command that we start finds it closed, too. */
void streams_occupy(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_NOCTTY | O_CLOEXEC); /* the lowest number that is free */
}
