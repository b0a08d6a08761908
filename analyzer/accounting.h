/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_ACCOUNTING_H
#define ANALYZER_ACCOUNTING_H
/*
 * accounting.h - the sums of a thread's time and of its use of files: rows, and functions that add
 * to them.
 *
 * Only accounting.c adds time. Some sums are added later, and the tables of a dead thread are
 * packed. A reader therefore calls acct_of(), which returns them complete and unpacked.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include "arena.h"
#include "state_file.h"
#include "hash_table.h"

struct cpu;
struct trace_analysis;
struct trace_thread;
struct wait_cause;

/* ---- rows ---- */

struct call_row {
	uint64_t key; /* call + 1; 1 for traps */
	uint64_t calls;
	uint64_t errors;
	uint64_t elapsed;
	uint64_t cpu;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t wait;
	/* Merged by taking the maximum, not by adding. */
	uint64_t longest;
	uint64_t shortest; /* ~minimum, so that 0 is none */
};
struct wait_row {
	uint64_t key; /* wait_key() */
	uint64_t ns;
	uint64_t count;
};
struct cpu_holder_row {
	uint64_t key; /* slice_log_key() */
	uint64_t ns;
};
struct interrupt_row {
	uint64_t key; /* nest_key() */
	uint64_t ns;
	uint64_t count;
};
struct file_row {
	uint64_t key; /* path + 1 */
	uint64_t wait_ns;
	uint64_t read_bytes;
	uint64_t reads;
	uint64_t written_bytes;
	uint64_t writes;
};

struct acct {
	uint64_t user;
	uint64_t syscall;
	uint64_t trap;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t blocked;
	struct hash_table calls;				 /* at the end of a cache line */
	struct hash_table waits, cpu_holders, files, call_times; /* for _times see histogram.h */
	struct hash_table traps, interrupts, trap_times;
	uint64_t stolen; /* part of user + syscall + trap + interrupted */
};

/*
 * A slab holds the first rows of a thread's tables, and the latencies of its calls until there are
 * enough of them to count. A thread gets it with its first time slice. When the thread is dead, the
 * slab is reused for another thread.
 */
#define FIRST_ROWS  4u
#define FIRST_CALLS 8u
/*
 * A histogram is large, and with thousands of threads none is cached. Latencies are therefore noted
 * first and counted NR_LATENCIES at a time.
 */
#define NR_LATENCIES 64u
struct acct_slab {
	struct cpu_holder_row cpu_holders[FIRST_ROWS];
	struct wait_row waits[FIRST_ROWS];
	struct acct_slab *next; /* next free one */
	uint64_t unused[3];
	uint32_t latencies[NR_LATENCIES]; /* Not in the histograms yet: latency_key() << 1, plus 1 for a trap. */
	struct call_row calls[FIRST_CALLS];
};
_Static_assert(offsetof(struct acct_slab, waits) % CACHE_LINE == 0 &&
		       offsetof(struct acct_slab, latencies) % CACHE_LINE == 0 &&
		       offsetof(struct acct_slab, calls) % CACHE_LINE == 0,
	       "each on lines of its own");

/** acct_cpu() - account the time of @cpu until @ns, to one column of @cpu and to its thread */
void acct_cpu(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/**
 * acct_state_now() - the state in which the time of the thread on @cpu is now, if only the outer
 * @nested interrupts are in progress
 * @ret_name: as in struct trace_interval
 */
enum trace_state acct_state_now(struct trace_analysis *a, const struct cpu *cpu, unsigned int nested,
				const char **ret_name);
/** acct_cpu_unknown() - the same, but the state since the last call is unknown */
void acct_cpu_unknown(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/**
 * acct_queued() - account off-CPU time until @ns as wait for a CPU
 * @onto: the CPU that @thread gets at @ns; NULL: none
 */
void acct_queued(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, struct cpu *onto);
/**
 * acct_blocked() - account off-CPU time until @ns as blocked
 * @lost: so much of it lies in gaps and is unknown. acct_cause() follows for the rest.
 */
void acct_blocked(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, uint64_t lost);
/**
 * acct_cause() - add @ns of blocked time to the row of its wait cause
 * @file: the file that the system call acts on; 0: none
 */
void acct_cause(struct trace_analysis *a, struct trace_thread *thread, const struct wait_cause *cause, file_idx file,
		uint64_t ns);
/** acct_open_state() - the state to which the time of @thread since its last accounting belongs */
enum trace_state acct_open_state(const struct trace_analysis *a, const struct trace_thread *thread);
/** acct_unknown() - account off-CPU time until @ns as unknown */
void acct_unknown(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** acct_mode() - set the mode of a thread, in a system call or user, that was unknown so far */
void acct_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall);
#endif
