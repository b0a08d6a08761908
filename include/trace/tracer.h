/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_TRACER_H
#define TRACE_TRACER_H
/*
 * tracer.h - the kernel tracer: loads and attaches the BPF programs, and
 * gives access to their rings
 *
 * One thread at a time, except for the consumer functions of <trace/subbuf.h> on the rings.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/counts.h>
#include <trace/error.h>
#include <trace/events.h>
#include <trace/subbuf.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tracer;

#define TRACER_DEFAULT_SUBBUF_BYTES (1u << 20) /* if there is enough memory */
#define TRACER_DEFAULT_NR_SUBBUFS   8u
#define TRACER_MAX_SUBBUFS	    256u
/* Structural events (fork, exec, open ...) have rings of their own. Their sub-buffers have a
 * quarter of the others' size, within these limits. */
#define TRACER_STRUCTURAL_SUBBUF_MIN (64u << 10)
#define TRACER_STRUCTURAL_SUBBUF_MAX (256u << 10)
#define TRACER_STRUCTURAL_NR_SUBBUFS 8u

/**
 * struct tracer_options - zeroed = record everything that is on by default, discard when full
 * @size: sizeof of the caller's struct
 * @subbuf_bytes, @nr_subbufs: powers of two; 0 = the defaults. The tracer rounds down and clamps;
 *     tracer_get_ring() tells what it took
 * @overwrite: flight recorder
 * @mask: 256 bits, events to record; all zero = the catalogue's defaults
 * @filter_*: all must match. An event passes if the current thread matches, or if it is the
 *     scheduling change or wakeup of a matching thread.
 * @filter_pid: this process, 0 = all, numbered as in the caller's pid namespace; with @follow also
 *     its descendants, existing and future ones
 * @filter_uid, @filter_gid: effective ids, -1 = all. @filter_pgrp: process group, 0 = all; -ENOTSUP
 *     in any but the first pid namespace
 * @others_hidden: with @filter_uid: a thread matches only if all of its user ids are that one, and
 *     its group ids are one. The start state then has of other threads only what every user may
 *     know (number, name, user, state), and no path, no address, no call
 * @caller: which address sys_caller records: none, that with the index @caller_depth among the
 *     program's own code, or the first between @caller_lower and @caller_upper, exclusive
 * @sample_period: take a sample of each CPU about every so many units: the events sample and
 *     fs_map. 0: the program of samples is not even loaded. -ENOTSUP in any but the first pid
 *     namespace
 * @sample_event: the unit of @sample_period: events of this name; @sample_type and @sample_config
 *     are those of struct perf_event_attr. -ENOENT or another error if the machine has no such
 *     event. NULL: ns of a timer; borrowed
 * @sample_command: with @sample_period: the arguments of a program that will run soon, as
 *     execvp() would find it. The unwind tables of its files, and of those of programs that its
 *     arguments name, are made before tracer_new() returns, unless that takes 2 s. NULL: none;
 *     borrowed by the tracer
 * @no_args: neither start_args nor sched_args is recorded, whatever the mask says
 * @data_bytes: copy at most so much of the memory of each argument of a system call, in sys_data
 *     events, if the mask has them; 0: nothing; at most 1024
 * @exclude_pid: the system calls and faults of this process (the daemon) are not recorded, and
 *     counted as filtered; 0 = none
 */
enum tracer_caller { TRACER_CALLER_NONE, TRACER_CALLER_DEPTH, TRACER_CALLER_BOUNDS };

struct tracer_options {
	size_t size;
	uint32_t subbuf_bytes;
	uint32_t nr_subbufs;
	bool overwrite;
	bool follow;
	uint64_t mask[TRACE_MASK_WORDS];
	pid_t filter_pid;
	pid_t filter_pgrp;
	int64_t filter_uid;
	int64_t filter_gid;
	pid_t exclude_pid;
	bool others_hidden;
	enum tracer_caller caller;
	uint32_t caller_depth;
	uint64_t caller_lower;
	uint64_t caller_upper;
	bool no_args;
	uint32_t data_bytes;
	uint64_t sample_period;
	char *const *sample_command;
	const char *sample_event;
	uint64_t sample_config;
	uint32_t sample_type;
};

/**
 * tracer_new() - load the programs for this kernel; nothing is attached yet
 * @options: copied, but for the texts that are borrowed
 * Returns the tracer, to be released with tracer_free(); NULL with -EPERM (which capabilities are
 * missing), -ENOTSUP (no BTF, kernel too old), -ENOMEM or another error of the kernel. The message
 * says how to proceed.
 */
