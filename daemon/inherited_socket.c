/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "inherited_socket.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_FD 3 /* as in sd_listen_fds(3) */

/* How many sockets the service manager has left to this process, and not to its parent. */
static int nr_inherited(void)
{
	const char *pid = getenv("LISTEN_PID"), *nr = getenv("LISTEN_FDS");

	return pid && nr && atol(pid) == getpid() ? atoi(nr) : 0;
}

static bool listens_at(int fd, const char *path)
{
	struct sockaddr_un address = {0};
	socklen_t length = sizeof(address) - 1; /* a path as long as the array has no NUL */
	int listens = 0, type = 0;
	socklen_t bytes = sizeof(int);

	return getsockname(fd, (struct sockaddr *)&address, &length) == 0 && address.sun_family == AF_UNIX &&
	       strcmp(address.sun_path, path) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) == 0 && listens &&
	       getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &bytes) == 0 && type == SOCK_SEQPACKET;
}

int inherited_socket(const char *path)
{
	int nr = nr_inherited();

	for (int fd = FIRST_FD; fd - FIRST_FD < nr; fd++) {
		if (!listens_at(fd, path))
			continue;
		fcntl(fd, F_SETFD, FD_CLOEXEC);
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
		return fd;
	}
	return -1;
}
