/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_HOOKS_H
#define ANALYZER_HOOKS_H
/* hooks.h - the functions that callers have registered for the pass */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>

/* mode_fn - intervals of @thread were RUNNING: it was in a system call, or else in user mode */
typedef void (*mode_fn)(void *data, struct trace_analysis *analysis, const struct trace_thread *thread,
			bool in_syscall);

/* cpu_time_fn - CPU @cpu had no thread from @from to @to */
enum cpu_alone { CPU_IDLE, CPU_INTERRUPTED, CPU_UNKNOWN };
typedef void (*cpu_time_fn)(void *data, uint32_t cpu, uint64_t from, uint64_t to, enum cpu_alone what);

/*
 * on_cpu_fn - @thread had CPU @cpu from @from_ns to @to_ns, in @state and in the call or interrupt
 * @name, NULL: none. It gets what an interval hook gets, without a struct trace_interval
 */
typedef void (*on_cpu_fn)(void *data, struct trace_analysis *analysis, const struct trace_thread *thread, uint32_t cpu,
			  uint64_t from_ns, uint64_t to_ns, enum trace_state state, const char *name);

/* states of intervals on a CPU, as bits */
#define STATES_ON_CPU (~(1u << TRACE_STATE_WAIT_CPU | 1u << TRACE_STATE_BLOCKED))

/*
 * soon_fn - prefetch what the next intervals of @thread change: it gets a CPU a few events later
 * @is_next: some events later; a call some events earlier had fetched what @data has of the thread.
 * Needs the fields of @thread that every event needs, prefetched some events before
 */
typedef void (*soon_fn)(void *data, const struct trace_thread *thread, bool is_next);

struct event_counts;
struct frame;
struct lock_row;
/* struct table_hooks - what <trace/tables.h> gets beside intervals: stretches.h */
struct table_hooks {
	void (*call)(void *data, const struct trace_thread *thread, uint64_t ns, const struct frame *frame,
		     int64_t ret);
	void (*major)(void *data, const struct trace_thread *thread, uint64_t ns);
	void (*transfer)(void *data, const struct trace_thread *thread, uint32_t file, bool is_read, uint64_t bytes);
	void (*lock)(void *data, const struct lock_row *lock, uint64_t from_ns, uint64_t to_ns);
	void (*hit)(void *data, const struct trace_thread *thread, uint32_t event);
	void (*event)(void *data, const struct trace_thread *thread, uint32_t event, const struct event_counts *one);
	void (*done)(void *data); /* the pass has ended */
};

struct hook {
	uint64_t mask[TRACE_MASK_WORDS];
	trace_event_fn event;
	trace_interval_fn interval;
	trace_release_fn release;
	trace_late_gap_fn damage;
	mode_fn mode;
	trace_transfer_fn transfer;
	uint32_t states; /* states of the intervals that the hook wants, as bits */
	void *data;
};

/* a struct hook's event function, sorted by event */
struct event_hook {
	trace_event_fn event;
	void *data;
};

/* a struct hook's interval function, sorted by state */
struct interval_hook {
	trace_interval_fn interval;
	void *data;
};
#define NR_HOOKED_STATES 8u

struct hook_list {
	struct hook *list; /* owned */
	size_t nr;
	/*
	 * owned; the hooks of event id n (or bit TRACE_EV_USER) begin at first[n] and end before
	 * first[n + 1]
	 */
	struct event_hook *by_event;
	uint32_t first[TRACE_EV_MAX + 1];
	struct interval_hook *by_state; /* owned; the same for the intervals of a state */
	uint32_t first_of_state[NR_HOOKED_STATES + 1];
	/*
	 * wait_key() of the blocked interval that hooks are called for; 0: unknown time, or not
	 * blocked
	 */
	uint64_t wait_key;
	uint32_t states; /* states that any interval hook wants: bit 1 << enum trace_state */
	/* before the interval hooks, most intervals are on a CPU; NULL: none */
	on_cpu_fn on_cpu;
	void *on_cpu_data;
	/* no hook wants an interval on a CPU that is wholly before or after these, ns */
	uint64_t on_cpu_from_ns, on_cpu_to_ns;
	bool has_transfer;    /* a hook wants the bytes of files */
	cpu_time_fn cpu_time; /* for the time of CPUs without a thread; NULL: none */
	soon_fn soon;	      /* NULL: none */
	/* the pass has ended: no interval comes any more; NULL: none */
	void (*done)(void *data);
	void *cpu_time_data; /* of these three */
	/* a thread is known from now on; NULL: none */
	void (*new_thread)(void *data, const struct trace_thread *thread);
	void *new_thread_data;
	const struct table_hooks *tables; /* NULL: none */
	void *tables_data;
};

/* Does a hook want intervals of @state? */
#define WATCHED(a, state) ((a)->hooks.states >> (state)&1)
/* Does a hook want an interval on a CPU of @state from @from to @to? */
#define WATCHED_ON_CPU(a, state, from, to) \
	(WATCHED(a, state) && (to) > (a)->hooks.on_cpu_from_ns && (from) < (a)->hooks.on_cpu_to_ns)

void hook_list_clear(struct hook_list *hooks);
/** hooks_prepare() - index the hooks by event; no hook can be added from now on */
int hooks_prepare(struct trace_analysis *a);
/** hooks_want_on_cpu() - true if a hook with other data than @data wants intervals on a CPU */
bool hooks_want_on_cpu(const struct trace_analysis *a, const void *data);

/** hooks_end_on_cpu() - the function with @data of hooks_on_cpu() wants no interval from @ns on */
void hooks_end_on_cpu(struct trace_analysis *a, const void *data, uint64_t ns);

/** hooks_on_mode() - as trace_analysis_on_event() */
int hooks_on_mode(struct trace_analysis *a, mode_fn fn, void *data) TRACE_NODISCARD;
/**
 * hooks_on_cpu() - call @fn for intervals on a CPU, before interval hooks
 * An analysis has one such function.
 * Returns 0; -EBUSY: there is one, or the pass began.
 */
int hooks_on_cpu(struct trace_analysis *a, on_cpu_fn fn, void *data) TRACE_NODISCARD;
/** hooks_mode() - call them */
void hooks_mode(struct trace_analysis *a, const struct trace_thread *thread, bool in_syscall);
/** hooks_transfer() - call those that want the bytes of files */
void hooks_transfer(struct trace_analysis *a, const struct trace_thread *thread, uint64_t read_bytes,
		    uint64_t written_bytes);
/** interval_emit() - call the interval hooks */
void interval_emit(struct trace_analysis *a, const struct trace_interval *interval);
/** emit_pieces() - the same for an interval off the CPUs, which gaps divide into pieces */
void emit_pieces(struct trace_analysis *a, const struct trace_interval *whole);
#endif
