/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_THREAD_H
#define ANALYZER_STATE_THREAD_H
/*
 * state_thread.h - threads and processes
 *
 * A thread has a scheduling state, the system calls and faults that it is in (frames),
 * waits without a wait cause yet (pending) and a waker.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "accounting.h"
#include "state_event_cost.h"
#include "state_directory.h"
#include "state_file.h"
#include "open_request.h"
#include "hash_table.h"

struct identity_log;
struct trace_analysis;

#define MAX_FRAMES	  3
#define MAX_PENDING	  2
#define TASK_STATES_ENDED (TRACE_TASK_DEAD | TRACE_TASK_EXIT_DEAD | TRACE_TASK_EXIT_ZOMBIE)
#define TASK_STATE_NEW	  0x800 /* TASK_NEW of Linux: forked, not woken yet */
/* not a state of Linux: runnable, but its CPU quota is used up */
#define TASK_STATE_QUOTA (1u << 31)
/* with TASK_STATE_QUOTA: it is the CPU time that the kernel allows its class of the scheduler */
#define TASK_STATE_LIMIT_DEADLINE  (1u << 30)
#define TASK_STATE_LIMIT_REAL_TIME (1u << 29)

/* scheduling state of a thread; ON_CPU: struct cpu accounts the time */
enum sched_state {
	SCHED_ON_CPU,
	SCHED_RUNNABLE, /* runnable, waits for a CPU */
	SCHED_BLOCKED,
	SCHED_NEW,	    /* forked, not woken yet */
	SCHED_OFF_AT_START, /* blocked or queued since the start: its first event decides which */
	SCHED_UNKNOWN,	    /* unknown: last seen before a gap or an inconsistency */
	SCHED_DEAD,
};

enum thread_flag {
	THREAD_KERNEL = 1,
	THREAD_SOFTIRQ_DAEMON = 2, /* ksoftirqd: softirqs are accounted as its own CPU time */
	THREAD_EXITING = 4,
	/* in user mode or in a system call; frames[0] is prepared for the latter */
	THREAD_MODE_UNKNOWN = 8,
	THREAD_RECLAIM = 16,	/* between reclaim_begin and reclaim_end */
	THREAD_FROM_START = 32, /* created from the start state, and no event about it since */
	THREAD_THROTTLED = 64,	/* fs_throttle was recorded in this system call */
	THREAD_VFORK = 128,
	THREAD_RAN_AT_START = 256, /* the start state says that it was running */
	THREAD_VISIBLE = 512,	   /* its events are recorded: state_hidden.c */
	THREAD_IO_WORKER = 1024,   /* an io_uring worker: makes no system calls of its own */
	/* the start state says that its events are not recorded: state_hidden.c */
	THREAD_HIDDEN = 2048,
	THREAD_RETURNS = 8192,	 /* the current event ends its system call, with result ret */
	THREAD_FILTERED = 16384, /* a filter excludes its events: state_filtered.c */
	/* its last fault event was the end of a fault, not known to be major */
	THREAD_FAULT_OVER = 32768,
	THREAD_ASLEEP = 4096, /* HIDDEN, and by the kernel's counters it never ran */
};

/* Sums of a thread at one time. The difference of two snapshots is what happened in between. */
struct thread_snapshot {
	uint64_t ns;
	uint64_t cpu;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t wait;
};

/* KERNEL: work outside of calls, which @call names: kernel_work.h */
enum frame_kind { FRAME_SYSCALL, FRAME_TRAP, FRAME_KERNEL };
struct frame {
	struct thread_snapshot begin;
	uint32_t call; /* index into trace_analysis.calls */
	file_idx file; /* the file that the call acts on; trap: the file of the missing page */
	uint8_t kind;
	bool has_path; /* trace_thread.path is the path of this call */
	uint8_t nr_args;
	bool fd_seen;	/* an fs_open event gave the result */
	bool file_seen; /* a transfer on a socket gave @file */
	bool major;
	bool path_late;	  /* the path was read at the exit, maybe after another thread changed it */
	uint64_t args[6]; /* args[0] is in the same cache line as the fields above */
	uint32_t dev;	  /* trap: device of the file of the missing page, if the file has no name */
	/* call: the file of its descriptor, if @file is another one that it waited for; else 0 */
	file_idx own_file;
};

