/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* profil_roots.c - which of its perf events counts a thread that has several. */
#include <stdlib.h>
#include <string.h>
#include "profil_roots.h"

#define MIN_SLOTS 64

static size_t home_of(const struct profil_roots *roots, uint32_t tid)
{
	return (tid * 2654435761u) & (roots->nr_slots - 1);
}

/* The slot of @tid, or the free one in which it belongs. */
static struct profil_root *slot_of(const struct profil_roots *roots, uint32_t tid)
{
	size_t at = home_of(roots, tid);

	while (roots->slots[at].tid && roots->slots[at].tid != tid)
		at = (at + 1) & (roots->nr_slots - 1);
	return &roots->slots[at];
}

/*
 * Moves all threads that live, or ended at @from or later, to a table with room for as many more.
 */
static bool rebuild(struct profil_roots *roots, uint64_t from)
{
	struct profil_roots bigger = {.nr_slots = MIN_SLOTS};

	while (bigger.nr_slots < 4 * roots->nr)
		bigger.nr_slots *= 2;
	bigger.slots = calloc(bigger.nr_slots, sizeof(*bigger.slots));
	if (!bigger.slots)
		return false;
	for (size_t i = 0; i < roots->nr_slots; i++)
		if (roots->slots[i].tid && (!roots->slots[i].end || roots->slots[i].end >= from)) {
			*slot_of(&bigger, roots->slots[i].tid) = roots->slots[i];
			bigger.nr++;
		}
	free(roots->slots);
	*roots = bigger;
	return true;
}

/* The entry of @tid; a new one has no root. NULL: no memory */
static struct profil_root *entry_of(struct profil_roots *roots, uint32_t tid)
{
	struct profil_root *slot;

	if (2 * (roots->nr + 1) > roots->nr_slots && !rebuild(roots, 0))
		return NULL;
	slot = slot_of(roots, tid);
	if (!slot->tid) {
		slot->tid = tid;
		roots->nr++;
	}
	return slot;
}

bool profil_roots_count(struct profil_roots *roots, uint32_t tid, uint32_t root, uint64_t time)
{
	struct profil_root *entry = entry_of(roots, tid);

	if (!entry)
		return true;
	if (entry->end && time > entry->end) /* another thread with that number */
		*entry = (struct profil_root){.tid = tid};
	if (!entry->root)
		entry->root = root;
	return entry->root == root;
}

void profil_roots_end(struct profil_roots *roots, uint32_t tid, uint64_t time)
{
	struct profil_root *entry = entry_of(roots, tid);

	if (entry && time > entry->end)
		entry->end = time;
}

void profil_roots_purge(struct profil_roots *roots, uint64_t time)
{
	size_t nr_ended = 0;

	for (size_t i = 0; i < roots->nr_slots; i++)
		nr_ended += roots->slots[i].tid && roots->slots[i].end && roots->slots[i].end < time;
	if (nr_ended > MIN_SLOTS / 4 && 2 * nr_ended > roots->nr)
		rebuild(roots, time);
}

void profil_roots_clear(struct profil_roots *roots)
{
	free(roots->slots);
	memset(roots, 0, sizeof(*roots));
}
