/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_servers.c - servers: their work for each client, what clients waited for, and the
 * receivers of the network's softirq work.
 */
#include <inttypes.h>
#include "grid.h"

#define ROWS	   15 /* in each table, unless --top or --all choose another number */
#define PART_ROWS  3  /* waits of a server, below the wait of its client */
#define NAME_BYTES 256

/* ---- servers and their clients ---- */

static bool client_wanted(const struct report *report, const struct trace_server *server)
{
	for (size_t i = 0; i < server->nr_clients; i++)
		if (server->clients[i].process && process_wanted(report, server->clients[i].process))
			return true;
	return process_wanted(report, server->process);
}

/* True if the time of receiving is known. Unknown time is not printed as 0. */
static bool sees_receiving(const struct report *report)
{
	return has_recorded(report, TRACE_EV_softirq_entry);
}

static void client_table(const struct report *report, const struct trace_server *server)
{
	const struct grid_column columns[] = {{"CPU time", GRID_RIGHT}, {"exact", GRID_RIGHT}, {"shared", GRID_RIGHT}, {"requests", GRID_RIGHT},
					      {"receiving", sees_receiving(report) ? GRID_OPTIONAL : GRID_HIDDEN}, {"for client", GRID_ELASTIC}};
	struct grid *grid = grid_new(report, "\t\t", columns, sizeof(columns) / sizeof(columns[0]));
	struct fold fold = fold_begin(report, ROWS);
	struct text rest;

	for (size_t i = 0; i < server->nr_clients; i++) {
		const struct trace_server_client *client = &server->clients[i];

		if (!fold_shows(&fold, client->cpu_ns + client->softirq_ns, server->cpu_ns + server->softirq_ns))
			continue;
		grid_ns(grid, client->cpu_ns);
		grid_ns(grid, client->exact_ns);
		grid_ns(grid, client->shared_ns);
		grid_count(grid, client->requests);
		grid_ns(grid, client->softirq_ns);
		if (client->process)
			grid_process(grid, client->comm, client->pid);
		else
			grid_name(grid, client->address);
	}
	grid_end(grid, fold_rest(&fold, &rest));
}

/*
 * The attribution of each server's CPU time. The greater the exact share, the more reliable the
 * bill.
 */
static void server_table(const struct report *report)
{
	struct fold fold = fold_begin(report, ROWS);
	char name[NAME_BYTES];
	uint64_t greatest = trace_nr_servers(report->servers) ? trace_get_server(report->servers, 0)->cpu_ns : 0;
	bool any = false;
	struct text t;

	for (size_t i = 0; i < trace_nr_servers(report->servers); i++) {
		const struct trace_server *server = trace_get_server(report->servers, i);

		if (!client_wanted(report, server))
			continue;
		if (!any)
			grid_title(report, "", sees_receiving(report) ? "Servers (receiving: softirq time for their sockets, not in their CPU time):" : "Servers:");
		any = true;
		if (!fold_shows(&fold, server->cpu_ns, greatest))
			continue;
		grid_line(report, "\t", "%s: %s of CPU time, %.1f %% exact, %.1f %% shared, %.1f %% background",
			  text_process(server->comm, server->pid, name, sizeof(name)), text_ns(report, server->cpu_ns, &t),
			percent(server->exact_ns, server->cpu_ns), percent(server->shared_ns, server->cpu_ns),
			percent(server->background_ns, server->cpu_ns));
		client_table(report, server);
	}
	if (fold.left)
		grid_line(report, "\t", "%s", fold_rest(&fold, &t));
	if (any)
		fputs("\n", report->out);
}

/* ---- clients: the work of servers during their waits ---- */

static void part_line(struct grid *grid, uint64_t ns, const char *what, const char *name)
{
	struct string text = {0};

	string_add(&text, what);
	string_add(&text, name);
	grid_ns(grid, ns);
	grid_text(grid, string_text(&text));
	string_free(&text);
}

static void left_line(struct grid *grid, const struct fold *fold)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", fold->left);
	if (fold->left)
		part_line(grid, fold->left_ns, text, " more");
}

static void blocked_lines(struct grid *grid, const struct report *report, const struct trace_server_wait *wait)
{
	struct fold fold = fold_begin(report, PART_ROWS);
	char text[NAME_BYTES + 64];

	for (size_t i = 0; i < wait->nr_waits; i++)
		if (fold_shows(&fold, wait->waits[i].ns, wait->wait_ns))
			part_line(grid, wait->waits[i].ns, "it waited for ",
				  text_wait(report, &wait->waits[i], trace_process_pid(wait->server), text, sizeof(text)));
	left_line(grid, &fold);
}

