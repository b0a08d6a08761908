/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_search.h"

#include <errno.h>
#include <unistd.h>

#include "budget.h"
#include "client_bell.h"
#include "client_register.h"
#include "clients_state.h"
#include "message.h"
#include "overwrite_reader.h"
#include "ring_reader.h"
#include "user_find.h"

static void on_found(void *context, int fd, struct user_identity *identity)
{
	client_register(context, fd, identity, false, false);
}

static void on_found_late(void *context, int fd, struct user_identity *identity)
{
	client_register(context, fd, identity, true, false);
}

void client_search_all(struct clients *clients, bool late)
{
	int err;

	clients->recording.patience = RING_PATIENCE;
	err = user_find_programs(late ? on_found_late : on_found, clients);
	if (err && !clients->search.error)
		message_warning("cannot search for programs that already run: %s; some may not be recorded",
				user_find_error_text(err));
	clients->search.error = clients->search.error ? clients->search.error : err;
}

void client_search_listen(struct clients *clients)
{
	struct trace_error error = {0};
	bool waits = false;

	clients->accept.socket = user_socket_listen(&error);
	if (!clients->accept.socket && error.code == -EADDRINUSE) {
		waits = client_register_wait_for(clients, user_socket_owner());
		if (!waits)
			clients->accept.socket = user_socket_listen(&error);
	}
	if (!clients->accept.socket)
		join_error_begin(&clients->join_error, waits && clients->search.other_fd >= 0, &error);
	else
		join_error_end(&clients->join_error);
	clients->accept.backlog = clients->accept.socket ? user_socket_backlog() : 0;
}

/*
 * SECURITY: a program can pretend to be another daemon, and end as often as it likes. The budget
 * limits the scans of /proc that it causes.
 */
void client_search_again(struct clients *clients)
{
	if (!clients->search.rescan_due || !budget_take(clients->budget, BUDGET_EVERYBODY, BUDGET_SCANS, 1))
		return;
	clients->search.rescan_due = false;
	client_search_all(clients, false);
}

void client_search_other_gone(struct clients *clients)
{
	close(clients->search.other_fd);
	clients->search.other_fd = -1;
	if (!clients->accept.socket) {
		client_search_listen(clients);
		client_bell_begin(clients);
		if (clients->accept.socket)
			client_watch_add(&clients->watch, user_socket_fd(clients->accept.socket), WATCH_SOCKET);
	}
	clients->search.rescan_due = !clients->off;
	client_search_again(clients);
}
