/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_socket.c - sockets, and the process at the other end of each
 *
 * The sock:* events name a socket by its inode. The other end of a unix socket is an inode, too.
 * For a TCP connection within this machine it is the socket with the same two addresses in
 * reverse.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include "kernel_numbers.h"
#include "open_request.h"
#include "state.h"
#include "state_frame.h"
#include "state_socket.h"

#define SOCKETCALL_SOCKET  1 /* SYS_SOCKET and others of <linux/net.h> */
#define SOCKETCALL_CONNECT 3
#define SOCKETCALL_PAIR	   8

struct socket_idx_row {
	uint64_t key;
	uint32_t idx;
};

static uint64_t inode_key(uint64_t ino)
{
	return hash_u64(ino) | 1;
}

struct socket_state *sock_of_inode(const struct trace_analysis *a, uint64_t ino)
{
	const struct socket_idx_row *row = ino ? table_find(&a->sockets.by_inode, sizeof(*row), inode_key(ino)) : NULL;

	if (!row || a->sockets.list[row->idx].ino != ino)
		return NULL;
	a->sockets.list[row->idx].sweeps = a->sweep.nr;
	return &a->sockets.list[row->idx];
}

struct socket_state *sock_of_file(const struct trace_analysis *a, file_idx file)
{
	return file && LINUX_S_ISSOCK(a->files.list[file].mode) ? sock_of_inode(a, a->files.list[file].ino) : NULL;
}

struct socket_state *sock_peer(const struct trace_analysis *a, const struct socket_state *sock)
{
	struct socket_state *peer;

	if (sock->family == LINUX_AF_UNIX)
		return sock_of_inode(a, sock->peer_ino);
	if (!sock->ends.remote_port)
		return NULL;
	peer = &a->sockets.list[tuple_other(&a->sockets.by_tuple, &sock->ends)]; /* index 0 is no socket */
	return peer != a->sockets.list && tuple_are_ends(&peer->ends, &sock->ends) ? peer : NULL;
}

/* An address as text; protocols such as ICMP have no ports. */
static string_id address_text(struct trace_analysis *a, const uint64_t address[2], uint16_t port)
{
	static const unsigned char v4_mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
	char host[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 16];
	unsigned char raw[16];
	bool is_v4;

	memcpy(raw, address, sizeof(raw));
	is_v4 = memcmp(raw, v4_mapped, sizeof(v4_mapped)) == 0;
	if (is_v4)
		inet_ntop(AF_INET, raw + 12, host, sizeof(host));
	else
		inet_ntop(AF_INET6, raw, host, sizeof(host));
	if (!port)
		return strings_intern(&a->strings, host);
	snprintf(text, sizeof(text), is_v4 ? "%s:%u" : "[%s]:%u", host, port);
	return strings_intern(&a->strings, text);
}

string_id sock_address(struct trace_analysis *a, const struct socket_state *sock)
{
	char text[32];

	if (!sock || (sock->family != LINUX_AF_INET && sock->family != LINUX_AF_INET6))
		return strings_intern(&a->strings, "network");
	if (sock->ends.remote_port)
		return address_text(a, sock->ends.remote, sock->ends.remote_port);
	if (sock->connect_port || sock->nr_destinations == 1)
		return address_text(a, sock->connect_address, sock->connect_port);
	/* it only receives, or it sends to several */
	if (!sock->ends.local_port)
		return strings_intern(&a->strings, "network");
	snprintf(text, sizeof(text), "local port %u", sock->ends.local_port);
	return strings_intern(&a->strings, text);
}

