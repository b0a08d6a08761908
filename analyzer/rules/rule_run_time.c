/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * rule_run_time.c - compare the kernel's account of a thread's life with the sums
 *
 * The kernel tells at the last switch of a thread how long it has run (exit_times). If all of its
 * life is in the trace, and nothing was lost meanwhile, the sums of the thread must agree:
 *
 *	CPU time - slack <= run time <= CPU time + interrupted + unknown + slack
 *
 * - Most kernels count interrupts as run time of the thread below, some do not
 *   (CONFIG_IRQ_TIME_ACCOUNTING).
 * - A part of the time that is unknown to us may have been on a CPU.
 * - Slack: for each switch, the kernel reads its clock a moment before our event. If a thread
 *   preempts another one at its wakeup, the kernel counts from the wakeup on, at most until it
 *   reads the clock at a timer tick. And it leaves out what a virtual machine's host took, or too
 *   little of it: hence a whole tick.
 * - A host that stops the machine between the kernel's look at the clock and our event gives the
 *   time of the stop to one thread there and to another one here. A thread runs and its CPU has no
 *   event for more than a tick before the switch: that shows such a stop. Example: both CPUs had no
 *   event for 19 ms before a new thread ran for the first time; the kernel counted 26 ms, and 7 ms
 *   are behind our event.
 *
 * Most kernels count user and system time in ticks. At each tick the kernel looks whether it
 * interrupted user mode. The function of the tick's timer is the one that expired once for each
 * counted tick of the thread. At the same expiries the thread is in user mode by our accounting, or
 * it is not. Both counts can differ in one direction only. A call and a page fault begin after the
 * kernel was entered and end before it is left, so the kernel is in system mode wherever we are. It
 * may be in system mode, too, where we are in user mode: on the way into the kernel and out of it,
 * in an exception without an event, before its signal and before the delivery of another one, and
 * after a switch to the thread. A tick is due there more often than elsewhere, because the kernel
 * has just enabled interrupts, or because the host of a virtual machine took the CPU. So a tick is
 * doubtful if it comes less than DOUBT_NS behind such an edge, or if such an edge comes less than
 * DOUBT_NS behind the interrupt of the tick. (The switch of a thread that a tick preempts is no
 * such edge: it is on the way out of that interrupt.) All ticks in user mode that are not doubtful
 * are counted as user time, and not more ticks than those in user mode:
 *
 *	user ticks - doubtful ticks - slack <= utime / tick <= user ticks + slack
 *
 * The kernel notices what the host took at a later tick, and then the switch after it tells it. So
 * too much CPU time, or too many ticks, are judged two switches of the CPU later. Example: the host
 * took 5.4 ms in the exit of a thread; the thread that came next had the CPU at the tick.
 *
 * The length of a tick is the greatest common divisor of all counted times so far: another timer
 * may have expired as often as a shorter tick would have. (A kernel that takes the time of
 * interrupts or of the host out of each tick has no such divisor: then there is no evidence.)
 * A tick that is late, because the host of a virtual machine had taken the CPU, is excused with the
 * time that the host took. Stops of the host that are too short for its counter delay ticks, too:
 * the tick is pending, and comes in the kernel. Example: a thread that sent itself signals was in
 * its own code at 34 ticks, 20 of them doubtful, and the kernel counted 9; on a busier host, a
 * thread that moved pages through pipes was there at 50 ticks, 17 of them doubtful, and the kernel
 * counted 15; one that called epoll_ctl() was there at 107 ticks, 24 of them doubtful, and the
 * kernel counted 43. So two ticks of five may be late. A kernel that does not count the host's
 * time (cpu_stolen is not traced) leaves the rule without evidence: 9 ms that the host took on the
 * way into the kernel look like 9 ms of own code.
 * Such a kernel does not count a tick if the host has taken as much since the last one. Then the
 * tick has expired more often than was counted, and another timer may have expired just as often: a
 * sleep of other programs, on a busy CPU. So every timer fits that expired as often as was counted,
 * or more often by no more than the time that the host took; if several fit, none is the tick. Nor
 * is one that did not fit most of the threads so far. Example: a thread sent packets for 35 ms. The
 * timer that paces them expired ten times, the tick only nine times, and the kernel counted nine
 * ticks: both fit.
 */
#include "rule_run_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "hash_table.h"
#include "rules.h"

