/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trigger_marks.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/condition.h>
#include <trace/events.h>
#include <trace/reader.h>
#include <trace/tracer.h>

#include "condition_text.h"
#include "program_title.h"

/*
 * signal:signal_generate result, Linux 6.1. The event signal_deliver is not used: a signal that
 * ends a process is delivered to it as SIGKILL.
 */
enum { SIGNAL_DELIVERED = 0, SIGNAL_LOSE_INFO = 4 };

#define NR_IDS	  65536
#define MARKS_MAX (1u << 20) /* waiting for their turn; with more, all are dropped as lost */

/** enum type_use - what a type of events is for; 0: not known yet */
enum type_use {
	USE_UNKNOWN,
	USE_NONE,
	USE_SWITCH,
	USE_WAKING,
	USE_SIGNAL,
	USE_NAME,
	USE_FORK,
	USE_FREE,
	USE_ENTRY,
	USE_CALL,
	USE_RETURN,
	USE_EVENT,
	USE_BEGIN,
	USE_END
};

/**
 * struct marked_type - a type that rules name. @stem: hash of the scope's name
 * @conditions: for each rule; of an event
 */
struct marked_type {
	struct marked_type *next; /* owned */
	uint16_t id;
	bool has_tid;
	uint32_t rules;
	uint32_t stem;
	struct trace_condition conditions[SAVE_ON_MAX];
};

/** struct marked_stream - what a stream has lost so far */
struct marked_stream {
	uint32_t stream;
	uint64_t lost_total;
};

/**
 * struct trigger_marks - @uses: by id, enum type_use
 * @types: those of USE_EVENT, USE_BEGIN and USE_END
 * @marks: in the order of reading
 */
struct trigger_marks {
	const struct save_on *rules;
	size_t nr_rules;
	const struct trace_writer *writer;
	uint32_t calls[2][SAVE_ON_CALLS]; /* rules of each system call, by 32-bit ABI and number */
	uint64_t shortest_call_ns;	  /* of those rules */
	unsigned char *uses;		  /* owned */
	struct marked_type *types;	  /* owned */
	struct marked_type **by_id;	  /* owned; a program chooses how many types match a rule */
	struct trigger_mark *marks;	  /* owned */
	size_t nr;
	size_t room;
	uint32_t order;
	struct marked_stream *streams; /* owned */
	size_t nr_streams;
};

/* A record of a whole call, or of an entry with its path; the entry is behind struct
 * trace_record_call. */
static void use_calls(struct trigger_marks *marks)
{
	marks->shortest_call_ns = UINT64_MAX;
	for (size_t i = 0; i < marks->nr_rules; i++) {
		const struct save_on *rule = &marks->rules[i];

		for (unsigned int nr = 0; rule->kind == SAVE_CALL && nr < SAVE_ON_CALLS; nr++)
			for (int is_32 = 0; is_32 < 2; is_32++) {
				const char *name = tracer_syscall_name(is_32 ? TRACE_ABI_32 : TRACE_ABI_NATIVE, nr);

				if (name && strcmp(name, rule->name) == 0)
					marks->calls[is_32][nr] |= 1u << i;
			}
		if (rule->kind == SAVE_CALL && rule->over_ns < marks->shortest_call_ns)
			marks->shortest_call_ns = rule->over_ns;
	}
	for (uint32_t id = TRACE_RECORD_PATH_ENTRY; id < TRACE_EV_MAX; id++)
		marks->uses[id] = marks->shortest_call_ns == UINT64_MAX ? USE_NONE
				  : id < TRACE_RECORD_PATH_CALL		? USE_ENTRY
									: USE_CALL;
	if (marks->shortest_call_ns == UINT64_MAX)
		return;
	marks->uses[TRACE_EV_sys_enter] = marks->uses[TRACE_EV_sys_enter3] = USE_ENTRY;
	marks->uses[TRACE_EV_sys_enter6] = USE_ENTRY;
	marks->uses[TRACE_EV_sys_exit] = USE_RETURN;
}

struct trigger_marks *trigger_marks_new(const struct save_on *rules, size_t nr_rules, const struct trace_writer *writer)
{
	struct trigger_marks *marks = calloc(1, sizeof(*marks));

	if (!marks)
		return NULL;
	*marks = (struct trigger_marks){.rules = rules, .nr_rules = nr_rules, .writer = writer};
	marks->uses = calloc(1, NR_IDS);
	marks->by_id = calloc(NR_IDS, sizeof(*marks->by_id));
	if (!marks->uses || !marks->by_id)
		return trigger_marks_free(marks);
	marks->uses[TRACE_EV_padding] = USE_NONE;
	use_calls(marks);
	return marks;
}

