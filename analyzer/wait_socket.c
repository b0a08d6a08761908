/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* wait_socket.c - the cause of a wait on a socket: see wait_socket.h */
#include "kernel_numbers.h"
#include "state_socket.h"
#include "wait_context.h"
#include "wait_socket.h"
#include "wait_waker.h"

static bool is_inet(const struct socket_state *sock)
{
	return sock->family == LINUX_AF_INET || sock->family == LINUX_AF_INET6;
}

static bool is_icmp(const struct socket_state *sock)
{
	return sock->ends.protocol == LINUX_IPPROTO_ICMP || sock->ends.protocol == LINUX_IPPROTO_ICMPV6;
}

enum via via_of_socket(const struct socket_state *sock)
{
	if (sock->family == LINUX_AF_UNIX)
		return VIA_UNIX;
	if (!is_inet(sock))
		return VIA_SOCKET;
	if (sock->type == LINUX_SOCK_STREAM)
		return VIA_TCP;
	return sock->type == LINUX_SOCK_RAW || is_icmp(sock) ? VIA_SOCKET : VIA_UDP;
}

/*
 * A process that writes into a device (tun, tap) delivers packets. It is not the end of a
 * connection, so the wait is for the network.
 */
static bool waker_delivers_packets(const struct wait_context *ctx)
{
	return ctx->waker->file && LINUX_S_ISCHR(ctx->a->files.list[ctx->waker->file].mode);
}

static struct wait_cause wait_for_network(struct trace_analysis *a, const struct socket_state *sock)
{
	string_id address = sock_address(a, sock);

	listener_note(a, sock, address);
	return wait_cause_of(TRACE_WAIT_NETWORK, VIA_NONE, address);
}

/*
 * The process that used the other end last. If it had ended before the thread slept, another one
 * had that end, too, or the kernel still sent what was written.
 */
static bool owner_lived(const struct wait_context *ctx, const struct socket_state *peer)
{
	const struct trace_process *owner = peer && peer->owner >= NR_PSEUDO_PROCESSES
						    ? ctx->a->threads.processes[peer->owner]
						    : NULL;

	return owner && !ended_before(ctx, owner);
}

/*
 * The waker was in a call on this end of the connection, and the thread did not sleep for data or
 * room: signals end such a sleep. A call holds the lock of the socket while it copies.
 */
static bool waker_held_socket(const struct wait_context *ctx, const struct socket_state *used,
			      const struct socket_state *sock)
{
	return used == sock && !ctx->pending->cut && !ctx->waker->worker &&
	       (ctx->pending->task_state & TRACE_TASK_UNINTERRUPTIBLE);
}

struct wait_cause wait_by_socket(const struct wait_context *ctx, const struct socket_state *sock)
{
	const struct socket_state *peer = sock_peer(ctx->a, sock),
				  *used = woken_by_task(ctx) ? sock_of_file(ctx->a, ctx->waker->file) : NULL;
	enum via via = via_of_socket(sock);

	if (ctx->waker->cause == CAUSE_TIMER && frame_class(ctx->a, ctx->frame) != CALL_CONNECT)
		/*
		 * SO_RCVTIMEO and similar. A connect() that times out waits for the peer that does
		 * not answer.
		 */
		return cause_timeout();
	if (waker_held_socket(ctx, used, sock))
		return wait_cause_with_path(ctx->a, cause_is_waker(ctx, VIA_LOCK), file_path(ctx->a, ctx->waker->file));
	if ((via == VIA_SOCKET && !is_inet(sock)) || (via == VIA_UNIX && woken_by_task(ctx)))
		return wait_by_waker_alone(ctx, via);
	if (ctx->gap)
		return wait_cause_of(TRACE_WAIT_UNKNOWN, VIA_NONE, 0);
	if (ctx->waker->by_timer && via == VIA_TCP && owner_lived(ctx, peer))
		return wait_cause_of(TRACE_WAIT_PROCESS, VIA_TCP_TIMER, peer->owner);
	if (used && (used == sock || used == peer))
		/*
		 * The waker shut the socket down or just used the other end. The recorded owner
		 * may be a parent that used it earlier.
		 */
		return cause_is_waker(ctx, via);
	if (owner_lived(ctx, peer))
		return wait_cause_of(TRACE_WAIT_PROCESS, via, peer->owner);
	if (woken_by_task(ctx) && !waker_delivers_packets(ctx))
		return cause_is_waker(ctx, via);
	if (via == VIA_UNIX)
		return wait_by_waker_alone(ctx, via);
	return wait_for_network(ctx->a, sock);
}

struct wait_cause wait_by_waker(const struct wait_context *ctx, enum via via)
{
	const struct socket_state *ready = ctx->waker->cause == CAUSE_SOCKET ? sock_of_inode(ctx->a, ctx->waker->detail)
									     : NULL;

	return ready && !ctx->pending->cut && !woken_by_task(ctx) ? wait_by_socket(ctx, ready)
								  : wait_by_waker_alone(ctx, via);
}
