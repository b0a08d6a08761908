/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* stretches.c - the logs and the sums of stretches, while the pass runs: stretches.h. */
#include <stdlib.h>
#include <string.h>
#include <trace/tables.h>
#include "error_set.h"
#include "state_frame.h"
#include "stretches.h"
#include "user_accounting.h"

struct stretch_number_row {
	uint64_t key;
	uint64_t number;
};

/* ---- numbers of uses and groups ---- */

/* The array @list with room for one more. Returns NULL if there is no memory. */
static void *grown(struct trace_tables *tables, void *list, uint32_t nr, uint32_t *max, size_t bytes)
{
	uint32_t more = nr + nr / 2 + 64;
	void *bigger;

	if (nr < *max)
		return list;
	bigger = reallocarray(list, more, bytes);
	if (bigger)
		*max = more;
	else
		tables->failed = -ENOMEM;
	return bigger;
}

/*
 * Owners are numbered, and are the upper bits: hash_u64() alone would give 8,192 of them one place
 * each, and those after them the same places. Different keys stay different.
 */
static uint64_t key_of(uint32_t owner, enum stretch_form form, uint32_t key)
{
	uint64_t all = (uint64_t)(owner + 1u) << 35 | (uint64_t)key << 3 | (uint64_t)form;

	return (all << 32 | all >> 32) ^ all >> 35;
}

/* Sets @is_new if @key has the number @next now. NULL: no memory. */
static const struct stretch_number_row *number_of(struct trace_tables *tables, struct hash_table *table, uint64_t key,
						  uint32_t next, bool *is_new)
{
	struct stretch_number_row *row = table_find(table, sizeof(*row), key);

	*is_new = !row;
	if (row)
		return row;
	row = table_add(table, sizeof(*row), key);
	if (row)
		row->number = next;
	if (!row)
		tables->failed = -ENOMEM;
	return row;
}

static uint32_t group_get(struct trace_tables *tables, const struct stretch_group *group)
{
	bool is_new;
	const struct stretch_number_row *row = number_of(tables, &tables->group_by_key,
							 key_of(group->process, group->form, group->key),
							 tables->nr_groups, &is_new);
	struct stretch_group *list;

	if (!row || !is_new)
		return row ? (uint32_t)row->number : 0;
	list = grown(tables, tables->groups, tables->nr_groups, &tables->max_groups, sizeof(*list));
	if (!list)
		return 0;
	tables->groups = list;
	tables->groups[tables->nr_groups] = *group;
	return tables->nr_groups++;
}

static uint32_t use_new(struct trace_tables *tables, uint32_t thread, const struct stretch_group *group)
{
	uint32_t nr = group_get(tables, group);
	struct stretch_use *list = grown(tables, tables->uses, tables->nr_uses, &tables->max_uses, sizeof(*list));

	if (!list)
		return 0;
	tables->uses = list;
	tables->uses[tables->nr_uses] = (struct stretch_use){thread, nr};
	return tables->nr_uses++;
}

/* The id of what @thread did with a call or file. */
static uint32_t use_get(struct trace_tables *tables, const struct trace_thread *thread, enum stretch_form form,
			uint32_t key)
{
	bool is_new;
	const struct stretch_number_row *row = number_of(tables, &tables->use_by_key, key_of(thread->idx, form, key),
							 tables->nr_uses, &is_new);
	struct stretch_group group = {.form = form, .process = thread->process->idx, .key = key};

	if (!row || !is_new)
		return row ? (uint32_t)row->number : 0;
	return use_new(tables, thread->idx, &group);
}

static uint32_t lock_get(struct trace_tables *tables, const struct lock_row *lock)
{
	bool is_new;
	const struct stretch_number_row *row = number_of(tables, &tables->lock_by_key, lock->key, tables->nr_uses,
							 &is_new);
	struct stretch_group group = {.form = FORM_OF_LOCK,
				      .process = lock->waiter->process->idx,
				      .key = tables->nr_locks};
	struct lock_row *list;

	if (!row || !is_new)
		return row ? (uint32_t)row->number : 0;
	list = grown(tables, tables->locks, tables->nr_locks, &tables->max_locks, sizeof(*list));
	if (!list)
		return 0;
	tables->locks = list;
	tables->locks[tables->nr_locks] = *lock;
	tables->locks[tables->nr_locks].ns = tables->locks[tables->nr_locks].count = 0;
	tables->nr_locks++;
	return use_new(tables, lock->waiter->idx, &group);
}

