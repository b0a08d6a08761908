/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_parents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "kernel_numbers.h"
#include "rules.h"

#define NOT_KNOWN UINT32_MAX

/* One process; a reused pid is another one. Processes are numbers of @list. */
struct relative {
	uint32_t pid;
	uint32_t parent; /* at its birth; NOT_KNOWN */
	uint32_t reaper; /* of its children, from @adopt_ns on */
	uint64_t birth_ns;
	uint64_t end_ns;   /* 0: it lives */
	uint64_t adopt_ns; /* 0: its children stay with it */
	uint64_t last_ns;  /* all its threads have left their CPUs then; 0: not yet */
	bool is_init;	   /* of a pid namespace, or not known */
	bool is_freed;	   /* its parent has got its status */
	bool has_left;	   /* its first thread has left its CPU for the last time */
	bool first_exits;  /* its first thread has begun to exit */
	bool is_gone;	   /* it had begun to exit before the recording, so that only its last switch is in it */
	bool traces;	   /* it waits for processes that are not its children */
	bool is_traced;	   /* at the start another process traced it, and may wait for it */
	bool has_traced;   /* and then wakes its parent, which is this one */
};

/*
 * A wait for a process that was never a child: wrong unless one of them is a tracer. The parent of
 * a traced process waits until the tracer knows that it has ended.
 */
struct suspect {
	const struct trace_thread *thread;
	uint64_t ns;
	uint32_t relative; /* its process */
	uint32_t other;	   /* for which it waited */
	char comm[16];
};

enum family_call { CALL_NOT_LOOKED_UP, CALL_OTHER, CALL_PTRACE, CALL_WAITPID, CALL_WAITID };
#define NR_CACHED_CALLS 512

struct relative_row {
	uint64_t key; /* pid + 1 */
	uint32_t relative;
};

struct parents {
	struct rules *rules;
	struct relative *list; /* owned */
	uint32_t nr, room;
	uint32_t nr_first;	/* so many are of the start of the trace */
	struct hash_table pids; /* the latest process of each pid */
	bool began, failed;
	struct suspect *suspects; /* owned */
	uint32_t nr_suspects, room_suspects;
	uint8_t calls[2][NR_CACHED_CALLS]; /* enum family_call, by ABI and number */
};

static bool relative_reserve(struct parents *p)
{
	uint32_t room = p->room ? p->room * 2 : 256;
	struct relative *bigger = p->nr < p->room ? p->list : reallocarray(p->list, room, sizeof(*bigger));

	if (!bigger)
		return false;
	if (p->nr == p->room)
		p->room = room;
	p->list = bigger;
	return true;
}

/* The row of a pid is made only when the list has room for what it points to. */
static uint32_t relative_add(struct parents *p, uint32_t pid, uint32_t parent, uint64_t birth_ns)
{
	struct relative_row *row = pid && relative_reserve(p) ? table_add(&p->pids, sizeof(*row), pid + 1ull) : NULL;

	if (!row) {
		p->failed |= pid != 0;
		return NOT_KNOWN;
	}
	row->relative = p->nr;
	p->list[p->nr] = (struct relative){.pid = pid, .parent = parent, .reaper = NOT_KNOWN, .birth_ns = birth_ns};
	return p->nr++;
}

static uint32_t relative_of(const struct parents *p, uint32_t pid)
{
	const struct relative_row *row = table_find(&p->pids, sizeof(*row), pid + 1ull);

	return row ? row->relative : NOT_KNOWN;
}

