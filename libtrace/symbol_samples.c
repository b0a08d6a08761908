/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_samples.c - look up the code of all samples: each address of each thread once.
 *
 * A thread that executes a new program has other code at its addresses: it counts as another one
 * from then on.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>

#include "hash_table.h"
#include "symbol_places.h"

/** struct sampled_thread - how many programs a thread has begun */
struct sampled_thread {
	uint64_t key; /* thread + 1 */
	uint64_t nr_programs;
};

/** struct sampled_code - an address of a program of a thread */
struct sampled_code {
	uint64_t key;
	struct trace_symbol_place place;
};

struct sample_search {
	struct hash_table threads, codes;
	bool no_memory;
};

/* ---- collecting ---- */

/* @hits: 0 for an address that may be no code: it is looked up behind all others */
static void add_address(struct sample_search *search, const struct trace_event *event, uint64_t program,
			uint64_t address, uint32_t hits)
{
	uint64_t key = hash_u64(address) ^ program;
	struct sampled_code *code;

	if (address >> 63 || !address)
		return;
	code = table_add(&search->codes, sizeof(*code), key + !key);
	if (!code) {
		search->no_memory = true;
		return;
	}
	code->place.hits += hits;
	if (!code->place.address) {
		code->place.address = address;
		code->place.ts_ns = event->ts_ns;
		code->place.tid = ((const struct trace_sample *)event->payload)->tid;
	}
}

static uint64_t program_of(const struct sample_search *search, uint32_t tid)
{
	const struct sampled_thread *thread = table_find(&search->threads, sizeof(*thread), tid + 1ull);

	return hash_u64((uint64_t)tid << 32 | (thread ? thread->nr_programs : 0));
}

/* An address behind a call belongs to the function of the call, as in a profile. A frame pointer
 * leads to any number in a program that was built without. */
static void add_sample(struct sample_search *search, const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;
	uint64_t program = program_of(search, sample->tid);
	size_t bytes;
	const unsigned char *user = trace_event_bytes(event, trace_type_field(event->type, "user"), &bytes);

	add_address(search, event, program, sample->ip, 1); /* one of the kernel is left out there */
	for (size_t i = 0; user && i < bytes / sizeof(uint64_t); i++) {
		uint32_t hits = i < (size_t)sample->certain + !sample->in_user;
		uint64_t address;

		memcpy(&address, user + i * sizeof(address), sizeof(address));
		add_address(search, event, program, address - 1, hits);
		if (!i) /* of a system call it is the instruction itself */
			add_address(search, event, program, address, hits);
	}
}

static void begin_program(struct sample_search *search, uint32_t tid)
{
	struct sampled_thread *thread = table_add(&search->threads, sizeof(*thread), tid + 1ull);

	if (thread)
		thread->nr_programs++;
}

static void add_event(struct sample_search *search, const struct trace_event *event)
{
	if (event->id == TRACE_EV_sched_exec && event->type->fixed_bytes >= sizeof(struct trace_sched_exec))
		begin_program(search, ((const struct trace_sched_exec *)event->payload)->tid);
	else if (event->id == TRACE_EV_sample && event->type->fixed_bytes >= sizeof(struct trace_sample))
		add_sample(search, event);
}

static void collect(struct sample_search *search, const struct trace *trace)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .mask = mask};
	struct trace_cursor *cursor;
	const struct trace_event *event;

	mask[TRACE_EV_sample / 64] |= 1ull << TRACE_EV_sample % 64;
	mask[TRACE_EV_sched_exec / 64] |= 1ull << TRACE_EV_sched_exec % 64;
	cursor = trace_cursor_new(trace, &options, NULL);
	while (cursor && (event = trace_cursor_next(cursor)))
		add_event(search, event);
	if (!cursor || trace_cursor_end(cursor, NULL) == -ENOMEM)
		search->no_memory = true;
}

uint64_t trace_symbols_of_samples(struct trace_symbols *symbols, uint64_t limit_ns)
{
	struct sample_search search = {0};
	const struct sampled_code *code = NULL;
	struct trace_symbol_place *places;
	uint64_t nr_left;
	size_t nr = 0;

	collect(&search, symbols_trace(symbols));
	places = calloc(search.codes.used + 1, sizeof(*places));
	while (places && (code = table_next(&search.codes, sizeof(*code), code)))
		places[nr++] = code->place;
	nr_left = search.codes.used - nr + search.no_memory + trace_symbols_look_up(symbols, places, nr, limit_ns);
	free(places);
	table_clear(&search.threads);
	table_clear(&search.codes);
	return nr_left;
}
