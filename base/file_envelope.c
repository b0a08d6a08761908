/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* file_envelope.c - a descriptor in the queue of a unix socket, unix(7). */
#include "file_envelope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail_child.h"

int file_envelope_new(int fd, int *ret_end)
{
	int sockets[2], err;
	char byte = 0;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) < 0)
		return -errno;
	if (jail_send(sockets[0], &byte, sizeof(byte), fd, MSG_DONTWAIT)) {
		*ret_end = sockets[0];
		return sockets[1];
	}
	err = -errno;
	close(sockets[0]);
	close(sockets[1]);
	return err;
}

/* An envelope sends nothing. */
bool file_envelope_is_closed(int end)
{
	char byte;
	struct iovec part = {&byte, sizeof(byte)};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	return recvmsg(end, &message, MSG_DONTWAIT) >= 0 || errno != EAGAIN;
}

bool file_envelope_is(int fd)
{
	struct statx status;

	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, &status) && S_ISSOCK(status.stx_mode);
}

int file_envelope_open(int fd)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {0};
	char byte;
	struct iovec part = {&byte, sizeof(byte)};
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int file;

	if (recvmsg(fd, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != sizeof(byte) ||
	    message.msg_controllen < CMSG_LEN(sizeof(file)) || control.head.cmsg_type != SCM_RIGHTS)
		return fd;
	memcpy(&file, CMSG_DATA(&control.head), sizeof(file));
	close(fd);
	return file;
}
