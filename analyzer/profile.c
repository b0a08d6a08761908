/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile.c - a profile of an analysis: its hooks, and its results.
 *
 * The interval hook adds the time of each interval to a stratum. The event hook finds the stratum
 * of a sample from the state at its time. Both use the same texts of the analysis, so a sample is
 * in the stratum of the interval in which it falls, although that interval is not closed yet.
 *
 * The timer that takes a sample is an interrupt itself. The sample belongs to what the interrupt
 * interrupted: an outer interrupt or softirq, or else the thread. One that an event of the
 * processor took belongs to what ran, an interrupt too.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "accounting.h"
#include "error_set.h"
#include "hooks.h"
#include "profile_frames.h"
#include "profile_parts.h"
#include "profile_pending.h"
#include "profile_spans.h"
#include "profile_strata.h"
#include "profile_take.h"
#include "profile_verify.h"
#include "profile_waits.h"
#include "profile_wakers.h"
#include "state.h"
#include "state_cause.h"
#include "wait_object.h"
#include "window.h"

/**
 * struct frame_owner_row - the owner of frames that a process has now; 0: another one with the next
 * sample
 */
struct frame_owner_row {
	uint64_t key; /* address of the process */
	uint32_t owner;
};

struct trace_profile {
	struct trace_analysis *analysis; /* borrowed */
	struct strata strata;
	struct frame_tree frames;
	struct hash_table owners;
	struct hash_table pending; /* stacks of waits: profile_pending.h */
	struct hash_table parts;   /* of long stacks: profile_parts.h */
	struct waits waits;
	struct wakers wakers;
	struct trace_profile_numbers numbers;
	struct profile_spans spans;
	struct profile_spans labels;
	bool by_cpu;
	uint64_t from_ns, to_ns; /* if it is of a log: its time */
	bool is_of_log;
	bool is_divided;
	int failed;
	/* where trace_profile_get_share() is: the share @at is group @group of stratum @stratum */
	size_t at;
	uint32_t stratum, group;
};

/* ---- strata ---- */

/* Texts of the analysis are equal if their addresses are; but "" has one in each file. */
const char *profile_text(const char *text)
{
	static const char none[] = "";

	return text && *text ? text : none;
}

struct stratum profile_content(const struct trace_analysis *analysis, const struct trace_interval *interval)
{
	bool blocked = interval->state == TRACE_STATE_BLOCKED;

	return (struct stratum){.thread = interval->thread,
				.state = interval->state,
				.kind = blocked ? interval->kind : TRACE_WAIT_FILE,
				.idle = blocked && interval->idle,
				.name = profile_text(interval->name),
				.target = profile_text(blocked ? interval->target : NULL),
				.via = profile_text(blocked ? interval->via : NULL),
				.path = profile_text(blocked ? interval->path : NULL),
				.other = blocked ? interval->other : NULL,
				.other_thread = blocked ? wait_thread_now(analysis) : NULL};
}

/* False: nothing of it is in the time of the profile. */
static bool cut(const struct trace_profile *profile, uint64_t *from_ns, uint64_t *to_ns)
{
	if (!profile->is_of_log)
		return window_cut(profile->analysis->window, from_ns, to_ns);
	*from_ns = *from_ns > profile->from_ns ? *from_ns : profile->from_ns;
	*to_ns = *to_ns < profile->to_ns ? *to_ns : profile->to_ns;
	return *from_ns < *to_ns;
}

/* All of it has the label of @content. */
static void take_piece(struct trace_profile *profile, const struct stratum *content, uint64_t from_ns, uint64_t to_ns)
{
	struct waited waited = {.thread = content->thread, .from_ns = from_ns, .to_ns = to_ns};
	struct stratum *stratum;

	if (!cut(profile, &from_ns, &to_ns))
		return;
	waited.ns = profile->spans.is_set
			    ? profile_spans_ns(&profile->spans, trace_thread_index(content->thread), from_ns, to_ns)
			    : to_ns - from_ns;
	stratum = waited.ns ? stratum_of(&profile->strata, content) : NULL;
	if (!stratum)
		return;
	stratum->ns += waited.ns;
	stratum->intervals++;
	waited.stratum = (uint32_t)(stratum - profile->strata.list);
	if (content->state == TRACE_STATE_BLOCKED)
		waits_add(&profile->waits, &profile->strata, &waited);
}

