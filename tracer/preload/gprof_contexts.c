/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof_contexts.c - adds the contexts of all threads, and writes them
 *
 *	# calls elapsed_ns cpu_ns waits_ns path
 *	100 5012345 5012000 345 main;draw_icon;scale_background
 */
#include "gprof_contexts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "gprof_times.h"

/** struct gprof_sum - a context of all threads; @child, @sibling: numbers, 0: none */
struct gprof_sum {
	uintptr_t self; /* where its function begins, if it has a name */
	uint32_t parent, child, sibling;
	uint64_t calls, elapsed, cpu_ns;
};

/** struct gprof_sums - @at: owned; 0 is the root */
struct gprof_sums {
	struct gprof_sum *at;
	uint32_t nr, room;
	const struct gprof_names *names;
	uint64_t not_timed;
	bool no_memory;
};

static bool reserve(struct gprof_sums *sums)
{
	uint32_t more = sums->room ? 2 * sums->room : 1024;
	struct gprof_sum *bigger;

	if (sums->nr < sums->room)
		return true;
	bigger = reallocarray(sums->at, more, sizeof(*bigger));
	if (!bigger)
		return false;
	sums->at = bigger;
	sums->room = more;
	return true;
}

/* 0: no memory */
static uint32_t sum_of(struct gprof_sums *sums, uint32_t parent, uintptr_t self)
{
	const struct gprof_function *function = gprof_function_at(sums->names, self);
	uintptr_t begin = function ? function->begin : self;

	for (uint32_t i = sums->at[parent].child; i; i = sums->at[i].sibling)
		if (sums->at[i].self == begin)
			return i;
	if (!reserve(sums))
		return 0;
	sums->at[sums->nr] = (struct gprof_sum){.self = begin, .parent = parent, .sibling = sums->at[parent].child};
	sums->at[parent].child = sums->nr;
	return sums->nr++;
}

/* A context comes after its caller. */
static void add_thread(void *context, const struct gprof_contexts *contexts)
{
	struct gprof_sums *sums = context;
	uint32_t *sum = calloc(contexts->nr, sizeof(*sum));

	sums->not_timed += contexts->not_timed;
	for (uint32_t i = 1; sum && i < contexts->nr; i++) {
		const struct gprof_context *from = &contexts->at[i];
		struct gprof_sum *into;

		sum[i] = sum_of(sums, sum[from->parent], from->self);
		sums->no_memory |= !sum[i];
		if (!sum[i])
			break;
		into = &sums->at[sum[i]];
		into->calls += from->calls;
		into->elapsed += from->elapsed;
		into->cpu_ns += from->cpu_ns;
	}
	sums->no_memory |= !sum;
	free(sum);
}

static void put_name(FILE *file, const struct gprof_sums *sums, uint32_t number)
{
	const struct gprof_function *function = gprof_function_at(sums->names, sums->at[number].self);

	if (function)
		fputs(function->name, file);
	else
		fprintf(file, "0x%" PRIxPTR, sums->at[number].self);
}

/* @path: room for all contexts */
static void put_line(FILE *file, const struct gprof_sums *sums, uint32_t number, uint32_t *path)
{
	const struct gprof_sum *sum = &sums->at[number];
	uint64_t ns = gprof_elapsed_ns(sum->elapsed), cpu_ns = sum->cpu_ns < ns ? sum->cpu_ns : ns;
	uint32_t nr = 0;

	fprintf(file, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", sum->calls, ns, cpu_ns, ns - cpu_ns);
	for (uint32_t i = number; i; i = sums->at[i].parent)
		path[nr++] = i;
	while (nr) {
		put_name(file, sums, path[--nr]);
		fputc(nr ? ';' : '\n', file);
	}
}

static uint32_t next_of(const struct gprof_sums *sums, uint32_t number)
{
	if (sums->at[number].child)
		return sums->at[number].child;
	while (number && !sums->at[number].sibling)
		number = sums->at[number].parent;
	return number ? sums->at[number].sibling : 0;
}

int gprof_contexts_put(FILE *file, const struct gprof_names *names)
{
	struct gprof_sums sums = {.names = names};
	uint32_t *path = NULL;

	if (reserve(&sums)) {
		sums.at[sums.nr++] = (struct gprof_sum){0};
		gprof_each_timed(add_thread, &sums);
		path = calloc(sums.nr, sizeof(*path));
	}
	if (path) {
		fputs("# calls elapsed_ns cpu_ns waits_ns path\n", file);
		for (uint32_t i = next_of(&sums, 0); i; i = next_of(&sums, i))
			if (sums.at[i].calls)
				put_line(file, &sums, i, path);
		if (sums.not_timed)
			fprintf(file,
				"# without times: %" PRIu64 " calls, which were nested too deep or had too many "
				"contexts\n",
				sums.not_timed);
	}
	free(sums.at);
	free(path);
	return path && !sums.no_memory ? 0 : -ENOMEM;
}
