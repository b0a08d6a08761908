/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "early_tables.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stddef.h>
#include <sys/mman.h>
#include <trace/events.h>
#include "sample_skeleton.h"

#define ALL_BYTES ((size_t)WALK_EARLY_BLOCKS * UNWIND_BLOCK_BYTES)

void early_tables_open(struct early_tables *tables, struct samples_bpf *skeleton)
{
	void *memory = mmap(NULL, ALL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
			    bpf_map__fd(skeleton->maps.early_tables), 0);

	tables->words = memory == MAP_FAILED ? NULL : memory;
	tables->begins = skeleton->data_files->early_begins;
}

uint64_t *early_tables_room(const struct early_tables *tables, uint32_t nr_words)
{
	uint32_t nr = nr_words / UNWIND_BLOCK_WORDS, room = WALK_EARLY_BLOCKS - tables->nr_blocks;

	if (nr > WALK_EARLY_SMALL_BLOCKS)
		room -= room < WALK_EARLY_SMALL_ROOM ? room : WALK_EARLY_SMALL_ROOM;
	/* an empty one needs no block */
	if (!tables->words || nr > WALK_EARLY_TABLE_BLOCKS || nr > room)
		return NULL;
	return tables->words + (size_t)tables->nr_blocks * UNWIND_BLOCK_WORDS;
}

void early_tables_give(struct early_tables *tables, uint32_t number, uint32_t nr_words)
{
	tables->nr_words[number] = nr_words;
	/* pairs with the load in row_of() of walk.bpf.c: the words are there first */
	__atomic_store_n(&tables->begins[number], tables->nr_blocks + 1, __ATOMIC_RELEASE);
	tables->nr_blocks += nr_words / UNWIND_BLOCK_WORDS;
}

const uint64_t *early_tables_find(const struct early_tables *tables, uint32_t number, uint32_t *ret_nr_words)
{
	uint32_t begin = tables->words ? tables->begins[number] : 0;

	if (!begin)
		return NULL;
	*ret_nr_words = tables->nr_words[number];
	return tables->words + (size_t)(begin - 1) * UNWIND_BLOCK_WORDS;
}

void early_tables_close(struct early_tables *tables)
{
	if (tables->words)
		munmap(tables->words, ALL_BYTES);
	tables->words = NULL;
}