static sock_idx socket_slot(struct trace_analysis *a)
{
	sock_idx idx = a->sockets.first_free;

	if (a->sweep.remaining)
		a->sweep.remaining--;
	if (idx) {
		a->sockets.first_free = a->sockets.list[idx].next;
		return idx;
	}
	if (a->sockets.nr >= a->sockets.max) {
		uint32_t max = a->sockets.max ? a->sockets.max * 2 : 64;
		struct socket_state *bigger = reallocarray(a->sockets.list, max, sizeof(*bigger));

		if (!bigger) {
			a->failed = -ENOMEM;
			return 0;
		}
		a->sockets.list = bigger;
		a->sockets.max = max;
		if (!a->sockets.nr)
			memset(&a->sockets.list[a->sockets.nr++], 0, sizeof(*bigger));
	}
	return a->sockets.nr++;
}

const struct socket_state *sock_peek(const struct trace_analysis *a, uint64_t ino)
{
	const struct socket_idx_row *row = ino ? table_find(&a->sockets.by_inode, sizeof(*row), inode_key(ino)) : NULL;

	return row && a->sockets.list[row->idx].ino == ino ? &a->sockets.list[row->idx] : NULL;
}

void sock_mark(const struct trace_analysis *a, uint64_t ino, uint64_t *marks)
{
	const struct socket_state *sock = sock_peek(a, ino), *peer = !sock ? NULL
								     : sock->family == LINUX_AF_UNIX
									     ? sock_peek(a, sock->peer_ino)
									     : sock_peer(a, sock);
	size_t idx = sock ? (size_t)(sock - a->sockets.list) : 0, other = peer ? (size_t)(peer - a->sockets.list) : 0;

	marks[idx / 64] |= 1ull << idx % 64;
	marks[other / 64] |= 1ull << other % 64;
}

static struct socket_state *sock_add(struct trace_analysis *a, uint64_t ino)
{
	struct socket_idx_row *row = acct_row(a, &a->sockets.by_inode, sizeof(*row), inode_key(ino));

	if (!row->idx) {
		row->idx = socket_slot(a);
		if (row->idx)
			a->sockets.list[row->idx] = (struct socket_state){0};
	}
	return row->idx ? &a->sockets.list[row->idx] : NULL;
}

void socket_drop(struct trace_analysis *a, sock_idx idx)
{
	struct socket_state *sock = &a->sockets.list[idx];

	if (sock->ends.remote_port)
		tuple_remove(&a->sockets.by_tuple, &sock->ends, idx);
	table_remove(&a->sockets.by_inode, sizeof(struct socket_idx_row), inode_key(sock->ino));
	request_forget(sock);
	free(sock->datagrams);
	*sock = (struct socket_state){.sweeps = FILE_FREE, .next = a->sockets.first_free};
	a->sockets.first_free = idx;
}

/*
 * @is_new: the socket was just made, and has nothing but its inode in common with an earlier one.
 */
static void sock_learn(struct trace_analysis *a, const struct socket_state *seen, bool is_new)
{
	struct socket_state *sock = sock_add(a, seen->ino), old;

	if (!sock || a->failed)
		return;
	if (is_new)
		request_forget(sock);
	old = *sock;
	*sock = *seen;
	if (old.ino == seen->ino && !is_new) {
		sock->role = seen->role ? seen->role : old.role;
		sock->answers = old.answers;
		sock->has_read = old.has_read;
		sock->reader = old.reader;
		sock->asker = old.asker;
		sock->relayer = old.relayer;
		sock->relayed_ns = old.relayed_ns;
		sock->datagrams = old.datagrams;
	} else {
		free(old.datagrams);
	}
	if (sock->state == TCP_LISTEN && sock->family != LINUX_AF_UNIX) {
		a->sockets.listening[sock->ends.local_port / 64] |= 1ull << sock->ends.local_port % 64;
		listener_add(a, sock);
	}
	a->sockets.nr_roles += sock->state == TCP_LISTEN || sock->role != old.role;
	sock->sweeps = a->sweep.nr;
	if (sock->family != LINUX_AF_UNIX && sock->ends.remote_port &&
	    !tuple_add(&a->sockets.by_tuple, &sock->ends, (uint64_t)(sock - a->sockets.list)))
		a->failed = -ENOMEM;
}

