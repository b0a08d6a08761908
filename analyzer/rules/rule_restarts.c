/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_restarts.h"

#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "rules.h"

#define RESTART		      "restart_syscall"
#define ERESTART_RESTARTBLOCK 516 /* linux/errno.h */

struct restart_row {
	uint64_t key;	   /* trace_thread_index() + 1 */
	uint64_t since_ns; /* it is in restart_syscall(); 0: no, or what that continues is not known */
	bool interrupted;  /* its last call goes on with restart_syscall() */
	bool has_entered;  /* a call in the trace: the start state may have a later one */
};

struct restarts {
	struct rules *rules;
	struct hash_table threads;
};

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_event_thread(analysis, event);
	const struct trace_sys_exit *exit = event->payload;
	struct restarts *r = data;
	const char *name;
	struct restart_row *row = thread ? table_add(&r->threads, sizeof(*row), trace_thread_index(thread) + 1ull)
					 : NULL;

	if (!row) /* also without memory: then the rule sees fewer calls */
		return;
	if (event->id == TRACE_EV_sys_exit) {
		name = trace_thread_syscall(analysis, thread);
		row->interrupted = row->has_entered && exit->ret == -ERESTART_RESTARTBLOCK && name &&
				   strcmp(name, RESTART) != 0 && strcmp(name, TRACE_CALL_NOT_SEEN) != 0;
		return;
	}
	name = rules_entered_call(r->rules, event->payload);
	row->since_ns = row->interrupted && name && strcmp(name, RESTART) == 0 ? event->ts_ns : 0;
	row->interrupted = false;
	row->has_entered = true;
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *i)
{
	struct restarts *r = data;
	const struct restart_row *row;

	(void)analysis;
	if (!i->name || strcmp(i->name, RESTART) != 0)
		return;
	row = table_find(&r->threads, sizeof(*row), trace_thread_index(i->thread) + 1ull);
	if (row && row->since_ns && i->from_ns >= row->since_ns && rules_are_sure(r->rules, row->since_ns, i->to_ns))
		rules_broken(r->rules, i->to_ns, i->thread,
			     "has time in restart_syscall() and not in the call that it continues");
}

void *rule_restarts_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit};
	struct restarts *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, r) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_SYSCALL | 1u << TRACE_STATE_BLOCKED,
					  on_interval, r) < 0) {
		rule_restarts_end(r);
		return NULL;
	}
	return r;
}

void rule_restarts_end(void *data)
{
	struct restarts *r = data;

	table_clear(&r->threads);
	free(r);
}