/* The processes of the start of the trace, with their parents then. */
static void add_first(struct parents *p, const struct trace_analysis *analysis)
{
	size_t nr = trace_nr_processes(analysis);

	p->began = true;
	for (size_t i = 0; i < nr; i++) {
		const struct trace_process *process = trace_get_process(analysis, i);
		uint32_t relative = relative_add(p, trace_process_pid(process), NOT_KNOWN,
						 trace_process_start_ns(process));

		if (relative == NOT_KNOWN)
			continue;
		p->list[relative].is_init = trace_process_ns_pid(process) <= 1;
		p->list[relative].is_traced = state_was_traced(process);
	}
	p->nr_first = p->nr;
	for (size_t i = 0; i < nr; i++) {
		const struct trace_process *process = trace_get_process(analysis, i);
		uint32_t relative = relative_of(p, trace_process_pid(process)), parent;

		if (relative == NOT_KNOWN || !trace_process_ppid(process))
			continue;
		parent = relative_of(p, trace_process_ppid(process));
		p->list[relative].parent = parent;
		if (parent != NOT_KNOWN)
			p->list[parent].has_traced |= state_was_traced(process);
	}
}

/*
 * A process has passed its children on some time between the sched_adopt of its exit and its last
 * event. Was that before its reaper ended, and while @child lived? A child that had begun to exit
 * before the recording may have ended before.
 */
static bool has_passed(const struct parents *p, const struct relative *parent, const struct relative *child)
{
	uint64_t end_ns = parent->reaper != NOT_KNOWN ? p->list[parent->reaper].end_ns : 0;

	if (child->is_gone && child->last_ns <= parent->last_ns)
		return false;
	return parent->last_ns >= parent->adopt_ns && (!child->end_ns || child->end_ns > parent->last_ns) &&
	       (!end_ns || end_ns > parent->last_ns || end_ns < parent->adopt_ns);
}

/*
 * The parent of @child by the events; @ret_since_ns: since when. NOT_KNOWN also if an adoption may
 * have been too late for @child.
 */
static uint32_t parent_of(const struct parents *p, const struct relative *child, uint64_t *ret_since_ns)
{
	uint64_t since = child->birth_ns;
	uint32_t parent = child->parent;

	while (parent != NOT_KNOWN && p->list[parent].adopt_ns && p->list[parent].adopt_ns >= since) {
		since = p->list[parent].adopt_ns;
		if (!has_passed(p, &p->list[parent], child))
			return NOT_KNOWN;
		if (p->list[parent].reaper == parent)
			break;
		parent = p->list[parent].reaper;
	}
	*ret_since_ns = since;
	return parent;
}

/* ---- events ---- */

static void on_fork(struct parents *p, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	const struct trace_thread *by = trace_find_thread(analysis, fork->parent_tid);
	uint32_t parent = by ? relative_of(p, trace_process_pid(trace_thread_process(by))) : NOT_KNOWN;
	uint32_t known = relative_of(p, fork->tid);
	uint64_t since;

	if (fork->clone_flags & LINUX_CLONE_THREAD)
		return;
	if (parent == NOT_KNOWN)
		parent = relative_of(p, fork->parent_tid);
	if (parent != NOT_KNOWN && p->list[parent].end_ns &&
	    rules_are_sure(p->rules, p->list[parent].end_ns, event->ts_ns))
		rules_broken(p->rules, event->ts_ns, NULL,
			     "process %u has a child %u (sched_fork), but it has ended %" PRIu64 " ns before",
			     p->list[parent].pid, fork->tid, event->ts_ns - p->list[parent].end_ns);
	if (parent != NOT_KNOWN && (fork->clone_flags & LINUX_CLONE_PARENT))
		parent = parent_of(p, &p->list[parent], &since);
	/* The start state was read after this fork, and maybe after an adoption. */
	if (known < p->nr_first && !p->list[known].end_ns)
		parent = NOT_KNOWN;
	known = relative_add(p, fork->tid, parent, event->ts_ns);
	if (known != NOT_KNOWN)
		p->list[known].is_init = fork->ns_tid <= 1;
}

/*
 * A process that begins to exit is no reaper any more, except init of a pid namespace: it kills all
 * processes of the namespace, and waits in its exit until they have ended. Their children are its
 * own.
 */
