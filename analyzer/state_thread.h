/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_THREAD_H
#define ANALYZER_STATE_THREAD_H
/*
 * state_thread.h - threads and processes: where each is, what it is in (frames), what it waited for (pending), who woke it (waker).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "accounting.h"
#include "state_file.h"
#include "hash_table.h"

struct trace_analysis;

#define MAX_FRAMES 3
#define MAX_PENDING 2
#define TASK_STATES_ENDED (TRACE_TASK_DEAD | TRACE_TASK_EXIT_DEAD | TRACE_TASK_EXIT_ZOMBIE)
#define TASK_STATE_NEW 0x800 /* TASK_NEW of Linux: forked, not woken yet */
#define TASK_STATE_QUOTA (1u << 31) /* none of Linux: it could run, but for its quota */

enum place { /* of a thread; on a CPU its time is the CPU's to close */
	PLACE_ON_CPU,
	PLACE_QUEUED,	    /* waits for a CPU */
	PLACE_BLOCKED,
	PLACE_NEW,	    /* forked, not woken yet */
	PLACE_OFF_AT_START, /* blocked or queued since the start: its first event will tell */
	PLACE_LOST,	    /* last seen before a gap or a contradiction */
	PLACE_DEAD,
};

enum thread_flag {
	THREAD_KERNEL = 1,
	THREAD_SOFTIRQ_DAEMON = 2, /* ksoftirqd: softirqs are its own work */
	THREAD_EXITING = 4,
	THREAD_MODE_UNKNOWN = 8, /* user or system call? frames[0] is ready for the second */
	THREAD_RECLAIM = 16,	 /* between reclaim_begin and _end */
	THREAD_FROM_START = 32,	 /* made by the start state, and not touched by an event yet */
	THREAD_THROTTLED = 64,	 /* fs_throttle in this system call */
	THREAD_VFORK = 128,
	THREAD_RAN_AT_START = 256, /* the start state saw it on its CPU */
	THREAD_VISIBLE = 512,	   /* its events are recorded: see state_hidden.c */
	THREAD_IO_WORKER = 1024,   /* of io_uring: makes no system calls of its own */
	THREAD_HIDDEN = 2048,	   /* the start state says that its events are not recorded: see state_hidden.c */
	THREAD_RETURNS = 8192,	   /* its system call ends at this very event, with ret */
	THREAD_FILTERED = 16384,   /* its events are not recorded: see state_filtered.c */
	THREAD_FAULT_OVER = 32768, /* its last event of a fault was the end of one, not known to be major */
	THREAD_ASLEEP = 4096,	   /* HIDDEN, and the kernel's counters say that it never ran */
};

/* Totals of a thread at some moment; the difference of two is what happened between. */
struct snapshot {
	uint64_t ns;
	uint64_t cpu;
	uint64_t interrupted;
	uint64_t wait_cpu;
	uint64_t wait;
};

enum frame_kind { FRAME_SYSCALL, FRAME_TRAP };
struct frame {
	struct snapshot begin;
	uint32_t call; /* into analysis.calls */
	file_idx file; /* it acts on; for a trap: whose page is missing */
	uint8_t kind;
	bool has_path; /* trace_thread.path is the one that this call was given */
	uint8_t nr_args;
	bool fd_seen; /* an fs_open told the result */
	bool major;
	uint64_t args[6]; /* the first one is in the same line of the cache as all before */
	uint32_t dev;  /* of a trap: where a file is whose page is missing, if it has no name */
};

/* What a wakeup's waker, or the interrupt that made it, was doing. */
enum cause { CAUSE_NONE, CAUSE_BLOCK, CAUSE_NETWORK, CAUSE_TIMER, CAUSE_SOCKET, CAUSE_DEVICE, CAUSE_KERNEL, CAUSE_RCU, CAUSE_UNSEEN /* an interrupt of which no more is known: none was recorded */ };
struct waker {
	uint64_t ns; /* 0: no waker seen */
	struct trace_thread *thread; /* TASK context only */
	struct trace_thread *worker; /* the kernel's thread that did it for @thread; NULL: itself */
	uint64_t detail;	     /* SOCKET: inode; BLOCK: device; DEVICE, KERNEL: string_id */
	uint32_t call;		     /* the thread's system call, CALL_UNKNOWN if none */
	file_idx file;		     /* and the file it acts on */
	uint8_t context;
	uint8_t cause;
	uint8_t via; /* enum via, where it tells how; else NONE */
	bool by_signal;
};

