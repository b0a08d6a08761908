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
 * acct_cpu() closes time on a CPU, whichever thread runs there and whichever interrupts nest
 * there. acct_queued(), pending_wait() and acct_unknown() close a thread's time off the CPUs.
 *
 * The files form layers: a file calls only files in its own line or above.
 *   tables           accounting_rows, calls, state_cpu, state_frame, wait_cause, wait_object,
 *                    gap_log, recorded_masks
 *   files            open_request, open_datagrams, state_touch, file_names, state_file,
 *                    state_memory,
 *                    state_socket, state_device, state_directory, call_file, dirty_files
 *   rows             accounting_files, accounting_packed, slice_log
 *   threads          state_thread, state_container, state_end, state_filtered, state_packet,
 *                    state_uring
 *   causes of waits  potential_wakers, state_request, wait_holder, wait_path, wait_context,
 *                    wait_alone, wait_waker, wait_socket, wait_file, wait_poll, wait_call, wait,
 *                    lock_log, locks
 *   sums of time     hooks, accounting
 *   calls end        pending, interrupted, frame_end, hidden_runs, state_identity, state_family,
 *                    state_probe, state_event_cost, start_records, kernel_work, disk_sums,
 *                    disk_waits, work_sums
 *   windows          window
 *   threads end      state_close, state_restart, state_life, state_hidden, state_lost
 *   other handlers   state_start, state_sched, state_syscall, state_trap, state_irq, state_cause,
 *                    state_block
 *   the pass         analysis
 *   rules            rules/: they watch the pass by hooks, to verify its results; state_rules
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>
#include "accounting.h"
#include "accounting_files.h"
#include "accounting_rows.h"
#include "arena.h"
#include "calls.h"
#include "dirty_files.h"
#include "disk_sums.h"
#include "disk_waits.h"
#include "gap_log.h"
#include "handler.h"
#include "hash_table.h"
#include "hooks.h"
#include "kernel_turns.h"
#include "listeners.h"
#include "lock_log.h"
#include "potential_wakers.h"
#include "recorded_masks.h"
#include "state_cpu.h"
#include "state_doubt.h"
#include "state_end.h"
#include "state_event_cost.h"
#include "state_file.h"
#include "state_filtered.h"
#include "state_expire.h"
#include "state_family.h"
#include "state_hidden.h"
#include "state_memory.h"
#include "state_probe.h"
#include "start_later.h"
#include "state_restart.h"
#include "state_socket.h"
#include "state_thread.h"
#include "state_user.h"
#include "wait_object.h"
#include "work_sums.h"

/* With this many threads, the state of a thread leaves the cache before the thread runs again. */
#define THREADS_COLD 256u

struct window;

enum { STEP_ENDS = 1 };

struct trace_analysis {
	const struct trace *trace;	/* borrowed */
	struct trace_cursor *cursor;	/* owned; of the pass, at the current event; NULL: before and after it */
	const struct trace_event *held; /* the first event of the next step, borrowed from the cursor; or NULL */
	uint64_t step_ns;		/* the current step ends before events from here on */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t now;
	int failed;		 /* ends the pass, or as STEP_ENDS a step of it */
	uint32_t nr_interrupted; /* threads with interrupted waits */
	uint32_t nr_kept;	 /* threads with kept waits: kept_rests.c */
	bool began, ended, done;
	bool no_call_times;		 /* of the options */
	bool closing;			 /* the end of the trace is reached; deferred sums wait for acct_of() */
	bool has_limits;		 /* sched_limit: a class of the scheduler was limited */
	uint64_t start_lost;		 /* events lost from damaged chunks of the start state */
	struct trace_error start_damage; /* the last damage of the start state; code 0: no damage */

	struct cpu *cpus; /* owned */
	uint32_t nr_cpus;
	uint32_t nr_offline; /* CPUs that went offline and did not come back */
	struct thread_table threads;
	struct trace_thread *ran; /* list of threads that ran since ran_take(), or run now: state_ran.h */
	struct file_table files;
	struct fd_changes fd_changes;
	struct socket_table sockets;
	struct listeners listeners;
	struct sweep sweep; /* of files and sockets */
	uint32_t nr_tables; /* of descriptors, and address spaces, so far */
	struct call calls[NR_CALL_ROWS];
	uint32_t strange_calls[NR_STRANGE_CALLS]; /* their numbers */
	uint32_t nr_strange_calls;
	struct strings strings;
	struct hash_table identity_edges; /* process -> its times at the begin of the window: state_identity.c */
	struct hash_table works;	  /* queued work -> the thread that queued it: state_work.c */
	struct hash_table requests;	  /* io_uring requests -> process and file: state_uring.c */
	struct hash_table rings;	  /* rings -> thread: state_uring.c */
	struct hash_table cgroups;	  /* number -> path: state_container.c */
	struct hash_table devices;	  /* path -> block device: state_device.c */
	struct packet_log *packets;	  /* owned; NULL: no packet has a number: state_packet.c */
	struct user_streams user;
	struct probe_sums probes;
	uint32_t fault_way_ns; /* the kernel's way between two page faults: state_trap.c; 0: not known */
	struct work_sums work_sums;
	struct disk_sums disk_sums;
	struct disk_waits disk_waits;
	struct dirty_files dirty;
	/* interface number + 1; 0: not looked up yet, 1: no such interface */
	uint32_t loopback;

	struct arena arena; /* memory of threads, processes and rows */
	struct row_store rows;
	struct use_store uses;
	struct hash_table locks; /* lock_row */
	struct lock_logs lock_logs;
	struct kernel_turns kernel_turns;
	struct nest_memo nest_memos[NEST_MEMOS];
	struct hash_table interrupts; /* interrupt_row: all CPUs, idle ones too */
	struct wait_objects wait_objects;
	struct hash_table interruptions; /* interruption_row: interrupted.c */
	/*
	 * potential wakers of each kind; complete lists while @closing, else of the last wait only
	 */
	struct potential_wakers potential_wakers[NR_WAKER_KINDS];
	struct living_processes living;

	struct recorded_masks masks;
	struct process_filter filter;
	struct gap_log gaps;
	struct doubt doubt;
	struct hidden_log hidden;
	struct restart restart;
	struct start_reads *reads; /* owned; NULL: the start state is loaded */
	struct later_list later;
	struct end_state end;
	struct hash_table late_args; /* pid -> its title at the end: state_args.c */
	/* events that contradict the state, since an event is missing */
	uint64_t inconsistencies;

	struct window *window;		       /* owned; NULL: the whole trace */
	bool is_before_window, is_past_window; /* where the pass is; without a window neither */
	struct rules *rules;		       /* owned; NULL: not to be verified */
	struct hook_list hooks;
	event_handler *handlers[TRACE_EV_MAX];
	uint64_t counts[TRACE_EV_MAX];
};

/** cpu_take() - @thread, which is not an idle thread, runs on @cpu from now on */
static inline void cpu_take(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread)
{
	thread->sched_state = SCHED_ON_CPU;
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
