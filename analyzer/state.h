/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_H
#define ANALYZER_STATE_H
/*
 * state.h - the state: what the analysis knows of threads, CPUs and files at the current event.
 *
 * analysis.c passes each event to the handler of its kernel domain (state_<domain>.c). A handler
 * closes intervals only through accounting.c. That file is the only place where time is added. It
 * adds each nanosecond to one state of one thread and to one column of one CPU, so the sums of the
 * threads and the sums of the CPUs always agree.
 *
 * books_cpu() closes time on a CPU, whichever thread runs there and whichever interrupts nest
 * there. books_queued(), pending_wait() and books_unknown() close a thread's time off the CPUs.
 *
 * The files form layers: a file calls only files in its own line or above.
 *   tables           accounting_rows, calls, state_cpu, gap_log, recorded_masks
 *   files            state_file, state_memory, state_socket, state_device
 *   rows             accounting_files, accounting_packed, slice_log
 *   threads          state_thread, state_container, state_end, state_filtered, state_uring
 *   causes of waits  potential_wakers, wait, locks
 *   sums of time     hooks, accounting
 *   calls end        pending, state_frame, hidden_runs, start_records
 *   threads end      state_close, state_restart, state_life, state_hidden, state_lost
 *   other handlers   state_start, state_sched, state_syscall, state_trap, state_irq, state_cause
 *   the pass         analysis
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>
#include "arena.h"
#include "accounting.h"
#include "accounting_files.h"
#include "accounting_rows.h"
#include "calls.h"
#include "gap_log.h"
#include "handler.h"
#include "hooks.h"
#include "state_cpu.h"
#include "state_file.h"
#include "state_hidden.h"
#include "state_memory.h"
#include "state_socket.h"
#include "state_thread.h"
#include "hash_table.h"
#include "potential_wakers.h"

#define MAX_TID (1u << 22) /* PID_MAX_LIMIT of Linux */
#define TID_PAGE 1024u
/* With this many threads, the state of a thread leaves the cache before the thread runs again. */
#define THREADS_COLD 256u