/* The id of scopes or requests of one name. */
static uint32_t span_get(struct trace_tables *tables, const struct span_sum *span)
{
	struct stretch_group group = {.form = FORM_OF_SPAN, .key = span->number},
			     more = {.form = FORM_OF_MORE, .key = span->number};
	bool is_new;
	const struct stretch_number_row *row =
		number_of(tables, &tables->use_by_key, key_of(0, FORM_OF_SPAN, span->number), tables->nr_uses, &is_new);
	uint32_t id;

	if (!row || !is_new)
		return row ? (uint32_t)row->number : 0;
	id = use_new(tables, 0, &group);
	group_get(tables, &more); /* it is the next one */
	return id;
}

/* ---- sums ---- */

static void sum_call(struct stretch_sums *sums, uint32_t group, const struct stretch_entry *entry)
{
	uint64_t ns = entry->to_ns - entry->from_ns, *n;

	stretch_sums_call(sums, group, ns, entry->is_error);
	n = stretch_sums_row(sums, group)->n;
	n[SUM_ELAPSED] += ns;
	n[SUM_INTERRUPTED] += entry->interrupted;
	n[SUM_WAIT_CPU] += entry->wait_cpu;
	n[SUM_WAIT] += entry->wait;
}

static void sum_span(struct stretch_sums *sums, uint32_t group, const struct stretch_entry *entry)
{
	const struct trace_times *times = &entry->times;
	uint64_t ns = entry->to_ns - entry->from_ns, *n;

	stretch_sums_call(sums, group, ns, false);
	n = stretch_sums_row(sums, group)->n;
	n[SUM_ELAPSED] += ns;
	n[SUM_INTERRUPTED] += times->interrupted_ns;
	n[SUM_WAIT_CPU] += times->wait_cpu_ns;
	n[SUM_WAIT] += times->blocked_ns;
	n = stretch_sums_row(sums, group + 1)->n;
	n[SUM_SYSCALL] += times->syscall_ns;
	n[SUM_TRAP] += times->trap_ns;
	n[SUM_QUEUED] += entry->queued;
	n[SUM_UNSEEN] += ns - entry->queued - times->user_ns - times->syscall_ns - times->trap_ns -
			 times->interrupted_ns - times->wait_cpu_ns - times->blocked_ns;
}

/* Those of programs, which have no part that an edge cuts. */
static void sum_user(struct stretch_sums *sums, uint32_t group, const struct stretch_entry *entry)
{
	uint64_t *n;

	if (entry->kind == STRETCH_SPAN) {
		sum_span(sums, group, entry);
		return;
	}
	n = stretch_sums_row(sums, entry->kind == STRETCH_OPEN ? group + 1 : group)->n;
	if (entry->kind == STRETCH_OPEN)
		n[SUM_OPEN]++;
	else if (entry->kind == STRETCH_UNMATCHED)
		n[SUM_ERRORS]++;
	else
		n[SUM_EVENTS]++;
	if (entry->kind != STRETCH_EVENT || !entry->bytes)
		return;
	n[SUM_LONGS]++;
	n[SUM_MORE_BYTES] += entry->bytes - 1;
}

bool stretch_may_be_open(const struct trace_tables *tables, const struct stretch_entry *entry)
{
	const struct stretch_group *group;

	if (!tables->user || entry->id >= tables->nr_uses)
		return false;
	group = &tables->groups[tables->uses[entry->id].group];
	return tables->user->spans[group->key]->kind != TRACE_SPAN_BETWEEN;
}

