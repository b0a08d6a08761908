/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_ANALYSIS_H
#define TRACE_ANALYSIS_H
/*
 * analysis.h - where the elapsed time of every thread went, and the state of the system at any time
 *
 * One pass over the trace (start state first, then all events) keeps the state of every thread and
 * CPU, and adds each interval of a thread's state to its sums. An analysis of yours runs in the
 * same pass. It can have an event hook, called with the state just before the event, and an
 * interval hook, called for every closed interval.
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
 * At every instant a thread is in exactly one enum trace_state, so its sums are exact to the
 * nanosecond: elapsed = user + syscall + trap + interrupted + wait_cpu + blocked, and blocked is
 * the sum of its waits. Time in a gap of the trace is a wait of kind UNKNOWN. How each wait gets
 * its kind: analyzer/wait.c; what a gap invalidates: analyzer/state_lost.c.
 *
 * One thread at a time may use an analysis. Its memory grows with threads (a short command that has
 * ended leaves about 2.1 kB), open files and distinct rows, not with events. It drops files, pipes
 * and sockets that no thread has open any more, unless a row names them (240 bytes for each file
 * that was read).
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

/* ---- states and kinds ---- */

enum trace_state {
	TRACE_STATE_USER = 0, /* on a CPU, in the program's own code */
	/*
	 * on a CPU, in a system call or the kernel's work outside of calls; all CPU time of kernel
	 * threads
	 */
	TRACE_STATE_SYSCALL = 1,
	TRACE_STATE_TRAP = 2,	     /* on a CPU, in a page fault, also one inside a system call */
	TRACE_STATE_INTERRUPTED = 3, /* on a CPU that an interrupt or softirq had taken */
	TRACE_STATE_WAIT_CPU = 4,    /* runnable, while another thread had the CPU */
	TRACE_STATE_BLOCKED = 5,     /* waiting for something: enum trace_wait_kind */
	/* Only in intervals given to a hook before the end of the trace: on a CPU, but in user mode
	 * or in a system call is not known yet, because the thread has made no event since the
	 * start. The sums are corrected later. */
	TRACE_STATE_RUNNING = 6,
};

/* what a blocked thread waits for: docs/WAITS.md */
enum trace_wait_kind {
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
	TRACE_WAIT_QUOTA = 10, /* the CPU quota of its control groups was used up */
	TRACE_NR_WAIT_KINDS,
};
/** trace_wait_kind_name() - "file", "process" ...; static */
const char *trace_wait_kind_name(enum trace_wait_kind kind);
/** trace_state_name() - "user", "syscall" ...; static */
const char *trace_state_name(enum trace_state state);

/* ---- the pass ---- */

/**
 * struct trace_analysis_options - zeroed = the defaults
 * @size: sizeof of the caller's struct
 * @verify: check events and intervals against rules that a wrong name breaks, for
 *     trace_analysis_verify()
 * @from_ns, @to_ns: a window of the trace, in its clock; @to_ns 0: to the end. Both 0: the whole
 *     trace. The pass is over the whole trace all the same. Figures of threads, processes, CPUs and
 *     interrupts, times of birth and death, trace_analysis_window() and trace_analysis_count() are
 *     those of the window; trace_analysis_verify() checks that they close. Intervals are cut at its
 *     edges. Calls and waits are counted if they begin in the window, and min, max and percentiles
 *     are the whole latencies of those calls; bytes are those of calls that end in it. Waits for
 *     locks and interrupted waits are cut and counted like waits; deferred work has its CPU time in
 *     the window. The cost of probes stays in the user time: it is not moved to the kernel's.
 * Servers are still of the whole trace; for events of programs see user_events.h.
 * @no_call_times: do not keep how long each call took: p50_ns and p99_ns of calls are 0, and
 *     trace_call_times() has no ranges. Saves a tenth of the pass over a busy machine
 */
struct trace_analysis_options {
	size_t size;
	bool verify;
	uint64_t from_ns;
	uint64_t to_ns;
	bool no_call_times;
};

/**
 * trace_analysis_new() - prepare an analysis; nothing is read yet
 * @trace: borrowed; must outlive the analysis
 * @options: NULL = the defaults
 * Returns NULL with -ENOMEM; -EBUSY: trace_follow() has not come to the end of @trace.
 */
struct trace_analysis *trace_analysis_new(const struct trace *trace, const struct trace_analysis_options *options,
					  struct trace_error *ret_error);
struct trace_analysis *trace_analysis_free(struct trace_analysis *analysis); /* NULL is fine; returns NULL */

/**
 * trace_event_fn - called for each event, before the event changes the state
 * So at a sys_exit the system call that returns is still trace_thread_syscall(), and at a
 * sched_switch the thread that leaves is still trace_thread_on_cpu(). The function must not call
 * trace_analysis_run() or _free().
 */
typedef void (*trace_event_fn)(void *data, struct trace_analysis *analysis, const struct trace_event *event);

/**
 * trace_analysis_on_event() - run a hook in the pass
 * @mask: bit n of 256 selects event id n, bit TRACE_EV_USER all events of programs; NULL = all;
 *     copied
 * Hooks run in the order they were added. Returns 0, -ENOMEM, or -EBUSY after the pass began.
 */