static bool can_adopt(const struct relative *reaper)
{
	return !reaper->end_ns || (reaper->is_init && !reaper->is_freed);
}

static void on_adopt(struct parents *p, const struct trace_event *event)
{
	const struct trace_sched_adopt *adopt = event->payload;
	uint32_t parent = relative_of(p, adopt->parent), reaper = relative_of(p, adopt->reaper);

	if (parent == NOT_KNOWN)
		return;
	p->list[parent].adopt_ns = event->ts_ns;
	p->list[parent].reaper = reaper;
	/* a loss since its birth may hide another process of its pid */
	if (reaper != NOT_KNOWN && !can_adopt(&p->list[reaper]) &&
	    rules_are_sure(p->rules, p->list[reaper].birth_ns, event->ts_ns))
		rules_broken(p->rules, event->ts_ns, NULL,
			     "process %u adopts the children of process %u (sched_adopt), but it has ended %" PRIu64
			     " ns before",
			     adopt->reaper, adopt->parent, event->ts_ns - p->list[reaper].end_ns);
}

static void on_exit_of(struct parents *p, const struct trace_event *event)
{
	const struct trace_sched_exit *exit = event->payload;
	uint32_t relative = relative_of(p, exit->tgid);

	if (relative == NOT_KNOWN)
		return;
	p->list[relative].first_exits |= exit->tid == exit->tgid;
	if (exit->group_dead)
		p->list[relative].end_ns = event->ts_ns;
}

/*
 * A thread leaves its CPU for the last time. Each thread passes its own children on in its exit, so
 * a process has passed on all of them when the last thread leaves. Its first thread may leave
 * before.
 */
static void on_left(struct parents *p, const struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_exit_times *last = event->payload;
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);
	const struct trace_process *process;
	struct relative *its;
	uint32_t relative;

	if (!thread || trace_thread_tid(thread) != last->tid)
		thread = trace_find_thread(analysis, last->tid);
	process = thread ? trace_thread_process(thread) : NULL;
	relative = process ? relative_of(p, trace_process_pid(process)) : NOT_KNOWN;
	if (relative == NOT_KNOWN || p->list[relative].birth_ns != trace_process_start_ns(process))
		return;
	its = &p->list[relative];
	if (last->tid == its->pid) {
		its->has_left = true;
		its->is_gone |= !its->first_exits;
	}
	if (state_nr_living(process) <= 1)
		its->last_ns = event->ts_ns;
}

/*
 * The kernel frees the first thread of a process after all others. It does so up to tens of ms
 * after the pid is free, so a process that has the pid again may live by then.
 */
static void on_free(struct parents *p, const struct trace_event *event)
{
	const struct trace_sched_free *last = event->payload;
	uint32_t relative = relative_of(p, last->tid);

	if (relative == NOT_KNOWN || (relative >= p->nr_first && !p->list[relative].has_left))
		return;
	p->list[relative].is_gone |= !p->list[relative].first_exits;
	p->list[relative].is_freed = true;
	p->list[relative].last_ns = event->ts_ns;
}

static enum family_call family_call(struct parents *p, const struct trace_sys_enter *enter)
{
	static const struct {
		const char *name;
		enum family_call call;
	} names[] = {
		{"ptrace", CALL_PTRACE}, {"wait4", CALL_WAITPID}, {"waitpid", CALL_WAITPID}, {"waitid", CALL_WAITID}};
	uint32_t nr = enter->nr & 0x3fffffff; /* __X32_SYSCALL_BIT */
	uint8_t *cached = nr < NR_CACHED_CALLS ? &p->calls[enter->abi == TRACE_ABI_32][nr] : NULL;
	const char *name;

	if (!cached)
		return CALL_OTHER;
	if (*cached == CALL_NOT_LOOKED_UP) {
		*cached = CALL_OTHER;
		name = rules_entered_call(p->rules, enter);
		for (size_t i = 0; name && i < sizeof(names) / sizeof(names[0]); i++)
			if (strcmp(names[i].name, name) == 0)
				*cached = (uint8_t)names[i].call;
	}
	return *cached;
}