struct tracer *tracer_new(const struct tracer_options *options, struct trace_error *ret_error);
struct tracer *tracer_free(struct tracer *tracer); /* stops first; NULL is fine; returns NULL */

/**
 * tracer_start() - attach the programs of the mask; events are recorded when it returns
 * It omits events that this kernel does not allow; tracer_not_traced() lists them.
 * Returns 0; -ENOTSUP: it could attach nothing, and the sentence says why the first one failed.
 */
int tracer_start(struct tracer *tracer, struct trace_error *ret_error);
/**
 * tracer_stop() - detach all, wait until no program runs any more, close the open
 * sub-buffers; the rings stay readable
 */
void tracer_stop(struct tracer *tracer);
/**
 * tracer_set_mask() - change the recorded events of a running tracer: attaches and detaches
 * Returns as tracer_start().
 */
int tracer_set_mask(struct tracer *tracer, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error);
/** tracer_get_mask() - the events that are recorded now */
void tracer_get_mask(const struct tracer *tracer, uint64_t ret_mask[TRACE_MASK_WORDS]);
/**
 * tracer_follow() - add a process, without its existing descendants, to a @follow filter
 * Returns 0; -ESRCH: the caller's pid namespace has no such process; or another error of the
 * kernel.
 */
int tracer_follow(struct tracer *tracer, pid_t pid, struct trace_error *ret_error);
/**
 * tracer_number() - the pid in the kernel's events of the process that is @pid in the caller's pid
 * namespace; 0: not known, for example because it has ended
 */
pid_t tracer_number(struct tracer *tracer, pid_t pid);
/** tracer_pid() - the reverse of tracer_number() */
pid_t tracer_pid(struct tracer *tracer, pid_t number);
/** tracer_syscall_name() - static; NULL: that ABI has no such call */
const char *tracer_syscall_name(enum trace_abi abi, unsigned int nr);
/**
 * struct tracer_unfollowed - descendants that a @follow filter did not follow, because it
 * already had @max_processes
 * Their events, and those of their descendants, count as filtered. @first_ns:
 * when the first of them began
 */
struct tracer_unfollowed {
	uint64_t processes;
	uint64_t first_ns;
	uint32_t max_processes;
};
/** tracer_get_unfollowed() - the numbers until now; processes 0: all were followed */
void tracer_get_unfollowed(const struct tracer *tracer, struct tracer_unfollowed *ret_unfollowed);
/**
 * tracer_unavailable() - why the kernel cannot give event @id, as far as this is known without
 * loading anything; NULL: it can. The text is static. Any thread
 */
const char *tracer_unavailable(uint32_t id);
/**
 * tracer_not_traced() - "event: reason" for each event that was selected but is not
 * available; NULL past the last
 */
const char *tracer_not_traced(const struct tracer *tracer, size_t idx);

/**
 * tracer_poll_fd() - becomes readable when control->wake_at sub-buffers of a ring are full, or a
 * structural one is; for poll() and epoll
 * With overwrite only structural ones count: the others are read only for a snapshot.
 * tracer_acknowledge() - clear the signal. Call this first, then drain all rings.
 */
int tracer_poll_fd(const struct tracer *tracer);
void tracer_acknowledge(struct tracer *tracer);

/**
 * struct tracer_bell - a program that cannot see the daemon's socket calls it:
 * <trace/user_memory.h>
 * @pid: in the caller's pid namespace; 0: it has ended. @number: as the kernel's events have it
 * @bytes: size of its memory; 0: it has none
 * @name: of its memory. SECURITY: everything but the numbers is what the process chose
 */
struct tracer_bell {
	pid_t pid;
	pid_t number;
	uint64_t bytes;
	char comm[16];
	char name[64];
};
typedef void (*tracer_bell_fn)(void *context, const struct tracer_bell *bell);
/**
 * tracer_bell_begin() - listen for such calls, also before tracer_start()
 * Returns a descriptor that becomes readable when a program calls, valid until tracer_bell_end();
 * -ENOTSUP: the kernel cannot tell; or another errno.
 */
int tracer_bell_begin(struct tracer *tracer);
/**
 * tracer_bell_take() - call @fn for the oldest calls so far, at most 64
 * The descriptor stays readable while there are more.
 */
