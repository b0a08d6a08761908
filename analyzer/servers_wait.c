/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_wait.c - the client's side: what a server did while its client waited for it.
 *
 * Which thread of the server answers is known only when the answer is there; so each thread of a server keeps a log of its last
 * changes (on a CPU and for whom, queued, blocked). When a client has slept and then gets an answer, the log of the thread that
 * sent it is laid over the sleep. Each piece of the sleep is one of: that thread's CPU time for this client, for others, its
 * waits, its waits for a CPU; what is left (interrupts, before it was born, further back than the log) is `rest`. So the pieces
 * add up to the sleep.
 */
#include <stdlib.h>
#include <string.h>
#include "servers_ledger.h"

struct pair_wait { /* row */
	uint64_t key;
	struct trace_server_wait wait;
};

static struct log_entry *log_at(const struct ledger_thread *thread, uint64_t idx)
{
	return &thread->log->entries[idx % LOG_ENTRIES];
}

void log_put(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns, uint64_t cpu_ns, enum log_state state)
{
	struct log_entry *entry;

	if (!thread->log) {
		if (!request_is_server(thread->process) && !thread->process->listens)
			return;
		thread->log = calloc(1, sizeof(*thread->log));
		if (!thread->log) {
			s->failed = -12;
			return;
		}
	}
	if (state == LOG_SAME)
		state = thread->log->nr ? (enum log_state)log_at(thread, thread->log->nr - 1)->state : LOG_CPU;
	entry = log_at(thread, thread->log->nr++);
	entry->ns = ns;
	entry->cpu_ns = cpu_ns;
	entry->state = (uint8_t)state;
	set_assign(&entry->set, thread->set);
}

void log_set(struct trace_servers *s, struct ledger_thread *thread)
{
	uint64_t last = thread->log && thread->log->nr ? log_at(thread, thread->log->nr - 1)->ns : 0;

	if (thread->charged == thread->enter_cpu && last <= thread->enter_ns)
		log_put(s, thread, thread->enter_ns, thread->enter_cpu, LOG_SAME);
	else
		log_put(s, thread, trace_analysis_now(s->analysis), trace_thread_cpu_ns(s->analysis, thread->thread), LOG_SAME);
}

/* Only its answer told for whom it worked since its last bill. */
void log_believe(struct ledger_thread *thread)
{
	uint64_t nr = thread->log ? thread->log->nr : 0, oldest = nr > LOG_ENTRIES ? nr - LOG_ENTRIES : 0;

	for (uint64_t i = nr; i > oldest && log_at(thread, i - 1)->cpu_ns >= thread->charged; i--)
		set_assign(&log_at(thread, i - 1)->set, thread->set);
}

void log_free(struct ledger_thread *thread)
{
	for (uint32_t i = 0; thread->log && i < LOG_ENTRIES; i++)
		set_unref(thread->log->entries[i].set);
	free(thread->log);
}

/* The part of CPU time spent on @set that was for @client: as in the bills, an even share. */
static uint64_t part_for(const struct set *set, const struct ledger_process *client, uint64_t ns)
{
	uint32_t mine = 0;

	for (uint32_t i = 0; set && i < set->nr; i++)
		mine += set->items[i]->sender == client;
	return mine ? ns / set->nr * mine + ns % set->nr * mine / set->nr : 0;
}

static void add_piece(struct trace_server_wait *wait, const struct log_entry *entry, const struct ledger_process *client,
		      uint64_t ns, uint64_t cpu_ns)
{
	uint64_t mine;

	switch (entry->state) {
	case LOG_CPU:
		cpu_ns = cpu_ns < ns ? cpu_ns : ns;
		mine = part_for(entry->set, client, cpu_ns);
		wait->for_client_ns += mine;
		wait->for_others_ns += cpu_ns - mine;
		wait->rest_ns += ns - cpu_ns; /* interrupts */
		break;
	case LOG_BLOCKED:
		wait->server_waited_ns += ns;
		break;
	default:
		wait->server_wait_cpu_ns += ns;
	}
}

static void lay_over(struct trace_servers *s, struct trace_server_wait *wait, const struct ledger_thread *server,
		     const struct ledger_process *client, uint64_t from, uint64_t to)
{
	uint64_t end = trace_analysis_now(s->analysis), end_cpu = trace_thread_cpu_ns(s->analysis, server->thread);
	uint64_t nr = server->log ? server->log->nr : 0, oldest = nr > LOG_ENTRIES ? nr - LOG_ENTRIES : 0;

	for (uint64_t i = nr; i > oldest && to > from; i--) {
		const struct log_entry *entry = log_at(server, i - 1);
		uint64_t begin = entry->ns > from ? entry->ns : from, piece, whole, cpu;

		if (begin < to && entry->ns < end) {
			piece = to - begin;
			whole = end - entry->ns;
			cpu = end_cpu > entry->cpu_ns ? end_cpu - entry->cpu_ns : 0;
			add_piece(wait, entry, client, piece, (uint64_t)((unsigned __int128)cpu * piece / whole));
			to = begin;
		}
		end = entry->ns;
		end_cpu = entry->cpu_ns;
		if (to > end)
			to = end > from ? end : from;
	}
	wait->rest_ns += to - from;
}

void wait_answered(struct trace_servers *s, struct ledger_thread *thread, struct ledger_thread *server)
{
	uint64_t from = thread->wait_from, to = thread->wait_to;
	struct pair_wait *row;

	if (!server || !to || to <= from || server->process == thread->process)
		return;
	row = table_add(&s->waits, sizeof(*row), (uint64_t)(thread->process->idx + 1) << 32 | (server->process->idx + 1));
	if (!row) {
		s->failed = -12;
		return;
	}
	row->wait.client = thread->process->process;
	row->wait.server = server->process->process;
	row->wait.count++;
	row->wait.wait_ns += to - from;
	lay_over(s, &row->wait, server, thread->process, from, to);
	thread->wait_to = 0;
}

static int by_wait(const void *left, const void *right)
{
	const struct trace_server_wait *l = left, *r = right;

	if (l->wait_ns != r->wait_ns)
		return l->wait_ns > r->wait_ns ? -1 : 1;
	return (int)trace_process_pid(l->client) - (int)trace_process_pid(r->client);
}

void waits_finish(struct trace_servers *s)
{
	s->server_waits = calloc(s->waits.used + 1, sizeof(*s->server_waits));
	if (!s->server_waits) {
		s->failed = -12;
		return;
	}
	for (const struct pair_wait *row = NULL; (row = table_next(&s->waits, sizeof(*row), row));)
		s->server_waits[s->nr_server_waits++] = row->wait;
	qsort(s->server_waits, s->nr_server_waits, sizeof(*s->server_waits), by_wait);
}
