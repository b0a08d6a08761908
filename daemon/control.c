/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "listener.h"
#include "read_end.h"
#include "scm_rights.h"
#include "seqpacket.h"
#include "format_text.h"

#define CONTROL_BACKLOG 8

/**
 * struct control - @spare_fd: owned; used to accept and refuse a client when no other descriptor is
 * left; -1: none
 */
struct control {
	struct listener listener;
	int spare_fd;
};

void control_default_path(char path[static CONTROL_PATH_BYTES])
{
	const char *run = getenv("XDG_RUNTIME_DIR");

	if (geteuid() == 0)
		snprintf(path, CONTROL_PATH_BYTES, "%s", CONTROL_ROOT_PATH);
	else if (run && *run == '/')
		snprintf(path, CONTROL_PATH_BYTES, "%.*s/tracedaemon/control", CONTROL_PATH_BYTES - 32, run);
	else
		snprintf(path, CONTROL_PATH_BYTES, "/tmp/tracedaemon-%u/control", (unsigned int)geteuid());
}

/* ---- the daemon's end ---- */

/*
 * Only the daemon's user may write to the directory of @path. Otherwise another user could replace
 * the socket.
 */
static int make_directory(const char *path, struct trace_error *ret_error)
{
	int length = (int)(strrchr(path, '/') - path);
	char directory[CONTROL_PATH_BYTES];
	struct stat status;

	snprintf(directory, sizeof(directory), "%.*s", length, path);
	if (mkdir(directory, geteuid() == 0 ? 0755 : 0700) < 0 && errno != EEXIST)
		return error_set(ret_error, -errno, "cannot create %s: %s", directory, strerror(errno));
	if (lstat(directory, &status) < 0)
		return error_set(ret_error, -errno, "cannot stat %s: %s", directory, strerror(errno));
	if (!S_ISDIR(status.st_mode) || status.st_uid != geteuid() || status.st_mode & (S_IWGRP | S_IWOTH))
		return error_set(ret_error, -EPERM, "%s is not a directory that only this user can write to",
				 directory);
	return 0;
}

static int open_spare_descriptor(void)
{
	return open("/dev/null", O_RDONLY | O_NOCTTY | O_CLOEXEC);
}

static struct control *listen_on(const char *path, struct trace_error *ret_error)
{
	struct control *control = calloc(1, sizeof(*control));

	if (!control) {
		error_set(ret_error, -ENOMEM, "no memory for the control socket");
		return NULL;
	}
	control->spare_fd = open_spare_descriptor();
	if (listener_open(&control->listener, path, 0600, CONTROL_BACKLOG, "--control PATH", ret_error))
		return control_close(control);
	return control;
}

struct control *control_listen(const char *path, struct trace_error *ret_error)
{
	char usual[CONTROL_PATH_BYTES], own[CONTROL_PATH_BYTES + 16];
	struct control *control;

	if (path)
		return listen_on(path, ret_error);
	control_default_path(usual);
	if (make_directory(usual, ret_error))
		return NULL;
	control = listen_on(usual, ret_error);
	if (control || ret_error->code != -EADDRINUSE)
		return control;
	snprintf(own, sizeof(own), "%s-%d", usual, (int)getpid());
	return listen_on(own, ret_error);
}

/* The lock file of a path with this daemon's pid goes too: no other daemon will lock it. */
struct control *control_close(struct control *control)
{
	char lock_path[sizeof(control->listener.address.sun_path) + sizeof(".lock")], usual[CONTROL_PATH_BYTES + 1];

	if (!control)
		return NULL;
	control_default_path(usual);
	strcat(usual, "-");
	if (control->listener.bound && !strncmp(control_path(control), usual, strlen(usual))) {
		snprintf(lock_path, sizeof(lock_path), "%s.lock", control_path(control));
		unlink(lock_path);
	}
	listener_close(&control->listener);
	if (control->spare_fd >= 0)
		close(control->spare_fd);
	free(control);
	return NULL;
}

int control_fd(const struct control *control)
{
	return control->listener.fd;
}

const char *control_path(const struct control *control)
{
	return control->listener.address.sun_path;
}

