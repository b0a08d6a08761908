/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * servers_log.c - the log of a thread of a server: on a CPU and with which set, queued for a CPU,
 * blocked
 */
#include <errno.h>
#include <stdlib.h>
#include "servers_state.h"

#define LOG_ENTRIES	128u
#define MAX_LOG_ENTRIES 2048u	   /* entries of one thread's log */
#define ALL_LOG_ENTRIES (1u << 18) /* entries that all logs together may grow by */

struct log_entry *log_at(const struct servers_thread *thread, uint64_t idx)
{
	return &thread->log->entries[idx & (thread->log->capacity - 1)];
}

uint64_t log_oldest(const struct servers_thread *thread)
{
	const struct thread_log *log = thread->log;

	return log && log->nr > log->capacity ? log->nr - log->capacity : 0;
}

static bool log_new(struct trace_servers *s, struct servers_thread *thread)
{
	struct thread_log *log = calloc(1, sizeof(*log));
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
 * The log is full. Enlarge it before the oldest entry is overwritten. A thread that is interrupted
 * often has many changes during one request of a client.
 */
static __attribute__((noinline)) void log_grow(struct trace_servers *s, struct servers_thread *thread)
{
	struct thread_log *log = thread->log;
	uint32_t capacity = log->capacity * 2;
	struct log_entry *entries;

	if (capacity > MAX_LOG_ENTRIES || s->logs.nr_grown + log->capacity > ALL_LOG_ENTRIES)
		return;
	entries = calloc(capacity, sizeof(*entries));
	if (!entries)
		return; /* the log stays as it is */
	for (uint64_t i = log->nr - log->capacity; i < log->nr; i++)
		entries[i & (capacity - 1)] = log->entries[i & (log->capacity - 1)];
	free(log->entries);
	s->logs.nr_grown += log->capacity;
	log->entries = entries;
	log->capacity = capacity;
}

/*
 * Neighbouring entries usually have the same set. The oldest of such a run holds the only
 * reference.
 */
static void entry_set(const struct thread_log *log, uint64_t idx, uint64_t oldest, struct set *set)
{
	struct log_entry *entry = &log->entries[idx & (log->capacity - 1)];

	entry->set = idx > oldest && log->entries[(idx - 1) & (log->capacity - 1)].set == set ? set : set_ref(set);
}

/* Release the reference of entry @idx, the oldest, which is overwritten. */
static void entry_drop(const struct thread_log *log, uint64_t idx)
{
	struct set *set = log->entries[idx & (log->capacity - 1)].set;

	if (idx + 1 == log->nr || log->entries[(idx + 1) & (log->capacity - 1)].set != set)
		set_unref(set);
}

#define DROPS_AHEAD 8u

void log_put(struct trace_servers *s, struct servers_thread *thread, uint64_t ns, uint64_t cpu_ns, enum log_state state)
{
	struct log_entry *entry;

	if (!thread->log) {
		if (s->without_waits)
			return;
		if (!process_is_server(thread->process) && !thread->process->listens && !thread->set)
			return;
		if (!log_new(s, thread))
			return;
	}
	if (state == LOG_SAME && thread->log->nr && log_at(thread, thread->log->nr - 1)->set == thread->set)
		return;
	if (state == LOG_SAME)
		state = thread->log->nr ? (enum log_state)log_at(thread, thread->log->nr - 1)->state : LOG_CPU;
	if (thread->log->nr >= thread->log->capacity)
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

void log_set(struct trace_servers *s, struct servers_thread *thread)
{
	uint64_t last = thread->log && thread->log->nr ? log_at(thread, thread->log->nr - 1)->ns : 0;

	if (s->without_waits)
		return;
	if (thread->charged.cpu == thread->call.enter.cpu && last <= thread->call.enter_ns)
		log_put(s, thread, thread->call.enter_ns, thread->call.enter.cpu, LOG_SAME);
	else
		log_put(s, thread, trace_analysis_now(s->analysis), trace_thread_cpu_ns(s->analysis, thread->thread),
			LOG_SAME);
}

/* Release the references of all runs of equal sets that begin at entry @from or later. */
static void sets_drop(const struct servers_thread *thread, uint64_t from, uint64_t oldest)
{
	for (uint64_t i = from; i < thread->log->nr; i++)
		if (i == oldest || log_at(thread, i)->set != log_at(thread, i - 1)->set)
			set_unref(log_at(thread, i)->set);
}

/*
 * The bill of the thread ended in the middle of an entry on a CPU, the one before @idx. Make the
 * rest of it an entry of its own, @idx, without a set. The entries behind it have none, either.
 */
static void entry_split(const struct servers_thread *thread, uint64_t idx)
{
	struct thread_log *log = thread->log;
	const struct log_entry *before = log_at(thread, idx - 1);
	struct log_entry rest = *before;

	rest.set = NULL;
	rest.cpu_ns = thread->charged.cpu;
	rest.ns += rest.cpu_ns - before->cpu_ns; /* interrupts come after it */
	if (idx < log->nr && rest.ns > log_at(thread, idx)->ns)
		rest.ns = log_at(thread, idx)->ns;
	if (log->nr >= log->capacity)
		entry_drop(log, log->nr - log->capacity);
	for (uint64_t i = log->nr++; i > idx; i--)
		*log_at(thread, i) = *log_at(thread, i - 1);
	*log_at(thread, idx) = rest;
}

/* True if the entry before @idx is on a CPU with another set, and goes on after the last bill. */
static bool is_split(const struct servers_thread *thread, uint64_t idx)
{
	const struct log_entry *before = log_at(thread, idx - 1);

	return before->state == LOG_CPU && before->set != thread->set &&
	       (idx == thread->log->nr || log_at(thread, idx)->cpu_ns > thread->charged.cpu);
}

void log_correct_set(struct servers_thread *thread)
{
	uint64_t nr = thread->log ? thread->log->nr : 0, oldest = log_oldest(thread), from = nr;

	while (from > oldest && log_at(thread, from - 1)->cpu_ns >= thread->charged.cpu)
		from--;
	if (from < nr)
		sets_drop(thread, from, oldest);
	if (from > oldest + 1 && is_split(thread, from)) {
		entry_split(thread, from);
		nr++;
		oldest = log_oldest(thread);
	}
	for (uint64_t i = from; i < nr; i++)
		entry_set(thread->log, i, oldest, thread->set);
}

static void log_free(struct servers_thread *thread)
{
	if (!thread->log)
		return;
	sets_drop(thread, log_oldest(thread), log_oldest(thread));
	free(thread->log->entries);
	free(thread->log);
}

void log_woken(struct trace_servers *s, struct servers_thread *thread, uint64_t ns)
{
	uint64_t nr = thread->log->nr;

	if (nr && log_at(thread, nr - 1)->state == LOG_CPU)
		thread->log->woken_early = true;
	else
		log_put(s, thread, ns, trace_thread_cpu_ns(s->analysis, thread->thread), LOG_QUEUED);
}

/*
 * The thread was woken while it was leaving the CPU. So it has not waited for anything else since.
 */
static void log_was_queued(struct servers_thread *thread)
{
	uint64_t oldest = log_oldest(thread);

	for (uint64_t i = thread->log->nr; i > oldest && log_at(thread, i - 1)->state == LOG_BLOCKED; i--)
		log_at(thread, i - 1)->state = LOG_QUEUED;
}

void log_runs(struct trace_servers *s, struct servers_thread *thread, uint64_t ns, uint32_t cpu)
{
	uint64_t oldest = log_oldest(thread);

	if (thread->log->woken_early)
		log_was_queued(thread);
	thread->log->woken_early = false;
	for (uint64_t i = thread->log->nr; i > oldest && log_at(thread, i - 1)->state == LOG_QUEUED; i--)
		log_at(thread, i - 1)->cpu = (uint16_t)cpu;
	log_put(s, thread, ns, trace_thread_cpu_ns(s->analysis, thread->thread), LOG_CPU);
}

void log_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct trace_servers *s = data;
	struct servers_thread *thread = servers_find_thread(&s->threads, interval->thread);
	uint64_t nr = thread && thread->log ? thread->log->nr : 0, oldest = nr ? log_oldest(thread) : 0;
	struct server_cause cause = {.other = interval->other,
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

void logs_free(struct servers_threads *threads)
{
	for (uint32_t i = 0; i < threads->nr; i++)
		if (threads->by_idx[i])
			log_free(threads->by_idx[i]);
}
