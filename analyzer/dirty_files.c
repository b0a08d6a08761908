/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirty_files.c - the processes that have written to each file since it was last written back
 *
 * Writing to a file makes pages dirty, and a worker of the kernel writes them to the disk later. A
 * process that has the file mapped may make pages dirty without any event, so it counts from then
 * on.
 *
 * A writeback of a file takes its writers: the next write makes other pages dirty. If the
 * worker stopped before the last page (`more`), the next writeback is for the earlier writers, too.
 *
 * The requests of a writeback may come before or behind its fs_writeback. A request is of the
 * writers that were taken since the run of the worker began; if none were, its pages are on their
 * way to an fs_writeback that follows, and it is of those who have written until now.
 */
#include "dirty_files.h"
#include "kernel_numbers.h"
#include "state.h"

struct dirty_row {
	uint64_t key;		 /* of the inode */
	uint32_t writer, mapper; /* process_idx; 0: none */
	uint32_t taken, earlier; /* of the last writeback, and of the one before */
	uint64_t taken_ns, earlier_ns;
	uint64_t more; /* the last writeback left pages */
};

/* Writeback tells the real file behind that of an overlay. */
static uint64_t key_of(const struct trace_analysis *a, const struct traced_file *file)
{
	uint32_t dev = file->dev;
	uint64_t ino = file->ino;

	layer_upper(&a->files.layers, &dev, &ino);
	return file_inode_key(dev, ino);
}

static uint32_t with(uint32_t process, uint32_t other)
{
	if (!process || process == other)
		return other;
	return other ? (uint32_t)PROCESS_SEVERAL : process;
}

void dirty_learn(struct trace_analysis *a, uint32_t process, file_idx idx, bool mapped)
{
	const struct traced_file *file = &a->files.list[idx];
	struct dirty_row *row;

	if (!a->dirty.is_on || !idx || !file->ino || !LINUX_S_ISREG(file->mode))
		return;
	row = acct_row(a, &a->dirty.rows, sizeof(*row), key_of(a, file));
	if (mapped) {
		row->mapper = with(row->mapper, process);
		return;
	}
	row->writer = with(row->writer, process);
	a->dirty.last_file = idx;
	a->dirty.last_writer = process;
}

void dirty_forget(struct trace_analysis *a, const struct traced_file *file)
{
	if (a->dirty.rows.used)
		table_remove(&a->dirty.rows, sizeof(struct dirty_row), key_of(a, file));
	a->dirty.last_file = 0;
}

static uint32_t writers_of(const struct dirty_row *row)
{
	uint32_t process = with(row->writer, row->mapper);

	return row->more || !process ? with(process, row->taken) : process;
}

uint32_t dirty_take(struct trace_analysis *a, uint32_t dev, uint64_t ino, uint64_t ns, bool more)
{
	struct dirty_row *row = table_find(&a->dirty.rows, sizeof(*row), file_inode_key(dev, ino));

	a->dirty.last_file = 0;
	if (!row)
		return 0;
	row->earlier = row->taken;
	row->earlier_ns = row->taken_ns;
	row->taken = writers_of(row);
	row->taken_ns = ns;
	row->writer = 0;
	row->more = more;
	return row->taken;
}

uint32_t dirty_writer(const struct trace_analysis *a, uint32_t dev, uint64_t ino, uint64_t run_ns)
{
	const struct dirty_row *row = table_find(&a->dirty.rows, sizeof(*row), file_inode_key(dev, ino));

	if (!row)
		return 0;
	if (!row->taken_ns || row->taken_ns < run_ns)
		return writers_of(row);
	return row->earlier_ns >= run_ns && row->earlier_ns ? with(row->taken, row->earlier) : row->taken;
}