void tracer_bell_take(struct tracer *tracer, tracer_bell_fn fn, void *context);
/**
 * tracer_bells_lost() - number of calls so far that found no room; nothing is known about them
 * If one user's programs call too fast, it counts one call for each 100 ms.
 */
uint64_t tracer_bells_lost(const struct tracer *tracer);
/** tracer_bell_end() - listen no more, and close the descriptor; also if none was begun */
void tracer_bell_end(struct tracer *tracer);

/**
 * struct tracer_ring - one ring and its stream number: 2 * cpu, and 2 * cpu + 1
 * for the structural events
 */
struct tracer_ring {
	struct subbuf_ring ring;
	uint32_t stream;
	uint32_t cpu;
	bool structural;
};
/**
 * tracer_flush_rings() - before the rings are read: flush the deferred entries, and close the
 * sub-buffers in use
 * The last event of a CPU may be the entry of a system call, deferred until its exit or another
 * event comes. Programs may defer new entries meanwhile.
 * Only for rings with deferred entries (control.defers); while programs run, no other code may
 * close their sub-buffers. An idle CPU is not disturbed.
 */
void tracer_flush_rings(struct tracer *tracer);

/** tracer_nr_rings() - two for each CPU that the machine can have */
size_t tracer_nr_rings(const struct tracer *tracer);
/** tracer_get_ring() - borrowed from @tracer; NULL past the last */
const struct tracer_ring *tracer_get_ring(const struct tracer *tracer, size_t idx);

/**
 * tracer_missed() - how often the kernel skipped a program of event @id since
 * the start (recursion_misses)
 * Cumulative; 0 for events without a program.
 */
uint64_t tracer_missed(const struct tracer *tracer, uint32_t id);

/**
 * tracer_set_sample_period() - @period until the next samples of @cpu, from now on; it begins anew
 * Its unit is that of the option sample_period. Nothing happens while no samples are taken, if @cpu
 * is not present, or before 32 periods have passed since the last change: the kernel begins the
 * period anew, so more frequent changes would leave no samples of a long one.
 */
void tracer_set_sample_period(struct tracer *tracer, uint32_t cpu, uint64_t period);
/**
 * tracer_set_sample_mean() - from now on the mean of the periods that the caller sets is @period
 * The next change is due at once.
 */
void tracer_set_sample_mean(struct tracer *tracer, uint64_t period);

/**
 * struct tracer_count - how often something ran in the kernel
 * @kind: enum tracer_count_kind, which says what @key is
 * @sum: of samples, the sum of their periods
 */
struct tracer_count {
	uint32_t kind;
	uint64_t key;
	uint64_t count;
	uint64_t sum;
};
/**
 * tracer_read_counts() - what was counted since the start, with samples: those in the kernel, and
 * what its recorded events tell
 * Sorted by kind and key; nothing is stopped. Counts are exact, also where records were lost.
 * @ret_counts: the caller frees them
 * @ret_not_counted: so many had no room, because there were too many addresses
 * Returns 0; -ENOTSUP without samples; -ENOMEM or another error of the kernel.
 */
int tracer_read_counts(const struct tracer *tracer, struct tracer_count **ret_counts, size_t *ret_nr,
		       uint64_t *ret_not_counted);
/**
 * struct tracer_code_map - a process mapped code, or began a new program: the event fs_map at
 * @ts_ns
 * @generation: of the inode: a number that is used again has another one; 0: not known
 */
struct tracer_code_map {
	uint64_t ts_ns;
	uint32_t generation;
	struct trace_fs_map map;
	char path[1024];
};
typedef void (*tracer_code_map_fn)(void *context, const struct tracer_code_map *map);
/**
 * tracer_take_code_maps() - call @fn for all that came since the last call, in order of time
 * Returns how many were lost so far because this was called too late: some ten thousand of a CPU
 * have room.
 */
uint64_t tracer_take_code_maps(struct tracer *tracer, tracer_code_map_fn fn, void *context);

/**
 * tracer_load_probes() - prepare @probes, after tracer_start(); all are off
 * @probes: borrowed until tracer_free(). @ids: the number of each in the
 *     trace; borrowed during the call
 * Returns 0; -ENOTSUP or -EPERM, with a sentence, if the kernel takes no probes at all; -ENOMEM.
 */
struct trace_probes;
int tracer_load_probes(struct tracer *tracer, const struct trace_probes *probes, const uint16_t *ids,
		       struct trace_error *ret_error);
