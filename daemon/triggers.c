/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "triggers.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>

#include "clock.h"
#include "format_text.h"
#include "message.h"
#include "process_name.h"

#define NR_BUCKETS   16384	   /* a power of two */
#define SCOPES_MAX   65536	   /* open scopes of all programs; more are not paired */
#define SCOPES_EACH  4096	   /* of one program */
#define SCOPE_DEPTH  16		   /* begins of one scope of one thread, inside each other; more are not paired */
#define NAME_AGE_NS  1000000000ull /* a thread may get another name */
#define NR_CPUS	     8192
#define NR_PRODUCERS 4096

/**
 * struct lasting - a wait, or the open scopes of one name of a thread
 * @producer, @scope: of scopes; of a wait OF_WAIT and 0; of a system call OF_CALL and 0
 * @begin_ns: of the wait, or of each open scope
 * @depth: open scopes
 * @state: of the task that waits
 * @rules: of the scope
 * @reported: rules that this wait or the innermost scope has fulfilled
 * @called, @called_ns: the rules with the name that the thread had at that time
 * @thread: of a scope: the thread on the CPU, for its name
 */
struct lasting {
	struct lasting *next; /* in the bucket */
	uint32_t tid;
	int32_t producer;
	uint32_t scope;
	uint32_t state;
	uint32_t depth;
	uint32_t rules;
	uint32_t reported;
	uint32_t called;
	uint32_t thread;
	uint64_t called_ns;
	uint64_t begin_ns[SCOPE_DEPTH];
};

#define OF_WAIT (-2)
#define OF_CALL (-4)
#define OF_NAME (-3) /* no wait and no scope: @called are the rules with the name of the thread */

struct triggers {
	const struct save_on *rules; /* borrowed */
	size_t nr_rules;
	struct tracer *tracer; /* borrowed */
	trigger_fn hit;
	void *context;
	bool has_waits;
	struct lasting *buckets[NR_BUCKETS];
	uint32_t seed;
	uint32_t nr_scopes;
	uint16_t nr_scopes_of[NR_PRODUCERS]; /* by the last bits of the producer */
	bool reported_scopes;
	uint32_t current[NR_CPUS]; /* the thread on each CPU; 0: not known */
};

struct triggers *triggers_new(const struct save_on *rules, size_t nr_rules, struct tracer *tracer, trigger_fn hit,
			      void *context)
{
	struct triggers *triggers = calloc(1, sizeof(*triggers));

	if (!triggers)
		return NULL;
	triggers->rules = rules;
	triggers->nr_rules = nr_rules;
	triggers->tracer = tracer;
	triggers->hit = hit;
	triggers->context = context;
	triggers->seed = (uint32_t)clock_now();
	for (size_t i = 0; i < nr_rules; i++)
		triggers->has_waits |= rules[i].kind == SAVE_WAIT;
	return triggers;
}

/* ---- what lasts ---- */

static struct lasting **slot_of(struct triggers *triggers, uint32_t tid, int32_t producer, uint32_t scope)
{
	/* SECURITY: a program chooses @tid and the name, and the seed keeps it from one bucket */
	uint64_t hash = (((uint64_t)tid << 32 | scope) ^ (uint64_t)(uint32_t)producer << 20 ^ triggers->seed) *
			0x9e3779b97f4a7c15ull;
	struct lasting **at = &triggers->buckets[(hash ^ hash >> 29) * 0xbf58476d1ce4e5b9ull >> 50];

	while (*at && ((*at)->tid != tid || (*at)->producer != producer || (*at)->scope != scope))
		at = &(*at)->next;
	return at;
}

/*
 * SECURITY: the threads of a program's scopes are what the program says, so their number has
 * bounds.
 */
static bool has_room_for_scope(struct triggers *triggers, int32_t producer)
{
	if (producer < 0)
		return true;
	if (triggers->nr_scopes < SCOPES_MAX && triggers->nr_scopes_of[producer % NR_PRODUCERS] < SCOPES_EACH)
		return true;
	if (!triggers->reported_scopes && triggers->nr_scopes < SCOPES_MAX)
		message_warning("a program has more than %d open scopes: further ones do not save", SCOPES_EACH);
	else if (!triggers->reported_scopes)
		message_warning("all programs have more than %d open scopes: further ones do not save", SCOPES_MAX);
	triggers->reported_scopes = true;
	return false;
}