void stretch_sum_of(const struct trace_tables *tables, struct stretch_sums *sums, const struct stretch_entry *entry)
{
	uint64_t ns = entry->to_ns - entry->from_ns, *n;
	uint32_t group;

	if (entry->kind == STRETCH_BLOCKED || entry->kind == STRETCH_WAIT_CPU || entry->kind == STRETCH_INTERRUPTED ||
	    entry->kind == STRETCH_CROSSED || entry->id >= tables->nr_uses)
		return;
	group = tables->uses[entry->id].group;
	if (entry->kind == STRETCH_CALL) {
		sum_call(sums, group, entry);
		return;
	}
	if (entry->kind >= STRETCH_SPAN) {
		sum_user(sums, group, entry);
		return;
	}
	n = stretch_sums_row(sums, group)->n;
	n[SUM_FILE_WAIT] += entry->kind == STRETCH_FILE_WAIT ? ns : 0;
	n[SUM_READS] += entry->kind == STRETCH_READ;
	n[SUM_READ_BYTES] += entry->kind == STRETCH_READ ? entry->bytes : 0;
	n[SUM_WRITES] += entry->kind == STRETCH_WRITE;
	n[SUM_WRITTEN_BYTES] += entry->kind == STRETCH_WRITE ? entry->bytes : 0;
	if (entry->kind == STRETCH_MAJOR)
		n[SUM_ERRORS]++;
	if (entry->kind == STRETCH_LOCK) {
		n[SUM_LOCK_NS] += ns - gap_log_overlap(&tables->a->gaps, entry->from_ns, entry->to_ns);
		n[SUM_LOCK_COUNT]++;
	}
}

/* ---- nodes ---- */

static void level_put(struct trace_tables *tables, unsigned int level);

/* The node that has just been made is a child of the level above. */
static void level_add(struct trace_tables *tables, unsigned int level, const struct bytes_out *bytes)
{
	struct bytes_in in = {.at = bytes->at, .end = bytes->at + bytes->nr};

	stretch_sums_add(&tables->levels[level].sums, &in);
	if (in.failed || tables->levels[level].sums.failed)
		tables->failed = -ENOMEM;
	if (++tables->levels[level].nr_children == NODE_CHILDREN)
		level_put(tables, level);
}

/* The sums of @level become a node. */
static void level_put(struct trace_tables *tables, unsigned int level)
{
	struct stretch_level *at = &tables->levels[level];
	struct stretch_place *nodes = grown(tables, at->nodes, at->nr, &at->max, sizeof(*nodes));
	struct bytes_out bytes = {0};

	if (!nodes)
		return;
	at->nodes = nodes;
	stretch_sums_pack(&at->sums, &bytes);
	at->nodes[at->nr++] = stretch_store_put(&tables->store, &bytes);
	stretch_sums_reset(&at->sums);
	at->nr_children = 0;
	if (level + 1 < STRETCH_LEVELS)
		level_add(tables, level + 1, &bytes);
	bytes_free(&bytes);
}

/* ---- stretches ---- */

static struct stretch_place put_log(struct trace_tables *tables, const struct stretch_writer *log)
{
	struct stretch_place place = {0};
	struct bytes_out out = {0};

	if (log->nr) {
		stretch_writer_end(log, &out);
		place = stretch_store_put(&tables->store, &out);
	}
	bytes_free(&out);
	return place;
}

static void stretch_close(struct trace_tables *tables)
{
	struct table_stretch *last = &tables->list[tables->nr - 1];

	last->log = put_log(tables, &tables->log);
	last->crossers = put_log(tables, &tables->crossers);
	level_put(tables, 0);
	tables->nr_entries = 0;
}

/* True if @thread is in a call, or may turn out to have been in one since the start. */
static bool is_in_call(const struct trace_thread *thread)
{
	return thread->depth || thread->flags & THREAD_MODE_UNKNOWN;
}

static int by_thread(const void *left, const void *right)
{
	const struct stretch_edge *l = left, *r = right;

	return l->thread < r->thread ? -1 : l->thread > r->thread;
}

/*
 * The sums of @thread until its last accounting. The time since then has no state yet: the
 * intervals that come later tell it.
 */
static void edge_snapshot(const struct trace_analysis *a, const struct trace_thread *thread,
			  struct thread_snapshot *ret_sums)
{
	uint64_t since = thread->sched_state == SCHED_ON_CPU ? a->cpus[thread->cpu].accounted_ns : thread->since;

	thread_snapshot(thread, since, ret_sums);
	for (uint32_t i = 0; thread->flags & THREAD_MODE_UNKNOWN && i < thread->nr_shares; i++)
		ret_sums->cpu += thread->shares[i].ns; /* if it was in a call, all of it was */
}

