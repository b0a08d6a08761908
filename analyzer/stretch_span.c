/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stretch_span.c - the tables of a span from logs and sums: stretches.h. */
#include <stdlib.h>
#include <string.h>
#include <trace/tables.h>
#include "accounting_packed.h"
#include "error_set.h"
#include "histogram.h"
#include "stretches.h"
#include "user_sums.h"

enum span_edge { SPAN_FROM, SPAN_TO, NR_SPAN_EDGES };

/* struct edge_wait - a thread was off the CPUs, or interrupted. @next: of its thread */
struct edge_wait {
	enum stretch_kind kind;
	uint32_t thread, next;
	uint64_t from_ns, to_ns;
};

/* row: the first wait of a thread with calls at an edge; 0: none. The number is its index + 1 */
struct edge_thread {
	uint64_t key; /* thread + 1 */
	uint64_t wait;
};

/*
 * struct stretch_span - @stretch: that of the edge. @reading: that of the log
 * @at: the sums of threads at the begin of that stretch, @nr_at of them
 * @calls: that an edge cuts. @waits: of all threads, near the edges
 */
struct stretch_span {
	const struct trace_tables *tables;
	struct stretch_sums *sums;
	uint64_t ns[NR_SPAN_EDGES];
	uint32_t stretch[NR_SPAN_EDGES], reading;
	const struct stretch_edge *at[NR_SPAN_EDGES];
	size_t nr_at[NR_SPAN_EDGES];
	struct stretch_entry *calls;
	uint32_t nr_calls, max_calls;
	struct edge_wait *waits;
	uint32_t nr_waits, max_waits;
	struct hash_table threads;
	int failed;
};

struct trace_span_tables {
	const struct trace_tables *tables;
	struct acct *accts; /* owned; of the processes that have rows */
	uint32_t nr_accts;
	struct hash_table by_process; /* struct process_number */
	struct hash_table locks;      /* struct lock_row */
	struct hash_table probes;     /* struct probe_use_row */
	struct hash_table events;     /* struct event_use_row */
	struct trace_span *spans;     /* owned */
	size_t nr_spans;
};

struct process_number {
	uint64_t key; /* process + 1 */
	uint64_t number;
};

/* ---- entries ---- */

static uint32_t thread_of(const struct stretch_span *span, const struct stretch_entry *entry)
{
	if (entry->kind == STRETCH_BLOCKED || entry->kind == STRETCH_WAIT_CPU || entry->kind == STRETCH_INTERRUPTED)
		return entry->id;
	return span->tables->uses[entry->id].thread;
}

/* The array @list with room for one more; NULL, with the error of the span: no memory. */
static void *grown(struct stretch_span *span, void *list, uint32_t nr, uint32_t *max, size_t bytes)
{
	uint32_t more = nr + nr / 2 + 1024;
	void *bigger = nr < *max ? list : reallocarray(list, more, bytes);

	if (!bigger)
		span->failed = -ENOMEM;
	else if (nr >= *max)
		*max = more;
	return bigger;
}

static void keep_call(struct stretch_span *span, const struct stretch_entry *entry)
{
	struct stretch_entry *list = grown(span, span->calls, span->nr_calls, &span->max_calls, sizeof(*list));

	if (!list)
		return;
	span->calls = list;
	span->calls[span->nr_calls++] = *entry;
}

static const struct stretch_edge *sums_at(const struct stretch_span *span, enum span_edge edge, uint32_t thread)
{
	size_t low = 0, high = span->nr_at[edge];

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (span->at[edge][middle].thread < thread)
			low = middle + 1;
		else
			high = middle;
	}
	return low < span->nr_at[edge] && span->at[edge][low].thread == thread ? &span->at[edge][low] : NULL;
}

/*
 * True if the parts of a call until @edge need the wait. One that ended before the stretch is in
 * the sums of its thread at the begin, unless it became known later: the thread was off the CPUs
 * then.
 */
static bool is_near(const struct stretch_span *span, const struct stretch_entry *entry, enum span_edge edge)
{
	const struct stretch_edge *sums;

	if (entry->from_ns >= span->ns[edge] || span->reading < span->stretch[edge])
		return false;
	if (entry->to_ns > span->tables->list[span->stretch[edge]].from_ns)
		return true;
	sums = sums_at(span, edge, thread_of(span, entry));
	return !sums || entry->to_ns > sums->at.ns;
}

