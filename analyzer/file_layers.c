/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * file_layers.c - the files of overlays, and the real files in their upper layers
 *
 * A program opens the overlay's file: device 0:45, inode 12. Its pages belong to the file of a
 * layer, 254:0 with inode 12, and page faults, writeback and requests of disks tell that one. A
 * file that was copied from a lower layer, because a program opened it to write, keeps the number
 * 12, and the copy has another one, 981: only fs_layer says so.
 */
#include "file_layers.h"

#include <errno.h>
#include <trace/events.h>

struct layer_row {
	uint64_t key;
	uint64_t ino, other_ino;
	uint32_t dev, other_dev;
};

static bool put(struct hash_table *table, uint32_t dev, uint64_t ino, uint32_t other_dev, uint64_t other_ino)
{
	uint64_t key = file_inode_key(dev, ino);
	struct layer_row *row = table_add(table, sizeof(*row), key);

	if (row)
		*row = (struct layer_row){
			.key = key, .ino = ino, .other_ino = other_ino, .dev = dev, .other_dev = other_dev};
	return row;
}

static bool get(const struct hash_table *table, uint32_t *dev, uint64_t *ino)
{
	const struct layer_row *row = table->used ? table_find(table, sizeof(*row), file_inode_key(*dev, *ino)) : NULL;

	if (!row || row->ino != *ino || row->dev != *dev)
		return false;
	*dev = row->other_dev;
	*ino = row->other_ino;
	return true;
}

int layer_put(struct file_layers *layers, const struct trace_fs_layer *layer)
{
	if (!put(&layers->uppers, layer->dev, layer->ino, layer->upper_dev, layer->upper_ino) ||
	    !put(&layers->shown, layer->upper_dev, layer->upper_ino, layer->dev, layer->ino))
		return -ENOMEM;
	return 0;
}

bool layer_upper(const struct file_layers *layers, uint32_t *dev, uint64_t *ino)
{
	return get(&layers->uppers, dev, ino);
}

bool layer_shown(const struct file_layers *layers, uint32_t *dev, uint64_t *ino)
{
	return get(&layers->shown, dev, ino);
}

void layer_forget(struct file_layers *layers, uint32_t dev, uint64_t ino)
{
	uint32_t upper_dev = dev;
	uint64_t upper_ino = ino;

	if (!layer_upper(layers, &upper_dev, &upper_ino))
		return;
	table_remove(&layers->uppers, sizeof(struct layer_row), file_inode_key(dev, ino));
	table_remove(&layers->shown, sizeof(struct layer_row), file_inode_key(upper_dev, upper_ino));
}

void file_layers_clear(struct file_layers *layers)
{
	table_clear(&layers->uppers);
	table_clear(&layers->shown);
}
