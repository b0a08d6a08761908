/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_results.c - turns bills by origin into servers and their clients, and verifies the sums
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "sort.h"
#include "kernel_numbers.h"
#include "../result_order.h"
#include "servers_share_list.h"
#include "servers_state.h"
#include "servers_verify.h"

static uint64_t cpu_of(const struct trace_servers *s, const struct trace_process *process)
{
	uint64_t ns = 0;

	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(process, thread));)
		ns += trace_thread_cpu_ns(s->analysis, thread);
	return ns;
}

struct client_row {
	uint64_t key; /* address of its process, or of its interned text */
	uint64_t idx;
};

/* Find or make a client. Returns NULL if out of memory. */
static struct trace_server_client *client_of(struct hash_table *index, struct trace_server_client *clients, size_t *nr,
					     const struct servers_process *process, const char *address)
{
	const struct trace_process *wanted = process ? process->process : NULL;
	uint32_t before = index->used;
	struct client_row *row = table_add(index, sizeof(*row), wanted ? (uintptr_t)wanted : (uintptr_t)address);

	if (!row)
		return NULL;
	if (index->used == before)
		return &clients[row->idx];
	row->idx = (*nr)++;
	clients[row->idx] = (struct trace_server_client){.process = wanted, .comm = "", .address = address};
	if (wanted) {
		clients[row->idx].pid = trace_process_pid(wanted);
		clients[row->idx].comm = trace_process_comm(wanted);
	}
	return &clients[row->idx];
}

static int by_cpu(const void *left, const void *right)
{
	const struct trace_server_client *l = left, *r = right;
	int difference = descending(l->cpu_ns, r->cpu_ns);

	difference = difference ?: ascending(l->pid, r->pid);
	difference = difference ?: strcmp(l->address, r->address);
	difference = difference ?: by_process(l->process, r->process);
	difference = difference ?: strcmp(l->comm, r->comm);
	difference = difference ?: descending(l->requests, r->requests);
	return difference;
}

/* The rest of the bill is shared: with others, or with the server's own work. */
static void client_finish(struct trace_server *server, struct trace_server_client *client)
{
	client->least_ns = client->exact_ns;
	client->shared_ns = client->cpu_ns - client->exact_ns;
	if (client->most_ns > server->cpu_ns)
		client->most_ns = server->cpu_ns;
	server->exact_ns += client->exact_ns;
	server->shared_ns += client->shared_ns;
}

static void server_finish(struct trace_servers *s, struct servers_process *process, struct trace_server *ret_server)
{
	struct trace_server server = {.process = process->process,
				      .pid = trace_process_pid(process->process),
				      .comm = trace_process_comm(process->process),
				      .cpu_ns = cpu_of(s, process->process),
				      .softirq_ns = process->receiving};
	struct trace_server_client *clients = calloc(process->bills.used + 1, sizeof(*clients));
	struct hash_table index = {0};

	if (!clients) {
		s->failed = -ENOMEM;
		return;
	}
	if (process->billed > server.cpu_ns)
		bill_take_back(process, process->billed - server.cpu_ns);
	for (const struct bill *bill = NULL; (bill = table_next(&process->bills, sizeof(*bill), bill));) {
		uint32_t origin = (uint32_t)(bill->key - 1);
		const char *address;
		struct servers_process *who = origin_resolve(s, origin, &address);
		struct trace_server_client *client;

		if (who == process && s->origins.items[origin].kind == ORIGIN_LINK)
			continue; /* a pipeline: its own work */
		client = client_of(&index, clients, &server.nr_clients, who, address);
		if (!client) {
			s->failed = -ENOMEM;
			break;
		}
		client->exact_ns += open_proven(process, bill);
		client->cpu_ns += bill->ns;
		client->most_ns += open_most(process, bill);
		client->requests += bill->requests;
		client->softirq_ns += bill->receiving;
		client->interrupted_ns += bill->interrupted;
		server.requests += bill->requests;
	}
	table_clear(&index);
	for (size_t i = 0; i < server.nr_clients; i++)
		client_finish(&server, &clients[i]);
	server.background_ns = server.cpu_ns - server.exact_ns - server.shared_ns;
	if (!sort_rows(clients, server.nr_clients, sizeof(*clients), by_cpu))
		s->failed = -ENOMEM;
	server.clients = clients;
	*ret_server = server;
}

