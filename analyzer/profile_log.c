/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile_log.c - profiles of any span without a pass over its events.
 *
 * Terms. An entry is what a profile takes from the pass: an interval, a sample, a thread that
 * begins another program, or the mode in which a thread ran. A block has a fixed number of entries
 * in the order of the pass. An entry is late if it began before its block, such as a long wait, or
 * if each span needs it.
 *
 * The pass writes all entries of a block to its log, and the late ones to a second log, too. The
 * profile of a span takes the entries of the blocks that are in the span, and the late entries of
 * all others, in the order of the pass, and cuts them at the edges. So it takes what a profile of a
 * pass with that window takes, and has the same shares.
 *
 *	block           0         1         2         3
 *	        |---------|---------|---------|---------|
 *	span                  <--------->                 logs 1 and 2; late entries of 0 and 3
 *
 * The entry of a sample has the facts that the analysis knew at its time: struct sample_facts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/events.h>
#include "array_room.h"
#include "error_set.h"
#include "hooks.h"
#include "profile_parts.h"
#include "profile_take.h"
#include "state.h"
#include "stretch_store.h"

#define BLOCK_ENTRIES (1u << 15) /* by default */
#define NO_CONTENT    UINT32_MAX
#define PAYLOAD_BYTES 8u /* a payload begins at a multiple of it, as in a cursor */

enum entry_kind { ENTRY_INTERVAL, ENTRY_SAMPLE, ENTRY_MODE, ENTRY_EXEC, NR_ENTRY_KINDS };

/* struct log_block - @from_ns, @to_ns: of all its entries that are not late, both included */
struct log_block {
	uint64_t from_ns, to_ns;
	struct stretch_place entries, late;
};

/*
 * struct trace_profile_log - @contents: the strata of intervals and samples, by number
 * @waits: when each thread was on a CPU. @entries, @late: of the block in progress, @block
 */
struct trace_profile_log {
	struct trace_analysis *a; /* borrowed */
	struct strata contents;
	struct waits waits;
	struct stretch_store store;
	struct log_block *blocks; /* owned */
	uint32_t nr_blocks, blocks_room;
	struct log_block block;
	struct bytes_out entries, late; /* owned */
	uint32_t nr_entries, entries_of_block;
	bool has_ended;
	int failed;
};

/* ---- write ---- */

static void put_signed(struct bytes_out *out, uint64_t number)
{
	bytes_put_number(out, number << 1 ^ (uint64_t)((int64_t)number >> 63));
}

static void put_thread(struct bytes_out *out, const struct trace_thread *thread)
{
	bytes_put_number(out, (uintptr_t)thread);
}

static uint32_t number_of(struct trace_profile_log *log, const struct stratum *content)
{
	const struct stratum *found = stratum_of(&log->contents, content);

	return found ? (uint32_t)(found - log->contents.list) : NO_CONTENT;
}

static void end_block(struct trace_profile_log *log)
{
	if (!log->nr_entries)
		return;
	log->block.entries = stretch_store_put(&log->store, &log->entries);
	log->block.late = stretch_store_put(&log->store, &log->late);
	log->entries.nr = log->late.nr = log->nr_entries = 0;
	if (!array_room((void **)&log->blocks, log->nr_blocks, &log->blocks_room, sizeof(*log->blocks))) {
		log->failed = -ENOMEM;
		return;
	}
	log->blocks[log->nr_blocks++] = log->block;
}

/* An entry of the time from @from_ns to @to_ns follows; returns whether it is late. */
static bool begin_entry(struct trace_profile_log *log, uint64_t from_ns, uint64_t to_ns)
{
	if (log->nr_entries == log->entries_of_block)
		end_block(log);
	if (!log->nr_entries)
		log->block = (struct log_block){.from_ns = log->a->now, .to_ns = log->a->now};
	log->nr_entries++;
	if (to_ns > log->block.to_ns)
		log->block.to_ns = to_ns;
	return from_ns < log->block.from_ns;
}

