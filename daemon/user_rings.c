/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_rings.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "ring_reader.h"
#include "user_program_state.h"
#include "user_distrust.h"
#include "user_translate.h"

#define PAGES_PERIOD_NS	  1000000000ull
#define CLAIM_PATIENCE_MS 20 /* for writers inside a sub-buffer that a killed daemon was closing */

/* ---- rings in use ---- */

static struct user_kept *keep_ring(const struct user_program *program, uint32_t idx)
{
	const struct user_mapping *mapping = &program->mapping;
	struct user_kept_source source = {
		.ring = user_mapping_ring(mapping, idx),
		.fd = mapping->fd,
		.offset = user_mapping_ring_offset(mapping, idx),
		.start_ns = program->recording->start_ns,
		.overwrites = mapping->features & USER_FEATURE_OVERWRITE,
		.count_all = program->count_all,
		.patience = &program->recording->patience,
	};

	return user_kept_new(&source);
}

static void free_ring(struct user_ring *ring)
{
	if (ring)
		user_kept_free(ring->kept);
	free(ring);
}

static void add_ring(struct user_program *program, uint32_t idx)
{
	struct user_recording *recording = program->recording;
	struct user_ring *ring = calloc(1, sizeof(*ring));
	struct drain_source source = {
		.ring = user_mapping_ring(&program->mapping, idx),
		.fd = program->mapping.fd,
		.offset = user_mapping_ring_offset(&program->mapping, idx),
		.budget = recording->budget,
		.uid = program->payer,
		.is_mapped = program->mapped_bytes || !budget_is_bounded(recording->budget, program->payer),
		.cpu = idx,
		.translate = user_translate,
		.context = ring,
	};

	if (!ring)
		return;
	source.start_ns = recording->start_ns;
	ring->program = program;
	ring->stream = source.stream = recording->next_stream;
	ring->cpu = idx;
	if (recording->flight)
		ring->kept = keep_ring(program, idx);
	else
		ring->drained = drain_add(recording->drain, &source, program->count_all);
	if (!ring->drained && !ring->kept) {
		free(ring);
		return;
	}
	recording->next_stream += !recording->flight;
	program->rings[idx] = ring;
}

/* Ring n belongs to CPU n, and its header must say so. */
static bool ring_is_possible(struct user_program *program, uint32_t idx)
{
	struct subbuf_ring ring = user_mapping_ring(&program->mapping, idx);

	if (__atomic_load_n(&ring.control->cpu, __ATOMIC_RELAXED) == idx)
		return true;
	user_distrust(program, DISTRUST_CPU);
	return false;
}

/* If a ring comes into use during the recording, all its events belong to the recording. */
void user_rings_look(struct user_program *program)
{
	uint32_t nr_rings = program->mapping.nr_rings, before = program->mapping.lookups;

	if (!budget_take(program->recording->budget, program->payer, BUDGET_LOOKUPS, program->lookups))
		return; /* the budget pays for the last search: this one has to wait */
	for (uint32_t i = 0; i < nr_rings; i++) {
		if (program->rings[i])
			continue;
		i = user_mapping_next_ring(&program->mapping, i);
		if (i < nr_rings && !program->rings[i] && ring_is_possible(program, i))
			add_ring(program, i);
	}
	if (user_mapping_has_impossible_ring(&program->mapping))
		user_distrust(program, DISTRUST_CPU);
	program->lookups = program->mapping.lookups - before;
}

/*
 * A program's memory grows as the program uses it. The daemon's own stores must not make it larger
 * than the user's limit. Above the limit the daemon does not close the sub-buffer in use, but takes
 * it when it is full.
 */
void user_rings_check_pages(struct user_program *program)
{
	struct budget *budget = program->recording->budget;
	struct stat status;
	uint64_t bytes, now;

	if (!budget_is_bounded(budget, program->payer))
		return;
	now = budget_clock();
	if (now < program->pages_ns || fstat(program->mapping.fd, &status) < 0)
		return;
	program->pages_ns = now + PAGES_PERIOD_NS;
	bytes = (uint64_t)status.st_blocks * 512;
	if (bytes < program->pages_bytes)
		budget_release(budget, program->payer, BUDGET_PAGES, program->pages_bytes - bytes);
	else if (!budget_charge(budget, program->payer, BUDGET_PAGES, bytes - program->pages_bytes))
		bytes = program->pages_bytes;
	program->pages_bytes = bytes;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		if (program->rings[i] && program->rings[i]->drained)
			drain_set_read_only(program->rings[i]->drained, bytes < (uint64_t)status.st_blocks * 512);
}