struct trigger_marks *trigger_marks_free(struct trigger_marks *marks)
{
	if (!marks)
		return NULL;
	while (marks->types) {
		struct marked_type *type = marks->types;

		marks->types = type->next;
		free(type);
	}
	free(marks->uses);
	free(marks->by_id);
	free(marks->streams);
	free(marks->marks);
	free(marks);
	return NULL;
}

/* ---- types ---- */

/* A scope is named with its provider or without: shop:pay, pay. */
static bool is_named(const char *pattern, const char *name, size_t chars)
{
	char whole[SAVE_ON_NAME_BYTES];
	const char *colon;

	snprintf(whole, sizeof(whole), "%.*s", (int)(chars < sizeof(whole) ? chars : sizeof(whole) - 1), name);
	colon = strrchr(whole, ':');
	return !fnmatch(pattern, whole, 0) || (colon && !fnmatch(pattern, colon + 1, 0));
}

static bool is_scope_of(const struct save_on *rule, const struct trace_event_type *type)
{
	return rule->kind == SAVE_SCOPE && (type->role == TRACE_ROLE_BEGIN || type->role == TRACE_ROLE_END) &&
	       is_named(rule->name, type->name, trace_type_stem(type));
}

static bool is_event_of(const struct save_on *rule, const struct trace_event_type *type)
{
	return rule->kind == SAVE_EVENT && is_named(rule->name, type->name, strlen(type->name));
}

static bool compile(const struct save_on *rule, const struct trace_event_type *type,
		    struct trace_condition *ret_condition)
{
	struct condition_text text;
	struct trace_error error;
	size_t missing;

	*ret_condition = (struct trace_condition){0};
	return !*rule->condition || (condition_parse(rule->condition, &text, &error) == 0 &&
				     condition_compile(&text, type, ret_condition, &missing, &error) == 0);
}

static uint32_t hash_of(const char *name, size_t chars)
{
	uint32_t hash = 2166136261u;

	for (size_t i = 0; i < chars; i++)
		hash = (hash ^ (unsigned char)name[i]) * 16777619u;
	return hash;
}

static enum type_use add_type(struct trigger_marks *marks, const struct trace_event_type *type, uint16_t id)
{
	struct marked_type *added = calloc(1, sizeof(*added));
	bool is_scope = false;

	if (!added)
		return USE_UNKNOWN; /* the next record tries again */
	for (size_t i = 0; i < marks->nr_rules; i++) {
		const struct save_on *rule = &marks->rules[i];

		if (is_scope_of(rule, type))
			is_scope = true;
		else if (!is_event_of(rule, type) || !compile(rule, type, &added->conditions[i]))
			continue;
		added->rules |= 1u << i;
	}
	if (!added->rules) {
		free(added);
		return USE_NONE;
	}
	added->id = id;
	added->has_tid = type->flags & TRACE_EVENT_TID;
	added->stem = hash_of(type->name, trace_type_stem(type));
	added->next = marks->types;
	marks->types = marks->by_id[id] = added;
	if (!is_scope)
		return USE_EVENT;
	return type->role == TRACE_ROLE_BEGIN ? USE_BEGIN : USE_END;
}

static bool wants(const struct trigger_marks *marks, enum save_kind kind)
{
	for (size_t i = 0; i < marks->nr_rules; i++)
		if (marks->rules[i].kind == kind)
			return true;
	return false;
}

/* The threads of a name may have ended when the daemon looks, so their names are noted before. */
static enum type_use use_for_names(const struct trigger_marks *marks, uint16_t id)
{
	bool has_names = false;

	for (size_t i = 0; i < marks->nr_rules; i++)
		has_names |= save_on_names_thread(&marks->rules[i]);
	if (!has_names)
		return USE_NONE;
	return id == TRACE_EV_sched_exec || id == TRACE_EV_sched_comm ? USE_NAME
	       : id == TRACE_EV_sched_fork			      ? USE_FORK
	       : id == TRACE_EV_sched_free			      ? USE_FREE
								      : USE_NONE;
}

static enum type_use find_use(struct trigger_marks *marks, uint16_t id)
{
	const struct trace_event_type *type = trace_writer_type(marks->writer, id);
	enum type_use found;

	if (id == TRACE_EV_sched_switch)
		return USE_SWITCH;
	if (id == TRACE_EV_sched_waking && wants(marks, SAVE_WAIT))
		return USE_WAKING;
	if (id == TRACE_EV_signal_generate && wants(marks, SAVE_SIGNAL))
		return USE_SIGNAL;
	found = type ? add_type(marks, type, id) : USE_NONE;
	return found == USE_NONE ? use_for_names(marks, id) : found;
}

/* ---- records ---- */