int trace_analysis_on_event(struct trace_analysis *analysis, const uint64_t *mask, trace_event_fn fn,
			    void *data) TRACE_NODISCARD;

/**
 * trace_late_gap_fn - called for each late gap: the pass found a damaged chunk that
 * trace_nr_gaps() did not include
 * Called before the first event at or after @gap->start_ns, when state that the gap invalidates has
 * already been dropped. At the end of the gap there is a trace_lost event, as for all gaps.
 */
typedef void (*trace_late_gap_fn)(void *data, struct trace_analysis *analysis, const struct trace_gap *gap);
/** trace_analysis_on_late_gap() - call @fn for each late gap; as trace_analysis_on_event() */
int trace_analysis_on_late_gap(struct trace_analysis *analysis, trace_late_gap_fn fn, void *data) TRACE_NODISCARD;

/**
 * struct trace_interval - a thread was in one state from @from_ns to @to_ns
 * @cpu: the CPU that it ran on, or was queued for (WAIT_CPU); -1 if blocked or not known
 * @name: system call, work of the kernel outside of calls ("exit", "signal", "task work"), or
 *     interrupt that the time was spent in, or that the thread is blocked in; NULL if none
 * @kind, @target, @via, @idle: BLOCKED only, as in struct trace_wait; @other: the
 *     process waited for, or NULL
 * @waker: the thread that ended a BLOCKED interval; NULL if an interrupt did, or if not known.
 *     A wait for a lock is several intervals, one for each thread that held the lock in turn
 * @worker: the kernel thread that did it on behalf of @waker; NULL: @waker itself
 * @path: BLOCKED only, as in struct trace_wait; NULL in other states
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
	const char *path;
};

/**
 * trace_interval_fn - called once for each closed interval; @interval is borrowed for the call
 * The intervals of a thread cover its life without hole or overlap, but are not in order: the call
 * for a blocked interval comes when its cause is known, which may be as late as the end of its
 * system call.
 */
typedef void (*trace_interval_fn)(void *data, struct trace_analysis *analysis, const struct trace_interval *interval);
/**
 * trace_analysis_on_interval() - call @fn for each interval of each thread, at its end; as
 * trace_analysis_on_event()
 */
int trace_analysis_on_interval(struct trace_analysis *analysis, trace_interval_fn fn, void *data) TRACE_NODISCARD;
/**
 * trace_analysis_on_interval_of() - the same, for intervals of some states only (bit 1 << enum
 * trace_state); the others cost nothing
 */
int trace_analysis_on_interval_of(struct trace_analysis *analysis, uint32_t states, trace_interval_fn fn,
				  void *data) TRACE_NODISCARD;

/**
 * trace_analysis_remove_hooks() - before the pass: remove all hooks that were added with @data
 * A caller that cannot add all of its hooks, and frees @data, takes back those that it added.
 */
void trace_analysis_remove_hooks(struct trace_analysis *analysis, const void *data);

/**
 * trace_analysis_run() - the pass over the whole trace; once
 * Returns 0; -ENOMEM; -EBUSY if it was run before; -EBADMSG if the file was cut or replaced since
 * it was opened. Damaged chunks are no failure: they are gaps.
 */