static struct stretch_place put_edges(struct trace_tables *tables)
{
	const struct trace_analysis *a = tables->a;
	struct stretch_place place;
	struct bytes_out out = {0};

	for (uint32_t i = NR_PSEUDO_PROCESSES; i < a->threads.nr_processes; i++)
		for (const struct trace_thread *thread = a->threads.processes[i]->first; thread;
		     thread = thread->next) {
			struct stretch_edge edge = {.thread = thread->idx};

			if (!is_in_call(thread) || thread->sched_state == SCHED_DEAD)
				continue;
			edge_snapshot(a, thread, &edge.at);
			bytes_put(&out, &edge, sizeof(edge));
		}
	if (out.nr)
		qsort(out.at, out.nr / sizeof(struct stretch_edge), sizeof(struct stretch_edge), by_thread);
	place = stretch_store_put(&tables->store, &out);
	bytes_free(&out);
	return place;
}

static void stretch_open(struct trace_tables *tables, uint64_t ns)
{
	struct table_stretch *list = grown(tables, tables->list, tables->nr, &tables->max, sizeof(*list));

	if (!list)
		return;
	tables->list = list;
	tables->list[tables->nr++] =
		(struct table_stretch){.from_ns = ns, .crossers_from_ns = UINT64_MAX, .edges = put_edges(tables)};
	stretch_writer_begin(&tables->log, ns);
	stretch_writer_begin(&tables->crossers, ns);
}

/*
 * Called before the entry of the moment is put. A new stretch begins now if all entries so far were
 * made earlier: those of one moment are in one stretch. At the end of the trace there is no moment.
 */
static void stretch_next(struct trace_tables *tables)
{
	uint64_t now = tables->a->now;

	if (!tables->nr)
		stretch_open(tables, tables->a->start_ns);
	else if (tables->nr_entries >= tables->entries_of_stretch && now > tables->last_ns && !tables->a->ended) {
		stretch_close(tables);
		stretch_open(tables, now);
	}
	tables->last_ns = now;
	tables->nr_entries++;
}

static void crosser_put(struct trace_tables *tables, const struct stretch_entry *entry)
{
	struct table_stretch *last = &tables->list[tables->nr - 1];

	stretch_put(&tables->crossers, entry);
	last->crossers_from_ns = entry->from_ns < last->crossers_from_ns ? entry->from_ns : last->crossers_from_ns;
}

static void entry_put(struct trace_tables *tables, const struct stretch_entry *entry)
{
	bool counts_at_end = entry->kind == STRETCH_SPAN || entry->kind == STRETCH_OPEN;
	struct stretch_entry crossed = *entry;

	if (tables->failed || !tables->nr)
		return;
	if (entry->from_ns < tables->list[tables->nr - 1].from_ns) {
		crossed.kind = counts_at_end ? STRETCH_CROSSED : entry->kind;
		if (!counts_at_end || stretch_may_be_open(tables, entry))
			crosser_put(tables, &crossed);
		if (!counts_at_end)
			return;
	}
	stretch_put(&tables->log, entry);
	stretch_sum_of(tables, &tables->levels[0].sums, entry);
}

/* The last stretch ends, and no entry follows. */
static void stretches_end(struct trace_tables *tables)
{
	if (tables->nr)
		stretch_close(tables);
	for (unsigned int i = 0; i < STRETCH_LEVELS; i++)
		stretch_sums_clear(&tables->levels[i].sums);
	stretch_writer_clear(&tables->log);
	stretch_writer_clear(&tables->crossers);
}

/* ---- hooks ---- */

/* The parts of a call, as window.c divides it: they never exceed its time. */
static uint64_t part_of(uint64_t *rest, uint64_t ns)
{
	uint64_t part = ns < *rest ? ns : *rest;

	*rest -= part;
	return part;
}

