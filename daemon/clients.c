/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "budget.h"
#include "client_accept.h"
#include "client_bell.h"
#include "client_late.h"
#include "client_period.h"
#include "client_reap.h"
#include "client_search.h"
#include "clients_state.h"
#include "error_set.h"
#include "format_text.h"
#include "message.h"
#include "offer_child.h"
#include "overwrite_reader.h"
#include "ring_reader.h"
#include "user_maps.h"
#include "user_snapshot.h"

#define CLIENTS_EVENTS 32
/*
 * Bounds, because programs may go on connecting for ever: so many rounds take all connections that
 * the socket holds, and then there are more only for this time.
 */
#define CLIENTS_LAST_ROUNDS 64
#define CLIENTS_LAST_NS	    500000000ull
#define CLIENTS_LAST_CALLS  16 /* of these rounds also take calls: all that were made before, and more */
#define CLIENTS_DEAD_BYTES  (256u << 20)
#define CLIENTS_DEAD_MAX    2048

/* ---- the recording ---- */

struct clients *clients_new(const struct clients_options *options, struct trace_error *ret_error)
{
	struct clients *clients = calloc(1, sizeof(*clients));
	int err;

	if (!clients) {
		error_set(ret_error, -ENOMEM, "no memory for programs' events");
		return NULL;
	}
	client_accept_init(clients);
	clients->budget = budget_new(options->limits);
	clients->recording.budget = clients->budget;
	clients->selection = *options->selection;
	clients->filter = options->filter;
	clients->tracer = options->tracer;
	clients->dead.check_at = CLIENTS_RELEASED_MIN;
	clients->search.other_fd = -1;
	clients->bell.presence_fd = -1;
	clients->period_ns = CLIENTS_PERIOD_BEGIN_NS;
	clients->recording.blocking = options->blocking;
	clients->recording.flight = options->flight;
	clients->dead.bytes_max = options->dead_bytes ? options->dead_bytes : CLIENTS_DEAD_BYTES;
	clients->dead.max = options->dead_max ? options->dead_max : CLIENTS_DEAD_MAX;
	clients->recording.selection = &clients->selection;
	clients->recording.next_stream = USER_FIRST_STREAM;
	err = client_watch_init(&clients->watch);
	if (!clients->budget)
		err = -ENOMEM;
	if (err) {
		error_set(ret_error, err, "cannot wait for programs: %s", strerror(-err));
		return clients_free(clients);
	}
	clients->join_error.wanted = select_wants_any_user(&clients->selection);
	client_search_listen(clients);
	client_bell_begin(clients);
	return clients;
}

void clients_begin(struct clients *clients, struct drain *drain, struct trace_writer *writer,
		   const struct clock_sample *start)
{
	clients->recording.drain = drain;
	clients->recording.writer = writer;
	clients->recording.start_ns = start->monotonic_ns;
	user_clock_add(&clients->recording.clock, start);
	client_search_all(clients, false);
	if (clients->accept.socket)
		client_watch_add(&clients->watch, user_socket_fd(clients->accept.socket), WATCH_SOCKET);
}

struct clients *clients_free(struct clients *clients)
{
	if (!clients)
		return NULL;
	client_bell_end(clients);
	client_accept_close(clients);
	while (clients->table.list) {
		struct client *client = clients->table.list;

		clients->table.list = client->next;
		user_program_free(client->program);
		free(client);
	}
	if (clients->search.other_fd >= 0)
		close(clients->search.other_fd);
	client_watch_close(&clients->watch);
	budget_free(clients->budget);
	offer_child_close();
	user_maps_close();
	free(clients);
	return NULL;
}

int clients_fd(const struct clients *clients)
{
	return clients->watch.epoll_fd;
}

static void on_timer(struct clients *clients)
{
	uint64_t expirations;
	bool found = false;

	if (read(clients->watch.timer_fd, &expirations, sizeof(expirations)) < 0)
		return; /* the timer was set again meanwhile */
	client_accept_resume(clients);
	client_search_again(clients);
	for (struct client *client = clients->table.list; client; client = client->next)
		found |= user_program_look(client->program);
	if (clients->recording.flight)
		clients->period_ns = found ? CLIENTS_PERIOD_BEGIN_NS : 2 * clients->period_ns;
}

/* Returns how many descriptors it has looked at. @hears: take calls, too */
static int dispatch(struct clients *clients, bool hears)
{
	struct epoll_event events[CLIENTS_EVENTS];
	int nr = epoll_wait(clients->watch.epoll_fd, events, CLIENTS_EVENTS, 0), skipped = 0;

	for (int i = 0; i < nr; i++) {
		int fd = (int)(events[i].data.u64 >> 32);

		switch ((uint32_t)events[i].data.u64) {
		case WATCH_SOCKET:
			client_accept_all(clients);
			break;
		case WATCH_TIMER:
			on_timer(clients);
			break;
		case WATCH_CONNECTION:
			client_accept_read(clients, fd);
			break;
		case WATCH_DAEMON:
			client_search_other_gone(clients);
			break;
		case WATCH_BELL:
			if (hears)
				client_bell_take(clients);
			skipped += !hears;
			break;
		default:
			client_reap_mark(clients, fd);
		}
	}
	return nr - skipped;
}