void control_print_option(const struct control *control, char option[static CONTROL_OPTION_BYTES])
{
	char usual[CONTROL_PATH_BYTES], word[CONTROL_OPTION_BYTES - 16];
	const char *path = control ? control_path(control) : NULL;

	control_default_path(usual);
	*option = '\0';
	if (path && strcmp(path, usual) && text_shell(path, word, sizeof(word)))
		snprintf(option, CONTROL_OPTION_BYTES, " --control %s", word);
}

static int accept_client(struct control *control)
{
	return accept4(control->listener.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/*
 * Refuse the client: while it waits in the backlog, the socket stays readable and wakes the daemon.
 */
static void refuse_client(struct control *control)
{
	int fd;

	if (control->spare_fd >= 0)
		close(control->spare_fd);
	fd = accept_client(control);
	if (fd >= 0) {
		control_answer(fd, -EMFILE, "the daemon has no free file descriptor for the connection; try again");
		close(fd);
	}
	control->spare_fd = open_spare_descriptor();
}

int control_accept(struct control *control)
{
	int fd = accept_client(control);
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	if (fd < 0) {
		if (errno == EMFILE || errno == ENFILE)
			refuse_client(control);
		return -1;
	}
	/*
	 * SECURITY: the socket's mode already keeps other users out. This check also covers a
	 * --control path in a directory that other users can write to.
	 */
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && (peer.uid == 0 || peer.uid == geteuid()))
		return fd;
	control_answer(fd, -EPERM, "only root and the user of this daemon may control it");
	close(fd);
	return -1;
}

static void split_request(struct control_request *request, size_t bytes)
{
	char *blank;

	request->line[bytes] = '\0';
	request->line[strcspn(request->line, "\r\n")] = '\0';
	blank = strchr(request->line, ' ');
	request->verb = request->line;
	request->argument = blank ? blank + 1 : "";
	if (blank)
		*blank = '\0';
}

int control_receive(int client_fd, struct control_request *ret_request)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(4 * sizeof(int))];
	} ancillary;
	struct iovec text = {ret_request->line, sizeof(ret_request->line) - 1};
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = &ancillary, .msg_controllen = sizeof(ancillary)};
	ssize_t bytes = seqpacket_receive(client_fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (bytes < 0)
		return -errno;
	ret_request->file_fd = scm_rights_take(&message);
	if (ret_request->file_fd < 0 && message.msg_flags & MSG_CTRUNC)
		return -EMFILE;
	if (bytes == 0) {
		if (ret_request->file_fd >= 0)
			close(ret_request->file_fd);
		return -ECONNRESET;
	}
	split_request(ret_request, (size_t)bytes);
	return 0;
}

