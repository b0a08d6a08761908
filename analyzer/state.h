/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_H
#define ANALYZER_STATE_H
/*
 * state.h - what the analysis knows of threads, CPUs and files at the moment, and the books that grow from it.
 *
 * An event goes through analysis.c to the handler of its kernel domain (state_<domain>.c). A handler changes the state only
 * through accounting.c, which closes the interval that ends: that is the only place where time is added anywhere, and it adds
 * each nanosecond to one state of one thread and one column of one CPU. So the books cannot help but balance.
 *
 * Time on a CPU is closed by the CPU (books_cpu()), whoever runs there and whatever interrupts nest on it; time off the CPUs
 * by the thread (books_queued(), books_blocked(), books_unknown()).
 *
 * What it is made of:
 *   state_thread.h   threads, processes        accounting.h        what each did with its time: rows of sums
 *   state_cpu.h      CPUs and interrupts       calls.h        system calls by number
 *   state_file.h     files, descriptors        state_hidden.h, potential_wakers.h
 * and what is done with it, for those who do:
 *   handlers.h       one for each event        state_syscall.h, state_socket.h, wait.h, slice_log.h
 *   state_start.h    before the first event    state_lost.h   what the trace does not tell
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>
#include "arena.h"
#include "accounting.h"
#include "calls.h"
#include "state_cpu.h"
#include "state_file.h"
#include "state_hidden.h"
#include "state_thread.h"
#include "hash_table.h"
#include "potential_wakers.h"

#define MAX_TID (1u << 22) /* PID_MAX_LIMIT of Linux */
#define TID_PAGE 1024u
/* Of so many threads the state does not stay in the cache until they come to a CPU again. */
#define THREADS_COLD 256u

struct hook {
	uint64_t mask[TRACE_MASK_WORDS];
	trace_event_fn event;
	trace_interval_fn interval;
	trace_gone_fn gone;
	trace_damage_fn damage;
	uint32_t states; /* of the intervals that it wants */
	void *data;
};

struct event_hook { /* the same, by event */
	trace_event_fn event;
	void *data;
};

typedef void (*handler_fn)(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event);

