/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_servers.c - servers: their work for each client, what clients waited for, and the
 * receivers of the network's softirq work.
 */
#include <inttypes.h>
#include "checked_figures.h"
#include "checked_memory.h"
#include "grid.h"
#include "process_choice.h"
#include "recorded.h"
#include "report_servers.h"
#include "row_limit.h"
#include "wait_text.h"

#define ROWS	   15 /* in each table, unless --top or --all choose another number */
#define PART_ROWS  3  /* waits of a server, below the wait of its client */
#define NAME_BYTES 256

/* ---- servers and their clients ---- */

static bool client_wanted(const struct report *report, const struct trace_server *server)
{
	for (size_t i = 0; i < server->nr_clients; i++)
		if (server->clients[i].process &&
		    process_is_chosen(&report->options->processes, server->clients[i].process))
			return true;
	return process_is_chosen(&report->options->processes, server->process);
}

/* True if the time of receiving is known. Unknown time is not printed as 0. */
static bool sees_receiving(const struct trace_analysis *analysis)
{
	return has_recorded(analysis, TRACE_EV_softirq_entry);
}

static void client_table(const struct report *report, const struct trace_server *server)
{
	const struct grid_column columns[] = {
		{"CPU time", GRID_RIGHT},
		{"least", GRID_RIGHT},
		{"most", GRID_RIGHT},
		{"shared", GRID_RIGHT},
		{"requests", GRID_RIGHT},
		{"receiving", sees_receiving(report->analysis) ? GRID_OPTIONAL : GRID_HIDDEN},
		{"for client", GRID_ELASTIC}};
	struct grid *grid = grid_new(&report->output, "\t\t", columns, sizeof(columns) / sizeof(columns[0]));
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct value_text rest;

	for (size_t i = 0; i < server->nr_clients; i++) {
		const struct trace_server_client *client = &server->clients[i];

		if (!row_limit_shows(&limit, client->cpu_ns + client->softirq_ns, server->cpu_ns + server->softirq_ns))
			continue;
		grid_ns(grid, client->cpu_ns);
		grid_ns(grid, client->least_ns);
		grid_ns(grid, client->most_ns);
		grid_ns(grid, client->shared_ns);
		grid_count(grid, client->requests);
		grid_ns(grid, client->softirq_ns);
		if (client->process)
			grid_process(grid, trace_process_title(client->process), client->pid);
		else
			grid_name(grid, client->address);
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
}

static void server_line(const struct report *report, const struct trace_server *server)
{
	struct trace_figures *f = checked_figures(trace_process_figures(report->analysis, server->process));
	char name[NAME_BYTES], host[64] = "";
	struct value_text t;

	if (percent(f->stolen_ns, server->cpu_ns) >= 1)
		snprintf(host, sizeof(host), "; the virtual machine's host had %s of it",
			 text_ns(&report->output, f->stolen_ns, &t));
	output_line(&report->output, "\t", "%s: %s of CPU time, %.1f %% exact, %.1f %% shared, %.1f %% background%s",
		    text_process(trace_process_title(server->process), server->pid, name, sizeof(name)),
		    text_ns(&report->output, server->cpu_ns, &t), percent(server->exact_ns, server->cpu_ns),
		    percent(server->shared_ns, server->cpu_ns), percent(server->background_ns, server->cpu_ns), host);
	trace_figures_free(f);
}

/*
 * The attribution of each server's CPU time. The greater the exact share, the more reliable the
 * bill.
 */
static void server_table(const struct report *report)
{
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	uint64_t greatest = trace_nr_servers(report->servers) ? trace_get_server(report->servers, 0)->cpu_ns : 0;
	bool any = false;
	struct value_text t;

	for (size_t i = 0; i < trace_nr_servers(report->servers); i++) {
		const struct trace_server *server = trace_get_server(report->servers, i);

		if (!client_wanted(report, server))
			continue;
		if (!any)
			output_title(
				&report->output, "",
				sees_receiving(report->analysis)
					? "Servers: CPU time by client (least: exact, proven; shared: not proven; the "
					  "truth is between least and most; receiving: softirq, not included):"
					: "Servers: CPU time by client (least: exact, proven; shared: not proven; the "
					  "truth is between least and most):");
		any = true;
		if (!row_limit_shows(&limit, server->cpu_ns, greatest))
			continue;
		server_line(report, server);
		client_table(report, server);
	}
	if (limit.left)
		output_line(&report->output, "\t", "%s", row_limit_rest(&limit, &report->output, &t));
	if (any)
		fputs("\n", report->output.out);
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

static void left_line(struct grid *grid, const struct row_limit *limit, const char *one, const char *several)
{
	char text[32];

	snprintf(text, sizeof(text), "%zu", limit->left);
	if (limit->left)
		part_line(grid, limit->left_ns, text, limit->left == 1 ? one : several);
}

static void blocked_lines(struct grid *grid, const struct report *report, const struct trace_server_wait *wait)
{
	struct row_limit limit = row_limit_new(&report->options->rows, PART_ROWS);
	char text[NAME_BYTES + 64];

	for (size_t i = 0; i < wait->nr_waits; i++)
		if (row_limit_shows(&limit, wait->waits[i].ns, wait->wait_ns))
			part_line(grid, wait->waits[i].ns, "the server waited for ",
				  text_wait(report->analysis, &wait->waits[i], trace_process_pid(wait->server), text,
					    sizeof(text)));
	left_line(grid, &limit, " more wait of the server", " more waits of the server");
}

static void queued_lines(struct grid *grid, const struct report *report, const struct trace_server_wait *wait)
{
	struct row_limit limit = row_limit_new(&report->options->rows, PART_ROWS);
	char text[NAME_BYTES + 64], name[NAME_BYTES];

	for (size_t i = 0; i < wait->nr_wait_cpu_for; i++) {
		const struct trace_cpu_wait *holder = &wait->wait_cpu_for[i];

		if (!row_limit_shows(&limit, holder->ns, wait->wait_ns))
			continue;
		text_process(holder->title, holder->pid, name, sizeof(name));
		snprintf(text, sizeof(text), holder->pid ? "%s" : "(%s)", name);
		if (is_idle(holder))
			part_line(grid, holder->ns, "the server's CPU was idle and woke up", "");
		else
			part_line(grid, holder->ns, "the server's CPU was taken by ", text);
	}
	left_line(grid, &limit, " more process on the server's CPU", " more processes on the server's CPU");
}

static void wait_block(const struct report *report, const struct trace_server_wait *wait)
{
	static const struct grid_column columns[] = {{"", GRID_RIGHT}, {"", GRID_ELASTIC}};
	struct grid *grid = grid_new(&report->output, "\t\t  ", columns, 2);
	char client[NAME_BYTES], server[NAME_BYTES];
	struct value_text t;

	output_line(&report->output, "\t", "%s waited %s for %s, %" PRIu64 " time%s:",
		    text_process(trace_process_title(wait->client), trace_process_pid(wait->client), client,
				 sizeof(client)),
		    text_ns(&report->output, wait->wait_ns, &t),
		    text_process(trace_process_title(wait->server), trace_process_pid(wait->server), server,
				 sizeof(server)),
		    wait->count, wait->count == 1 ? "" : "s");
	if (wait->for_client_ns)
		part_line(grid, wait->for_client_ns, "the server worked for this client", "");
	if (wait->for_others_ns)
		part_line(grid, wait->for_others_ns, "the server worked for others, or for itself", "");
	blocked_lines(grid, report, wait);
	queued_lines(grid, report, wait);
	if (wait->rest_ns)
		part_line(grid, wait->rest_ns, "interrupts, and time too long ago to be attributed", "");
	grid_end(grid, NULL);
}

static void wait_table(const struct report *report)
{
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	uint64_t longest = trace_nr_server_waits(report->servers) ? trace_get_server_wait(report->servers, 0)->wait_ns
								  : 0;
	bool any = false;
	struct value_text t;

	for (size_t i = 0; i < trace_nr_server_waits(report->servers); i++) {
		const struct trace_server_wait *wait = trace_get_server_wait(report->servers, i);

		if (!process_is_chosen(&report->options->processes, wait->client) &&
		    !process_is_chosen(&report->options->processes, wait->server))
			continue;
		if (!any)
			output_title(&report->output, "", "Waits for servers, and what the server did meanwhile:");
		any = true;
		if (row_limit_shows(&limit, wait->wait_ns, longest))
			wait_block(report, wait);
	}
	if (limit.left)
		output_line(&report->output, "\t", "%s", row_limit_rest(&limit, &report->output, &t));
	if (any)
		fputs("\n", report->output.out);
}

/* ---- receivers from the network ---- */

static void receiver_table(const struct report *report)
{
	static const struct grid_column columns[] = {{"softirq", GRID_RIGHT},
						     {"%", GRID_RIGHT},
						     {"deliveries", GRID_RIGHT},
						     {"for the sockets of", GRID_ELASTIC}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	uint64_t whole = 0;
	struct grid *grid;
	struct value_text rest;

	for (size_t i = 0; i < trace_nr_receivers(report->servers); i++)
		whole += trace_get_receiver(report->servers, i)->softirq_ns;
	if (!whole)
		return;
	output_title(&report->output, "",
		     "Receiving from the network (softirq time by receiving process; other tables count it for the "
		     "interrupted thread):");
	grid = grid_new(&report->output, "  ", columns, 4);
	for (size_t i = 0; i < trace_nr_receivers(report->servers); i++) {
		const struct trace_receiver *receiver = trace_get_receiver(report->servers, i);

		if (receiver->process && !process_is_chosen(&report->options->processes, receiver->process))
			continue;
		if (!row_limit_shows(&limit, receiver->softirq_ns, whole))
			continue;
		grid_ns(grid, receiver->softirq_ns);
		grid_percent(grid, receiver->softirq_ns, whole);
		grid_count(grid, receiver->deliveries);
		if (receiver->process)
			grid_process(grid, trace_process_title(receiver->process),
				     trace_process_pid(receiver->process));
		else
			grid_text(grid, "no socket: acknowledgements, dropped packets, the polling itself");
	}
	grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
	fputs("\n", report->output.out);
}

void report_servers(const struct report *report)
{
	server_table(report);
	wait_table(report);
	receiver_table(report);
}
