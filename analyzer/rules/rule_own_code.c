/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_own_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "kernel_numbers.h"
#include "rules.h"

/* times of 0: never */
struct own_code_row {
	uint64_t key;		  /* trace_thread_index() + 1 */
	uint64_t dying_ns;	  /* its exit, or a fatal signal */
	uint64_t fault_ns;	  /* its last page fault of any kind */
	uint64_t open_ns;	  /* the same, of user mode, and without an end so far */
	uint64_t signal_ns;	  /* its last signal */
	uint64_t signal_fault_ns; /* the page fault that ended in that signal */
};

struct own_code {
	struct rules *rules;
	struct hash_table threads;
	struct own_code_row none; /* for threads that are not known, and without memory */
};

static struct own_code_row *row_of(struct own_code *o, const struct trace_thread *thread)
{
	struct own_code_row *row = thread ? table_add(&o->threads, sizeof(*row), trace_thread_index(thread) + 1ull)
					  : NULL;

	o->none = (struct own_code_row){0};
	return row ? row : &o->none;
}

/*
 * Only signals that leave no choice: the kernel's own, and those for a fault of the thread
 * itself. So the rule need not know what the other ones do by default.
 */
static bool is_surely_fatal(const struct trace_signal_deliver *signal)
{
	switch (signal->signal) {
	case LINUX_SIGKILL:
		return true;
	case LINUX_SIGSEGV:
	case LINUX_SIGBUS:
	case LINUX_SIGILL:
	case LINUX_SIGFPE:
		return signal->handler == 0 && signal->code > 0 && signal->code < 0x80;
	default:
		return false;
	}
}

static void user_mode(struct own_code *o, struct own_code_row *row, const struct trace_thread *thread, uint64_t ns,
		      const char *what)
{
	if (row->dying_ns && ns > row->dying_ns && rules_are_sure(o->rules, row->dying_ns, ns))
		rules_broken(o->rules, ns, thread, "%s %" PRIu64 " ns after it began to exit", what,
			     ns - row->dying_ns);
}

static void on_signal(struct own_code_row *row, uint64_t ns, const struct trace_signal_deliver *signal)
{
	if (row->open_ns) {
		row->signal_fault_ns = row->open_ns;
		row->open_ns = 0;
	}
	row->signal_ns = ns;
	if (!row->dying_ns && is_surely_fatal(signal))
		row->dying_ns = ns;
}

static void on_fault(struct own_code *o, struct own_code_row *row, const struct trace_thread *thread, uint64_t ns,
		     const struct trace_fault_entry *fault)
{
	row->fault_ns = ns;
	if (!fault->user || (fault->address & ~0xfffull) == 0xffffffffff600000u) /* the vsyscall page: no end is told */
		return;
	row->open_ns = ns;
	user_mode(o, row, thread, ns, "made a page fault in user mode (fault_entry)");
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_event_thread(analysis, event);
	const struct trace_sched_exit *exit = event->payload;
	struct own_code *o = data;
	struct own_code_row *row;

	if (event->id == TRACE_EV_sched_exit)
		thread = trace_find_thread(analysis, exit->tid);
	if (!thread || trace_thread_is_kernel(thread))
		return;
	row = row_of(o, thread);
	switch (event->id) {
	case TRACE_EV_sched_exit:
		row->dying_ns = row->dying_ns ? row->dying_ns : event->ts_ns;
		break;
	case TRACE_EV_signal_deliver:
		on_signal(row, event->ts_ns, event->payload);
		break;
	case TRACE_EV_fault_entry:
		on_fault(o, row, thread, event->ts_ns, event->payload);
		break;
	case TRACE_EV_fault_exit:
		row->open_ns = 0;
		break;
	default:
		row->open_ns = 0;
		user_mode(o, row, thread, event->ts_ns, "entered a system call (sys_enter)");
	}
}

static void on_own_code(struct own_code *o, struct own_code_row *row, const struct trace_interval *i)
{
	if (row->dying_ns && i->to_ns > row->dying_ns && rules_are_sure(o->rules, row->dying_ns, i->to_ns))
		rules_broken(o->rules, i->to_ns, i->thread, "has own code after it began to exit %" PRIu64 " ns before",
			     i->to_ns - row->dying_ns);
	if (row->signal_fault_ns && i->to_ns > row->signal_fault_ns && i->from_ns < row->signal_ns &&
	    rules_are_sure(o->rules, row->signal_fault_ns, i->to_ns))
		rules_broken(o->rules, i->to_ns, i->thread, "has own code in a page fault that ended in a signal");
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *i)
{
	struct own_code *o = data;
	struct own_code_row *row;

	(void)analysis;
	if ((i->state != TRACE_STATE_USER && i->state != TRACE_STATE_TRAP) || trace_thread_is_kernel(i->thread))
		return;
	row = row_of(o, i->thread);
	if (i->state == TRACE_STATE_USER)
		on_own_code(o, row, i);
	else if (row->signal_ns > row->fault_ns && i->to_ns > row->signal_ns &&
		 rules_are_sure(o->rules, row->fault_ns, i->to_ns))
		rules_broken(o->rules, i->to_ns, i->thread,
			     "is in a page fault, which a signal (signal_deliver) ended %" PRIu64 " ns before",
			     i->to_ns - row->signal_ns);
}

void *rule_own_code_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sched_exit, TRACE_EV_signal_deliver, TRACE_EV_fault_entry,
				       TRACE_EV_fault_exit, TRACE_EV_sys_enter,	     TRACE_EV_sys_enter3,
				       TRACE_EV_sys_enter6};
	struct own_code *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	o->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, o) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_USER | 1u << TRACE_STATE_TRAP,
					  on_interval, o) < 0) {
		rule_own_code_end(o);
		return NULL;
	}
	return o;
}

void rule_own_code_end(void *data)
{
	struct own_code *o = data;

	table_clear(&o->threads);
	free(o);
}