#define SOCK_FROM(record, number, process)                                                        \
	{                                                                                         \
		.ino = (record)->ino, .peer_ino = (record)->peer_ino, .family = (record)->family, \
		.ends = {.local = {(record)->local_hi, (record)->local_lo},                       \
			 .remote = {(record)->remote_hi, (record)->remote_lo},                    \
			 .local_port = (record)->local_port,                                      \
			 .remote_port = (record)->remote_port,                                    \
			 .protocol = (uint16_t)(record)->protocol,                                \
			 .net = (number)},                                                        \
		.type = (record)->type, .state = (uint16_t)(record)->state, .owner = (process)    \
	}

void sock_start(struct trace_analysis *a, const struct trace_start_socket *start, uint32_t netns, uint32_t owner)
{
	struct socket_state seen = SOCK_FROM(start, netns, owner);

	sock_learn(a, &seen, false);
}

void sockets_renumber(struct trace_analysis *a)
{
	for (uint32_t i = 1; i < a->sockets.nr; i++)
		if (a->sockets.list[i].sweeps != FILE_FREE)
			a->sockets.list[i].owner = a->threads.processes[a->sockets.list[i].owner]->idx;
}

void sock_forget(struct trace_analysis *a, uint64_t ino)
{
	const struct socket_state *sock = sock_peek(a, ino);

	if (sock)
		socket_drop(a, (sock_idx)(sock - a->sockets.list));
}

static file_idx socket_file(struct trace_analysis *a, uint64_t ino)
{
	char path[40];

	snprintf(path, sizeof(path), "socket:[%llu]", (unsigned long long)ino);
	return file_get(a, path, 0, ino, LINUX_S_IFSOCK);
}

static bool makes_socket(const struct trace_analysis *a, const struct frame *frame)
{
	return frame_class(a, frame) == CALL_SOCKET ||
	       (frame_class(a, frame) == CALL_SOCKETCALL && frame->nr_args && frame->args[0] == SOCKETCALL_SOCKET);
}

/* The end of a connection that a socket becomes in this call. */
static uint8_t role_by_call(const struct trace_analysis *a, const struct frame *frame)
{
	uint64_t socketcall;

	if (!frame)
		return ROLE_UNKNOWN;
	if (call_accepts(a, frame))
		return ROLE_SERVER;
	socketcall = frame_class(a, frame) == CALL_SOCKETCALL && frame->nr_args ? frame->args[0] : 0;
	if (frame_class(a, frame) == CALL_CONNECT || socketcall == SOCKETCALL_CONNECT)
		return ROLE_CLIENT;
	return frame_class(a, frame) == CALL_SOCKETPAIR || socketcall == SOCKETCALL_PAIR ? ROLE_NONE : ROLE_UNKNOWN;
}

/* Many sockets may be connected to one that receives datagrams, such as that of a log. */
static bool has_one_peer(const struct socket_state *sock)
{
	return sock->type != LINUX_SOCK_DGRAM || sock->role == ROLE_NONE;
}

void on_sock_endpoints(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sock_endpoints *ends = event->payload;
	struct trace_thread *thread = cpu->current;
	struct socket_state seen = SOCK_FROM(ends, ends->netns, PROCESS_UNKNOWN);
	const struct socket_state *peer;
	struct frame *frame;

	if (!thread || thread == &cpu->idle)
		return;
	frame = frame_syscall(thread);
	if (a->doubt.nr && frame && !call_accepts(a, frame) && !fd_file(thread, ends->fd))
		fd_put(a, thread, ends->fd, socket_file(a, ends->ino), true);
	seen.owner = thread->process->idx;
	seen.role = role_by_call(a, frame);
	if (seen.role == ROLE_SERVER)
		request_accepted(thread, ns);
	sock_learn(a, &seen, seen.role == ROLE_SERVER || seen.role == ROLE_NONE || (frame && makes_socket(a, frame)));
	peer = seen.family == LINUX_AF_UNIX ? sock_of_inode(a, seen.peer_ino) : NULL;
	if (peer && !peer->peer_ino && has_one_peer(&seen)) /* the end made first did not know this one yet */
		sock_of_inode(a, seen.peer_ino)->peer_ino = seen.ino;
	if (seen.state == TCP_LISTEN && thread->fds)
		thread->fds->nr_listening++;
	/* the descriptor of socketcall() is in the program's memory */
	if (frame && !frame->file && frame_class(a, frame) == CALL_SOCKETCALL)
		frame->file = fd_file(thread, ends->fd) ? fd_file(thread, ends->fd) : socket_file(a, ends->ino);
}

