/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_CRITICAL_PATH_HISTORY_H
#define ANALYZER_CRITICAL_PATH_HISTORY_H
/*
 * critical_path_history.h - the intervals of all threads in compact form.
 *
 * The intervals of a thread have no holes and do not overlap. Each is therefore stored as its begin
 * and its activity: 12 bytes in two arrays. The activity is an index into history.activities: a
 * state with its details, such as "blocked in read() of a pipe, woken by thread 7". There are few
 * different activities, because threads repeat the same system calls and the same waits for the
 * same files.
 */
#include <trace/critical_path.h>
#include <trace/error.h>
#include "hash_table.h"
#include "history_again.h"
#include <trace/view.h>

#define NO_THREAD  UINT32_MAX	    /* no thread */
#define INTERRUPTS (UINT32_MAX - 1) /* instead of a timeline, in the series of a CPU */
#define NR_RECENT  8u		    /* entries in a cache line */
#define HOLE	   0u		    /* an activity: state unknown */
#define PIECE	   (1u << 31)	    /* or an index into the thread's pieces, once coarse */

/* the value of a view's run that is no timeline: RUN_ALONE + enum cpu_alone */
#define RUN_ALONE (UINT32_MAX - 8)

/* struct history_activity - what a thread did in intervals of any time: a state and its details */
struct history_activity {
	uint64_t hash; /* the key */
	/* borrowed from the analysis; never NULL; equal texts are the same pointer */
	const char *name, *target, *via;
	const char *path; /* path of the locked file; as above */
	uint64_t address; /* of the futex */
	const struct trace_process *other;
	uint32_t waker; /* index into history.timelines; UINT32_MAX: none */
	int32_t cpu;	/* WAIT_CPU only */
	uint8_t state;
	uint8_t kind;
	bool idle;
	bool again; /* a timeout that is followed to @waker: history_again.h */
};

/*
 * struct series - intervals by begin; each lasts until the next one, the last until @end
 * Example: from 0, 10, 18 and end 27 are the intervals 0-10, 10-18 and 18-27.
 */
struct series {
	uint64_t *from;	 /* ascending; owned, unless max is 0: then it is part of history.memory */
	uint32_t *value; /* the same; index of an activity, or, in the series of a CPU, of a timeline */
	uint32_t nr, max;
	uint32_t changes; /* how often an entry before the last one changed */
	uint32_t recent;  /* where the next search of series_before_near() begins; may be of no entry */
	uint64_t end;
};

/*
 * struct history_piece - what a thread did on a CPU in an entry that stands for up to
 * PIECE_INTERVALS intervals, in ns: its states, and RUNNING last
 */
#define PIECE_INTERVALS 64u
#define PIECE_STATES	5
struct history_piece {
	uint32_t ns[PIECE_STATES];
};

/* struct thread_timeline - the activities of a thread in the window */
struct thread_timeline {
	const struct trace_thread *thread;
	struct series series;
	uint32_t parent; /* timeline of the thread that forked it, or none */
	bool on_path;	 /* critical_path.c: on the way; it waits for another thread */
	/* begin of the first interval of state RUNNING since its mode was known last; 0: none */
	uint64_t running_since;
	struct history_piece *pieces; /* owned, unless max_pieces is 0; if history.with_pieces and coarse */
	uint32_t nr_pieces, max_pieces;
	uint32_t in_piece; /* intervals in the last one */
	uint32_t blocked;  /* the activity of its last wait; HOLE: none yet */
	struct asked asked;
};

/* The last answers of a look-up, each at the place that its key's hash chooses */
#define HISTORY_MEMOS 256u
struct history_memo {
	const char *name; /* NULL: none yet */
	int32_t cpu;
	uint32_t value; /* of the activity */
	uint8_t state;
};

