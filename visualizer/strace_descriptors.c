/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * strace_descriptors.c - descriptors with what is behind them, as strace(1) shows them
 *
 * -y has paths, and the inodes of sockets; -yy has protocols, addresses and ports, too. The line of
 * a call is written when the call ends, and close() or connect() change what is behind their
 * descriptor. So the names are taken when the call begins.
 */
#include "strace_descriptors.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include "kernel_numbers.h"
#include "value_text.h"

#define NAME_BYTES 4096u

/* ---- sockets ---- */

/* The kernel's names of protocols: struct proto, net/ipv4, net/ipv6, net/unix, net/netlink. */
static const char *protocol_name(const struct trace_socket *socket)
{
	bool is_v6 = socket->family == LINUX_AF_INET6;

	switch (socket->family) {
	case LINUX_AF_UNIX:
		return socket->type == LINUX_SOCK_STREAM ? "UNIX-STREAM" : "UNIX";
	case LINUX_AF_NETLINK:
		return "NETLINK";
	case LINUX_AF_INET:
	case LINUX_AF_INET6:
		if (socket->type == LINUX_SOCK_STREAM && socket->protocol == IPPROTO_TCP)
			return is_v6 ? "TCPv6" : "TCP";
		if (socket->type == LINUX_SOCK_DGRAM && socket->protocol == IPPROTO_UDP)
			return is_v6 ? "UDPv6" : "UDP";
		return NULL;
	default:
		return NULL;
	}
}

static void put_address(struct string *s, uint16_t family, const uint64_t address[2], uint16_t port)
{
	unsigned char raw[16];
	char text[INET6_ADDRSTRLEN] = "";

	memcpy(raw, address, sizeof(raw));
	if (family == LINUX_AF_INET6)
		string_addf(s, "[%s]:%u", inet_ntop(AF_INET6, raw, text, sizeof(text)), port);
	else
		string_addf(s, "%s:%u", inet_ntop(AF_INET, raw + 12, text, sizeof(text)), port);
}

/* "TCP:[127.0.0.1:80->127.0.0.1:4711]", "UNIX:[42->43]", "NETLINK:[44]" */
static void put_socket(struct string *s, const struct trace_socket *socket, const char *name)
{
	string_addf(s, "%s:[", name);
	if ((socket->family == LINUX_AF_INET || socket->family == LINUX_AF_INET6) && socket->local_port) {
		put_address(s, socket->family, socket->local, socket->local_port);
		if (socket->remote_port) {
			string_add(s, "->");
			put_address(s, socket->family, socket->remote, socket->remote_port);
		}
	} else {
		string_addf(s, "%" PRIu64, socket->ino);
		if (socket->peer_ino)
			string_addf(s, "->%" PRIu64, socket->peer_ino);
	}
	string_add(s, "]");
}

/* Returns false for a descriptor of no socket. */
static bool put_as_socket(struct string *s, const struct strace_names *names, const char *path, int fd)
{
	struct trace_socket socket;
	struct trace_file_id id;
	const char *name;

	if (!trace_thread_file_id(names->analysis, names->thread, fd, &id) || !LINUX_S_ISSOCK(id.mode))
		return false;
	if (names->choice->fds < 2 || !trace_thread_socket(names->analysis, names->thread, fd, &socket)) {
		string_addf(s, "socket:[%" PRIu64 "]", id.ino);
		return true;
	}
	/* one that was open at the start has no name, only its inode */
	name = strchr(path, ':') ? protocol_name(&socket) : path;
	put_socket(s, &socket, name ? name : "socket");
	return true;
}

/* ---- files ---- */

#define DELETED " (deleted)"

/*
 * strace has the texts of /proc/PID/fd. The kernel's own name of a file without a path lacks the
 * kind of it there.
 */
static void put_path(struct string *s, const char *path)
{
	size_t chars = strlen(path), end = strlen(DELETED);
	bool is_memfd = !strncmp(path, "memfd:", 6);
	bool is_deleted = is_memfd || (chars > end && !strcmp(path + chars - end, DELETED));
	char name[NAME_BYTES], harmless[NAME_BYTES];

	snprintf(name, sizeof(name), "%.*s", (int)(is_deleted && !is_memfd ? chars - end : chars), path);
	string_addf(s, "<%s%s>%s",
		    is_memfd		  ? "/"
		    : strpbrk(name, "/:") ? ""
					  : "anon_inode:",
		    text_name(name, harmless, sizeof(harmless)), is_deleted ? "(deleted)" : "");
}

static void put_name(struct string *s, const struct strace_names *names, int fd)
{
	const char *path = NULL;
	struct string socket = {0};
	struct trace_file_id id;

	if (names->choice->fds && names->thread)
		path = trace_thread_file(names->analysis, names->thread, fd);
	if (!path)
		return;
	if (!*path) { /* a new pipe has no name */
		if (trace_thread_file_id(names->analysis, names->thread, fd, &id) && LINUX_S_ISFIFO(id.mode) && id.ino)
			string_addf(s, "<pipe:[%" PRIu64 "]>", id.ino);
	} else if (put_as_socket(&socket, names, path, fd))
		string_addf(s, "<%s>", string_text(&socket));
	else
		put_path(s, path);
	string_free(&socket);
}

static void put_number(struct string *s, int fd)
{
	if (fd == LINUX_AT_FDCWD)
		string_add(s, "AT_FDCWD");
	else
		string_addf(s, "%d", fd);
}

void strace_put_fd(struct string *s, const struct strace_names *names, int fd)
{
	put_number(s, fd);
	put_name(s, names, fd);
}

/* ---- of a call ---- */

void strace_note_fds(const struct strace_names *names, struct strace_call *call)
{
	for (unsigned int idx = 0; names->choice->fds && idx < call->nr_args; idx++) {
		uint8_t kind = call->row->arguments[idx].kind;
		struct string s = {0};

		if (idx >= call->row->nr_arguments || (kind != KIND_FD && kind != KIND_DIRECTORY))
			continue;
		put_name(&s, names, (int32_t)call->args[idx]);
		call->fd_names[idx] = memory_copy(string_text(&s), s.len);
		string_free(&s);
	}
}

void strace_put_fd_of(struct string *s, const struct strace_names *names, const struct strace_call *call,
		      unsigned int idx, int fd)
{
	if (call->fd_names[idx]) {
		put_number(s, fd);
		string_add(s, call->fd_names[idx]);
	} else {
		strace_put_fd(s, names, fd);
	}
}
