/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LISTENER_H
#define DAEMON_LISTENER_H
/*
 * listener.h - a SOCK_SEQPACKET unix socket at a path that at most one daemon owns.
 *
 * The daemon that holds the lock file next to the socket owns the path, and may remove the socket
 * of a dead daemon. It never removes anything but a socket. If a service manager already listens at
 * the path, the daemon uses that socket, and leaves it there at its end.
 */
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <trace/error.h>

/** struct listener - @fd, @lock_fd: -1: none. @bound: this process bound the socket at @address */
struct listener {
	int fd;
	int lock_fd;
	bool bound;
	struct sockaddr_un address;
};

/** listener_address() - the address of a socket at @path; -ENAMETOOLONG */
int listener_address(const char *path, struct sockaddr_un *ret_address, struct trace_error *ret_error);

/**
 * listener_open() - listen at @path
 * @ret_listener: needs listener_close() after a failure too
 * @mode: the users that may connect. @backlog: how many connections may wait
 * @elsewhere: for the error message: the option with which the user names another path
 * Returns 0; -EADDRINUSE: a running daemon has the path; -EEXIST: the file there is no socket;
 * another negative errno
 */
int listener_open(struct listener *ret_listener, const char *path, mode_t mode, int backlog, const char *elsewhere,
		  struct trace_error *ret_error);

/**
 * listener_close() - stop listening, and remove the socket if this process bound it
 * The lock file stays. If it were removed, two daemons could lock two files of the same name.
 */
void listener_close(struct listener *listener);
#endif
