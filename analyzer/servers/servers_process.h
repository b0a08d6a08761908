/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_PROCESS_H
#define ANALYZER_SERVERS_SERVERS_PROCESS_H
/* servers_process.h - the processes that may serve, or send to a server */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"
#include "servers_futex.h"
#include "servers_open.h"
#include "servers_proof.h"

struct trace_servers;
struct trace_process;
struct set;
struct bill;
struct naming;

#define NR_SUSPECTS 8

struct servers_process {
	struct recent_futexes locks; /* futexes at which its threads wait in turn: they are locks */
	const struct trace_process *process;
	uint32_t idx;
	uint32_t nr_threads;
	bool accepted; /* it served a connection that it had accepted, or a queue that others send to */
	bool answered; /* it sent to a process that had sent to it first */
	bool listens;
	bool serves; /* it has read a request: its CPU time is counted */
	/*
	 * Its threads work on each other's requests: one read a request, and another answered it.
	 * Or perhaps they do: a thread with a request has woken one that waited at @suspects.
	 */
	bool crosses;
	uint8_t nr_suspects; /* in @suspects */
	/* it is in the list servers_signals.announced: @pending may not be empty */
	bool announced;
	uint64_t stamp; /* request_sets.stamp when it was last counted as a client */

	/* servers_open.c */
	struct servers_process *next_serving;
	struct open_list open_requests[2]; /* [1]: those that came as messages */
	struct tally open;		   /* of these */
	uint64_t open_version;		   /* number of changes of @open */
	uint64_t counted;		   /* CPU time of its threads in ns, since it serves */
	uint64_t unheld;		   /* the part of it in threads without a request */
	struct proofs *proofs;		   /* owned; servers_proof.c */

	/* servers_bill.c */
	struct hash_table bills; /* rows: struct bill */
	struct bill *last_bill;	 /* the last one of @bills that was asked for */
	uint64_t billed;	 /* exact and shared, of all bills */
	uint64_t next_remainder; /* number of bills so far: the remainders go to the origins in turn */

	/* servers_packet.c */
	uint64_t receiving; /* softirq time in ns that received for its sockets */
	uint64_t deliveries;

	/* servers_explicit.c */
	/* events of its own are missing until then: its requests' numbers are ignored */
	uint64_t numbers_unknown_until_ns;
	struct naming *namings; /* the numbers of its requests */

	uint32_t kept_refuted; /* servers_kept.c: of the requests until this number, nothing is proven */

	/* servers_signal.c */
	struct set *pending;			/* requests announced to it by a wakeup, and not answered */
	struct servers_process *next_announced; /* in that list */

	uint64_t suspects[NR_SUSPECTS]; /* futexes, of which any may turn out to be a lock */
};

struct servers_processes {
	struct hash_table by_pointer;	 /* address of a struct trace_process -> struct servers_process */
	struct servers_process **by_idx; /* owned, with the processes */
	uint32_t nr;
};

/* A row of a table from keys to objects of one type. */
struct servers_row {
	uint64_t key;
	void *pointer;
};

/** servers_process_of() - find or make. Returns NULL if out of memory. */
struct servers_process *servers_process_of(struct trace_servers *s, const struct trace_process *process);
/**
 * servers_process_by_pid() - the same for a process id. Returns NULL for a kernel thread or an
 * unknown process, too.
 */
struct servers_process *servers_process_by_pid(struct trace_servers *s, uint32_t pid);
/** process_is_server() - true if the process has accepted connections, or answered others */
bool process_is_server(const struct servers_process *process);
/** process_crosses() - true if its threads work on each other's requests, or perhaps do */
static inline bool process_crosses(const struct servers_process *process)
{
	return process->crosses || process->nr_suspects;
}
/**
 * process_may_cross() - a thread with a request has woken another one, which waited at @futex
 * @futex: 0: elsewhere
 * process_learn_lock() - threads wait at @futex in turn, so no request is handed on there
 */
void process_may_cross(struct servers_process *process, uint64_t futex);
void process_learn_lock(struct servers_process *process, uint64_t futex);
void servers_processes_free(struct servers_processes *processes);
#endif
