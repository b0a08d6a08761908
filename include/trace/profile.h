/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_PROFILE_H
#define TRACE_PROFILE_H
/*
 * profile.h - where in the code the time of each thread went: samples divide exact times
 *
 * A trace of tracedaemon --sample has samples. The analysis knows how long each thread was in each
 * state and system call, to the nanosecond: the time is divided into strata. A profile divides each
 * stratum among the samples that fell into it. So its sums are exact, and only their division has a
 * sampling error.
 *
 * 	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, &error);
 * 	struct trace_profile *profile = trace_profile_new(analysis, &error);
 *
 * 	trace_analysis_run(analysis, &error);
 * 	for (size_t i = 0; trace_profile_get_share(profile, i, &share); i++)
 * 		...
 * 	profile = trace_profile_free(profile);
 * 	analysis = trace_analysis_free(analysis);
 *
 * docs/PROFILES.md has the rules. A trace without samples gives shares, too: all are without a
 * frame. A window of the analysis holds for its profile.
 *
 * Memory: about 60 bytes for each different frame and each stratum, nothing for a further sample of
 * the same. Borrowed pointers live as long as the analysis. One thread at a time.
 */
#include <trace/analysis.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_profile;

/**
 * trace_profile_new() - divide the times of @analysis, which must not have been run yet
 * It adds hooks to @analysis, so release it after the pass, and before the analysis.
 * Returns NULL with -ENOMEM or -EBUSY (the pass began).
 */
