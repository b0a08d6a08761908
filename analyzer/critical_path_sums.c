/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * critical_path_sums.c - the contributors of a critical path, and its verification
 *
 * A path may have millions of steps, but few different ones: they are added up by their patterns
 * before any name is compared.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "critical_path_steps.h"
#include "error_set.h"
#include "result_order.h"
#include "sort.h"
#include "state.h"

static bool is_on_cpu(enum trace_state state)
{
	return state != TRACE_STATE_WAIT_CPU && state != TRACE_STATE_BLOCKED;
}

/* ---- contributors ---- */

struct sum_row {
	uint64_t key;
	struct trace_contributor sum;
};
/* of the steps of one pattern */
struct pattern_sum {
	uint64_t ns;
	uint64_t count;
};
struct path_sums {
	struct hash_table rows;
	struct trace_critical_path *path;
	uint32_t own; /* process */
};

static uint64_t hash_text(uint64_t hash, const char *text)
{
	while (*text)
		hash = hash_u64(hash ^ (unsigned char)*text++);
	return hash;
}

/*
 * Commands are the same if their names are, whatever their process numbers; but the chosen process
 * has rows of its own.
 */
static bool same(const struct trace_contributor *a, const struct trace_contributor *b, uint32_t own)
{
	return a->by == b->by && a->state == b->state && a->kind == b->kind && a->tid == b->tid &&
	       strcmp(a->comm, b->comm) == 0 && strcmp(a->title, b->title) == 0 && a->address == b->address &&
	       strcmp(a->target, b->target) == 0 && strcmp(a->via, b->via) == 0 &&
	       (a->pid == b->pid || (a->by == TRACE_BY_COMMAND && a->pid != own && b->pid != own));
}

/* @share->count must be at least 1. */
static void sum_add(struct path_sums *sums, const struct trace_contributor *share)
{
	uint64_t key = hash_u64((uint64_t)share->by << 40 ^ (uint64_t)share->state << 32 ^ (uint64_t)share->kind << 24 ^
				1);
	struct sum_row *row;

	key = hash_u64(hash_u64(key ^ share->tid) ^ share->address);
	key = hash_text(hash_text(hash_text(key, share->title), share->target), share->via);
	if (share->by != TRACE_BY_COMMAND || share->pid == sums->own)
		key = hash_u64(key ^ share->pid);
	for (key = key ? key : 1;; key = key + 1 ? key + 1 : 1) {
		row = table_add(&sums->rows, sizeof(*row), key);
		if (!row) {
			sums->path->failed = -ENOMEM;
			return;
		}
		if (!row->sum.count) {
			row->sum = *share;
			return;
		}
		if (same(&row->sum, share, sums->own))
			break;
	}
	row->sum.ns += share->ns;
	row->sum.count += share->count;
	if (row->sum.pid != share->pid)
		row->sum.pid = 0;
}

/* The first thread has the title of its process. */
static const char *title_of_thread(const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);

	return trace_thread_tid(thread) == trace_process_pid(process) ? trace_process_title(process)
								      : trace_thread_comm(thread);
}

static void share_set_process(struct trace_contributor *share, const struct trace_thread *thread)
{
	share->comm = trace_process_comm(trace_thread_process(thread));
	share->title = trace_process_title(trace_thread_process(thread));
	share->pid = trace_process_pid(trace_thread_process(thread));
}