static void queued_lines(struct grid *grid, const struct report *report, const struct trace_server_wait *wait)
{
	struct fold fold = fold_begin(report, PART_ROWS);
	char text[NAME_BYTES + 64], name[NAME_BYTES];

	for (size_t i = 0; i < wait->nr_wait_cpu_for; i++) {
		const struct trace_cpu_wait *holder = &wait->wait_cpu_for[i];

		if (!fold_shows(&fold, holder->ns, wait->wait_ns))
			continue;
		text_process(holder->comm, holder->pid, name, sizeof(name));
		snprintf(text, sizeof(text), holder->pid ? "%s" : "(%s)", name);
		if (is_idle(holder))
			part_line(grid, holder->ns, "its idle CPU was waking up", "");
		else
			part_line(grid, holder->ns, "its CPU was taken by ", text);
	}
	left_line(grid, &fold);
}

static void wait_block(const struct report *report, const struct trace_server_wait *wait)
{
	static const struct grid_column columns[] = {{"", GRID_RIGHT}, {"", GRID_ELASTIC}};
	struct grid *grid = grid_new(report, "\t\t  ", columns, 2);
	char client[NAME_BYTES], server[NAME_BYTES];
	struct text t;

	grid_line(report, "\t", "%s waited %s for %s, %" PRIu64 " time%s:",
		  text_process(trace_process_comm(wait->client), trace_process_pid(wait->client), client, sizeof(client)),
		  text_ns(report, wait->wait_ns, &t),
		  text_process(trace_process_comm(wait->server), trace_process_pid(wait->server), server, sizeof(server)), wait->count, wait->count == 1 ? "" : "s");
	if (wait->for_client_ns)
		part_line(grid, wait->for_client_ns, "it worked for this client", "");
	if (wait->for_others_ns)
		part_line(grid, wait->for_others_ns, "it worked for others, or for itself", "");
	blocked_lines(grid, report, wait);
	queued_lines(grid, report, wait);
	if (wait->rest_ns)
		part_line(grid, wait->rest_ns, "interrupts, and time too long ago to be attributed", "");
	grid_end(grid, NULL);
}

static void wait_table(const struct report *report)
{
	struct fold fold = fold_begin(report, ROWS);
	uint64_t longest = trace_nr_server_waits(report->servers) ? trace_get_server_wait(report->servers, 0)->wait_ns : 0;
	bool any = false;
	struct text t;

	for (size_t i = 0; i < trace_nr_server_waits(report->servers); i++) {
		const struct trace_server_wait *wait = trace_get_server_wait(report->servers, i);

		if (!process_wanted(report, wait->client) && !process_wanted(report, wait->server))
			continue;
		if (!any)
			grid_title(report, "", "Waiting for servers, and what they did meanwhile:");
		any = true;
		if (fold_shows(&fold, wait->wait_ns, longest))
			wait_block(report, wait);
	}
	if (fold.left)
		grid_line(report, "\t", "%s", fold_rest(&fold, &t));
	if (any)
		fputs("\n", report->out);
}

/* ---- receivers from the network ---- */

static void receiver_table(const struct report *report)
{
	static const struct grid_column columns[] = {
		{"softirq", GRID_RIGHT}, {"%", GRID_RIGHT}, {"deliveries", GRID_RIGHT}, {"for the sockets of", GRID_ELASTIC}};
	struct fold fold = fold_begin(report, ROWS);
	uint64_t whole = 0;
	struct grid *grid;
	struct text rest;

	for (size_t i = 0; i < trace_nr_receivers(report->servers); i++)
		whole += trace_get_receiver(report->servers, i)->softirq_ns;
	if (!whole)
		return;
	grid_title(report, "", "Receiving from the network (softirq time by receiving process; other tables count it for the interrupted thread):");
	grid = grid_new(report, "  ", columns, 4);
	for (size_t i = 0; i < trace_nr_receivers(report->servers); i++) {
		const struct trace_receiver *receiver = trace_get_receiver(report->servers, i);

		if (receiver->process && !process_wanted(report, receiver->process))
			continue;
		if (!fold_shows(&fold, receiver->softirq_ns, whole))
			continue;
		grid_ns(grid, receiver->softirq_ns);
		grid_percent(grid, receiver->softirq_ns, whole);
		grid_count(grid, receiver->deliveries);
		if (receiver->process)
			grid_process(grid, trace_process_comm(receiver->process), trace_process_pid(receiver->process));
		else
			grid_text(grid, "no socket: acknowledgements, dropped packets, the polling itself");
	}
	grid_end(grid, fold_rest(&fold, &rest));
	fputs("\n", report->out);
}

void report_servers(const struct report *report)
{
	server_table(report);
	wait_table(report);
	receiver_table(report);
}
