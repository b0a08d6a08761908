/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_SLEPT_CALLS_H
#define ANALYZER_RULES_SLEPT_CALLS_H
/*
 * slept_calls.h - the calls in which threads slept, for waits that are reported later
 *
 * The analysis reports a wait when its cause is known. That may be hundreds of calls later: a wait
 * that looks idle is kept until it is known whether an answer went on, an interrupted one until the
 * call has ended. So a rule about the files of a call must not look at the call in which the thread
 * is when the wait is reported. A call in which a thread sleeps is kept here until as many waits of
 * it were reported as the thread slept.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/analysis.h>

#include "call_table.h"
#include "hash_table.h"

/* A call, as it was at its begin. */
struct slept_call {
	uint64_t enter_ns;
	uint64_t exit_ns; /* 0: in progress */
	uint32_t nr_slept, nr_reported;
	struct trace_file_id files[NR_CALL_FILES]; /* of its descriptors */
	uint64_t peers[NR_CALL_FILES]; /* inodes of the sockets at the other end; 0: not known, or no socket */
	int nr_files;
	struct trace_file_id tables[2]; /* the descriptors and the memory of the thread */
	int nr_tables;
	struct trace_file_id memory; /* the file in which its futex is, or the memory of its process */
	bool has_memory;
	bool is_of_kernel;	/* the path of its first file is in /proc or /sys */
	uint64_t path_hash;	/* text_hash() of that path; 0: it has none */
	bool gives;		/* it moves data to its files */
	bool uses_unseen;	/* the file of one of its descriptors is not known */
	bool attaches;		/* it attaches memory the file of which is not known */
	bool woken_by_close;	/* one of its waits was ended outside of a call that gives */
	bool is_by_path;	/* it takes the lock of a file by its path */
	bool woken_by_path;	/* one of its waits was ended by such a call */
	bool woken_from_before; /* ... by a thread that was in the kernel since before the trace */
};

struct slept_calls {
	struct hash_table threads;
};

/**
 * slept_enter() - @thread enters a call at @ns
 * Returns its record, for the caller to fill in, borrowed until the next event; NULL without
 * memory.
 */
struct slept_call *slept_enter(struct slept_calls *s, const struct trace_thread *thread, uint64_t ns);
/** slept_now() - the latest call of @thread; NULL: none yet */
struct slept_call *slept_now(const struct slept_calls *s, const struct trace_thread *thread);
/** slept_exit() - @thread leaves its call at @ns */
void slept_exit(struct slept_calls *s, const struct trace_thread *thread, uint64_t ns);
/**
 * slept_report() - the call in which @thread slept from @from_ns on; that wait is reported now
 * Returns NULL if it is not known. The record is borrowed until the next slept_enter() of @thread.
 */
const struct slept_call *slept_report(struct slept_calls *s, const struct trace_thread *thread, uint64_t from_ns);
void slept_free(struct slept_calls *s);
#endif
