/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_ACCOUNTING_H
#define ANALYZER_ACCOUNTING_H
/*
 * accounting.h - the sums of a thread's time and of its use of files: rows, and functions that add
 * to them.
 *
 * Only accounting.c adds time. Some sums are added later, and the tables of a dead thread are
 * packed. A reader therefore calls books_of(), which returns them complete and unpacked.
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

struct file_use { /* what a thread did with a file: one cache line, which does not move until the thread is dead */
	uint64_t key; /* wait_key() of a wait for the file; usually it has only the path */
	union {
		uint64_t wait_ns;
		struct file_use *next; /* next free one */
	};
	uint64_t waits;
	uint64_t read_bytes;
	uint64_t reads;
	uint64_t written_bytes;
	uint64_t writes;
	struct trace_thread *thread; /* NULL: free */
};
_Static_assert(sizeof(struct file_use) == CACHE_LINE, "a line");
struct use_row { /* row of struct trace_thread's uses */
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
	struct hash_table calls; /* at the end of a cache line */
	struct hash_table waits, who, files, call_times; /* for _times see histogram.h */
	struct hash_table traps, interrupts, trap_times;
	uint64_t stolen; /* part of user + syscall + trap + interrupted */
};

/*
 * A slab holds the first rows of a thread's tables, and the latencies of its calls until there are
 * enough of them to count. A thread gets it with its first time slice. When the thread is dead, the
 * slab is reused for another thread.
 */
#define FIRST_ROWS 4u
#define FIRST_CALLS 8u
/*
 * A histogram is large, and with thousands of threads none is cached. Latencies are therefore noted
 * first and counted NR_LATENCIES at a time.
 */
#define NR_LATENCIES 64u
struct desk {
	struct who_row who[FIRST_ROWS];
	struct wait_row waits[FIRST_ROWS];
	struct desk *next; /* next free one */
	uint64_t unused[3];
	uint32_t latencies[NR_LATENCIES]; /* Not in the histograms yet: latency_key() << 1, plus 1 for a trap. */
	struct call_row calls[FIRST_CALLS];
};
_Static_assert(FIRST_CALLS * sizeof(struct call_row) < ARENA_ROWS_LEAST, "as books_give_rows() has it");
_Static_assert(offsetof(struct desk, waits) % CACHE_LINE == 0 && offsetof(struct desk, latencies) % CACHE_LINE == 0 &&
		       offsetof(struct desk, calls) % CACHE_LINE == 0,
	       "each on lines of its own");

/* ---- deferred sums ---- */

/*
 * An addition to a row that is not read before the end. With thousands of threads or files the rows
 * are not cached. So an addition prefetches its row and is applied after NR_LATER more additions,
 * when the row has arrived. Additions to one table are applied in their order.
 */
#define NR_LATER 32u
#define ROWS_COLD 64u /* capacity of a table; additions to smaller tables are not deferred */
struct sum { /* index of a number in a row; @counted: also add 1 to the next number */
	uint16_t row_bytes;
	uint8_t at;
	bool counted;
};
#define SUM_OF(row, member) ((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), false})
#define COUNTED_SUM_OF(row, member) ((struct sum){sizeof(struct row), offsetof(struct row, member) / sizeof(uint64_t), true})
struct later {
	struct hash_table *table; /* NULL: none */
	uint64_t key;
	uint64_t amount;
	struct sum sum;
};
_Static_assert(offsetof(struct wait_row, count) == offsetof(struct wait_row, ns) + sizeof(uint64_t), "a sum that is counted");

/* The same for reads, writes and waits for files: accounting_files.c. */
#define LATER_GROUP 8u
#define NR_LATER_USES (4 * LATER_GROUP) /* one group for each stage, and the group that is being filled */
struct later_use {
	struct trace_thread *thread;
	uint64_t key; /* key of the use; 0: take it from its file */
	uint64_t amount;
	file_idx file; /* 0: only the key is known */
	uint8_t at; /* index of a number of struct file_use; 1 is added to the next number */
};
/* So many files do not stay cached until their next use. With fewer files nothing is deferred. */
#define FILES_COLD 1024u
#define USE_NUMBER(member) ((uint8_t)(offsetof(struct file_use, member) / sizeof(uint64_t)))
#define USE_WAITED USE_NUMBER(wait_ns)
#define USE_READ USE_NUMBER(read_bytes)
#define USE_WROTE USE_NUMBER(written_bytes)
_Static_assert(USE_NUMBER(waits) == USE_WAITED + 1 && USE_NUMBER(reads) == USE_READ + 1 && USE_NUMBER(writes) == USE_WROTE + 1, "sums that are counted");

/* ---- accounting.c: only it adds time ---- */

