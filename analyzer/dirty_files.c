/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * dirty_files.c - the processes that have written to each file since it was last written back
 *
 * Writing to a file makes pages dirty, and a worker of the kernel writes them to the disk later. A
 * process that has the file mapped may make pages dirty without any event, so it counts from then
 * on.
 */
#include "dirty_files.h"
#include "kernel_numbers.h"
#include "state.h"

struct dirty_row {
	uint64_t key;		 /* of the inode */
	uint32_t writer, mapper; /* process_idx; 0: none */
};

static uint64_t inode_key(uint32_t dev, uint64_t ino)
{
	return hash_u64(ino ^ (uint64_t)dev << 40) | 1;
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
	row = acct_row(a, &a->dirty.rows, sizeof(*row), inode_key(file->dev, file->ino));
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
		table_remove(&a->dirty.rows, sizeof(struct dirty_row), inode_key(file->dev, file->ino));
	a->dirty.last_file = 0;
}

uint32_t dirty_take(struct trace_analysis *a, uint32_t dev, uint64_t ino)
{
	struct dirty_row *row = table_find(&a->dirty.rows, sizeof(*row), inode_key(dev, ino));
	uint32_t process = row ? with(row->writer, row->mapper) : 0;

	if (row)
		row->writer = 0;
	a->dirty.last_file = 0;
	return process;
}
