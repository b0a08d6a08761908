/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_blocks.c - figures of disks: an analysis of its own, in the same pass as the others.
 *
 * The address of a request identifies it from its issue to its completion; both are events.
 * Requests that began before the trace have no time. The time of a request is that of the disk, not
 * of a waiting thread: several requests may be in progress, and perhaps no thread waits for them.
 */
#include <errno.h>
#include <stdlib.h>
#include "grid.h"
#include "json.h"

#define OP_MASK 0xff /* enum req_op, include/linux/blk_types.h */
enum { OP_READ = 0, OP_WRITE = 1 };

struct disk {
	uint64_t key; /* @dev + 1 */
	uint32_t dev;
	uint64_t reads, read_bytes, writes, written_bytes, others;
	uint64_t timed, ns, longest_ns;
};

struct blocks {
	struct hash_table issued; /* struct issued_row */
	struct hash_table disks;  /* struct disk */
};

struct issued_row {
	uint64_t key; /* request_key() */
	uint64_t ns;
};

static uint64_t request_key(uint64_t address)
{
	return address ? address : UINT64_MAX;
}

static void on_issue(struct blocks *blocks, const struct trace_event *event)
{
	const struct trace_block_issue *issue = event->payload;
	struct issued_row *row;

	if (event->type->fixed_bytes < sizeof(*issue))
		return;
	row = memory_row(&blocks->issued, sizeof(*row), request_key(issue->request));
	row->ns = event->ts_ns;
}

static struct disk *disk_get(struct blocks *blocks, uint32_t dev)
{
	struct disk *disk = memory_row(&blocks->disks, sizeof(*disk), dev + 1ull);

	disk->dev = dev;
	return disk;
}

static void on_complete(struct blocks *blocks, const struct trace_event *event)
{
	const struct trace_block_complete *complete = event->payload;
	const struct issued_row *row;
	struct disk *disk;
	uint64_t ns;

	if (event->type->fixed_bytes < sizeof(*complete))
		return;
	disk = disk_get(blocks, complete->dev);
	row = table_find(&blocks->issued, sizeof(*row), request_key(complete->request));
	if (row) {
		ns = event->ts_ns > row->ns ? event->ts_ns - row->ns : 0;
		disk->timed++;
		disk->ns += ns;
		disk->longest_ns = disk->longest_ns > ns ? disk->longest_ns : ns;
		table_remove(&blocks->issued, sizeof(*row), row->key);
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

void blocks_begin(struct report *report)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};

	report->blocks = memory_take(1, sizeof(*report->blocks));
	mask[TRACE_EV_block_issue / 64] |= 1ull << TRACE_EV_block_issue % 64;
	mask[TRACE_EV_block_complete / 64] |= 1ull << TRACE_EV_block_complete % 64;
	if (trace_analysis_on_event(report->analysis, mask, on_event, report->blocks) < 0)
		memory_end();
}

struct blocks *blocks_free(struct blocks *blocks)
{
	if (!blocks)
		return NULL;
	table_clear(&blocks->issued);
	table_clear(&blocks->disks);
	free(blocks);
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
static struct disk *list_disks(const struct blocks *blocks)
{
	struct disk *list = memory_take(blocks->disks.used, sizeof(*list)), *at = list;
	const struct disk *disk = NULL;

	while ((disk = table_next(&blocks->disks, sizeof(*disk), disk)))
		*at++ = *disk;
	memory_sort(list, blocks->disks.used, sizeof(*list), order, NULL);
	return list;
}

static const char *disk_name(const struct report *report, const struct disk *disk, struct text *number)
{
	const char *name = trace_string(report->trace, TRACE_STRING_DEVICE, disk->dev);

	snprintf(number->bytes, sizeof(number->bytes), "%u:%u", disk->dev >> 20, disk->dev & 0xfffff);
	return name ? name : number->bytes;
}

void json_blocks(struct json *json, const struct report *report)
{
	struct disk *list = report->blocks ? list_disks(report->blocks) : NULL;
	struct text number;

	json_open(json, "disks", "[");
	for (size_t i = 0; list && i < report->blocks->disks.used; i++) {
		const struct disk *disk = &list[i];

		json_open(json, NULL, "{");
		json_text(json, "device", disk_name(report, disk, &number));
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

void report_blocks(const struct report *report)
{
	static const struct grid_column columns[] = {
		{"reads", GRID_RIGHT},	  {"read", GRID_RIGHT}, {"writes", GRID_RIGHT}, {"written", GRID_RIGHT}, {"others", GRID_OPTIONAL},
		{"mean time", GRID_RIGHT}, {"longest", GRID_RIGHT}, {"disk", GRID_ELASTIC}};
	struct disk *list;
	struct grid *grid;

	if (!report->blocks->disks.used)
		return;
	list = list_disks(report->blocks);
	grid_title(report, "", "Disks (requests, and their time from issue to completion):");
	grid = grid_new(report, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < report->blocks->disks.used; i++) {
		const struct disk *disk = &list[i];
		struct text number;

		grid_count(grid, disk->reads);
		grid_bytes(grid, disk->read_bytes);
		grid_count(grid, disk->writes);
		grid_bytes(grid, disk->written_bytes);
		grid_count(grid, disk->others);
		grid_ns(grid, disk->timed ? disk->ns / disk->timed : 0);
		grid_ns(grid, disk->longest_ns);
		grid_name(grid, disk_name(report, disk, &number));
	}
	grid_end(grid, NULL);
	fputs("\n", report->out);
	free(list);
}
