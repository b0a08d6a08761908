/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_RULES_CASE_H
#define TESTS_RULES_CASE_H
/*
 * rules_case.h - the rules of --verify judge intervals and events that a test made up
 *
 * A test program is linked with rules of its own. It keeps their hooks (-Wl,--wrap), and has the
 * answers that they ask of the state.
 */
#include "analysis_case.h"
#include "rules/rules.h"

/** call_in_progress - of the thread that a rule asks for; behind the pass none is in a call */
extern const char *call_in_progress;
/** call_args - its first arguments */
extern uint64_t call_args[2];

/** two_servers() - 10 and 20 run on the CPUs 0 and 1 until the end */
struct analysis_case two_servers(bool are_one_process);
/** two_servers_with_a_loss() - and events of CPU 1 from @from_ns to @to_ns are missing */
struct analysis_case two_servers_with_a_loss(uint64_t from_ns, uint64_t to_ns);
/** rules_case_begin() - the rules of the case's trace, which has been analyzed */
struct rules *rules_case_begin(const struct analysis_case *c);
/** rules_case_end() - the result of rules_verify(); frees @rules */
int rules_case_end(struct rules *rules, struct trace_error *ret_error);
/** feed() - give the rules an event */
void feed(const struct analysis_case *c, uint32_t id, uint64_t ns, uint32_t cpu, const void *payload);
/** feed_interval() - give them an interval */
void feed_interval(const struct analysis_case *c, const struct trace_interval *interval);
/** first_thread() - of process @pid */
const struct trace_thread *first_thread(const struct analysis_case *c, uint32_t pid);
#endif