/* A closed blocked interval whose kind is decided when its frame ends: wait.c. */
struct pending {
	uint64_t from;
	uint64_t to;
	uint64_t known_ns; /* to - from, less what lay in gaps */
	struct waker waker;
	uint32_t task_state;
	uint16_t flags; /* of the thread when it blocked */
	uint8_t depth;	/* frames when it blocked */
	bool cut;	/* by a gap or the end of the trace: nobody knows what ended it */
};

struct cpu_share {
	uint32_t cpu;
	uint64_t ns;
};

struct spell { /* a thread that never sleeps waits for a CPU by turns: slice_log.c */
	uint64_t first;	 /* the first turn of the CPU that began in it */
	uint64_t own;	 /* the turn that ended its last wait: the thread's own */
	uint64_t left_ns; /* of its waits, to be charged to the turns */
	uint64_t irq_ns; /* of its waits: interrupts of the CPU */
	uint64_t own_ns; /* the thread's own turns in it, without interrupts */
	uint64_t last_own_ns; /* the last of them, if another wait follows */
	uint64_t names;	 /* so many may be named */
	uint32_t nr_waits;
	uint32_t cpu;
	uint32_t at; /* in the CPU's list of them */
	bool is_long; /* one of the waits was too long for all to be named */
};

struct trace_thread { /* in the order of how often it is needed; threads begin on a line of the cache */
	uint32_t idx; /* trace_thread_index() */
	uint32_t process_idx;
	uint32_t tid;
	uint16_t flags;
	uint8_t place;
	uint8_t depth; /* frames in use */
	uint8_t nr_pending;
	uint8_t nr_latencies;
	bool in_spell : 1;   /* spell is what it was charged for last, and is not in its books yet */
	bool has_early : 1;  /* a wakeup came while it was still on the CPU */
	bool ran;	     /* it is in trace_analysis.ran */
	uint32_t cpu;	     /* it runs on, is queued for, or ran on last */
	uint64_t since;	     /* off the CPUs: in this place since */
	uint64_t queued_ns;  /* when it was QUEUED last; what follows is of that moment, if since is that, too */
	uint64_t queued_irq; /* interrupt time of the CPU */
	uint64_t queued_turn; /* the CPU's next one */
	uint32_t task_state; /* BLOCKED */
	uint32_t nr_shares;
	struct desk *desk; /* NULL: none so far, or dead */
	struct trace_process *process;
	struct fd_table *fds;	   /* a reference */
	struct memory *memory;	   /* a reference */
	int64_t ret;		   /* RETURNS */
	uint64_t last_wait;	   /* wait_key() of the wait that was decided last, 0 none */
	uint64_t last_wait_ns;	   /* and its end */
	uint64_t read_ns;	   /* of the start state, and its call not seen to end yet: when it was read; else 0 */
	struct books books;
	struct cpu_share *shares; /* owned; MODE_UNKNOWN: CPU time to be booked when it is known */
	struct frame frames[MAX_FRAMES];
	struct pending pending[MAX_PENDING];
	struct spell spell;
	struct waker early; /* if has_early */
	struct table uses; /* use_row: what belongs into books.files and, of waits for files, books.waits, until it is asked for or the thread is dead */
	struct trace_thread *next; /* of the process */
	struct trace_thread *next_ran; /* if @ran */
	struct trace_thread *work_for; /* kworker: who queued the work that it does; NULL: nobody known */
	char *path;	    /* owned: what the last call that was given a path was given */
	uint32_t path_room;
	uint32_t packed_bytes; /* DEAD: of its books; 0: they are as they were */
	uint8_t *packed;       /* owned: accounting_packed.c */
	uint64_t start_ns;
	uint64_t end_ns;
	uint64_t told_ns; /* when the start state was read again, the last time it was in it; 0: never */
	char comm[16];
	int8_t unfreed; /* how many threads had its number before, of which no sched_free has come; -1: its own has */
};
_Static_assert(offsetof(struct trace_thread, desk) == CACHE_LINE && offsetof(struct trace_thread, books) == 2 * CACHE_LINE &&
		       offsetof(struct trace_thread, frames) % CACHE_LINE == 0,
	       "what one event needs is in few lines of the cache");

struct trace_process {
	uint32_t idx;
	uint32_t pid;
	uint32_t ppid;
	uint32_t uid;
	string_id exe;
	bool kernel;
	uint32_t ns_pid;  /* its number in its own pid namespace */
	uint64_t cgroup;  /* number */
	string_id cgroup_path;
	file_idx uring_file; /* of the io_uring request that was completed last */
	uint64_t uring_ns;   /* when */
	char comm[16];
	struct strings *strings; /* borrowed */
	struct trace_thread *first, *last;
	size_t nr_threads;
	size_t nr_living;
};
/* Processes that stand for nobody in particular; real ones follow. */
enum { PROCESS_IDLE = 0, PROCESS_INTERRUPTS, PROCESS_SEVERAL, PROCESS_UNKNOWN, NR_PSEUDO_PROCESSES };

