/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_disks.c - figures of disks: an analysis of its own, in the same pass as the others.
 *
 * The address of a request identifies it from its issue to its completion; both are events.
 * Requests that began before the trace have no time. The time of a request is that of the disk, not
 * of a waiting thread: several requests may be in progress, and perhaps no thread waits for them.
 */
#include <errno.h>
#include <stdlib.h>
#include "checked_memory.h"
#include "grid.h"
#include "report_disks.h"
#include "value_text.h"

#define OP_MASK 0xff /* enum req_op, include/linux/blk_types.h */
enum { OP_READ = 0, OP_WRITE = 1 };

struct disk {
	uint64_t key; /* @dev + 1 */
	uint32_t dev;
	uint64_t reads, read_bytes, writes, written_bytes, others;
	uint64_t timed, ns, longest_ns;
};

struct disk_figures {
	const struct trace *trace; /* borrowed */
	struct hash_table issued;  /* struct issued_row */
	struct hash_table disks;   /* struct disk */
	uint64_t from_ns, to_ns;   /* the window */
};

struct issued_row {
	uint64_t key; /* request_key() */
	uint64_t ns;
};

static uint64_t request_key(uint64_t address)
{
	return address ? address : UINT64_MAX;
}

static void on_issue(struct disk_figures *figures, const struct trace_event *event)
{
	const struct trace_block_issue *issue = event->payload;
	struct issued_row *row;

	if (event->type->fixed_bytes < sizeof(*issue))
		return;
	row = memory_row(&figures->issued, sizeof(*row), request_key(issue->request));
	row->ns = event->ts_ns;
}

static struct disk *disk_get(struct disk_figures *figures, uint32_t dev)
{
	struct disk *disk = memory_row(&figures->disks, sizeof(*disk), dev + 1ull);

	disk->dev = dev;
	return disk;
}

static void on_complete(struct disk_figures *figures, const struct trace_event *event)
{
	const struct trace_block_complete *complete = event->payload;
	const struct issued_row *row;
	struct disk *disk;
	uint64_t ns;

	if (event->type->fixed_bytes < sizeof(*complete))
		return;
	row = table_find(&figures->issued, sizeof(*row), request_key(complete->request));
	if (event->ts_ns < figures->from_ns || event->ts_ns >= figures->to_ns) {
		if (row)
			table_remove(&figures->issued, sizeof(*row), row->key);
		return;
	}
	disk = disk_get(figures, complete->dev);
	if (row) {
		ns = event->ts_ns > row->ns ? event->ts_ns - row->ns : 0;
		disk->timed++;
		disk->ns += ns;
		disk->longest_ns = disk->longest_ns > ns ? disk->longest_ns : ns;
		table_remove(&figures->issued, sizeof(*row), row->key);
	}
	switch (complete->op & OP_MASK) {
	case OP_READ:
		disk->reads++;
		disk->read_bytes += complete->bytes;
		break;
	case OP_WRITE:
		disk->writes++;
		disk->written_bytes += complete->bytes;
		break;
	default:
		disk->others++;
	}
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	if (event->id == TRACE_EV_block_issue)
		on_issue(data, event);
	else
		on_complete(data, event);
}

struct disk_figures *disk_figures_new(const struct trace *trace, struct trace_analysis *analysis,
				      const struct time_window *window)
{
	struct disk_figures *figures = memory_take(1, sizeof(*figures));
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	figures->trace = trace;
	figures->from_ns = window->has_from ? window->from_ns : 0;
	figures->to_ns = window->has_to ? window->to_ns : UINT64_MAX;
	mask[TRACE_EV_block_issue / 64] |= 1ull << TRACE_EV_block_issue % 64;
	mask[TRACE_EV_block_complete / 64] |= 1ull << TRACE_EV_block_complete % 64;
	if (trace_analysis_on_event(analysis, mask, on_event, figures) < 0)
		memory_end();
	return figures;
}

struct disk_figures *disk_figures_free(struct disk_figures *figures)
{
	if (!figures)
		return NULL;
	table_clear(&figures->issued);
	table_clear(&figures->disks);
	free(figures);
	return NULL;
}

static int order(const void *left, const void *right, void *data)
{
	const struct disk *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return l->dev < r->dev ? -1 : l->dev > r->dev;
}

/* The disks, longest time first; the caller frees the list. */
static struct disk *list_disks(const struct disk_figures *figures)
{
	struct disk *list = memory_take(figures->disks.used, sizeof(*list)), *at = list;
	const struct disk *disk = NULL;

	while ((disk = table_next(&figures->disks, sizeof(*disk), disk)))
		*at++ = *disk;
	memory_sort(list, figures->disks.used, sizeof(*list), order, NULL);
	return list;
}

static const char *disk_name(const struct trace *trace, const struct disk *disk, struct value_text *number)
{
	const char *name = trace_string(trace, TRACE_STRING_DEVICE, disk->dev);

	snprintf(number->bytes, sizeof(number->bytes), "%u:%u", disk->dev >> 20, disk->dev & 0xfffff);
	return name ? name : number->bytes;
}

void json_disks(struct json *json, const struct disk_figures *figures)
{
	struct disk *list = figures ? list_disks(figures) : NULL;
	struct value_text number;

	json_open(json, "disks", "[");
	for (size_t i = 0; list && i < figures->disks.used; i++) {
		const struct disk *disk = &list[i];

		json_open(json, NULL, "{");
		json_text(json, "device", disk_name(figures->trace, disk, &number));
		json_u64(json, "reads", disk->reads);
		json_u64(json, "read_bytes", disk->read_bytes);
		json_u64(json, "writes", disk->writes);
		json_u64(json, "written_bytes", disk->written_bytes);
		json_u64(json, "others", disk->others);
		json_u64(json, "requests_ns", disk->ns);
		json_u64(json, "requests_timed", disk->timed);
		json_u64(json, "longest_ns", disk->longest_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
	free(list);
}

void report_disks(const struct text_output *output, const struct disk_figures *figures)
{
	static const struct grid_column columns[] = {{"reads", GRID_RIGHT},	{"read", GRID_RIGHT},
						     {"writes", GRID_RIGHT},	{"written", GRID_RIGHT},
						     {"others", GRID_OPTIONAL}, {"mean time", GRID_RIGHT},
						     {"longest", GRID_RIGHT},	{"disk", GRID_ELASTIC}};
	struct disk *list;
	struct grid *grid;

	if (!figures->disks.used)
		return;
	list = list_disks(figures);
	output_title(output, "", "Disks (requests, and their time from issue to completion):");
	grid = grid_new(output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < figures->disks.used; i++) {
		const struct disk *disk = &list[i];
		struct value_text number;

		grid_count(grid, disk->reads);
		grid_bytes(grid, disk->read_bytes);
		grid_count(grid, disk->writes);
		grid_bytes(grid, disk->written_bytes);
		grid_count(grid, disk->others);
		grid_ns(grid, disk->timed ? disk->ns / disk->timed : 0);
		grid_ns(grid, disk->longest_ns);
		grid_name(grid, disk_name(figures->trace, disk, &number));
	}
	grid_end(grid, NULL);
	fputs("\n", output->out);
	free(list);
}