static void keep_wait(struct stretch_span *span, const struct stretch_entry *entry)
{
	struct edge_wait *list;

	if (!is_near(span, entry, SPAN_FROM) && !is_near(span, entry, SPAN_TO))
		return;
	list = grown(span, span->waits, span->nr_waits, &span->max_waits, sizeof(*list));
	if (!list)
		return;
	span->waits = list;
	span->waits[span->nr_waits++] = (struct edge_wait){.kind = entry->kind,
							   .thread = thread_of(span, entry),
							   .from_ns = entry->from_ns,
							   .to_ns = entry->to_ns};
}

static void take_call(struct stretch_span *span, const struct stretch_entry *entry)
{
	bool begins = entry->from_ns >= span->ns[SPAN_FROM];

	if ((entry->to_ns <= span->ns[SPAN_FROM] && !begins) || entry->from_ns >= span->ns[SPAN_TO])
		return;
	if (begins && entry->to_ns <= span->ns[SPAN_TO])
		stretch_sum_of(span->tables, span->sums, entry);
	else
		keep_call(span, entry);
}

/* A wait is counted if it begins in the span. */
static void take_wait(struct stretch_span *span, const struct stretch_entry *entry)
{
	bool begins = entry->from_ns >= span->ns[SPAN_FROM];
	struct stretch_entry cut = *entry;

	if (entry->kind != STRETCH_LOCK)
		keep_wait(span, entry);
	if (cut.from_ns < span->ns[SPAN_FROM])
		cut.from_ns = span->ns[SPAN_FROM];
	if (cut.to_ns > span->ns[SPAN_TO])
		cut.to_ns = span->ns[SPAN_TO];
	if (cut.from_ns >= cut.to_ns)
		return;
	stretch_sum_of(span->tables, span->sums, &cut);
	if (cut.kind == STRETCH_LOCK && !begins)
		stretch_sums_row(span->sums, span->tables->uses[cut.id].group)->n[SUM_LOCK_COUNT]--;
}

/*
 * A scope or request of a program that ends in the span counts in it. One that began before the end
 * of the span and ended later is open there; if it began before the stretch of its end, too, its
 * crosser tells that.
 */
static void take_span(struct stretch_span *span, const struct stretch_entry *entry)
{
	struct stretch_entry open = *entry;
	uint64_t end_ns = span->tables->a->end_ns, before_ns = span->ns[SPAN_TO] < end_ns ? span->ns[SPAN_TO] : end_ns;
	bool is_crosser = entry->from_ns < span->tables->list[span->reading].from_ns && entry->kind != STRETCH_CROSSED;

	open.kind = STRETCH_OPEN;
	if (entry->to_ns < span->ns[SPAN_TO]) {
		if (entry->to_ns >= span->ns[SPAN_FROM])
			stretch_sum_of(span->tables, span->sums, entry);
	} else if (entry->from_ns < before_ns && !is_crosser && stretch_may_be_open(span->tables, entry)) {
		stretch_sum_of(span->tables, span->sums, &open);
	}
}

static void take_entry(struct stretch_span *span, const struct stretch_entry *entry)
{
	switch (entry->kind) {
	case STRETCH_CALL:
		take_call(span, entry);
		break;
	case STRETCH_READ:
	case STRETCH_WRITE:
	case STRETCH_MAJOR:
	case STRETCH_UNMATCHED:
	case STRETCH_HIT:
	case STRETCH_EVENT:
		if (entry->to_ns >= span->ns[SPAN_FROM] && entry->to_ns < span->ns[SPAN_TO])
			stretch_sum_of(span->tables, span->sums, entry);
		break;
	case STRETCH_SPAN:
	case STRETCH_OPEN:
	case STRETCH_CROSSED:
		take_span(span, entry);
		break;
	default:
		take_wait(span, entry);
	}
}

/* ---- the parts of a call until an edge ---- */

/*
 * The parts of @call until an edge: those in the sums of its thread at the begin of the stretch,
 * and those of later intervals. A thread that has no sums was not known then, or not in the call.
 */