struct trace_analysis {
	const struct trace *trace; /* borrowed */
	/* borrowed; the cursor of the pass, at the current event */
	const struct trace_cursor *cursor;
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t now;
	int failed;
	uint64_t start_lost; /* events lost from damaged chunks of the start state */
	struct trace_error start_damage; /* the last damage of the start state; code 0: no damage */
	bool began, done;
	bool closing; /* the end of the trace is reached; deferred sums wait for books_of() */
	bool no_fault_exit; /* the recorder could not record the end of faults */
	uint32_t nr_cpus;
	struct cpu *cpus;			/* owned */
	struct trace_thread **pages[MAX_TID / TID_PAGE]; /* owned: living threads by id */
	struct trace_process **processes;	/* owned, and each with its threads */
	uint32_t nr_processes, max_processes;
	uint32_t nr_threads;
	/* list of threads that ran since ran_take(), or run now: state_ran.h */
	struct trace_thread *ran;
	struct arena arena; /* memory of threads, slabs (struct desk) and processes */
	struct desk *free_desks; /* free list of slabs in the arena */
	struct file_use *free_uses; /* free list in the arena */
	/* pid + 1 -> idx of the latest process with that pid */
	struct hash_table process_by_pid;
	struct call calls[CALL_UNKNOWN + 1];
	struct hash_table locks;	 /* lock_row */
	struct hash_table interrupts; /* interrupt_row: all CPUs, idle ones too */
	struct strings strings;
	struct file *files; /* owned, with their texts; [0] unused */
	uint32_t nr_files, max_files, free_file; /* free_file: first of the free list, 0: empty */
	struct hash_table file_by_identity;
	struct hash_table file_by_inode;
	struct sock *socks; /* owned; [0] unused */
	uint32_t nr_socks, max_socks, free_sock;
	uint32_t until_sweep; /* new files and sockets until the next sweep: state_forget.c */
	uint32_t sweeps;
	struct hash_table sock_by_inode, sock_by_tuple;
	struct hash_table works;	/* queued work -> the thread that queued it: state_work.c */
	struct hash_table requests;	/* io_uring requests -> process and file: state_uring.c */
	struct hash_table cgroups;	/* number -> path: state_container.c */
	struct hash_table devices;	/* path -> block device: state_device.c */
	struct hash_table end_waits;	/* end_wait */
	/*
	 * potential wakers of each kind; complete lists while @closing, else of the last question
	 * only
	 */
	struct enders enders[NR_ENDER_KINDS];
	struct hash_table hidden_runs; /* state_hidden.c */
	uint32_t nr_offline;	/* CPUs that went offline and did not come back */
	bool hides;		/* threads without recorded events exist and may wake others */
	struct hidden_turn hidden_turns[HIDDEN_LOG]; /* a ring, by the end of the slices */
	uint64_t hidden_pos;	/* number of entries ever added to hidden_turns */
	int32_t *end_fds;	/* owned */
	uint32_t nr_end_fds, max_end_fds;
	struct hash_table streams;	/* stream of a program's events -> pid: state_user.c */
	struct hash_table programs;	/* pid of such a stream -> what the program runs */
	uint64_t nr_anonymous;	/* shared mappings without a file: state_syscall.c */
	/* interface number + 1; 0: not looked up yet, 1: no such interface */
	uint32_t loopback;
	struct hook *hooks; /* owned */
	size_t nr_hooks;
	/*
	 * owned; the hooks of event id n (or bit TRACE_EV_USER) begin at hooks_of[n] and end before
	 * hooks_of[n + 1]
	 */
	struct event_hook *event_hooks;
	uint32_t hooks_of[TRACE_EV_MAX + 1];
	uint32_t watched; /* states that any interval hook wants: bit 1 << enum trace_state */
	struct gap *gaps; /* owned; gaps that have begun, joined */
	size_t nr_gaps;
	/*
	 * Owned, ascending: start times of all losses, also of the minor gaps that make no time
	 * unknown. late_doubts has those of the late gaps, which are found during the pass.
	 */
	uint64_t *doubts, *late_doubts;
	size_t nr_doubts, nr_late_doubts;
	struct trace_gap *damages; /* owned; late gaps: found in the pass, by start_ns */
	size_t nr_damages, room_for_damages;
	struct cpu_gap *cpu_gaps; /* owned; by start */
	size_t nr_cpu_gaps, next_cpu_gap;
	/* how many more pieces gaps may divide intervals into: hooks.c */
	uint64_t pieces_left;
	uint64_t next_gap_ns; /* UINT64_MAX: no further gap */
	uint64_t halted_ns;   /* time without scheduling changes, by the masks in the trace */
	bool no_wakings;      /* wakeups are not recorded now */
	bool no_entries;      /* entries of system calls are not recorded now */
	bool no_exits;	      /* exits of system calls are not recorded now */
	bool has_mask;	      /* the trace has events that say what was recorded */
	bool paused;	      /* by the last mask, scheduling changes are not recorded */
	/* when the current repetition of the start state began; 0: none is under way */
	uint64_t again_ns;
	/* owned: reads ahead in the repeated start state: state_restart.c; NULL: not needed yet */
	struct trace_cursor *again;
	uint32_t nr_again, nr_again_ahead; /* start_again events: until now, until @again */
	bool sees_opens;      /* by the last mask, calls that open and close are recorded */
	uint64_t recorded[TRACE_MASK_WORDS];   /* events that some mask so far included */
	/* events that a mask excluded while it included scheduling changes */
	uint64_t unrecorded[TRACE_MASK_WORDS];
	bool filtered;	      /* only events of some processes were recorded: state_filtered.c */
	struct hash_table passing; /* if @filtered: pid + 1 of the recorded processes */
	/* inconsistencies: events that contradict the state, since an event is missing */
	uint64_t contradictions;
	uint64_t counts[TRACE_EV_MAX];
	event_handler *handlers[TRACE_EV_MAX];
	struct later later[NR_LATER];
	uint32_t later_pos;
	struct later_use later_uses[NR_LATER_USES];
	/* counted since books_settle(); the entries from _added to _pos are not added yet */
	uint32_t later_uses_pos, later_uses_added;
	uint64_t sink[16]; /* receives the sums of rows for which there was no memory */
};

/** cpu_take() - @thread, which is not an idle thread, runs on @cpu from now on */
static inline void cpu_take(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread)
{
	thread->place = PLACE_ON_CPU;
	thread->cpu = cpu->cpu;
	cpu->current = thread;
	if (thread->ran)
		return;
	thread->ran = true;
	thread->next_ran = a->ran;
	a->ran = thread;
}

/**
 * pass_end() - end a pass of the analysis' own over some of the events
 *
 * Returns 0, or -ENOMEM if the pass ended early. A damaged chunk is not an error here: the pass has
 * delivered it as a loss, or the pass over all events meets the chunk, too, and reports it.
 */
static inline TRACE_NODISCARD int pass_end(struct trace_cursor *cursor)
{
	int error = trace_cursor_end(cursor, NULL);

	return error == -EBADMSG ? 0 : error;
}
#endif
