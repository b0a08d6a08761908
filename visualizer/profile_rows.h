/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_ROWS_H
#define VISUALIZER_PROFILE_ROWS_H
/* profile_rows.h - a profile as rows: the time of the chosen threads by function, and what has
 * none. */
#include <stdint.h>
#include <trace/error.h>
#include <trace/profile.h>
#include "checked_memory.h"
#include "profile_by.h"
#include "profile_names.h"
#include "profile_time.h"
#include "profile_tree.h"
#include "profile_waker.h"
#include "report.h"

/** enum profile_row_kind - in the order of the words of profile_kind_word() */
enum profile_row_kind {
	PROFILE_FUNCTION,
	PROFILE_NOT_SAMPLED, /* on a CPU, in a state that no sample hit */
	PROFILE_WAIT_CPU,
	PROFILE_BLOCKED,
	PROFILE_NOT_TRACED, /* no event tells what the thread did: one was lost, halted or left out */
	PROFILE_REST,	    /* blocked, and waits for new work */
	PROFILE_INCOMPLETE, /* the unknown callers of samples */
	PROFILE_PROGRAM,    /* the outermost node of its contexts; no row of the profile */
};
const char *profile_kind_word(enum profile_row_kind kind);

/**
 * struct profile_row - the time in something, and below it
 * @name: the function; "" if it has none. For other kinds what the time was spent in, or waited for
 * @file: of the function; "" if not known. @program: process_program(); "" for rests
 * @is_late: samples of code that ran with interrupts off are in this function of the kernel, which
 *     switches them on again
 * @wait: of the kinds PROFILE_BLOCKED and PROFILE_NOT_TRACED
 * @why: why a function has no name; "" if it has one
 * @where: of a wait, the function of the program in which most of it was; NULL: not known
 * @where_ns: the part of it that was there. @woken: where its waits ended, as far as it is known
 * @self: the time in it. @total: in it and in what it called
 * @variance: of the time in it, ns^2
 */
struct profile_row {
	enum profile_row_kind kind;
	const char *name;
	const char *file;
	const char *program;
	const char *why;
	enum trace_wait_kind wait;
	bool is_late;
	uint32_t number;
	const struct profile_row *where;
	uint64_t where_ns;
	struct woken_in *woken;
	struct profile_time self, total;
	uint64_t pending; /* while rows are made */
	uint32_t counted; /* the number of the last share in @total, while rows are made */
	double variance;
};

/**
 * struct profile_rows - @rows: the longest first, and rests last; @sum: of the time in all of them
 * @tree: of the reports that tell contexts, and with --verify
 * @lines: of profile_lines.h, @code: of profile_code.h, @by: of profile_by.h, if that form is
 * chosen; @nr_stacks: that were added to it
 * @ends: by enum stack_end, the samples whose callers end there. @lost: of STACK_LOST, by enum
 *     trace_profile_end. @wait_stacks: stacks of waits
 */
struct profile_rows {
	struct pointers rows;	  /* owned */
	struct pointers programs; /* owned; the rows of kind PROFILE_PROGRAM */
	struct profile_tree tree;
	struct pointers wokens;	    /* owned; all struct woken_in */
	struct profile_names names; /* has the texts of the rows */
	struct hash_table index;
	struct hash_table wheres; /* profile_where.h */
	struct hash_table lines;
	struct hash_table code;
	struct profile_by by;
	uint64_t nr_stacks;
	struct profile_time sum;
	uint64_t ends[NR_STACK_ENDS];
	uint64_t lost[TRACE_PROFILE_NR_ENDS];
	uint64_t wait_stacks;
	uint64_t rest_ns;
	uint64_t not_traced_ns;
	uint64_t nr_threads;
	uint64_t unnamed_ns;   /* of functions without a name */
	uint64_t generated_ns; /* of it, in no file */
};

/** profile_share_variance() - of the share of @samples among @of of a stratum */
double profile_share_variance(uint64_t samples, uint64_t of);
/** profile_deviation_of() - the standard deviation, ns, of this variance */
uint64_t profile_deviation_of(double variance);
/** profile_deviation() - the standard deviation of the time in a row by sampling, ns */
uint64_t profile_deviation(const struct profile_row *row);
/** profile_row_text() - "compress_block", "(blocked) file /etc/passwd", "(no name: stripped)" */
void profile_row_text(const struct profile_row *row, struct string *text);

/**
 * profile_rows_make() - the rows of the chosen threads
 * @of: only those of these processes; NULL: of all
 * Returns 0; -ENOMEM or -EBADMSG with the reason, as trace_symbols_error(): rows lack names then
 */
int profile_rows_make(const struct report *report, const struct pointers *of, struct profile_rows *ret_rows,
		      struct trace_error *ret_error) TRACE_NODISCARD;
void profile_rows_free(struct profile_rows *rows);
#endif