static void count_scope(struct triggers *triggers, int32_t producer, int nr)
{
	if (producer < 0)
		return;
	triggers->nr_scopes += (uint32_t)nr;
	triggers->nr_scopes_of[producer % NR_PRODUCERS] += (uint16_t)nr;
}

static struct lasting *add(struct triggers *triggers, uint32_t tid, int32_t producer, uint32_t scope)
{
	struct lasting **at = slot_of(triggers, tid, producer, scope);

	if (*at)
		return *at;
	if (has_room_for_scope(triggers, producer))
		*at = calloc(1, sizeof(**at));
	if (*at) {
		(*at)->tid = tid;
		(*at)->producer = producer;
		(*at)->scope = scope;
		count_scope(triggers, producer, 1);
	}
	return *at;
}

static void drop(struct triggers *triggers, struct lasting **at)
{
	struct lasting *gone = *at;

	count_scope(triggers, gone->producer, -1);
	*at = gone->next;
	free(gone);
}

static void forget_all(struct triggers *triggers)
{
	for (size_t i = 0; i < NR_BUCKETS; i++)
		while (triggers->buckets[i])
			drop(triggers, &triggers->buckets[i]);
	memset(triggers->current, 0, sizeof(triggers->current));
}

struct triggers *triggers_free(struct triggers *triggers)
{
	if (triggers)
		forget_all(triggers);
	free(triggers);
	return NULL;
}

/* ---- names ---- */

static pid_t pid_of(const struct triggers *triggers, uint32_t tid)
{
	return triggers->tracer ? tracer_pid(triggers->tracer, (pid_t)tid) : 0;
}

/* Is the thread, or its program, called so? If it has ended, its last name counts. */
static bool is_called(struct triggers *triggers, uint32_t tid, size_t rule)
{
	const struct lasting *name = *slot_of(triggers, tid, OF_NAME, 0);
	pid_t pid;

	if (name && name->called >> rule & 1)
		return true;
	pid = pid_of(triggers, tid);
	return pid && process_is_called(pid, triggers->rules[rule].name);
}

static void set_name(struct triggers *triggers, uint32_t tid, uint32_t rules)
{
	struct lasting **at = slot_of(triggers, tid, OF_NAME, 0);
	struct lasting *name = rules ? add(triggers, tid, OF_NAME, 0) : NULL;

	if (name)
		name->called = rules;
	else if (!rules && *at)
		drop(triggers, at);
}

/* The name of a program is one of the thread until it runs another program. */
static void take_name(struct triggers *triggers, const struct trigger_mark *mark)
{
	const struct lasting *before = mark->other ? NULL : *slot_of(triggers, mark->tid, OF_NAME, 0);

	set_name(triggers, mark->tid, mark->rules | (before ? before->called : 0));
}

static void take_fork(struct triggers *triggers, const struct trigger_mark *mark)
{
	const struct lasting *parent = *slot_of(triggers, mark->other, OF_NAME, 0);

	set_name(triggers, mark->tid, parent ? parent->called : 0);
}

static void hit(struct triggers *triggers, size_t rule, uint32_t tid, uint64_t begin_ns, uint64_t ns, const char *what)
{
	struct trigger_hit fulfilled = {.on = &triggers->rules[rule], .ns = ns, .tid = tid, .begin_ns = begin_ns};
	char name[PROCESS_NAME_BYTES] = "a thread";

	if ((fulfilled.on->kind == SAVE_WAIT || fulfilled.on->kind == SAVE_SIGNAL) && *fulfilled.on->name)
		snprintf(name, sizeof(name), "%.*s", (int)sizeof(name) - 1, fulfilled.on->name);
	else if (pid_of(triggers, tid))
		process_print_name(pid_of(triggers, tid), name);
	if (tid)
		snprintf(fulfilled.text, sizeof(fulfilled.text), "%s (%u) %s", name, tid, what);
	else
		snprintf(fulfilled.text, sizeof(fulfilled.text), "%s %s", name, what);
	triggers->hit(triggers->context, &fulfilled);
}

/* ---- waits ---- */