struct trace_history {
	struct trace_analysis *analysis; /* borrowed */
	uint64_t from_ns, to_ns;
	size_t nr_intervals, max_intervals;
	void **memory; /* owned; of an index: the arrays of series and pieces that are not owned */
	size_t nr_memory;
	int failed;	  /* -ENOMEM, -E2BIG: from then on nothing is added */
	uint64_t full_ns; /* time of the pass when it failed */
	bool coarse;
	bool with_pieces;		   /* once coarse, remember what the time on a CPU was spent on: for views */
	uint32_t running;		   /* once coarse: the activity of all time on a CPU */
	struct thread_timeline *timelines; /* owned */
	uint32_t nr_timelines, max_timelines;
	uint32_t *timeline_by_thread; /* owned; by trace_thread_index(): the timeline + 1; 0: none */
	uint32_t nr_by_thread;
	struct history_activity *activities; /* owned; [HOLE] */
	uint8_t *classes;		     /* owned; enum trace_class of each activity, in few cache lines */
	uint32_t nr_activities, max_activities;
	struct hash_table activity_by_hash;
	struct history_memo memos[HISTORY_MEMOS];
	struct hash_table births; /* tid + 1 -> the latest fork */
	/*
	 * owned; of timelines, UINT32_MAX (none) or INTERRUPTS. The history of a view has none
	 * once it is coarse: the runs of the view have the same threads
	 */
	struct series *cpus;
	uint32_t nr_cpus;
	struct series *(*runs)(void *view, uint32_t cpu); /* NULL: no view, or no such CPU */
	/* each interval on a CPU, of a timeline; NULL: no view */
	void (*on_run)(void *view, uint32_t cpu, uint64_t from, uint64_t to, uint32_t timeline);
	/* once it is full: what it is told, and does not add; NULL: nothing is told */
	void (*beyond)(void *view, uint32_t timeline, int32_t cpu, uint64_t from, uint64_t to,
		       enum trace_class class_of_time);
	void *view; /* borrowed: it owns this history */
	const struct trace_thread *command;
	uint64_t command_ns;
	int command_rank;
	const char *command_line; /* borrowed from the trace; NULL: none */
};

/**
 * history_timeline() - the timeline of a thread with an interval, or of a waker; UINT32_MAX if it
 * has none
 */
uint32_t history_timeline(const struct trace_history *history, const struct trace_thread *thread);
/** history_thread() - number @thread now, before its first interval */
void history_thread(struct trace_history *history, const struct trace_thread *thread);
/** history_activity_get() - the index of an activity like this one; HOLE: out of memory */
uint32_t history_activity_get(struct trace_history *history, struct history_activity *activity);
/** history_is_followed() - true if a path follows such a wait to the thread that ended it */
bool history_is_followed(const struct history_activity *activity);
/** history_set_timeline() - history_timeline() of @thread is @idx; returns 0 or -ENOMEM */
int history_set_timeline(struct trace_history *history, const struct trace_thread *thread,
			 uint32_t idx) TRACE_NODISCARD;
/** history_prefetch() - a soon_fn, as hooks.h explains it */
void history_prefetch(const struct trace_history *history, const struct trace_thread *thread, bool is_next);
/** series_trim() - give back memory; room is left for @more entries */
void series_trim(struct series *series, uint32_t more);
/** timeline_trim() - give back the memory of intervals and pieces that do not come any more */
void timeline_trim(struct thread_timeline *timeline);
/** series_has_room() - make room for @nr more entries; false: no memory */
bool series_has_room(struct series *series, uint32_t nr);
/** series_free() - release its arrays */
void series_free(struct series *series);
/**
 * series_append() - the next entry; a hole goes before it if it does not begin at the end
 * @joins: extend the last entry if that is the same
 * Returns the number of new entries; -ENOMEM.
 */
int series_append(struct series *series, uint64_t from, uint64_t to, uint32_t value, uint32_t hole,
		  bool joins) TRACE_NODISCARD;
/** history_thread_that_ended() - the timeline of the thread that ended the wait @activity of the
 * timeline @idx, from @from to @to; UINT32_MAX: none */
uint32_t history_thread_that_ended(const struct trace_history *history, uint32_t idx,
				   const struct history_activity *activity, uint64_t from, uint64_t to);
/**
 * series_before() - the entry that contains the instant just before @ns
 * Returns UINT32_MAX if that instant is before the first entry, or after the end.
 */
uint32_t series_before(const struct series *series, uint64_t ns);
/**
 * series_before_near() - the same, for an instant that is near that of the last call
 * A path goes back in time, so that its next entry of a thread is a few before the last one. Its
 * search begins there and doubles its steps: a search of all entries would miss the cache at each
 * of its steps. The entries before it are prefetched: the next call for this thread may come after
 * those for a thousand others.
 */
uint32_t series_before_near(struct series *series, uint64_t ns);
/**
 * series_search() - the last entry that begins before @ns, of those from @low to before @high
 * The entry @low begins before @ns.
 */
uint32_t series_search(const struct series *series, uint64_t ns, uint32_t low, uint32_t high);
/** history_activity_of() - the activity of an entry; that of a piece is history.running */
static inline uint32_t history_activity_of(const struct trace_history *history, uint32_t value)
{
	return value & PIECE ? history->running : value;
}
static inline uint64_t series_to(const struct series *series, uint32_t idx)
{
	return idx + 1 < series->nr ? series->from[idx + 1] : series->end;
}
#endif
