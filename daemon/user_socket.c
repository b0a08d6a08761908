/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <trace/user_memory.h>
#include <unistd.h>

#include "listener.h"
#include "offer_child.h"
#include "format_text.h"
#include "user_find.h"

/* a program that finds the backlog full does not wait, and a fork storm connects all at once */
#define USER_SOCKET_BACKLOG 4096
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77 /* Linux 6.5 */
#endif

struct user_socket {
	struct listener listener;
};

/* ---- the path ---- */

/*
 * Creates the daemon's directory, in which no other user may create a socket. All users may enter
 * root's.
 */
static int make_directory(const char *path, mode_t mode, struct trace_error *ret_error)
{
	struct stat status;
	int fd;

	if (mkdir(path, mode) < 0 && errno != EEXIST)
		return error_set(ret_error, -errno, "cannot create %s: %s", path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_set(ret_error, -errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &status) < 0 || status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH)) {
		close(fd);
		return error_set(ret_error, -EPERM, "%s is not a directory that only this user can write to", path);
	}
	/* because of the umask, or made by an older version */
	if ((status.st_mode & 0777) != mode && fchmod(fd, mode) < 0) {
		close(fd);
		return error_set(ret_error, -errno, "cannot change the mode of %s: %s", path, strerror(errno));
	}
	close(fd);
	return 0;
}

/* The path of the socket. $TRACER_SOCKET is used as it is: the user chose its directory. */
static int find_socket_path(char path[static PATH_MAX], struct trace_error *ret_error)
{
	const char *chosen = getenv("TRACER_SOCKET"), *run = getenv("XDG_RUNTIME_DIR");
	char *name;

	if (chosen && *chosen) {
		snprintf(path, PATH_MAX, "%s", chosen);
		return 0;
	}
	if (geteuid() == 0)
		snprintf(path, PATH_MAX, "%s", USER_SOCKET_ROOT);
	else if (run && *run == '/')
		snprintf(path, PATH_MAX, "%s/%s", run, USER_SOCKET_NAME);
	else
		snprintf(path, PATH_MAX, USER_SOCKET_TMP, (unsigned int)geteuid());
	name = strrchr(path, '/');
	*name = '\0';
	if (make_directory(path, geteuid() == 0 ? 0755 : 0700, ret_error))
		return ret_error->code;
	*name = '/';
	return 0;
}

/* The backlog, limited by the system. */
size_t user_socket_backlog(void)
{
	FILE *file = fopen("/proc/sys/net/core/somaxconn", "re");
	unsigned int most = USER_SOCKET_BACKLOG;

	if (file && fscanf(file, "%u", &most) != 1)
		most = USER_SOCKET_BACKLOG;
	if (file)
		fclose(file);
	return most < USER_SOCKET_BACKLOG ? most : USER_SOCKET_BACKLOG;
}

struct user_socket *user_socket_listen(struct trace_error *ret_error)
{
	struct user_socket *sock = calloc(1, sizeof(*sock));
	char path[PATH_MAX];

	if (!sock) {
		error_set(ret_error, -ENOMEM, "no memory for a socket");
		return NULL;
	}
	sock->listener = (struct listener){.fd = -1, .lock_fd = -1};
	/* All users may connect to root's socket; the kernel reports the peer. */
	if (find_socket_path(path, ret_error) ||
	    listener_open(&sock->listener, path, geteuid() == 0 ? 0666 : 0600, USER_SOCKET_BACKLOG,
			  "TRACER_SOCKET=PATH, also for the programs", ret_error))
		return user_socket_close(sock);
	return sock;
}

struct user_socket *user_socket_close(struct user_socket *sock)
{
	if (!sock)
		return NULL;
	listener_close(&sock->listener);
	free(sock);
	return NULL;
}

int user_socket_fd(const struct user_socket *sock)
{
	return sock->listener.fd;
}

pid_t user_socket_owner(void)
{
	struct sockaddr_un address;
	struct ucred peer = {0, 0, 0};
	socklen_t bytes = sizeof(peer);
	char path[PATH_MAX];
	struct trace_error error;
	int fd = -1;

	if (find_socket_path(path, &error) == 0 && listener_address(path, &address, &error) == 0)
		fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return 0;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		peer.pid = 0;
	close(fd);
	return peer.pid;
}

int user_socket_accept(struct user_socket *sock)
{
	int fd = accept4(sock->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	return fd >= 0 ? fd : -errno;
}

uid_t user_socket_peer(int connection)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0 ? (uid_t)-1 : peer.uid;
}

/* ---- an offer ---- */

/*
 * Gets a pidfd of the process that connected. Kernels before 6.5 have none, so the pid may have
 * been reused. If the pid now belongs to another user, it was reused; otherwise the daemon cannot
 * find out. Returns false if the process is gone.
 */
static bool find_peer(int connection, const struct ucred *peer, int *ret_pid_fd)
{
	socklen_t bytes = sizeof(*ret_pid_fd);
	uid_t uid;
	gid_t gid;

	*ret_pid_fd = -1;
	if (getsockopt(connection, SOL_SOCKET, SO_PEERPIDFD, ret_pid_fd, &bytes) == 0)
		return true;
	*ret_pid_fd = -1;
	if (errno == ENOPROTOOPT)
		return user_find_owner(peer->pid, &uid, &gid) && uid == peer->uid;
	return errno == EMFILE || errno == ENFILE || errno == ENOMEM;
}

/*
 * SECURITY: the identity is the one at the time of the connection. Neither the program's own claims
 * nor later changes count. A pid of 0 is a process outside the daemon's pid namespace.
 */
static void identify(int connection, const struct ucred *peer, struct user_identity *ret_identity)
{
	*ret_identity = (struct user_identity){.pid = peer->pid, .uid = peer->uid, .gid = peer->gid};
	if (find_peer(connection, peer, &ret_identity->pid_fd))
		user_find_identity(ret_identity);
	else
		ret_identity->gone = true;
}

int user_socket_receive(int connection, struct user_identity *ret_identity)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	bool is_permitted;
	int fd;

	if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) < 0)
		return -errno;
	is_permitted = peer.pid > 0 && (geteuid() == 0 || peer.uid == geteuid());
	fd = offer_child_receive(connection, peer.pid);
	/* the program may report that it has no memory; without an identity the loss has no name */
	if (is_permitted && (fd >= 0 || fd == -ENOMEM || fd == -ETIMEDOUT))
		identify(connection, &peer, ret_identity);
	if (fd < 0 || is_permitted)
		return fd;
	close(fd);
	return -EPERM;
}