static bool counts(struct triggers *triggers, struct lasting *wait, size_t rule, uint64_t now_ns)
{
	const struct save_on *on = &triggers->rules[rule];

	if (!*on->name)
		return wait->state & TRACE_TASK_UNINTERRUPTIBLE && !(wait->state & TRACE_TASK_NOLOAD);
	if (!wait->called_ns || now_ns - wait->called_ns > NAME_AGE_NS) {
		wait->called = 0;
		wait->called_ns = now_ns;
		for (size_t i = 0; i < triggers->nr_rules; i++)
			if (triggers->rules[i].kind == SAVE_WAIT && *triggers->rules[i].name &&
			    is_called(triggers, wait->tid, i))
				wait->called |= 1u << i;
	}
	return wait->called >> rule & 1;
}

static void look_at_wait(struct triggers *triggers, struct lasting *wait, uint64_t now_ns, bool has_ended)
{
	uint64_t waited_ns = now_ns > wait->begin_ns[0] ? now_ns - wait->begin_ns[0] : 0;
	char what[80];

	for (size_t i = 0; i < triggers->nr_rules; i++) {
		if (triggers->rules[i].kind != SAVE_WAIT || waited_ns <= triggers->rules[i].over_ns ||
		    wait->reported >> i & 1 || !counts(triggers, wait, i, now_ns))
			continue;
		wait->reported |= 1u << i;
		snprintf(what, sizeof(what), "%s %s", has_ended ? "waited" : "has been waiting for",
			 text_seconds(waited_ns).s);
		hit(triggers, i, wait->tid, wait->begin_ns[0], now_ns, what);
	}
}

static void end_wait(struct triggers *triggers, uint32_t tid, uint64_t ns)
{
	struct lasting **at = slot_of(triggers, tid, OF_WAIT, 0);

	if (!*at)
		return;
	look_at_wait(triggers, *at, ns, true);
	drop(triggers, at);
}

static void begin_wait(struct triggers *triggers, const struct trigger_mark *mark)
{
	struct lasting *wait;

	if (!triggers->has_waits || !mark->tid ||
	    !(mark->state & (TRACE_TASK_INTERRUPTIBLE | TRACE_TASK_UNINTERRUPTIBLE)))
		return;
	wait = add(triggers, mark->tid, OF_WAIT, 0);
	if (!wait)
		return;
	wait->begin_ns[0] = mark->ns;
	wait->state = mark->state;
	wait->reported = 0;
	wait->called_ns = 0;
}

/* ---- scopes ---- */

static void look_at_scope(struct triggers *triggers, struct lasting *scope, uint64_t begin_ns, uint64_t now_ns,
			  bool has_ended)
{
	uint64_t took_ns = now_ns > begin_ns ? now_ns - begin_ns : 0;
	char what[SAVE_ON_NAME_BYTES + 80];

	for (size_t i = 0; i < triggers->nr_rules; i++) {
		if (!(scope->rules >> i & 1) || took_ns <= triggers->rules[i].over_ns || scope->reported >> i & 1)
			continue;
		scope->reported |= 1u << i;
		snprintf(what, sizeof(what), "%s in %s for %s", has_ended ? "was" : "has been", triggers->rules[i].name,
			 text_seconds(took_ns).s);
		hit(triggers, i, scope->thread, begin_ns, now_ns, what);
	}
}

static uint32_t thread_of(const struct triggers *triggers, const struct trigger_mark *mark)
{
	return mark->cpu < NR_CPUS ? triggers->current[mark->cpu] : 0;
}

static void begin_scope(struct triggers *triggers, const struct trigger_mark *mark)
{
	uint32_t thread = thread_of(triggers, mark), tid = mark->tid ? mark->tid : thread;
	struct lasting *scope = tid ? add(triggers, tid, mark->producer, mark->other) : NULL;

	if (!scope)
		return;
	scope->rules = mark->rules;
	scope->reported = 0;
	scope->thread = thread ? thread : tid;
	if (scope->depth < SCOPE_DEPTH)
		scope->begin_ns[scope->depth] = mark->ns;
	scope->depth++;
}

static void end_scope(struct triggers *triggers, const struct trigger_mark *mark)
{
	uint32_t thread = thread_of(triggers, mark), tid = mark->tid ? mark->tid : thread;
	struct lasting **at = slot_of(triggers, tid, mark->producer, mark->other);

	if (!*at)
		return; /* it began before the recording, or before a loss */
	(*at)->depth--;
	if ((*at)->depth < SCOPE_DEPTH)
		look_at_scope(triggers, *at, (*at)->begin_ns[(*at)->depth], mark->ns, true);
	(*at)->reported = 0;
	if (!(*at)->depth)
		drop(triggers, at);
}

