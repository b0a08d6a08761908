/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_mappings.c - the mappings of all processes, and the programs that they executed.
 *
 * An address has the latest mapping before its time, since a library may be mapped where another
 * one was. A program may report a mapping (program:map) after its first use; the kernel's (fs_map)
 * come before it. So an address without a mapping before its time has the first one that its
 * program reported later.
 *
 * Example: a.so is mapped at 0x1000 at 1 ms, and b.so, after dlclose, at 0x1000 at 5 ms. A sample
 * at 0x1010 is of a.so at 3 ms, of b.so at 6 ms, and has no name at 0.5 ms.
 *
 * A process without mappings of its own since its last exec has those of its parent.
 */
#include "symbol_mappings.h"

#include <stdlib.h>
#include "array_room.h"
#include "mapping_index.h"

#define FEW_MAPPINGS 64 /* of a process, which need no index */
#define NONE_BEFORE  SIZE_MAX

/** struct symbol_last - the last step or mapping of a thread or process. @idx: 0: none, else + 1 */
struct symbol_last {
	uint64_t key; /* number + 1 */
	size_t idx;
};

/**
 * struct symbol_index - of the mappings of a process with many
 * @index: NULL: it cannot be made. @numbers: of its places; both are owned
 */
struct symbol_index {
	uint64_t key; /* process + 1 */
	struct mapping_index *index;
	size_t *numbers;
};

/* ---- adding ---- */

static size_t last_of(const struct hash_table *table, uint32_t number)
{
	const struct symbol_last *last = table_find(table, sizeof(*last), (uint64_t)number + 1);

	return last ? last->idx - 1 : NONE_BEFORE;
}

/* @idx is the last of @number from now on. Returns the one before it. */
static size_t put_last(struct symbol_mappings *mappings, struct hash_table *table, uint32_t number, size_t idx)
{
	struct symbol_last *last = table_add(table, sizeof(*last), (uint64_t)number + 1);
	size_t before = last ? last->idx - 1 : NONE_BEFORE;

	if (last)
		last->idx = idx + 1;
	else
		mappings->failed = true;
	return before;
}

void symbol_mappings_add(struct symbol_mappings *mappings, const struct symbol_mapping *mapping)
{
	struct symbol_mapping *added;

	if (!array_room((void **)&mappings->mappings, mappings->nr_mappings, &mappings->room_mappings,
			sizeof(*added))) {
		mappings->failed = true;
		return;
	}
	added = &mappings->mappings[mappings->nr_mappings];
	*added = *mapping;
	added->before = put_last(mappings, &mappings->last_mappings, mapping->pid, mappings->nr_mappings++);
}

void symbol_mappings_add_step(struct symbol_mappings *mappings, const struct symbol_step *step)
{
	struct symbol_step *added;

	if (!array_room((void **)&mappings->steps, mappings->nr_steps, &mappings->room_steps, sizeof(*added))) {
		mappings->failed = true;
		return;
	}
	added = &mappings->steps[mappings->nr_steps];
	*added = *step;
	added->before = put_last(mappings, &mappings->last_steps, step->tid, mappings->nr_steps++);
}

/* ---- asking ---- */

/* Steps are in time order. */
static const struct symbol_step *latest_step(const struct symbol_mappings *mappings, uint32_t tid, uint64_t ts_ns,
					     bool exec_only)
{
	for (size_t i = last_of(&mappings->last_steps, tid); i != NONE_BEFORE; i = mappings->steps[i].before)
		if (mappings->steps[i].ts_ns <= ts_ns && (!exec_only || mappings->steps[i].exec))
			return &mappings->steps[i];
	return NULL;
}

static const struct symbol_step *birth(const struct symbol_mappings *mappings, uint32_t pid, uint64_t ts_ns)
{
	for (size_t i = last_of(&mappings->last_steps, pid); i != NONE_BEFORE; i = mappings->steps[i].before)
		if (mappings->steps[i].ts_ns <= ts_ns && !mappings->steps[i].exec)
			return &mappings->steps[i];
	return NULL;
}

/* Start of the next program after @ts_ns: mappings from then on belong to that program. */
static uint64_t next_exec(const struct symbol_mappings *mappings, uint32_t pid, uint64_t ts_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (size_t i = last_of(&mappings->last_steps, pid); i != NONE_BEFORE && mappings->steps[i].ts_ns > ts_ns;
	     i = mappings->steps[i].before)
		if (mappings->steps[i].exec)
			next_ns = mappings->steps[i].ts_ns;
	return next_ns;
}

