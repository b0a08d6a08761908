/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_CRITICAL_PATH_HISTORY_H
#define ANALYZER_CRITICAL_PATH_HISTORY_H
/*
 * critical_path_history.h - the intervals of all threads, kept compactly.
 *
 * A thread's intervals have neither hole nor overlap, so each is stored as where it begins and what it was: 12 bytes in two arrays.
 * What it was is a number, because few are different: the same system call, the same wait for the same file come again and again.
 */
#include <trace/critical_path.h>
#include "hash_table.h"

#define NOBODY UINT32_MAX	    /* no thread */
#define INTERRUPTS (UINT32_MAX - 1) /* in a CPU's series */
#define HOLE 0u			    /* a moment: nothing is known */

/* struct moment - what a thread did in an interval, whenever */
struct moment {
	uint64_t hash; /* the key */
	const char *name, *target, *via; /* borrowed from the analysis; never NULL, and equal if the same pointer */
	const char *path; /* the same: of the locked file */
	uint64_t address; /* of the futex */
	const struct trace_process *other;
	uint32_t waker; /* into history.lines, or NOBODY */
	int32_t cpu;	/* WAIT_CPU only */
	uint8_t state;
	uint8_t kind;
	bool idle;
};

/* struct series - what began when; each lasts until the next, the last one until @end */
struct series {
	uint64_t *from; /* owned, ascending */
	uint32_t *what; /* owned */
	uint32_t nr, max;
	uint64_t end;
};

/* struct line - a thread's life in the window, as moments */
struct line {
	const struct trace_thread *thread;
	struct series series;
	uint32_t parent; /* the thread that made it, or NOBODY */
	bool on_path;	 /* critical_path.c: it waits for another */
};

struct trace_history {
	struct trace_analysis *analysis; /* borrowed */
	uint64_t from_ns, to_ns;
	size_t nr_intervals, max_intervals;
	int failed; /* -ENOMEM, -E2BIG */
	bool coarse;
	uint32_t running; /* the moment of all time on a CPU, once coarse */
	struct line *lines; /* owned */
	uint32_t nr_lines, max_lines;
	struct table line_by_thread;
	struct moment *moments; /* owned; [HOLE] */
	uint32_t nr_moments, max_moments;
	struct table moment_by_hash;
	struct table births; /* tid + 1 -> the latest fork */
	struct series *cpus; /* owned: lines, NOBODY or INTERRUPTS */
	uint32_t nr_cpus;
	const struct trace_thread *command;
	uint64_t command_ns;
	int command_belief;
	const char *command_line; /* borrowed from the trace; NULL: none */
};

/** history_line() - of a thread that had an interval or was a waker; NOBODY if none */
uint32_t history_line(const struct trace_history *history, const struct trace_thread *thread);
/** series_before() - the entry in whose time the instant before @ns lies; UINT32_MAX: before the first, or after the end */
uint32_t series_before(const struct series *series, uint64_t ns);
static inline uint64_t series_to(const struct series *series, uint32_t idx)
{
	return idx + 1 < series->nr ? series->from[idx + 1] : series->end;
}
#endif
