/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_reap.h"

#include <poll.h>
#include <stdlib.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "budget.h"
#include "client_late.h"
#include "clients_state.h"
#include "clock.h"
#include "user_find.h"
#include "user_snapshot.h"

size_t client_reap_replaced(struct clients *clients, pid_t pid, uid_t uid)
{
	struct client_living live = client_table_living(&clients->table, pid);
	bool mapped[CLIENTS_PER_PROCESS];
	size_t nr = live.nr;

	if (!nr || !budget_take(clients->budget, uid, BUDGET_MAPPINGS, 1))
		return nr;
	budget_spend(clients->budget, uid, BUDGET_MAPPINGS, user_find_which_maps(pid, live.inos, mapped, live.nr));
	for (size_t i = 0; i < live.nr; i++) {
		live.clients[i]->dead = !mapped[i];
		nr -= !mapped[i];
	}
	return nr;
}

void client_reap_mark(struct clients *clients, int pid_fd)
{
	struct pollfd dead = {.fd = pid_fd, .events = POLLIN};

	if (poll(&dead, 1, 0) != 1 || !(dead.revents & POLLIN))
		return; /* the event is old: the descriptor now belongs to a living process */
	client_watch_remove(&clients->watch, pid_fd);
	for (struct user_link *link = NULL;
	     (link = user_index_next(&clients->table.by_pid_fd, (uint64_t)pid_fd, link));)
		((struct client *)link->item)->dead = true;
}

static void mark_needed(void *context, int fd, struct user_identity *identity)
{
	struct client *client = client_table_find(&((struct clients *)context)->table, fd);

	if (client)
		client->needed = true;
	if (identity->pid_fd >= 0)
		close(identity->pid_fd);
	close(fd);
}

static void drop_client(struct clients *clients, struct client *client)
{
	struct user_kept_counts counts = {0};

	if (clients->recording.flight)
		user_snapshot_get_counts(client->program, &counts);
	else
		client_lose_late(clients, client->program);
	clients->unregistered = trace_add_saturated(clients->unregistered, user_program_unregistered(client->program));
	clients->dead.gone.programs += counts.overwritten || counts.lost;
	clients->dead.gone.overwritten = trace_add_saturated(clients->dead.gone.overwritten, counts.overwritten);
	clients->dead.gone.lost = trace_add_saturated(clients->dead.gone.lost, counts.lost);
	clients->dead.gone.claimed = trace_add_saturated(clients->dead.gone.claimed, counts.claimed);
	if ((counts.overwritten || counts.lost) && client->died_ns > clients->dead.gone.ns)
		clients->dead.gone.ns = client->died_ns;
	clients->dead.bytes -= user_snapshot_saved(client->program);
	if (!client->is_uncharged)
		budget_release(clients->budget, client->payer, BUDGET_DEAD, 1);
	budget_release(clients->budget, client->payer, BUDGET_ADDRESS, client->bytes);
	client_table_unindex(&clients->table, client);
	user_program_free(client->program);
	free(client);
	clients->dead.nr--;
}

/* The program that died first of those with saved data. The list begins with the newest program. */
static struct client *first_dead(const struct clients *clients)
{
	struct client *first = NULL;

	for (struct client *client = clients->table.list; client; client = client->next)
		if (user_program_is_released(client->program) && user_snapshot_saved(client->program) &&
		    (!first || client->died_ns <= first->died_ns))
			first = client;
	return first;
}

/*
 * A flight recorder keeps the latest data of dead programs, within limits; what it drops counts as
 * overwritten.
 */
static void keep_limits(struct clients *clients)
{
	struct client *first;
	size_t bytes, nr = 0;

	for (const struct client *client = clients->table.list; client; client = client->next)
		nr += user_snapshot_saved(client->program) > 0;
	while ((clients->dead.bytes > clients->dead.bytes_max || nr > clients->dead.max) &&
	       (first = first_dead(clients))) {
		bool all = clients->dead.bytes <= clients->dead.bytes_max;

		do {
			bytes = user_snapshot_drop(first->program);
			clients->dead.bytes -= bytes;
		} while (bytes && (all || clients->dead.bytes > clients->dead.bytes_max));
		nr -= !user_snapshot_saved(first->program);
	}
}

/*
 * Drop the dead programs that no living process maps any more. If the scan of /proc
 * fails, drop none.
 */
static void drop_unneeded(struct clients *clients)
{
	struct client **slot = &clients->table.list;
	int err;

	if (clients->dead.nr < clients->dead.check_at ||
	    !budget_take(clients->budget, BUDGET_EVERYBODY, BUDGET_SCANS, 1))
		return;
	for (struct client *client = clients->table.list; client; client = client->next)
		client->needed = !user_program_is_released(client->program) || user_snapshot_saved(client->program);
	err = user_find_programs(mark_needed, clients);
	while (*slot) {
		struct client *client = *slot;

		if (client->needed || err) {
			slot = &client->next;
			continue;
		}
		*slot = client->next;
		drop_client(clients, client);
	}
	clients->dead.check_at = 2 * clients->dead.nr > CLIENTS_RELEASED_MIN ? 2 * clients->dead.nr
									     : CLIENTS_RELEASED_MIN;
}

/*
 * A user has too many dead programs: drop the one that connected first, although a child that has
 * not recorded anything yet may use its switches.
 */
static void drop_oldest_of(struct clients *clients, uid_t payer)
{
	struct client **oldest = NULL, *client;

	for (struct client **slot = &clients->table.list; *slot; slot = &(*slot)->next)
		if ((*slot)->payer == payer && user_program_is_released((*slot)->program))
			oldest = slot;
	if (!oldest)
		return;
	client = *oldest;
	*oldest = client->next;
	clients->dead.nr_dropped++;
	drop_client(clients, client);
}

static void reap(struct clients *clients, struct client *client)
{
	uint64_t bytes = client->bytes;

	user_index_remove(&clients->table.by_pid_fd, &client->by_pid_fd);
	user_program_release(client->program);
	client->died_ns = clock_now();
	client->bytes = user_program_mapping(client->program)->bytes;
	clients->dead.bytes += user_snapshot_saved(client->program);
	clients->dead.nr++;
	clients->status.programs--;
	budget_release(clients->budget, client->payer, BUDGET_PROGRAMS, 1);
	budget_release(clients->budget, client->payer, BUDGET_ADDRESS, bytes - client->bytes);
}

void client_reap_all(struct clients *clients)
{
	for (struct client *client = clients->table.list; client; client = client->next) {
		if (!client->dead || user_program_is_released(client->program) || !user_program_finish(client->program))
			continue;
		if (!budget_charge(clients->budget, client->payer, BUDGET_DEAD, 1)) {
			drop_oldest_of(clients, client->payer);
			client->is_uncharged = !budget_charge(clients->budget, client->payer, BUDGET_DEAD, 1);
		}
		reap(clients, client);
		clients_drain_kernel(clients);
	}
	keep_limits(clients);
	drop_unneeded(clients);
}