static void on_call(void *data, const struct trace_thread *thread, uint64_t ns, const struct frame *frame, int64_t ret)
{
	bool is_trap = frame->kind == FRAME_TRAP;
	struct trace_tables *tables = data;
	struct stretch_entry entry = {.kind = STRETCH_CALL, .from_ns = frame->begin.ns, .to_ns = ns};
	struct thread_snapshot end;
	uint64_t rest = ns - frame->begin.ns;

	stretch_next(tables);
	thread_snapshot(thread, ns, &end);
	entry.id = use_get(tables, thread, is_trap ? FORM_OF_TRAP : FORM_OF_CALL, is_trap ? 0 : frame->call);
	entry.is_error = frame_is_error(frame, ret);
	part_of(&rest, end.cpu - frame->begin.cpu);
	entry.interrupted = part_of(&rest, end.interrupted - frame->begin.interrupted);
	entry.wait_cpu = part_of(&rest, end.wait_cpu - frame->begin.wait_cpu);
	entry.wait = rest;
	entry.has_begin = tables->nr && frame->begin.ns < tables->list[tables->nr - 1].from_ns;
	entry.begin = frame->begin;
	entry_put(tables, &entry);
}

static void on_major(void *data, const struct trace_thread *thread, uint64_t ns)
{
	struct trace_tables *tables = data;
	struct stretch_entry entry = {.kind = STRETCH_MAJOR, .from_ns = ns, .to_ns = ns};

	stretch_next(tables);
	entry.id = use_get(tables, thread, FORM_OF_TRAP, 0);
	entry_put(tables, &entry);
}

static void on_transfer(void *data, const struct trace_thread *thread, file_idx file, bool is_read, uint64_t bytes)
{
	struct trace_tables *tables = data;
	uint64_t now = tables->a->now;
	struct stretch_entry entry = {
		.kind = is_read ? STRETCH_READ : STRETCH_WRITE, .from_ns = now, .to_ns = now, .bytes = bytes};

	stretch_next(tables);
	entry.id = use_get(tables, thread, FORM_OF_FILE, file_path(tables->a, file));
	entry_put(tables, &entry);
}

static void on_lock(void *data, const struct lock_row *lock, uint64_t from_ns, uint64_t to_ns)
{
	struct trace_tables *tables = data;
	struct stretch_entry entry = {.kind = STRETCH_LOCK, .from_ns = from_ns, .to_ns = to_ns};

	stretch_next(tables);
	entry.id = lock_get(tables, lock);
	entry_put(tables, &entry);
}

static void on_interval(void *data, struct trace_analysis *a, const struct trace_interval *interval)
{
	struct trace_tables *tables = data;
	struct stretch_entry entry = {.kind = interval->state == TRACE_STATE_BLOCKED	? STRETCH_BLOCKED
					      : interval->state == TRACE_STATE_WAIT_CPU ? STRETCH_WAIT_CPU
											: STRETCH_INTERRUPTED,
				      .id = interval->thread->idx,
				      .from_ns = interval->from_ns,
				      .to_ns = interval->to_ns};

	if (entry.kind != STRETCH_BLOCKED && !is_in_call(interval->thread))
		return; /* no call needs it */
	stretch_next(tables);
	if (a->hooks.wait_key && wait_of_key(a->hooks.wait_key).kind == TRACE_WAIT_FILE) {
		entry.kind = STRETCH_FILE_WAIT;
		entry.id = use_get(tables, interval->thread, FORM_OF_FILE, (string_id)a->hooks.wait_key);
	}
	entry_put(tables, &entry);
}

/* An entry of one time: what a thread did now with a probe or an event of its program. */
static void put_point(struct trace_tables *tables, const struct trace_thread *thread, enum stretch_kind kind,
		      uint32_t event, uint64_t bytes)
{
	uint64_t now = tables->a->now;
	struct stretch_entry entry = {.kind = kind, .from_ns = now, .to_ns = now, .bytes = bytes};

	stretch_next(tables);
	entry.id = use_get(tables, thread, kind == STRETCH_HIT ? FORM_OF_PROBE : FORM_OF_EVENT, event);
	entry_put(tables, &entry);
}

static void on_hit(void *data, const struct trace_thread *thread, uint32_t event)
{
	put_point(data, thread, STRETCH_HIT, event, 0);
}

static void on_event(void *data, const struct trace_thread *thread, uint32_t event, const struct event_counts *one)
{
	put_point(data, thread, STRETCH_EVENT, event, one->longs ? 1 + one->more_bytes : 0);
}