/* The work of the waker, or of the interrupt that made the wakeup. */
/* UNSEEN: an interrupt without recorded details */
enum cause {
	CAUSE_NONE,
	CAUSE_BLOCK,
	CAUSE_NETWORK,
	CAUSE_TIMER,
	CAUSE_SOCKET,
	CAUSE_DEVICE,
	CAUSE_KERNEL,
	CAUSE_RCU,
	CAUSE_UNSEEN
};
#define FILTERED_BITS 24
struct waker {
	uint64_t ns;		     /* 0: no waker was recorded */
	struct trace_thread *thread; /* TASK context only */
	/* the kernel thread that made the wakeup for @thread; NULL: @thread did */
	struct trace_thread *worker;
	/*
	 * SOCKET: inode; BLOCK: device; DEVICE, KERNEL: string_id; NONE: the path argument of
	 * @call, a string_id
	 */
	uint64_t detail;
	uint32_t call;	      /* the waker's system call, CALL_UNKNOWN if none */
	file_idx file;	      /* the file that @call acts on */
	file_idx second_file; /* the other one, of a call that copies; 0: none */
	uint8_t context;
	uint8_t cause;
	uint8_t via;		   /* enum via: the means of the wakeup; NONE: not known */
	uint8_t by_signal;	   /* the signal that the waker had just sent; 0: none */
	uint32_t by_timer : 1;	   /* a packet woke the thread that a timer of the protocol had sent: state_packet.c */
	uint32_t is_bare : 1;	   /* no interrupt was known to be in progress */
	uint32_t closes : 1;	   /* it exits, and closes the other end of the file that is read */
	uint32_t has_accepted : 1; /* it has received and sent nothing since it accepted a connection */
	uint32_t filtered : FILTERED_BITS; /* index of its process, whose events a filter excludes; 0: none */
	uint32_t lock;			   /* the wakeup released this lock: index of its log, 0: none */
	/*
	 * 1 + the file of the io_uring request that ended the wait: state_uring.c; 0: not known
	 */
	uint32_t ring_file;
};

/* A finished blocked interval. Its wait cause is decided when its frame ends: wait.c. */
struct pending {
	uint64_t from;
	uint64_t to;
	uint64_t known_ns; /* to - from, without the time in gaps */
	struct waker waker;
	uint32_t task_state;
	uint16_t flags;	   /* flags of the thread when it blocked */
	uint8_t depth;	   /* number of frames when it blocked */
	bool cut : 1;	   /* a gap or the end of the trace ended it; the real end is not known */
	bool is_asked : 1; /* the thread worked on a request, or asked, when the wait ended */
	/* @cut, because the waker interrupted the call: interrupted.c */
	bool interrupted : 1;
	bool by_request : 1; /* the file of a request of io_uring ended it: interrupted.c */
};

/* The waits before trace_thread.pending in a call whose path is not known yet: pending.c */
struct kept_waits {
	uint32_t nr, room;
	struct pending list[];
};

struct cpu_share {
	uint32_t cpu;
	uint64_t ns;
};

/* a run-queue episode: a thread never sleeps, it runs or waits for a CPU: slice_log.c */
struct rq_episode {
	uint64_t first;	      /* number of the CPU's first time slice that began in the episode */
	uint64_t own;	      /* number of the thread's own slice, which ended its last wait */
	uint64_t left_ns;     /* waiting time not charged yet to the other slices */
	uint64_t irq_ns;      /* time of interrupts of the CPU in the waits */
	uint64_t own_ns;      /* the thread's own slices in the episode, without interrupts */
	uint64_t last_own_ns; /* the last of its own slices, if another wait follows */
	uint64_t names;	      /* how many processes may be named as holders of the CPU */
	uint32_t nr_waits;
	uint32_t cpu;
	uint32_t at;  /* index in the CPU's list of episodes */
	bool is_long; /* one wait was too long to name all processes that held the CPU */
};