static struct thread_snapshot parts_until(const struct stretch_span *span, enum span_edge edge,
					  const struct stretch_entry *call)
{
	const struct edge_thread *thread = table_find(&span->threads, sizeof(*thread), thread_of(span, call) + 1ull);
	uint64_t begin = call->from_ns, ns = span->ns[edge], known = 0;
	const struct stretch_edge *sums = NULL;
	struct thread_snapshot parts = {0};

	if (call->from_ns < span->tables->list[span->stretch[edge]].from_ns)
		sums = sums_at(span, edge, thread_of(span, call));
	if (sums && sums->at.ns >= call->from_ns) {
		begin = sums->at.ns;
		parts = (struct thread_snapshot){.cpu = sums->at.cpu - call->begin.cpu,
						 .interrupted = sums->at.interrupted - call->begin.interrupted,
						 .wait_cpu = sums->at.wait_cpu - call->begin.wait_cpu,
						 .wait = sums->at.wait - call->begin.wait};
	}
	for (uint64_t i = thread ? thread->wait : 0; i; i = span->waits[i - 1].next) {
		const struct edge_wait *wait = &span->waits[i - 1];
		uint64_t from = wait->from_ns > begin ? wait->from_ns : begin, to = wait->to_ns < ns ? wait->to_ns : ns;

		if (from >= to)
			continue;
		*(wait->kind == STRETCH_INTERRUPTED ? &parts.interrupted
		  : wait->kind == STRETCH_WAIT_CPU  ? &parts.wait_cpu
						    : &parts.wait) += to - from;
		known += to - from;
	}
	parts.cpu += ns - begin - known;
	return parts;
}

static uint64_t part_of(uint64_t *rest, uint64_t ns)
{
	uint64_t part = ns < *rest ? ns : *rest;

	*rest -= part;
	return part;
}

/* As window_call() does it. */
static void cut_call(struct stretch_span *span, const struct stretch_entry *call)
{
	uint64_t elapsed = call->to_ns - call->from_ns, rest, *n;
	uint32_t group = span->tables->uses[call->id].group;
	bool begins = call->from_ns >= span->ns[SPAN_FROM], ends = call->to_ns <= span->ns[SPAN_TO];
	struct thread_snapshot from = {0}, to = {.cpu = elapsed - call->interrupted - call->wait_cpu - call->wait,
						 .interrupted = call->interrupted,
						 .wait_cpu = call->wait_cpu,
						 .wait = call->wait};

	if (!begins)
		from = parts_until(span, SPAN_FROM, call);
	if (!ends)
		to = parts_until(span, SPAN_TO, call);
	rest = (ends ? call->to_ns : span->ns[SPAN_TO]) - (begins ? call->from_ns : span->ns[SPAN_FROM]);
	if (begins)
		stretch_sums_call(span->sums, group, elapsed, call->is_error);
	n = stretch_sums_row(span->sums, group)->n;
	n[SUM_ELAPSED] += rest;
	part_of(&rest, to.cpu - from.cpu);
	n[SUM_INTERRUPTED] += part_of(&rest, to.interrupted - from.interrupted);
	n[SUM_WAIT_CPU] += part_of(&rest, to.wait_cpu - from.wait_cpu);
	n[SUM_WAIT] += rest;
}

/* Calls that an edge cuts are few, so only the waits of their threads are linked. */
static void cut_calls(struct stretch_span *span)
{
	for (uint32_t i = 0; i < span->nr_calls && !span->failed; i++)
		if (!table_add(&span->threads, sizeof(struct edge_thread), thread_of(span, &span->calls[i]) + 1ull))
			span->failed = -ENOMEM;
	for (uint32_t i = 0; i < span->nr_waits && !span->failed; i++) {
		struct edge_thread *thread = table_find(&span->threads, sizeof(*thread), span->waits[i].thread + 1ull);

		if (!thread)
			continue;
		span->waits[i].next = (uint32_t)thread->wait;
		thread->wait = i + 1ull;
	}
	for (uint32_t i = 0; i < span->nr_calls && !span->failed; i++)
		cut_call(span, &span->calls[i]);
}

/* ---- logs and nodes ---- */

static void read_log(struct stretch_span *span, uint32_t stretch, const struct stretch_place *place)
{
	uint8_t *bytes = place->bytes ? stretch_store_get(&span->tables->store, place) : NULL;
	struct stretch_reader *reader = malloc(sizeof(*reader));
	struct stretch_entry entry;

	if (place->bytes && (!bytes || !reader)) {
		span->failed = reader ? -EIO : -ENOMEM;
	} else if (bytes) {
		span->reading = stretch;
		stretch_reader_begin(reader, bytes, place->bytes, span->tables->list[stretch].from_ns);
		while (!span->failed && stretch_get(reader, &entry))
			take_entry(span, &entry);
		if (reader->failed || span->sums->failed)
			span->failed = reader->failed ? -EIO : -ENOMEM;
	}
	free(reader);
	free(bytes);
}

