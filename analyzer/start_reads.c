/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_reads.c - when the recorder read each part of the start state, and its last change before
 */
#include "start_reads.h"

#include <errno.h>
#include <stdlib.h>
#include "sort.h"
#include "state.h"

struct start_reads *start_reads_new(void)
{
	return calloc(1, sizeof(struct start_reads));
}

struct start_reads *start_reads_free(struct start_reads *reads)
{
	if (!reads)
		return NULL;
	table_clear(&reads->fds);
	table_clear(&reads->sockets);
	table_clear(&reads->exes);
	table_clear(&reads->args);
	table_clear(&reads->directories);
	table_clear(&reads->parents);
	free(reads->maps);
	free(reads);
	return NULL;
}

/* ---- what was read, and when ---- */

static void reach(struct start_reads *reads, uint64_t ns)
{
	if (ns > reads->last_ns)
		reads->last_ns = ns;
}

bool start_read_is_outdated(const struct trace_analysis *a, uint64_t ns)
{
	return ns && ns < a->start_ns && a->start_ns > trace_get_info(a->trace)->start_ns;
}

void start_read_thread(struct trace_analysis *a, uint64_t ns)
{
	if (a->reads && ns > a->start_ns)
		reach(a->reads, ns);
}

static void row_read(struct trace_analysis *a, struct hash_table *table, uint64_t key, uint64_t ns)
{
	struct read_row *row;

	if (ns <= a->start_ns)
		return;
	row = acct_row(a, table, sizeof(*row), key);
	row->read_ns = ns;
	reach(a->reads, ns);
}

static uint64_t fd_key(const struct fd_table *fds, uint64_t fd)
{
	return (uint64_t)fds->number * MAX_FD + fd + 1;
}

void start_read_fd(struct trace_analysis *a, const struct fd_table *fds, int32_t fd, uint64_t ns)
{
	struct read_row *row;

	if (!a->reads || !fds || fd < 0 || fd >= MAX_FD)
		return;
	row_read(a, &a->reads->fds, fd_key(fds, (uint64_t)fd), ns);
	if (!start_read_is_outdated(a, ns))
		return;
	row = acct_row(a, &a->reads->fds, sizeof(*row), fd_key(fds, (uint64_t)fd));
	row->changed_ns = a->start_ns;
	row->is_closed = true;
	a->reads->nr_changed++;
}

void start_read_socket(struct trace_analysis *a, uint64_t ino, uint64_t ns)
{
	if (a->reads && ino)
		row_read(a, &a->reads->sockets, ino, ns);
}

void start_read_exe(struct trace_analysis *a, uint32_t pid, uint64_t ns)
{
	if (a->reads)
		row_read(a, &a->reads->exes, pid + 1ull, ns);
}

void start_read_args(struct trace_analysis *a, uint32_t pid, uint64_t ns)
{
	if (a->reads)
		row_read(a, &a->reads->args, pid + 1ull, ns);
}

void start_read_parent(struct trace_analysis *a, uint32_t pid, uint64_t ns)
{
	if (a->reads)
		row_read(a, &a->reads->parents, pid + 1ull, ns);
}

struct read_row *read_parent(const struct start_reads *reads, uint32_t pid)
{
	return table_find(&reads->parents, sizeof(struct read_row), pid + 1ull);
}

static uint64_t directory_key(uint32_t pid, int32_t fd)
{
	return (uint64_t)pid << 1 | (fd == TRACE_FD_ROOT_DIRECTORY);
}

void start_read_directory(struct trace_analysis *a, uint32_t pid, int32_t fd, uint64_t ns)
{
	if (a->reads && pid)
		row_read(a, &a->reads->directories, directory_key(pid, fd), ns);
}

struct read_row *read_directory(const struct start_reads *reads, uint32_t pid, int32_t fd)
{
	return table_find(&reads->directories, sizeof(struct read_row), directory_key(pid, fd));
}

