/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_counters.c - collects numbers over time in the pass: view_counters.h.
 *
 * The number of threads that wait for a CPU changes by one at each end of such a wait. A wait is
 * told when it is over, so the changes are sorted when the number is asked for. Until then a change
 * takes half the memory of a value.
 */
#include <stdlib.h>
#include <string.h>
#include "view_collected.h"
#include "view_counters.h"
#include "view_row.h"

#define MAX_VALUES (4u << 20) /* 16 bytes each, of all counters */

/* row: the counters of an event type's fields */
struct counter_type {
	uint64_t key;  /* id + 1 */
	uint32_t *all; /* owned; for each field the number of its counter + 1, or 0 */
};

/* row: the counter of a name. @counter: its number + 1 */
struct counter_name {
	uint64_t key; /* of the text */
	uint32_t counter;
};

/*
 * struct view_counter_list - the counters that are always there come first
 * @names: rows: struct counter_name; of each enum counter_number, with the keys of @texts
 */
enum { OF_READS, OF_WRITES, OF_QUEUE, OF_LOSSES, NR_FIXED };
struct view_counter_list {
	struct view_counter *items; /* owned */
	size_t nr, room;
	size_t nr_values;
	struct hash_table types; /* rows: struct counter_type */
	struct hash_table names[NR_COUNTER_NUMBERS];
	struct strings texts;
	bool is_finished;
};

/* ---- values ---- */

static void drop(struct view_counter *counter)
{
	free(counter->values);
	free(counter->changes);
	counter->values = NULL;
	counter->changes = NULL;
	counter->nr = counter->room = 0;
}

/* Is there room for one more value of @counter? Otherwise those that it has are dropped. */
static bool counts(struct view_counter_list *list, struct view_counter *counter)
{
	if (counter->is_cut)
		return false;
	if (list->nr_values < MAX_VALUES) {
		list->nr_values++;
		return true;
	}
	list->nr_values -= counter->nr;
	drop(counter);
	counter->is_cut = true;
	return false;
}

static void keep(struct view_counter_list *list, struct view_counter *counter, uint64_t ns, uint64_t bits)
{
	if (!counts(list, counter))
		return;
	counter->values = memory_grow(counter->values, counter->nr, &counter->room, sizeof(*counter->values));
	counter->values[counter->nr++] = (struct counter_value){ns, bits};
}

static void keep_change(struct view_counter_list *list, struct view_counter *counter, uint64_t ns, bool falls)
{
	if (!counts(list, counter))
		return;
	counter->changes = memory_grow(counter->changes, counter->nr, &counter->room, sizeof(*counter->changes));
	counter->changes[counter->nr++] = ns << 1 | falls;
}

static void on_transfer(void *data, struct trace_analysis *analysis, const struct trace_thread *thread,
			uint64_t read_bytes, uint64_t written_bytes)
{
	struct view_counter_list *list = data;

	if (read_bytes)
		keep(list, &list->items[OF_READS], trace_analysis_now(analysis), read_bytes);
	if (written_bytes)
		keep(list, &list->items[OF_WRITES], trace_analysis_now(analysis), written_bytes);
}

static void on_wait(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct view_counter_list *list = data;

	keep_change(list, &list->items[OF_QUEUE], interval->from_ns, false);
	keep_change(list, &list->items[OF_QUEUE], interval->to_ns, true);
}

static uint64_t bits_of(const struct trace_event *event, const struct trace_field *field)
{
	double value;
	uint64_t bits;

	if (field->kind != TRACE_KIND_FLOAT)
		return trace_event_u64(event, field);
	value = trace_event_double(event, field);
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	struct view_counter_list *list = data;
	const struct counter_type *type = table_find(&list->types, sizeof(*type), event->id + 1ull);

	for (uint16_t i = 0; type && i < event->type->nr_fields; i++)
		if (type->all[i])
			keep(list, &list->items[type->all[i] - 1], event->ts_ns,
			     bits_of(event, &event->type->fields[i]));
}

/* ---- which there are ---- */

static struct view_counter *add_counter(struct view_counter_list *list, const char *name, enum counter_kind kind,
					enum counter_number number)
{
	list->items = memory_grow(list->items, list->nr, &list->room, sizeof(*list->items));
	list->items[list->nr] =
		(struct view_counter){.name = memory_copy(name, strlen(name)), .kind = kind, .number = number};
	return &list->items[list->nr++];
}

static bool is_number(const struct trace_field *field)
{
	return field->bytes &&
	       (field->kind == TRACE_KIND_DEC || field->kind == TRACE_KIND_NS || field->kind == TRACE_KIND_FLOAT ||
		field->kind == TRACE_KIND_BOOL || field->kind == TRACE_KIND_RESULT);
}