static void read_node(struct stretch_span *span, unsigned int level, uint32_t node)
{
	const struct stretch_place *place = &span->tables->levels[level].nodes[node];
	uint8_t *bytes = stretch_store_get(&span->tables->store, place);
	struct bytes_in in = {.at = bytes, .end = bytes ? bytes + place->bytes : NULL};

	if (bytes)
		stretch_sums_add(span->sums, &in);
	if (!bytes || in.failed || span->sums->failed)
		span->failed = bytes && !in.failed ? -ENOMEM : -EIO;
	free(bytes);
}

/* The stretches from @first to before @end, by as few nodes as there are. */
static void read_nodes(struct stretch_span *span, uint32_t first, uint32_t end)
{
	for (unsigned int level = 0; first < end && !span->failed; level++) {
		bool is_top = level == STRETCH_LEVELS - 1;

		while (first < end && (is_top || first % NODE_CHILDREN) && !span->failed)
			read_node(span, level, first++);
		while (first < end && end % NODE_CHILDREN && !span->failed)
			read_node(span, level, --end);
		first /= NODE_CHILDREN;
		end /= NODE_CHILDREN;
	}
}

static void read_all(struct stretch_span *span)
{
	uint32_t first = span->stretch[SPAN_FROM], last = span->stretch[SPAN_TO];
	const struct table_stretch *list = span->tables->list;

	read_log(span, first, &list[first].log);
	if (last != first && !span->failed)
		read_log(span, last, &list[last].log);
	for (uint32_t i = first; i < span->tables->nr && !span->failed; i++)
		if (list[i].crossers_from_ns < span->ns[SPAN_TO])
			read_log(span, i, &list[i].crossers);
	read_nodes(span, first + 1, last);
}

/* ---- rows by process ---- */

static struct acct *acct_of_process(struct trace_span_tables *result, uint32_t process)
{
	struct process_number *row = table_add(&result->by_process, sizeof(*row), process + 1ull);
	struct acct *bigger;

	if (row && row->number)
		return &result->accts[row->number - 1];
	if (!row)
		return NULL;
	if (!(result->nr_accts & (result->nr_accts - 1))) { /* room for a power of two */
		bigger = reallocarray(result->accts, result->nr_accts ? 2ul * result->nr_accts : 1, sizeof(*bigger));
		if (!bigger)
			return NULL;
		result->accts = bigger;
	}
	result->accts[result->nr_accts] = (struct acct){0};
	row->number = ++result->nr_accts;
	return &result->accts[row->number - 1];
}

static bool take_call_row(struct hash_table *table, uint64_t key, const uint64_t *n)
{
	struct call_row *row = table_add(table, sizeof(*row), key);

	if (row)
		*row = (struct call_row){.key = key,
					 .calls = n[SUM_CALLS],
					 .errors = n[SUM_ERRORS],
					 .elapsed = n[SUM_ELAPSED],
					 .cpu = n[SUM_ELAPSED] - n[SUM_INTERRUPTED] - n[SUM_WAIT_CPU] - n[SUM_WAIT],
					 .interrupted = n[SUM_INTERRUPTED],
					 .wait_cpu = n[SUM_WAIT_CPU],
					 .wait = n[SUM_WAIT],
					 .longest = n[SUM_LONGEST],
					 .shortest = n[SUM_SHORTEST]};
	return row;
}

static bool take_file_row(struct hash_table *table, uint64_t key, const uint64_t *n)
{
	struct file_row *row = table_add(table, sizeof(*row), key);

	if (row)
		*row = (struct file_row){.key = key,
					 .wait_ns = n[SUM_FILE_WAIT],
					 .read_bytes = n[SUM_READ_BYTES],
					 .reads = n[SUM_READS],
					 .written_bytes = n[SUM_WRITTEN_BYTES],
					 .writes = n[SUM_WRITES]};
	return row;
}

static bool take_lock_row(struct hash_table *table, const struct lock_row *lock, const uint64_t *n)
{
	struct lock_row *row = table_add(table, sizeof(*row), lock->key);

	if (!row)
		return false;
	*row = *lock;
	row->ns = n[SUM_LOCK_NS];
	row->count = n[SUM_LOCK_COUNT];
	return true;
}