/*
 * A tracer calls ptrace(). It may have attached itself before the recording, and only wait in it:
 * then it says that it waits for any kind of child. That is ignored for real children.
 */
static void on_enter(struct parents *p, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sys_enter6 *enter = event->payload; /* the shorter forms have its first fields */
	enum family_call call = family_call(p, event->payload);
	const struct trace_thread *thread = call == CALL_OTHER ? NULL : trace_thread_on_cpu(analysis, event->cpu);
	uint32_t relative = thread ? relative_of(p, trace_process_pid(trace_thread_process(thread))) : NOT_KNOWN;
	bool has_3 = event->id == TRACE_EV_sys_enter3 || event->id == TRACE_EV_sys_enter6;

	if (relative == NOT_KNOWN)
		return;
	if (call == CALL_PTRACE || (call == CALL_WAITPID && has_3 && enter->arg2 & LINUX_WALL) ||
	    (call == CALL_WAITID && event->id == TRACE_EV_sys_enter6 && enter->arg3 & LINUX_WALL))
		p->list[relative].traces = true;
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct parents *p = data;

	if (!p->began)
		add_first(p, analysis);
	switch (event->id) {
	case TRACE_EV_sched_fork:
		on_fork(p, analysis, event);
		break;
	case TRACE_EV_sched_adopt:
		on_adopt(p, event);
		break;
	case TRACE_EV_sched_exit:
		on_exit_of(p, event);
		break;
	case TRACE_EV_exit_times:
		on_left(p, analysis, event);
		break;
	case TRACE_EV_sched_free:
		on_free(p, event);
		break;
	case TRACE_EV_sys_enter:
	case TRACE_EV_sys_enter3:
	case TRACE_EV_sys_enter6:
		on_enter(p, analysis, event);
		break;
	default:
		break;
	}
}

/* ---- waits for children ---- */

static bool is_child_of(const void *data, const struct trace_identity *identity)
{
	return identity->ppid == *(const uint32_t *)data || !identity->ppid;
}

/*
 * A process that ends gives its children to another one. If one of them has ended before, that
 * process has it to wait for from now on: the end of the parent ended its wait.
 */
static bool leaves_children(const struct parents *p, uint32_t parent_pid, uint32_t reaper_pid,
			    const struct trace_interval *wait)
{
	uint32_t parent = relative_of(p, parent_pid), reaper = relative_of(p, reaper_pid);

	return parent != NOT_KNOWN && reaper != NOT_KNOWN && p->list[parent].reaper == reaper &&
	       p->list[parent].adopt_ns <= wait->to_ns &&
	       (!p->list[parent].last_ns || p->list[parent].last_ns >= wait->from_ns);
}

static void suspect_add(struct parents *p, const struct trace_interval *wait, uint32_t relative, uint32_t other)
{
	uint32_t room = p->room_suspects ? p->room_suspects * 2 : 16;
	struct suspect *bigger = p->suspects;

	if (p->nr_suspects == p->room_suspects) {
		bigger = reallocarray(p->suspects, room, sizeof(*bigger));
		if (!bigger) {
			p->failed = true;
			return;
		}
		p->suspects = bigger;
		p->room_suspects = room;
	}
	bigger += p->nr_suspects++;
	*bigger = (struct suspect){.thread = wait->thread, .ns = wait->to_ns, .relative = relative, .other = other};
	snprintf(bigger->comm, sizeof(bigger->comm), "%s", trace_process_comm(wait->other));
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *wait)
{
	uint32_t pid = trace_process_pid(trace_thread_process(wait->thread));
	struct parents *p = data;
	uint32_t relative, other;

	if (wait->kind != TRACE_WAIT_PROCESS || !wait->other || !wait->via || strcmp(wait->via, "waitpid") != 0 ||
	    !trace_process_pid(wait->other) || trace_process_ever_was(wait->other, is_child_of, &pid) ||
	    leaves_children(p, trace_process_pid(wait->other), pid, wait))
		return;
	relative = relative_of(p, pid);
	other = relative_of(p, trace_process_pid(wait->other));
	if (relative != NOT_KNOWN && other != NOT_KNOWN &&
	    trace_analysis_recorded(analysis, TRACE_EV_sched_adopt) == TRACE_RECORDED_ALWAYS)
		suspect_add(p, wait, relative, other);
}