static void on_done(void *data)
{
	struct trace_tables *tables = data;

	if (tables->user)
		user_events_close(tables->user);
	stretches_end(tables);
}

static const struct table_hooks table_hooks = {on_call, on_major, on_transfer, on_lock, on_hit, on_event, on_done};

/* ---- scopes and requests of programs ---- */

static void put_span(struct trace_tables *tables, const struct span_sum *span, struct stretch_entry *entry)
{
	stretch_next(tables);
	entry->id = span_get(tables, span);
	entry_put(tables, entry);
}

static void on_span(void *data, const struct span_sum *span, uint64_t from_ns, const struct trace_times *times,
		    uint64_t queued)
{
	struct trace_tables *tables = data;
	struct stretch_entry entry = {
		.kind = STRETCH_SPAN, .from_ns = from_ns, .to_ns = tables->a->now, .times = *times, .queued = queued};

	put_span(tables, span, &entry);
}

static void on_open(void *data, const struct span_sum *span, uint64_t from_ns)
{
	struct trace_tables *tables = data;
	uint64_t now = tables->a->ended ? tables->a->end_ns + 1 : tables->a->now; /* after all events */
	struct stretch_entry entry = {.kind = STRETCH_OPEN, .from_ns = from_ns, .to_ns = now};

	put_span(tables, span, &entry);
}

static void on_unmatched(void *data, const struct span_sum *span)
{
	struct trace_tables *tables = data;
	uint64_t now = tables->a->now;
	struct stretch_entry entry = {.kind = STRETCH_UNMATCHED, .from_ns = now, .to_ns = now};

	put_span(tables, span, &entry);
}

static const struct user_hooks user_hooks = {on_span, on_open, on_unmatched};

int trace_tables_add_user(struct trace_tables *tables, struct trace_user_events *user, struct trace_error *ret_error)
{
	if (tables->user || user->hooks || user->analysis != tables->a || tables->a->began)
		return error_set(ret_error, -EBUSY,
				 "the tables have the events of programs already, or those are of another analysis, "
				 "or its pass began");
	tables->user = user;
	user->hooks = &user_hooks;
	user->hooks_data = tables;
	return 0;
}

/* ---- begin, end ---- */

struct trace_tables *trace_tables_new(struct trace_analysis *a, const struct trace_tables_options *options,
				      struct trace_error *ret_error)
{
	const uint32_t states = 1u << TRACE_STATE_BLOCKED | 1u << TRACE_STATE_WAIT_CPU | 1u << TRACE_STATE_INTERRUPTED;
	struct trace_tables *tables;

	if (a->window || a->hooks.tables || a->began) {
		error_set(ret_error, -EBUSY, "the analysis has a window or tables already, or its pass began");
		return NULL;
	}
	tables = calloc(1, sizeof(*tables));
	if (!tables || trace_analysis_on_interval_of(a, states, on_interval, tables) < 0) {
		error_set(ret_error, -ENOMEM, "out of memory");
		free(tables);
		return NULL;
	}
	tables->a = a;
	tables->store.fd = options && options->has_file ? options->fd : -1;
	tables->entries_of_stretch = options && options->nr_entries ? options->nr_entries : STRETCH_ENTRIES;
	a->hooks.tables = &table_hooks;
	a->hooks.tables_data = tables;
	a->hooks.has_transfer = true;
	return tables;
}

struct trace_tables *trace_tables_free(struct trace_tables *tables)
{
	if (!tables)
		return NULL;
	if (tables->a->hooks.tables_data == tables)
		tables->a->hooks.tables = NULL;
	if (tables->user)
		tables->user->hooks = NULL;
	for (unsigned int i = 0; i < STRETCH_LEVELS; i++)
		stretch_sums_clear(&tables->levels[i].sums);
	stretch_writer_clear(&tables->log);
	stretch_writer_clear(&tables->crossers);
	stretch_store_clear(&tables->store);
	for (unsigned int i = 0; i < STRETCH_LEVELS; i++)
		free(tables->levels[i].nodes);
	table_clear(&tables->use_by_key);
	table_clear(&tables->group_by_key);
	table_clear(&tables->lock_by_key);
	free(tables->uses);
	free(tables->groups);
	free(tables->locks);
	free(tables->list);
	free(tables);
	return NULL;
}
