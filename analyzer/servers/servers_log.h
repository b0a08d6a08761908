/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_LOG_H
#define ANALYZER_SERVERS_SERVERS_LOG_H
/*
 * servers_log.h - the log of a thread of a server: its latest changes of state and set
 *
 * servers_wait.c lays it over the sleep of a client.
 */
#include <stdbool.h>
#include <stdint.h>

struct trace_servers;
struct trace_analysis;
struct trace_interval;
struct servers_thread;
struct set;

enum log_state { LOG_CPU, LOG_QUEUED, LOG_BLOCKED, LOG_SAME };
/* the state from @ns on */
struct log_entry {
	uint64_t ns;
	uint64_t cpu_ns; /* the thread's CPU time until then */
	struct set *set;
	uint8_t state;
	uint16_t cpu;	/* QUEUED: the CPU on which it ran next */
	uint32_t cause; /* BLOCKED: index into servers_causes.items + 1; 0: not decided yet */
};
struct thread_log {
	uint64_t nr;		   /* entries written so far */
	uint32_t capacity;	   /* a power of two */
	bool woken_early;	   /* the thread was woken while still on its CPU */
	struct log_entry *entries; /* owned; entry n is at n % capacity */
};

struct servers_logs {
	uint32_t nr_grown; /* entries that all logs have grown by */
};

/**
 * log_set() - log that the set of @thread changed
 *
 * The change counts from the entry of its call if the thread was billed until there, else from now.
 */
void log_set(struct trace_servers *s, struct servers_thread *thread);
/** log_put() - log a change of state; LOG_SAME: only the set changed */
void log_put(struct trace_servers *s, struct servers_thread *thread, uint64_t ns, uint64_t cpu_ns,
	     enum log_state state);
/**
 * log_correct_set() - the set of @thread since its last bill was wrong: its current set takes that
 * place
 */
void log_correct_set(struct servers_thread *thread);
/**
 * log_woken() - @thread, which has a log, was woken
 *
 * It is queued from now on, unless it was still on its CPU.
 */
void log_woken(struct trace_servers *s, struct servers_thread *thread, uint64_t ns);
/** log_runs() - @thread runs on @cpu from now on */
void log_runs(struct trace_servers *s, struct servers_thread *thread, uint64_t ns, uint32_t cpu);
/** log_interval() - a trace_interval_fn: the wait cause of a blocked thread was decided */
void log_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval);
/**
 * log_at() - entry @idx of the log of @thread
 * log_oldest() - the index of the oldest entry that is still there
 */
struct log_entry *log_at(const struct servers_thread *thread, uint64_t idx);
uint64_t log_oldest(const struct servers_thread *thread);
void logs_free(struct servers_threads *threads);
#endif
