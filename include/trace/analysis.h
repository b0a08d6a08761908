/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_ANALYSIS_H
#define TRACE_ANALYSIS_H
/*
 * analysis.h - where the elapsed time of every thread went, and the state of the system at any time.
 *
 * One pass over the trace (start state first, then all events) keeps the state of every thread and CPU, and adds each interval of a
 * thread's state to its books. Analyses of your own run in the same pass: an event hook, called with the state of the
 * moment before the event, and an interval hook, called for every closed interval.
 *
 *	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
 *
 *	trace_analysis_on_interval(analysis, my_interval, my_data);
 *	if (trace_analysis_run(analysis, &error) < 0)
 *		... error.message says why
 *	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
 *		const struct trace_process *process = trace_get_process(analysis, i);
 *		struct trace_figures *figures = trace_process_figures(analysis, process);
 *		...
 *		figures = trace_figures_free(figures);
 *	}
 *	analysis = trace_analysis_free(analysis);
 *
 * At every instant a thread is in exactly one enum trace_state, and its books balance to the nanosecond:
 * elapsed = user + syscall + trap + interrupted + wait_cpu + blocked, and blocked is the sum of its waits. What lies in a gap of
 * the trace is a wait of kind UNKNOWN. How each wait gets its kind: analyzer/wait.c; what a gap spoils: analyzer/state_lost.c.
 *
 * One thread at a time per analysis. Memory grows with threads (of a short command that is over, about 1.8 kB are left), open files and distinct rows, not
 * with events: files, pipes and sockets that nobody has any more are forgotten, unless a row names them (240 bytes for each file that was read).
 * Pointers are borrowed from the analysis and live as long as it does, unless said otherwise.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_analysis;
struct trace_process;
struct trace_thread;

/* ---- words ---- */

enum trace_state {
	TRACE_STATE_USER = 0,	     /* on a CPU, in the program's own code */
	TRACE_STATE_SYSCALL = 1,     /* on a CPU, in a system call; all CPU time of kernel threads */
	TRACE_STATE_TRAP = 2,	     /* on a CPU, in a page fault, also one inside a system call */
	TRACE_STATE_INTERRUPTED = 3, /* on a CPU that an interrupt or softirq had taken */
	TRACE_STATE_WAIT_CPU = 4,    /* runnable, while another had the CPU */
	TRACE_STATE_BLOCKED = 5,     /* waiting for something: enum trace_wait_kind */
	/* Only in intervals handed to a hook before the end of the trace: on a CPU, and not known yet whether in user
	 * mode or in a system call, because the thread has done nothing since the start. The books learn it later. */
	TRACE_STATE_RUNNING = 6,
};

enum trace_wait_kind { /* what a blocked thread waits for: docs/WAITS.md */
	TRACE_WAIT_FILE = 0,
	TRACE_WAIT_PROCESS = 1,
	TRACE_WAIT_NETWORK = 2,
	TRACE_WAIT_TIMEOUT = 3,
	TRACE_WAIT_DEVICE = 4,
	TRACE_WAIT_MEMORY = 5,
	TRACE_WAIT_STOPPED = 6,
	TRACE_WAIT_OTHER = 7,
	TRACE_WAIT_UNKNOWN = 8,
	TRACE_WAIT_KERNEL = 9, /* the kernel itself: its threads, an RCU grace period */
	TRACE_WAIT_QUOTA = 10, /* the CPU quota of its control groups is used up */
	TRACE_NR_WAIT_KINDS,
};
/** trace_wait_kind_name() - "file", "process" ...; static */
const char *trace_wait_kind_name(enum trace_wait_kind kind);
/** trace_state_name() - "user", "syscall" ...; static */
const char *trace_state_name(enum trace_state state);

/* ---- the pass ---- */

/** struct trace_analysis_options - zeroed = the defaults. @size: sizeof of the caller's struct */
struct trace_analysis_options {
	size_t size;
};

/**
 * trace_analysis_new() - prepare an analysis; nothing is read yet
 * @trace: borrowed; must outlive the analysis
 * @options: NULL = the defaults
 * Returns NULL with -ENOMEM.
 */
struct trace_analysis *trace_analysis_new(const struct trace *trace, const struct trace_analysis_options *options,
					  struct trace_error *ret_error);
