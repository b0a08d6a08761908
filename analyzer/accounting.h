/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_ACCOUNTING_H
#define ANALYZER_ACCOUNTING_H
/*
 * accounting.h - what a thread did with its time, and with files: rows of sums, and the functions that add to them.
 *
 * accounting.c is the only place where time is added. What it adds late, and what it packs when a thread is dead, is known to who asks by books_of().
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "arena.h"
#include "state_file.h"
#include "hash_table.h"

struct cpu;
struct pending;
struct snapshot;
struct waker;

/* ---- rows ---- */

struct call_row {
	uint64_t key; /* call + 1; of traps 1 */
	uint64_t calls;
	uint64_t errors;
	uint64_t elapsed;
	uint64_t cpu;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t wait;
	/* Merged by the greater one, not added. */
	uint64_t longest;
	uint64_t shortest; /* ~ the shortest: 0 is none */
};
struct wait_row {
	uint64_t key; /* wait_key() */
	uint64_t ns;
	uint64_t count;
};
struct who_row {
	uint64_t key; /* process + 1 */
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

struct file_use { /* what a thread did with a file: in a line of the cache of its own, and where it is until the thread is dead */
	uint64_t key; /* wait_key() of a wait for it: most have none but the path */
	union {
		uint64_t wait_ns;
		struct file_use *next; /* that is free, too */
	};
	uint64_t waits;
	uint64_t read_bytes;
	uint64_t reads;
	uint64_t written_bytes;
	uint64_t writes;
	struct trace_thread *thread; /* NULL: free */
};
_Static_assert(sizeof(struct file_use) == CACHE_LINE, "a line");
struct use_row { /* of struct trace_thread's uses */
	uint64_t key;
	struct file_use *use;
};

struct books {
	uint64_t user;
	uint64_t syscall;
	uint64_t trap;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t blocked;
	struct table calls; /* the end of a line of the cache */
	struct table waits, who, files, call_times; /* _times: histogram.h */
	struct table traps, interrupts, trap_times;
	uint64_t stolen; /* of user, syscall, trap and interrupted together */
};

/*
 * What a thread makes its first rows in, and where its calls' times are noted until some have come: made with its first turn on a CPU, and
 * somebody else's when it is dead.
 */
#define FIRST_ROWS 4u
#define FIRST_CALLS 8u
#define NR_LATENCIES 64u /* a histogram is large, and of thousands of threads none is in a cache: so latencies are noted, and counted when there are some */
struct desk {
	struct who_row who[FIRST_ROWS];
	struct wait_row waits[FIRST_ROWS];
	struct desk *next; /* that is free */
	uint64_t unused[3];
	uint32_t latencies[NR_LATENCIES]; /* latency_key() << 1, and 1 if of a trap, of those that are not in the books yet */
	struct call_row calls[FIRST_CALLS];
};
_Static_assert(FIRST_CALLS * sizeof(struct call_row) < ARENA_ROWS_LEAST, "as books_give_rows() has it");
_Static_assert(offsetof(struct desk, waits) % CACHE_LINE == 0 && offsetof(struct desk, latencies) % CACHE_LINE == 0 &&
		       offsetof(struct desk, calls) % CACHE_LINE == 0,
	       "each on lines of its own");

/* ---- sums for later ---- */

/*
 * What is to be added to a sum in a row that nobody reads before the end. Of thousands of threads or files the rows are in no cache: so each is asked for
 * at once, and added to when NR_LATER others have come, by when it is there. Of one table they are added to in their order.
 */
#define NR_LATER 32u
#define ROWS_COLD 64u /* the room of a table; smaller ones are added to at once */
struct sum { /* which number of a row; @counted: 1 is added to the number behind it */
	uint16_t row_bytes;
	uint8_t at;
	bool counted;
};
#define SUM_OF(row, member) ((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), false})
#define COUNTED_SUM_OF(row, member) ((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), true})
struct later {
	struct table *table; /* NULL: none */
	uint64_t key;
	uint64_t amount;
	struct sum sum;
};
_Static_assert(offsetof(struct wait_row, count) == offsetof(struct wait_row, ns) + sizeof(uint64_t), "a sum that is counted");

/* The same for what was read or written, or waited for: accounting_files.c. */
#define LATER_GROUP 8u
#define NR_LATER_USES (4 * LATER_GROUP) /* one for each step of the way, and the one that comes */
struct later_use {
	struct trace_thread *thread;
	uint64_t key; /* of the use; 0: as its file has it */
	uint64_t amount;
	file_idx file; /* 0: only its key is known */
	uint8_t at; /* which number of a file_use; 1 is added to the number behind it */
};
#define FILES_COLD 1024u /* so many files do not stay in the cache until they are used again; of fewer it is added to at once */
#define USE_NUMBER(member) ((uint8_t)(offsetof(struct file_use, member) / sizeof(uint64_t)))
#define USE_WAITED USE_NUMBER(wait_ns)
#define USE_READ USE_NUMBER(read_bytes)
#define USE_WROTE USE_NUMBER(written_bytes)
_Static_assert(USE_NUMBER(waits) == USE_WAITED + 1 && USE_NUMBER(reads) == USE_READ + 1 && USE_NUMBER(writes) == USE_WROTE + 1, "sums that are counted");

/* ---- accounting.c: the only place where time is added ---- */

/** books_cpu() - close the time of @cpu until @ns: its own column, and the books of the thread on it */
void books_cpu(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** books_cpu_unknown() - the same, but what went on since the last closing is not known */
void books_cpu_unknown(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** books_queued() - close time off the CPUs that was a wait for a CPU; @onto: the one that it gets at @ns, NULL: none */
void books_queued(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, struct cpu *onto);
/** books_blocked() - close time off the CPUs that was a wait; its kind is decided later. @waker NULL: none seen */
void books_blocked(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker);
/** books_unknown() - close time off the CPUs of which nothing is known */
void books_unknown(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** books_mode() - a thread whose mode was not known turns out to have been in a system call, or in user mode */
void books_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall);
/** books_snapshot() - the totals of a thread now; on a CPU, close its time first */
void books_snapshot(const struct trace_thread *thread, uint64_t ns, struct snapshot *ret_snapshot);
/** books_decided() - a pending wait has found its kind; see wait.c */
void books_decided(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);
/** books_cpu_softirq() - time of softirq @vec on @cpu until @ns */
uint64_t books_cpu_softirq(const struct cpu *cpu, unsigned int vec, uint64_t ns);
/** books_cpu_irq() - interrupt time of @cpu until @ns */
uint64_t books_cpu_irq(const struct cpu *cpu, uint64_t ns);
void *books_new_row(struct trace_analysis *a, struct table *table, size_t row_bytes, uint64_t key);
/** books_give_rows() - the rows of @table, whose rows were books_row()'s, are not needed any more; before table_clear() */
void books_give_rows(struct trace_analysis *a, const struct table *table, size_t row_bytes);
/** books_later() - add to a number of the row of @key in @table, some time before books_settle() */
void books_later(struct trace_analysis *a, struct table *table, struct sum sum, uint64_t key, uint64_t amount);
/** books_latency() - count a call's elapsed time, its latency_key(): in the histograms some time before latencies_settle() of the thread */
void books_latency(struct trace_analysis *a, struct trace_thread *thread, bool trap, uint64_t key);
/** latencies_settle() - what was noted of @thread is in its histograms now */
void latencies_settle(struct trace_analysis *a, struct trace_thread *thread);
/** desk_get() - the first rows of @thread, and its notes, are in a desk from now on, if there is memory */
void desk_get(struct trace_analysis *a, struct trace_thread *thread);
/** desk_give() - @thread, whose books have no rows, needs none any more */
void desk_give(struct trace_analysis *a, struct trace_thread *thread);
/** latencies_add() - what was noted of @thread, added to the histograms of @books; false: out of memory */
bool latencies_add(const struct trace_thread *thread, struct books *books);
/** books_settle() - all that was left for later is added now */
void books_settle(struct trace_analysis *a);
/** books_row() - a row of a table, or a sink when memory ran out. Inline: @row_bytes is a constant where it is called */
static inline void *books_row(struct trace_analysis *a, struct table *table, size_t row_bytes, uint64_t key)
{
	void *row = table_find(table, row_bytes, key);

	return row ? row : books_new_row(a, table, row_bytes, key);
}

/* ---- accounting_packed.c: books of the dead ---- */

/** books_pack() - @thread is dead: its books take little room from now on. What is still added to them stands beside. */
void books_pack(struct trace_analysis *a, struct trace_thread *thread);
/**
 * books_of() - the books of @thread with all that is not in them yet, packed or not
 * @scratch: zeros; whose tables books_clear() frees. Their rows can be gone through (table_next()), but not looked up
 * Returns its own or @scratch; NULL when out of memory.
 */
const struct books *books_of(const struct trace_analysis *a, const struct trace_thread *thread, struct books *scratch);
/** books_add() - add the tables of @books to those of @sum; false: out of memory */
bool books_add(struct books *sum, const struct books *books);
void books_clear(struct books *books);

/* ---- accounting_files.c: what was done with files ---- */

/** books_use() - add to number @at of what @thread did with @file, not 0, and 1 to the number behind it, by uses_settle() at the latest */
void books_use(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint8_t at, uint64_t amount);
/** books_file_wait() - the same for a wait for a file, its wait_key() @key. @file: a guess which that is, which saves a look-up; 0: none */
void books_file_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t key, file_idx file, uint64_t ns);
/** uses_settle() - all of that is added now */
void uses_settle(struct trace_analysis *a);
/** uses_add() - what @thread did with files, added to @books: to its files, and to its waits; false: out of memory */
bool uses_add(const struct trace_thread *thread, struct books *books);
/** uses_give() - @thread is dead, and all that is in its books */
void uses_give(struct trace_analysis *a, struct trace_thread *thread);
#endif
