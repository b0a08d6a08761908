/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_request.c - the requests that threads work on, so that a server's rest between two
 * requests is told from a wait in the midst of one.
 *
 * Terms. A request is open from its first byte read on a server's end of a connection until its
 * answer, or until the connection is closed. It is open at the thread that read it. The first byte
 * ends the answer, unless the socket took less than the thread had to send. That an answer which
 * the thread relays goes on is known only later: relay.c. A thread asks if it sent on a client's
 * end and has not received since.
 *
 * Rule. A wait for new work is a rest (idle) if the process has a socket at which requests come
 * in, no request is open at the thread, and the thread does not ask. Which calls wait for new
 * work: wait.c. So a proxy that waits for its backend is blocked, because the client's request is
 * open, and a client with a callback port is blocked, because it asks.
 *
 * Not every program answers: a thread may log to a server of its own. A connection that never
 * answered counts as asked only if its first answer ends the wait, or if the wait has no end.
 *
 * Pools. A thread hands a request over if another thread answered the last one that it read; what
 * it reads is then open at the threads that it wakes. A pool's thread has a job from the time on
 * when a thread with an open request woke it from a condition or an eventfd. That is its rest
 * place. Its waits there are rests, its waits elsewhere are parts of a job. A thread that never
 * got a job rests at any condition.
 *
 * A turn to accept. Processes of one server may have a lock for accept(). A wait for it is a rest,
 * too: the thread that releases it has accepted a connection meanwhile, and done nothing with it.
 *
 * Example: thread R reads requests from clients and wakes W, which waits at condition C. W waits
 * for a file, then at condition D, answers, and waits at C again. The waits at C are idle, and
 * those of R in epoll_wait() from the second request on. The wait at D is not.
 *
 * Ends of connections. accept() makes a server's end, connect() a client's end. A connection that
 * was open at the start of the recording is a server's end if its port is, or was, one that a
 * socket listens at; a unix socket, if its process or the parent listens at one. A datagram
 * socket is a server's end if it received first, and a client's end if it sent first or is
 * connected. If a second datagram comes before the socket ever sent one, its requests need no
 * answer, and are not open.
 *
 * Limits. The rest of an answer that the thread makes itself in parts counts as outside the
 * request. After a gap the requests from before it are not known any more.
 */
#include <netinet/in.h>
#include <string.h>
#include "kernel_numbers.h"
#include "lock_log.h"
#include "relay.h"
#include "state.h"
#include "state_frame.h"
#include "state_request.h"
#include "thread_rare.h"

/* ---- roles ---- */

static bool port_listens(const struct trace_analysis *a, const struct socket_state *sock)
{
	return a->sockets.listening[sock->ends.local_port / 64] >> sock->ends.local_port % 64 & 1;
}

static bool process_listens(struct trace_analysis *a, const struct trace_thread *thread)
{
	const struct trace_process *parent = process_find(&a->threads, thread->process->ppid);
	const struct trace_thread *of_parent = parent ? process_owner(&a->threads, parent) : NULL;

	return (thread->fds && thread->fds->nr_listening) ||
	       (of_parent && of_parent->fds && of_parent->fds->nr_listening);
}

static bool is_inet(const struct socket_state *sock)
{
	return sock->family == LINUX_AF_INET || sock->family == LINUX_AF_INET6;
}

static bool is_connected(const struct socket_state *sock)
{
	return is_inet(sock) ? sock->ends.remote_port != 0 : sock->peer_ino != 0;
}

/* The role of a socket at its first transfer, if no accept() or connect() was recorded. */
static enum socket_role first_role(struct trace_analysis *a, const struct trace_thread *thread,
				   const struct socket_state *sock, bool received)
{
	if (is_inet(sock) && sock->type == LINUX_SOCK_STREAM)
		return port_listens(a, sock) ? ROLE_SERVER : ROLE_CLIENT;
	if (sock->type == LINUX_SOCK_STREAM || sock->type == LINUX_SOCK_SEQPACKET)
		return process_listens(a, thread) ? ROLE_SERVER : ROLE_CLIENT;
	return received && !is_connected(sock) ? ROLE_SERVER : ROLE_CLIENT;
}

bool socket_serves(const struct trace_analysis *a, const struct trace_thread *thread, const struct socket_state *sock)
{
	if (sock->role)
		return sock->role == ROLE_SERVER;
	if (!is_inet(sock))
		return false;
	return sock->type == LINUX_SOCK_STREAM ? is_connected(sock) && port_listens(a, sock)
					       : sock->type == LINUX_SOCK_DGRAM && !is_connected(sock);
}