int trace_analysis_run(struct trace_analysis *analysis, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_analysis_step() - the pass in steps: handle the events before @until_ns that are left
 * @until_ns: UINT64_MAX: the rest. A time that the pass has reached is an empty step
 * Any division into steps gives the results and calls the hooks of trace_analysis_run(), which
 * does the steps that are left. Between two steps the caller may use the functions of the state,
 * as a hook may at the last event: the section below, and the names of threads and processes. It
 * may also list processes and threads, and ask for the figures of a thread, process or CPU. They
 * have what is accounted so far: a call, a wait or time on a CPU is added when it ends. The other
 * results are those of the whole pass. trace_analysis_free() between two steps cancels it.
 * Returns 1: the end is reached, and the results are complete; 0: events are left; else an error
 * of trace_analysis_run(); -EBUSY after the end, or after an error.
 */
int trace_analysis_step(struct trace_analysis *analysis, uint64_t until_ns,
			struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_analysis_verify() - after the pass: check that all sums are exact
 * Checks every thread, every process, every CPU, each set of rows against its total, and the
 * threads' CPU time against the CPUs'. With trace_analysis_options.verify set, also that no rule
 * was broken in the pass, for example that a thread waits only for processes that live.
 * Returns 0; -EBADMSG with the first violation in @ret_error, to the nanosecond; -ENOMEM.
 */
int trace_analysis_verify(const struct trace_analysis *analysis, struct trace_error *ret_error) TRACE_NODISCARD;

/**
 * trace_analysis_error() - after the pass and all queries: were all results complete?
 * Most functions below return names and numbers, not errors. A function without memory for its
 * result returns a part of it, and this function reports that.
 * Returns 0, -ENOMEM, or -EBADMSG as trace_analysis_run(). Call it when a report is complete.
 */
int trace_analysis_error(const struct trace_analysis *analysis, struct trace_error *ret_error) TRACE_NODISCARD;

/* ---- state: during the pass, at the current event; after it, at the end ---- */

/** trace_analysis_now() - time of the event being handled, ns */
uint64_t trace_analysis_now(const struct trace_analysis *analysis);
/**
 * trace_thread_on_cpu() - the thread that runs on @cpu; NULL: the idle thread, or not
 * known
 */
const struct trace_thread *trace_thread_on_cpu(const struct trace_analysis *analysis, uint32_t cpu);
/**
 * trace_cpu_interrupt() - name of the innermost interrupt or softirq in
 * progress on @cpu, NULL if none
 */
const char *trace_cpu_interrupt(const struct trace_analysis *analysis, uint32_t cpu);
/**
 * trace_cpu_softirq_ns() - time of softirq @vec on @cpu until now, ksoftirqd's included,
 * without interrupts inside it
 */
uint64_t trace_cpu_softirq_ns(const struct trace_analysis *analysis, uint32_t cpu, unsigned int vec);
/**
 * trace_holder_fn - @process had a CPU for @ns; pid 0 is "idle",
 * "interrupts", "several" or "unknown"
 */
typedef void (*trace_holder_fn)(void *data, const struct trace_process *process, uint64_t ns);
/**
 * trace_cpu_holders() - the processes that had @cpu from @from_ns to @to_ns, in the near past
 * Latest first; a process may come several times. Time before the last few hundred switches of that
 * CPU is "several". The times add up to @to_ns - @from_ns. If only part of a time slice is in the
 * window, the interrupts inside the slice are counted in proportion.
 */
void trace_cpu_holders(const struct trace_analysis *analysis, uint32_t cpu, uint64_t from_ns, uint64_t to_ns,
		       trace_holder_fn fn, void *data);
/**
 * trace_find_thread() - the living thread with this id, or NULL. Ids are reused: do
 * not keep ids, keep threads.
 */
const struct trace_thread *trace_find_thread(const struct trace_analysis *analysis, uint32_t tid);

/**
 * trace_event_thread() - for hooks: the thread that made @event
 * Correct for a program's event also if its id is that of a container, or if the thread moved to
 * another CPU just then. NULL: the idle thread, an interrupt while the CPU was idle, or not known.
 */
const struct trace_thread *trace_event_thread(const struct trace_analysis *analysis, const struct trace_event *event);
/**
 * trace_event_tid() - the thread id that a program's event carries, as the program sees it; 0: none
 */
uint32_t trace_event_tid(const struct trace_event *event);
/**
 * trace_stream_pid() - the process that recorded a stream of a program's events; 0: not such a
 * stream, or not known (yet)
 */
uint32_t trace_stream_pid(const struct trace_analysis *analysis, uint32_t stream);
/**
 * trace_stream_exe() - the executable of the process @pid, from the description of
 * its streams; "" if not known
 * Works also without kernel events.
 */
const char *trace_stream_exe(const struct trace_analysis *analysis, uint32_t pid);

/*
 * The functions below are also for hooks: as of trace_analysis_now(). Texts are borrowed from
 * the analysis.
 */

/** trace_thread_tid() - its number in the kernel's events, which is used again after its end */
uint32_t trace_thread_tid(const struct trace_thread *thread);
/**
 * trace_thread_index() - 0, 1, 2 ...: an index for the data that your analysis keeps for the
 * thread. It is never reused, unlike a tid.
 */
uint32_t trace_thread_index(const struct trace_thread *thread);
/** trace_thread_comm() - its latest name, as the kernel has it, at most 15 bytes */
const char *trace_thread_comm(const struct trace_thread *thread);
/**
 * trace_thread_is_io_worker() - did the kernel make @thread to work on requests of io_uring?
 * Traces of recorders that did not tell: by its name.
 */
bool trace_thread_is_io_worker(const struct trace_thread *thread);
/** trace_thread_process() - the process that it belongs to; never NULL */
const struct trace_process *trace_thread_process(const struct trace_thread *thread);
/** trace_thread_is_kernel() - a thread of the kernel, which has no user mode */
bool trace_thread_is_kernel(const struct trace_thread *thread);
/** trace_thread_start_ns() - its creation, or the start of the trace */
uint64_t trace_thread_start_ns(const struct trace_thread *thread);
/** trace_thread_end_ns() - its death, or the end of the trace; 0 while it lives */
uint64_t trace_thread_end_ns(const struct trace_thread *thread);
/**
 * trace_thread_syscall() - name of the system call that @thread is in; NULL if it is
 * in none, or in a page fault
 * TRACE_CALL_NOT_SEEN if the entry of the call was not recorded.
 */
#define TRACE_CALL_NOT_SEEN "(not seen)"
const char *trace_thread_syscall(const struct trace_analysis *analysis, const struct trace_thread *thread);
/**
 * trace_thread_syscall_arg() - argument @idx of that call as recorded; some addresses are only
 * TRACE_ARG_ADDRESS; 0 if it was not recorded
 */
uint64_t trace_thread_syscall_arg(const struct trace_thread *thread, unsigned int idx);
/**
 * trace_thread_file() - path behind descriptor @fd of @thread, as the kernel
 * names it; AT_FDCWD: of its working directory; NULL if not known
 */
const char *trace_thread_file(const struct trace_analysis *analysis, const struct trace_thread *thread, int fd);

/**
 * struct trace_file_id - identity of a file, pipe or socket; @ino alone identifies a
 * pipe or socket among its kind
 */
struct trace_file_id {
	uint64_t ino;
	uint32_t dev;
	uint32_t mode; /* with the type: S_ISFIFO(), S_ISSOCK() ... */
};
/**
 * trace_thread_file_id() - the identity of the file behind descriptor @fd of
 * @thread; false: not known
 */
bool trace_thread_file_id(const struct trace_analysis *analysis, const struct trace_thread *thread, int fd,
			  struct trace_file_id *ret_id);

/**
 * struct trace_socket - what is known of a socket
 * @peer_ino: inode of the other end of a unix socket; 0: none
 * @local, @remote: addresses as in the event sock_endpoints; their ports are 0 if it has none
 */
struct trace_socket {
	uint64_t ino;
	uint64_t peer_ino;
	uint64_t local[2], remote[2];
	uint16_t local_port, remote_port;
	uint16_t family, type, protocol;
};
/**
 * trace_thread_socket() - the socket behind descriptor @fd of @thread; false: it is no socket, or
 * not known
 */
bool trace_thread_socket(const struct trace_analysis *analysis, const struct trace_thread *thread, int fd,
			 struct trace_socket *ret_socket);

/**
 * trace_release_fn - the pipe or socket @id was released: a hook can drop what it keeps for it
 * Called between two events, some time after the last close: when a few ten thousand other files
 * have come. The kernel reuses inode numbers: later events with @id.ino are about another one.
 */
typedef void (*trace_release_fn)(void *data, const struct trace_file_id *id);
/**
 * trace_transfer_fn - a call of @thread read @read_bytes and wrote @written_bytes; one of them is 0
 * The sums are read_bytes and written_bytes of the files in the accounting.
 */
typedef void (*trace_transfer_fn)(void *data, struct trace_analysis *analysis, const struct trace_thread *thread,
				  uint64_t read_bytes, uint64_t written_bytes);
/** trace_analysis_on_transfer() - call @fn for such calls; as trace_analysis_on_event() */
int trace_analysis_on_transfer(struct trace_analysis *analysis, trace_transfer_fn fn, void *data) TRACE_NODISCARD;
/** trace_analysis_on_release() - call @fn for such files; as trace_analysis_on_event() */
int trace_analysis_on_release(struct trace_analysis *analysis, trace_release_fn fn, void *data) TRACE_NODISCARD;
/**
 * trace_thread_cpu_ns() - CPU time of @thread until now: user + syscall + trap
 * For a thread on a CPU this includes the time since its last event. If the analysis finds later
 * that the thread was not on the CPU, it subtracts that time again; but not at the thread's system
 * calls, which prove that it was there.
 */
uint64_t trace_thread_cpu_ns(const struct trace_analysis *analysis, const struct trace_thread *thread);

/** struct trace_times - sums of one thread, as in struct trace_figures; system = syscall + trap */
struct trace_times {
	uint64_t user_ns;
	uint64_t syscall_ns;
	uint64_t trap_ns;
	uint64_t interrupted_ns;
	uint64_t wait_cpu_ns;
	uint64_t blocked_ns;
};
/**
 * trace_thread_times() - all the time of @thread until now; the six add up to now -
 * trace_thread_start_ns(), or to its whole life
 * The difference of two results is the time between them. Time on a CPU that is not yet known to be
 * user mode or a system call (a thread without an event since the start) counts as user time here.
 */
void trace_thread_times(const struct trace_analysis *analysis, const struct trace_thread *thread,
			struct trace_times *ret_times);

/** trace_process_pid() - its number in the kernel's events, which is used again after its end */
uint32_t trace_process_pid(const struct trace_process *process);
/** trace_process_ppid() - its latest parent; 0: none, or not known */
uint32_t trace_process_ppid(const struct trace_process *process);
/**
 * trace_process_starter() - the process that forked it; for a process from before the trace, its
 * parent when the events first tell one. NULL: not known
 * Adoption changes trace_process_ppid(), but not this.
 */
const struct trace_process *trace_process_starter(const struct trace_process *process);
#define TRACE_ID_UNKNOWN UINT32_MAX
/**
 * trace_process_uid() - its effective user at the end, or when it died; TRACE_ID_UNKNOWN: not known
 */
uint32_t trace_process_uid(const struct trace_process *process);
/** trace_process_gid() - the same for its group */
uint32_t trace_process_gid(const struct trace_process *process);
/** trace_thread_uid() - as trace_process_uid(), of a thread, which may have a user of its own */
uint32_t trace_thread_uid(const struct trace_thread *thread);
/**
 * trace_process_ns_pid() - its pid in its own pid namespace (a container's), as its
 * programs see it; 0 if not known
 */
uint32_t trace_process_ns_pid(const struct trace_process *process);
/**
 * trace_process_cgroup() - path of its control group at the end, or when it died; "" if not known
 */
const char *trace_process_cgroup(const struct trace_process *process);
/**
 * trace_process_cpu_limit() - the CPU time, in ns, that the quotas of its control groups allow in a
 * second, when the process was last out of quota; 0: it never was, or the limit is not known
 */
uint64_t trace_process_cpu_limit(const struct trace_process *process);
/**
 * trace_process_comm() - its latest name, as the kernel has it, at most 15 bytes; "" if not known
 */
const char *trace_process_comm(const struct trace_process *process);
/** trace_process_exe() - the path of its latest program; "" if not known */
const char *trace_process_exe(const struct trace_process *process);
/**
 * trace_process_args() - its arguments at the end, at most 255 bytes; "" if not known
 * TRACE_ARGS_SEPARATOR is between two of them.
 */
const char *trace_process_args(const struct trace_process *process);
/** trace_process_args_are_cut() - it has more arguments than trace_process_args() tells */
bool trace_process_args_are_cut(const struct trace_process *process);
/**
 * trace_process_title() - the name by which people know it: "java Shop", the
 * title that it wrote over its arguments, else its comm; docs/GLOSSARY.md has the rule
 */
const char *trace_process_title(const struct trace_process *process);
/**
 * trace_process_is_called() - is @name its comm (up to 15 bytes), its title, or the base name of
 * its program or script?
 */
bool trace_process_is_called(const struct trace_process *process, const char *name);

/**
 * struct trace_identity - the values that a process has at one time, with its time meanwhile
 * @uid, @gid: effective; TRACE_ID_UNKNOWN: not known. @ppid: 0: not known. @cgroup: "": not known
 * @first_ns, @last_ns: when it had these values first and last. @count: how often it got them
 * @times: the sums of its threads while it had these values
 */
struct trace_identity {
	uint32_t uid;
	uint32_t gid;
	uint32_t ppid;
	const char *cgroup;
	char comm[16];
	uint64_t first_ns;
	uint64_t last_ns;
	uint64_t count;
	struct trace_times times;
};
/**
 * trace_process_identities() - what @process was, in the order of the first time; release with
 * free(). NULL: out of memory
 * A process that never changed has one. The times of all of them add up to the figures of the
 * process. After 63 different ones all others are the last one, with unknown values. So are those
 * of a process with many threads that changes too often: analyzer/state_identity.c.
 */
struct trace_identity *trace_process_identities(const struct trace_analysis *analysis,
						const struct trace_process *process, size_t *ret_nr);
typedef bool (*trace_identity_fn)(const void *data, const struct trace_identity *identity);
/**
 * trace_process_ever_was() - does @matches hold for any of its identities?
 * Their times are not filled in.
 */
bool trace_process_ever_was(const struct trace_process *process, trace_identity_fn matches, const void *data);

/* ---- results: after the pass ---- */

/**
 * struct trace_wait - @target: path, title of a process, address, device or system call
 * @pid, @comm: for PROCESS, and for STOPPED if the process is known; else 0 and ""
 */
struct trace_wait {
	enum trace_wait_kind kind;
	const char *target;
	uint32_t pid;
	const char *comm;
	const char *via; /* "pipe", "waitpid" ...; "" if none */
	/* waits for new work: a server between requests, a kernel thread without a job.
	 * docs/WAITS.md explains all of these */
	bool idle;
	uint64_t ns;
	uint64_t count;
	const char *path; /* of a wait for a process: the file, directory or lock it was on; "" if none */
	/* of a wait for another thread of the process; NULL: not known, or it has too many */
	const struct trace_thread *thread;
};

/**
 * struct trace_cpu_wait - the process that had the CPU; pid 0: "idle",
 * "interrupts", "several", "unknown"
 */
struct trace_cpu_wait {
	uint32_t pid;
	const char *comm;
	uint64_t ns;
	const char *title;		     /* trace_process_title() of @pid; else @comm */
	const struct trace_process *process; /* NULL: pid 0 */
	/* another thread of the waiting thread's own process, which has a row for each such thread;
	 * NULL: another process, or the process has too many threads */
	const struct trace_thread *thread;
};

/**
 * struct trace_call - elapsed = cpu + interrupted + wait_cpu + wait,
 * faults inside the call included
 * @min_ns, @max_ns: the shortest and the longest, exact; @p50_ns, @p99_ns: median and 99th
 *     percentile of the elapsed times, at most 1.6 % off: the middle of a bucket, see
 *     analyzer/latency.h
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
	uint64_t row; /* for trace_call_times() */
};

/** struct trace_interrupt - time of a thread that an interrupt took */
struct trace_interrupt {
	const char *type; /* "irq", "softirq", "vector" */
	const char *name;
	uint64_t ns;
	uint64_t count;
};

/** struct trace_file_use - a file's reads and writes, and the time spent waiting for it */
struct trace_file_use {
	const char *path;
	uint64_t read_bytes;
	uint64_t written_bytes;
	uint64_t reads;
	uint64_t writes;
	uint64_t wait_ns;
};

/**
 * struct trace_figures - the sums of a thread, or of a process: the sums over its threads
 * Arrays are sorted, greatest time first. A trap's row is a struct trace_call;
 * its errors are major faults.
 * @stolen_ns: part of user, syscall, trap and interrupted together, in which the host of a virtual
 *     machine had the CPU. The kernel reports it at the end of each time slice; the time that an
 *     idle CPU may have taken to wake up is subtracted. 0 also if the kernel does not know it
 *     (CONFIG_PARAVIRT_TIME_ACCOUNTING)
 * @probe_ns: part of trap: what @probe_hits hits of probes cost, by the cost that the recorder
 *     measured; between @probe_least_ns and @probe_most_ns
 * @event_ns: part of user: what recording @event_records of its own events cost the program, by the
 *     cost that the recorder measured; between @event_least_ns and @event_most_ns. Events of other
 *     languages than C and C++ cost more than that
 * Figures of probes are 0 in a window, those of events are of the events in it.
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
	struct trace_call
		*kernel_work; /* outside of calls and traps: "exit", "signal", "core dump", "task work", "stop" */
	size_t nr_kernel_work;
	uint64_t probe_hits;
	uint64_t probe_ns;
	uint64_t probe_least_ns;
	uint64_t probe_most_ns;
	uint64_t event_records;
	uint64_t event_ns;
	uint64_t event_least_ns;
	uint64_t event_most_ns;
	struct trace_time_counts *times; /* for trace_call_times() */
};

