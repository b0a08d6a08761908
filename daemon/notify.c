/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void notify_manager(const char *message)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path ? strlen(path) : 0;
	int fd;

	if (length < 2 || length >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(address.sun_path, path, length);
	if (*path == '@') /* a name in the abstract namespace begins with NUL */
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return;
	sendto(fd, message, strlen(message), MSG_NOSIGNAL, (const struct sockaddr *)&address,
	       (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
	close(fd);
}