static void sum_segments(struct path_sums *sums, const struct trace_path_segment *segment, uint64_t ns, uint64_t count)
{
	struct trace_contributor share = {
		.state = segment->state, .kind = segment->kind, .target = "", .via = "", .ns = ns, .count = count};
	struct trace_contributor command;

	share_set_process(&share, segment->thread);
	command = share;
	command.by = TRACE_BY_COMMAND;
	if (is_on_cpu(segment->state) && segment->state != TRACE_STATE_INTERRUPTED)
		command.state = TRACE_STATE_RUNNING;
	sum_add(sums, &command);
	share.by = TRACE_BY_THREAD;
	share.tid = trace_thread_tid(segment->thread);
	share.comm = trace_thread_comm(segment->thread);
	share.title = title_of_thread(segment->thread);
	sum_add(sums, &share);
	if (segment->waiter && !path_is_lock(segment->waited_via)) {
		struct trace_contributor link = {.by = TRACE_BY_LINK,
						 .state = TRACE_STATE_BLOCKED,
						 .kind = TRACE_WAIT_PROCESS,
						 .target = "",
						 .via = segment->waited_via,
						 .ns = ns,
						 .count = count};

		share_set_process(&link, segment->thread);
		sum_add(sums, &link);
	}
	if (segment->state == TRACE_STATE_BLOCKED) {
		struct trace_contributor target = {.by = TRACE_BY_TARGET,
						   .comm = "",
						   .title = "",
						   .state = segment->state,
						   .kind = segment->kind,
						   .target = segment->target,
						   .via = segment->via,
						   .ns = ns,
						   .count = count};

		if (segment->other)
			target.pid = trace_process_pid(segment->other);
		sum_add(sums, &target);
	}
	if (segment->state == TRACE_STATE_WAIT_CPU) {
		struct trace_contributor competitor = {.by = TRACE_BY_COMPETITOR,
						       .comm = segment->holder_name,
						       .title = segment->holder_name,
						       .state = segment->state,
						       .target = "",
						       .via = "",
						       .ns = ns,
						       .count = count};

		if (segment->holder)
			share_set_process(&competitor, segment->holder);
		sum_add(sums, &competitor);
	}
}

static int compare(const void *left, const void *right)
{
	const struct trace_contributor *l = left, *r = right;
	int difference = ascending(l->by, r->by);

	difference = difference ?: descending(l->ns, r->ns);
	difference = difference ?: ascending(l->pid, r->pid);
	difference = difference ?: ascending(l->tid, r->tid);
	difference = difference ?: ascending(l->state, r->state);
	difference = difference ?: strcmp(l->comm, r->comm);
	difference = difference ?: strcmp(l->target, r->target);
	difference = difference ?: ascending(l->kind, r->kind);
	difference = difference ?: strcmp(l->via, r->via);
	difference = difference ?: ascending(l->address, r->address);
	difference = difference ?: descending(l->count, r->count);
	return difference;
}

/* Returns the sums of each pattern, to be freed; NULL: no memory. */
static struct pattern_sum *pattern_sums(const struct trace_critical_path *path)
{
	struct pattern_sum *sums = calloc(path->nr_patterns + 1, sizeof(*sums));

	for (size_t i = 0; sums && i < path->nr_steps; i++) {
		struct pattern_sum *sum = &sums[path->steps[i].pattern];

		sum->ns += path_step_to(path, i) - path->steps[i].from;
		sum->count++;
	}
	return sums;
}

/* struct held_row - one thread that held one lock */
struct held_row {
	uint64_t key; /* timeline + 1, activity of the wait */
	uint64_t ns;
	uint64_t count;
};

static void sum_held(struct path_sums *sums)
{
	struct trace_critical_path *path = sums->path;
	struct hash_table rows = {0};
	struct held_row *row;

	for (size_t i = 0; i < path->nr_held && !path->failed; i++) {
		const struct path_lock *held = &path->held[i];

		row = table_add(&rows, sizeof(*row), (held->timeline + 1ull) << 32 | held->wait);
		if (!row) {
			path->failed = -ENOMEM;
			break;
		}
		row->ns += held->ns;
		row->count++;
	}
	for (row = NULL; !path->failed && (row = table_next(&rows, sizeof(*row), row));) {
		const struct history_activity *wait = &path->history->activities[(uint32_t)row->key];
		const struct trace_thread *thread = path->history->timelines[(row->key >> 32) - 1].thread;
		struct trace_contributor share = {.by = TRACE_BY_LOCK,
						  .state = TRACE_STATE_BLOCKED,
						  .kind = TRACE_WAIT_PROCESS,
						  .target = wait->path,
						  .via = path_waited_via(wait),
						  .address = wait->address,
						  .ns = row->ns,
						  .count = row->count};

		share_set_process(&share, thread);
		share.tid = trace_thread_tid(thread);
		share.comm = trace_thread_comm(thread);
		share.title = title_of_thread(thread);
		sum_add(sums, &share);
	}
	table_clear(&rows);
}