/**
 * trace_nr_processes() - all processes that were alive at some time in the trace, in the
 * order of their first event
 */
size_t trace_nr_processes(const struct trace_analysis *analysis);
/** trace_get_process() - one of them; borrowed from @analysis; NULL past the last */
const struct trace_process *trace_get_process(const struct trace_analysis *analysis, size_t idx);
/** trace_process_start_ns() - of its first thread; see trace_thread_start_ns() */
uint64_t trace_process_start_ns(const struct trace_process *process);
/** trace_process_end_ns() - of its last thread; see trace_thread_end_ns() */
uint64_t trace_process_end_ns(const struct trace_process *process);
/** trace_process_is_kernel() - its threads are threads of the kernel */
bool trace_process_is_kernel(const struct trace_process *process);
/** trace_nr_threads() - number of its threads until now, also of those that have ended */
size_t trace_nr_threads(const struct trace_process *process);
/**
 * trace_next_thread() - the threads of a process, in the order of their first event; @thread NULL =
 * the first; NULL past the last
 */
const struct trace_thread *trace_next_thread(const struct trace_process *process, const struct trace_thread *thread);

/**
 * trace_thread_figures() - owned by the caller; release with
 * trace_figures_free(). NULL: out of memory
 */
struct trace_figures *trace_thread_figures(const struct trace_analysis *analysis, const struct trace_thread *thread);
/** trace_process_figures() - the sums of all its threads; as trace_thread_figures() */
struct trace_figures *trace_process_figures(const struct trace_analysis *analysis, const struct trace_process *process);
typedef bool (*trace_thread_fn)(const void *data, const struct trace_thread *thread);
/**
 * trace_process_figures_of() - the sums over the threads of @process that @fn chooses; NULL: all
 */