#define SLACK_NS	    4000000u /* a tick */
#define SLACK_PER_SWITCH_NS 10000u
#define SLACK_SHARE	    100u      /* 1 % */
#define MIN_TICK_NS	    1000000u  /* CONFIG_HZ is at most 1000: kernels that count exactly have no ticks */
#define MAX_TICK_NS	    10000000u /* CONFIG_HZ is at least 100 */
#define MIN_TICKS	    10u
#define SLACK_TICKS	    4u
#define LATE_TICKS	    2u /* of each LATE_OF */
#define LATE_OF		    5u
#define DOUBT_NS	    20000u /* from the entry into the kernel to our event, and back; with the recording */
#define NR_TIMERS	    4

/* a function of timers that expired on a thread: how often it interrupted its own code, or not */
struct timer_count {
	uint64_t function, user, system;
	uint64_t doubtful; /* of those in its own code */
	bool is_open;	   /* the latest one in its own code may become doubtful */
};

/* A thread with more time than the kernel counted: the host may have taken it. */
struct late_check {
	const struct trace_thread *thread; /* NULL: none */
	uint64_t ns;			   /* of its exit_times */
	uint64_t excess_ns;
	uint64_t stolen_ns; /* of the machine, at its exit_times */
	unsigned int switches;
	char text[160];
};

struct run_time_cpu {
	uint64_t last_ns;     /* the latest event; 0: none */
	unsigned int nesting; /* interrupts in progress */
	uint64_t begin_ns;    /* of the outermost one */
	bool has_tick;	      /* a timer that may be the tick expired in it */
	uint64_t tick_end_ns; /* the end of the latest one with such a timer */
	uint64_t edge_ns;     /* the latest edge of user mode */
	struct late_check late;
};

struct run_time_row {
	uint64_t key; /* tid + 1 */
	uint64_t fork_ns;
	uint64_t stolen_ns; /* of the machine, at its fork */
	uint64_t woken_ns;  /* and it has not run since; 0: it has */
	uint64_t either_ns; /* at preemptions: of one thread or the other */
	uint64_t unknown_ns;
	uint64_t state; /* the last one on a CPU without interrupts */
	struct timer_count timers[NR_TIMERS];
};

/* how many threads a function of timers fitted, as the tick's */
struct timer_fit {
	uint64_t function, fits, misfits;
};

struct run_time {
	struct rules *rules;
	struct timer_fit fits[NR_TIMERS];
	struct hash_table threads;
	uint64_t stolen_ns;	   /* of the machine, so far */
	uint64_t tick_ns;	   /* divides all counted times so far; 0: none */
	struct run_time_cpu *cpus; /* owned */
	uint32_t nr_cpus;
	struct run_time_row none; /* without memory */
};

static struct run_time_row *row_of(struct run_time *r, uint32_t tid)
{
	struct run_time_row *row = table_add(&r->threads, sizeof(*row), tid + 1ull);

	return row ? row : &r->none;
}

static struct run_time_cpu *cpu_of(struct run_time *r, struct trace_analysis *analysis, uint32_t cpu)
{
	static struct run_time_cpu none;

	if (!r->cpus) {
		r->nr_cpus = (uint32_t)trace_nr_cpus(analysis);
		r->cpus = calloc(r->nr_cpus + 1, sizeof(*r->cpus));
	}
	return r->cpus && cpu < r->nr_cpus ? &r->cpus[cpu] : &none;
}

/* @row: its thread enters the kernel or leaves it, and did so before our event */
static void on_edge(struct run_time_cpu *cpu, struct run_time_row *row, uint64_t ns)
{
	cpu->edge_ns = ns;
	for (int i = 0; i < NR_TIMERS; i++)
		row->timers[i].doubtful += row->timers[i].is_open && ns < cpu->tick_end_ns + DOUBT_NS;
}

static void close_ticks(struct run_time_row *row)
{
	for (int i = 0; i < NR_TIMERS; i++)
		row->timers[i].is_open = false;
}

/* How long the machine may have stood still before the switch. */
static uint64_t stop_before(const struct run_time_cpu *cpu, const struct trace_sched_switch *sw, uint64_t ns)
{
	uint64_t silence_ns = cpu->last_ns && sw->prev_tid ? ns - cpu->last_ns : 0;

	return silence_ns > SLACK_NS ? silence_ns : 0;
}