void profile_take_interval(struct trace_profile *profile, const struct stratum *content, uint64_t from_ns,
			   uint64_t to_ns)
{
	struct stratum piece = *content;

	if (!profile->labels.nr || !waits_is_on_cpu(content->state)) {
		take_piece(profile, content, from_ns, to_ns);
		return;
	}
	for (uint64_t end_ns; from_ns < to_ns; from_ns = end_ns) {
		end_ns = to_ns;
		piece.label = profile_spans_label(&profile->labels, trace_thread_index(content->thread), from_ns,
						  &end_ns);
		take_piece(profile, &piece, from_ns, end_ns);
	}
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	uint64_t from_ns = interval->from_ns, to_ns = interval->to_ns;
	struct trace_profile *profile = data;
	struct stratum content;

	if (waits_is_on_cpu(interval->state))
		waits_ran(&profile->waits, interval->thread, interval->to_ns);
	if (!cut(profile, &from_ns, &to_ns))
		return;
	content = profile_content(analysis, interval);
	if (profile->by_cpu && waits_is_on_cpu(interval->state))
		content.cpu = (uint32_t)(interval->cpu + 1);
	profile_take_interval(profile, &content, interval->from_ns, interval->to_ns);
}

/* The time in the stratum @running was in the mode @state. */
static void merge_running(struct strata *strata, const struct stratum *running, enum trace_state state)
{
	struct stratum wanted = *running, known = *running;

	known.state = state;
	if (!stratum_of(strata, &wanted) || !stratum_of(strata, &known))
		return;
	/* the list may have moved */
	stratum_merge(strata, stratum_of(strata, &known), stratum_of(strata, &wanted));
}

/* A thread ran before its first event: now it is known in which mode. */
void profile_take_mode(struct trace_profile *profile, const struct trace_thread *thread, bool in_syscall)
{
	enum trace_state state = in_syscall ? TRACE_STATE_SYSCALL : TRACE_STATE_USER;
	struct stratum running = {.thread = thread, .state = TRACE_STATE_RUNNING};
	uint32_t nr = profile->by_cpu || profile->labels.nr ? profile->strata.nr : 0;

	running.name = running.target = running.via = running.path = profile_text(NULL);
	if (!nr)
		merge_running(&profile->strata, &running, state);
	for (uint32_t i = 0; i < nr; i++) {
		const struct stratum *part = &profile->strata.list[i];

		if (part->thread != thread || part->state != TRACE_STATE_RUNNING)
			continue;
		running.cpu = part->cpu;
		running.label = part->label;
		merge_running(&profile->strata, &running, state);
	}
}

static void on_mode(void *data, struct trace_analysis *analysis, const struct trace_thread *thread, bool in_syscall)
{
	profile_take_mode(data, thread, in_syscall);
}

/* ---- stacks ---- */

/* That of the thread of @facts, or of the one that an interrupt woke. */
static uint32_t owner_of(struct trace_profile *profile, const struct sample_facts *facts, uint64_t ts_ns)
{
	const struct trace_thread *thread = facts->thread ? facts->thread : facts->woken;
	struct frame_owner_row *row = table_add(&profile->owners, sizeof(*row),
						(uintptr_t)trace_thread_process(thread));

	if (!row) {
		profile->frames.failed = -ENOMEM;
		return 0;
	}
	if (!row->owner)
		row->owner = 1 + frame_owner_add(&profile->frames, facts->tid, ts_ns);
	return row->owner - 1;
}

/* The process runs other code from now on. */
void profile_take_exec(struct trace_profile *profile, const struct trace_thread *thread)
{
	struct frame_owner_row *row = table_find(&profile->owners, sizeof(*row),
						 (uintptr_t)trace_thread_process(thread));

	if (row)
		row->owner = 0;
}

/**
 * struct stack - of a sample being added; @caller: the last frame, from the outermost inwards
 * @end: enum trace_profile_end
 * @list: of trace_profile_stack_of(), with @room frames; NULL: frames go into the tree of @profile
 * @parts: the callers that are not in @event; NULL: none
 */
struct stack {
	struct trace_profile *profile;
	const struct trace_event *event;
	const struct stack_parts *parts;
	uint32_t owner;
	uint32_t caller;
	uint32_t end;
	struct trace_profile_frame *list;
	size_t nr, room;
};

static struct trace_profile_frame frame_with(uint64_t address, uint32_t caller, uint32_t flags)
{
	return (struct trace_profile_frame){.address = address,
					    .caller = caller,
					    .in_kernel = flags & FRAME_IN_KERNEL,
					    .is_claimed = flags & FRAME_IS_CLAIMED,
					    .is_cut = flags & FRAME_IS_CUT,
					    .is_caller = flags & FRAME_IS_CALLER,
					    .end = flags / FRAME_END};
}

