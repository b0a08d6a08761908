/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_samples.c - look up the code of all samples: each address of each thread once.
 *
 * A thread that executes a new program has other code at its addresses: it counts as another one
 * from then on. The threads with the most samples come first, because there may not be time for
 * all. The addresses of a thread come in order, so that each file is asked in sequence.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <trace/symbols.h>

#include "hash_table.h"
#include "symbol_samples.h"

#define LOOK_AT_CLOCK 16u /* look-ups */

/** struct sampled_thread - how many programs a thread has begun */
struct sampled_thread {
	uint64_t key; /* thread + 1 */
	uint64_t nr_programs;
};

/** struct sampled_program - a program of a thread, and its samples */
struct sampled_program {
	uint64_t key;
	uint64_t samples;
};

/** struct sampled_code - an address of a program. @samples: of the program, once all are known */
struct sampled_code {
	uint64_t key;
	uint64_t program;
	uint64_t address;
	uint64_t ts_ns;
	uint64_t samples;
	uint32_t tid;
};

struct sample_search {
	struct hash_table threads, programs, codes;
	bool no_memory;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* ---- collecting ---- */

static void add_address(struct sample_search *search, const struct trace_event *event, uint64_t program,
			uint64_t address)
{
	uint64_t key = hash_u64(address) ^ program;
	struct sampled_code *code;

	if (address >> 63 || !address)
		return;
	code = table_add(&search->codes, sizeof(*code), key + !key);
	if (!code)
		search->no_memory = true;
	else if (!code->address)
		*code = (struct sampled_code){.key = code->key,
					      .program = program,
					      .address = address,
					      .ts_ns = event->ts_ns,
					      .tid = ((const struct trace_sample *)event->payload)->tid};
}

static uint64_t program_of(struct sample_search *search, uint32_t tid)
{
	const struct sampled_thread *thread = table_find(&search->threads, sizeof(*thread), tid + 1ull);
	uint64_t key = hash_u64((uint64_t)tid << 32 | (thread ? thread->nr_programs : 0));
	struct sampled_program *program = table_add(&search->programs, sizeof(*program), key + !key);

	if (program)
		program->samples++;
	else
		search->no_memory = true;
	return key + !key;
}

/* An address behind a call belongs to the function of the call, as in a profile. */
static void add_sample(struct sample_search *search, const struct trace_event *event)
{
	const struct trace_sample *sample = event->payload;
	uint64_t program = program_of(search, sample->tid);
	size_t bytes;
	const unsigned char *user = trace_event_bytes(event, trace_type_field(event->type, "user"), &bytes);

	add_address(search, event, program, sample->ip); /* one of the kernel is left out there */
	for (size_t i = 0; user && i < bytes / sizeof(uint64_t); i++) {
		uint64_t address;

		memcpy(&address, user + i * sizeof(address), sizeof(address));
		add_address(search, event, program, address - 1);
		if (!i) /* of a system call it is the instruction itself */
			add_address(search, event, program, address);
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

/* ---- looking up ---- */

static int by_samples(const void *left, const void *right)
{
	const struct sampled_code *l = left, *r = right;

	if (l->samples != r->samples)
		return l->samples > r->samples ? -1 : 1;
	if (l->program != r->program)
		return l->program < r->program ? -1 : 1;
	return (l->address > r->address) - (l->address < r->address);
}

/* The addresses in the order in which they are looked up; NULL: no memory */
static struct sampled_code *in_order(const struct sample_search *search)
{
	struct sampled_code *list = calloc(search->codes.used + 1, sizeof(*list));
	const struct sampled_code *code = NULL;
	size_t nr = 0;

	while (list && (code = table_next(&search->codes, sizeof(*code), code))) {
		const struct sampled_program *program = table_find(&search->programs, sizeof(*program), code->program);

		list[nr] = *code;
		list[nr++].samples = program ? program->samples : 0;
	}
	if (list)
		qsort(list, nr, sizeof(*list), by_samples);
	return list;
}

uint64_t trace_symbols_of_samples(struct trace_symbols *symbols, uint64_t limit_ns)
{
	struct sample_search search = {0};
	uint64_t deadline_ns = clock_ns() + limit_ns;
	struct sampled_code *list;
	size_t nr = 0, all;

	collect(&search, symbols_trace(symbols));
	list = in_order(&search);
	all = search.codes.used;
	while (list && nr < all && (nr % LOOK_AT_CLOCK || clock_ns() < deadline_ns)) {
		const struct trace_symbol_level *levels;
		struct trace_symbol symbol;

		trace_symbols_find_levels(symbols, list[nr].tid, list[nr].ts_ns, list[nr].address, &symbol, &levels);
		nr++;
	}
	free(list);
	table_clear(&search.threads);
	table_clear(&search.programs);
	table_clear(&search.codes);
	return all - nr + search.no_memory;
}