static ssize_t send_answer(int client_fd, const char *answer, int bytes)
{
	return send(client_fd, answer, (size_t)bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/*
 * A message is sent completely or not at all. A short one still fits if net.core.wmem_default is
 * small or memory is short.
 */
void control_answer(int client_fd, int err, const char *text)
{
	char answer[CONTROL_ANSWER_BYTES];
	int bytes = snprintf(answer, sizeof(answer), "%s\n%s", err ? "error" : "ok", text);

	if (bytes >= (int)sizeof(answer))
		bytes = sizeof(answer) - 1;
	if (send_answer(client_fd, answer, bytes) < 0)
		send_answer(client_fd, answer,
			    snprintf(answer, sizeof(answer), "error\ncannot send the answer (%d bytes): %s", bytes,
				     strerror(errno)));
}

/* ---- the user's end ---- */

static int connect_to(const char *path, struct trace_error *ret_error)
{
	struct sockaddr_un address;
	int fd, err = listener_address(path, &address, ret_error);

	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(ret_error, -errno, "cannot make a socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	err = -errno;
	close(fd);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return error_set(
			ret_error, err,
			"no tracedaemon is running on %s; start tracedaemon first, or give its socket: --control PATH",
			path);
	return error_set(ret_error, err, "cannot reach the daemon at %s: %s%s", path, strerror(-err),
			 err == -EACCES ? "; this needs root" : "");
}

static int send_request(int fd, const char *line, int file_fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} ancillary;
	struct iovec text = {(void *)line, strlen(line)};
	struct msghdr message = {.msg_iov = &text, .msg_iovlen = 1};

	if (file_fd >= 0) {
		memset(&ancillary, 0, sizeof(ancillary));
		ancillary.header.cmsg_level = SOL_SOCKET;
		ancillary.header.cmsg_type = SCM_RIGHTS;
		ancillary.header.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&ancillary.header), &file_fd, sizeof(file_fd));
		message.msg_control = &ancillary;
		message.msg_controllen = sizeof(ancillary);
	}
	return sendmsg(fd, &message, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static int read_answer(int fd, char *answer, struct trace_error *ret_error)
{
	struct iovec room = {answer, CONTROL_ANSWER_BYTES - 1};
	struct msghdr message = {.msg_iov = &room, .msg_iovlen = 1};
	ssize_t bytes = seqpacket_receive(fd, &message, 0);
	char *text;

	if (bytes <= 0)
		return error_set(ret_error, -ECONNRESET, "the daemon ended before it answered%s%s",
				 bytes < 0 ? ": " : "", bytes < 0 ? strerror(errno) : "");
	answer[bytes] = '\0';
	text = strchr(answer, '\n');
	if (strncmp(answer, "ok\n", 3))
		return error_set(ret_error, -EREMOTEIO, "%s", text ? text + 1 : answer);
	memmove(answer, text + 1, strlen(text + 1) + 1);
	return 0;
}

/*
 * SECURITY: another user may have created the socket at a path under /tmp. That user must not get
 * the file passed with the request.
 */
static bool is_trusted(int fd)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && (peer.uid == 0 || peer.uid == geteuid());
}

/* The socket of a further daemon: the usual name, "-", and its pid. */
static bool is_other(const char *name, const char *usual)
{
	size_t length = strlen(usual), whole = strlen(name);

	return strncmp(name, usual, length) == 0 && name[length] == '-' && name[whole - 1] >= '0' &&
	       name[whole - 1] <= '9';
}

/* glob() would be shorter, but glibc 2.36 frees its list twice when it has no memory for it. */
bool control_other(char path[static CONTROL_PATH_BYTES + 16])
{
	char usual[CONTROL_PATH_BYTES], *base;
	struct trace_error unused;
	struct dirent *entry;
	int fd = -1, error = 0;
	DIR *folder;

	control_default_path(usual);
	base = strrchr(usual, '/');
	if (!base)
		return false;
	*base++ = '\0';
	folder = opendir(usual);
	while (folder && fd < 0 && (entry = folder_next(folder, &error))) {
		if (!is_other(entry->d_name, base) ||
		    snprintf(path, CONTROL_PATH_BYTES + 16, "%s/%s", usual, entry->d_name) >= CONTROL_PATH_BYTES + 16)
			continue;
		fd = connect_to(path, &unused); /* fails if the daemon was killed */
		if (fd >= 0 && !is_trusted(fd)) {
			close(fd);
			fd = -1;
		}
	}
	if (folder)
		closedir(folder);
	if (fd >= 0)
		close(fd);
	return fd >= 0 && !error;
}

int control_ask(const char *path, const char *line, int file_fd, char *answer, struct trace_error *ret_error)
{
	char usual[CONTROL_PATH_BYTES], other[CONTROL_PATH_BYTES + 16];
	int fd, err;

	control_default_path(usual);
	if (strlen(line) >= CONTROL_REQUEST_BYTES)
		return error_set(ret_error, -EMSGSIZE, "a request has at most %d characters",
				 CONTROL_REQUEST_BYTES - 1);
	fd = connect_to(path ? path : usual, ret_error);
	if (fd < 0 && !path && (fd == -ENOENT || fd == -ECONNREFUSED) && control_other(other))
		return error_set(ret_error, fd, "no tracedaemon is running on %s, but another one is: --control %s",
				 usual, other);
	if (fd < 0)
		return fd;
	if (!path && !is_trusted(fd)) {
		close(fd);
		return error_set(ret_error, -EPERM,
				 "%s belongs to another user; name the daemon's socket: --control PATH", usual);
	}
	err = send_request(fd, line, file_fd);
	if (err && err != -EPIPE) /* it may have refused the client already, and the answer says why */
		err = error_set(ret_error, err, "cannot ask the daemon: %s", strerror(-err));
	else
		err = read_answer(fd, answer, ret_error);
	close(fd);
	return err;
}