struct trace_analysis {
	const struct trace *trace; /* borrowed */
	const struct trace_cursor *cursor; /* borrowed; of the pass, at the event that is being handled */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t now;
	int failed;
	uint64_t start_lost; /* events of the start state in chunks that were damaged, */
	struct trace_error start_damage; /* and the last one of these; code 0: none was */
	bool began, done;
	bool closing; /* the end of the trace is reached: what is left for later waits until somebody asks (books_of()) */
	bool no_fault_exit; /* the recorder could not see the end of faults */
	uint32_t nr_cpus;
	struct cpu *cpus;			/* owned */
	struct trace_thread **pages[MAX_TID / TID_PAGE]; /* owned: living threads by id */
	struct trace_process **processes;	/* owned, and each with its threads */
	uint32_t nr_processes, max_processes;
	uint32_t nr_threads;
	struct trace_thread *ran; /* who is on a CPU, or was since that was asked last: state_ran.h */
	struct arena arena; /* of threads, desks and processes */
	struct desk *free_desks; /* in it */
	struct file_use *free_uses; /* the same */
	struct table process_by_pid;		/* pid + 1 -> idx of the latest */
	struct call calls[CALL_UNKNOWN + 1];
	struct table locks;	 /* lock_row */
	struct table interrupts; /* interrupt_row: of all CPUs, whoever was interrupted, idle CPUs too */
	struct strings strings;
	struct file *files; /* owned, and their texts; [0] unused */
	uint32_t nr_files, max_files, free_file; /* 0: none is free */
	struct table file_by_identity;
	struct table file_by_inode;
	struct sock *socks; /* owned; [0] unused */
	uint32_t nr_socks, max_socks, free_sock;
	uint32_t until_sweep; /* so many more files and sockets: state_forget.c */
	uint32_t sweeps;
	struct table sock_by_inode, sock_by_tuple;
	struct table works;	/* queued work -> who queued it: state_work.c */
	struct table requests;	/* of io_uring -> whose, and on which file: state_uring.c */
	struct table cgroups;	/* number -> path: state_container.c */
	struct table devices;	/* path -> block device: state_device.c */
	struct table end_waits;	/* end_wait */
	struct enders enders[NR_ENDER_KINDS]; /* while it is closed */
	struct table hidden_runs; /* state_hidden.c */
	uint32_t nr_offline;	/* CPUs that were seen to go offline, and not to come back */
	bool hides;		/* there are threads that leave no events, and may wake others */
	struct hidden_turn hidden_turns[HIDDEN_LOG]; /* in the order of their ends */
	uint64_t hidden_pos;	/* turns ever */
	int32_t *end_fds;	/* owned */
	uint32_t nr_end_fds, max_end_fds;
	struct table streams;	/* of programs' events -> pid: state_user.c */
	struct table programs;	/* pid of such a stream -> what it runs */
	uint64_t nr_anonymous;	/* shared mappings without a file: state_syscall.c */
	uint32_t loopback;	/* interface number + 1; 0: not looked for yet, 1: none */
	struct hook *hooks; /* owned */
	size_t nr_hooks;
	struct event_hook *event_hooks; /* owned; those of event id n (or bit TRACE_EV_USER) from hooks_of[n] to hooks_of[n + 1] */
	uint32_t hooks_of[TRACE_EV_MAX + 1];
	uint32_t watched; /* states that an interval hook wants: bit 1 << enum trace_state */
	struct gap *gaps; /* owned; of those that have begun */
	size_t nr_gaps;
	uint64_t *doubts, *late_doubts; /* owned: times of losses too small to spoil what is consistent, ascending; of damages that are met in the pass */
	size_t nr_doubts, nr_late_doubts;
	struct trace_gap *damages; /* owned; met in the pass, not in the trace's list; by start_ns */
	size_t nr_damages, room_for_damages;
	struct cpu_gap *cpu_gaps; /* owned; by start */
	size_t nr_cpu_gaps, next_cpu_gap;
	uint64_t pieces_left; /* so many more may intervals be divided into where they cross gaps: accounting.c */
	uint64_t next_gap_ns; /* UINT64_MAX: none */
	uint64_t halted_ns;   /* scheduling changes were not recorded, by the masks in the trace */
	bool no_wakings;      /* now wakeups are not */
	bool no_entries;      /* nor entries of system calls */
	bool no_exits;	      /* nor their exits */
	bool has_mask;	      /* the trace tells what was recorded */
	bool paused;	      /* scheduling changes are not recorded, by the last mask */
	uint64_t again_ns;    /* the start state is being told again, since then; 0: it is not */
	struct trace_cursor *again; /* owned: what comes of that: state_restart.c; NULL: not needed yet */
	uint32_t nr_again, nr_again_ahead; /* start_again, until now and until there */
	bool sees_opens;      /* what opens and closes is recorded: as the last mask tells */
	uint64_t recorded[TRACE_MASK_WORDS];   /* at some time until now; of masks in the trace */
	uint64_t unrecorded[TRACE_MASK_WORDS]; /* for some time not, while scheduling changes were */
	bool filtered;	      /* only events of some processes were recorded: state_filtered.c */
	struct table passing; /* if @filtered: pid + 1 of these */
	uint64_t contradictions; /* events that cannot follow from the state: others are missing */
	uint64_t counts[TRACE_EV_MAX];
	handler_fn handlers[TRACE_EV_MAX];
	struct later later[NR_LATER];
	uint32_t later_pos;
	struct later_use later_uses[NR_LATER_USES];
	uint32_t later_uses_pos, later_uses_added; /* since uses_settle(); those between are noted */
	uint64_t sink[16]; /* rows that found no memory */
};

/** cpu_take() - @thread, not an idle one, is on @cpu from now on */
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

/** interval_emit() - to the interval hooks */
void interval_emit(struct trace_analysis *a, const struct trace_interval *interval);

/**
 * pass_end() - end a pass of the analysis' own over some of the events: 0, or -ENOMEM, the events ended too early
 * A damaged chunk is no failure: it was delivered as a loss, or the pass over all events meets it, too, and tells of it.
 */
int pass_end(struct trace_cursor *cursor) TRACE_NODISCARD;
#endif