static void push_to_list(struct stack *stack, uint64_t address, uint32_t flags)
{
	const struct trace_sample *sample = stack->event->payload;
	struct trace_profile_frame frame = frame_with(address, stack->caller, flags);

	if (stack->nr == stack->room)
		return;
	frame.tid = sample->tid;
	frame.ts_ns = stack->event->ts_ns;
	stack->caller = (uint32_t)stack->nr;
	stack->list[stack->nr++] = frame;
}

static void push(struct stack *stack, uint64_t address, uint32_t flags)
{
	uint32_t frame;

	flags |= stack->caller == NO_FRAME ? stack->end * FRAME_END : 0;
	if (stack->list) {
		push_to_list(stack, address, flags);
		return;
	}
	frame = frame_add(&stack->profile->frames, &(struct stack_frame){.address = address,
									 .caller = stack->caller,
									 .owner = stack->owner & FRAME_MAX_OWNER,
									 .flags = flags});
	if (frame != NO_FRAME)
		stack->caller = frame;
}

/**
 * struct address_list - a field of a sample: return addresses, innermost first
 * @flags: FRAME_* of all of them. @first: of the first one. @is_cut: there were more
 * @certain: the first ones that no frame pointer led to. @nr_others: words behind the addresses
 */
struct address_list {
	const char *field;
	uint32_t flags, first;
	size_t certain, nr_others;
	bool is_cut;
};

static const unsigned char *addresses_of(const struct trace_event *event, const char *field, size_t *ret_nr)
{
	size_t bytes;
	const unsigned char *addresses = trace_event_bytes(event, trace_type_field(event->type, field), &bytes);

	*ret_nr = addresses ? bytes / sizeof(uint64_t) : 0;
	return addresses;
}

static void push_addresses(struct stack *stack, const void *addresses, size_t nr, const struct address_list *list)
{
	for (size_t i = nr; i-- > 0;) {
		uint32_t flags = i ? list->flags : list->first;
		uint64_t address;

		memcpy(&address, (const unsigned char *)addresses + i * sizeof(address), sizeof(address));
		if (i < list->certain)
			flags &= ~(uint32_t)FRAME_IS_CLAIMED;
		push(stack, address, flags | (i + 1 == nr && list->is_cut ? FRAME_IS_CUT : 0));
	}
}

static void push_list(struct stack *stack, const struct address_list *list)
{
	size_t nr;
	const unsigned char *addresses = addresses_of(stack->event, list->field, &nr);

	push_addresses(stack, addresses, nr > list->nr_others ? nr - list->nr_others : 0, list);
}

enum { CUT_IN_KERNEL = 1, CUT_IN_PROGRAM = 2, CUT_END_SHIFT = 3, CUT_BY_EVENT = 128 }; /* trace_sample.cut */
enum { CALLERS_IN_PROGRAM = FRAME_IS_CALLER | FRAME_IS_CLAIMED };

static bool is_cut_in_program(const struct trace_sample *sample, const struct stack_parts *parts)
{
	return parts ? (parts->end >> CUT_END_SHIFT & 7) == TRACE_PROFILE_END_TOO_LONG : sample->cut & CUT_IN_PROGRAM;
}

/* The callers of the program's that are in records of their own; returns whether the list of the
 * sample itself is the end of what is known. */
static bool push_parts(struct stack *stack, const struct trace_sample *sample)
{
	const struct stack_parts *parts = stack->parts;
	bool is_cut = is_cut_in_program(sample, parts);

	stack->end = (parts ? parts->end : sample->cut) >> CUT_END_SHIFT & 7;
	if (!parts)
		return is_cut;
	push_addresses(stack, parts->callers, parts->nr,
		       &(struct address_list){.flags = CALLERS_IN_PROGRAM,
					      .first = CALLERS_IN_PROGRAM,
					      .certain = parts->certain,
					      .is_cut = is_cut});
	return false;
}

static void push_sample(struct stack *stack, const struct trace_sample *sample)
{
	bool is_cut = push_parts(stack, sample);

	/* the first address of a sample in the kernel is where the thread left user mode */
	push_list(stack, &(struct address_list){.field = "user",
						.flags = CALLERS_IN_PROGRAM,
						.first = sample->in_user ? CALLERS_IN_PROGRAM : 0,
						.certain = sample->certain + !sample->in_user,
						.is_cut = is_cut});
	push_list(stack, &(struct address_list){.field = "kernel",
						.flags = FRAME_IN_KERNEL,
						.first = FRAME_IN_KERNEL,
						.nr_others = sample->source >= SOURCE_WAKER,
						.is_cut = sample->cut & CUT_IN_KERNEL});
	push(stack, sample->ip, sample->in_user ? 0 : FRAME_IN_KERNEL);
}

