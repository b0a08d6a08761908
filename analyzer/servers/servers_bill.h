/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_BILL_H
#define ANALYZER_SERVERS_SERVERS_BILL_H
/*
 * servers_bill.h - bills: the CPU time of a process that is charged to the origins of requests
 *
 * Each thread has one mark, thread.charged, up to which it is billed: servers.c has an example.
 */
#include <stdbool.h>
#include <stdint.h>
#include "servers_proof.h"

struct trace_servers;
struct servers_process;
struct servers_thread;
struct cpu_time;
struct set;

/* row: what a process did for an origin; times in ns */
struct bill {
	uint64_t key;	/* index of the origin + 1 */
	uint64_t ns;	/* CPU time: all of the bill */
	uint64_t named; /* the program itself said for whom it works */
	struct proof proven;
	/* more is proven if this process, which asked, is no server: proof_taken.doubter */
	const struct servers_process *doubter;
	struct proof doubted;
	uint64_t requests;
	uint64_t interrupted; /* interrupts while it worked for the origin; not in the process's CPU time */
	uint64_t receiving;   /* softirq time; not in the process's CPU time */

	/* servers_open.c: while a request of the origin is open */
	uint32_t nr_open;
	uint64_t open_from, unheld_from; /* servers_process.counted and .unheld when the window began */
	uint64_t open_all, open_unheld;	 /* these, in all windows that have ended */
	uint64_t open_held;		 /* CPU time of the threads that had the requests */
	uint64_t outside;		 /* billed, fully or in part, outside the windows */
};

/** bill_of() - find or make the bill of @process for @origin. Returns NULL if out of memory. */
struct bill *bill_of(struct trace_servers *s, struct servers_process *process, uint32_t origin);
/** bill_receiving() - add softirq time that received for @process on behalf of an origin */
void bill_receiving(struct trace_servers *s, struct servers_process *process, uint32_t origin, uint64_t ns);
/**
 * bill_now() - bill the CPU time of @thread until now to the requests that it works on
 * bill_until() - the same until the CPU time @until; time with an empty set is background
 */
void bill_now(struct trace_servers *s, struct servers_thread *thread);
void bill_until(struct trace_servers *s, struct servers_thread *thread, const struct cpu_time *until);
/** bill_turn() - bill the time until the last answer of thread.turn to what it answered */
void bill_turn(struct trace_servers *s, struct servers_thread *thread);
/** bill_replace_set() - bill until @until, then let @thread work on @set */
void bill_replace_set(struct trace_servers *s, struct servers_thread *thread, struct set *set,
		      const struct cpu_time *until);
/**
 * bill_drop_replied() - at a rest: bill until @now, and remove answered requests from the thread's
 * set
 */
void bill_drop_replied(struct trace_servers *s, struct servers_thread *thread, const struct cpu_time *now);
/**
 * bill_take_back() - at the end, take @ns from the largest bills of @process: a gap proved that its
 * threads were not on a CPU. process->billed stays
 */
void bill_take_back(struct servers_process *process, uint64_t ns);
#endif