/* Does the table have a socket that is known as a server's? Looked up again after a change. */
static bool fds_serve(const struct trace_analysis *a, struct fd_table *fds)
{
	if (fds->seen_changes == fds->changes && fds->seen_roles == a->sockets.nr_roles)
		return fds->serves;
	fds->seen_changes = fds->changes;
	fds->seen_roles = a->sockets.nr_roles;
	fds->serves = false;
	for (uint32_t i = 0; i < fds->nr && !fds->serves; i++) {
		file_idx file = fds->files[i] & ~FD_CLOEXEC_BIT;
		const struct socket_state *sock = file && LINUX_S_ISSOCK(a->files.list[file].mode)
							  ? sock_peek(a, a->files.list[file].ino)
							  : NULL;

		fds->serves = sock && (sock->state == TCP_LISTEN || sock->role == ROLE_SERVER ||
				       (!sock->role && is_inet(sock) && sock->type == LINUX_SOCK_STREAM &&
					sock->ends.remote_port && port_listens(a, sock)));
	}
	return fds->serves;
}

/* Did accepted connections come in messages? Learns from the latest message. */
static bool gets_connections(const struct trace_analysis *a, struct fd_table *fds)
{
	struct passed_sockets *passed = fds->passed;
	const struct socket_state *sock;

	if (!passed)
		return false;
	sock = passed->latest ? sock_peek(a, passed->latest) : NULL;
	if (sock && sock->role == ROLE_SERVER)
		passed->connections_by = passed->by;
	passed->latest = 0;
	return passed->connections_by;
}

bool socket_brings_connections(const struct trace_analysis *a, const struct trace_thread *thread,
			       const struct socket_state *sock)
{
	return thread->fds && gets_connections(a, thread->fds) && thread->fds->passed->connections_by == sock->ino;
}

bool thread_serves(struct trace_analysis *a, const struct trace_thread *thread)
{
	return thread->fds && thread->fds->has_sockets &&
	       (gets_connections(a, thread->fds) || fds_serve(a, thread->fds));
}

/* ---- requests ---- */

/*
 * The thread serves a client, and this is an end of a pair: the other one is in another process, a
 * helper that a fork made.
 */
static bool is_from_helper(const struct trace_analysis *a, const struct trace_thread *thread,
			   const struct socket_state *sock)
{
	const struct socket_state *peer;

	if (!thread->requests.nr_read && !thread->requests.nr_relays)
		return false;
	peer = sock_peer(a, sock);
	return peer && peer->owner != thread->process->idx;
}

/*
 * The socket took less than the thread had to send. splice() and sendfile() are left out, because
 * the kernel sends in pieces there, and io_uring, because its calls have other arguments.
 */
static bool is_stalled(const struct trace_analysis *a, struct trace_thread *thread, int32_t ret)
{
	const struct frame *call = frame_syscall(thread);
	enum call_class class = call ? frame_class(a, call) : CALL_OTHER;
	int8_t bytes = call ? a->calls[call->call].bytes : -1;

	if (ret <= 0)
		return ret == -LINUX_EAGAIN;
	return (class == CALL_SEND || class == CALL_WRITE) && bytes >= 0 && bytes < call->nr_args &&
	       (uint64_t)ret < call->args[bytes];
}

static void sent(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock, int32_t ret)
{
	if (sock->role == ROLE_SERVER) {
		if (ret > 0)
			request_answered(a, thread, sock);
		if (is_stalled(a, thread, ret))
			request_stalled(a, thread, sock);
	} else if (sock->role == ROLE_CLIENT && ret > 0) {
		request_asked(a, thread, sock);
	}
}

static void received(struct trace_analysis *a, struct trace_thread *thread, struct socket_state *sock, int32_t ret)
{
	if (sock->role == ROLE_SERVER) {
		if (ret > 0)
			request_read(a, thread, sock);
	} else if (sock->role == ROLE_CLIENT) {
		if (ret > 0)
			request_got_answer(sock);
		if (ret >= 0) /* an answer may end with the connection */
			part_came(a, thread);
	} else if (ret > 0 && is_from_helper(a, thread, sock)) {
		part_came(a, thread);
	}
}

/*
 * Recorders before sock_look wrote sock_recv also for a look (MSG_PEEK), and for what became of the
 * thread's own messages (MSG_ERRQUEUE). The flags are known of a native call.
 */
static uint64_t receive_flags(const struct trace_analysis *a, struct trace_thread *thread)
{
	const struct frame *call = frame_syscall(thread);
	int8_t place = call && frame_class(a, call) == CALL_RECV ? a->calls[call->call].flags_arg : -1;

	return place >= 0 && place < call->nr_args ? call->args[place] : 0;
}

/*
 * A look leaves the data in the socket. One at a stream opens the request, for its bytes were read.
 * A datagram is a request of its own, which the next call takes.
 */
static bool takes_no_request(const struct trace_analysis *a, struct trace_thread *thread,
			     const struct socket_state *sock, bool looks)
{
	uint64_t flags = looks ? LINUX_MSG_PEEK : receive_flags(a, thread);

	return (flags & LINUX_MSG_ERRQUEUE) || ((flags & LINUX_MSG_PEEK) && sock->type != LINUX_SOCK_STREAM);
}

