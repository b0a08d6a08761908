/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_period.h"

#include "clients_state.h"
#include "clock.h"

/* A flight recorder looks at new programs after 5, 10, 20 ms ... until the period reaches this. */
#define LOOK_PERIOD_MAX_NS 3000000000ull
#define CLOCK_NS	   1000000000ull

/* For a flight recorder: look again until no new events have appeared for a while. */
static void choose_flight_look(struct clients *clients)
{
	struct clock_sample now;

	if (clients->period_ns < LOOK_PERIOD_MAX_NS)
		client_watch_set_timer(&clients->watch, clients->period_ns);
	if (clock_now() - clients->clock_ns < CLOCK_NS)
		return;
	now = clock_take_sample(); /* the daemon is awake anyway */
	clients->clock_ns = now.monotonic_ns;
	user_clock_add(&clients->recording.clock, &now);
}

void client_period_choose(struct clients *clients)
{
	uint64_t highest = 0, all = 0;

	if (clients->recording.flight) {
		choose_flight_look(clients);
		return;
	}
	for (struct client *client = clients->table.list; client; client = client->next) {
		uint64_t taken = user_program_is_released(client->program) ? client->taken_before
									   : user_program_taken(client->program);
		uint64_t share = (taken - client->taken_before) * 4 / user_program_mapping(client->program)->nr_subbufs;

		all += taken - client->taken_before;
		highest = share > highest ? share : highest;
		client->taken_before = taken;
	}
	if (highest && clients->period_ns > CLIENTS_PERIOD_MIN_NS)
		clients->period_ns /= 2;
	else if (!all && clients->period_ns < CLIENTS_PERIOD_MAX_NS)
		clients->period_ns *= 2;
	if (clients->status.programs)
		client_watch_set_timer(&clients->watch,
				       clients->accept.is_paused && clients->period_ns > CLIENTS_PERIOD_BEGIN_NS
					       ? CLIENTS_PERIOD_BEGIN_NS
					       : clients->period_ns);
	else
		client_watch_set_timer(&clients->watch, clients->accept.is_paused || clients->search.rescan_due
								? CLIENTS_PERIOD_MAX_NS
								: 0);
}