static void on_switch(struct run_time *r, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_sched_switch *sw = event->payload;
	struct run_time_cpu *cpu = cpu_of(r, analysis, event->cpu);
	struct run_time_row *row = row_of(r, sw->next_tid);
	uint64_t either = row->woken_ns ? event->ts_ns - row->woken_ns : 0;

	either = either < MAX_TICK_NS ? either : MAX_TICK_NS;
	either += stop_before(cpu, sw, event->ts_ns);
	row->either_ns += either;
	row->woken_ns = 0;
	row = row_of(r, sw->prev_tid);
	row->either_ns += either;
	if (sw->prev_state || sw->preempt)
		on_edge(cpu, row, event->ts_ns);
	close_ticks(row);
	cpu->edge_ns = event->ts_ns;
	cpu->nesting = 0;
}

static void count_timer(struct timer_count *t, struct run_time_cpu *cpu, bool is_user, uint64_t ns)
{
	uint64_t begin_ns = cpu->nesting ? cpu->begin_ns : ns;

	if (!is_user || cpu->nesting > 1) {
		t->system++;
		return;
	}
	t->user++;
	cpu->has_tick = true;
	t->is_open = begin_ns >= cpu->edge_ns + DOUBT_NS;
	t->doubtful += !t->is_open;
}

static void on_timer(struct run_time *r, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_hrtimer_expire *timer = event->payload;
	const struct trace_thread *thread = trace_thread_on_cpu(analysis, event->cpu);
	struct run_time_row *row;

	if (!thread)
		return;
	row = row_of(r, trace_thread_tid(thread));
	for (int i = 0; i < NR_TIMERS; i++) {
		struct timer_count *t = &row->timers[i];

		if (t->function && t->function != timer->func)
			continue;
		t->function = timer->func;
		count_timer(t, cpu_of(r, analysis, event->cpu), row->state == TRACE_STATE_USER, event->ts_ns);
		return;
	}
}

static void on_interrupt(struct run_time_cpu *cpu, uint64_t ns, bool begins)
{
	if (begins && !cpu->nesting++)
		cpu->begin_ns = ns;
	if (begins)
		return;
	cpu->nesting -= cpu->nesting > 0;
	cpu->edge_ns = ns; /* another interrupt may be due at once */
	if (cpu->has_tick)
		cpu->tick_end_ns = ns;
	cpu->has_tick &= cpu->nesting > 0;
}

/* ---- at the end of a thread ---- */

/* The greatest common divisor; one of them may be 0. */
static uint64_t divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* NULL: there is no room. */
static struct timer_fit *fit_of(struct run_time *r, uint64_t function)
{
	for (int i = 0; i < NR_TIMERS; i++)
		if (!r->fits[i].function || r->fits[i].function == function) {
			r->fits[i].function = function;
			return &r->fits[i];
		}
	return NULL;
}

/* May the timer have expired once for each counted tick? */
static bool fits(const struct run_time *r, const struct timer_count *t, uint64_t counted_ns, uint64_t stolen_ns)
{
	uint64_t ns = (t->user + t->system) * r->tick_ns;

	return ns + r->tick_ns >= counted_ns && ns <= counted_ns + r->tick_ns + stolen_ns;
}

/* The function of the tick's timer; NULL: none fits, several do, or the ticks are too few. */
static const struct timer_count *tick_of(struct run_time *r, const struct run_time_row *row, uint64_t counted_ns)
{
	uint64_t stolen = r->stolen_ns - row->stolen_ns;
	const struct timer_count *tick = NULL;
	bool several = false;

	for (int i = 0; i < NR_TIMERS; i++) {
		const struct timer_count *t = &row->timers[i];
		bool is_short = t->user + t->system < MIN_TICKS;
		struct timer_fit *fit = is_short ? NULL : fit_of(r, t->function);
		bool is_known = fit && fit->misfits <= fit->fits;

		several |= is_short && t->function && fits(r, t, counted_ns, stolen);
		if (!fit)
			continue;
		if (!fits(r, t, counted_ns, stolen)) {
			fit->misfits++;
			continue;
		}
		fit->fits++;
		several |= tick != NULL;
		tick = is_known ? t : tick;
	}
	return several ? NULL : tick;
}

