/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_wait.c - the client's side: what a server did while its client waited for it
 *
 * Only the answer shows which thread of the server answers. So each thread of a server has a log of
 * its latest changes: on a CPU and with which set, queued for a CPU, blocked. When a client has
 * slept and then receives an answer, the log of the thread that sent the answer is laid over the
 * sleep. The sleep is split into
 *
 *   for_client     that thread's CPU time for this client
 *   for_others     its CPU time for others, or for itself
 *   waited         its blocked time
 *   wait_cpu       its time in the queue of a CPU
 *   rest           what remains: interrupts, and time before the log begins
 *
 * so the pieces add up to the sleep. Before the thread was created, the log of the thread that
 * created it is used.
 *
 * Example: a client sleeps from 0 to 10 ms. The log of the thread that answers at 10 ms has
 * "queued" at 1 ms, "on a CPU, set: this client" at 3 ms, "blocked" at 5 ms and "on a CPU, set:
 * this client" at 9 ms; the log begins at 1 ms. Then for_client is 3 ms, waited 4 ms, wait_cpu 2 ms
 * and rest 1 ms.
 *
 * Blocked pieces have names. The analysis decides the wait cause when the system call ends
 * (analyzer/wait.c); it comes as an interval, and log_interval() adds it to the entry that began
 * then. If the answer is sent in the very call that blocked, no cause is decided yet: then the
 * piece has the name of the call, if it is known. The analysis also tells which process had the CPU
 * for which the thread was queued.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "sort.h"
#include "error_set.h"
#include "../result_order.h"
#include "servers_state.h"

/* row: the waits for one cause, or for one process that had the CPU */
struct wait_part {
	uint64_t key; /* index of the cause + 1, or the address of a process */
	uint64_t ns;
	uint64_t count;
};

/*
 * An answer of a thread that has answered others, or may do so next, in one burst. Only the end of
 * the burst shows what its time was for: until then the wait is in a list of the thread.
 */
struct late_wait {
	struct late_wait *next;
	const struct servers_process *client;
	struct set *asked; /* a reference */
	uint64_t from, to;
};

/* row: the waits of one client for one server */
struct pair_wait {
	uint64_t key;
	struct trace_server_wait wait;
	struct hash_table blocked, queued; /* rows: struct wait_part */
};

/*
 * struct client_share - the part of a client in CPU time spent on @set
 * @own: stamp of the requests that the client itself works on. A child that it created for one of
 * them works on just that request.
 * @set: the set that @nr was computed for; neighbouring log entries usually have the same one
 * @nr: the client's part is 1 / @nr; 0: it has no part
 */
struct client_share {
	const struct servers_process *client;
	uint64_t own;
	const struct set *set;
	uint32_t nr;
};

static bool is_of_client(const struct client_share *share, const struct server_request *request)
{
	return request->sender == share->client || request->stamp == share->own;
}

/* Count the clients of @set. A client is the process that sent, or another host. */
static uint32_t nr_clients(struct trace_servers *s, const struct client_share *share, const struct set *set)
{
	uint64_t stamp = ++s->sets.stamp;
	bool has_some = false;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < set->nr; i++) {
		const struct server_request *request = set->items[i];
		uint64_t *seen = request->sender ? &request->sender->stamp : &s->origins.stamps[request->origin];

		if (is_of_client(share, request)) {
			has_some = true;
			continue;
		}
		nr += *seen != stamp;
		*seen = stamp;
	}
	return has_some ? nr + 1 : 0;
}

/* As in the bills, all clients have equal parts, however many requests each has. */
static uint64_t part_for(struct trace_servers *s, struct client_share *share, const struct set *set, uint64_t ns)
{
	if (share->set != set) {
		share->set = set;
		share->nr = set ? nr_clients(s, share, set) : 0;
	}
	return share->nr ? ns / share->nr : 0;
}

static void add_part(struct trace_servers *s, struct hash_table *parts, uint64_t key, uint64_t ns)
{
	struct wait_part *part = table_add(parts, sizeof(*part), key);

	if (!part) {
		s->failed = -ENOMEM;
		return;
	}
	part->ns += ns;
	part->count++;
}

struct holder_visit {
	struct trace_servers *s;
	struct hash_table *parts;
};

static void add_holder(void *data, const struct trace_process *process, uint64_t ns)
{
	const struct holder_visit *queued = data;

	add_part(queued->s, queued->parts, (uintptr_t)process, ns);
}

/*
 * The cause is not decided before the end of the call. There is no call in a page fault, or if the
 * entry of the call was not recorded.
 */
static uint32_t cause_undecided(struct trace_servers *s, const struct servers_thread *server)
{
	const char *call = trace_thread_syscall(s->analysis, server->thread);
	bool is_known = call && strcmp(call, TRACE_CALL_NOT_SEEN) != 0;

	return cause_intern(s, &(struct server_cause){.target = is_known ? call : "",
						      .via = "",
						      .kind = is_known ? TRACE_WAIT_OTHER : TRACE_WAIT_UNKNOWN});
}