static bool take_probe_row(struct hash_table *table, const struct stretch_group *group, const uint64_t *n)
{
	uint64_t key = (uint64_t)group->process << 32 | group->key;
	struct probe_use_row *row = table_add(table, sizeof(*row), key);

	if (row)
		row->hits = n[SUM_EVENTS];
	return row;
}

static bool take_event_row(struct hash_table *table, const struct stretch_group *group, const uint64_t *n)
{
	uint64_t key = (uint64_t)group->process << 32 | group->key;
	struct event_use_row *row = table_add(table, sizeof(*row), key);

	if (row)
		row->counts = (struct event_counts){.events = n[SUM_EVENTS],
						    .longs = n[SUM_LONGS],
						    .more_bytes = n[SUM_MORE_BYTES]};
	return row;
}

static bool take_group(struct trace_span_tables *result, const struct stretch_group *group, const uint64_t *n)
{
	struct acct *acct;

	switch (group->form) {
	case FORM_OF_SPAN:
	case FORM_OF_MORE:
		return true; /* stretch_span_rows() takes them */
	case FORM_OF_PROBE:
		return take_probe_row(&result->probes, group, n);
	case FORM_OF_EVENT:
		return take_event_row(&result->events, group, n);
	case FORM_OF_LOCK:
		return take_lock_row(&result->locks, &result->tables->locks[group->key], n);
	default:
		break;
	}
	acct = acct_of_process(result, group->process);
	if (!acct)
		return false;
	if (group->form == FORM_OF_FILE)
		return take_file_row(&acct->files, group->key + 1ull, n);
	return group->form == FORM_OF_TRAP ? take_call_row(&acct->traps, 1, n)
					   : take_call_row(&acct->calls, group->key + 1ull, n);
}

/* A row of the histograms of all groups becomes one of its process. */
static bool take_times(struct trace_span_tables *result, const struct histogram_row *times)
{
	const unsigned int bits = HISTOGRAM_GROUP_BITS + HISTOGRAM_BYTE_BITS;
	const struct stretch_group *group = &result->tables->groups[(times->key >> bits) - 1];
	bool is_span = group->form == FORM_OF_SPAN;
	struct acct *acct = is_span ? NULL : acct_of_process(result, group->process);
	bool is_trap = group->form == FORM_OF_TRAP;
	uint64_t key = (is_trap ? 1 : group->key + 1ull) << bits | (times->key & ((1u << bits) - 1));
	struct histogram_row *row = acct ? table_add(is_trap ? &acct->trap_times : &acct->call_times, sizeof(*row), key)
					 : NULL;

	if (row)
		memcpy(row->counts, times->counts, sizeof(row->counts));
	return row || is_span;
}

static bool has_any(const uint64_t *n)
{
	for (int i = 0; i < NR_SUMS; i++)
		if (n[i])
			return true;
	return false;
}

static bool take_rows(struct trace_span_tables *result, const struct stretch_sums *sums)
{
	const struct trace_tables *tables = result->tables;

	for (uint32_t i = 0; i < sums->nr && i < tables->nr_groups; i++)
		if (has_any(sums->rows[i].n) && !take_group(result, &tables->groups[i], sums->rows[i].n))
			return false;
	for (const struct histogram_row *row = NULL; (row = table_next(&sums->times, sizeof(*row), row));)
		if (!take_times(result, row))
			return false;
	result->spans = stretch_span_rows(tables, sums, &result->nr_spans);
	return result->spans;
}

/* ---- spans ---- */

