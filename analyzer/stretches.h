/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STRETCHES_H
#define ANALYZER_STRETCHES_H
/*
 * stretches.h - tables of any span without a pass over its events: <trace/tables.h>
 *
 * Terms. An entry is what the pass adds to the rows of tables: a call that has ended, a wait for a
 * file, bytes that were read. A stretch is the time of a fixed number of entries. A node has the
 * sums of a stretch, or of NODE_CHILDREN nodes below it.
 *
 * While the pass runs, each entry is appended to the log of its stretch, and added to its sums. An
 * entry that began before its stretch is a crosser: it is in a log of its own, and in no sum. At
 * the begin of a stretch, the sums of all threads that are in a call are noted (struct
 * stretch_edge).
 *
 * A span begins in one stretch and ends in another one. Its tables are the sums of the nodes in
 * between, and of the entries in the two logs at its edges and of all crossers, cut at the edges.
 * So the time that it takes does not grow with the span.
 *
 *	stretch         0         1         2         3
 *	        |---------|---------|---------|---------|
 *	span         <------------------------->          logs 0 and 2; node 1; crossers of 0 to 3
 *
 * A call that an edge cuts needs the parts that it had until then. They are the difference of two
 * sums of its thread: at its begin, and at the begin of the stretch; and what its log has since.
 * The state of a thread at the begin of a stretch may become known later: its group had used up its
 * CPU quota, or events are missing. So the sums of an edge end at the last accounting of the
 * thread, and the entries of all states since then are in the logs.
 *
 * A scope or request of a program is an entry of its end, with its whole time: reports of a window
 * have it then. The one that is open at the end of the span is found by its end, in a later
 * stretch: there it is a crosser, too.
 *
 * A trace in which gaps divide intervals into more pieces than a pass keeps has no such tables.
 */
#include "locks.h"
#include "state.h"
#include "stretch_log.h"
#include "stretch_store.h"
#include "stretch_sums.h"

#define NODE_CHILDREN	8u
#define STRETCH_LEVELS	8u
#define STRETCH_ENTRIES (1u << 18) /* by default */

/* SPAN: a scope or request of programs, whose numbers continue in the next group, MORE */
enum stretch_form {
	FORM_OF_CALL,
	FORM_OF_TRAP,
	FORM_OF_FILE,
	FORM_OF_LOCK,
	FORM_OF_SPAN,
	FORM_OF_MORE,
	FORM_OF_PROBE,
	FORM_OF_EVENT,
};

/*
 * struct stretch_group - a row of a table of a process
 * @key: of a call, a path; index of a lock; number of a span; id of an event
 */
struct stretch_group {
	enum stretch_form form;
	uint32_t process;
	uint32_t key;
};

/* struct stretch_use - what the id of an entry names: the part of a group that is of one thread */
struct stretch_use {
	uint32_t thread, group;
};

/* struct stretch_edge - the sums of the thread at the begin of a stretch */
struct stretch_edge {
	uint64_t thread;
	struct thread_snapshot at;
};

struct table_stretch {
	uint64_t from_ns;
	uint64_t crossers_from_ns; /* the first one began then; UINT64_MAX: there is none */
	struct stretch_place log, crossers, edges;
};

/* struct stretch_level - @sums: of the @nr_children last nodes below, which are in no node yet */
struct stretch_level {
	struct stretch_sums sums;
	uint32_t nr_children;
	struct stretch_place *nodes; /* owned */
	uint32_t nr, max;
};

struct trace_tables {
	struct trace_analysis *a;
	struct stretch_store store;
	uint32_t entries_of_stretch;
	struct hash_table use_by_key, group_by_key, lock_by_key; /* struct stretch_number_row */
	struct stretch_use *uses;				 /* owned */
	uint32_t nr_uses, max_uses;
	struct stretch_group *groups; /* owned */
	uint32_t nr_groups, max_groups;
	struct trace_user_events *user; /* borrowed; NULL: none */
	struct lock_row *locks;		/* owned; without sums */
	uint32_t nr_locks, max_locks;
	struct table_stretch *list; /* owned; the last one has not ended before the pass */
	uint32_t nr, max;
	struct stretch_level levels[STRETCH_LEVELS]; /* 0: of the stretches */
	struct stretch_writer log, crossers;
	uint32_t nr_entries; /* of the last stretch */
	uint64_t last_ns;    /* the pass was there at the last entry */
	int failed;	     /* 0 or -ENOMEM */
};

/** stretch_sum_of() - add the entry to the sums of its group; not a CALL that an edge cuts */
void stretch_sum_of(const struct trace_tables *tables, struct stretch_sums *sums, const struct stretch_entry *entry);
/** stretch_may_be_open() - a scope or request, and not the time between events of programs */
bool stretch_may_be_open(const struct trace_tables *tables, const struct stretch_entry *entry);
/**
 * stretch_span_rows() - the scopes and requests of programs in @sums, to be released with free()
 * Returns NULL when out of memory.
 */
struct trace_span *stretch_span_rows(const struct trace_tables *tables, const struct stretch_sums *sums,
				     size_t *ret_nr);
#endif