static uint32_t stack_of(struct trace_profile *profile, const struct trace_event *event,
			 const struct sample_facts *facts, const struct stack_parts *parts)
{
	struct stack stack = {.profile = profile, .event = event, .parts = parts, .caller = NO_FRAME};

	stack.owner = owner_of(profile, facts, event->ts_ns);
	push_sample(&stack, event->payload);
	return stack.caller;
}

bool profile_is_sample(const struct trace_event *event)
{
	return event->id == TRACE_EV_sample && event->type->fixed_bytes >= sizeof(struct trace_sample);
}

size_t trace_profile_stack_of(const struct trace_event *event,
			      struct trace_profile_frame ret_frames[TRACE_PROFILE_MAX_FRAMES])
{
	struct stack stack = {.event = event, .caller = NO_FRAME, .list = ret_frames, .room = TRACE_PROFILE_MAX_FRAMES};
	const struct trace_sample *sample = event->payload;

	if (profile_is_sample(event) && sample->source == SOURCE_TIMER)
		push_sample(&stack, sample);
	return stack.nr;
}

/* The list of the kernel's addresses ends with the tid of the woken thread; 0: there is none. */
static uint32_t woken_tid(const struct trace_event *event)
{
	size_t nr;
	const unsigned char *kernel = addresses_of(event, "kernel", &nr);
	uint64_t tid = 0;

	if (nr)
		memcpy(&tid, kernel + (nr - 1) * sizeof(tid), sizeof(tid));
	return (uint32_t)tid;
}

size_t trace_profile_waker_stack_of(const struct trace_event *event, uint32_t *ret_woken,
				    enum trace_profile_waker *ret_kind,
				    struct trace_profile_frame ret_frames[TRACE_PROFILE_MAX_FRAMES])
{
	static const enum trace_profile_waker kinds[] = {
		[SOURCE_WAKER] = TRACE_PROFILE_WAKER_THREAD,
		[SOURCE_WAKER_SOFTIRQ] = TRACE_PROFILE_WAKER_SOFTIRQ,
		[SOURCE_WAKER_INTERRUPT] = TRACE_PROFILE_WAKER_INTERRUPT,
	};
	struct stack stack = {.event = event, .caller = NO_FRAME, .list = ret_frames, .room = TRACE_PROFILE_MAX_FRAMES};
	const struct trace_sample *sample = event->payload;

	if (!profile_is_sample(event) || sample->source < SOURCE_WAKER || sample->source > SOURCE_WAKER_INTERRUPT ||
	    !woken_tid(event))
		return 0;
	*ret_woken = woken_tid(event);
	*ret_kind = kinds[sample->source];
	push_sample(&stack, sample);
	return stack.nr;
}

/* ---- samples ---- */

/* The thread that had the CPU, or NULL: not known, or the events before contradict the sample. */
static const struct trace_thread *thread_of(const struct trace_analysis *a, uint32_t cpu,
					    const struct trace_sample *sample)
{
	const struct trace_thread *thread = trace_thread_on_cpu(a, cpu);

	return thread && trace_thread_tid(thread) == sample->tid ? thread : NULL;
}

/* The timer interrupts with interrupts off, so the innermost one of the hardware is its own. An
 * event has none that is recorded. */
static unsigned int nested_below(const struct cpu *cpu, const struct trace_sample *sample)
{
	unsigned int nested = cpu->nested;

	return nested && cpu->nest[nested - 1].type != NEST_SOFTIRQ && !(sample->cut & CUT_BY_EVENT) ? nested - 1
												     : nested;
}

/* When the sampled code ran. The timer's interrupt began behind it, and until then is accounted. */
static uint64_t code_ns(const struct cpu *cpu, const struct trace_event *event)
{
	return nested_below(cpu, event->payload) < cpu->nested && cpu->accounted_ns ? cpu->accounted_ns - 1
										    : event->ts_ns;
}

static void facts_of_timer(struct trace_analysis *a, const struct trace_event *event, struct sample_facts *facts)
{
	struct cpu *cpu = &a->cpus[event->cpu];

	facts->thread = thread_of(a, event->cpu, event->payload);
	if (!facts->thread)
		return;
	facts->code_ns = code_ns(cpu, event);
	facts->state = acct_state_now(a, cpu, nested_below(cpu, event->payload), &facts->name);
	facts->name = profile_text(facts->name);
}