/* The stretch at @ns: the last one that begins at it or before, or else the first one. */
static uint32_t stretch_at(const struct trace_tables *tables, uint64_t ns)
{
	uint32_t low = 0, high = tables->nr;

	while (high - low > 1) {
		uint32_t middle = (low + high) / 2;

		if (tables->list[middle].from_ns <= ns)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static uint8_t *read_edge(struct stretch_span *span, enum span_edge edge)
{
	const struct stretch_place *place = &span->tables->list[span->stretch[edge]].edges;
	uint8_t *bytes = stretch_store_get(&span->tables->store, place);

	span->at[edge] = (const struct stretch_edge *)(const void *)bytes;
	span->nr_at[edge] = place->bytes / sizeof(struct stretch_edge);
	if (!bytes)
		span->failed = -EIO;
	return bytes;
}

static int span_sums(struct stretch_span *span)
{
	uint8_t *edges[NR_SPAN_EDGES] = {0};

	for (enum span_edge edge = SPAN_FROM; edge < NR_SPAN_EDGES; edge++) {
		span->stretch[edge] = stretch_at(span->tables, span->ns[edge]);
		edges[edge] = read_edge(span, edge);
	}
	if (!span->failed)
		read_all(span);
	if (!span->failed)
		cut_calls(span);
	for (enum span_edge edge = SPAN_FROM; edge < NR_SPAN_EDGES; edge++)
		free(edges[edge]);
	free(span->calls);
	free(span->waits);
	table_clear(&span->threads);
	return span->failed ? span->failed : span->sums->failed ? -ENOMEM : 0;
}

static int check(const struct trace_tables *tables, uint64_t from_ns, uint64_t to_ns, struct trace_error *ret_error)
{
	if (!tables->a->done)
		return error_set(ret_error, -EAGAIN, "the pass of the tables has not ended");
	if (tables->a->gaps.is_coarse)
		return error_set(
			ret_error, -ENODATA,
			"events are missing in too many places, so the tables of a span need a pass of their own");
	if (tables->user && user_spans_are_full(tables->user))
		return error_set(ret_error, -ENODATA,
				 "the programs have too many names of scopes, so the tables of a span need a pass of "
				 "their own");
	if (from_ns >= to_ns)
		return error_set(ret_error, -EINVAL, "the span is empty");
	return 0;
}

int trace_tables_of_span(const struct trace_tables *tables, uint64_t from_ns, uint64_t to_ns,
			 struct trace_span_tables **ret_span, struct trace_error *ret_error)
{
	struct stretch_sums sums = {0};
	struct stretch_span span = {.tables = tables, .sums = &sums, .ns = {from_ns, to_ns ? to_ns : UINT64_MAX}};
	struct trace_span_tables *result;
	int error = check(tables, span.ns[SPAN_FROM], span.ns[SPAN_TO], ret_error);

	if (error)
		return error;
	if (span.ns[SPAN_FROM] < tables->a->start_ns)
		span.ns[SPAN_FROM] = tables->a->start_ns;
	if (span.ns[SPAN_TO] > tables->a->end_ns)
		span.ns[SPAN_TO] = tables->a->end_ns + 1; /* the last event is at the end */
	error = tables->failed ? tables->failed : tables->store.error;
	if (tables->user && tables->user->failed)
		error = tables->user->failed;
	result = calloc(1, sizeof(*result));
	if (!result)
		error = -ENOMEM;
	else
		result->tables = tables;
	if (!error && tables->nr)
		error = span_sums(&span);
	if (!error && !take_rows(result, &sums))
		error = -ENOMEM;
	stretch_sums_clear(&sums);
	if (error) {
		trace_span_tables_free(result);
		return error_set(ret_error, error,
				 error == -ENOMEM ? "out of memory for the tables"
						  : "the file of the tables cannot be read or written");
	}
	*ret_span = result;
	return 0;
}

struct trace_span_tables *trace_span_tables_free(struct trace_span_tables *span)
{
	if (!span)
		return NULL;
	for (uint32_t i = 0; i < span->nr_accts; i++)
		acct_clear(&span->accts[i]);
	free(span->accts);
	table_clear(&span->by_process);
	table_clear(&span->probes);
	table_clear(&span->events);
	free(span->spans);
	table_clear(&span->locks);
	free(span);
	return NULL;
}

struct trace_figures *trace_span_tables_figures(const struct trace_span_tables *span,
						const struct trace_process *process)
{
	const struct process_number *row = table_find(&span->by_process, sizeof(*row), process->idx + 1ull);
	static const struct acct none;

	return figures_of(span->tables->a, row ? &span->accts[row->number - 1] : &none, 0);
}

struct trace_lock_wait *trace_span_tables_locks(const struct trace_span_tables *span, size_t *ret_nr)
{
	return lock_list(span->tables->a, &span->locks, ret_nr);
}

const struct trace_span *trace_span_tables_scopes(const struct trace_span_tables *span, size_t *ret_nr)
{
	*ret_nr = span->nr_spans;
	return span->spans;
}

struct trace_probe_use *trace_span_tables_probes(const struct trace_span_tables *span, size_t *ret_nr)
{
	return probe_use_list(span->tables->a, &span->probes, ret_nr);
}

struct trace_event_use *trace_span_tables_events(const struct trace_span_tables *span, size_t *ret_nr)
{
	return event_use_list(span->tables->a, &span->events, ret_nr);
}
