/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SCM_RIGHTS_H
#define DAEMON_SCM_RIGHTS_H
/* scm_rights.h - descriptors received with a message */
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/**
 * scm_rights_take() - the first descriptor received with @message, the caller's; -1: none. Closes
 * all others
 */
static inline int scm_rights_take(struct msghdr *message)
{
	int found = -1, fd;

	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
		if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t i = 0; i < (part->cmsg_len - CMSG_LEN(0)) / sizeof(int); i++) {
			memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(fd));
			if (found < 0)
				found = fd;
			else
				close(fd);
		}
	}
	return found;
}
#endif