/**
 * struct thread_rare - what few threads have
 * @own_events: that it recorded, if their cost is known
 * @path_signal, @path_signal_ns: index of the process to which it sent its last signal in a call on
 *	a path, and when; 0: none
 * @interrupted_ns: of a thread with is_interrupted: when that call began first
 * @accept_lock: the lock that it has while it accepts a connection; 0: not known
 * @early_file: what it opened last in a call whose entry has no event yet; 0: none. @early_ns: when
 */
struct thread_rare {
	struct event_counts own_events;
	uint32_t path_signal;
	uint64_t path_signal_ns;
	uint64_t interrupted_ns;
	uint64_t accept_lock;
	uint64_t early_ns;
	file_idx early_file;
};

#define MAX_READY_FILES 4
/** struct ready_files - of the last poll, select or epoll_wait, and when it returned; 0: none */
struct ready_files {
	uint64_t ns;
	file_idx files[MAX_READY_FILES];
};

/* A FUTEX_WAKE, also if no thread waited. The signal of a condition is followed by those of its
 * mutex and of others, before the waiter that it came for waits for something else. */
#define NR_SIGNALS 8 /* a power of two */
struct futex_signal {
	uint64_t futex; /* its address */
	uint64_t ns;	/* when the call began */
};
/** struct futex_signals - the last signals of a thread, in a ring; @nr of all */
struct futex_signals {
	struct futex_signal last[NR_SIGNALS];
	uint32_t nr;
};

/* fields by frequency of use; a thread begins on a cache line */
struct trace_thread {
	uint32_t idx; /* trace_thread_index() */
	uint32_t process_idx;
	uint32_t tid;
	uint16_t flags;
	uint8_t sched_state; /* enum sched_state */
	uint8_t depth;	     /* number of frames in use */
	uint8_t nr_pending;
	uint8_t nr_latencies;
	bool in_episode : 1;	 /* @episode has waits that are not in the accounting yet */
	bool has_early : 1;	 /* a wakeup came while the thread was still on the CPU */
	bool is_dying : 1;	 /* it does not return to user mode any more */
	bool has_rseq : 1;	 /* task_work_end tells when it returns to user mode */
	bool is_asked : 1;	 /* it works on a request, or asks: state_request.c */
	bool is_fresh : 1;	 /* exec gave it a program, of which no page is in its memory yet */
	bool is_interrupted : 1; /* it has @interrupted */
	bool brings_part : 1;	 /* received a part of an answer since its last wait */
	bool ran : 1;		 /* it is in the list trace_analysis.ran */
	bool is_recorder : 1;	 /* of the recording daemon: its calls are not recorded */
	bool keeps_waits : 1;	 /* it has @kept_waits */
	bool is_apart : 1;	 /* in another control group than its leader: state_identity.h */
	uint32_t cpu;		 /* the CPU where it runs, is queued, or ran last */
	uint64_t since;		 /* off the CPUs: when its scheduling state began */
	/* When it was last RUNNABLE. If that is @since, the next two fields are valid. */
	uint64_t queued_ns;
	uint64_t queued_irq;   /* interrupt time of the CPU */
	uint64_t queued_slice; /* number of the CPU's next time slice */
	uint32_t task_state;   /* if BLOCKED */
	uint32_t nr_shares;
	struct acct_slab *slab; /* its slab; NULL: none yet, or the thread is dead */
	struct trace_process *process;
	struct fd_table *fds;	       /* counted reference */
	struct process_memory *memory; /* counted reference */
	int64_t ret;		       /* if THREAD_RETURNS */
	uint64_t last_wait;	       /* wait_key() of the last wait with a decided cause, 0: none */
	uint64_t last_wait_ns;	       /* the end of that wait */
	/* when the start state read it, until a system call of it begins or ends; else 0 */
	uint64_t read_ns;
	struct acct acct;
	/* owned; MODE_UNKNOWN: CPU time that waits until the mode is known */
	struct cpu_share *shares;
	struct frame frames[MAX_FRAMES];
	struct pending pending[MAX_PENDING];
	struct rq_episode episode;
	struct waker early; /* if has_early */
	/*
	 * use_row: sums that belong into acct.files and, for waits for files, into acct.waits.
	 * They move there when a caller asks for them or the thread dies.
	 */
	struct hash_table uses;
	struct trace_thread *next;	      /* next thread of the process */
	struct trace_thread *next_ran;	      /* if @ran */
	struct interrupted_call *interrupted; /* owned; NULL: none. interrupted.c */
	struct kept_waits *kept_waits;	      /* owned; NULL: none */
	uint64_t fault_end_ns;		      /* of its last page fault in user mode */
	/* kworker: the thread that queued its current work; NULL: not known */
	struct trace_thread *work_for;
	struct directories *directories; /* counted reference; NULL: not known */
	/* address of the io_uring ring that it entered last; 0: none */
	uint64_t ring;
	char *path; /* owned: the path argument of the last call that had one */
	/* the last path that was read at the exit of its call, and begin and end of that call */
	string_id late_path;
	uint64_t late_from_ns, late_to_ns;
	uint32_t path_room;
	uint32_t packed_bytes; /* DEAD: size of @packed; 0: the sums are not packed */
	uint8_t *packed;       /* owned: the packed sums: accounting_packed.c */
	uint64_t start_ns;
	uint64_t end_ns;
	struct futex_signals *signals; /* owned; NULL: none yet */
	struct ready_files *ready;     /* owned; NULL: none yet */
	uint64_t described_ns;	       /* when the repeated start state last had it; 0: never */
	char comm[16];
	uint32_t uid; /* effective; of the leader it is its process's */
	/*
	 * Its control group, if it is apart, and if the start state is not complete. The leader has
	 * that of its process.
	 */
	uint64_t cgroup;
	/* number of earlier threads with this tid but no sched_free yet; -1: its own has come */
	int8_t unfreed;
	struct thread_rare *rare; /* owned; NULL: none yet. thread_rare.h */
	struct thread_requests requests;
};
_Static_assert(sizeof(void *) != 8 || (offsetof(struct trace_thread, slab) == CACHE_LINE &&
				       offsetof(struct trace_thread, acct) == 2 * CACHE_LINE &&
				       offsetof(struct trace_thread, frames) % CACHE_LINE == 0),
	       "what one event needs is in few lines of the cache");

