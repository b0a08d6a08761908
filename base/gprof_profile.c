/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gprof_profile.h"

#include <errno.h>
#include <stdlib.h>
#include "gmon_records.h"

void gprof_arcs_add(void *context, const struct gprof_arc *arc)
{
	struct gprof_arcs *arcs = context;

	if (arcs->nr == arcs->room) {
		size_t more = arcs->room ? 2 * arcs->room : 1024;
		struct gprof_arc *bigger = reallocarray(arcs->arcs, more, sizeof(*bigger));

		arcs->no_memory |= !bigger;
		if (!bigger)
			return;
		arcs->arcs = bigger;
		arcs->room = more;
	}
	arcs->arcs[arcs->nr++] = *arc;
}

static int compare_arcs(const void *a, const void *b)
{
	const struct gprof_arc *left = a, *right = b;

	if (left->self != right->self)
		return left->self < right->self ? -1 : 1;
	return left->from < right->from ? -1 : left->from > right->from;
}

int gprof_arcs_end(struct gprof_arcs *arcs)
{
	size_t nr = 0;

	if (arcs->no_memory)
		return -ENOMEM;
	if (arcs->nr)
		qsort(arcs->arcs, arcs->nr, sizeof(*arcs->arcs), compare_arcs);
	for (size_t i = 0; i < arcs->nr; i++)
		if (nr && !compare_arcs(&arcs->arcs[nr - 1], &arcs->arcs[i]))
			arcs->arcs[nr - 1].count += arcs->arcs[i].count;
		else
			arcs->arcs[nr++] = arcs->arcs[i];
	arcs->nr = nr;
	return 0;
}

int gprof_put_samples(FILE *file, const struct gprof_region *region, size_t first, size_t nr, uintptr_t bias,
		      uint64_t period_ns)
{
	uintptr_t from = region->from + first * GPROF_CELL_BYTES - bias;
	struct gmon_histogram head = gmon_seconds(from, from + nr * GPROF_CELL_BYTES, (uint32_t)nr, period_ns);
	uint16_t *bins = calloc(nr, sizeof(*bins));
	uint64_t written = 0;
	bool remains = bins != NULL;

	while (remains) {
		remains = false;
		for (size_t i = 0; i < nr; i++) {
			uint64_t count = region->cells[first + i], rest = count > written ? count - written : 0;

			bins[i] = (uint16_t)(rest < GMON_MAX_BIN ? rest : GMON_MAX_BIN);
			remains |= rest > GMON_MAX_BIN;
		}
		gmon_put_histogram(file, &head, bins);
		written += GMON_MAX_BIN;
	}
	free(bins);
	return bins ? 0 : -ENOMEM;
}

int gprof_put_program(FILE *file, const struct gprof_arcs *arcs, const struct gprof_code *program,
		      const struct gprof_region *samples, uint64_t period_ns)
{
	int err;

	gmon_put_head(file);
	err = samples ? gprof_put_samples(file, samples, 0, samples->nr_cells, program->bias, period_ns) : 0;
	for (size_t i = 0; i < arcs->nr; i++) {
		const struct gprof_arc *arc = &arcs->arcs[i];

		if (gprof_is_in(program, arc->from) && gprof_is_in(program, arc->self))
			gmon_put_arc(file, arc->from - program->bias, arc->self - program->bias, arc->count);
	}
	return err;
}