/* @text is broken if @ns are more than @most, and the host has not taken the rest. */
static void too_much(struct run_time *r, struct trace_analysis *analysis, const struct trace_thread *thread,
		     const struct trace_event *event, uint64_t ns, uint64_t most, const char *text)
{
	struct late_check *late = &cpu_of(r, analysis, event->cpu)->late;

	if (ns <= most || late->thread)
		return;
	*late = (struct late_check){
		.thread = thread, .ns = event->ts_ns, .excess_ns = ns - most, .stolen_ns = r->stolen_ns};
	snprintf(late->text, sizeof(late->text), "%s", text);
}

/* The first switch is the thread's own. */
static void judge_late(struct run_time *r, struct late_check *late)
{
	if (!late->thread || ++late->switches < 2)
		return;
	if (r->stolen_ns - late->stolen_ns < late->excess_ns)
		rules_broken(r->rules, late->ns, late->thread, "%s", late->text);
	late->thread = NULL;
}

static void compare_ticks(struct run_time *r, struct trace_analysis *analysis, const struct trace_thread *thread,
			  const struct run_time_row *row, const struct trace_event *event)
{
	const struct trace_exit_times *times = event->payload;
	const struct timer_count *tick;
	uint64_t tick_ns = r->tick_ns, slack;
	char text[160];

	tick = tick_ns >= MIN_TICK_NS && tick_ns <= MAX_TICK_NS ? tick_of(r, row, times->utime_ns + times->stime_ns)
								: NULL;
	if (!tick)
		return;
	slack = (SLACK_TICKS + tick->user * LATE_TICKS / LATE_OF) * tick_ns + r->stolen_ns - row->stolen_ns;
	snprintf(text, sizeof(text),
		 "was in its own code at %" PRIu64 " timer ticks, %" PRIu64
		 " of them doubtful, the kernel counted %" PRIu64 " (exit_times)",
		 tick->user, tick->doubtful, times->utime_ns / tick_ns);
	too_much(r, analysis, thread, event, (tick->user - tick->doubtful) * tick_ns, times->utime_ns + slack, text);
	if (tick->user * tick_ns + slack < times->utime_ns)
		rules_broken(r->rules, event->ts_ns, thread, "%s", text);
}

static void compare_run_time(struct run_time *r, struct trace_analysis *analysis, const struct trace_thread *thread,
			     const struct run_time_row *row, const struct trace_event *event)
{
	const struct trace_exit_times *times = event->payload;
	struct trace_times own;
	uint64_t cpu_ns, slack;
	char text[160];

	trace_thread_times(analysis, thread, &own);
	cpu_ns = own.user_ns + own.syscall_ns + own.trap_ns;
	slack = SLACK_NS + times->switches * SLACK_PER_SWITCH_NS + cpu_ns / SLACK_SHARE + row->either_ns +
		r->stolen_ns - row->stolen_ns;
	snprintf(text, sizeof(text),
		 "has %" PRIu64 " ns of CPU time and was interrupted for %" PRIu64 " ns, the kernel counted %" PRIu64
		 " ns (exit_times)",
		 cpu_ns, own.interrupted_ns, times->run_ns);
	too_much(r, analysis, thread, event, cpu_ns, times->run_ns + slack, text);
	if (times->run_ns > cpu_ns + own.interrupted_ns + row->unknown_ns + slack)
		rules_broken(r->rules, event->ts_ns, thread, "%s", text);
}

static void on_exit_times(struct run_time *r, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_exit_times *times = event->payload;
	const struct trace_thread *thread = trace_find_thread(analysis, times->tid);
	struct run_time_row *row = row_of(r, times->tid);

	r->tick_ns = divisor(divisor(r->tick_ns, times->utime_ns), times->stime_ns);
	if (!thread || !row->fork_ns || row->fork_ns != trace_thread_start_ns(thread) ||
	    trace_thread_is_kernel(thread) || !rules_are_sure(r->rules, row->fork_ns, event->ts_ns))
		return;
	compare_run_time(r, analysis, thread, row, event);
	compare_ticks(r, analysis, thread, row, event);
}

/* ---- hooks ---- */

static void on_fork(struct run_time *r, const struct trace_event *event)
{
	const struct trace_sched_fork *fork = event->payload;
	struct run_time_row *row = row_of(r, fork->tid);

	*row = (struct run_time_row){.key = row->key, .fork_ns = event->ts_ns, .stolen_ns = r->stolen_ns};
}

static void on_wakeup(struct run_time *r, uint32_t tid, uint64_t ns)
{
	struct run_time_row *row = row_of(r, tid);

	row->woken_ns = row->woken_ns ? row->woken_ns : ns;
}

