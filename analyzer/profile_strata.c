/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_strata.h"

#include <errno.h>
#include <stdlib.h>
#include "array_room.h"

struct stratum_row {
	uint64_t key; /* hash of the content; if it is in use, the next free number */
	uint32_t number;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	return hash_u64(hash ^ value);
}

static bool make_room(struct strata *strata, void **array, uint32_t nr, uint32_t *room, size_t bytes)
{
	if (array_room(array, nr, room, bytes))
		return true;
	strata->failed = -ENOMEM;
	return false;
}

/* ---- strata ---- */

static uint64_t key_of(const struct stratum *s)
{
	uint64_t hash = mix((uintptr_t)s->thread, (uint64_t)s->state << 16 | (uint64_t)s->kind << 8 | s->idle);

	hash = mix(mix(hash, (uintptr_t)s->name), (uintptr_t)s->target);
	hash = mix(mix(mix(hash, (uintptr_t)s->via), (uintptr_t)s->path), (uintptr_t)s->other);
	return mix(mix(hash, (uintptr_t)s->other_thread), (uint64_t)s->label << 32 | s->cpu);
}

static bool is_same(const struct stratum *a, const struct stratum *b)
{
	return a->thread == b->thread && a->state == b->state && a->kind == b->kind && a->idle == b->idle &&
	       a->name == b->name && a->target == b->target && a->via == b->via && a->path == b->path &&
	       a->other == b->other && a->other_thread == b->other_thread && a->cpu == b->cpu && a->label == b->label;
}

struct stratum *stratum_of(struct strata *strata, const struct stratum *wanted)
{
	uint64_t key = key_of(wanted);
	struct stratum_row *row;

	for (;; key++) {
		key += !key;
		row = table_add(&strata->by_content, sizeof(*row), key);
		if (!row)
			break;
		if (!row->number) {
			if (!make_room(strata, (void **)&strata->list, strata->nr, &strata->room,
				       sizeof(*strata->list)))
				return NULL;
			strata->list[strata->nr] = *wanted;
			strata->list[strata->nr].first = strata->list[strata->nr].last = NO_GROUP;
			row->number = ++strata->nr;
			return &strata->list[row->number - 1];
		}
		if (is_same(&strata->list[row->number - 1], wanted))
			return &strata->list[row->number - 1];
	}
	strata->failed = -ENOMEM;
	return NULL;
}

static uint64_t group_hash(uint32_t stratum, const struct group_place *place)
{
	return hash_u64(((uint64_t)stratum << 32 | place->frame) ^ hash_u64(place->waker));
}

static uint64_t hash_of_group(const void *strata, uint32_t number)
{
	const struct sample_group *group = &((const struct strata *)strata)->groups[number];

	return group_hash(group->stratum, &group->place);
}

/* A new group at the end of those of @stratum; NULL: no memory. */
static struct sample_group *add_group(struct strata *strata, struct stratum *stratum, const struct group_place *place)
{
	uint32_t number = (uint32_t)(stratum - strata->list);

	if (!make_room(strata, (void **)&strata->groups, strata->nr_groups, &strata->groups_room,
		       sizeof(*strata->groups)))
		return NULL;
	strata->groups[strata->nr_groups] = (struct sample_group){.stratum = number, .place = *place, .next = NO_GROUP};
	number_index_add(&strata->by_frame, group_hash(number, place), strata->nr_groups);
	if (stratum->last == NO_GROUP)
		stratum->first = strata->nr_groups;
	else
		strata->groups[stratum->last].next = strata->nr_groups;
	stratum->last = strata->nr_groups;
	return &strata->groups[strata->nr_groups++];
}

/* The group of @place, which is added if it is missing; NULL: no memory. */
static struct sample_group *group_of(struct strata *strata, struct stratum *stratum, const struct group_place *place)
{
	uint32_t stratum_number = (uint32_t)(stratum - strata->list), number;
	uint64_t hash = group_hash(stratum_number, place);

	if (!number_index_room(&strata->by_frame, hash_of_group, strata)) {
		strata->failed = -ENOMEM;
		return NULL;
	}
	for (uint32_t step = 0; number_index_has(&strata->by_frame, hash, step, &number); step++)
		if (strata->groups[number].stratum == stratum_number &&
		    strata->groups[number].place.frame == place->frame &&
		    strata->groups[number].place.waker == place->waker)
			return &strata->groups[number];
	return add_group(strata, stratum, place);
}

void stratum_add_samples(struct strata *strata, struct stratum *stratum, uint32_t frame, uint64_t samples)
{
	struct sample_group *group = group_of(strata, stratum, &(struct group_place){.frame = frame});

	if (!group)
		return;
	group->samples += samples;
	group->weight += samples;
	stratum->samples += samples;
}

