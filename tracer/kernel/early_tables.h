/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_EARLY_TABLES_H
#define TRACER_EARLY_TABLES_H
/*
 * early_tables.h - unwind tables in one map, which BPF programs use as soon as they are written. A
 * table in a map of its own has to wait for a grace period of RCU: some ms, and tens of ms on a
 * busy machine, which is longer than many programs run. Large tables are early while there is room
 * for small ones.
 *
 * One thread at a time.
 */
#include <stdint.h>
#include "unwind_row.h"
#include "walk_files.h"

struct samples_bpf;

/**
 * struct early_tables - @words: the map; NULL: there is none. @nr_blocks: in use
 * @begins: by number of the file, in the BPF programs' memory: the first block + 1; 0: no table
 * @nr_words: of the table of each file
 */
struct early_tables {
	uint64_t *words;
	uint32_t nr_blocks;
	volatile unsigned int *begins;
	uint32_t nr_words[WALK_MAX_FILES];
};

/** early_tables_open() - without memory no table is early, and nothing else changes */
void early_tables_open(struct early_tables *tables, struct samples_bpf *skeleton);
/** early_tables_room() - where a table of @nr_words may be written; NULL: it is too large */
uint64_t *early_tables_room(const struct early_tables *tables, uint32_t nr_words);
/** early_tables_give() - the table that was written into the room is that of file @number */
void early_tables_give(struct early_tables *tables, uint32_t number, uint32_t nr_words);
/** early_tables_find() - the table of file @number, borrowed; NULL: it is not here */
const uint64_t *early_tables_find(const struct early_tables *tables, uint32_t number, uint32_t *ret_nr_words);
void early_tables_close(struct early_tables *tables);
#endif
