/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_START_MISSING_H
#define ANALYZER_START_MISSING_H
/* start_missing.h - threads of the start that ended before the recorder read them */
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;

/** struct start_missing - ends of threads that may have no record; zeroed, it is empty */
struct start_missing {
	struct hash_table ends; /* end_row */
};

/**
 * missing_end() - the thread @tid of the process @tgid ends, or its number does
 *
 * The pass has met no fork of it.
 */
void missing_end(struct trace_analysis *a, struct start_missing *missing, uint32_t tid, uint32_t tgid);

/**
 * missing_add() - add those threads to the state, which has all others of the start
 *
 * Their state until their first event is unknown. Frees what @missing has.
 */
void missing_add(struct trace_analysis *a, struct start_missing *missing);
#endif