static void put_interval(struct bytes_out *out, const struct log_block *block, uint32_t content, uint64_t from_ns,
			 uint64_t to_ns)
{
	bytes_put_number(out, ENTRY_INTERVAL);
	bytes_put_number(out, content);
	put_signed(out, from_ns - block->from_ns);
	bytes_put_number(out, to_ns - from_ns);
}

static void on_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct stratum content = profile_content(analysis, interval);
	struct trace_profile_log *log = data;
	uint32_t number = number_of(log, &content);

	if (waits_is_on_cpu(interval->state))
		waits_ran(&log->waits, interval->thread, interval->to_ns);
	if (begin_entry(log, interval->from_ns, interval->to_ns))
		put_interval(&log->late, &log->block, number, interval->from_ns, interval->to_ns);
	put_interval(&log->entries, &log->block, number, interval->from_ns, interval->to_ns);
}

static void on_mode(void *data, struct trace_analysis *analysis, const struct trace_thread *thread, bool in_syscall)
{
	struct trace_profile_log *log = data;
	struct bytes_out *const both[] = {&log->entries, &log->late};

	(void)begin_entry(log, analysis->now, analysis->now);
	for (size_t i = 0; i < 2; i++) {
		bytes_put_number(both[i], ENTRY_MODE);
		put_thread(both[i], thread);
		bytes_put_number(both[i], in_syscall);
	}
}

static void put_exec(struct trace_profile_log *log, const struct trace_thread *thread)
{
	struct bytes_out *const both[] = {&log->entries, &log->late};

	(void)begin_entry(log, log->a->now, log->a->now);
	for (size_t i = 0; i < 2; i++) {
		bytes_put_number(both[i], ENTRY_EXEC);
		put_thread(both[i], thread);
	}
}

static void put_facts(struct trace_profile_log *log, const struct sample_facts *facts)
{
	struct stratum content = {.thread = facts->thread, .state = facts->state, .name = facts->name};

	content.target = content.via = content.path = profile_text(NULL);
	put_thread(&log->entries, facts->thread);
	put_thread(&log->entries, facts->woken);
	bytes_put_number(&log->entries, facts->tid);
	bytes_put_number(&log->entries, number_of(log, &content));
	bytes_put_number(&log->entries, facts->waker);
	put_signed(&log->entries, facts->since_ns - log->block.from_ns);
}

static void put_sample(struct trace_profile_log *log, const struct trace_event *event)
{
	struct sample_facts facts = profile_facts(log->a, &log->waits, event);

	(void)begin_entry(log, log->a->now, log->a->now);
	bytes_put_number(&log->entries, ENTRY_SAMPLE);
	put_signed(&log->entries, log->a->now - log->block.from_ns);
	put_signed(&log->entries, event->ts_ns - log->block.from_ns);
	bytes_put_number(&log->entries, event->cpu);
	bytes_put_number(&log->entries, event->stream);
	put_facts(log, &facts);
	bytes_put_number(&log->entries, event->payload_bytes);
	while (log->entries.nr % PAYLOAD_BYTES && !log->entries.failed)
		bytes_put(&log->entries, "", 1);
	bytes_put(&log->entries, event->payload, event->payload_bytes);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = profile_exec_of(analysis, event);

	if (thread)
		put_exec(data, thread);
	if (profile_is_sample(event))
		put_sample(data, event);
}

/* ---- read ---- */

/*
 * struct log_reading - @at: the entries that are left, of a block that begins at @begin_ns
 * @to_ns: samples from then on are behind the span
 */
struct log_reading {
	const struct trace_profile_log *log;
	struct trace_profile *profile;
	const struct trace_event_type *type;
	struct store_reader reader;
	struct bytes_in at;
	uint64_t begin_ns, from_ns, to_ns;
};

static uint64_t get_signed(struct bytes_in *in)
{
	uint64_t number = bytes_number(in);

	return number >> 1 ^ (0 - (number & 1));
}

