/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_accept.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "budget.h"
#include "client_register.h"
#include "clients_state.h"
#include "message.h"

#define CLIENTS_ACCEPT_MAX 64 /* connections accepted in a row; then offers on earlier connections are read */
/*
 * Connections closed in one call, as many as the backlog holds, so that other users' programs find
 * space there; then the daemon pauses accepting.
 */
#define CLIENTS_REFUSED_MAX 4096
#define CLIENTS_PER_DRAIN   256 /* of them between two drains of the kernel's rings */
#define CLIENTS_CHECKED	    64	/* silent connections to check for an offer when a slot is needed */

/*
 * Counts an offer that could not be read. It is a loss if the daemon had no descriptor for it, but
 * not if it was invalid or from a process without permission.
 */
static void count_missed_offer(struct clients *clients, int err, const struct user_identity *identity)
{
	clients->status.refused++;
	if (identity && identity->pid)
		lost_programs_add(&clients->lost, identity->pid, identity->exe,
				  err == -ETIMEDOUT ? "its user's files do not answer"
						    : "it had no memory or no descriptor for its trace buffers");
	clients_miss(clients, err != -EBADMSG && err != -EPERM);
	if (!clients->accept.reported_offer)
		message_warning("cannot read the offer of a program: %s; its events are not recorded", strerror(-err));
	clients->accept.reported_offer = true;
}

/*
 * Refuse a program of a user that starts too many. If it is still alive when the recording ends,
 * the daemon finds it in /proc.
 */
static void refuse_offer(struct clients *clients, int fd, const struct user_identity *identity)
{
	clients->status.refused++;
	clients_miss(clients, 1);
	lost_programs_add(&clients->lost, identity->pid, identity->exe,
			  "its user started programs faster than the limit");
	if (budget_may_report(clients->budget, identity->uid))
		message_note("process %d (%s) is not recorded: user %u starts programs faster than the limit",
			     (int)identity->pid, identity->exe, (unsigned int)identity->uid);
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

/* Read the offer on @connection. Returns false if the program has not sent it yet. */
static bool read_offer(struct clients *clients, int connection)
{
	struct user_identity identity = {.pid_fd = -1};
	int fd = user_socket_receive(connection, &identity);

	if (fd == -EAGAIN)
		return false;
	if (fd < 0 && identity.pid_fd >= 0)
		close(identity.pid_fd);
	if (fd >= 0 && !budget_take(clients->budget, identity.uid, BUDGET_OFFERS, 1))
		refuse_offer(clients, fd, &identity);
	else if (fd >= 0)
		client_register(clients, fd, &identity, true, true);
	else if (fd != -ENODATA)
		count_missed_offer(clients, fd, &identity);
	close(connection);
	return true;
}

static void free_slot(struct clients *clients, struct connection *slot)
{
	budget_release(clients->budget, slot->uid, BUDGET_CONNECTIONS, 1);
	slot->fd = -1;
}

/*
 * An epoll event may be older than the last actions of the daemon, and its descriptor number may be
 * reused. So look the number up.
 */
void client_accept_read(struct clients *clients, int connection)
{
	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++)
		if (clients->accept.connections[i].fd == connection) {
			if (read_offer(clients, connection))
				free_slot(clients, &clients->accept.connections[i]);
			return;
		}
}

/*
 * Find a slot for a new connection: a free one; else one with an offer that arrived meanwhile; else
 * evict the next in turn.
 * SECURITY: so silent clients cannot lock others out. An evicted program offers itself again.
 */
static struct connection *find_slot(struct clients *clients)
{
	struct connection *slot;

	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++) {
		slot = &clients->accept.connections[clients->accept.next_connection++ % CLIENTS_CONNECTIONS];
		if (slot->fd < 0)
			return slot;
	}
	for (size_t i = 0; i < CLIENTS_CHECKED; i++) {
		slot = &clients->accept.connections[clients->accept.next_connection++ % CLIENTS_CONNECTIONS];
		if (read_offer(clients, slot->fd)) {
			free_slot(clients, slot);
			return slot;
		}
	}
	slot = &clients->accept.connections[clients->accept.next_connection++ % CLIENTS_CONNECTIONS];
	close(slot->fd);
	free_slot(clients, slot);
	return slot;
}

static void keep_connection(struct clients *clients, int connection, uid_t uid)
{
	struct connection *slot;
	int err;

	if (!budget_charge(clients->budget, uid, BUDGET_CONNECTIONS, 1)) {
		close(connection); /* the program will offer its memory again */
		return;
	}
	slot = find_slot(clients);
	err = client_watch_add(&clients->watch, connection, WATCH_CONNECTION);
	if (err) {
		budget_release(clients->budget, uid, BUDGET_CONNECTIONS, 1);
		count_missed_offer(clients, err, NULL);
		close(connection);
		return;
	}
	*slot = (struct connection){connection, uid};
}

/*
 * Accepting is paused, because no descriptor or memory is left, or users connect too fast. The
 * waiting connections would otherwise wake the daemon again at once.
 */
static void pause_accepting(struct clients *clients, uint64_t ns)
{
	client_watch_remove(&clients->watch, user_socket_fd(clients->accept.socket));
	clients->accept.is_paused = true;
	client_watch_set_timer(&clients->watch, ns);
}

void client_accept_resume(struct clients *clients)
{
	if (clients->accept.is_paused && clients->accept.socket)
		clients->accept.is_paused = client_watch_add(&clients->watch, user_socket_fd(clients->accept.socket),
							     WATCH_SOCKET) != 0;
}

void client_accept_all(struct clients *clients)
{
	int connection = 0, nr_refused = 0;

	for (int i = 0; i < CLIENTS_ACCEPT_MAX && nr_refused < CLIENTS_REFUSED_MAX &&
			(connection = user_socket_accept(clients->accept.socket)) >= 0;
	     i++) {
		uid_t uid = user_socket_peer(connection);

		clients->accept.in_a_row++;
		if (!budget_take(clients->budget, uid, BUDGET_ACCEPTS, 1)) {
			close(connection); /* SECURITY: do nothing else for it; an honest program offers again */
			if (++nr_refused % CLIENTS_PER_DRAIN == 0)
				clients_drain_kernel(clients);
			i--;
		} else if (!read_offer(clients, connection)) { /* usually the offer has arrived already */
			keep_connection(clients, connection, uid);
		}
	}
	clients->accept.nr_refused += (size_t)nr_refused;
	clients->accept.backlog_overflowed |= clients->accept.in_a_row > clients->accept.backlog;
	if (connection == -EAGAIN)
		clients->accept.in_a_row = 0;
	if (nr_refused > 0)
		pause_accepting(clients, CLIENTS_PERIOD_BEGIN_NS);
	if (connection >= 0 || connection == -EAGAIN || connection == -ECONNABORTED || connection == -EINTR)
		return;
	pause_accepting(clients, CLIENTS_PERIOD_MAX_NS);
	if (clients->accept.reported_error)
		return;
	message_warning("cannot accept connections of programs: %s; the daemon tries again", strerror(-connection));
	clients->accept.reported_error = true;
	clients_miss(clients, 1);
}

void client_accept_init(struct clients *clients)
{
	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++)
		clients->accept.connections[i].fd = -1;
}

void client_accept_close(struct clients *clients)
{
	user_socket_close(clients->accept.socket);
	for (size_t i = 0; i < CLIENTS_CONNECTIONS; i++)
		if (clients->accept.connections[i].fd >= 0)
			close(clients->accept.connections[i].fd);
}