static void add(struct trigger_marks *marks, struct trigger_mark mark)
{
	size_t room = marks->room ? 2 * marks->room : 4096;
	struct trigger_mark *grown;

	if (marks->nr == MARKS_MAX) {
		marks->nr = 0;
		mark.kind = MARK_LOST;
	}
	if (marks->nr == marks->room) {
		grown = realloc(marks->marks, room * sizeof(*grown));
		if (!grown)
			return;
		marks->marks = grown;
		marks->room = room;
	}
	mark.order = marks->order++;
	marks->marks[marks->nr++] = mark;
}

static uint32_t fulfilled_rules(const struct trigger_marks *marks, const struct marked_type *type, const void *payload,
				size_t bytes)
{
	uint32_t rules = type->rules;

	for (size_t i = 0; i < marks->nr_rules; i++)
		if (rules >> i & 1 && !trace_condition_holds(&type->conditions[i], payload, bytes))
			rules &= ~(1u << i);
	return rules;
}

static void read_named(struct trigger_marks *marks, struct trigger_mark mark, uint16_t id, const void *payload,
		       size_t bytes, enum type_use use)
{
	const struct marked_type *type = marks->by_id[id];

	mark.kind = use == USE_EVENT ? MARK_EVENT : use == USE_BEGIN ? MARK_BEGIN : MARK_END;
	mark.rules = type ? fulfilled_rules(marks, type, payload, bytes) : 0;
	if (!mark.rules)
		return;
	mark.other = type->stem;
	if (type->has_tid && bytes >= sizeof(mark.tid))
		memcpy(&mark.tid, payload, sizeof(mark.tid));
	add(marks, mark);
}

/* Which rules are for the thread with this comm, or path of its program? */
static uint32_t rules_of_name(const struct trigger_marks *marks, const char *text, size_t bytes)
{
	char name[SAVE_ON_NAME_BYTES];
	const char *slash = memrchr(text, '/', strnlen(text, bytes));
	uint32_t rules = 0;

	bytes -= slash ? (size_t)(slash + 1 - text) : 0;
	text = slash ? slash + 1 : text;
	snprintf(name, sizeof(name), "%.*s", (int)(bytes < sizeof(name) ? bytes : sizeof(name) - 1), text);
	for (size_t i = 0; i < marks->nr_rules; i++)
		if (save_on_names_thread(&marks->rules[i]) && program_is_called("", false, name, marks->rules[i].name))
			rules |= 1u << i;
	return rules;
}

/* Records that begin with the number of a thread; a name is behind the fixed part. */
static void read_life(struct trigger_marks *marks, struct trigger_mark mark, uint16_t id, const void *payload,
		      size_t bytes, enum type_use use)
{
	size_t fixed = id == TRACE_EV_sched_exec ? sizeof(struct trace_sched_exec) : sizeof(struct trace_sched_comm);
	struct trace_sched_fork fork;

	if (use == USE_FORK && bytes >= sizeof(fork)) {
		memcpy(&fork, payload, sizeof(fork));
		mark.kind = MARK_FORK;
		mark.tid = fork.tid;
		mark.other = fork.parent_tid;
		add(marks, mark);
	} else if (use == USE_NAME && bytes > fixed) {
		memcpy(&mark.tid, payload, sizeof(mark.tid));
		mark.kind = MARK_NAME;
		mark.other = id == TRACE_EV_sched_exec;
		mark.rules = rules_of_name(marks, (const char *)payload + fixed, bytes - fixed);
		add(marks, mark);
	} else if (use == USE_FREE && bytes >= sizeof(mark.tid)) {
		memcpy(&mark.tid, payload, sizeof(mark.tid));
		mark.kind = MARK_FREE;
		add(marks, mark);
	}
}

static void read_entry(struct trigger_marks *marks, struct trigger_mark mark, const void *entry, size_t bytes)
{
	struct trace_sys_enter call;
	uint32_t nr;

	if (bytes < sizeof(call))
		return;
	memcpy(&call, entry, sizeof(call));
	nr = call.nr & ~0x40000000u; /* __X32_SYSCALL_BIT */
	mark.rules = nr < SAVE_ON_CALLS ? marks->calls[call.abi == TRACE_ABI_32][nr] : 0;
	mark.kind = MARK_CALL;
	if (mark.rules)
		add(marks, mark);
}