void start_read_map(struct trace_analysis *a, const struct process_memory *memory, uint64_t start, uint64_t end,
		    uint64_t ns)
{
	struct start_reads *reads = a->reads;
	bool is_outdated = start_read_is_outdated(a, ns);
	struct read_map *bigger;

	if (!reads || (ns <= a->start_ns && !is_outdated))
		return;
	if (reads->nr_maps == reads->max_maps) {
		bigger = reallocarray(reads->maps, 2 * reads->max_maps + 256, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		reads->maps = bigger;
		reads->max_maps = 2 * reads->max_maps + 256;
	}
	reads->maps[reads->nr_maps++] = (struct read_map){.memory = memory->number,
							  .start = start,
							  .end = end,
							  .read_ns = ns,
							  .changed_ns = is_outdated ? a->start_ns : NO_CHANGE,
							  .is_outdated = is_outdated};
	reads->nr_changed += is_outdated;
	if (!is_outdated)
		reach(reads, ns);
}

static int by_address(const void *left, const void *right)
{
	const struct read_map *l = left, *r = right;

	if (l->memory != r->memory)
		return l->memory < r->memory ? -1 : 1;
	return l->start < r->start ? -1 : l->start > r->start;
}

void start_reads_complete(struct trace_analysis *a)
{
	if (!sort_rows(a->reads->maps, a->reads->nr_maps, sizeof(*a->reads->maps), by_address))
		a->failed = -ENOMEM;
}

/* The index of the first mapping of @memory that begins at @start or later. */
static size_t map_from(const struct start_reads *reads, uint64_t memory, uint64_t start)
{
	size_t low = 0, high = reads->nr_maps;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct read_map *map = &reads->maps[middle];

		if (map->memory < memory || (map->memory == memory && map->start < start))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct read_row *read_fd(const struct start_reads *reads, const struct fd_table *fds, int64_t fd)
{
	return fds && fd >= 0 && fd < MAX_FD
		       ? table_find(&reads->fds, sizeof(struct read_row), fd_key(fds, (uint64_t)fd))
		       : NULL;
}

struct read_map *read_map(const struct start_reads *reads, const struct process_memory *memory, uint64_t start)
{
	size_t i = map_from(reads, memory->number, start);

	return i < reads->nr_maps && reads->maps[i].memory == memory->number && reads->maps[i].start == start
		       ? &reads->maps[i]
		       : NULL;
}

/* ---- changes ---- */

void read_row_changes(struct start_reads *reads, struct read_row *row, uint64_t ns, bool is_closed)
{
	if (!row || ns >= row->read_ns || ns < row->changed_ns)
		return;
	reads->nr_changed += row->changed_ns == NO_CHANGE;
	row->changed_ns = ns;
	row->is_closed = is_closed;
}

void read_fds_change(struct start_reads *reads, const struct fd_table *fds, uint64_t first, uint64_t last, uint64_t ns,
		     bool is_closed)
{
	for (uint64_t fd = first; fds && fd < fds->nr && fd <= last; fd++)
		read_row_changes(reads, read_fd(reads, fds, (int64_t)fd), ns, is_closed);
}

void read_maps_change(struct start_reads *reads, const struct process_memory *memory, uint64_t start, uint64_t end,
		      uint64_t ns)
{
	size_t i = memory ? map_from(reads, memory->number, start) : 0;

	if (!memory)
		return;
	if (i && reads->maps[i - 1].memory == memory->number && reads->maps[i - 1].end > start)
		i--;
	for (; i < reads->nr_maps && reads->maps[i].memory == memory->number && reads->maps[i].start < end; i++)
		if (ns < reads->maps[i].read_ns) {
			reads->nr_changed += reads->maps[i].changed_ns == NO_CHANGE;
			reads->maps[i].changed_ns = ns;
		}
}

void read_directories_change(struct start_reads *reads, uint64_t ns)
{
	for (struct read_row *row = NULL; (row = table_next(&reads->directories, sizeof(*row), row));)
		read_row_changes(reads, row, ns, false);
}

static void rows_lose(struct start_reads *reads, const struct hash_table *table, uint64_t ns)
{
	for (struct read_row *row = NULL; (row = table_next(table, sizeof(*row), row));)
		if (ns < row->read_ns) {
			reads->nr_changed += row->changed_ns == NO_CHANGE;
			row->changed_ns = row->read_ns - 1;
		}
}

void reads_lose(struct start_reads *reads, uint64_t ns)
{
	rows_lose(reads, &reads->fds, ns);
	rows_lose(reads, &reads->sockets, ns);
	rows_lose(reads, &reads->exes, ns);
	rows_lose(reads, &reads->args, ns);
	rows_lose(reads, &reads->directories, ns);
	for (size_t i = 0; i < reads->nr_maps; i++)
		if (ns < reads->maps[i].read_ns) {
			reads->nr_changed += reads->maps[i].changed_ns == NO_CHANGE;
			reads->maps[i].changed_ns = reads->maps[i].read_ns - 1;
		}
}
