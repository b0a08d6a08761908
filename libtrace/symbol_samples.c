/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_samples.c - look up the code of all samples: each address of each thread once.
 *
 * A thread that executes a new program has other code at its addresses: it counts as another one
 * from then on.
 */
#include <string.h>
#include <time.h>
#include <trace/symbols.h>

#include "hash_table.h"
#include "symbol_samples.h"

#define LOOK_AT_CLOCK 64u /* look-ups */

/** struct sampled_program - how many programs a thread has begun */
struct sampled_program {
	uint64_t key; /* thread + 1 */
	uint64_t nr;
};

/** struct sampled_code - an address that was looked up already */
struct sampled_code {
	uint64_t key;
};

struct sample_search {
	struct trace_symbols *symbols;
	struct hash_table programs, known;
	uint64_t deadline_ns, nr_found, nr_left;
	bool is_late;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* An address behind a call belongs to the function of the call, as in a profile. */
static void look_up(struct sample_search *search, const struct trace_event *event, uint32_t tid, uint64_t address)
{
	const struct sampled_program *program = table_find(&search->programs, sizeof(*program), tid + 1ull);
	uint64_t key = hash_u64(address) ^ hash_u64((uint64_t)tid << 32 | (program ? program->nr : 0));
	const struct trace_symbol_level *levels;
	struct trace_symbol symbol;

	if (address >> 63 || !address || table_find(&search->known, sizeof(struct sampled_code), key + !key) ||
	    !table_add(&search->known, sizeof(struct sampled_code), key + !key))
		return;
	if (!search->is_late && search->nr_found % LOOK_AT_CLOCK == 0)
		search->is_late = clock_ns() > search->deadline_ns;
	if (search->is_late) {
		search->nr_left++;
		return;
	}
	search->nr_found++;
	trace_symbols_find_levels(search->symbols, tid, event->ts_ns, address, &symbol, &levels);
}

static void add_sample(struct sample_search *search, const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;
	size_t bytes;
	const unsigned char *user = trace_event_bytes(event, trace_type_field(event->type, "user"), &bytes);

	look_up(search, event, sample->tid, sample->ip); /* one of the kernel is left out there */
	for (size_t i = 0; user && i < bytes / sizeof(uint64_t); i++) {
		uint64_t address;

		memcpy(&address, user + i * sizeof(address), sizeof(address));
		look_up(search, event, sample->tid, address - 1);
		if (!i) /* of a system call it is the instruction itself */
			look_up(search, event, sample->tid, address);
	}
}

static void begin_program(struct sample_search *search, uint32_t tid)
{
	struct sampled_program *row = table_add(&search->programs, sizeof(*row), tid + 1ull);

	if (row)
		row->nr++;
}

static void add_event(struct sample_search *search, const struct trace_event *event)
{
	if (event->id == TRACE_EV_sched_exec && event->type->fixed_bytes >= sizeof(struct trace_sched_exec))
		begin_program(search, ((const struct trace_sched_exec *)event->payload)->tid);
	else if (event->id == TRACE_EV_sample && event->type->fixed_bytes >= sizeof(struct trace_sample))
		add_sample(search, event);
}

uint64_t trace_symbols_of_samples(struct trace_symbols *symbols, uint64_t limit_ns)
{
	struct sample_search search = {.symbols = symbols, .deadline_ns = clock_ns() + limit_ns};
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	mask[TRACE_EV_sample / 64] |= 1ull << TRACE_EV_sample % 64;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	cursor = trace_cursor_new(symbols_trace(symbols), &options, NULL);
	while (cursor && (event = trace_cursor_next(cursor)))
		add_event(&search, event);
	if (cursor && trace_cursor_end(cursor, NULL) < 0)
		search.nr_left++; /* a damaged part */
	table_clear(&search.programs);
	table_clear(&search.known);
	return search.nr_left;
}