static void sum_up(struct trace_critical_path *path)
{
	struct path_sums sums = {.path = path, .own = trace_process_pid(trace_thread_process(path->thread))};
	struct pattern_sum *patterns = pattern_sums(path);
	struct trace_path_segment segment;
	struct sum_row *row = NULL;

	if (!patterns)
		path->failed = -ENOMEM;
	for (size_t i = 0; i < path->nr_patterns && !path->failed; i++) {
		segment = path_segment_of_pattern(path, &path->patterns[i]);
		if (patterns[i].count) /* not, if its step was merged */
			sum_segments(&sums, &segment, patterns[i].ns, patterns[i].count);
	}
	free(patterns);
	if (!path->failed)
		sum_held(&sums);
	path->contributors = calloc(sums.rows.used + 1, sizeof(*path->contributors));
	if (!path->contributors)
		path->failed = -ENOMEM;
	while (!path->failed && (row = table_next(&sums.rows, sizeof(*row), row)))
		path->contributors[path->nr_contributors++] = row->sum;
	table_clear(&sums.rows);
	if (!path->failed &&
	    !sort_rows(path->contributors, path->nr_contributors, sizeof(*path->contributors), compare))
		path->failed = -ENOMEM;
}

/* ---- public ---- */

/* A lack of memory is one of the analysis: trace_analysis_error(). */
static void sum_once(const struct trace_critical_path *path)
{
	struct trace_critical_path *own = (struct trace_critical_path *)path;

	if (own->is_summed)
		return;
	own->is_summed = true;
	sum_up(own);
	if (own->failed)
		own->history->analysis->failed = own->failed;
}

size_t trace_critical_path_nr_contributors(const struct trace_critical_path *path)
{
	sum_once(path);
	return path->nr_contributors;
}

const struct trace_contributor *trace_critical_path_contributor(const struct trace_critical_path *path, size_t idx)
{
	sum_once(path);
	return idx < path->nr_contributors ? &path->contributors[idx] : NULL;
}

const char *trace_contributor_by_name(enum trace_contributor_by by)
{
	static const char *const names[TRACE_NR_CONTRIBUTORS_BY] = {"command", "thread", "target",
								    "lock",    "link",	 "competitor"};

	return (unsigned int)by < TRACE_NR_CONTRIBUTORS_BY ? names[by] : "unknown";
}

/* ---- verify ---- */

static int violation(struct trace_error *ret_error, const char *what, uint64_t got, uint64_t expected)
{
	return error_set(ret_error, -EBADMSG,
			 "critical path: %s: %" PRIu64 " ns instead of %" PRIu64 "; this is a bug of the analysis",
			 what, got, expected);
}

int trace_critical_path_verify(const struct trace_critical_path *path, struct trace_error *ret_error)
{
	uint64_t sums[TRACE_NR_CONTRIBUTORS_BY] = {0}, at = path->from_ns, queued = 0, blocked = 0,
		 window = path->to_ns - path->from_ns;
	struct trace_path_segment segment;

	for (size_t i = 0; i < path->nr_steps; i++) {
		trace_critical_path_segment(path, i, &segment);
		if (segment.from_ns != at || segment.to_ns <= segment.from_ns)
			return violation(ret_error, "a segment begins at", segment.from_ns, at);
		at = segment.to_ns;
		queued += segment.state == TRACE_STATE_WAIT_CPU ? segment.to_ns - segment.from_ns : 0;
		blocked += segment.state == TRACE_STATE_BLOCKED ? segment.to_ns - segment.from_ns : 0;
	}
	if (at != path->to_ns)
		return violation(ret_error, "the last segment ends at", at, path->to_ns);
	sum_once(path);
	if (path->failed)
		return error_set(ret_error, path->failed, "no memory for the sums of a critical path");
	for (size_t i = 0; i < path->nr_contributors; i++)
		sums[path->contributors[i].by] += path->contributors[i].ns;
	if (sums[TRACE_BY_COMMAND] != window)
		return violation(ret_error, "the sum by command is", sums[TRACE_BY_COMMAND], window);
	if (sums[TRACE_BY_THREAD] != window)
		return violation(ret_error, "the sum by thread is", sums[TRACE_BY_THREAD], window);
	if (sums[TRACE_BY_COMPETITOR] != queued)
		return violation(ret_error, "the sum by competitor is", sums[TRACE_BY_COMPETITOR], queued);
	if (sums[TRACE_BY_TARGET] != blocked)
		return violation(ret_error, "the sum by target is", sums[TRACE_BY_TARGET], blocked);
	return 0;
}