/* Only an exception of its own shows that the thread has entered the kernel. */
static bool is_for_another(const struct trace_event *event, const struct trace_thread *thread)
{
	return event->id == TRACE_EV_signal_generate &&
	       ((const struct trace_signal_generate *)event->payload)->tid != trace_thread_tid(thread);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread;
	struct run_time *r = data;

	switch (event->id) {
	case TRACE_EV_sched_fork:
		on_fork(r, event);
		break;
	case TRACE_EV_sched_waking:
		on_wakeup(r, ((const struct trace_sched_waking *)event->payload)->tid, event->ts_ns);
		break;
	case TRACE_EV_sched_wakeup_new:
		on_wakeup(r, ((const struct trace_sched_wakeup_new *)event->payload)->tid, event->ts_ns);
		break;
	case TRACE_EV_sched_switch:
		on_switch(r, analysis, event);
		judge_late(r, &cpu_of(r, analysis, event->cpu)->late);
		break;
	case TRACE_EV_cpu_stolen:
		r->stolen_ns += ((const struct trace_cpu_stolen *)event->payload)->ns;
		break;
	case TRACE_EV_exit_times:
		on_exit_times(r, analysis, event);
		break;
	case TRACE_EV_hrtimer_expire:
		on_timer(r, analysis, event);
		break;
	case TRACE_EV_irq_entry:
	case TRACE_EV_softirq_entry:
	case TRACE_EV_vector_entry:
		on_interrupt(cpu_of(r, analysis, event->cpu), event->ts_ns, true);
		break;
	case TRACE_EV_irq_exit:
	case TRACE_EV_softirq_exit:
	case TRACE_EV_vector_exit:
		on_interrupt(cpu_of(r, analysis, event->cpu), event->ts_ns, false);
		break;
	default: /* a call or a page fault begins or ends, or the thread gets a signal */
		thread = trace_thread_on_cpu(analysis, event->cpu);
		if (!thread || is_for_another(event, thread))
			break;
		on_edge(cpu_of(r, analysis, event->cpu), row_of(r, trace_thread_tid(thread)), event->ts_ns);
		close_ticks(row_of(r, trace_thread_tid(thread)));
	}
	cpu_of(r, analysis, event->cpu)->last_ns = event->ts_ns;
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *i)
{
	struct run_time_row *row = row_of(data, trace_thread_tid(i->thread));

	(void)analysis;
	if (i->state != TRACE_STATE_BLOCKED)
		row->state = i->state;
	else if (i->kind == TRACE_WAIT_UNKNOWN)
		row->unknown_ns += i->to_ns - i->from_ns;
}

static bool steal_is_traced(const struct trace *trace)
{
	for (size_t i = 0; trace_not_traced(trace, i); i++)
		if (strncmp(trace_not_traced(trace, i), "cpu_stolen", 10) == 0)
			return false;
	return true;
}

void *rule_run_time_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sched_fork,	TRACE_EV_sched_waking, TRACE_EV_sched_wakeup_new,
				       TRACE_EV_sched_switch,	TRACE_EV_cpu_stolen,   TRACE_EV_exit_times,
				       TRACE_EV_hrtimer_expire, TRACE_EV_irq_entry,    TRACE_EV_softirq_entry,
				       TRACE_EV_vector_entry,	TRACE_EV_irq_exit,     TRACE_EV_softirq_exit,
				       TRACE_EV_vector_exit,	TRACE_EV_sys_enter,    TRACE_EV_sys_enter3,
				       TRACE_EV_sys_enter6,	TRACE_EV_fault_entry,  TRACE_EV_signal_deliver,
				       TRACE_EV_sys_exit,	TRACE_EV_fault_exit,   TRACE_EV_task_work_end,
				       TRACE_EV_signal_generate};
	uint32_t states = 1u << TRACE_STATE_USER | 1u << TRACE_STATE_SYSCALL | 1u << TRACE_STATE_TRAP |
			  1u << TRACE_STATE_BLOCKED;
	struct run_time *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->rules = rules;
	if (!steal_is_traced(rules_trace(rules)))
		return r;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, r) ||
	    trace_analysis_on_interval_of(rules_analysis(rules), states, on_interval, r) < 0) {
		rule_run_time_end(r);
		return NULL;
	}
	return r;
}

void rule_run_time_end(void *data)
{
	struct run_time *r = data;

	table_clear(&r->threads);
	free(r->cpus);
	free(r);
}