static int by_server(const void *left, const void *right)
{
	const struct trace_server *l = left, *r = right;

	return descending(l->cpu_ns, r->cpu_ns) ?: ascending(l->pid, r->pid) ?: by_process(l->process, r->process);
}

static int by_softirq(const void *left, const void *right)
{
	const struct trace_receiver *l = left, *r = right;
	int difference = descending(l->softirq_ns, r->softirq_ns);

	difference = difference ?: !l->process - !r->process;
	difference = difference ?: by_process(l->process, r->process);
	return difference;
}

static void receivers_finish(struct trace_servers *s)
{
	packets_end(s);
	s->results.receivers = calloc(s->processes.nr + 1, sizeof(*s->results.receivers));
	if (!s->results.receivers) {
		s->failed = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < s->processes.nr; i++)
		if (s->processes.by_idx[i]->receiving)
			s->results.receivers[s->results.nr_receivers++] =
				(struct trace_receiver){.process = s->processes.by_idx[i]->process,
							.softirq_ns = s->processes.by_idx[i]->receiving,
							.deliveries = s->processes.by_idx[i]->deliveries};
	if (s->packets.unclaimed_ns)
		s->results.receivers[s->results.nr_receivers++].softirq_ns = s->packets.unclaimed_ns;
	if (!sort_rows(s->results.receivers, s->results.nr_receivers, sizeof(*s->results.receivers), by_softirq))
		s->failed = -ENOMEM;
}

static void finish(struct trace_servers *s)
{
	if (s->results.finished)
		return;
	s->results.finished = true;
	s->failed = servers_failed(s);
	if (s->failed)
		return;
	for (uint32_t i = 0; i < s->threads.nr; i++)
		if (s->threads.by_idx[i])
			bill_now(s, s->threads.by_idx[i]);
	for (uint32_t i = 0; i < s->threads.nr; i++)
		if (s->threads.by_idx[i])
			waits_decided(s, s->threads.by_idx[i]);
	open_finish(s);
	s->results.servers = calloc(s->processes.nr + 1, sizeof(*s->results.servers));
	if (!s->results.servers)
		s->failed = -ENOMEM;
	for (uint32_t i = 0; i < s->processes.nr && !s->failed; i++) {
		struct trace_server *server = &s->results.servers[s->results.nr_servers];

		if (!process_is_server(s->processes.by_idx[i]))
			continue;
		server_finish(s, s->processes.by_idx[i], server);
		if (server->requests || server->exact_ns || server->shared_ns)
			s->results.nr_servers++;
		else
			free((void *)server->clients);
	}
	waits_finish(s);
	receivers_finish(s);
	if (s->strings.failed || (!s->failed && !sort_rows(s->results.servers, s->results.nr_servers,
							   sizeof(*s->results.servers), by_server)))
		s->failed = -ENOMEM;
}

size_t trace_nr_servers(struct trace_servers *s)
{
	finish(s);
	return s->failed ? 0 : s->results.nr_servers;
}

const struct trace_server *trace_get_server(struct trace_servers *s, size_t idx)
{
	return idx < trace_nr_servers(s) ? &s->results.servers[idx] : NULL;
}

size_t trace_nr_receivers(struct trace_servers *s)
{
	finish(s);
	return s->failed ? 0 : s->results.nr_receivers;
}

const struct trace_receiver *trace_get_receiver(struct trace_servers *s, size_t idx)
{
	return idx < trace_nr_receivers(s) ? &s->results.receivers[idx] : NULL;
}