struct trace_figures *trace_process_figures_of(const struct trace_analysis *analysis,
					       const struct trace_process *process, trace_thread_fn fn,
					       const void *data);
/** trace_system_figures() - the sums of all processes; as trace_thread_figures() */
struct trace_figures *trace_system_figures(const struct trace_analysis *analysis);
struct trace_figures *trace_figures_free(struct trace_figures *figures); /* NULL is fine; returns NULL */

/** struct trace_time_range - @count calls took @from_ns or more, and less than @to_ns (0: 2^64) */
struct trace_time_range {
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t count;
};
#define TRACE_TIME_RANGES 64u
/**
 * trace_call_times() - how long the calls of a row took: their numbers in ranges from one power of
 * two to the next, the shortest first, without empty ones
 * @call: of @figures->syscalls, kernel_work or traps
 * Exact: the counts add up to call->calls. The first range begins at 0. Returns how many there are.
 */
size_t trace_call_times(const struct trace_figures *figures, const struct trace_call *call,
			struct trace_time_range ret_ranges[TRACE_TIME_RANGES]);

/**
 * struct trace_cpu_figures - elapsed = user + system + irq + softirq + idle +
 * unknown (in and after a gap)
 */
struct trace_cpu_figures {
	uint32_t cpu;
	uint64_t user_ns;
	uint64_t system_ns;
	uint64_t irq_ns; /* vectors included */
	uint64_t softirq_ns;
	uint64_t idle_ns;
	uint64_t unknown_ns;
};
/** trace_nr_cpus() - highest number of a CPU in the trace + 1 */
size_t trace_nr_cpus(const struct trace_analysis *analysis);
/** trace_cpu_figures() - the figures of CPU @cpu; it has to be below trace_nr_cpus() */
void trace_cpu_figures(const struct trace_analysis *analysis, size_t cpu, struct trace_cpu_figures *ret_figures);