/**
 * tracer_switch_probes() - record these probes and no others
 * @on: one for each probe; NULL: none
 * Attaches those that are on and detaches the others soon after; the last place of a group of one
 * option detaches the whole group. tracer_not_traced() lists the places that cannot be attached,
 * with the reason.
 * Returns the number of places that are on now.
 */
size_t tracer_switch_probes(struct tracer *tracer, const bool *on);
/**
 * tracer_set_probe_condition() - replace the condition of probe @idx: record only if it holds
 * The fields are those of the probe's type. No tests: record always.
 */
struct trace_condition;
void tracer_set_probe_condition(struct tracer *tracer, size_t idx, const struct trace_condition *condition);

/**
 * tracer_probes_unread() - number of probe arguments so far in unreadable memory: they
 * are 0 or empty in the trace
 */
uint64_t tracer_probes_unread(const struct tracer *tracer);
/** enum tracer_probe_hit - was a place hit since tracer_load_probes(), whatever its condition */
enum tracer_probe_hit {
	TRACER_PROBE_NEVER_ON, /* or it could not be attached: tracer_not_traced() */
	TRACER_PROBE_NO_HIT,   /* no thread that is recorded has reached it */
	TRACER_PROBE_HIT,
};
/** tracer_probe_hit() - of probe @idx, until now */
enum tracer_probe_hit tracer_probe_hit(const struct tracer *tracer, size_t idx);

/**
 * tracer_probe_refused() - number of hits so far of probe @idx with a false condition: they are not
 * in the trace
 * @ret_ns: what one of them cost the program; 0: not known; written if there were any
 */
uint64_t tracer_probe_refused(const struct tracer *tracer, size_t idx, uint32_t *ret_ns);

/**
 * tracer_start_state() - record what exists now: threads, programs, open files,
 * sockets, maps, interrupts
 * Calls @emit for each record: struct trace_record and payload, with the low 32 bits of the time in
 * the header, and with the full time as an argument. While a process does not answer, it calls
 * @emit every 10 ms without a record (NULL, 0 bytes), for other work. Call it after
 * tracer_start(), so that no event is missed in between. A non-zero return value of
 * @emit ends it and is returned.
 */
typedef int (*tracer_emit_fn)(void *context, const struct trace_record *record, size_t bytes, uint64_t ts_ns);
int tracer_start_state(struct tracer *tracer, tracer_emit_fn emit, void *context, struct trace_error *ret_error);

/**
 * tracer_end_state() - what threads wait for at the end: end_wait records, by @emit
 * as in tracer_start_state()
 * @ts_ns: the time of all these records
 * Call it right after tracer_stop(), so that these reads are not recorded. Threads that
 * cannot be read are omitted.
 */
int tracer_end_state(struct tracer *tracer, uint64_t ts_ns, tracer_emit_fn emit, void *context,
		     struct trace_error *ret_error);

/**
 * tracer_strings() - names of system calls, interrupts, softirqs, vectors, devices: the space
 * is enum trace_string_space
 */
typedef int (*tracer_string_fn)(void *context, int space, uint64_t key, const char *text);
int tracer_strings(tracer_string_fn emit, void *context, struct trace_error *ret_error);
/**
 * tracer_device_names() - of tracer_strings(), those of block and network devices. At the end of a
 * recording there may be new ones. Returns 0 or what @emit returned
 */
int tracer_device_names(tracer_string_fn emit, void *context);
/**
 * tracer_code_names() - the functions that samples hit so far, of the kernel
 * (TRACE_STRING_KERNEL_CODE) and generated by programs (TRACE_STRING_PROGRAM_CODE)
 */
int tracer_code_names(const struct tracer *tracer, tracer_string_fn emit, void *context);
/** tracer_work_names() - the names of the functions of deferred work that was recorded so far */
int tracer_work_names(const struct tracer *tracer, tracer_string_fn emit, void *context);
/**
 * tracer_describe_limits() - call @describe with a sentence for each bound that was passed so far:
 * what is beyond it has no name in the trace, or no callers
 * Call it after tracer_start_state() and tracer_code_names(), which count what they leave out.
 */
typedef void (*tracer_describe_fn)(void *context, const char *text);
void tracer_describe_limits(const struct tracer *tracer, tracer_describe_fn describe, void *context);

#ifdef __cplusplus
}
#endif
#endif
