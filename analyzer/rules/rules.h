/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_RULES_H
#define ANALYZER_RULES_RULES_H
/*
 * rules.h - what must be true of every result, whatever the trace contains
 *
 * Sums that close do not show that the names beside them are right. A rule is a sentence about
 * names that a wrong result breaks, for example "a thread waits for a process that lived during the
 * wait". Each rule has a file of its own, rule_<subject>.c. It watches the pass by hooks, like an
 * analysis of a user's, and keeps its own record of what the events say. So it does not share a
 * mistake with the state that it checks.
 *
 * Rules run only if trace_analysis_options.verify asks for them; otherwise they cost nothing.
 * trace_analysis_verify() reports the first violation. A rule must not accuse where events are
 * missing: it asks rules_are_sure().
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/analysis.h>

struct rules;

/**
 * rules_new() - register all rules with @analysis, before its pass
 * @analysis: borrowed; owns the result
 * Returns NULL without memory.
 */
struct rules *rules_new(struct trace_analysis *analysis, const struct trace *trace);
void rules_free(struct rules *rules); /* NULL is fine */
/**
 * rules_verify() - Returns 0, or -EBADMSG with the first violation and the number of the others in
 * @ret_error. @rules: NULL if no rules were asked for
 */
int rules_verify(struct rules *rules, struct trace_error *ret_error) TRACE_NODISCARD;

/* ---- for the rules ---- */

struct trace_analysis *rules_analysis(const struct rules *rules);
const struct trace *rules_trace(const struct rules *rules);
/**
 * rules_are_sure() - are all events from @from_ns to @to_ns in the trace?
 *
 * False in and around a gap, of any cause and any CPU, if only some processes were recorded, and
 * after a time without scheduling changes or an inconsistency.
 * Call it after @to_ns has passed: late gaps are known only then.
 */
bool rules_are_sure(const struct rules *rules, uint64_t from_ns, uint64_t to_ns);
/**
 * rules_broken() - a rule is broken at @time_ns
 *
 * In the pass, the report also has the number of the event at which the rule noticed it.
 * @thread: the thread concerned; NULL: none
 * @format: the rest of the sentence, "waited for ..."
 */
void rules_broken(struct rules *rules, uint64_t time_ns, const struct trace_thread *thread, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/** rules_on_events() - run a hook at the @nr events @ids of the pass; false: out of memory */
bool rules_on_events(struct rules *rules, const uint32_t *ids, size_t nr, trace_event_fn fn, void *data);
struct trace_sys_enter;
/** rules_entered_call() - the name of the call that a thread enters; NULL: not known */
const char *rules_entered_call(const struct rules *rules, const struct trace_sys_enter *enter);
/** rules_duplicates() - does the call of @thread make another descriptor of its argument 0? */
bool rules_duplicates(const struct trace_analysis *analysis, const struct trace_thread *thread);

/*
 * ---- what the state tells the rules (analyzer/state_touch.c) and they ask it (state_rules.c) ----
 */

/*
 * Things of a process beside files, as the device of a struct trace_file_id. The kernel's devices
 * use fewer bits.
 */
enum {
	RULES_DEV_KNOWN = -1,	/* all its descriptors are known; inode: when the recorder read one of them, or 0 */
	RULES_DEV_FDS = -2,	/* inode: the number of its table of descriptors */
	RULES_DEV_MEMORY = -3,	/* inode: the number of its address space */
	RULES_DEV_FOREIGN = -4, /* it has, or may have, memory the file of which is not known */
};

/** rules_touch() - @process has @file open or mapped from now on */
void rules_touch(struct rules *rules, const struct trace_process *process, const struct trace_file_id *file);
/** state_socket_peer() - the inode of the socket at the other end; 0: not known */
uint64_t state_socket_peer(const struct trace_analysis *analysis, uint64_t ino);
/**
 * state_file_at() - the file that @thread has mapped at @address; @ret_file->ino 0: none
 *
 * False: the state does not know all of the thread's memory.
 */
bool state_file_at(const struct trace_analysis *analysis, const struct trace_thread *thread, uint64_t address,
		   struct trace_file_id *ret_file);
/** state_tables() - the descriptors and the address space that @thread has now; returns how many */
int state_tables(const struct trace_thread *thread, struct trace_file_id ret_ids[2]);
/** state_is_complete() - can the state know which process has which files, until now? */
bool state_is_complete(const struct trace_analysis *analysis);
/** state_is_windowed() - are the figures those of a window, not of the whole trace? */
bool state_is_windowed(const struct trace_analysis *analysis);
/** state_nr_events() - how many events the pass has delivered until now; 0 after its end */
uint64_t state_nr_events(const struct trace_analysis *analysis);
/** state_has_events() - does the recorder of the trace know of events @id? */
bool state_has_events(const struct trace_analysis *analysis, uint32_t id);
/** state_was_traced() - did another process trace one of its threads (ptrace(2)) at the start? */
bool state_was_traced(const struct trace_process *process);
/** state_nr_living() - its threads that have not left their CPUs for the last time */
size_t state_nr_living(const struct trace_process *process);
#endif