/* Types of several programs may have one name; a field of the same name and kind is one counter. */
static uint32_t counter_of_field(struct view_counter_list *list, const struct trace_event_type *type,
				 const struct trace_field *field)
{
	enum counter_number number = field->kind == TRACE_KIND_FLOAT ? NUMBER_FLOAT
				     : field->is_signed		     ? NUMBER_SIGNED
								     : NUMBER_UNSIGNED;
	struct string name = {0};
	struct counter_name *row;

	string_addf(&name, "%s.%s", type->name, field->name);
	row = memory_row(&list->names[number], sizeof(*row), memory_key(&list->texts, string_text(&name)));
	if (!row->counter) {
		add_counter(list, string_text(&name), COUNTER_VALUE, number);
		row->counter = (uint32_t)list->nr;
	}
	string_free(&name);
	return row->counter;
}

static void add_type(struct view_counter_list *list, const struct trace_event_type *type)
{
	struct counter_type *row = memory_row(&list->types, sizeof(*row), type->id + 1ull);

	if (row->all)
		return;
	row->all = memory_take(type->nr_fields + 1u, sizeof(*row->all));
	for (uint16_t i = 0; i < type->nr_fields; i++)
		if (is_number(&type->fields[i]))
			row->all[i] = counter_of_field(list, type, &type->fields[i]);
}

void view_counters_begin(struct view_session *session, struct trace_analysis *analysis)
{
	const struct trace *trace = session->report.trace;
	struct view_counter_list *list = memory_take(1, sizeof(*list));
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	session->counters = list;
	add_counter(list, "bytes read", COUNTER_AMOUNT, NUMBER_UNSIGNED);
	add_counter(list, "bytes written", COUNTER_AMOUNT, NUMBER_UNSIGNED);
	add_counter(list, "threads that wait for a CPU", COUNTER_LEVEL, NUMBER_SIGNED);
	add_counter(list, "lost events", COUNTER_AMOUNT, NUMBER_UNSIGNED)->is_lost = true;
	for (size_t i = 0; i < trace_nr_types(trace); i++)
		if (trace_get_type(trace, i)->id >= TRACE_EV_MAX)
			add_type(list, trace_get_type(trace, i));
	mask[TRACE_EV_USER / 64] |= 1ull << TRACE_EV_USER % 64;
	if (trace_analysis_on_transfer(analysis, on_transfer, list) < 0 ||
	    trace_analysis_on_interval_of(analysis, 1u << TRACE_STATE_WAIT_CPU, on_wait, list) < 0 ||
	    trace_analysis_on_event(analysis, mask, on_event, list) < 0)
		memory_end();
}

void view_counters_stop(struct view_session *session)
{
	struct view_counter_list *list = session->counters;

	for (size_t i = 0; list && i < list->nr; i++) {
		drop(&list->items[i]);
		list->items[i].is_cut = true;
	}
	if (list)
		list->nr_values = 0;
}

void view_counters_free(struct view_session *session)
{
	struct view_counter_list *list = session->counters;

	if (!list)
		return;
	for (size_t i = 0; i < list->nr; i++) {
		free(list->items[i].name);
		drop(&list->items[i]);
	}
	for (struct counter_type *type = NULL; (type = table_next(&list->types, sizeof(*type), type));)
		free(type->all);
	table_clear(&list->types);
	for (size_t i = 0; i < NR_COUNTER_NUMBERS; i++)
		table_clear(&list->names[i]);
	strings_clear(&list->texts);
	free(list->items);
	free(list);
	session->counters = NULL;
}

/* ---- after the pass ---- */

static int by_time(const void *left, const void *right, void *data)
{
	const uint64_t *l = left, *r = right;

	return *l < *r ? -1 : *l > *r;
}

/* Changes become the number from each instant on. */
static void finish_level(struct view_counter *counter)
{
	struct counter_value *values = memory_take(counter->nr + 1, sizeof(*values));
	uint64_t now = 0;
	size_t nr = 0;

	memory_sort(counter->changes, counter->nr, sizeof(*counter->changes), by_time, NULL);
	for (size_t i = 0; i < counter->nr; i++) {
		uint64_t ns = counter->changes[i] >> 1;

		now += counter->changes[i] & 1 ? (uint64_t)-1 : 1;
		nr -= nr && values[nr - 1].ns == ns;
		values[nr++] = (struct counter_value){ns, now};
	}
	drop(counter);
	counter->values = values;
	counter->nr = nr;
}

/* The row of a CPU is there before the end of the pass. */
static const struct view_counter *of_cpu(uint32_t cpu)
{
	static _Thread_local struct view_counter counter;
	static _Thread_local char name[24];

	snprintf(name, sizeof(name), "use of CPU %u", cpu);
	counter = (struct view_counter){.name = name, .kind = COUNTER_SHARE, .number = NUMBER_SIGNED, .cpu = cpu};
	return &counter;
}

const struct view_counter *view_counter_at(struct view_session *session, size_t idx)
{
	size_t nr_cpus = trace_view_nr_rows(session->view, TRACE_ROW_CPU);
	struct view_counter_list *list = session->counters;

	if (idx < nr_cpus)
		return of_cpu((uint32_t)idx);
	if (!view_is_collected(session) || !list || idx - nr_cpus >= list->nr)
		return NULL;
	if (!list->is_finished)
		finish_level(&list->items[OF_QUEUE]);
	list->is_finished = true;
	return &list->items[idx - nr_cpus];
}
