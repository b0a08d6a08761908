/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol_files.c - the files from which code was mapped, by path and identity. */
#include "symbol_files.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include "array_room.h"

/** struct symbol_object_row - the newest object with a path, an identity, and perhaps an inode */
struct symbol_object_row {
	uint64_t key;  /* of their texts */
	size_t object; /* + 1 */
};

static bool is_same_file(const struct symbol_origin *a, const struct symbol_origin *b)
{
	return !strcmp(a->path, b->path) && (!b->ino || (a->ino == b->ino && a->dev == b->dev)) &&
	       a->identity == b->identity && !strcmp(a->id, b->id);
}

/*
 * The row of the newest object that is the file of @origin, or one without an object. The table
 * @by_ino is for an origin with an inode; the other one has any inode. NULL: no memory.
 */
static struct symbol_object_row *object_row(struct symbol_files *files, const struct symbol_origin *origin, bool by_ino)
{
	struct hash_table *table = by_ino ? &files->by_ino : &files->by_name;
	uint64_t key = XXH3_64bits_withSeed(origin->path, strlen(origin->path),
					    XXH3_64bits_withSeed(origin->id, strlen(origin->id),
								 hash_u64(origin->identity + 1)));
	struct symbol_origin wanted = *origin;
	struct symbol_object_row *row;

	if (by_ino)
		key ^= hash_u64(origin->ino);
	else
		wanted.ino = 0;
	for (;; key++) {
		row = table_add(table, sizeof(*row), key + !key);
		if (!row || !row->object || is_same_file(&files->objects[row->object - 1].origin, &wanted))
			return row;
	}
}

size_t symbol_files_add(struct symbol_files *files, struct symbol_origin *origin, size_t chars,
			const struct symbol_store *store)
{
	char *path = strndup(origin->path, chars);
	struct symbol_object_row *row, *other;

	if (!path || !array_room((void **)&files->objects, files->nr, &files->room, sizeof(*files->objects))) {
		files->failed = true;
		free(path);
		return NO_SYMBOL_FILE;
	}
	origin->path = path;
	row = object_row(files, origin, origin->ino);
	if (row && row->object) {
		free(path);
		symbol_file_mapped(files, row->object - 1, origin->mapped_ns);
		return row->object - 1;
	}
	other = object_row(files, origin, false);
	if (!row || !other) {
		files->failed = true;
		free(path);
		return NO_SYMBOL_FILE;
	}
	row->object = other->object = files->nr + 1;
	files->objects[files->nr] = (struct symbol_object){.path = path, .origin = *origin, .why = "", .fd = -1};
	symbol_file_mapped(files, files->nr, origin->mapped_ns);
	files->objects[files->nr].stored = symbol_store_file(store, &files->objects[files->nr].origin);
	return files->nr++;
}

void symbol_file_mapped(struct symbol_files *files, size_t number, uint64_t mapped_ns)
{
	struct symbol_origin *origin = &files->objects[number].origin;

	if (origin->last_mapped_ns < mapped_ns)
		origin->last_mapped_ns = mapped_ns;
}

void symbol_files_clear(struct symbol_files *files)
{
	for (size_t i = 0; i < files->nr; i++) {
		struct symbol_object *object = &files->objects[i];

		symbol_reader_stop(&object->reader);
		if (object->fd >= 0)
			close(object->fd);
		table_clear(&object->answers);
		free(object->path);
	}
	free(files->objects);
	table_clear(&files->by_ino);
	table_clear(&files->by_name);
}