struct trace_process {
	uint32_t idx;
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	uint32_t gid;
	string_id exe;
	string_id args;	 /* 0: not known; state_args.c */
	string_id title; /* 0: @comm */
	bool args_cut;	 /* @args are the begin of longer ones */
	bool is_traced;	 /* another process traced one of its threads at the start */
	bool kernel;
	/* it was renamed before the start state read its name: the one before is not known */
	bool is_renamed;
	bool is_adopted; /* the same of its parent: start_parents.c */
	bool is_orphan;	 /* its parent has ended, and the event of its adoption was lost */
	uint32_t ns_pid; /* its pid in its own pid namespace */
	uint32_t heir;	 /* pid of the process that gets its children when its threads end; 0: they stay */
	uint64_t cgroup; /* id of the control group */
	string_id cgroup_path;
	uint64_t cpu_limit_ns;	/* trace_process_cpu_limit() */
	file_idx exec_files[2]; /* the program and its interpreter: nothing else keeps their names */
	file_idx uring_file;	/* file of the io_uring request that completed last */
	uint64_t uring_ns;	/* when that request completed */
	uint32_t uring_by;	/* the thread that completed it; 0: an interrupt */
	/* requests of it that are in the hands of workers, and their file, if all have the same */
	uint32_t nr_async;
	file_idx async_file;
	uint32_t stopped_by; /* index of the process that last stopped or continued it; 0: none */
	uint32_t forked_by;  /* the thread of its parent that has it as a child; 0: any */
	char comm[16];
	struct strings *strings; /* borrowed */
	uint64_t read_ns;	 /* when the start state read the values above; 0: it did not */
	/* owned; NULL: none of the values has changed: state_identity.c */
	struct identity_log *identities;
	/* state_family.c; NULL: not known */
	struct trace_process *parent, *children, *next_sibling;
	const struct trace_process *starter; /* its first known parent; NULL: not known */
	struct trace_process **sibling_at;   /* the pointer to this process in the list */
	struct trace_thread *first, *last;
	size_t nr_threads;
	size_t nr_living;
	bool has_left_living; /* it has ended, and is no potential waker: potential_wakers.c */
	bool is_reaped;	      /* its parent's wait returned it: it has ended, though no event tells */
	uint32_t nr_told;     /* rows of its threads that others of it waited for: wait_object.c */
};
/* Pseudo processes, which stand for no single process. Real processes follow. */
enum { PROCESS_IDLE = 0, PROCESS_INTERRUPTS, PROCESS_SEVERAL, PROCESS_UNKNOWN, NR_PSEUDO_PROCESSES };