/**
 * trace_system_interrupts() - all interrupts of all CPUs, on idle CPUs too; greatest time first
 * Release with free(). NULL: out of memory.
 */
struct trace_interrupt *trace_system_interrupts(const struct trace_analysis *analysis, size_t *ret_nr);

/**
 * struct trace_deferred_work - what a worker of the kernel did for a process: the one that queued
 * the work, or wrote to the files that the worker writes back
 * @work: the function; "": only its address @func is known
 * @pid, @comm: 0 and "" if an interrupt or a timer queued it; 0 and "several" or "unknown"
 * @device: the disk of the files, or ""
 * @runs: of the function; @files: so many files were written back
 */
struct trace_deferred_work {
	const char *work;
	uint64_t func;
	uint32_t pid;
	const char *comm;
	const char *device;
	uint64_t runs;
	uint64_t files;
	uint64_t cpu_ns;
	uint64_t written_bytes;
};
/** trace_deferred_works() - most CPU time first, to be released with free(). NULL: out of memory */
struct trace_deferred_work *trace_deferred_works(const struct trace_analysis *analysis, size_t *ret_nr);

/**
 * struct trace_disk_use - the requests of a process that a disk served
 * They are of the process in whose thread the kernel issued them, or that wrote to the file that a
 * worker of the kernel wrote back.
 * @device: name of @dev; "": it has none
 * @process: NULL: @title is "unknown" or "several"
 * @reads, @writes, @others: requests. @read_bytes and @written_bytes: of them
 * @busy_ns: part of @disk_busy_ns, in which the disk had requests in progress. Requests that are in
 *     progress at the same time share it, so the parts add up to it
 */