void on_request_transfer(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sock_send *bytes = event->payload; /* all three have the same shape */
	struct trace_thread *thread = cpu->current;
	struct socket_state *sock;
	bool looks = event->id == TRACE_EV_sock_look, comes = looks || event->id == TRACE_EV_sock_recv;

	if (!thread || thread == &cpu->idle || cpu->nested)
		return;
	sock = sock_transfer(a, thread, bytes->ino);
	if (!sock || (comes && takes_no_request(a, thread, sock, looks)))
		return;
	if (!sock->role && bytes->ret > 0) {
		sock->role = (uint8_t)first_role(a, thread, sock, comes);
		a->sockets.nr_roles++;
	}
	thread->requests.has_accepted = false;
	if (comes)
		received(a, thread, sock, bytes->ret);
	else
		sent(a, thread, sock, bytes->ret);
}
_Static_assert(sizeof(struct trace_sock_send) == sizeof(struct trace_sock_recv) &&
		       sizeof(struct trace_sock_send) == sizeof(struct trace_sock_look),
	       "on_request_transfer() reads all of them");

/* ---- rests ---- */

/* Without these events it is not known whether a request is open. */
static bool sees_transfers(const struct trace_analysis *a)
{
	return trace_analysis_recorded(a, TRACE_EV_sock_recv) == TRACE_RECORDED_ALWAYS &&
	       trace_analysis_recorded(a, TRACE_EV_sock_send) == TRACE_RECORDED_ALWAYS;
}

/* An event that closed a request may be missing. */
static bool lost_since(const struct trace_analysis *a, const struct thread_requests *requests)
{
	return requests->since_ns && gap_log_first_loss(&a->gaps, requests->since_ns, a->now) != UINT64_MAX;
}

static void forget_after_loss(struct trace_analysis *a, struct trace_thread *thread)
{
	if (!lost_since(a, &thread->requests))
		return;
	thread->requests = (struct thread_requests){.rest_place = thread->requests.rest_place,
						    .nr_relays = thread->requests.nr_relays,
						    .accepts = thread->requests.accepts,
						    .part_ns = thread->requests.part_ns,
						    .rests = thread->requests.rests};
	requests_changed(thread);
}

bool wait_is_asked(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending)
{
	if (pending->is_asked && lost_since(a, &thread->requests)) {
		forget_after_loss(a, thread);
		return false;
	}
	return pending->is_asked || !sees_transfers(a);
}

bool thread_asks_first(const struct trace_thread *thread)
{
	return thread->requests.nr_first;
}

/* A condition of glibc has two words beside each other, and waits at one or the other. */
#define CONDITION_BYTES 8

static bool is_rest_place(const struct thread_requests *requests, uint64_t place)
{
	return place - requests->rest_place + CONDITION_BYTES <= 2 * CONDITION_BYTES;
}

/*
 * True if the waker works on a request, which it hands over with the wakeup. A thread that accepts
 * connections starts such threads, or hands connections to them: their wakeups, such as "I have
 * begun" or the release of a lock of the interpreter, bring it no job.
 */
static bool brings_job(const struct trace_thread *thread, const struct waker *waker)
{
	return !thread->requests.accepts && waker->thread && waker->thread->process == thread->process &&
	       (waker->thread->requests.nr_read || waker->thread->requests.has_job);
}

/* Does the first thread of @process wait for a connection? Asked at the end of the recording. */
static bool is_in_accept(struct trace_analysis *a, const struct trace_process *process)
{
	struct trace_thread *thread = process ? process_owner(&a->threads, process) : NULL;
	const struct frame *call = thread ? frame_syscall(thread) : NULL;

	return call && call_accepts(a, call);
}

/* Did the waker of the wait accept a connection meanwhile, and do nothing with it? */
static bool has_accepted_during(const struct waker *waker, const struct pending *pending)
{
	return waker->thread && waker->has_accepted && waker->thread->requests.accepted_ns >= pending->from &&
	       waker->thread->requests.accepted_ns <= pending->to;
}

bool accept_lock_rests(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending,
		       uint64_t lock, const struct trace_process *holder)
{
	const struct waker *waker = &pending->waker;
	struct thread_rare *rare;

	if (wait_is_asked(a, thread, pending) || thread->requests.nr_first || !thread_serves(a, thread))
		return false;
	if (!pending->cut && has_accepted_during(waker, pending)) {
		rare = thread_rare(a, thread);
		if (rare)
			rare->accept_lock = lock;
	}
	return (thread->rare && thread->rare->accept_lock == lock) || (pending->cut && is_in_accept(a, holder));
}

bool pool_rests(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending, uint64_t place)
{
	struct thread_requests *requests = &thread->requests;
	bool rests;

	forget_after_loss(a, thread);
	if (requests_were_read(requests) || requests->nr_asked || requests->nr_first || !sees_transfers(a))
		return false;
	if (!thread_serves(a, thread))
		return false;
	rests = !requests->rest_place || is_rest_place(requests, place);
	if (rests)
		requests->has_job = false;
	if (rests && !pending->cut && brings_job(thread, &pending->waker)) {
		requests->rest_place = place;
		requests->has_job = true;
		requests->since_ns = a->now;
	}
	requests_changed(thread);
	return rests;
}
