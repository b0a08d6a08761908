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
#include <stdlib.h>
#include <string.h>
#include "sort.h"
#include "servers_ledger.h"

struct part { /* row */
	uint64_t key; /* index of the cause + 1, or the address of a process */
	uint64_t ns;
	uint64_t count;
};

struct pair_wait { /* row */
	uint64_t key;
	struct trace_server_wait wait;
	struct hash_table blocked, queued; /* tables of struct part */
};

struct hash_row {
	uint64_t key;
	uint32_t idx;
};

static struct log_entry *log_at(const struct ledger_thread *thread, uint64_t idx)
{
	return &thread->log->entries[idx & (thread->log->capacity - 1)];
}

static uint64_t log_oldest(const struct ledger_thread *thread)
{
	const struct log *log = thread->log;

	return log && log->nr > log->capacity ? log->nr - log->capacity : 0;
}

static bool log_new(struct trace_servers *s, struct ledger_thread *thread)
{
	struct log *log = calloc(1, sizeof(*log));
	struct log_entry *entries = calloc(LOG_ENTRIES, sizeof(*entries));

	if (!log || !entries) {
		s->failed = -ENOMEM;
		free(log);
		free(entries);
		return false;
	}
	log->capacity = LOG_ENTRIES;
	log->entries = entries;
	thread->log = log;
	return true;
}

/*
 * Enlarge the log before the oldest entry is overwritten. A thread that is interrupted often has
 * many changes during one request of a client.
 */
static void log_grow(struct trace_servers *s, struct ledger_thread *thread)
{
	struct log *log = thread->log;
	uint32_t capacity = log->capacity * 2;
	struct log_entry *entries;

	if (log->nr < log->capacity || capacity > MAX_LOG_ENTRIES || s->log_entries + log->capacity > ALL_LOG_ENTRIES)
		return;
	entries = calloc(capacity, sizeof(*entries));
	if (!entries)
		return; /* the log stays as it is */
	for (uint64_t i = log->nr - log->capacity; i < log->nr; i++)
		entries[i & (capacity - 1)] = log->entries[i & (log->capacity - 1)];
	free(log->entries);
	s->log_entries += log->capacity;
	log->entries = entries;
	log->capacity = capacity;
}

/*
 * Neighbouring entries usually have the same set. The oldest of such a run holds the only
 * reference.
 */
static void entry_set(const struct log *log, uint64_t idx, uint64_t oldest, struct set *set)
{
	struct log_entry *entry = &log->entries[idx & (log->capacity - 1)];

	entry->set = idx > oldest && log->entries[(idx - 1) & (log->capacity - 1)].set == set ? set : set_ref(set);
}

/* Release the reference of entry @idx, the oldest, which is overwritten. */
static void entry_drop(const struct log *log, uint64_t idx)
{
	struct set *set = log->entries[idx & (log->capacity - 1)].set;

	if (idx + 1 == log->nr || log->entries[(idx + 1) & (log->capacity - 1)].set != set)
		set_unref(set);
}

#define DROPS_AHEAD 8u

void log_put(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns, uint64_t cpu_ns, enum log_state state)
{
	struct log_entry *entry;

	if (!thread->log) {
		if (!request_is_server(thread->process) && !thread->process->listens && !thread->set)
			return;
		if (!log_new(s, thread))
			return;
	}
	if (state == LOG_SAME && thread->log->nr && log_at(thread, thread->log->nr - 1)->set == thread->set)
		return;
	if (state == LOG_SAME)
		state = thread->log->nr ? (enum log_state)log_at(thread, thread->log->nr - 1)->state : LOG_CPU;
	log_grow(s, thread);
	if (thread->log->nr >= thread->log->capacity) {
		entry_drop(thread->log, thread->log->nr - thread->log->capacity);
		/* not accessed for long */
		line_prefetch(log_at(thread, thread->log->nr - thread->log->capacity + DROPS_AHEAD)->set);
	}
	entry = log_at(thread, thread->log->nr++);
	entry->ns = ns;
	entry->cpu_ns = cpu_ns;
	entry->state = (uint8_t)state;
	entry->cpu = 0;
	entry->cause = 0;
	entry_set(thread->log, thread->log->nr - 1, log_oldest(thread), thread->set);
}

void log_set(struct trace_servers *s, struct ledger_thread *thread)
{
	uint64_t last = thread->log && thread->log->nr ? log_at(thread, thread->log->nr - 1)->ns : 0;

	if (thread->charged.cpu == thread->enter.cpu && last <= thread->enter_ns)
		log_put(s, thread, thread->enter_ns, thread->enter.cpu, LOG_SAME);
	else
		log_put(s, thread, trace_analysis_now(s->analysis), trace_thread_cpu_ns(s->analysis, thread->thread), LOG_SAME);
}