static void add_sample(struct trace_profile *profile, const struct trace_event *event, const struct sample_facts *facts)
{
	const struct trace_sample *sample = event->payload;
	const struct stack_parts *parts = stack_parts_take(&profile->parts, event);
	const struct trace_thread *thread = facts->thread;
	struct stratum wanted = {.thread = thread, .state = facts->state, .name = facts->name}, *stratum;

	if (profile->spans.is_set &&
	    (!thread || !profile_spans_have(&profile->spans, trace_thread_index(thread), facts->code_ns)))
		return;
	profile->numbers.samples++;
	profile->numbers.cut += (sample->cut & CUT_IN_KERNEL) || is_cut_in_program(sample, parts);
	if (!thread) {
		profile->numbers.unplaced++;
		return;
	}
	wanted.target = wanted.via = wanted.path = profile_text(NULL);
	wanted.cpu = profile->by_cpu ? event->cpu + 1 : 0;
	if (profile->labels.nr)
		wanted.label = profile_spans_label(&profile->labels, trace_thread_index(thread), facts->code_ns, NULL);
	stratum = stratum_of(&profile->strata, &wanted);
	if (stratum)
		stratum_add_samples(&profile->strata, stratum, stack_of(profile, event, facts, parts), 1);
}

/* ---- stacks of waits ---- */

/* @exit: the sample with the program's part; NULL: there is none */
static void add_wait_stack(struct trace_profile *profile, const struct sample_facts *facts,
			   const struct pending_stack *pending, const struct trace_event *exit,
			   const struct stack_parts *parts)
{
	struct stack stack = {.profile = profile, .event = exit, .caller = NO_FRAME};
	const struct trace_sample *sample = exit ? exit->payload : NULL;

	stack.owner = owner_of(profile, facts, pending->ts_ns);
	if (sample && sample->ip == pending->user_ip) {
		bool is_cut;

		stack.parts = parts;
		is_cut = push_parts(&stack, sample);
		push_list(&stack, &(struct address_list){.field = "user",
							 .flags = CALLERS_IN_PROGRAM,
							 .first = CALLERS_IN_PROGRAM,
							 .certain = sample->certain,
							 .is_cut = is_cut});
	}
	if (pending->user_ip)
		push(&stack, pending->user_ip, 0);
	push_addresses(
		&stack, pending->kernel, pending->nr_kernel,
		&(struct address_list){.flags = FRAME_IN_KERNEL, .first = FRAME_IN_KERNEL, .is_cut = pending->is_cut});
	if (stack.caller != NO_FRAME)
		waits_add_stack(&profile->waits, &profile->strata, facts->thread, pending->since_ns,
				&(struct wait_record){.ts_ns = pending->ts_ns,
						      .woken_ns = pending->woken_ns,
						      .is_woken = pending->is_woken,
						      .waker = pending->waker,
						      .frame = stack.caller});
}

/* The stacks of all waits in the call that the thread of @facts leaves. */
static void end_pending(struct trace_profile *profile, const struct sample_facts *facts, const struct trace_event *exit)
{
	const struct stack_parts *parts = exit ? stack_parts_take(&profile->parts, exit) : NULL;

	for (const struct pending_stack *at = pending_first(&profile->pending, facts->thread); at; at = at->next)
		add_wait_stack(profile, facts, at, exit, parts);
	pending_drop(&profile->pending, facts->thread);
}

static void keep_wait(struct trace_profile *profile, const struct trace_event *event, const struct sample_facts *facts)
{
	const struct trace_thread *thread = facts->thread;
	const struct trace_sample *sample = event->payload;
	size_t nr_kernel, nr_user;
	const unsigned char *kernel = addresses_of(event, "kernel", &nr_kernel),
			    *user = addresses_of(event, "user", &nr_user);
	const struct pending_stack *before = pending_first(&profile->pending, thread);
	struct pending_stack *pending;
	uint64_t user_ip = 0;

	if (nr_user)
		memcpy(&user_ip, user, sizeof(user_ip));
	if (before && before->user_ip != user_ip)
		end_pending(profile, facts, NULL); /* the exit of that call is not recorded */
	pending = pending_add(&profile->pending, thread, nr_kernel + 1);
	if (!pending) {
		profile->failed = -ENOMEM;
		return;
	}
	pending->since_ns = facts->since_ns;
	pending->ts_ns = event->ts_ns;
	pending->user_ip = user_ip;
	pending->is_cut = sample->cut & CUT_IN_KERNEL;
	pending->is_woken = sample->certain;
	if (pending->is_woken)
		pending->waker = wakers_take(&profile->wakers, thread, pending->since_ns, &pending->woken_ns);
	pending->kernel[0] = sample->ip;
	if (nr_kernel)
		memcpy(pending->kernel + 1, kernel, nr_kernel * sizeof(uint64_t));
	if (!user_ip)
		end_pending(profile, facts, NULL);
}

