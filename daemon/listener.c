/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include "format_text.h"
#include "inherited_socket.h"

int listener_address(const char *path, struct sockaddr_un *ret_address, struct trace_error *ret_error)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return error_set(ret_error, -ENAMETOOLONG, "%.60s...: the path of a socket has at most %zu characters",
				 path, sizeof(address.sun_path) - 1);
	memcpy(address.sun_path, path, strlen(path));
	*ret_address = address;
	return 0;
}

/* A mistyped path must not delete a file. */
static int check_path(const char *path, const char *elsewhere, struct trace_error *ret_error)
{
	struct stat status;

	if (lstat(path, &status) == 0 && !S_ISSOCK(status.st_mode))
		return error_set(ret_error, -EEXIST,
				 "%s is not a socket and is not replaced; choose another path with %s", path,
				 elsewhere);
	return 0;
}

static int take_lock(struct listener *listener, const char *elsewhere, struct trace_error *ret_error)
{
	char path[sizeof(listener->address.sun_path) + sizeof(".lock")];
	int err;

	snprintf(path, sizeof(path), "%s.lock", listener->address.sun_path);
	listener->lock_fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);
	if (listener->lock_fd < 0)
		return error_set(ret_error, -errno, "cannot create %s: %s", path, strerror(errno));
	if (flock(listener->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		err = errno == EWOULDBLOCK ? -EADDRINUSE : -errno;
		return error_set(ret_error, err, "%s belongs to another daemon that runs; choose another path with %s",
				 listener->address.sun_path, elsewhere);
	}
	return 0;
}

static int bind_socket(struct listener *listener, mode_t mode, int backlog, struct trace_error *ret_error)
{
	const char *path = listener->address.sun_path;
	mode_t mask;

	listener->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (listener->fd < 0)
		return error_set(ret_error, -errno, "cannot make a socket: %s", strerror(errno));
	unlink(path); /* of a dead daemon: this process holds the lock */
	mask = umask(~mode & 0777);
	listener->bound = bind(listener->fd, (const struct sockaddr *)&listener->address, sizeof(listener->address)) ==
			  0;
	umask(mask);
	if (!listener->bound || listen(listener->fd, backlog) < 0)
		return error_set(ret_error, -errno, "cannot listen on %s: %s", path, strerror(errno));
	return 0;
}

int listener_open(struct listener *ret_listener, const char *path, mode_t mode, int backlog, const char *elsewhere,
		  struct trace_error *ret_error)
{
	int err;

	*ret_listener = (struct listener){.fd = -1, .lock_fd = -1};
	err = listener_address(path, &ret_listener->address, ret_error);
	if (!err)
		err = check_path(path, elsewhere, ret_error);
	if (!err)
		err = take_lock(ret_listener, elsewhere, ret_error);
	if (err)
		return err;
	ret_listener->fd = inherited_socket(path);
	return ret_listener->fd >= 0 ? 0 : bind_socket(ret_listener, mode, backlog, ret_error);
}

void listener_close(struct listener *listener)
{
	if (listener->bound)
		unlink(listener->address.sun_path);
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->lock_fd >= 0)
		close(listener->lock_fd);
}