struct trace_disk_use {
	const char *device;
	uint32_t dev;
	const struct trace_process *process;
	const char *title;
	uint64_t reads;
	uint64_t read_bytes;
	uint64_t writes;
	uint64_t written_bytes;
	uint64_t others;
	uint64_t busy_ns;
	uint64_t disk_busy_ns;
};
/**
 * trace_disk_uses() - by disk, most time first, to be released with free(). NULL: out of memory
 */
struct trace_disk_use *trace_disk_uses(const struct trace_analysis *analysis, size_t *ret_nr);
/**
 * trace_disk_uses_while_waiting() - the uses of the disk @dev in the times in which any thread of
 * @process waited for a file on it
 * Rows as those of trace_disk_uses(), without numbers of requests; @disk_busy_ns is in these times,
 * too. @ret_is_known: false: the recording has too many requests or waits, so there are no rows.
 * To be released with free(). NULL: out of memory
 */
struct trace_disk_use *trace_disk_uses_while_waiting(const struct trace_analysis *analysis,
						     const struct trace_process *process, uint32_t dev,
						     bool *ret_is_known, size_t *ret_nr);

/**
 * struct trace_probe_use - the hits of a probe by a process
 * @hit_ns: what one costs, with @hit_least_ns and @hit_most_ns: the extremes of the measurement
 */
struct trace_probe_use {
	const struct trace_process *process;
	const char *name;
	uint64_t hits;
	uint64_t hit_ns;
	uint64_t hit_least_ns;
	uint64_t hit_most_ns;
};
/** trace_probe_uses() - greatest cost first, to be released with free(). NULL: out of memory */
struct trace_probe_use *trace_probe_uses(const struct trace_analysis *analysis, size_t *ret_nr);
/**
 * trace_probes_without_hits() - the names of the probes in programs that have no event in the trace
 * or window: no thread that was recorded came there, no condition held, or the events are lost
 * To be released with free(); the names live as long as the trace. NULL: out of memory
 */
const char **trace_probes_without_hits(const struct trace_analysis *analysis, size_t *ret_nr);

/**
 * struct trace_event_use - the events of one type that a process recorded itself
 * @cost_ns: what recording them cost the process
 */
struct trace_event_use {
	const struct trace_process *process;
	const char *name;
	uint64_t events;
	uint64_t cost_ns;
};
/**
 * trace_event_uses() - most events first, to be released with free(); none if the cost of an event
 * is not known. NULL: out of memory
 */
struct trace_event_use *trace_event_uses(const struct trace_analysis *analysis, size_t *ret_nr);
/**
 * trace_event_cost_ps() - what recording an event cost a program, in picoseconds; 0: not known
 * @ret_least_ps, @ret_most_ps: the extremes of the measurement
 */
uint32_t trace_event_cost_ps(const struct trace_analysis *analysis, uint32_t *ret_least_ps, uint32_t *ret_most_ps);
/**
 * trace_event_long_cost_ps() - the same of an event with a text of 16 bytes, or of 24 bytes of
 * fields; 0: not known, and long events count as the others
 * @ret_ps_per_64_bytes: of each 64 bytes more
 */
uint32_t trace_event_long_cost_ps(const struct trace_analysis *analysis, uint32_t *ret_ps_per_64_bytes);

/**
 * struct trace_lock_wait - a thread waited for a lock that another thread held, or for another
 * thread (condition, semaphore)
 * A wait in which several threads held the lock one after another is in the row of each, with that
 * part of its time.
 * @waiter, @holder: the same process if its threads waited for each other; @holder is "unknown",
 *     with pid 0, if the events do not show the holder
 * @holder_thread: NULL if the events show only the process
 * @via: "futex", "lock" (of a file) or "semaphore" (of System V)
 * @path: the locked file, or "semaphore 5"; otherwise ""
 * @address: of the futex, in the memory of @waiter; otherwise 0
 */
struct trace_lock_wait {
	const struct trace_process *waiter;
	const struct trace_process *holder;
	const char *via;
	const char *path;
	uint64_t address;
	uint64_t ns;
	uint64_t count;
	const struct trace_thread *waiter_thread;
	const struct trace_thread *holder_thread;
};
/** trace_lock_waits() - greatest time first, to be released with free(). NULL: out of memory */
struct trace_lock_wait *trace_lock_waits(const struct trace_analysis *analysis, size_t *ret_nr);

