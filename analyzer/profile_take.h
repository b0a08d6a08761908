/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_TAKE_H
#define ANALYZER_PROFILE_TAKE_H
/*
 * profile_take.h - what a profile is made of: intervals, samples, and what the analysis knew at
 * the time of a sample. They come from hooks of a pass, or from a log of one (profile_log.c).
 */
#include <trace/profile.h>
#include <trace/reader.h>
#include "profile_strata.h"
#include "profile_waits.h"

/**
 * struct sample_facts - what the analysis knows when a sample comes
 * @thread: that had the CPU, or that the stack is of; NULL: not known. If a program begins, it is
 *     the program's thread
 * @woken: by that thread or interrupt
 * @tid: of @thread, or else of @woken, at that time: it changes when a thread begins a program
 * @state, @name: of a sample by the timer: its stratum
 * @code_ns: of a sample by the timer: when the sampled code ran
 * @since_ns: of a wait: when @thread was on a CPU before it
 * @waker: of a wakeup
 */
struct sample_facts {
	const struct trace_thread *thread;
	const struct trace_thread *woken;
	const char *name;
	enum trace_state state;
	enum trace_profile_waker waker;
	uint32_t tid;
	uint64_t code_ns, since_ns;
};

/** profile_text() - @text as strata have it: those that are equal have one address */
const char *profile_text(const char *text);
/** profile_content() - the stratum of @interval, without its time */
struct stratum profile_content(const struct trace_analysis *analysis, const struct trace_interval *interval);
/** profile_is_sample() - is @event a sample that can be read? */
bool profile_is_sample(const struct trace_event *event);
/** profile_facts() - of the sample @event, while the pass is at it */
struct sample_facts profile_facts(struct trace_analysis *analysis, struct waits *waits,
				  const struct trace_event *event);
/**
 * profile_exec_of() - the thread that begins another program by @event, or maps a file as code,
 * maybe where another one was; NULL: another event
 */
const struct trace_thread *profile_exec_of(const struct trace_analysis *analysis, const struct trace_event *event);

/** profile_take_new() - an empty profile of a time of @analysis; NULL: no memory */
struct trace_profile *profile_take_new(struct trace_analysis *analysis, uint64_t from_ns, uint64_t to_ns);
/** profile_take_interval() - time in the stratum @content; @from_ns to @to_ns: not cut */
void profile_take_interval(struct trace_profile *profile, const struct stratum *content, uint64_t from_ns,
			   uint64_t to_ns);
void profile_take_sample(struct trace_profile *profile, const struct trace_event *event,
			 const struct sample_facts *facts);
void profile_take_exec(struct trace_profile *profile, const struct trace_thread *thread);
/** profile_take_mode() - @thread was running: now it is known whether in a system call */
void profile_take_mode(struct trace_profile *profile, const struct trace_thread *thread, bool in_syscall);
#endif
