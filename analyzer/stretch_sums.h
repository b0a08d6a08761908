/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STRETCH_SUMS_H
#define ANALYZER_STRETCH_SUMS_H
/*
 * stretch_sums.h - the sums of tables over a part of a trace: stretches.h
 *
 * A row has eight numbers. Its group tells what they are, and groups are numbered, so the rows are
 * an array. Sums of two parts that follow each other are added row by row.
 */
#include <stdbool.h>
#include "hash_table.h"
#include "index_bytes.h"

/* of a CALL or TRAP: struct call_row without its CPU time, which is the rest */
enum stretch_number {
	SUM_CALLS,
	SUM_ERRORS,
	SUM_ELAPSED,
	SUM_INTERRUPTED,
	SUM_WAIT_CPU,
	SUM_WAIT,
	/* not added: the greatest of both. SHORTEST is the complement, so that 0 is none */
	SUM_LONGEST,
	SUM_SHORTEST,
	NR_SUMS,
	/* of a FILE */
	SUM_FILE_WAIT = 0,
	SUM_READS,
	SUM_READ_BYTES,
	SUM_WRITES,
	SUM_WRITTEN_BYTES,
	/* of a LOCK */
	SUM_LOCK_NS = 0,
	SUM_LOCK_COUNT,
	/* of a SPAN: as of a call; ERRORS are unmatched ones. Its next group, MORE, has: */
	SUM_SYSCALL = 0,
	SUM_TRAP,
	SUM_QUEUED,
	SUM_UNSEEN,
	SUM_OPEN,
	/* of a PROBE, and of an EVENT: struct event_counts */
	SUM_EVENTS = 0,
	SUM_LONGS,
	SUM_MORE_BYTES,
};

struct stretch_row {
	uint64_t n[NR_SUMS];
};

/*
 * struct stretch_sums - @rows: owned; by group, the first @nr of @max. @times: histogram.h, of
 * latency_key(group + 1)
 * @blocks: owned; the @nr_blocks blocks of STRETCH_BLOCK rows that are not all zeros. A part has
 * few groups of a trace with many. @is_used: owned; for each block, whether it is one of them
 */
#define STRETCH_BLOCK 8u
struct stretch_sums {
	struct stretch_row *rows;
	uint32_t nr, max;
	uint32_t *blocks, nr_blocks;
	bool *is_used;
	struct hash_table times;
	bool failed; /* out of memory */
};

/** stretch_sums_row() - the numbers of @group; a sink if there is no memory */
struct stretch_row *stretch_sums_row(struct stretch_sums *sums, uint32_t group);
/** stretch_sums_call() - count a call of @group that took @ns: but for its times */
void stretch_sums_call(struct stretch_sums *sums, uint32_t group, uint64_t ns, bool is_error);
/** stretch_sums_pack() - append @sums to @out */
void stretch_sums_pack(const struct stretch_sums *sums, struct bytes_out *out);
/** stretch_sums_add() - add what stretch_sums_pack() has made */
void stretch_sums_add(struct stretch_sums *sums, struct bytes_in *in);
/** stretch_sums_reset() - all sums are 0; memory stays */
void stretch_sums_reset(struct stretch_sums *sums);
void stretch_sums_clear(struct stretch_sums *sums);
#endif
