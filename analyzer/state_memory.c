/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_memory.c - mapped files, for page faults; and threads that must reclaim memory to get some
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "state.h"
#include "state_memory.h"
#include "state_touch.h"

#define MAX_MAPPINGS (1u << 20)

struct process_memory *memory_new(struct trace_analysis *a)
{
	struct process_memory *memory = calloc(1, sizeof(*memory));

	if (!memory) {
		a->failed = -ENOMEM;
		return NULL;
	}
	memory->refs = 1;
	memory->number = ++a->nr_tables;
	return memory;
}

struct process_memory *memory_ref(struct process_memory *memory)
{
	if (memory)
		memory->refs++;
	return memory;
}

struct process_memory *memory_unref(struct process_memory *memory)
{
	if (memory && --memory->refs == 0) {
		doubt_drop_memory(memory);
		free(memory->maps);
		free(memory);
	}
	return NULL;
}

struct process_memory *process_memory_copy(struct trace_analysis *a, struct process_memory *memory, uint64_t since_ns)
{
	struct process_memory *copy = memory_new(a);

	if (copy && memory) {
		copy->has_foreign = memory->has_foreign || memory->cut_ns >= since_ns;
		copy->copy_of = memory->number;
		memory->copied_ns = a->now;
	}
	if (!copy || !memory || !memory->nr)
		return copy;
	copy->maps = malloc(memory->nr * sizeof(*memory->maps));
	if (!copy->maps) {
		a->failed = -ENOMEM;
		return copy;
	}
	memcpy(copy->maps, memory->maps, memory->nr * sizeof(*memory->maps));
	copy->nr = copy->capacity = memory->nr;
	doubt_note_memory(a, copy);
	return copy;
}

void memory_has_foreign(struct trace_analysis *a, struct process_memory *memory)
{
	if (memory->has_foreign)
		return;
	memory->has_foreign = true;
	if (a->rules)
		rules_had_foreign(a, memory);
}

static void copy_may_have(struct trace_analysis *a, struct trace_thread *thread, file_idx file)
{
	if (!file) {
		memory_has_foreign(a, thread->memory);
		return;
	}
	thread->memory->has_foreign = true; /* it is not known whether it has it */
	if (a->rules)
		rules_mapped(a, thread, file);
}

void memory_copied_since(struct trace_analysis *a, const struct process_memory *memory, uint64_t since_ns,
			 file_idx file)
{
	uint32_t i = a->threads.nr_processes;

	if (memory->copied_ns < since_ns)
		return;
	while (i-- > NR_PSEUDO_PROCESSES) {
		struct trace_thread *t = a->threads.processes[i]->first;

		if (t && t->start_ns < since_ns)
			break;
		for (; t; t = t->next)
			if (t->memory && t->memory->copy_of == memory->number)
				copy_may_have(a, t, file);
	}
}

/* Returns the index of the first mapping that ends after @address. */
static uint32_t map_after(const struct process_memory *memory, uint64_t address)
{
	uint32_t low = 0, high = memory->nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (memory->maps[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct mapping *memory_at(const struct process_memory *memory, uint64_t address)
{
	uint32_t i = memory ? map_after(memory, address) : 0;

	return memory && i < memory->nr && memory->maps[i].start <= address ? &memory->maps[i] : NULL;
}

file_idx memory_find(const struct process_memory *memory, uint64_t address)
{
	const struct mapping *map = memory_at(memory, address);

	return map ? map->file : 0;
}

file_idx memory_shared(const struct process_memory *memory, uint64_t address, uint64_t *ret_offset)
{
	const struct mapping *map = memory_at(memory, address);

	if (!map || map->is_private)
		return 0;
	*ret_offset = map->offset + (address - map->start);
	return map->file;
}

static bool maps_reserve(struct process_memory *memory, uint32_t nr)
{
	struct mapping *bigger;
	uint32_t capacity = memory->capacity ? memory->capacity : 8;

	if (nr <= memory->capacity)
		return true;
	while (capacity < nr)
		capacity *= 2;
	bigger = reallocarray(memory->maps, capacity, sizeof(*bigger));
	if (!bigger)
		return false;
	memory->maps = bigger;
	memory->capacity = capacity;
	return true;
}

/* Replaces maps[first .. last) by @with[0 .. nr). */
static void maps_replace(struct process_memory *memory, uint32_t first, uint32_t last, const struct mapping *with,
			 uint32_t nr)
{
	memmove(&memory->maps[first + nr], &memory->maps[last], (memory->nr - last) * sizeof(*with));
	memcpy(&memory->maps[first], with, nr * sizeof(*with));
	memory->nr += nr - (last - first);
}

/* The part of @map from @start to @end. */
static struct mapping part_of(const struct mapping *map, uint64_t start, uint64_t end)
{
	struct mapping part = *map;

	part.start = start;
	part.end = end;
	part.offset += start - map->start;
	return part;
}

/*
 * Mappings that were there are cut or removed. A process with too many of them gets no further one:
 * it is as if there were no file.
 */
void memory_map(struct trace_analysis *a, struct process_memory *memory, struct mapping map)
{
	uint32_t first = map_after(memory, map.start), last = first, nr = 0;
	bool is_full = memory->nr + 2 > MAX_MAPPINGS;
	struct mapping with[3];

	if (is_full || (a->doubt.is_open && memory->refs > 1))
		map.file = 0; /* a thread that is not seen may change it at any time */
	if (map.end <= map.start)
		return;
	if (!maps_reserve(memory, memory->nr + 2)) {
		a->failed = -ENOMEM;
		return;
	}
	while (last < memory->nr && memory->maps[last].start < map.end)
		last++;
	if (first < last && memory->refs > 1)
		memory->cut_ns = a->now;
	if (first < last && memory->maps[first].start < map.start)
		with[nr++] = part_of(&memory->maps[first], memory->maps[first].start, map.start);
	if (map.file)
		with[nr++] = map;
	if (first < last && memory->maps[last - 1].end > map.end)
		with[nr++] = part_of(&memory->maps[last - 1], map.end, memory->maps[last - 1].end);
	if (is_full && nr > last - first)
		nr = last - first; /* the part behind a hole */
	if (!memory->nr && nr)
		doubt_note_memory(a, memory);
	maps_replace(memory, first, last, with, nr);
	if (!memory->nr)
		doubt_drop_memory(memory);
}

void memory_unmap(struct trace_analysis *a, struct process_memory *memory, uint64_t start, uint64_t end)
{
	memory_map(a, memory, (struct mapping){.start = start, .end = end});
}

void on_reclaim_begin(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (cpu->current)
		cpu->current->flags |= THREAD_RECLAIM;
}

void on_reclaim_end(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	if (cpu->current)
		cpu->current->flags &= ~THREAD_RECLAIM;
}