static void add_blocked(struct trace_servers *s, struct pair_wait *row, const struct servers_thread *server,
			const struct log_entry *entry, uint64_t ns)
{
	uint32_t cause = entry->cause ? entry->cause : cause_undecided(s, server);

	if (cause)
		add_part(s, &row->blocked, cause, ns);
	row->wait.server_waited_ns += ns;
}

/* The piece from @from to @from + @ns, with @cpu_ns of CPU time. */
static void add_piece(struct trace_servers *s, struct pair_wait *row, const struct servers_thread *server,
		      const struct log_entry *entry, struct client_share *share, uint64_t from, uint64_t ns,
		      uint64_t cpu_ns)
{
	struct trace_server_wait *wait = &row->wait;
	uint64_t for_client;

	switch (entry->state) {
	case LOG_CPU:
		cpu_ns = cpu_ns < ns ? cpu_ns : ns;
		for_client = part_for(s, share, entry->set, cpu_ns);
		wait->for_client_ns += for_client;
		wait->for_others_ns += cpu_ns - for_client;
		wait->rest_ns += ns - cpu_ns; /* interrupts */
		break;
	case LOG_BLOCKED:
		add_blocked(s, row, server, entry, ns);
		break;
	default:
		wait->server_wait_cpu_ns += ns;
		trace_cpu_holders(s->analysis, entry->cpu, from, from + ns, add_holder,
				  &(struct holder_visit){s, &row->queued});
	}
}

/* Returns the time at which the known part of the log of @server begins. */
static uint64_t split_by_log(struct trace_servers *s, struct pair_wait *row, const struct servers_thread *server,
			     struct client_share *share, uint64_t from, uint64_t to)
{
	uint64_t end = trace_analysis_now(s->analysis), end_cpu = trace_thread_cpu_ns(s->analysis, server->thread);
	uint64_t nr = server->log ? server->log->nr : 0, oldest = log_oldest(server);

	for (uint64_t i = nr; i > oldest && to > from; i--) {
		const struct log_entry *entry = log_at(server, i - 1);
		uint64_t begin = entry->ns > from ? entry->ns : from, piece, whole, cpu;

		if (begin < to && entry->ns < end) {
			piece = to - begin;
			whole = end - entry->ns;
			cpu = end_cpu > entry->cpu_ns ? end_cpu - entry->cpu_ns : 0;
			add_piece(s, row, server, entry, share, begin, piece,
				  (uint64_t)((unsigned __int128)cpu * piece / whole));
			to = begin;
		}
		end = entry->ns;
		end_cpu = entry->cpu_ns;
		if (to > end)
			to = end > from ? end : from;
	}
	return to;
}

/* Returns the thread that created @server if @server was born after @to, else NULL. */
static const struct servers_thread *parent_until(const struct servers_thread *server, uint64_t to)
{
	const struct servers_thread *parent = server->parent;

	return parent && parent->process == server->process && to <= server->born_ns ? parent : NULL;
}

/* A sleep of @client from @from to @to ended with an answer of @server. @asked: its set. */
static void split(struct trace_servers *s, const struct servers_process *client, const struct servers_thread *server,
		  const struct set *asked, uint64_t from, uint64_t to)
{
	struct client_share share = {.client = client};
	struct pair_wait *row = table_add(&s->waits.rows, sizeof(*row),
					  (uint64_t)(client->idx + 1) << 32 | (server->process->idx + 1));

	if (!row) {
		s->failed = -ENOMEM;
		return;
	}
	row->wait.client = client->process;
	row->wait.server = server->process->process;
	row->wait.count++;
	row->wait.wait_ns += to - from;
	share.own = set_stamp(&s->sets, asked);
	for (const struct servers_thread *one = server; one && to > from; one = parent_until(one, to))
		to = split_by_log(s, row, one, &share, from, to);
	row->wait.rest_ns += to - from;
}

static void postpone(struct trace_servers *s, const struct late_wait *wait, struct servers_thread *server)
{
	struct late_wait *late = malloc(sizeof(*late));

	if (!late) {
		s->failed = -ENOMEM;
		return;
	}
	*late = *wait;
	set_ref(late->asked);
	server->late = late;
}

void wait_answered(struct trace_servers *s, struct servers_thread *thread, struct servers_thread *server,
		   struct set *asked)
{
	struct late_wait wait = {.client = thread->process,
				 .asked = asked ? asked : thread->set,
				 .from = thread->sleep.from_ns,
				 .to = thread->sleep.to_ns};

	if (!server || !wait.to || wait.to <= wait.from || server->process == thread->process)
		return;
	wait.next = server->late;
	if (!s->without_waits && (server->turn || server->ring.answered)) /* more answers may follow, and share it */
		postpone(s, &wait, server);
	else if (!s->without_waits)
		split(s, wait.client, server, wait.asked, wait.from, wait.to);
	thread->sleep.to_ns = 0;
}

void waits_decided(struct trace_servers *s, struct servers_thread *server)
{
	while (server->late) {
		struct late_wait *late = server->late;

		server->late = late->next;
		split(s, late->client, server, late->asked, late->from, late->to);
		set_unref(late->asked);
		free(late);
	}
}