static void read_call(struct trigger_marks *marks, struct trigger_mark mark, uint16_t id, const void *payload,
		      size_t bytes, enum type_use use)
{
	struct trace_record_call call;

	if (use == USE_RETURN) {
		mark.kind = MARK_RETURN;
		add(marks, mark);
		return;
	}
	if (id < TRACE_RECORD_PATH_ENTRY) {
		read_entry(marks, mark, payload, bytes);
		return;
	}
	if (bytes < sizeof(call))
		return;
	memcpy(&call, payload, sizeof(call));
	if (use == USE_CALL && call.elapsed <= marks->shortest_call_ns)
		return; /* most calls */
	read_entry(marks, mark, (const char *)payload + sizeof(call), bytes - sizeof(call));
	if (use != USE_CALL)
		return;
	mark.ns += call.elapsed;
	mark.kind = MARK_RETURN;
	add(marks, mark);
}

static void read_record(struct trigger_marks *marks, struct trigger_mark mark, uint16_t id, const void *payload,
			size_t bytes, enum type_use use)
{
	struct trace_sched_switch change;
	struct trace_sched_waking waking;
	struct trace_signal_generate signal;

	if (use >= USE_EVENT) {
		read_named(marks, mark, id, payload, bytes, use);
	} else if (use >= USE_ENTRY) {
		read_call(marks, mark, id, payload, bytes, use);
	} else if (use == USE_NAME || use == USE_FORK || use == USE_FREE) {
		read_life(marks, mark, id, payload, bytes, use);
	} else if (use == USE_SWITCH && bytes >= sizeof(change)) {
		memcpy(&change, payload, sizeof(change));
		mark.kind = MARK_SWITCH;
		mark.tid = change.prev_tid;
		mark.other = change.next_tid;
		mark.state = change.preempt ? TRACE_TASK_RUNNING : change.prev_state;
		add(marks, mark);
	} else if (use == USE_WAKING && bytes >= sizeof(waking)) {
		memcpy(&waking, payload, sizeof(waking));
		mark.kind = MARK_WAKING;
		mark.tid = waking.tid;
		add(marks, mark);
	} else if (use == USE_SIGNAL && bytes >= sizeof(signal)) {
		memcpy(&signal, payload, sizeof(signal));
		mark.kind = MARK_SIGNAL;
		mark.tid = signal.tid;
		mark.other = signal.signal;
		if (signal.result == SIGNAL_DELIVERED || signal.result == SIGNAL_LOSE_INFO)
			add(marks, mark);
	}
}

/*
 * With a lost switch a short wait would look long. So a loss ends all that is under way.
 */
static void note_loss(struct trigger_marks *marks, struct trigger_mark mark, const struct trace_source *source)
{
	struct marked_stream *stream = marks->streams, *grown;

	for (size_t i = 0; i < marks->nr_streams; i++, stream++) {
		if (stream->stream != source->stream)
			continue;
		if (source->lost_total > stream->lost_total) {
			mark.kind = MARK_LOST;
			mark.ns = source->base_ns;
			add(marks, mark);
		}
		stream->lost_total = source->lost_total;
		return;
	}
	grown = realloc(marks->streams, (marks->nr_streams + 1) * sizeof(*grown));
	if (!grown)
		return;
	marks->streams = grown;
	grown[marks->nr_streams++] = (struct marked_stream){source->stream, source->lost_total};
}

void trigger_marks_read(struct trigger_marks *marks, const struct trace_source *source, int producer)
{
	struct trigger_mark mark = {.cpu = source->cpu, .producer = producer};
	const unsigned char *records = source->records;
	struct trace_record record;

	note_loss(marks, mark, source);
	for (size_t at = 0; at + sizeof(record) <= source->bytes; at += record.words * 8u) {
		memcpy(&record, records + at, sizeof(record));
		if (record.words == 0 || record.words * 8u > source->bytes - at)
			return;
		if (marks->uses[record.id] == USE_UNKNOWN)
			marks->uses[record.id] = (unsigned char)find_use(marks, record.id);
		if (marks->uses[record.id] <= USE_NONE)
			continue;
		mark.ns = source->base_ns + (uint32_t)(record.time - (uint32_t)source->base_ns);
		read_record(marks, mark, record.id, records + at + sizeof(record), record.words * 8u - sizeof(record),
			    marks->uses[record.id]);
	}
}

/* ---- in time order ---- */

static int compare(const void *a, const void *b)
{
	const struct trigger_mark *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (int32_t)(x->order - y->order) < 0 ? -1 : 1;
}

void trigger_marks_take(struct trigger_marks *marks, uint64_t until_ns,
			void (*take)(void *context, const struct trigger_mark *mark), void *context)
{
	size_t done = 0;

	if (!marks->nr)
		return;
	qsort(marks->marks, marks->nr, sizeof(*marks->marks), compare);
	for (; done < marks->nr && marks->marks[done].ns <= until_ns; done++)
		take(context, &marks->marks[done]);
	marks->nr -= done;
	memmove(marks->marks, marks->marks + done, marks->nr * sizeof(*marks->marks));
}