struct trace_analysis *trace_analysis_free(struct trace_analysis *analysis); /* NULL is fine; returns NULL */

/**
 * trace_event_fn - called for each event, before the event changes the state
 * So at a sys_exit the system call that returns is still trace_thread_syscall(), and at a sched_switch the thread that leaves
 * is still trace_thread_on_cpu(). Must not call trace_analysis_run() or _free().
 */
typedef void (*trace_event_fn)(void *data, struct trace_analysis *analysis, const struct trace_event *event);

/**
 * trace_analysis_on_event() - run a hook in the pass
 * @mask: bit n of 256 wants event id n, bit TRACE_EV_USER all events of programs; NULL = all; copied
 * Hooks run in the order they were added. Returns 0, -ENOMEM, or -EBUSY after the pass began.
 */
int trace_analysis_on_event(struct trace_analysis *analysis, const uint64_t *mask, trace_event_fn fn, void *data) TRACE_NODISCARD;

/**
 * trace_damage_fn - called for each gap that trace_nr_gaps() could not know of: a chunk turned out to be damaged when its turn came
 * It comes before the first event that is not earlier than the begin of @gap, when the state has forgotten already what the gap spoils. At its end there is
 * a trace_lost event, as at the end of all gaps.
 */
typedef void (*trace_damage_fn)(void *data, struct trace_analysis *analysis, const struct trace_gap *gap);
int trace_analysis_on_damage(struct trace_analysis *analysis, trace_damage_fn fn, void *data) TRACE_NODISCARD; /* as trace_analysis_on_event() */

/**
 * struct trace_interval - a thread was in one state from @from_ns to @to_ns
 * @cpu: on it, or queued for it (WAIT_CPU); -1 if blocked or not known
 * @name: system call or interrupt the time was spent in, or that the thread is blocked in; NULL if none
 * @kind, @target, @via, @idle: BLOCKED only, as in struct trace_wait; @other: the process waited for, or NULL
 * @waker: the thread whose action ended a BLOCKED interval; NULL when an interrupt did, or it is not known
 * @worker: the kernel's thread that did it for @waker, which had left the work to it; NULL: @waker itself
 */
struct trace_interval {
	const struct trace_thread *thread;
	uint64_t from_ns;
	uint64_t to_ns;
	enum trace_state state;
	int32_t cpu;
	const char *name;
	enum trace_wait_kind kind;
	bool idle;
	const char *target;
	const char *via;
	const struct trace_process *other;
	const struct trace_thread *waker;
	const struct trace_thread *worker;
};

/**
 * trace_interval_fn - called once for each closed interval; @interval is borrowed for the call
 * The intervals of a thread cover its life without hole or overlap, but do not come in order: a blocked interval comes
 * when its cause is known, which may be as late as the end of its system call.
 */
typedef void (*trace_interval_fn)(void *data, struct trace_analysis *analysis, const struct trace_interval *interval);
int trace_analysis_on_interval(struct trace_analysis *analysis, trace_interval_fn fn, void *data) TRACE_NODISCARD; /* as trace_analysis_on_event() */
/** trace_analysis_on_interval_of() - the same, for intervals of some states only (bit 1 << enum trace_state): the others cost nothing */
int trace_analysis_on_interval_of(struct trace_analysis *analysis, uint32_t states, trace_interval_fn fn, void *data) TRACE_NODISCARD;

/**
 * trace_analysis_run() - the pass over the whole trace; once
 * Returns 0; -ENOMEM; -EBUSY when it was run before. Damaged chunks are no failure: they are gaps.
 */