/* ---- system calls ---- */

static void forget_call(struct triggers *triggers, uint32_t tid)
{
	struct lasting **at = slot_of(triggers, tid, OF_CALL, 0);

	if (*at)
		drop(triggers, at);
}

/* A thread is in one call at a time. */
static void begin_call(struct triggers *triggers, const struct trigger_mark *mark)
{
	struct trigger_mark call = *mark;

	call.tid = thread_of(triggers, mark);
	call.producer = OF_CALL;
	call.other = 0;
	forget_call(triggers, call.tid);
	begin_scope(triggers, &call);
}

static void end_call(struct triggers *triggers, const struct trigger_mark *mark)
{
	struct trigger_mark call = *mark;

	call.producer = OF_CALL;
	call.other = 0;
	end_scope(triggers, &call);
}

/* ---- events and signals ---- */

static void take_event(struct triggers *triggers, const struct trigger_mark *mark)
{
	uint32_t thread = thread_of(triggers, mark);
	char what[SAVE_ON_NAME_BYTES + 16];

	for (size_t i = 0; i < triggers->nr_rules; i++) {
		if (!(mark->rules >> i & 1))
			continue;
		snprintf(what, sizeof(what), "recorded %s", triggers->rules[i].name);
		hit(triggers, i, thread ? thread : mark->tid, mark->ns, mark->ns, what);
	}
}

static void take_signal(struct triggers *triggers, const struct trigger_mark *mark)
{
	const char *word = sigabbrev_np((int)mark->other);
	char what[32];

	for (size_t i = 0; i < triggers->nr_rules; i++) {
		const struct save_on *on = &triggers->rules[i];

		if (on->kind != SAVE_SIGNAL || on->to_daemon || on->signal != (int)mark->other ||
		    (*on->name && !is_called(triggers, mark->tid, i)))
			continue;
		snprintf(what, sizeof(what), "got SIG%s", word ? word : "?");
		hit(triggers, i, mark->tid, mark->ns, mark->ns, what);
	}
}

/* ---- all marks ---- */

static void take(void *context, const struct trigger_mark *mark)
{
	struct triggers *triggers = context;

	switch (mark->kind) {
	case MARK_SWITCH:
		if (mark->cpu < NR_CPUS)
			triggers->current[mark->cpu] = mark->other;
		end_wait(triggers, mark->other, mark->ns);
		if (mark->state & TRACE_TASK_DEAD)
			forget_call(triggers, mark->tid);
		begin_wait(triggers, mark);
		break;
	case MARK_WAKING:
		end_wait(triggers, mark->tid, mark->ns);
		break;
	case MARK_SIGNAL:
		take_signal(triggers, mark);
		break;
	case MARK_EVENT:
		take_event(triggers, mark);
		break;
	case MARK_BEGIN:
		begin_scope(triggers, mark);
		break;
	case MARK_END:
		end_scope(triggers, mark);
		break;
	case MARK_CALL:
		begin_call(triggers, mark);
		break;
	case MARK_RETURN:
		end_call(triggers, mark);
		break;
	case MARK_NAME:
		take_name(triggers, mark);
		break;
	case MARK_FORK:
		take_fork(triggers, mark);
		break;
	case MARK_FREE:
		set_name(triggers, mark->tid, 0);
		break;
	case MARK_LOST:
		forget_all(triggers);
		break;
	}
}

/* Waits and scopes that have not ended may be too long already. */
static void look_at_lasting(struct triggers *triggers, uint64_t now_ns)
{
	for (size_t i = 0; i < NR_BUCKETS; i++)
		for (struct lasting *lasting = triggers->buckets[i]; lasting; lasting = lasting->next) {
			uint32_t depth = lasting->depth < SCOPE_DEPTH ? lasting->depth : SCOPE_DEPTH;

			if (lasting->producer == OF_WAIT)
				look_at_wait(triggers, lasting, now_ns, false);
			else if (depth && lasting->producer != OF_NAME)
				look_at_scope(triggers, lasting, lasting->begin_ns[depth - 1], now_ns, false);
		}
}

void triggers_run(struct triggers *triggers, struct trigger_marks *marks, uint64_t until_ns)
{
	trigger_marks_take(marks, until_ns, take, triggers);
	look_at_lasting(triggers, until_ns);
}