static void add_wait(struct trace_profile *profile, const struct trace_event *event, const struct sample_facts *facts)
{
	const struct trace_sample *sample = event->payload;

	profile->numbers.wait_stacks += sample->source == SOURCE_WAIT;
	if (!facts->thread)
		return;
	if (sample->source == SOURCE_WAIT)
		keep_wait(profile, event, facts);
	else if (sample->source == SOURCE_WAIT_EXIT)
		end_pending(profile, facts, event);
}

/* ---- what woke ---- */

static enum trace_profile_waker kind_of_interrupt(struct trace_analysis *a, const struct trace_event *event)
{
	bool in_softirq = ((const struct trace_sample *)event->payload)->source == SOURCE_WAKER_SOFTIRQ;
	struct waker waker = {0};

	irq_waker(a, &a->cpus[event->cpu], in_softirq ? TRACE_CONTEXT_SOFTIRQ : TRACE_CONTEXT_HARDIRQ, &waker);
	if (waker.cause == CAUSE_TIMER)
		return TRACE_PROFILE_WAKER_TIMER;
	return in_softirq ? TRACE_PROFILE_WAKER_SOFTIRQ : TRACE_PROFILE_WAKER_INTERRUPT;
}

static void facts_of_waker(struct trace_analysis *a, const struct trace_event *event, struct sample_facts *facts)
{
	const struct trace_sample *sample = event->payload;

	facts->woken = woken_tid(event) ? trace_find_thread(a, woken_tid(event)) : NULL;
	if (sample->source == SOURCE_WAKER) {
		facts->thread = trace_find_thread(a, sample->tid);
		facts->waker = TRACE_PROFILE_WAKER_THREAD;
	} else if (facts->woken) {
		facts->waker = kind_of_interrupt(a, event);
	}
}

static void add_waker(struct trace_profile *profile, const struct trace_event *event, const struct sample_facts *facts)
{
	const struct stack_parts *parts = stack_parts_take(&profile->parts, event);
	struct profile_waker waker = {.kind = facts->waker, .thread = facts->thread};

	profile->numbers.waker_stacks++;
	if (!facts->woken || (facts->waker == TRACE_PROFILE_WAKER_THREAD && !facts->thread))
		return;
	waker.frame = stack_of(profile, event, facts, parts);
	if (waker.frame != NO_FRAME)
		wakers_add(&profile->wakers, facts->woken, event->ts_ns, &waker);
}

static void end_waits(struct trace_profile *profile)
{
	size_t nr;
	const struct trace_thread **threads = pending_threads(&profile->pending, &nr);

	if (!threads)
		profile->failed = -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		end_pending(profile, &(struct sample_facts){.thread = threads[i], .tid = trace_thread_tid(threads[i])},
			    NULL);
	free(threads);
	waits_end(&profile->waits, &profile->strata);
}

struct sample_facts profile_facts(struct trace_analysis *analysis, struct waits *waits, const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;
	struct sample_facts facts = {.name = profile_text(NULL)};

	if (stack_parts_is_part(event))
		return facts;
	if (sample->source == SOURCE_TIMER)
		facts_of_timer(analysis, event, &facts);
	else if (sample->source >= SOURCE_WAKER)
		facts_of_waker(analysis, event, &facts);
	else
		facts.thread = trace_find_thread(analysis, sample->tid);
	if (sample->source == SOURCE_WAIT && facts.thread)
		facts.since_ns = waits_since(waits, facts.thread);
	if (facts.thread || facts.woken)
		facts.tid = trace_thread_tid(facts.thread ? facts.thread : facts.woken);
	return facts;
}

const struct trace_thread *profile_exec_of(const struct trace_analysis *analysis, const struct trace_event *event)
{
	if (event->id == TRACE_EV_sched_exec && event->type->fixed_bytes >= sizeof(struct trace_sched_exec))
		return trace_find_thread(analysis, ((const struct trace_sched_exec *)event->payload)->tid);
	if (event->id == TRACE_EV_fs_map && event->type->fixed_bytes >= sizeof(struct trace_fs_map))
		return trace_find_thread(analysis, ((const struct trace_fs_map *)event->payload)->pid);
	return NULL;
}