struct trace_profile *trace_profile_new(struct trace_analysis *analysis, struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * struct trace_profile_span - time of a thread that counts, for example a request of a server
 * @thread: trace_thread_index(); it is the same in each pass over the same trace
 * @label: for trace_profile_set_labels(): of your own; 0 is that of all other time
 * @ns: how much of the time from @from_ns to @to_ns counts: all, or an even part of it
 */
struct trace_profile_span {
	uint32_t thread;
	uint32_t label;
	uint64_t from_ns;
	uint64_t to_ns;
	uint64_t ns;
};
/**
 * trace_profile_new_within() - the same, of nothing but @nr spans, which are copied
 * The shares add up to @ns of the spans, as far as they are in the window and in the life of their
 * threads. Samples elsewhere are not counted.
 * Returns NULL with -EINVAL, too: spans of a thread overlap, are empty, or have more ns than time.
 */
struct trace_profile *trace_profile_new_within(struct trace_analysis *analysis, const struct trace_profile_span *spans,
					       size_t nr, struct trace_error *ret_error) TRACE_NODISCARD;
/** trace_profile_split_by_cpu() - shares on a CPU are of one CPU each; before the pass */
void trace_profile_split_by_cpu(struct trace_profile *profile);
/**
 * trace_profile_set_labels() - shares on a CPU have the label of one span each; before the pass
 * Copies @nr spans, instead of those set before. Their @ns do not matter.
 * Returns 0; -ENOMEM; -EINVAL: spans of a thread overlap or are empty, and there are none then.
 */
int trace_profile_set_labels(struct trace_profile *profile, const struct trace_profile_span *spans,
			     size_t nr) TRACE_NODISCARD;
struct trace_profile *trace_profile_free(struct trace_profile *profile); /* NULL is fine; returns NULL */
/** trace_profile_error() - 0; -ENOMEM: the profile is not complete */
int trace_profile_error(const struct trace_profile *profile) TRACE_NODISCARD;

/* ---- frames ---- */

#define TRACE_PROFILE_NO_FRAME UINT32_MAX

/**
 * enum trace_profile_end - where the recorder's way by unwind tables through the callers ended:
 * NOT_READY: at a file whose table was not made yet. NO_CALLER: at code without a description that
 * has no frame pointer either. UNSUPPORTED: at a description that tables do not hold. UNREADABLE:
 * the stack was not in memory. UNMAPPED: at code whose mapping was not known. TOO_LONG: there were
 * more callers than are recorded
 */
enum trace_profile_end {
	TRACE_PROFILE_END_POINTERS, /* only frame pointers were followed */
	TRACE_PROFILE_END_WHOLE,    /* the thread began there */
	TRACE_PROFILE_END_NOT_READY,
	TRACE_PROFILE_END_NO_CALLER,
	TRACE_PROFILE_END_UNSUPPORTED,
	TRACE_PROFILE_END_UNREADABLE,
	TRACE_PROFILE_END_UNMAPPED,
	TRACE_PROFILE_END_TOO_LONG,
	TRACE_PROFILE_NR_ENDS,
};

/**
 * struct trace_profile_frame - an address on the stack of samples, and its caller: a node of a tree
 * @address: of an instruction if the frame is the innermost one of a sample, else behind a call
 * @caller: its number; TRACE_PROFILE_NO_FRAME: the outermost one that is known
 * @tid, @ts_ns: a thread and a time for trace_symbols_find()
 * @is_caller: the address is behind a call, where another function may begin
 * @is_claimed: the address is what a frame pointer led to. A program without frame pointers may
 *     have any number there, so it proves nothing. Unwind tables lead to right addresses
 * @is_cut: there are more callers than were recorded
 * @end: of an outermost frame
 */
struct trace_profile_frame {
	uint64_t address;
	uint32_t caller;
	uint32_t tid;
	uint64_t ts_ns;
	bool in_kernel;
	bool is_caller;
	bool is_claimed;
	bool is_cut;
	enum trace_profile_end end;
};
/** trace_profile_get_frame() - false: there is no such frame */
bool trace_profile_get_frame(const struct trace_profile *profile, uint32_t number,
			     struct trace_profile_frame *ret_frame);

#define TRACE_PROFILE_MAX_FRAMES 256 /* of one sample; more than are recorded */

/**
 * trace_profile_stack_of() - the stack of one event `sample`, without an analysis
 * @ret_frames: the outermost one first. @caller of each is its index in them
 * Returns their number; 0: another event, or the stack of a wait, which is in two events
 */
size_t trace_profile_stack_of(const struct trace_event *event,
			      struct trace_profile_frame ret_frames[TRACE_PROFILE_MAX_FRAMES]);

/* ---- shares ---- */

/**
 * enum trace_profile_waker - what ended a wait: a thread, or an interrupt or softirq that ran above
 * any thread. TIMER: one of both in which a timer expired
 */
enum trace_profile_waker {
	TRACE_PROFILE_WAKER_NONE, /* not known */
	TRACE_PROFILE_WAKER_THREAD,
	TRACE_PROFILE_WAKER_SOFTIRQ,
	TRACE_PROFILE_WAKER_INTERRUPT,
	TRACE_PROFILE_WAKER_TIMER,
	TRACE_PROFILE_NR_WAKERS,
};
/**
 * trace_profile_waker_word() - "(timer)", "(softirq)", "(interrupt)": what reports say in the place
 * of a function; "" for NONE and THREAD
 */
const char *trace_profile_waker_word(enum trace_profile_waker kind);

/**
 * trace_profile_waker_stack_of() - the stack of what woke a thread, of one event `sample`, without
 * an analysis
 * @ret_woken: the number of the woken thread. @ret_kind: never TIMER: other events tell that
 * @ret_frames: as of trace_profile_stack_of()
 * Returns the number of frames; 0: another event, and nothing is written
 */
size_t trace_profile_waker_stack_of(const struct trace_event *event, uint32_t *ret_woken,
				    enum trace_profile_waker *ret_kind,
				    struct trace_profile_frame ret_frames[TRACE_PROFILE_MAX_FRAMES]);

/**
 * struct trace_profile_share - a part of a thread's time in one stratum; after the pass
 * The shares of a thread add up to its elapsed time. Those of one stratum are in sequence.
 * @thread, @state, @name, @kind, @idle, @target, @via, @path, @other: the stratum, as in struct
 *     trace_interval. @other_thread: as trace_wait.thread
 * @frame: where its samples were, innermost; TRACE_PROFILE_NO_FRAME: the stratum has no sample, and
 *     this is all of it
 * @samples: with that frame; @of: of the stratum. Both are 0 for waits
 * @stacks: of waits, with that frame. The recorder takes the stack of each wait of 1 ms or more,
 *     and of a shorter one with the probability length / 1 ms. The former have their exact times,
 *     the latter stand for all short ones of the stratum. A part without a frame has no stack
 * @intervals: of the stratum
 * @ns: the part. An integer: the time of the stratum times @samples / @of, rounded so that the sum
 *     is exact (largest remainders)
 * @waker_kind: of waits with that stack, what woke the thread. @waker: the thread that did, or
 *     NULL. With @via "signal" it sent one
 * @waker_frame: its innermost one; TRACE_PROFILE_NO_FRAME: not known. The way of an interrupt ends
 *     where it begins
 * @cpu: of a share on a CPU of a profile that is split by CPU; else -1
 * @label: of a share on a CPU, trace_profile_set_labels(); else 0
 */
struct trace_profile_share {
	const struct trace_thread *thread;
	enum trace_state state;
	enum trace_wait_kind kind;
	bool idle;
	const char *name;
	const char *target;
	const char *via;
	const char *path;
	const struct trace_process *other;
	const struct trace_thread *other_thread;
	uint32_t frame;
	uint64_t samples;
	uint64_t of;
	uint64_t stacks;
	uint64_t intervals;
	uint64_t ns;
	enum trace_profile_waker waker_kind;
	const struct trace_thread *waker;
	uint32_t waker_frame;
	int32_t cpu;
	uint32_t label;
};
/** trace_profile_get_share() - false past the last; after the pass */
bool trace_profile_get_share(struct trace_profile *profile, size_t idx, struct trace_profile_share *ret_share);

/**
 * struct trace_profile_numbers - of the samples in the window of the analysis
 * @samples: all. @unplaced: those of a thread that the other events do not show on that CPU at that
 *     time, because some are missing; they are in no share
 * @cut: samples whose stack was longer than what is recorded
 * @wait_stacks: stacks of waits; they are in no other number. @waker_stacks: of what woke threads
 */
struct trace_profile_numbers {
	uint64_t samples;
	uint64_t unplaced;
	uint64_t cut;
	uint64_t wait_stacks;
	uint64_t waker_stacks;
};
/** trace_profile_get_numbers() - how many samples and stacks it has; after the pass */
void trace_profile_get_numbers(const struct trace_profile *profile, struct trace_profile_numbers *ret_numbers);

/** trace_profile_window() - the time that it is of */
void trace_profile_window(const struct trace_profile *profile, uint64_t *ret_from_ns, uint64_t *ret_to_ns);

/**
 * trace_profile_verify() - after the pass: the shares of each thread add up to its figures, to the
 * nanosecond, and the samples in them to the number of samples
 * Returns 0; -EBADMSG with the first difference in @ret_error; -ENOMEM.
 */
int trace_profile_verify(struct trace_profile *profile, struct trace_error *ret_error) TRACE_NODISCARD;

/* ---- profiles of many spans ---- */

struct trace_profile_log;

/**
 * struct trace_profile_log_options - zeroed = the defaults
 * @size: sizeof of the caller's struct: later versions add fields at the end
 * @has_file, @fd: write to this file, which is empty and has no other user, instead of into memory;
 *     borrowed until trace_profile_log_free()
 * @nr_entries: intervals and samples that are read at once; 0: 32,768. A span reads two times as
 *     many that are outside of it
 */
struct trace_profile_log_options {
	size_t size;
	bool has_file;
	int fd;
	uint32_t nr_entries;
};
/**
 * trace_profile_log_new() - keep what profiles of @analysis need; before its pass
 * It takes some bytes for each interval, and samples as they are. The analysis has no window, and
 * outlives the log.
 * Returns NULL with -ENOMEM, or -EBUSY (the pass began, or there is a window).
 */
struct trace_profile_log *trace_profile_log_new(struct trace_analysis *analysis,
						const struct trace_profile_log_options *options,
						struct trace_error *ret_error) TRACE_NODISCARD;
/**
 * trace_profile_log_end() - after the pass; profiles can be asked for from now on
 * Returns 0; -EAGAIN: the pass has not ended; -ENOMEM, or the error of a write.
 */
int trace_profile_log_end(struct trace_profile_log *log, struct trace_error *ret_error) TRACE_NODISCARD;
struct trace_profile_log *trace_profile_log_free(struct trace_profile_log *log); /* NULL is fine; returns NULL */
/**
 * trace_profile_of_span() - the profile from @from_ns to @to_ns, as that of a pass with this window
 * @to_ns: 0: to the end of the trace. Several threads may ask. trace_profile_verify() is not for it
 * Returns NULL with -EAGAIN, -ENOMEM, or -ENODATA: the file does not have the log any more. The
 * caller frees the profile with trace_profile_free(), before the log.
 */
struct trace_profile *trace_profile_of_span(const struct trace_profile_log *log, uint64_t from_ns, uint64_t to_ns,
					    struct trace_error *ret_error) TRACE_NODISCARD;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
