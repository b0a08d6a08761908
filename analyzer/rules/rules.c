/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rules.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "error_set.h"
#include "kernel_numbers.h"
#include "rule_descriptors.h"
#include "rule_file_bytes.h"
#include "rule_idle.h"
#include "rule_lifetimes.h"
#include "rule_other_end.h"
#include "rule_own_code.h"
#include "rule_parents.h"
#include "rule_relay.h"
#include "rule_restarts.h"
#include "rule_run_time.h"

/*
 * @begin registers the hooks of a rule. Returns its data, or NULL without memory. @check: at the
 * end, once; NULL: all was checked in the pass. @touch: for rules_touch(), or NULL
 */
static const struct {
	void *(*begin)(struct rules *rules);
	void (*end)(void *data);
	void (*check)(void *data);
	void (*touch)(void *data, const struct trace_process *process, const struct trace_file_id *file);
} all_rules[] = {
	{rule_descriptors_begin, rule_descriptors_end, NULL, NULL},
	{rule_file_bytes_begin, rule_file_bytes_end, rule_file_bytes_check, rule_file_bytes_touch},
	{rule_idle_begin, rule_idle_end, NULL, NULL},
	{rule_lifetimes_begin, rule_lifetimes_end, rule_lifetimes_check, NULL},
	{rule_other_end_begin, rule_other_end_end, NULL, rule_other_end_touch},
	{rule_own_code_begin, rule_own_code_end, NULL, NULL},
	{rule_parents_begin, rule_parents_end, rule_parents_check, NULL},
	{rule_relay_begin, rule_relay_end, NULL, NULL},
	{rule_restarts_begin, rule_restarts_end, NULL, NULL},
	{rule_run_time_begin, rule_run_time_end, NULL, NULL},
};
#define NR_RULES (sizeof(all_rules) / sizeof(all_rules[0]))

struct rules {
	struct trace_analysis *analysis; /* borrowed: it owns the rules */
	const struct trace *trace;	 /* borrowed */
	void *data[NR_RULES];		 /* owned: of each rule */
	bool is_checked;
	uint64_t nr_broken;
	struct trace_error first; /* the first violation */
};

struct rules *rules_new(struct trace_analysis *analysis, const struct trace *trace)
{
	struct rules *rules = calloc(1, sizeof(*rules));

	if (!rules)
		return NULL;
	rules->analysis = analysis;
	rules->trace = trace;
	for (size_t i = 0; i < NR_RULES; i++) {
		rules->data[i] = all_rules[i].begin(rules);
		if (!rules->data[i]) {
			rules_free(rules);
			return NULL;
		}
	}
	return rules;
}

void rules_free(struct rules *rules)
{
	if (!rules)
		return;
	for (size_t i = 0; i < NR_RULES; i++)
		if (rules->data[i])
			all_rules[i].end(rules->data[i]);
	free(rules);
}

int rules_verify(struct rules *rules, struct trace_error *ret_error)
{
	for (size_t i = 0; rules && !rules->is_checked && i < NR_RULES; i++)
		if (all_rules[i].check)
			all_rules[i].check(rules->data[i]);
	if (rules)
		rules->is_checked = true;
	if (!rules || !rules->nr_broken)
		return 0;
	if (rules->nr_broken == 1)
		return error_set(ret_error, -EBADMSG, "%s", rules->first.message);
	return error_set(ret_error, -EBADMSG, "%s (and %" PRIu64 " more violation%s of rules)", rules->first.message,
			 rules->nr_broken - 1, rules->nr_broken == 2 ? "" : "s");
}

void rules_touch(struct rules *rules, const struct trace_process *process, const struct trace_file_id *file)
{
	for (size_t i = 0; i < NR_RULES; i++)
		if (all_rules[i].touch)
			all_rules[i].touch(rules->data[i], process, file);
}

bool rules_on_events(struct rules *rules, const uint32_t *ids, size_t nr, trace_event_fn fn, void *data)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	for (size_t i = 0; i < nr; i++)
		mask[ids[i] / 64] |= 1ull << ids[i] % 64;
	return trace_analysis_on_event(rules->analysis, mask, fn, data) >= 0;
}

const char *rules_entered_call(const struct rules *rules, const struct trace_sys_enter *enter)
{
	return trace_string(rules->trace, enter->abi == TRACE_ABI_32 ? TRACE_STRING_SYSCALL_32 : TRACE_STRING_SYSCALL,
			    enter->nr & 0x3fffffff); /* __X32_SYSCALL_BIT */
}

bool rules_duplicates(const struct trace_analysis *analysis, const struct trace_thread *thread)
{
	static const char *const names[] = {"dup", "dup2", "dup3"};
	const char *call = trace_thread_syscall(analysis, thread);
	uint64_t command = trace_thread_syscall_arg(thread, 1);

	for (size_t i = 0; call && i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(call, names[i]) == 0)
			return true;
	return call && strncmp(call, "fcntl", 5) == 0 && (command == LINUX_F_DUPFD || command == LINUX_F_DUPFD_CLOEXEC);
}

const struct trace *rules_trace(const struct rules *rules)
{
	return rules->trace;
}

struct trace_analysis *rules_analysis(const struct rules *rules)
{
	return rules->analysis;
}

static bool overlaps(const struct trace_gap *gap, uint64_t from_ns, uint64_t to_ns)
{
	return gap->start_ns <= to_ns && gap->end_ns >= from_ns;
}

bool rules_are_sure(const struct rules *rules, uint64_t from_ns, uint64_t to_ns)
{
	if (trace_analysis_is_filtered(rules->analysis) || trace_analysis_halted_ns(rules->analysis) ||
	    trace_analysis_inconsistencies(rules->analysis))
		return false;
	for (size_t i = 0; i < trace_nr_gaps(rules->trace); i++)
		if (overlaps(trace_get_gap(rules->trace, i), from_ns, to_ns))
			return false;
	for (size_t i = 0; i < trace_analysis_nr_late_gaps(rules->analysis); i++)
		if (overlaps(trace_analysis_get_late_gap(rules->analysis, i), from_ns, to_ns))
			return false;
	return true;
}

void rules_broken(struct rules *rules, uint64_t time_ns, const struct trace_thread *thread, const char *format, ...)
{
	uint64_t since = time_ns - trace_get_info(rules->trace)->start_ns, nr = state_nr_events(rules->analysis);
	char text[256], found[48] = "";
	va_list args;

	if (rules->nr_broken++)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (nr)
		snprintf(found, sizeof(found), ", found at event %" PRIu64, nr);
	if (thread)
		error_set(&rules->first, -EBADMSG, "at %" PRIu64 ".%09" PRIu64 " s thread %u (%s) %s%s",
			  since / 1000000000, since % 1000000000, trace_thread_tid(thread), trace_thread_comm(thread),
			  text, found);
	else
		error_set(&rules->first, -EBADMSG, "at %" PRIu64 ".%09" PRIu64 " s: %s%s", since / 1000000000,
			  since % 1000000000, text, found);
}
