/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * kernel_counts.c - reads what the BPF programs counted: samples by address, and the functions that
 * the kernel's events tell
 *
 * Nothing is stopped meanwhile. A batch reads a whole map with one system call.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "loader.h"
#include "sample_skeleton.h"
#include "samples.h"

/** struct count_list - what was read so far */
struct count_list {
	struct tracer_count *counts; /* owned */
	size_t nr, room;
};

static int make_room(struct count_list *list, size_t more)
{
	struct tracer_count *bigger;

	if (list->nr + more <= list->room)
		return 0;
	bigger = reallocarray(list->counts, list->nr + more, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	list->counts = bigger;
	list->room = list->nr + more;
	return 0;
}

static int by_kind_and_key(const void *left, const void *right)
{
	const struct tracer_count *l = left, *r = right;

	if (l->kind != r->kind)
		return l->kind < r->kind ? -1 : 1;
	return (l->key > r->key) - (l->key < r->key);
}

/* All of a map; @ret_nr elements. */
static int read_map(const struct bpf_map *map, uint64_t *keys, void *values, uint32_t *ret_nr)
{
	uint32_t next, nr = bpf_map__max_entries(map);
	int result = bpf_map_lookup_batch(bpf_map__fd(map), NULL, &next, keys, values, &nr, NULL);

	*ret_nr = nr;
	return result && errno != ENOENT ? -errno : 0; /* ENOENT: that was all */
}

static int read_hits(const struct tracer *tracer, struct count_list *list)
{
	const struct bpf_map *map = tracer->sampling->skeleton->maps.kernel_hits;
	uint32_t nr = bpf_map__max_entries(map);
	uint64_t *keys = calloc(nr, sizeof(*keys));
	struct tracer_hits *hits = calloc(nr, sizeof(*hits));
	int result = keys && hits ? read_map(map, keys, hits, &nr) : -ENOMEM;

	if (!result)
		result = make_room(list, nr);
	for (uint32_t i = 0; i < nr && !result; i++)
		list->counts[list->nr++] = (struct tracer_count){
			.kind = TRACER_COUNT_SAMPLE, .key = keys[i], .count = hits[i].samples, .sum = hits[i].periods};
	free(keys);
	free(hits);
	return result;
}

#define KIND_SHIFT 56 /* TRACER_COUNT_KEY() */

static int read_functions(const struct tracer *tracer, struct count_list *list)
{
	const struct bpf_map *map = tracer->skeleton->maps.function_counts;
	uint32_t nr = bpf_map__max_entries(map);
	uint64_t *keys = calloc(nr, sizeof(*keys)), *counts = calloc(nr, sizeof(*counts));
	int result = keys && counts ? read_map(map, keys, counts, &nr) : -ENOMEM;

	if (!result)
		result = make_room(list, nr);
	for (uint32_t i = 0; i < nr && !result; i++) {
		uint32_t kind = (uint32_t)(keys[i] >> KIND_SHIFT);
		bool is_number = kind == TRACER_COUNT_SOFTIRQ || kind == TRACER_COUNT_VECTOR;

		list->counts[list->nr++] = (struct tracer_count){.kind = kind,
								 .key = is_number ? keys[i] & 255
										  : keys[i] | 0xffull << KIND_SHIFT,
								 .count = counts[i]};
	}
	free(keys);
	free(counts);
	return result;
}

static int read_calls(const struct tracer *tracer, struct count_list *list)
{
	int fd = bpf_map__fd(tracer->skeleton->maps.call_counts), nr_cpus = libbpf_num_possible_cpus();
	uint64_t *counts = nr_cpus > 0 ? calloc((size_t)nr_cpus, sizeof(*counts)) : NULL;
	int result = counts ? make_room(list, 2 * TRACER_NR_SYSCALLS) : -ENOMEM;

	for (uint32_t i = 0; i < 2 * TRACER_NR_SYSCALLS && !result; i++) {
		uint64_t sum = 0;

		if (bpf_map_lookup_elem(fd, &i, counts))
			result = -errno;
		for (int cpu = 0; cpu < nr_cpus && !result; cpu++)
			sum += counts[cpu];
		if (sum)
			list->counts[list->nr++] = (struct tracer_count){.kind = i < TRACER_NR_SYSCALLS
											 ? TRACER_COUNT_CALL
											 : TRACER_COUNT_CALL_32,
									 .key = i % TRACER_NR_SYSCALLS,
									 .count = sum};
	}
	free(counts);
	return result;
}

int tracer_read_counts(const struct tracer *tracer, struct tracer_count **ret_counts, size_t *ret_nr,
		       uint64_t *ret_not_counted)
{
	struct count_list list = {0};
	int result = tracer->sampling ? read_hits(tracer, &list) : -ENOTSUP;

	if (!result)
		result = read_calls(tracer, &list);
	if (!result)
		result = read_functions(tracer, &list);
	if (result) {
		free(list.counts);
		return result;
	}
	if (list.nr)
		qsort(list.counts, list.nr, sizeof(*list.counts), by_kind_and_key);
	*ret_counts = list.counts;
	*ret_nr = list.nr;
	*ret_not_counted = __atomic_load_n(&tracer->skeleton->bss->nr_not_counted, __ATOMIC_RELAXED) +
			   __atomic_load_n(&tracer->sampling->skeleton->bss->nr_hits_left_out, __ATOMIC_RELAXED);
	return 0;
}