static const struct trace_thread *get_thread(struct bytes_in *in)
{
	return (const struct trace_thread *)(uintptr_t)bytes_number(in);
}

static const struct stratum *get_content(struct log_reading *r)
{
	uint64_t number = bytes_below(&r->at, r->log->contents.nr);

	return r->at.failed ? NULL : &r->log->contents.list[number];
}

static void get_interval(struct log_reading *r)
{
	const struct stratum *content = get_content(r);
	uint64_t from_ns = r->begin_ns + get_signed(&r->at), to_ns = from_ns + bytes_number(&r->at);

	if (content && !r->at.failed)
		profile_take_interval(r->profile, content, from_ns, to_ns);
}

static void get_sample(struct log_reading *r)
{
	uint64_t now_ns = r->begin_ns + get_signed(&r->at);
	struct trace_event event = {.ts_ns = r->begin_ns + get_signed(&r->at), .id = TRACE_EV_sample, .type = r->type};
	struct sample_facts facts = {0};
	const struct stratum *content;

	event.cpu = (uint32_t)bytes_number(&r->at);
	event.stream = (uint32_t)bytes_number(&r->at);
	facts.thread = get_thread(&r->at);
	facts.woken = get_thread(&r->at);
	facts.tid = (uint32_t)bytes_number(&r->at);
	content = get_content(r);
	facts.waker = (enum trace_profile_waker)bytes_below(&r->at, TRACE_PROFILE_NR_WAKERS);
	facts.since_ns = r->begin_ns + get_signed(&r->at);
	event.payload_bytes = (uint32_t)bytes_number(&r->at);
	(void)bytes_take(&r->at, (0 - (uintptr_t)r->at.at) % PAYLOAD_BYTES);
	event.payload = bytes_take(&r->at, event.payload_bytes);
	if (!content || !event.payload || now_ns < r->from_ns || now_ns >= r->to_ns)
		return;
	facts.state = content->state;
	facts.name = content->name;
	profile_take_sample(r->profile, &event, &facts);
}

static void get_mode(struct log_reading *r)
{
	const struct trace_thread *thread = get_thread(&r->at);
	bool in_syscall = bytes_below(&r->at, 2);

	if (!r->at.failed)
		profile_take_mode(r->profile, thread, in_syscall);
}

static void get_exec(struct log_reading *r)
{
	const struct trace_thread *thread = get_thread(&r->at);

	if (!r->at.failed)
		profile_take_exec(r->profile, thread);
}

static void get_entries(struct log_reading *r)
{
	static void (*const gets[NR_ENTRY_KINDS])(struct log_reading * r) = {[ENTRY_INTERVAL] = get_interval,
									     [ENTRY_SAMPLE] = get_sample,
									     [ENTRY_MODE] = get_mode,
									     [ENTRY_EXEC] = get_exec};

	while (r->at.at < r->at.end && !r->at.failed) {
		uint64_t kind = bytes_below(&r->at, NR_ENTRY_KINDS);

		if (!r->at.failed)
			gets[kind](r);
	}
}

/* A file that cannot be read any more has no profile. */
static int get_block(struct log_reading *r, const struct log_block *block)
{
	bool is_in_span = block->to_ns >= r->from_ns && block->from_ns < r->to_ns;
	const struct stretch_place *place = is_in_span ? &block->entries : &block->late;
	const uint8_t *bytes = place->bytes ? store_reader_get(&r->reader, &r->log->store, place) : NULL;

	if (!bytes)
		return place->bytes ? -ENODATA : 0;
	r->begin_ns = block->from_ns;
	r->at = (struct bytes_in){.at = bytes, .end = bytes + place->bytes};
	get_entries(r);
	return r->at.failed ? -ENODATA : 0;
}

/* As the window of an analysis: within the trace; an open end has the last event, too. */
static struct log_reading reading_of(const struct trace_profile_log *log, uint64_t from_ns, uint64_t to_ns)
{
	struct log_reading r = {.log = log, .type = trace_type_by_id(log->a->trace, TRACE_EV_sample)};
	uint64_t start, end;