void stratum_add_wait(struct strata *strata, struct stratum *stratum, const struct group_place *place,
		      uint64_t exact_ns, uint64_t weight)
{
	struct sample_group *group = group_of(strata, stratum, place);

	if (!group)
		return;
	group->samples++;
	group->exact_ns += exact_ns;
	group->weight += weight;
	stratum->samples++;
}

void stratum_merge(struct strata *strata, struct stratum *to, struct stratum *from)
{
	to->ns += from->ns;
	to->intervals += from->intervals;
	for (uint32_t i = from->first; i != NO_GROUP; i = strata->groups[i].next) {
		uint64_t samples = strata->groups[i].samples;

		strata->groups[i].samples = strata->groups[i].weight = 0;
		if (samples)
			stratum_add_samples(strata, to, strata->groups[i].place.frame, samples);
	}
	from->ns = from->intervals = from->samples = 0;
}

/* ---- division ---- */

struct remainder {
	uint64_t rest;
	size_t idx;
};

static int by_rest(const void *left, const void *right)
{
	const struct remainder *l = left, *r = right;

	return l->rest != r->rest ? (l->rest > r->rest ? -1 : 1) : (l->idx > r->idx) - (l->idx < r->idx);
}

int split_ns(uint64_t ns, const uint64_t *parts, size_t nr, uint64_t whole, uint64_t *ret_ns)
{
	struct remainder *remainders = calloc(nr ? nr : 1, sizeof(*remainders));
	uint64_t left = ns;

	if (!remainders)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		unsigned __int128 product = (unsigned __int128)ns * parts[i];

		ret_ns[i] = (uint64_t)(product / whole);
		remainders[i] = (struct remainder){.rest = (uint64_t)(product % whole), .idx = i};
		left -= ret_ns[i];
	}
	qsort(remainders, nr, sizeof(*remainders), by_rest);
	for (size_t i = 0; i < nr && left; i++, left--)
		ret_ns[remainders[i].idx]++;
	free(remainders);
	return 0;
}

/** struct stratum_sums - of the groups of a stratum */
struct stratum_sums {
	uint64_t exact_ns, weight;
};

static struct stratum_sums sums_of(const struct strata *strata, const struct stratum *stratum)
{
	struct stratum_sums sums = {0};

	for (uint32_t i = stratum->first; i != NO_GROUP; i = strata->groups[i].next) {
		sums.exact_ns += strata->groups[i].exact_ns;
		sums.weight += strata->groups[i].weight;
	}
	return sums;
}

/* Time of waits that no stack tells of is a group without a frame. */
static void add_unsampled(struct strata *strata, struct stratum *stratum)
{
	struct stratum_sums sums = sums_of(strata, stratum);
	struct sample_group *group;

	if (!stratum->samples)
		return;
	if (!sums.weight && stratum->ns > sums.exact_ns)
		stratum->unsampled_ns = stratum->ns - sums.exact_ns;
	if (!stratum->unsampled_ns)
		return;
	group = group_of(strata, stratum, &(struct group_place){.frame = UINT32_MAX});
	if (group)
		group->exact_ns = stratum->unsampled_ns;
}

static int split_stratum(struct strata *strata, const struct stratum *stratum, uint64_t *parts, uint64_t *ns)
{
	struct stratum_sums sums = sums_of(strata, stratum);
	size_t nr = 0;

	for (uint32_t i = stratum->first; i != NO_GROUP; i = strata->groups[i].next)
		parts[nr++] = strata->groups[i].weight;
	for (size_t i = 0; i < nr; i++)
		ns[i] = 0;
	if (sums.weight && split_ns(stratum->ns - sums.exact_ns, parts, nr, sums.weight, ns))
		return -ENOMEM;
	nr = 0;
	for (uint32_t i = stratum->first; i != NO_GROUP; i = strata->groups[i].next)
		strata->groups[i].ns = strata->groups[i].exact_ns + ns[nr++];
	return 0;
}

static size_t nr_groups_of(const struct strata *strata, const struct stratum *stratum)
{
	size_t nr = 0;

	for (uint32_t i = stratum->first; i != NO_GROUP; i = strata->groups[i].next)
		nr++;
	return nr;
}

int strata_split(struct strata *strata)
{
	size_t most = 1;
	uint64_t *parts;
	int result;

	for (uint32_t i = 0; i < strata->nr; i++) {
		size_t nr;

		add_unsampled(strata, &strata->list[i]);
		nr = nr_groups_of(strata, &strata->list[i]);
		most = nr > most ? nr : most;
	}
	number_index_clear(&strata->by_frame);
	parts = calloc(2 * most, sizeof(*parts));
	result = parts ? strata->failed : -ENOMEM;
	for (uint32_t i = 0; i < strata->nr && !result; i++)
		result = split_stratum(strata, &strata->list[i], parts, parts + most);
	free(parts);
	return result;
}

void strata_clear(struct strata *strata)
{
	free(strata->list);
	free(strata->groups);
	table_clear(&strata->by_content);
	number_index_clear(&strata->by_frame);
	*strata = (struct strata){0};
}