/* If the connection fails, no other event has the remote address. */
void on_sock_asks(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sock_asks *asks = event->payload;
	struct socket_state *sock = sock_of_inode(a, asks->ino);

	if (!sock)
		return;
	sock->connect_address[0] = asks->remote_hi;
	sock->connect_address[1] = asks->remote_lo;
	sock->connect_port = asks->remote_port;
}

/*
 * The call sent to this address on a socket without a connection. The kernel has given the socket a
 * port by then. A socket that sends to several addresses may wait for any of them.
 */
void on_sock_names(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sock_names *names = event->payload;
	struct socket_state *sock = sock_of_inode(a, names->ino);
	bool is_same;

	if (!sock || sock->ends.remote_port)
		return;
	sock->ends.local_port = names->local_port;
	is_same = sock->connect_address[0] == names->remote_hi && sock->connect_address[1] == names->remote_lo &&
		  sock->connect_port == names->remote_port;
	if (sock->nr_destinations < 2 && !(sock->nr_destinations && is_same))
		sock->nr_destinations++;
	sock->connect_address[0] = names->remote_hi;
	sock->connect_address[1] = names->remote_lo;
	sock->connect_port = sock->nr_destinations == 1 ? names->remote_port : 0;
}

/*
 * Is @file another socket than the one with @ino, which the kernel named? A program may have closed
 * and opened descriptors in a loss.
 */
static bool is_outdated(const struct trace_analysis *a, file_idx file, uint64_t ino)
{
	const struct traced_file *known = &a->files.list[file];

	return LINUX_S_ISSOCK(known->mode) && known->ino != ino &&
	       gap_log_first_loss(&a->gaps, a->start_ns, a->now) != UINT64_MAX;
}

/*
 * A process that sends or receives on a socket becomes its owner. A descriptor that was passed to
 * the process (SCM_RIGHTS), or that is outdated, gets its socket here.
 */
struct socket_state *sock_transfer(struct trace_analysis *a, struct trace_thread *thread, uint64_t ino)
{
	struct socket_state *sock = sock_of_inode(a, ino);
	struct frame *frame = frame_syscall(thread);

	if (sock)
		sock->owner = thread->process->idx;
	if (!frame || !frame->nr_args || !ino)
		return sock;
	if (frame->file && !is_outdated(a, frame->file, ino)) {
		frame->file_seen |= a->files.list[frame->file].ino == ino;
		return sock;
	}
	if (!(a->calls[frame->call].flags & CALL_HAS_FD) && frame_class(a, frame) != CALL_SOCKETCALL)
		return sock;
	frame->file = socket_file(a, ino);
	frame->file_seen = true;
	/* the descriptor of socketcall() is in the program's memory */
	if (a->calls[frame->call].flags & CALL_HAS_FD)
		fd_put(a, thread, (int32_t)frame->args[0], frame->file, a->doubt.nr);
	return sock;
}

void socket_table_clear(struct socket_table *table)
{
	for (uint32_t i = 0; i < table->nr; i++)
		free(table->list[i].datagrams);
	free(table->list);
	table_clear(&table->by_inode);
	table_clear(&table->by_tuple);
}