size_t trace_nr_server_waits(struct trace_servers *s)
{
	finish(s);
	return s->failed ? 0 : s->waits.nr_results;
}

const struct trace_server_wait *trace_get_server_wait(struct trace_servers *s, size_t idx)
{
	return idx < trace_nr_server_waits(s) ? &s->waits.results[idx] : NULL;
}

int trace_server_shares(struct trace_servers *s, const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns,
			trace_server_share_fn fn, void *data)
{
	finish(s);
	return s->failed ? -ENOMEM : share_list(s, thread, from_ns, to_ns, fn, data);
}

int trace_server_requests(struct trace_servers *s, const struct trace_process *process, trace_server_request_fn fn,
			  void *data)
{
	finish(s);
	return s->failed ? -ENOMEM : kept_list(s, process, fn, data);
}

/* Are all events of all threads in the trace? A gap may prove later that a thread had no CPU. */
static bool is_complete(const struct trace_servers *s)
{
	return !trace_nr_gaps(s->trace) && !trace_analysis_nr_late_gaps(s->analysis) &&
	       !trace_analysis_halted_ns(s->analysis) && !trace_analysis_inconsistencies(s->analysis) &&
	       !trace_analysis_is_filtered(s->analysis);
}

static int server_verify(struct trace_servers *s, const struct trace_server *server, struct trace_error *ret_error)
{
	const struct servers_process *process = servers_process_of(s, server->process);
	struct trace_figures *f = trace_process_figures(s->analysis, server->process);
	uint64_t cpu_ns;

	if (!f || !process) {
		trace_figures_free(f);
		return error_set(ret_error, -ENOMEM, "out of memory to verify the servers' bills");
	}
	cpu_ns = f->user_ns + f->syscall_ns + f->trap_ns;
	trace_figures_free(f);
	return bills_verify(server, cpu_ns, is_complete(s) && process->billed > cpu_ns ? process->billed - cpu_ns : 0,
			    ret_error);
}

/* Verify that the softirq time for receiving is the sum of its charged and unclaimed parts. */
static int receivers_verify(const struct trace_servers *s, struct trace_error *ret_error)
{
	uint64_t given = 0, spent = 0;

	for (size_t i = 0; i < s->results.nr_receivers; i++)
		given += s->results.receivers[i].softirq_ns;
	for (uint32_t cpu = 0; cpu < trace_nr_cpus(s->analysis); cpu++)
		spent += trace_cpu_softirq_ns(s->analysis, cpu, SOFTIRQ_NET_RX);
	if (given == spent)
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "receiving from the network took %" PRIu64 " ns, but its parts are %" PRIu64 " ns", spent,
			 given);
}

int trace_servers_error(struct trace_servers *s, struct trace_error *ret_error)
{
	finish(s);
	return s->failed ? error_set(ret_error, -ENOMEM,
				     "out of memory for the servers' bills; analyze on a larger machine")
			 : 0;
}

int trace_servers_verify(struct trace_servers *s, struct trace_error *ret_error)
{
	int error;

	error = trace_servers_error(s, ret_error);
	for (size_t i = 0; i < s->results.nr_servers && !error; i++)
		error = server_verify(s, &s->results.servers[i], ret_error);
	for (size_t i = 0; i < s->results.nr_servers && !error && s->shares && is_complete(s); i++)
		error = share_list_verify(s, &s->results.servers[i], ret_error);
	for (size_t i = 0; i < s->results.nr_servers && !error && s->kept; i++)
		error = kept_verify(s, &s->results.servers[i], is_complete(s), ret_error);
	for (size_t i = 0; i < s->waits.nr_results && !error; i++)
		error = wait_verify(&s->waits.results[i], ret_error);
	if (!error)
		error = receivers_verify(s, ret_error);
	return error;
}

void results_free(struct servers_results *results)
{
	for (size_t i = 0; i < results->nr_servers; i++)
		free((void *)results->servers[i].clients);
	free(results->servers);
	free(results->receivers);
}