/* ---- state_sched.c ---- */

struct trace_thread *thread_find(const struct trace_analysis *a, uint32_t tid);
/** thread_get() - the thread of this id; one that was never seen is made, alive since the start. NULL: id 0 or nonsense */
struct trace_thread *thread_get(struct trace_analysis *a, uint32_t tid);
struct trace_thread *thread_new(struct trace_analysis *a, uint32_t tid, struct trace_process *process, uint64_t start_ns);
/** thread_living() - as thread_get(), but a dead one's number was given again, unseen */
struct trace_thread *thread_living(struct trace_analysis *a, uint32_t tid);
/** thread_slot() - where the living thread of this id, less than MAX_TID, is kept; NULL: out of memory */
struct trace_thread **thread_slot(struct trace_analysis *a, uint32_t tid);
/** thread_evict() - a thread that is believed on a CPU is elsewhere: its time there is unknown since the last closing */
void thread_evict(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** thread_found_on_cpu() - a thread turns out to be on a CPU, or to have been, although it was believed elsewhere: close its time until now */
void thread_found_on_cpu(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
void thread_end(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
/** thread_close() - at the end of the trace: close the last interval */
void thread_close(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns);
void thread_mode_unknown(struct trace_thread *thread, uint64_t ns);
/** frame_forget() - it is not known of which call it is */
void frame_forget(struct frame *frame);
struct trace_process *process_new(struct trace_analysis *a, uint32_t pid);
/** process_release() - what its threads own; itself and they are the arena's */
void process_release(struct trace_process *process);
/** process_renumber() - its place in a->processes is @idx, where the caller puts it; a pseudo process's: nobody finds it. Before anybody has noted the old one */
void process_renumber(struct trace_analysis *a, struct trace_process *process, uint32_t idx);
struct trace_process *process_find(const struct trace_analysis *a, uint32_t pid);
struct trace_process *process_get(struct trace_analysis *a, uint32_t pid);
void process_set_comm(struct trace_thread *thread, const char *comm);

/** memory_prefetch() - of these @bytes, if there are any */
static inline void memory_prefetch(const void *memory, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += CACHE_LINE)
		line_prefetch((const char *)memory + at);
}

/** table_prefetch_small() - all rows of a table that is small */
static inline void table_prefetch_small(const struct table *table, size_t row_bytes)
{
	if (table->capacity <= TABLE_SMALL)
		memory_prefetch(table->rows, table->used * row_bytes);
}

/** thread_prefetch() - this thread comes to a CPU soon: what every event of it needs will be wanted */
static inline void thread_prefetch(const struct trace_analysis *a, uint32_t tid)
{
	const struct trace_thread *thread = thread_find(a, tid);

	if (thread) {
		memory_prefetch(thread, offsetof(struct trace_thread, books.traps));
		memory_prefetch(thread->frames, sizeof(thread->frames[0]));
	}
}

/** thread_prefetch_rows() - and, when that is there, what its wait leads to, and the tables that are small */
static inline void thread_prefetch_rows(const struct trace_analysis *a, uint32_t tid)
{
	const struct trace_thread *thread = thread_find(a, tid);

	if (!thread)
		return;
	if (thread->in_spell)
		memory_prefetch(&thread->spell, sizeof(thread->spell));
	else
		memory_prefetch(thread->pending, sizeof(thread->pending[0]));
	table_prefetch_small(&thread->books.calls, sizeof(struct call_row));
	table_prefetch_small(&thread->books.waits, sizeof(struct wait_row));
	table_prefetch_small(&thread->books.who, sizeof(struct who_row));
	if (thread->desk)
		line_prefetch(&thread->desk->latencies[thread->nr_latencies]);
	line_prefetch(thread->process);
}

/* ---- state_life.c ---- */

/** thread_note_exchange() - @tid was seen where @current was expected: has exec given it, or its leader, the other's number? */
void thread_note_exchange(struct trace_analysis *a, struct trace_thread *current, uint32_t tid);

/* ---- state_container.c ---- */

/** cgroup_learn() - the path of a control group */
void cgroup_learn(struct trace_analysis *a, uint64_t cgroup, const char *path);
/** cgroup_put() - @process is in this control group from now on */
void cgroup_put(struct trace_analysis *a, struct trace_process *process, uint64_t cgroup);
#endif
