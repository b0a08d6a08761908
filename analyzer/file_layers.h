/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_FILE_LAYERS_H
#define ANALYZER_FILE_LAYERS_H
/* file_layers.h - the files of overlays, and the real files in their upper layers. */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>
#include "hash_table.h"

struct trace_fs_layer;

struct file_layers {
	struct hash_table uppers, shown; /* layer_row: by the overlay's inode, by that of the layer */
};

/** file_inode_key() - never 0 */
static inline uint64_t file_inode_key(uint32_t dev, uint64_t ino)
{
	return hash_u64(hash_u64(ino) ^ dev) | 1;
}

/** layer_put() - returns 0 or -ENOMEM */
int layer_put(struct file_layers *layers, const struct trace_fs_layer *layer) TRACE_NODISCARD;
/**
 * layer_upper() - make the inode that of the upper layer, if it is an overlay's
 * Returns false, and changes nothing, if no layer is known.
 */
bool layer_upper(const struct file_layers *layers, uint32_t *dev, uint64_t *ino);
/** layer_shown() - the reverse: make the inode that of the overlay */
bool layer_shown(const struct file_layers *layers, uint32_t *dev, uint64_t *ino);
/** layer_forget() - no file with this inode is left */
void layer_forget(struct file_layers *layers, uint32_t dev, uint64_t ino);
void file_layers_clear(struct file_layers *layers);
#endif