void clients_dispatch(struct clients *clients)
{
	dispatch(clients, true);
}

void clients_look(struct clients *clients)
{
	client_reap_all(clients);
	client_period_choose(clients);
}

static void switch_all(struct clients *clients)
{
	for (struct client *client = clients->table.list; client; client = client->next)
		user_program_switch(client->program, clients->off);
}

void clients_select(struct clients *clients, const struct selection *selection)
{
	clients->selection = *selection;
	clients->join_error.wanted |= select_wants_any_user(selection);
	switch_all(clients);
}

void clients_halt(struct clients *clients, bool halted)
{
	clients->recording.halted = halted;
	switch_all(clients);
}

const struct selection *clients_selection(const struct clients *clients)
{
	return &clients->selection;
}

/* Take every program that offered its memory before now, and those found in /proc. */
static void take_all(struct clients *clients)
{
	uint64_t end_ns = clock_now() + CLIENTS_LAST_NS;

	client_accept_resume(clients);
	for (int round = 0; dispatch(clients, round < CLIENTS_LAST_CALLS) > 0; round++) {
		clients_drain_kernel(clients);
		if (round >= CLIENTS_LAST_ROUNDS && clock_now() > end_ns) {
			clients->accept.backlog_overflowed = true; /* the kernel still has some */
			break;
		}
	}
	client_search_all(clients, true);
	for (struct client *client = clients->table.list; client; client = client->next)
		user_program_look(client->program);
}

void clients_end_at(struct clients *clients, uint64_t end_ns)
{
	clients->recording.end_ns = end_ns;
}

void clients_switch_off(struct clients *clients)
{
	client_bell_end(clients);
	take_all(clients);
	clients->off = true;
	switch_all(clients);
}

void clients_salvage(struct clients *clients)
{
	for (struct client *client = clients->salvages ? NULL : clients->table.list; client; client = client->next) {
		const struct user_identity *identity = user_program_identity(client->program);

		if (client->dead || user_program_is_released(client->program))
			continue;
		client_reap_replaced(clients, identity->pid, client->payer);
		clients_drain_kernel(clients);
	}
	clients->salvages = !clients->recording.flight; /* a flight recorder checks at each snapshot */
	client_reap_all(clients);
}

uint64_t clients_nr_distrusted(const struct clients *clients)
{
	return clients->recording.distrusted.nr;
}

uint64_t clients_close_counts(struct clients *clients, uint64_t *ret_claimed)
{
	uint64_t missed;

	for (struct client *client = clients->table.list; client; client = client->next) {
		user_program_close_counts(client->program);
		client_lose_late(clients, client->program);
	}
	if (clients->untaken)
		message_warning("the events of %s programs are lost: the daemon could not take their buffers. Their "
				"number is not known; each program counts as one lost event",
				text_count(clients->untaken).s);
	if (clients->missed > clients->untaken)
		message_warning("programs: %s lost, as they or their children counted: they found no trace buffers",
				text_events(clients->missed - clients->untaken).s);
	missed = clients->missed;
	*ret_claimed = missed - clients->untaken;
	clients->missed = clients->untaken = 0;
	return missed;
}

/* ---- flight recorder ---- */

uint64_t clients_oldest_ns(struct clients *clients)
{
	uint64_t oldest = UINT64_MAX, ns;

	take_all(clients);
	clients_salvage(clients);
	for (struct client *client = clients->table.list; client; client = client->next) {
		ns = user_snapshot_oldest_ns(client->program);
		oldest = ns < oldest ? ns : oldest;
	}
	return oldest;
}

int clients_snapshot(struct clients *clients, struct user_snapshot *snapshot)
{
	int err = 0;

	clients->recording.next_stream = USER_FIRST_STREAM;
	clients->recording.undescribed = 0; /* each snapshot describes all event types */
	clients->recording.last_type = 0;
	budget_reset(clients->budget, BUDGET_TYPES);
	for (struct client *client = clients->table.list; client && !err; client = client->next)
		err = user_snapshot_write(client->program, snapshot);
	snapshot->missed = trace_add_saturated(snapshot->missed, clients->missed);
	snapshot->claimed = trace_add_saturated(snapshot->claimed, clients->missed - clients->untaken);
	return err;
}

void clients_reset(struct clients *clients, const struct clock_sample *now)
{
	clients->recording.start_ns = now->monotonic_ns;
	clients->recording.distrusted = (struct distrusted_programs){0};
	user_clock_add(&clients->recording.clock, now);
	clients->recording.patience = RING_PATIENCE;
	for (struct client *client = clients->table.list; client; client = client->next)
		user_snapshot_reset(client->program);
	clients->missed = clients->untaken = 0;
	clients->lost = (struct lost_programs){0};
	clients->join_error.others_recorded = false;
	clients->dead.bytes = 0;
	clients->dead.gone = (struct clients_gone){0};
}

void clients_get_gone(const struct clients *clients, struct clients_gone *ret_gone)
{
	*ret_gone = clients->dead.gone;
}

void clients_get_status(const struct clients *clients, struct clients_status *ret_status)
{
	*ret_status = clients->status;
	ret_status->cannot_join = join_error_now(&clients->join_error);
}