/* Release the references of all runs of equal sets that begin at entry @from or later. */
static void sets_drop(const struct ledger_thread *thread, uint64_t from, uint64_t oldest)
{
	for (uint64_t i = from; i < thread->log->nr; i++)
		if (i == oldest || log_at(thread, i)->set != log_at(thread, i - 1)->set)
			set_unref(log_at(thread, i)->set);
}

/* The answer has corrected for which requests the thread worked since its last bill. */
void log_believe(struct ledger_thread *thread)
{
	uint64_t nr = thread->log ? thread->log->nr : 0, oldest = log_oldest(thread), from = nr;

	while (from > oldest && log_at(thread, from - 1)->cpu_ns >= thread->charged.cpu)
		from--;
	if (from < nr)
		sets_drop(thread, from, oldest);
	for (uint64_t i = from; i < nr; i++)
		entry_set(thread->log, i, oldest, thread->set);
}

void log_free(struct ledger_thread *thread)
{
	if (!thread->log)
		return;
	sets_drop(thread, log_oldest(thread), log_oldest(thread));
	free(thread->log->entries);
	free(thread->log);
}

void log_woken(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns)
{
	uint64_t nr = thread->log->nr;

	if (nr && log_at(thread, nr - 1)->state == LOG_CPU)
		thread->woken_early = true;
	else
		log_put(s, thread, ns, trace_thread_cpu_ns(s->analysis, thread->thread), LOG_QUEUED);
}

/*
 * The thread was woken while it was leaving the CPU. So it has not waited for anything else since.
 */
static void log_was_queued(struct ledger_thread *thread)
{
	uint64_t oldest = log_oldest(thread);

	for (uint64_t i = thread->log->nr; i > oldest && log_at(thread, i - 1)->state == LOG_BLOCKED; i--)
		log_at(thread, i - 1)->state = LOG_QUEUED;
}

void log_runs(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns, uint32_t cpu)
{
	uint64_t oldest = log_oldest(thread);

	if (thread->woken_early)
		log_was_queued(thread);
	thread->woken_early = false;
	for (uint64_t i = thread->log->nr; i > oldest && log_at(thread, i - 1)->state == LOG_QUEUED; i--)
		log_at(thread, i - 1)->cpu = (uint16_t)cpu;
	log_put(s, thread, ns, trace_thread_cpu_ns(s->analysis, thread->thread), LOG_CPU);
}

/* ---- what the thread waited for ---- */

static bool cause_equal(const struct cause *one, const struct cause *two)
{
	return one->other == two->other && one->target == two->target && one->via == two->via && one->kind == two->kind &&
	       one->idle == two->idle;
}

/* Returns the index of the cause + 1, or 0 if out of memory. */
static uint32_t cause_intern(struct trace_servers *s, const struct cause *wanted)
{
	uint64_t key = hash_u64(hash_u64((uintptr_t)wanted->other) ^ (uintptr_t)wanted->target);
	struct hash_row *row;
	struct cause *bigger;

	for (key ^= (uint64_t)wanted->kind << 1 | wanted->idle;; key++) {
		key += !key;
		row = table_add(&s->cause_by_hash, sizeof(*row), key);
		if (!row || !row->idx)
			break;
		if (cause_equal(&s->causes[row->idx - 1], wanted))
			return row->idx;
	}
	if (!(s->nr_causes & (s->nr_causes - 1)) && row) { /* the array is full at each power of two */
		bigger = reallocarray(s->causes, s->nr_causes ? s->nr_causes * 2 : 1, sizeof(*bigger));
		if (bigger)
			s->causes = bigger;
		else
			row = NULL;
	}
	if (!row) {
		s->failed = -ENOMEM;
		return 0;
	}
	s->causes[s->nr_causes] = *wanted;
	return row->idx = ++s->nr_causes;
}

void log_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct trace_servers *s = data;
	struct ledger_thread *thread = servers_find_thread(s, interval->thread);
	uint64_t nr = thread && thread->log ? thread->log->nr : 0, oldest = nr ? log_oldest(thread) : 0;
	struct cause cause = {.other = interval->other,
			      .target = interval->target,
			      .via = interval->via,
			      .kind = (uint8_t)interval->kind,
			      .idle = interval->idle};

	/* more than one entry if its set changed meanwhile */
	for (uint64_t i = nr; i > oldest && log_at(thread, i - 1)->ns >= interval->from_ns; i--) {
		struct log_entry *entry = log_at(thread, i - 1);

		if (entry->state == LOG_BLOCKED && entry->ns < interval->to_ns)
			entry->cause = cause_intern(s, &cause);
	}
}

