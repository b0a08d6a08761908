/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <trace/saturate.h>

#include "clock.h"
#include "ring_reader.h"
#include "user_program.h"
#include "user_program_state.h"
#include "user_distrust.h"
#include "user_translate.h"
#include "user_types.h"
#include "user_unready.h"

#define PAIRS_MAX USER_CLOCK_KNOTS

/* Add the clock pairs that the openers of all rings noted to those of the daemon. */
static void merge_clocks(struct user_program *program)
{
	struct user_clock_knot *pairs = malloc(PAIRS_MAX * sizeof(*pairs));
	size_t nr = 0;

	for (uint32_t i = 0; pairs && i < program->mapping.nr_rings; i++)
		if (program->rings[i])
			nr += user_kept_pairs(program->rings[i]->kept, pairs + nr, PAIRS_MAX - nr);
	user_translate_read_clocks(program);
	if (nr)
		user_clock_merge(&program->recording->clock, pairs, nr);
	free(pairs);
}

/**
 * struct ring_output - a ring that is written into a snapshot
 * @unknown: records with an unknown time or type
 * @suspect: the last sub-buffer had an unknown time
 */
struct ring_output {
	struct user_ring *ring;
	struct user_snapshot *snapshot;
	struct trace_stream_stats stats;
	uint64_t blocks;
	uint64_t unknown;
	bool suspect;
};

static int write_subbuf(void *context, struct subbuf_header *header, uint32_t nr_records, uint64_t lost_total)
{
	struct ring_output *output = context;
	struct subbuf_ring ring = user_mapping_ring(&output->ring->program->mapping, output->ring->cpu);
	struct drain_copy copy = {.header = header, .records = (unsigned char *)(header + 1), .base_ns = header->base};
	struct trace_source source = {.stream = output->ring->stream,
				      .cpu = output->ring->cpu,
				      .kind = TRACE_CHUNK_EVENTS};

	copy.bytes = ring_record_bytes(&ring, header) & ~(size_t)7;
	copy.nr_records = nr_records <= copy.bytes / 8 ? nr_records : (uint32_t)(copy.bytes / 8);
	if (header->flags & SUBBUF_FLAG_TIME_SUSPECT || !user_translate(output->ring, &copy)) {
		output->unknown += copy.nr_records;
		output->suspect = true;
		return 0;
	}
	output->stats.filtered += copy.filtered;
	output->unknown += copy.untyped;
	if (!copy.nr_records)
		return 0;
	source.records = copy.records;
	source.bytes = copy.bytes;
	source.base_ns = copy.base_ns;
	source.nr_records = copy.nr_records;
	source.seq = ++output->blocks;
	source.lost_total = trace_add_saturated(lost_total, output->unknown);
	source.lost_cause = output->suspect ? TRACE_GAP_SUSPECT : TRACE_GAP_OVERWRITTEN;
	output->suspect = false;
	output->stats.stored += copy.nr_records;
	return output->snapshot->push(output->snapshot->context, &source);
}

/* @lost: the program's events that never had a ring; set to 0 if the ring's stream took them. */
static int write_ring(struct user_ring *ring, struct user_snapshot *snapshot, uint64_t *lost)
{
	struct ring_output output = {.ring = ring, .snapshot = snapshot};
	struct trace_stream_stats *stats = &output.stats;
	struct user_kept_counts counts;
	int err;

	ring->announced = false;
	ring->stream = ring->program->recording->next_stream;
	err = user_kept_read(ring->kept, write_subbuf, &output, &counts, &snapshot->patience);
	if (err)
		return err;
	stats->stream = ring->stream;
	stats->cpu = ring->cpu;
	stats->overwritten = counts.overwritten;
	stats->discarded = trace_add_saturated(trace_add_saturated(counts.lost, output.unknown), *lost);
	stats->claimed = trace_add_saturated(counts.claimed, *lost);
	stats->attempted = trace_add_saturated(stats->stored + stats->filtered, stats->overwritten);
	stats->attempted = trace_add_saturated(stats->attempted, stats->discarded);
	if (!stats->attempted)
		return 0;
	*lost = 0;
	ring->program->recording->next_stream++;
	return snapshot->add_stats(snapshot->context, stats);
}

int user_snapshot_write(struct user_program *program, struct user_snapshot *snapshot)
{
	struct user_recording *recording = program->recording;
	struct user_clock *clock = malloc(sizeof(*clock));
	uint64_t lost = user_unready_sum(program);
	int err = clock ? 0 : -ENOMEM;

	if (err)
		return err;
	*clock = recording->clock;
	recording->writer = snapshot->writer;
	user_types_describe_again(program);
	user_program_look(program);
	merge_clocks(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings && !err; i++)
		if (program->rings[i])
			err = write_ring(program->rings[i], snapshot, &lost);
	snapshot->missed = trace_add_saturated(snapshot->missed, lost);
	snapshot->claimed = trace_add_saturated(snapshot->claimed, lost);
	recording->writer = NULL;
	recording->clock = *clock; /* clock pairs of a program are trusted for its own events only */
	free(clock);
	user_check_counts(program);
	return err;
}

uint64_t user_snapshot_oldest_ns(struct user_program *program)
{
	uint64_t oldest = UINT64_MAX, now_ns = clock_now(), ns;
	struct user_clock_knot pair;

	user_translate_read_clocks(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		if (!program->rings[i] || !user_kept_oldest(program->rings[i]->kept, &pair))
			continue;
		ns = pair.ns;
		/* else the snapshot would begin in the future */
		if ((ns || user_translate_ns(program, pair.tsc, &ns)) && ns < oldest && ns <= now_ns)
			oldest = ns;
	}
	return oldest;
}

void user_snapshot_reset(struct user_program *program)
{
	user_program_look(program); /* rings that came into use since the last look */
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		if (program->rings[i])
			user_kept_reset(program->rings[i]->kept, &program->recording->patience);
	program->saved_bytes = 0;
	user_unready_begin(program, false);
	program->distrust_reasons = 0; /* the recording's list of distrusted programs is cleared, too */
}

size_t user_snapshot_drop(struct user_program *program)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < program->mapping.nr_rings && !bytes && program->saved_bytes; i++)
		if (program->rings[i])
			bytes = user_kept_drop(program->rings[i]->kept);
	program->saved_bytes -= bytes;
	return bytes;
}

size_t user_snapshot_saved(const struct user_program *program)
{
	return program->saved_bytes;
}

static int take_nothing(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total)
{
	return 0;
}

void user_snapshot_get_counts(struct user_program *program, struct user_kept_counts *ret_counts)
{
	struct user_kept_counts counts = {0};
	int patience = 0; /* the program is dead */

	*ret_counts = counts;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		if (!program->rings[i] ||
		    user_kept_read(program->rings[i]->kept, take_nothing, NULL, &counts, &patience))
			continue;
		ret_counts->lost = trace_add_saturated(ret_counts->lost, counts.lost);
		ret_counts->claimed = trace_add_saturated(ret_counts->claimed, counts.claimed);
		ret_counts->overwritten = trace_add_saturated(ret_counts->overwritten, counts.overwritten);
	}
	ret_counts->lost = trace_add_saturated(ret_counts->lost, user_unready_sum(program));
	ret_counts->claimed = trace_add_saturated(ret_counts->claimed, user_unready_sum(program));
}
