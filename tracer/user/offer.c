/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * offer.c - offer our memory to the daemons that listen
 *
 * If a daemon is too busy, the offer is repeated for some ms; after that memory.c
 * repeats it from time to time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "user.h"

/* The path of the @n-th socket; false after the last. */
static bool socket_path(unsigned int n, char *path, size_t bytes)
{
	const char *other = secure_getenv("TRACER_SOCKET"), *runtime = secure_getenv("XDG_RUNTIME_DIR");
	int length;

	if (other && *other)
		length = n == 0 ? snprintf(path, bytes, "%s", other) : -1;
	else if (n == 0)
		length = snprintf(path, bytes, "%s", USER_SOCKET_ROOT);
	else if (n == 1 && runtime && *runtime == '/')
		length = snprintf(path, bytes, "%s/%s", runtime, USER_SOCKET_NAME);
	else if (n == 1)
		length = snprintf(path, bytes, USER_SOCKET_TMP, (unsigned int)geteuid());
	else
		return false;
	if (length >= (int)bytes)
		*path = '\0'; /* too long for a socket */
	return length >= 0;
}

/* A filter (seccomp) or a kernel without such sockets refuses the call. That does not end later. */
static bool is_refused(int error)
{
	return error == EPERM || error == EACCES || error == ENOSYS || error == EAFNOSUPPORT;
}

/* Connect to the @n-th possible daemon. Returns a socket; -ENOENT after the last; -EAGAIN if a
 * daemon may listen but could not be reached; another negative number if no trusted daemon
 * listens. */
static int connect_to(unsigned int n)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct ucred peer = {0, (uid_t)-1, (gid_t)-1};
	socklen_t bytes = sizeof(peer);
	int fd;

	if (!socket_path(n, address.sun_path, sizeof(address.sun_path)))
		return -ENOENT;
	if (!*address.sun_path)
		return -EINVAL;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) /* no descriptor, no memory: a daemon may be listening */
		return is_refused(errno) ? -ECONNREFUSED : -EAGAIN;
	errno = 0;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 || (peer.uid != 0 && peer.uid != geteuid())) {
		bool is_full = errno == EAGAIN || errno == EINTR || errno == ENOBUFS || errno == ENOMEM;

		close(fd);
		return is_full ? -EAGAIN : -ECONNREFUSED;
	}
	return fd;
}

static bool send_offer(int socket, int memory_fd)
{
	struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, (uint32_t)getpid()};
	struct iovec vector = {&offer, sizeof(offer)};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &vector,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};

	if (memory_fd < 0) {
		message.msg_control = NULL;
		message.msg_controllen = 0;
	}
	control.header.cmsg_level = SOL_SOCKET;
	control.header.cmsg_type = SCM_RIGHTS;
	control.header.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.header), &memory_fd, sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)sizeof(offer);
}

enum user_offer_result user_offer(int memory_fd, int tries)
{
	const struct timespec nap = {0, 500000};
	enum user_offer_result result = USER_NO_DAEMON;
	bool is_unsent = false; /* to a daemon that may take it later */

	for (unsigned int n = 0;; n++) {
		int fd = connect_to(n);

		for (int i = 1; i < tries && fd == -EAGAIN; i++) {
			clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
			fd = connect_to(n);
		}
		if (fd == -ENOENT)
			return result == USER_NO_DAEMON && is_unsent ? USER_NOT_SENT : result;
		if (fd >= 0) {
			bool sent = send_offer(fd, memory_fd);

			/* A queue is full, or too many descriptors are in flight. */
			for (int i = 1; i < tries && !sent && errno != EPIPE && errno != EBADF && !is_refused(errno);
			     i++) {
				clock_nanosleep(CLOCK_MONOTONIC, 0, &nap, NULL);
				sent = send_offer(fd, memory_fd);
			}
			is_unsent |= !sent && !is_refused(errno);
			close(fd);
			if (sent)
				result = USER_SENT;
		} else if (fd == -EAGAIN) {
			is_unsent = true;
		}
	}
}
