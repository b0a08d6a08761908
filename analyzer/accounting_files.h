/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_ACCOUNTING_FILES_H
#define ANALYZER_ACCOUNTING_FILES_H
/*
 * accounting_files.h - what a thread did with each file: bytes that it read and wrote, and waits
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "accounting.h"
#include "state_file.h"

struct trace_analysis;
struct trace_thread;

/* what a thread did with a file: one cache line, which does not move until the thread is dead */
struct file_use {
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
/* row of struct trace_thread's uses */
struct use_row {
	uint64_t key;
	struct file_use *use;
};

/* A deferred addition to a file_use. */
#define DEFERRED_GROUP	 8u
#define NR_DEFERRED_USES (4 * DEFERRED_GROUP) /* one group for each stage, and the group that is being filled */
struct deferred_use {
	struct trace_thread *thread;
	uint64_t key; /* key of the use; 0: take it from its file */
	uint64_t amount;
	file_idx file; /* 0: only the key is known */
	uint8_t at;    /* index of a number of struct file_use; 1 is added to the next number */
};
/* So many files do not stay cached until their next use. With fewer files nothing is deferred. */
#define FILES_COLD	   1024u
#define USE_NUMBER(member) ((uint8_t)(offsetof(struct file_use, member) / sizeof(uint64_t)))
#define USE_WAITED	   USE_NUMBER(wait_ns)
#define USE_READ	   USE_NUMBER(read_bytes)
#define USE_WROTE	   USE_NUMBER(written_bytes)
_Static_assert(USE_NUMBER(waits) == USE_WAITED + 1 && USE_NUMBER(reads) == USE_READ + 1 &&
		       USE_NUMBER(writes) == USE_WROTE + 1,
	       "sums that are counted");

/* The memory of uses, and additions to them that are not applied yet. */
struct use_store {
	struct file_use *free; /* free list in the arena */
	struct deferred_use deferred[NR_DEFERRED_USES];
	/* counted since acct_flush(); the entries from @added to @pos are not added yet */
	uint32_t pos, added;
};

/**
 * acct_use() - add @amount to number @at of @thread's use of @file, and 1 to the next number
 * @file: not 0. Applied by acct_flush() at the latest.
 */
void acct_use(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint8_t at, uint64_t amount);

/**
 * acct_file_wait() - the same for a wait for a file
 * @key: its wait_key()
 * @file: a guess at the file, which saves a look-up; 0: none
 */
void acct_file_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t key, file_idx file, uint64_t ns);

/** acct_flush() - apply all deferred additions, of accounting_rows.c too */
void acct_flush(struct trace_analysis *a);

/**
 * uses_add() - add @thread's use of files to the files and waits of @acct; false: out of memory
 */
bool uses_add(const struct trace_thread *thread, struct acct *acct);

/** uses_give() - release the uses of @thread, which is dead and has them all in its sums */
void uses_give(struct trace_analysis *a, struct trace_thread *thread);

/** file_count_read() - a call of @thread read @bytes from @file; 0: not known */
void file_count_read(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes);

void file_count_written(struct trace_analysis *a, struct trace_thread *thread, file_idx file, uint64_t bytes);
#endif