	trace_analysis_window(log->a, &start, &end);
	from_ns = from_ns < start ? start : from_ns;
	r.to_ns = !to_ns ? UINT64_MAX : to_ns < from_ns ? from_ns : to_ns;
	r.from_ns = from_ns < end ? from_ns : end;
	to_ns = r.to_ns < end ? r.to_ns : end;
	r.profile = profile_take_new(log->a, r.from_ns, to_ns < r.from_ns ? r.from_ns : to_ns);
	r.from_ns = from_ns;
	return r;
}

struct trace_profile *trace_profile_of_span(const struct trace_profile_log *log, uint64_t from_ns, uint64_t to_ns,
					    struct trace_error *ret_error)
{
	struct log_reading r;
	int error = log->failed;

	if (!log->has_ended) {
		error_set(ret_error, -EAGAIN, "the pass of the log has not ended");
		return NULL;
	}
	r = reading_of(log, from_ns, to_ns);
	error = r.profile ? error : -ENOMEM;
	for (uint32_t i = 0; i < log->nr_blocks && !error; i++)
		error = get_block(&r, &log->blocks[i]);
	store_reader_clear(&r.reader);
	error = error ? error : trace_profile_error(r.profile);
	if (!error)
		return r.profile;
	error_set(ret_error, error, "the log of profiles cannot be %s", error == -ENOMEM ? "held in memory" : "read");
	return trace_profile_free(r.profile);
}

/* ---- begin, end ---- */

int trace_profile_log_end(struct trace_profile_log *log, struct trace_error *ret_error)
{
	if (!log->a->done)
		return error_set(ret_error, -EAGAIN, "the pass of the log has not ended");
	if (!log->has_ended)
		end_block(log);
	log->has_ended = true;
	log->failed = log->failed	     ? log->failed
		      : log->store.error     ? log->store.error
		      : log->contents.failed ? log->contents.failed
					     : log->waits.failed;
	bytes_free(&log->entries);
	bytes_free(&log->late);
	waits_clear(&log->waits);
	log->waits = (struct waits){0};
	return log->failed ? error_set(ret_error, log->failed, "the log of profiles cannot be written") : 0;
}

static int add_hooks(struct trace_profile_log *log)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	int error;

	mask[TRACE_EV_sample / 64] |= 1ull << TRACE_EV_sample % 64;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	mask[TRACE_EV_fs_map / 64] |= 1ull << TRACE_EV_fs_map % 64;
	error = trace_analysis_on_interval(log->a, on_interval, log);
	if (!error)
		error = hooks_on_mode(log->a, on_mode, log);
	return error ? error : trace_analysis_on_event(log->a, mask, on_event, log);
}

struct trace_profile_log *trace_profile_log_new(struct trace_analysis *analysis,
						const struct trace_profile_log_options *options,
						struct trace_error *ret_error)
{
	struct trace_profile_log *log;
	int error;

	if (analysis->window || analysis->began) {
		error_set(ret_error, -EBUSY, "the analysis has a window, or its pass began");
		return NULL;
	}
	log = calloc(1, sizeof(*log));
	if (log) {
		log->a = analysis;
		log->store.fd = options && options->has_file ? options->fd : -1;
		log->entries_of_block = options && options->nr_entries ? options->nr_entries : BLOCK_ENTRIES;
	}
	error = log ? add_hooks(log) : -ENOMEM;
	if (!error)
		return log;
	error_set(ret_error, error, "no memory for a log of profiles");
	if (log)
		trace_analysis_remove_hooks(analysis, log);
	return trace_profile_log_free(log);
}

struct trace_profile_log *trace_profile_log_free(struct trace_profile_log *log)
{
	if (!log)
		return NULL;
	strata_clear(&log->contents);
	waits_clear(&log->waits);
	stretch_store_clear(&log->store);
	bytes_free(&log->entries);
	bytes_free(&log->late);
	free(log->blocks);
	free(log);
	return NULL;
}