/* ---- at the end ---- */

static void check_process(struct parents *p, const struct trace_process *process)
{
	uint32_t relative = relative_of(p, trace_process_pid(process)), parent;
	const struct relative *child, *its;
	uint64_t since = 0, end_ns = trace_process_end_ns(process);

	if (relative == NOT_KNOWN || p->list[relative].birth_ns != trace_process_start_ns(process))
		return;
	child = &p->list[relative];
	parent = parent_of(p, child, &since);
	/* it had begun to exit before the recording, and keeps the parent that it had then */
	if (parent == NOT_KNOWN || (!child->end_ns && end_ns && end_ns <= since))
		return;
	its = &p->list[parent];
	if (!child->end_ns && !child->is_gone && !can_adopt(its))
		rules_broken(p->rules, its->end_ns, NULL,
			     "process %u ends (sched_exit), and no process has adopted its child %u", its->pid,
			     child->pid);
	else if (trace_process_ppid(process) && trace_process_ppid(process) != its->pid)
		rules_broken(p->rules, since, NULL,
			     "process %u has process %u as parent in the results, but process %u by its events",
			     child->pid, trace_process_ppid(process), its->pid);
}

/* Is @one a tracer, or the parent of a process that @other traces? */
static bool may_wait(const struct relative *one, const struct relative *other)
{
	return one->traces || one->has_traced || other->traces || other->is_traced;
}

/* A tracer may say so at any time until the end: a loss may hide it even after the wait. */
static void check_suspects(struct parents *p)
{
	const struct trace_info *info = trace_get_info(rules_trace(p->rules));

	if (!rules_are_sure(p->rules, info->start_ns, info->end_ns))
		return;
	for (uint32_t i = 0; i < p->nr_suspects; i++)
		if (!may_wait(&p->list[p->suspects[i].relative], &p->list[p->suspects[i].other]))
			rules_broken(p->rules, p->suspects[i].ns, p->suspects[i].thread,
				     "waited for process %u (%s) via waitpid, which was never its child",
				     p->list[p->suspects[i].other].pid, p->suspects[i].comm);
}

void rule_parents_check(void *data)
{
	struct parents *p = data;
	struct trace_analysis *analysis = rules_analysis(p->rules);
	const struct trace_info *info = trace_get_info(rules_trace(p->rules));

	if (!p->failed)
		check_suspects(p);
	if (p->failed || !state_has_events(analysis, TRACE_EV_sched_adopt) ||
	    trace_analysis_recorded(analysis, TRACE_EV_sched_adopt) != TRACE_RECORDED_ALWAYS ||
	    !rules_are_sure(p->rules, info->start_ns, info->end_ns))
		return;
	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		check_process(p, trace_get_process(analysis, i));
}

void *rule_parents_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sched_fork, TRACE_EV_sched_exit, TRACE_EV_sched_adopt,
				       TRACE_EV_exit_times, TRACE_EV_sched_free, TRACE_EV_sys_enter,
				       TRACE_EV_sys_enter3, TRACE_EV_sys_enter6};
	struct parents *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, p) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), 1u << TRACE_STATE_BLOCKED, on_wait, p) < 0) {
		rule_parents_end(p);
		return NULL;
	}
	return p;
}

void rule_parents_end(void *data)
{
	struct parents *p = data;

	table_clear(&p->pids);
	free(p->suspects);
	free(p->list);
	free(p);
}