#define MAX_TID	 (1u << 22) /* PID_MAX_LIMIT of Linux */
#define TID_PAGE 1024u
struct thread_table {
	struct trace_thread **pages[MAX_TID / TID_PAGE]; /* owned: the latest threads by id */
	uint32_t nr;					 /* of all threads, dead ones too */
	struct trace_process **processes;		 /* owned, and each with its threads */
	uint32_t nr_processes, max_processes;
	uint32_t nr_fatherless;		  /* processes of the start state whose parent is not in it: state_family.c */
	bool may_drop;			  /* the start is being loaded: hooks.new_thread waits for threads_stay() */
	struct hash_table process_by_pid; /* pid + 1 -> idx of the latest process with that pid */
};

struct trace_thread *thread_find(const struct thread_table *table, uint32_t tid);
struct trace_thread *thread_new(struct trace_analysis *a, uint32_t tid, struct trace_process *process,
				uint64_t start_ns);
/**
 * thread_slot() - the pointer to the living thread of id @tid, which is less than MAX_TID
 *
 * Returns NULL if out of memory.
 */
struct trace_thread **thread_slot(struct trace_analysis *a, uint32_t tid);
void thread_mode_unknown(struct trace_thread *thread, uint64_t ns);
struct trace_process *process_new(struct trace_analysis *a, uint32_t pid);

typedef bool thread_choice(const struct trace_thread *thread);

/** process_drop() - drop those threads of @process which @is_unwanted chooses; returns how many */
uint32_t process_drop(struct trace_analysis *a, struct trace_process *process, thread_choice *is_unwanted);
/** threads_stay() - the threads of the start are those that it has now */
void threads_stay(struct trace_analysis *a);
/** process_release() - release what its threads own; the arena owns the process and its threads */
void process_release(struct trace_process *process);
/** thread_table_clear() - release what the table and its threads own, before the arena is freed */
void thread_table_clear(struct thread_table *table);
/**
 * process_renumber() - set the index of @process; the caller moves the pointer
 *
 * With the index of a pseudo process, process_find() no longer finds it. The caller also corrects
 * the indexes that others keep (sockets, listeners), and no sums may have any yet.
 */
void process_renumber(struct trace_analysis *a, struct trace_process *process, uint32_t idx);
/** process_end_ns() - when its last thread ended that has ended; 0: none has */
uint64_t process_end_ns(const struct trace_process *process);
struct trace_process *process_find(const struct thread_table *table, uint32_t pid);
struct trace_process *process_get(struct trace_analysis *a, uint32_t pid);
void process_set_comm(struct trace_analysis *a, struct trace_thread *thread, const char *comm);
/**
 * process_owner() - the thread with the descriptors and the memory of @process
 *
 * It is the leader or, if that is dead, another living thread. Returns NULL if none lives.
 */
struct trace_thread *process_owner(const struct thread_table *table, const struct trace_process *process);
/** thread_snapshot() - the sums of @thread at @ns; on a CPU, the caller calls acct_cpu() first */
void thread_snapshot(const struct trace_thread *thread, uint64_t ns, struct thread_snapshot *ret_snapshot);
#endif