void profile_take_sample(struct trace_profile *profile, const struct trace_event *event,
			 const struct sample_facts *facts)
{
	const struct trace_sample *sample = event->payload;

	if (stack_parts_is_part(event))
		profile->failed = stack_parts_add(&profile->parts, event) ? profile->failed : -ENOMEM;
	else if (sample->source >= SOURCE_WAKER)
		add_waker(profile, event, facts);
	else if (sample->source != SOURCE_TIMER)
		add_wait(profile, event, facts);
	else
		add_sample(profile, event, facts);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = profile_exec_of(analysis, event);
	struct trace_profile *profile = data;
	struct sample_facts facts;

	if (thread)
		profile_take_exec(profile, thread);
	if (!profile_is_sample(event) || analysis->is_before_window || analysis->is_past_window)
		return;
	facts = profile_facts(analysis, &profile->waits, event);
	profile_take_sample(profile, event, &facts);
}

/* ---- begin, end ---- */

struct trace_profile *trace_profile_new(struct trace_analysis *analysis, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_profile *profile = calloc(1, sizeof(*profile));
	int error = profile ? 0 : -ENOMEM;

	mask[TRACE_EV_sample / 64] |= 1ull << TRACE_EV_sample % 64;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	mask[TRACE_EV_fs_map / 64] |= 1ull << TRACE_EV_fs_map % 64;
	if (!error) {
		profile->analysis = analysis;
		error = trace_analysis_on_interval(analysis, on_interval, profile);
	}
	if (!error)
		error = hooks_on_mode(analysis, on_mode, profile);
	if (!error)
		error = trace_analysis_on_event(analysis, mask, on_event, profile);
	if (!error)
		return profile;
	error_set(ret_error, error, error == -EBUSY ? "the pass of the analysis has begun" : "no memory for a profile");
	if (profile)
		trace_analysis_remove_hooks(analysis, profile);
	return trace_profile_free(profile);
}

struct trace_profile *profile_take_new(struct trace_analysis *analysis, uint64_t from_ns, uint64_t to_ns)
{
	struct trace_profile *profile = calloc(1, sizeof(*profile));

	if (profile)
		*profile = (struct trace_profile){
			.analysis = analysis, .is_of_log = true, .from_ns = from_ns, .to_ns = to_ns};
	return profile;
}

struct trace_profile *trace_profile_free(struct trace_profile *profile)
{
	if (!profile)
		return NULL;
	strata_clear(&profile->strata);
	frame_tree_clear(&profile->frames);
	table_clear(&profile->owners);
	pending_clear(&profile->pending);
	stack_parts_clear(&profile->parts);
	waits_clear(&profile->waits);
	wakers_clear(&profile->wakers);
	profile_spans_clear(&profile->spans);
	profile_spans_clear(&profile->labels);
	free(profile);
	return NULL;
}

struct trace_profile *trace_profile_new_within(struct trace_analysis *analysis, const struct trace_profile_span *spans,
					       size_t nr, struct trace_error *ret_error)
{
	struct trace_profile *profile = trace_profile_new(analysis, ret_error);
	int error = profile ? profile_spans_set(&profile->spans, spans, nr) : 0;

	if (!error)
		return profile;
	error_set(ret_error, error,
		  error == -EINVAL ? "a span of the profile is impossible" : "no memory for a profile");
	trace_analysis_remove_hooks(analysis, profile);
	return trace_profile_free(profile);
}

void trace_profile_split_by_cpu(struct trace_profile *profile)
{
	profile->by_cpu = true;
}

int trace_profile_set_labels(struct trace_profile *profile, const struct trace_profile_span *spans, size_t nr)
{
	int error;

	profile_spans_clear(&profile->labels);
	error = profile_spans_set(&profile->labels, spans, nr);
	if (error)
		profile_spans_clear(&profile->labels);
	return error;
}

int trace_profile_error(const struct trace_profile *profile)
{
	return profile->failed		? profile->failed
	       : profile->strata.failed ? profile->strata.failed
	       : profile->waits.failed	? profile->waits.failed
	       : profile->wakers.failed ? profile->wakers.failed
					: profile->frames.failed;
}

/* ---- results ---- */

bool trace_profile_get_frame(const struct trace_profile *profile, uint32_t number,
			     struct trace_profile_frame *ret_frame)
{
	const struct stack_frame *frame;

	if (number >= profile->frames.nr)
		return false;
	frame = &profile->frames.frames[number];
	*ret_frame = frame_with(frame->address, frame->caller, frame->flags);
	ret_frame->tid = profile->frames.owners[frame->owner].tid;
	ret_frame->ts_ns = profile->frames.owners[frame->owner].ts_ns;
	return true;
}

