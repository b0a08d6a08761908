/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_way.h"

#include <stdlib.h>
#include "profile_rows.h"

struct profile_node *profile_way_node(const struct profile_way *way)
{
	if (!way->tree)
		return NULL;
	return way->nr ? way->steps[way->nr - 1].node : profile_tree_root(way->tree);
}

void profile_way_add(struct profile_way *way, uint32_t function, struct profile_row *row)
{
	struct profile_node *above = profile_way_node(way);

	way->steps = memory_grow(way->steps, way->nr, &way->room, sizeof(*way->steps));
	way->steps[way->nr++] = (struct profile_step){.row = row,
						      .node = above ? profile_tree_below(way->tree, above, row) : NULL,
						      .function = function};
}

void profile_way_top(struct profile_way *way, size_t at, struct profile_row *row)
{
	if (at < way->nr && way->steps[at].row == row)
		return;
	way->nr = at;
	profile_way_add(way, PROFILE_NO_FUNCTION, row);
}

size_t profile_way_keep(struct profile_way *way, size_t top, const uint32_t *functions, size_t nr, size_t inner)
{
	size_t known = top;

	for (; known < way->nr && nr > inner && way->steps[known].function == functions[nr - 1]; nr--)
		known++;
	way->nr = known;
	return nr;
}

static void add_once(struct profile_way *way, struct profile_row *row, const struct profile_time *time)
{
	if (row->counted == way->shares)
		return;
	row->counted = way->shares;
	profile_time_add(&row->total, time);
}

void profile_way_total(struct profile_way *way, struct profile_row *row, const struct profile_time *time)
{
	way->shares++;
	for (size_t i = 0; i < way->nr; i++)
		add_once(way, way->steps[i].row, time);
	add_once(way, row, time);
}

void profile_way_free(struct profile_way *way)
{
	free(way->steps);
	*way = (struct profile_way){0};
}