void user_rings_charge(struct user_program *program)
{
	uint64_t bytes = program->mapping.nr_rings *
			 subbuf_ring_bytes(program->mapping.subbuf_bytes, program->mapping.nr_subbufs);

	if (budget_charge(program->recording->budget, program->payer, BUDGET_MAPPED, bytes))
		program->mapped_bytes = bytes;
}

void user_rings_discharge(struct user_program *program)
{
	budget_release(program->recording->budget, program->payer, BUDGET_MAPPED, program->mapped_bytes);
	program->mapped_bytes = 0;
	budget_release(program->recording->budget, program->payer, BUDGET_PAGES, program->pages_bytes);
	program->pages_bytes = 0;
}

void user_rings_free(struct user_program *program)
{
	for (uint32_t i = 0; program->rings && i < program->mapping.nr_rings; i++) {
		free_ring(program->rings[i]);
		program->rings[i] = NULL;
	}
}

/* ---- flushes ---- */

/*
 * As in drain_ring.c: does memory exist where a flush writes, and may the daemon visit the CPU of
 * the block?
 */
static bool may_flush(const struct user_program *program, uint32_t idx)
{
	struct subbuf_ring ring = user_mapping_ring(&program->mapping, idx);
	uint64_t block = __atomic_load_n(&ring.control->block, __ATOMIC_RELAXED), seq = ring_newest(&ring);

	if (!user_mapping_has_page(&program->mapping, idx, seq, 0))
		return false;
	if (!subbuf_block_is_open(block))
		return true;
	seq = subbuf_block_seq(&ring, block);
	return user_mapping_has_page(&program->mapping, idx, seq, 0) &&
	       user_mapping_has_page(&program->mapping, idx, seq, (uint32_t)block - 8) &&
	       budget_take(program->recording->budget, program->payer, BUDGET_VISITS, 1);
}

/*
 * Does memory exist for the sub-buffers that a killed daemon was closing, also where their records
 * end?
 */
static bool may_finish(const struct user_program *program, uint32_t idx)
{
	struct subbuf_ring ring = user_mapping_ring(&program->mapping, idx);
	uint64_t flushing = __atomic_load_n(&ring.control->flushing, __ATOMIC_RELAXED),
		 block = __atomic_load_n(&ring.control->flushing_block, __ATOMIC_RELAXED);
	uint64_t seq = flushing >> SUBBUF_OFFSET_BITS;
	uint32_t offset = (uint32_t)(flushing & SUBBUF_OFFSET_MASK);

	if (flushing && (!user_mapping_has_page(&program->mapping, idx, seq, 0) ||
			 (offset >= 8 && !user_mapping_has_page(&program->mapping, idx, seq, offset - 8))))
		return false;
	return !block || user_mapping_has_page(&program->mapping, idx, subbuf_block_seq(&ring, block), 0);
}

void user_rings_stop_overwriting(struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);
	struct user_mapping *mapping = &program->mapping;
	bool was_set = __atomic_exchange_n(&memory->overwrite, 0, __ATOMIC_SEQ_CST) != 0; /* [W5] */

	for (uint32_t i = user_mapping_next_ring(mapping, 0); i < mapping->nr_rings;
	     i = user_mapping_next_ring(mapping, i + 1)) {
		struct subbuf_ring ring = user_mapping_ring(mapping, i);
		uint64_t consumed = __atomic_load_n(&ring.control->consumed, __ATOMIC_RELAXED);

		if ((was_set || ring_newest(&ring) > consumed + ring.nr_subbufs) && may_flush(program, i)) {
			ring_flush(&ring);
			subbuf_keep(&ring);
		}
	}
}

void user_rings_finish_flushes(struct user_program *program)
{
	struct user_mapping *mapping = &program->mapping;
	int patience = CLAIM_PATIENCE_MS;

	for (uint32_t i = user_mapping_next_ring(mapping, 0); i < mapping->nr_rings;
	     i = user_mapping_next_ring(mapping, i + 1)) {
		struct subbuf_ring ring = user_mapping_ring(mapping, i);

		if (!may_finish(program, i))
			continue;
		while ((!subbuf_finish_flush_block(&ring, false) || !subbuf_finish_flush(&ring, false)) &&
		       patience > 0 && budget_take(program->recording->budget, program->payer, BUDGET_WAITS, 1)) {
			poll(NULL, 0, 1);
			patience--;
		}
		subbuf_finish_flush_block(&ring, true);
		subbuf_finish_flush(&ring, true);
	}
}
