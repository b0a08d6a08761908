/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LISTENER_H
#define DAEMON_LISTENER_H
/*
 * listener.h - a SOCK_SEQPACKET unix socket at a path of which no more than one daemon at a time is the owner.
 *
 * Whoever holds the lock beside the socket owns its path, and may remove the socket that a dead daemon left; nothing but a socket is ever removed.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <trace/error.h>

/** struct listener - @fd, @lock_fd: -1 = none. @bound: the socket at @address is ours */
struct listener {
	int fd;
	int lock_fd;
	bool bound;
	struct sockaddr_un address;
};

/** listener_address() - of a socket at @path; -ENAMETOOLONG */
int listener_address(const char *path, struct sockaddr_un *ret_address, struct trace_error *ret_error);

/**
 * listener_open() - listen at @path
 * @ret_listener: needs listener_close() also after a failure
 * @mode: who may connect; @backlog: how many may wait; @elsewhere: for the error: by what the user names another place
 * Returns 0; -EADDRINUSE: another daemon that runs has it; -EEXIST: what stands there is no socket; another negative errno
 */
int listener_open(struct listener *ret_listener, const char *path, mode_t mode, int backlog, const char *elsewhere, struct trace_error *ret_error);

/** listener_close() - stop listening, and remove the socket if it is ours. The lock file stays: removing it would let two daemons lock two of one name. */
void listener_close(struct listener *listener);
#endif