/** books_cpu() - account the time of @cpu until @ns, to one column of @cpu and to its thread */
void books_cpu(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/** books_cpu_unknown() - the same, but the state since the last call is unknown */
void books_cpu_unknown(struct trace_analysis *a, struct cpu *cpu, uint64_t ns);
/**
 * books_queued() - account off-CPU time until @ns as wait for a CPU
 * @onto: the CPU that @thread gets at @ns; NULL: none
 */
void books_queued(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, struct cpu *onto);
/**
 * books_blocked() - account off-CPU time until @ns as a wait, with a cause that is decided later
 * @waker: NULL: not recorded
 */
void books_blocked(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns, const struct waker *waker);
/** books_unknown() - account off-CPU time until @ns as unknown */
void books_unknown(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** books_mode() - set the mode of a thread, in a system call or user, that was unknown so far */
void books_mode(struct trace_analysis *a, struct trace_thread *thread, bool in_syscall);
/** books_snapshot() - the sums of @thread at @ns; on a CPU, the caller calls books_cpu() first */
void books_snapshot(const struct trace_thread *thread, uint64_t ns, struct snapshot *ret_snapshot);
/** books_decided() - account @pending with its wait cause, see wait.c */
void books_decided(struct trace_analysis *a, struct trace_thread *thread, const struct pending *pending);
/** books_cpu_softirq() - total time of softirq @vec on @cpu until @ns */
uint64_t books_cpu_softirq(const struct cpu *cpu, unsigned int vec, uint64_t ns);
/** books_cpu_irq() - total interrupt time of @cpu until @ns */
uint64_t books_cpu_irq(const struct cpu *cpu, uint64_t ns);
void *books_new_row(struct trace_analysis *a, struct hash_table *table, size_t row_bytes, uint64_t key);
/**
 * books_give_rows() - release the rows of @table, made by books_row(); call it before table_clear()
 */
void books_give_rows(struct trace_analysis *a, const struct hash_table *table, size_t row_bytes);
/** books_later() - add to a number of row @key of @table, by books_settle() at the latest */
void books_later(struct trace_analysis *a, struct hash_table *table, struct sum sum, uint64_t key, uint64_t amount);
/**
 * books_latency() - count a call's latency_key(), by latencies_settle() of the thread at the latest
 */
void books_latency(struct trace_analysis *a, struct trace_thread *thread, bool trap, uint64_t key);
/** latencies_settle() - flush the noted latencies of @thread into its histograms */
void latencies_settle(struct trace_analysis *a, struct trace_thread *thread);
/** desk_get() - give @thread a slab for its first rows and latencies, if there is memory */
void desk_get(struct trace_analysis *a, struct trace_thread *thread);
/** desk_give() - release the slab of @thread, when its tables have no rows any more */
void desk_give(struct trace_analysis *a, struct trace_thread *thread);
/** latencies_add() - add the noted latencies of @thread to @books; false: out of memory */
bool latencies_add(const struct trace_thread *thread, struct books *books);
/** books_settle() - apply all deferred additions */
void books_settle(struct trace_analysis *a);
/**
 * books_row() - the row of @key, or a sink if memory ran out. Inline: callers pass a constant
 * @row_bytes
 */
static inline void *books_row(struct trace_analysis *a, struct hash_table *table, size_t row_bytes, uint64_t key)
{
	void *row = table_find(table, row_bytes, key);

	return row ? row : books_new_row(a, table, row_bytes, key);
}

/* ---- accounting_packed.c: sums of dead threads ---- */

/**
 * books_pack() - compress the tables of @thread, which is dead. Later additions go into new rows.
 */
void books_pack(struct trace_analysis *a, struct trace_thread *thread);
/**
 * books_of() - the sums of @thread, complete and unpacked
 * @scratch: zeros; the caller frees its tables with books_clear(). A caller can iterate over the
 *   rows (table_next()), but not look them up.
 * Returns the thread's own or @scratch; NULL when out of memory.
 */
const struct books *books_of(const struct trace_analysis *a, const struct trace_thread *thread, struct books *scratch);
/** books_add() - add the tables of @books to those of @sum; false: out of memory */
bool books_add(struct books *sum, const struct books *books);
void books_clear(struct books *books);

/* ---- accounting_files.c: use of files ---- */

/**
 * books_use() - add @amount to number @at of @thread's use of @file, and 1 to the next number
 * @file: not 0. Applied by uses_settle() at the latest.
 */
void books_use(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint8_t at, uint64_t amount);
/**
 * books_file_wait() - the same for a wait for a file
 * @key: its wait_key()
 * @file: a guess at the file, which saves a look-up; 0: none
 */
void books_file_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t key, file_idx file, uint64_t ns);
/** uses_settle() - apply all deferred additions of books_use() and books_file_wait() */
void uses_settle(struct trace_analysis *a);
/**
 * uses_add() - add @thread's use of files to the files and waits of @books; false: out of memory
 */
bool uses_add(const struct trace_thread *thread, struct books *books);
/** uses_give() - release the uses of @thread, which is dead and has them all in its sums */
void uses_give(struct trace_analysis *a, struct trace_thread *thread);
#endif