/* ---- laying the log over a wait ---- */

/*
 * struct share - the part of a client in CPU time spent on @set
 * @own: stamp of the requests that the client itself works on. A child that it created for one of
 * them works on just that request.
 * @set: the set that @nr was computed for; neighbouring log entries usually have the same one
 * @nr: the client's part is 1 / @nr; 0: it has no part
 */
struct share {
	const struct ledger_process *client;
	uint64_t own;
	const struct set *set;
	uint32_t nr;
};

static bool is_for(const struct share *share, const struct request *request)
{
	return request->sender == share->client || request->stamp == share->own;
}

/* Count the clients of @set. A client is the process that sent, or another host. */
static uint32_t nr_clients(struct trace_servers *s, const struct share *share, const struct set *set)
{
	uint64_t stamp = ++s->stamp;
	bool has_some = false;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < set->nr; i++) {
		const struct request *request = set->items[i];
		uint64_t *seen = request->sender ? &request->sender->stamp : &s->origin_stamps[request->origin];

		if (is_for(share, request)) {
			has_some = true;
			continue;
		}
		nr += *seen != stamp;
		*seen = stamp;
	}
	return has_some ? nr + 1 : 0;
}

/* As in the bills, all clients have equal parts, however many requests each has. */
static uint64_t part_for(struct trace_servers *s, struct share *share, const struct set *set, uint64_t ns)
{
	if (share->set != set) {
		share->set = set;
		share->nr = set ? nr_clients(s, share, set) : 0;
	}
	return share->nr ? ns / share->nr : 0;
}

static void add_part(struct trace_servers *s, struct hash_table *parts, uint64_t key, uint64_t ns)
{
	struct part *part = table_add(parts, sizeof(*part), key);

	if (!part) {
		s->failed = -ENOMEM;
		return;
	}
	part->ns += ns;
	part->count++;
}

struct queued {
	struct trace_servers *s;
	struct hash_table *parts;
};

static void add_holder(void *data, const struct trace_process *process, uint64_t ns)
{
	const struct queued *queued = data;

	add_part(queued->s, queued->parts, (uintptr_t)process, ns);
}

/*
 * The cause is not decided before the end of the call. There is no call in a page fault, or if the
 * entry of the call was not recorded.
 */
static uint32_t cause_undecided(struct trace_servers *s, const struct ledger_thread *server)
{
	const char *call = trace_thread_syscall(s->analysis, server->thread);
	bool is_known = call && strcmp(call, TRACE_CALL_NOT_SEEN) != 0;

	return cause_intern(s, &(struct cause){.target = is_known ? call : "", .via = "", .kind = is_known ? TRACE_WAIT_OTHER : TRACE_WAIT_UNKNOWN});
}

static void add_blocked(struct trace_servers *s, struct pair_wait *row, const struct ledger_thread *server,
			const struct log_entry *entry, uint64_t ns)
{
	uint32_t cause = entry->cause ? entry->cause : cause_undecided(s, server);

	if (cause)
		add_part(s, &row->blocked, cause, ns);
	row->wait.server_waited_ns += ns;
}

/* The piece from @from to @from + @ns, with @cpu_ns of CPU time. */
static void add_piece(struct trace_servers *s, struct pair_wait *row, const struct ledger_thread *server,
		      const struct log_entry *entry, struct share *share, uint64_t from, uint64_t ns, uint64_t cpu_ns)
{
	struct trace_server_wait *wait = &row->wait;
	uint64_t mine;

	switch (entry->state) {
	case LOG_CPU:
		cpu_ns = cpu_ns < ns ? cpu_ns : ns;
		mine = part_for(s, share, entry->set, cpu_ns);
		wait->for_client_ns += mine;
		wait->for_others_ns += cpu_ns - mine;
		wait->rest_ns += ns - cpu_ns; /* interrupts */
		break;
	case LOG_BLOCKED:
		add_blocked(s, row, server, entry, ns);
		break;
	default:
		wait->server_wait_cpu_ns += ns;
		trace_cpu_holders(s->analysis, entry->cpu, from, from + ns, add_holder, &(struct queued){s, &row->queued});
	}
}