void waits_drop(const struct servers_threads *threads)
{
	for (uint32_t i = 0; i < threads->nr; i++)
		for (struct late_wait *next; threads->by_idx[i] && threads->by_idx[i]->late;) {
			next = threads->by_idx[i]->late->next;
			set_unref(threads->by_idx[i]->late->asked);
			free(threads->by_idx[i]->late);
			threads->by_idx[i]->late = next;
		}
}

/* ---- results ---- */

static int by_wait(const void *left, const void *right)
{
	const struct trace_server_wait *l = left, *r = right;
	int difference = descending(l->wait_ns, r->wait_ns);

	difference = difference ?: by_process(l->client, r->client);
	difference = difference ?: by_process(l->server, r->server);
	return difference;
}

static int by_holder(const void *left, const void *right)
{
	const struct trace_cpu_wait *l = left, *r = right;
	int difference = descending(l->ns, r->ns);

	difference = difference ?: ascending(l->pid, r->pid);
	difference = difference ?: strcmp(l->comm, r->comm);
	difference = difference ?: by_process(l->process, r->process);
	return difference;
}

static void name_waits(struct trace_servers *s, const struct pair_wait *row, struct trace_server_wait *wait)
{
	struct trace_wait *waits = calloc(row->blocked.used + 1, sizeof(*waits));
	struct trace_cpu_wait *holders = calloc(row->queued.used + 1, sizeof(*holders));

	wait->waits = waits;
	wait->wait_cpu_for = holders;
	if (!waits || !holders) {
		s->failed = -ENOMEM;
		return;
	}
	for (const struct wait_part *part = NULL; (part = table_next(&row->blocked, sizeof(*part), part));) {
		const struct server_cause *cause = &s->causes.items[part->key - 1];

		waits[wait->nr_waits++] = (struct trace_wait){.kind = cause->kind,
							      .target = cause->target,
							      .pid = cause->other ? trace_process_pid(cause->other) : 0,
							      .comm = cause->other ? trace_process_comm(cause->other)
										   : "",
							      .via = cause->via ? cause->via : "",
							      .path = "",
							      .idle = cause->idle,
							      .ns = part->ns,
							      .count = part->count};
	}
	for (const struct wait_part *part = NULL; (part = table_next(&row->queued, sizeof(*part), part));) {
		const struct trace_process *process = (const struct trace_process *)(uintptr_t)part->key;

		holders[wait->nr_wait_cpu_for++] = (struct trace_cpu_wait){.pid = trace_process_pid(process),
									   .comm = trace_process_comm(process),
									   .ns = part->ns,
									   .title = trace_process_title(process),
									   .process = process};
	}
	if (!sort_rows(waits, wait->nr_waits, sizeof(*waits), order_waits) ||
	    !sort_rows(holders, wait->nr_wait_cpu_for, sizeof(*holders), by_holder))
		s->failed = -ENOMEM;
}

void waits_finish(struct trace_servers *s)
{
	s->waits.results = calloc(s->waits.rows.used + 1, sizeof(*s->waits.results));
	if (!s->waits.results) {
		s->failed = -ENOMEM;
		return;
	}
	for (const struct pair_wait *row = NULL; (row = table_next(&s->waits.rows, sizeof(*row), row));) {
		s->waits.results[s->waits.nr_results] = row->wait;
		name_waits(s, row, &s->waits.results[s->waits.nr_results++]);
	}
	if (!sort_rows(s->waits.results, s->waits.nr_results, sizeof(*s->waits.results), by_wait))
		s->failed = -ENOMEM;
}

void waits_free(struct servers_waits *waits)
{
	for (struct pair_wait *row = NULL; (row = table_next(&waits->rows, sizeof(*row), row));) {
		table_clear(&row->blocked);
		table_clear(&row->queued);
	}
	for (size_t i = 0; i < waits->nr_results; i++) {
		free((void *)waits->results[i].waits);
		free((void *)waits->results[i].wait_cpu_for);
	}
	table_clear(&waits->rows);
	free(waits->results);
}

int wait_verify(const struct trace_server_wait *wait, struct trace_error *ret_error)
{
	uint64_t sum = wait->for_client_ns + wait->for_others_ns + wait->server_waited_ns + wait->server_wait_cpu_ns +
		       wait->rest_ns;
	uint64_t blocked = 0, queued = 0;

	for (size_t i = 0; i < wait->nr_waits; i++)
		blocked += wait->waits[i].ns;
	for (size_t i = 0; i < wait->nr_wait_cpu_for; i++)
		queued += wait->wait_cpu_for[i].ns;
	if (sum == wait->wait_ns && blocked == wait->server_waited_ns && queued == wait->server_wait_cpu_ns)
		return 0;
	return error_set(ret_error, -EBADMSG,
			 "client %u waited %" PRIu64 " ns for server %u, but the pieces are %" PRIu64
			 " ns, of them %" PRIu64 " blocked on named things and %" PRIu64 " in a queue behind others",
			 trace_process_pid(wait->client), wait->wait_ns, trace_process_pid(wait->server), sum, blocked,
			 queued);
}