static void divide(struct trace_profile *profile)
{
	if (profile->is_divided)
		return;
	profile->is_divided = true;
	end_waits(profile);
	frame_tree_end(&profile->frames);
	if (strata_split(&profile->strata))
		profile->failed = -ENOMEM;
	profile->group = profile->strata.nr ? profile->strata.list[0].first : NO_GROUP;
}

/* The next share: the next group of the stratum, or the first one of the next stratum. */
static void advance(struct trace_profile *profile)
{
	const struct strata *strata = &profile->strata;

	profile->at++;
	if (profile->group != NO_GROUP)
		profile->group = strata->groups[profile->group].next;
	if (profile->group != NO_GROUP)
		return;
	profile->stratum++;
	if (profile->stratum < strata->nr)
		profile->group = strata->list[profile->stratum].first;
}

/* A stratum without time and samples has been merged into another. */
static bool is_share(const struct trace_profile *profile)
{
	const struct stratum *stratum = &profile->strata.list[profile->stratum];

	if (stratum->samples)
		return profile->group != NO_GROUP &&
		       (profile->strata.groups[profile->group].samples || profile->strata.groups[profile->group].ns);
	return stratum->ns && (profile->group == NO_GROUP || profile->group == stratum->first);
}

static void find_share(struct trace_profile *profile)
{
	while (profile->stratum < profile->strata.nr && !is_share(profile)) {
		size_t at = profile->at;

		advance(profile);
		profile->at = at;
	}
}

bool trace_profile_get_share(struct trace_profile *profile, size_t idx, struct trace_profile_share *ret_share)
{
	const struct stratum *stratum;
	const struct sample_group *group;
	struct profile_waker waker = {.frame = TRACE_PROFILE_NO_FRAME};
	bool is_wait;

	divide(profile);
	if (idx < profile->at) {
		profile->at = profile->stratum = 0;
		profile->group = profile->strata.nr ? profile->strata.list[0].first : NO_GROUP;
	}
	for (find_share(profile); profile->at < idx && profile->stratum < profile->strata.nr; find_share(profile))
		advance(profile);
	if (profile->stratum >= profile->strata.nr)
		return false;
	stratum = &profile->strata.list[profile->stratum];
	group = stratum->samples ? &profile->strata.groups[profile->group] : NULL;
	is_wait = stratum->state == TRACE_STATE_BLOCKED;
	if (group && group->place.waker)
		waker = profile->wakers.list[group->place.waker - 1];
	*ret_share = (struct trace_profile_share){.thread = stratum->thread,
						  .state = stratum->state,
						  .kind = stratum->kind,
						  .idle = stratum->idle,
						  .name = stratum->name,
						  .target = stratum->target,
						  .via = stratum->via,
						  .path = stratum->path,
						  .other = stratum->other,
						  .other_thread = stratum->other_thread,
						  .frame = group ? group->place.frame : TRACE_PROFILE_NO_FRAME,
						  .samples = group && !is_wait ? group->samples : 0,
						  .of = is_wait ? 0 : stratum->samples,
						  .stacks = group && is_wait ? group->samples : 0,
						  .intervals = stratum->intervals,
						  .ns = group ? group->ns : stratum->ns,
						  .waker_kind = waker.kind,
						  .waker = waker.thread,
						  .waker_frame = waker.frame,
						  .cpu = (int32_t)stratum->cpu - 1,
						  .label = stratum->label};
	return true;
}

const struct profile_spans *profile_spans(const struct trace_profile *profile)
{
	return profile->spans.is_set ? &profile->spans : NULL;
}

const struct trace_analysis *profile_analysis(const struct trace_profile *profile)
{
	return profile->analysis;
}

const char *trace_profile_waker_word(enum trace_profile_waker kind)
{
	static const char *const words[TRACE_PROFILE_NR_WAKERS] = {[TRACE_PROFILE_WAKER_SOFTIRQ] = "(softirq)",
								   [TRACE_PROFILE_WAKER_INTERRUPT] = "(interrupt)",
								   [TRACE_PROFILE_WAKER_TIMER] = "(timer)"};

	return kind < TRACE_PROFILE_NR_WAKERS && words[kind] ? words[kind] : "";
}

void trace_profile_window(const struct trace_profile *profile, uint64_t *ret_from_ns, uint64_t *ret_to_ns)
{
	trace_analysis_window(profile->analysis, ret_from_ns, ret_to_ns);
	if (!profile->is_of_log)
		return;
	*ret_from_ns = profile->from_ns;
	*ret_to_ns = profile->to_ns;
}

void trace_profile_get_numbers(const struct trace_profile *profile, struct trace_profile_numbers *ret_numbers)
{
	*ret_numbers = profile->numbers;
}