/* Returns the time at which the known part of the log of @server begins. */
static uint64_t lay_over(struct trace_servers *s, struct pair_wait *row, const struct ledger_thread *server,
			 struct share *share, uint64_t from, uint64_t to)
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
static const struct ledger_thread *parent_until(const struct ledger_thread *server, uint64_t to)
{
	const struct ledger_thread *parent = server->parent;

	return parent && parent->process == server->process && to <= server->born_ns ? parent : NULL;
}

void wait_answered(struct trace_servers *s, struct ledger_thread *thread, struct ledger_thread *server, const struct set *asked)
{
	uint64_t from = thread->wait_from, to = thread->wait_to;
	struct share share = {.client = thread->process};
	struct pair_wait *row;

	if (!server || !to || to <= from || server->process == thread->process)
		return;
	row = table_add(&s->waits, sizeof(*row), (uint64_t)(thread->process->idx + 1) << 32 | (server->process->idx + 1));
	if (!row) {
		s->failed = -ENOMEM;
		return;
	}
	row->wait.client = thread->process->process;
	row->wait.server = server->process->process;
	row->wait.count++;
	row->wait.wait_ns += to - from;
	share.own = set_stamp(s, asked ? asked : thread->set);
	for (const struct ledger_thread *one = server; one && to > from; one = parent_until(one, to))
		to = lay_over(s, row, one, &share, from, to);
	row->wait.rest_ns += to - from;
	thread->wait_to = 0;
}

static int by_wait(const void *left, const void *right)
{
	const struct trace_server_wait *l = left, *r = right;

	if (l->wait_ns != r->wait_ns)
		return l->wait_ns > r->wait_ns ? -1 : 1;
	return (int)trace_process_pid(l->client) - (int)trace_process_pid(r->client);
}

static int by_ns(const void *left, const void *right)
{
	const struct trace_wait *l = left, *r = right;

	return l->ns < r->ns ? 1 : l->ns > r->ns ? -1 : strcmp(l->target, r->target);
}

static int by_holder(const void *left, const void *right)
{
	const struct trace_cpu_wait *l = left, *r = right;

	return l->ns < r->ns ? 1 : l->ns > r->ns ? -1 : (int)l->pid - (int)r->pid;
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
	for (const struct part *part = NULL; (part = table_next(&row->blocked, sizeof(*part), part));) {
		const struct cause *cause = &s->causes[part->key - 1];

		waits[wait->nr_waits++] = (struct trace_wait){.kind = cause->kind,
							      .target = cause->target,
							      .pid = cause->other ? trace_process_pid(cause->other) : 0,
							      .comm = cause->other ? trace_process_comm(cause->other) : "",
							      .via = cause->via ? cause->via : "",
							      .idle = cause->idle,
							      .ns = part->ns,
							      .count = part->count};
	}
	for (const struct part *part = NULL; (part = table_next(&row->queued, sizeof(*part), part));) {
		const struct trace_process *process = (const struct trace_process *)(uintptr_t)part->key;

		holders[wait->nr_wait_cpu_for++] = (struct trace_cpu_wait){
			.pid = trace_process_pid(process), .comm = trace_process_comm(process), .ns = part->ns};
	}
	if (!sort_rows(waits, wait->nr_waits, sizeof(*waits), by_ns) || !sort_rows(holders, wait->nr_wait_cpu_for, sizeof(*holders), by_holder))
		s->failed = -ENOMEM;
}

void waits_finish(struct trace_servers *s)
{
	s->server_waits = calloc(s->waits.used + 1, sizeof(*s->server_waits));
	if (!s->server_waits) {
		s->failed = -ENOMEM;
		return;
	}
	for (const struct pair_wait *row = NULL; (row = table_next(&s->waits, sizeof(*row), row));) {
		s->server_waits[s->nr_server_waits] = row->wait;
		name_waits(s, row, &s->server_waits[s->nr_server_waits++]);
	}
	if (!sort_rows(s->server_waits, s->nr_server_waits, sizeof(*s->server_waits), by_wait))
		s->failed = -ENOMEM;
}

void waits_free(struct trace_servers *s)
{
	for (struct pair_wait *row = NULL; (row = table_next(&s->waits, sizeof(*row), row));) {
		table_clear(&row->blocked);
		table_clear(&row->queued);
	}
	for (size_t i = 0; i < s->nr_server_waits; i++) {
		free((void *)s->server_waits[i].waits);
		free((void *)s->server_waits[i].wait_cpu_for);
	}
	table_clear(&s->waits);
	table_clear(&s->cause_by_hash);
	free(s->causes);
	free(s->server_waits);
}