static void index_mappings(const struct symbol_mappings *mappings, struct symbol_index *row, uint32_t pid, size_t nr)
{
	struct mapping_place *places = calloc(nr, sizeof(*places));
	size_t at = nr;

	row->numbers = calloc(nr, sizeof(*row->numbers));
	if (places && row->numbers) {
		for (size_t i = last_of(&mappings->last_mappings, pid); i != NONE_BEFORE;
		     i = mappings->mappings[i].before) {
			const struct symbol_mapping *mapping = &mappings->mappings[i];

			row->numbers[--at] = i;
			places[at] = (struct mapping_place){.start = mapping->start,
							    .end = mapping->end,
							    .since_ns = mapping->since_ns,
							    .may_be_late = mapping->may_be_late};
		}
		row->index = mapping_index_new(places, nr);
	}
	free(places);
}

/* The index of the mappings of @pid; NULL: it has few, or those cannot be indexed. */
static const struct symbol_index *index_of(struct symbol_mappings *mappings, uint32_t pid)
{
	struct symbol_index *row = table_find(&mappings->indexes, sizeof(*row), (uint64_t)pid + 1);
	size_t nr = 0;

	if (row)
		return row->index ? row : NULL;
	for (size_t i = last_of(&mappings->last_mappings, pid); i != NONE_BEFORE; i = mappings->mappings[i].before)
		nr++;
	row = table_add(&mappings->indexes, sizeof(*row), (uint64_t)pid + 1);
	if (row && nr > FEW_MAPPINGS)
		index_mappings(mappings, row, pid, nr);
	return row && row->index ? row : NULL;
}

/* The mapping of process @pid that has @address at @ts_ns, of those from @from_ns on and before
 * @to_ns. */
static const struct symbol_mapping *own_mapping(struct symbol_mappings *mappings, uint32_t pid, uint64_t ts_ns,
						uint64_t from_ns, uint64_t to_ns, uint64_t address)
{
	const struct symbol_index *index = index_of(mappings, pid);
	const struct symbol_mapping *late = NULL;

	if (index) {
		size_t found = mapping_index_find(index->index, address, ts_ns, from_ns, to_ns);

		return found == NO_MAPPING ? NULL : &mappings->mappings[index->numbers[found]];
	}
	for (size_t i = last_of(&mappings->last_mappings, pid); i != NONE_BEFORE; i = mappings->mappings[i].before) {
		const struct symbol_mapping *mapping = &mappings->mappings[i];

		if (mapping->since_ns < from_ns || mapping->since_ns >= to_ns || address < mapping->start ||
		    address >= mapping->end)
			continue;
		if (mapping->since_ns <= ts_ns)
			return mapping;
		if (mapping->may_be_late)
			late = mapping;
	}
	return late;
}

const struct symbol_mapping *symbol_mappings_find(struct symbol_mappings *mappings, uint32_t tid, uint64_t ts_ns,
						  uint64_t address)
{
	for (int generation = 0; generation < 64; generation++) {
		const struct symbol_step *now = latest_step(mappings, tid, ts_ns, false), *exec, *born;
		uint32_t pid = now ? now->pid : tid;
		const struct symbol_mapping *mapping;

		exec = latest_step(mappings, pid, ts_ns, true);
		born = birth(mappings, pid, ts_ns);
		mapping = own_mapping(mappings, pid, ts_ns,
				      exec   ? exec->ts_ns
				      : born ? born->ts_ns
					     : 0,
				      next_exec(mappings, pid, ts_ns), address);
		if (mapping)
			return mapping;
		if ((exec && (!born || exec->ts_ns >= born->ts_ns)) || !born || !born->parent)
			return NULL;
		tid = born->parent; /* a forked child starts with a copy */
		ts_ns = born->ts_ns;
	}
	return NULL;
}

uint32_t symbol_mappings_pid(const struct symbol_mappings *mappings, uint32_t tid, uint64_t ts_ns)
{
	const struct symbol_step *step = latest_step(mappings, tid, ts_ns, false);

	return step ? step->pid : tid;
}

void symbol_mappings_exec(struct symbol_mappings *mappings, uint32_t pid, uint64_t ts_ns)
{
	const struct symbol_step *step = latest_step(mappings, pid, ts_ns, true);

	if (step && step->by_map)
		mappings->steps[step - mappings->steps].by_map = false;
	else
		symbol_mappings_add_step(mappings,
					 &(struct symbol_step){.tid = pid, .pid = pid, .exec = true, .ts_ns = ts_ns});
}

void symbol_mappings_clear(struct symbol_mappings *mappings)
{
	free(mappings->mappings);
	free(mappings->steps);
	table_clear(&mappings->last_steps);
	table_clear(&mappings->last_mappings);
	for (struct symbol_index *row = NULL; (row = table_next(&mappings->indexes, sizeof(*row), row));) {
		mapping_index_free(row->index);
		free(row->numbers);
	}
	table_clear(&mappings->indexes);
}