/**
 * struct trace_interruption - calls of @process that something interrupted while they waited
 * Their waits are for what the calls were for, docs/WAITS.md.
 * @call: the system call
 * @by: the process that interrupted them; NULL: none, such as a timer
 * @via: "signal", "ptrace", "freezer", or ""
 * @signal: its number; 0: none
 * @ns: how long the interrupted waits had lasted
 */
struct trace_interruption {
	const struct trace_process *process;
	const char *call;
	const struct trace_process *by;
	const char *via;
	uint32_t signal;
	uint64_t ns;
	uint64_t count;
};
/** trace_interruptions() - as trace_lock_waits() */
struct trace_interruption *trace_interruptions(const struct trace_analysis *analysis, size_t *ret_nr);

/**
 * trace_file_device() - name of the block device that served the file of this @path
 * This is the device of the latest request that ended a wait for the file. If there was none, it is
 * the device of the file system. "" if that is none, or not known.
 */
const char *trace_file_device(const struct trace_analysis *analysis, const char *path);

/**
 * trace_target_listener() - the process that listens at the port of a wait for the network
 * @target: of a wait of kind network, from this analysis
 * A recording of one process has no events of a server of this machine, so the wait is for the
 * network, and not for the process. The start state tells which process listens there.
 * Returns NULL if that is not known, or on another machine.
 */
const struct trace_process *trace_target_listener(const struct trace_analysis *analysis, const char *target);

/**
 * trace_analysis_window() - first and last instant of the accounting, ns: the trace's
 * window; no event is outside
 * For a flight recorder's trace it begins when all CPUs' events are complete,
 * info->complete_from_ns: older events are not counted, and no hook gets them.
 */
void trace_analysis_window(const struct trace_analysis *analysis, uint64_t *ret_start_ns, uint64_t *ret_end_ns);
/**
 * trace_analysis_count() - number of events of this id in the pass;
 * TRACE_EV_USER: all events of programs
 */
uint64_t trace_analysis_count(const struct trace_analysis *analysis, uint32_t id);
/**
 * trace_analysis_nr_late_gaps() - after the pass: number of late gaps, which trace_nr_gaps() does
 * not include: chunks that turned out to be damaged when they were read
 * trace_analysis_get_late_gap() - sorted by start; NULL past the last; see
 * trace_analysis_on_late_gap()
 */
size_t trace_analysis_nr_late_gaps(const struct trace_analysis *analysis);
const struct trace_gap *trace_analysis_get_late_gap(const struct trace_analysis *analysis, size_t idx);
/**
 * trace_analysis_start_damage() - after the pass: what was not read of the start state, as a
 * sentence; NULL: all of it was read
 * The processes, descriptors and mappings in a damaged chunk are unknown.
 * @ret_lost: number of events in it
 */
const char *trace_analysis_start_damage(const struct trace_analysis *analysis, uint64_t *ret_lost);
/**
 * trace_analysis_halted_ns() - how long no scheduling changes were recorded, because they were not
 * selected or the recording was halted: all that time is unknown
 */
uint64_t trace_analysis_halted_ns(const struct trace_analysis *analysis);
/**
 * trace_analysis_is_filtered() - only events of some processes were recorded
 * The state of all other processes is unknown, and so is the holder of a CPU that none of
 * the recorded processes has.
 */
bool trace_analysis_is_filtered(const struct trace_analysis *analysis);
/**
 * trace_analysis_sees_wakeups() - false: for some time wakeups were not recorded,
 * while scheduling changes were
 * Then it is unknown when a sleeping thread began to wait for a CPU, and why it had slept.
 */
bool trace_analysis_sees_wakeups(const struct trace_analysis *analysis);
/**
 * trace_analysis_sees_calls() - false: for some time until now system calls were not recorded, or
 * only their entries or their exits
 * Then user + syscall + trap is right, but not each of the three: whether a thread on a CPU was in
 * its own code or in the kernel is not known.
 */
bool trace_analysis_sees_calls(const struct trace_analysis *analysis);
/**
 * trace_analysis_sees_traps() - the same for page faults. If false, their time is counted for what
 * they interrupted: the program's own code or a system call
 */
bool trace_analysis_sees_traps(const struct trace_analysis *analysis);
/**
 * trace_analysis_sees_interrupts() - the same for interrupts, softirqs and vectors. If false, their
 * time is counted for what they interrupted, or as idle
 */
bool trace_analysis_sees_interrupts(const struct trace_analysis *analysis);
/** enum trace_recorded - partly: for some time not, while scheduling changes were */
enum trace_recorded { TRACE_RECORDED_NEVER, TRACE_RECORDED_PARTLY, TRACE_RECORDED_ALWAYS };
/**
 * trace_analysis_recorded() - were events of this id always recorded until now? Then seeing none
 * means that there were none
 * Events that the kernel does not have count as not recorded. TRACE_RECORDED_ALWAYS
 * if the trace does not say.
 */
enum trace_recorded trace_analysis_recorded(const struct trace_analysis *analysis, uint32_t id);
/**
 * trace_analysis_inconsistencies() - number of inconsistencies: a thread was seen where it could
 * not be, without a gap to explain it
 * Events are missing that the recorder does not know of, or a filter left them out. The time
 * concerned is unknown.
 */
uint64_t trace_analysis_inconsistencies(const struct trace_analysis *analysis);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