int trace_analysis_run(struct trace_analysis *analysis, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_analysis_verify() - after the pass: do all books balance?
 * Every thread, every process, every CPU, each set of rows against its total, and the threads' CPU time against the CPUs'.
 * Returns 0; -EBADMSG with the first violation in @ret_error, to the nanosecond; -ENOMEM.
 */
int trace_analysis_verify(const struct trace_analysis *analysis, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_analysis_error() - after the pass, and after what it was asked: was all of it there?
 * Most functions below return names and numbers, not errors. One that had no memory for its answer gave a part of it, and here it is told.
 * Returns 0, or -ENOMEM. A report asks when it is complete.
 */
int trace_analysis_error(const struct trace_analysis *analysis, struct trace_error *ret_error) TRACE_NODISCARD;

/* ---- state: during the pass, as of the moment; after it, as of the end ---- */

/** trace_analysis_now() - time of the event being handled, ns */
uint64_t trace_analysis_now(const struct trace_analysis *analysis);
/** trace_thread_on_cpu() - who runs on @cpu; NULL: the idle thread, or not known. See trace_cpu_is_idle(). */
const struct trace_thread *trace_thread_on_cpu(const struct trace_analysis *analysis, uint32_t cpu);
bool trace_cpu_is_idle(const struct trace_analysis *analysis, uint32_t cpu);
/** trace_cpu_interrupt() - name of the innermost interrupt or softirq in progress on @cpu, NULL if none */
const char *trace_cpu_interrupt(const struct trace_analysis *analysis, uint32_t cpu);
/** trace_cpu_softirq_ns() - time of softirq @vec on @cpu until now, ksoftirqd's included; interrupts inside it are not */
uint64_t trace_cpu_softirq_ns(const struct trace_analysis *analysis, uint32_t cpu, unsigned int vec);
/** trace_holder_fn - @process had a CPU for @ns; of pid 0: "idle", "interrupts", "several", "unknown" */
typedef void (*trace_holder_fn)(void *data, const struct trace_process *process, uint64_t ns);
/**
 * trace_cpu_holders() - who had @cpu from @from_ns to @to_ns, in the near past; latest first, the same one perhaps several times
 * What is further back than some hundred changes of that CPU is "several"; all together it is the time. Interrupts inside a turn of which
 * only a part is asked for are taken in proportion.
 */
void trace_cpu_holders(const struct trace_analysis *analysis, uint32_t cpu, uint64_t from_ns, uint64_t to_ns, trace_holder_fn fn, void *data);
/** trace_find_thread() - the living thread of this id, or NULL. Ids are reused: do not keep ids, keep threads. */
const struct trace_thread *trace_find_thread(const struct trace_analysis *analysis, uint32_t tid);

/**
 * trace_event_thread() - the thread that made @event, in a hook: for a program's event also when its id is that of a container, or when
 * it moved to another CPU just then. NULL: the idle thread, an interrupt's while it was idle, or not known
 */
const struct trace_thread *trace_event_thread(const struct trace_analysis *analysis, const struct trace_event *event);
/** trace_event_tid() - the thread id that a program's event carries, as the program sees it; 0: none */
uint32_t trace_event_tid(const struct trace_event *event);
/** trace_stream_pid() - the process that a stream of programs' events is from; 0: not such a stream, or not known (yet) */
uint32_t trace_stream_pid(const struct trace_analysis *analysis, uint32_t stream);
/** trace_stream_exe() - what the process @pid ran, by the word of its streams, also where no kernel events tell of it; "" if not known */
const char *trace_stream_exe(const struct trace_analysis *analysis, uint32_t pid);

uint32_t trace_thread_tid(const struct trace_thread *thread);
/** trace_thread_index() - 0, 1, 2 ...: a place for what an analysis of yours knows of the thread. Unlike a tid it is never given again. */
uint32_t trace_thread_index(const struct trace_thread *thread);
const char *trace_thread_comm(const struct trace_thread *thread);
const struct trace_process *trace_thread_process(const struct trace_thread *thread);
bool trace_thread_is_kernel(const struct trace_thread *thread);
uint64_t trace_thread_start_ns(const struct trace_thread *thread); /* birth, or start of the trace */
uint64_t trace_thread_end_ns(const struct trace_thread *thread);   /* death, or end of the trace; 0 while it lives */
/** trace_thread_syscall() - name of the system call that @thread is in, TRACE_CALL_NOT_SEEN if its entry was not, NULL if it is in none, or in a page fault */
#define TRACE_CALL_NOT_SEEN "(not seen)"
const char *trace_thread_syscall(const struct trace_analysis *analysis, const struct trace_thread *thread);
/** trace_thread_syscall_arg() - argument @idx of that call as recorded: of some addresses only TRACE_ARG_ADDRESS; 0 if it was not */
uint64_t trace_thread_syscall_arg(const struct trace_thread *thread, unsigned int idx);
/** trace_thread_file() - path behind descriptor @fd of @thread, as the kernel names it; NULL if not known */
const char *trace_thread_file(const struct trace_analysis *analysis, const struct trace_thread *thread, int fd);

/** struct trace_file_id - which file, pipe or socket: @ino of a pipe or socket is what tells it from others of its kind */
struct trace_file_id {
	uint64_t ino;
	uint32_t dev;
	uint32_t mode; /* with the type: S_ISFIFO(), S_ISSOCK() ... */
};
/** trace_thread_file_id() - the identity of what is behind descriptor @fd of @thread; false: not known */
bool trace_thread_file_id(const struct trace_analysis *analysis, const struct trace_thread *thread, int fd, struct trace_file_id *ret_id);

/**
 * trace_gone_fn - nobody has the pipe or socket of @id any more: what a hook kept for it can go
 * Called between two events, some time after it was closed for the last time: when a few ten thousand other files have come. Numbers of inodes are
 * given again: what is told of @id.ino by events that follow is about another one.
 */
typedef void (*trace_gone_fn)(void *data, const struct trace_file_id *id);
int trace_analysis_on_gone(struct trace_analysis *analysis, trace_gone_fn fn, void *data) TRACE_NODISCARD; /* as trace_analysis_on_event() */
/**
 * trace_thread_cpu_ns() - CPU time of @thread until now: user + syscall + trap, in whichever of them it was
 * Of a thread on a CPU the time since its last event is included. If it turns out later that the thread was not there, it is taken
 * back; not so at its system calls, which prove it.
 */
uint64_t trace_thread_cpu_ns(const struct trace_analysis *analysis, const struct trace_thread *thread);

/** struct trace_times - what a thread did: as in struct trace_figures, system = syscall + trap */
struct trace_times {
	uint64_t user_ns;
	uint64_t syscall_ns;
	uint64_t trap_ns;
	uint64_t interrupted_ns;
	uint64_t wait_cpu_ns;
	uint64_t blocked_ns;
};
/**
 * trace_thread_times() - all the time of @thread until now; the six add up to now - trace_thread_start_ns(), or to its whole life
 * The difference of two readings is what lies between them. Time on a CPU of which it is not known yet whether it was in user mode or in a
 * system call (a thread that has done nothing since the start) counts as user time here.
 */
void trace_thread_times(const struct trace_analysis *analysis, const struct trace_thread *thread, struct trace_times *ret_times);

uint32_t trace_process_pid(const struct trace_process *process);
uint32_t trace_process_ppid(const struct trace_process *process);
uint32_t trace_process_uid(const struct trace_process *process);
/** trace_process_ns_pid() - its number in its own pid namespace (a container's), as its programs see it; 0 if not known */
uint32_t trace_process_ns_pid(const struct trace_process *process);
/** trace_process_cgroup() - path of its control group at the end, or when it died; "" if not known */
const char *trace_process_cgroup(const struct trace_process *process);
const char *trace_process_comm(const struct trace_process *process); /* "" if not known */
const char *trace_process_exe(const struct trace_process *process);  /* "" if not known */

/* ---- results: after the pass ---- */

/** struct trace_wait - @target: path, comm, address, device or system call; @pid, @comm: for PROCESS, else 0 and "" */
struct trace_wait {
	enum trace_wait_kind kind;
	const char *target;
	uint32_t pid;
	const char *comm;
	const char *via; /* "pipe", "waitpid" ...; "" if none */
	bool idle;	 /* at rest: a server between requests, a kernel thread without a job. docs/WAITS.md tells of all of these */
	uint64_t ns;
	uint64_t count;
};

/** struct trace_cpu_wait - who had the CPU; pid 0: nobody in particular ("idle", "interrupts", "several", "unknown") */
struct trace_cpu_wait {
	uint32_t pid;
	const char *comm;
	uint64_t ns;
};

/**
 * struct trace_call - elapsed = cpu + interrupted + wait_cpu + wait, faults inside the call included
 * @min_ns, @max_ns: the shortest and the longest, exact; @p50_ns, @p99_ns: median and 99th percentile of the elapsed times, at
 *                   most 1.6 % off: the middle of a bucket, see analyzer/latency.h
 */
struct trace_call {
	const char *name;
	uint64_t calls;
	uint64_t errors;
	uint64_t elapsed_ns;
	uint64_t cpu_ns;
	uint64_t interrupted_ns;
	uint64_t wait_cpu_ns;
	uint64_t wait_ns;
	uint64_t min_ns;
	uint64_t p50_ns;
	uint64_t p99_ns;
	uint64_t max_ns;
};

/** struct trace_interrupt - time of a thread that an interrupt took */
struct trace_interrupt {
	const char *type; /* "irq", "softirq", "vector" */
	const char *name;
	uint64_t ns;
	uint64_t count;
};

/** struct trace_file_use - what was done with a file, and how long was waited for it */
struct trace_file_use {
	const char *path;
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t reads;
	uint64_t writes;
	uint64_t wait_ns;
};

/**
 * struct trace_figures - the books of a thread, or of a process: the sums over its threads
 * Arrays are sorted, greatest time first. A trap's row is struct trace_call, its errors are major faults.
 * @stolen_ns: of user, syscall, trap and interrupted together, in which nothing ran: the host of a virtual machine had the CPU. Told by the
 * kernel at the end of each turn on a CPU, less what an idle CPU may have taken to wake up for it; 0 also where the kernel does not know
 * (CONFIG_PARAVIRT_TIME_ACCOUNTING)
 */
struct trace_figures {
	uint64_t elapsed_ns;
	uint64_t user_ns;
	uint64_t syscall_ns;
	uint64_t trap_ns;
	uint64_t interrupted_ns;
	uint64_t wait_cpu_ns;
	uint64_t blocked_ns;
	uint64_t stolen_ns;
	uint64_t nr_syscalls;
	uint64_t nr_traps;
	uint64_t read_bytes;
	uint64_t written_bytes;
	struct trace_cpu_wait *wait_cpu_for;
	struct trace_wait *waits;
	struct trace_call *syscalls;
	struct trace_call *traps;
	struct trace_interrupt *interrupts;
	struct trace_file_use *files;
	size_t nr_wait_cpu_for;
	size_t nr_waits;
	size_t nr_syscalls_rows;
	size_t nr_traps_rows;
	size_t nr_interrupts;
	size_t nr_files;
};

/** trace_nr_processes() - all that were alive at some time in the trace, in the order they were first seen */
size_t trace_nr_processes(const struct trace_analysis *analysis);
const struct trace_process *trace_get_process(const struct trace_analysis *analysis, size_t idx);
uint64_t trace_process_start_ns(const struct trace_process *process); /* of its first thread; see trace_thread_start_ns() */
uint64_t trace_process_end_ns(const struct trace_process *process);   /* of its last thread */
bool trace_process_is_kernel(const struct trace_process *process);
size_t trace_nr_threads(const struct trace_process *process);
/** trace_next_thread() - the threads of a process, in the order they were first seen; @thread NULL = the first; NULL past the last */
const struct trace_thread *trace_next_thread(const struct trace_process *process, const struct trace_thread *thread);

/** trace_thread_figures() - the caller's, to be released with trace_figures_free(). NULL: out of memory */
struct trace_figures *trace_thread_figures(const struct trace_analysis *analysis, const struct trace_thread *thread);
struct trace_figures *trace_process_figures(const struct trace_analysis *analysis, const struct trace_process *process);
struct trace_figures *trace_system_figures(const struct trace_analysis *analysis); /* all processes together */
struct trace_figures *trace_figures_free(struct trace_figures *figures);	      /* NULL is fine; returns NULL */

/** struct trace_cpu_figures - elapsed = user + system + irq + softirq + idle + unknown (in and after a gap) */
struct trace_cpu_figures {
	uint32_t cpu;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t irq_ns; /* vectors included */
	uint64_t softirq_ns;
	uint64_t idle_ns;
	uint64_t unknown_ns;
};
size_t trace_nr_cpus(const struct trace_analysis *analysis);
void trace_cpu_figures(const struct trace_analysis *analysis, size_t cpu, struct trace_cpu_figures *ret_figures);

/** trace_system_interrupts() - all interrupts of all CPUs, idle ones too; greatest time first, to be released with free(). NULL: out of memory */
struct trace_interrupt *trace_system_interrupts(const struct trace_analysis *analysis, size_t *ret_nr);

/**
 * struct trace_lock_wait - a process waited for a lock that another held, or for what another had to do first (condition, join)
 * @waiter, @holder: the same one if its threads waited for each other
 * @via: "futex", "lock" (of a file) or "semaphore" (of System V)
 * @path, @address: of the locked file, or "semaphore 5"; of the futex, in the memory of @waiter. The other is "" or 0.
 */
struct trace_lock_wait {
	const struct trace_process *waiter;
	const struct trace_process *holder;
	const char *via;
	const char *path;
	uint64_t address;
	uint64_t ns;
	uint64_t count;
};
/** trace_lock_waits() - greatest time first, to be released with free(). NULL: out of memory */
struct trace_lock_wait *trace_lock_waits(const struct trace_analysis *analysis, size_t *ret_nr);

/**
 * trace_file_device() - name of the block device that served the file of this @path
 * The one whose request ended a wait for it, the latest of them; if none did, the one that its file system is on; "" if that is none, or not known.
 */
const char *trace_file_device(const struct trace_analysis *analysis, const char *path);

/**
 * trace_analysis_window() - first and last instant of the books, ns: the trace's window, and no event is outside
 * Of a flight recorder it begins when all CPUs' events are there, info->whole_ns: older ones are not counted, and no hook gets them.
 */
void trace_analysis_window(const struct trace_analysis *analysis, uint64_t *ret_start_ns, uint64_t *ret_end_ns);
/** trace_analysis_count() - events of this id that the pass met; TRACE_EV_USER: all events of programs */
uint64_t trace_analysis_count(const struct trace_analysis *analysis, uint32_t id);
/**
 * trace_analysis_nr_damages() - after the pass: gaps that trace_nr_gaps() could not know of, chunks that turned out to be damaged when they were read
 * trace_analysis_get_damage() - in the order of their begins; NULL past the last; see trace_analysis_on_damage()
 */
size_t trace_analysis_nr_damages(const struct trace_analysis *analysis);
const struct trace_gap *trace_analysis_get_damage(const struct trace_analysis *analysis, size_t idx);
/**
 * trace_analysis_start_damage() - after the pass: what was not read of the state at the start, as a sentence; NULL: all of it was read
 * The processes, descriptors and mappings that a damaged chunk told of are not known. @ret_lost: so many events it had
 */
const char *trace_analysis_start_damage(const struct trace_analysis *analysis, uint64_t *ret_lost);
/** trace_analysis_halted_ns() - how long no scheduling changes were recorded, because somebody did not want them or halted the recording: all that is unknown */
uint64_t trace_analysis_halted_ns(const struct trace_analysis *analysis);
/** trace_analysis_is_filtered() - only events of some processes were recorded: of all others, and of who has a CPU when none of them has it, nothing is known */
bool trace_analysis_is_filtered(const struct trace_analysis *analysis);
/**
 * trace_analysis_sees_wakeups() - false: for some time they were not recorded, while scheduling changes were
 * Then it is unknown when a sleeping thread began to wait for a CPU, and for what it had slept.
 */
bool trace_analysis_sees_wakeups(const struct trace_analysis *analysis);
/**
 * trace_analysis_sees_calls() - false: for some time until now system calls were not recorded, or only their entries or their exits
 * Then user, syscall and trap are right together, but not each: whether a thread on a CPU was in its own code or in the kernel is not known.
 */
bool trace_analysis_sees_calls(const struct trace_analysis *analysis);
/** trace_analysis_sees_traps() - the same of page faults: false, and theirs is the time of what they interrupted, a program's own code or a system call */
bool trace_analysis_sees_traps(const struct trace_analysis *analysis);
/** trace_analysis_sees_interrupts() - the same of interrupts, softirqs and vectors: false, and theirs is the time of what they interrupted, or idle */
bool trace_analysis_sees_interrupts(const struct trace_analysis *analysis);
/** enum trace_recorded - partly: for some time not, while scheduling changes were */
enum trace_recorded { TRACE_RECORDED_NEVER, TRACE_RECORDED_PARTLY, TRACE_RECORDED_ALWAYS };
/**
 * trace_analysis_recorded() - whether events of this id were recorded until now, so that to have seen none means that there were none
 * What the kernel does not have is not recorded. TRACE_RECORDED_ALWAYS where the trace does not tell.
 */
enum trace_recorded trace_analysis_recorded(const struct trace_analysis *analysis, uint32_t id);
/**
 * trace_analysis_contradictions() - how often a thread was seen where it could not be, without a gap to explain it
 * Events are missing that the recorder does not know of, or a filter left them out. The time concerned is unknown.
 */
uint64_t trace_analysis_contradictions(const struct trace_analysis *analysis);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
