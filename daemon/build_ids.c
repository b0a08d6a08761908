/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * build_ids.c - a table of the build ids of mapped files.
 *
 * The file is opened through /proc/PID/map_files, which leads to the very file that is mapped, also
 * if its path has another one now.
 */
#include "build_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "build_id_reader.h"
#include "kept_names.h"

#define NR_BUCKETS 1024
#define MAX_FILES  65536

/**
 * struct build_id - of one file; @id: in hexadecimal, "" if it has none
 * @is_asked: build_id_reader.h reads it, or its file system did not answer
 * @generation: of the inode, as the kernel counts its uses; 0: not known. @is_mixed: the number was
 *     that of several files, or perhaps
 * @names: of its functions; owned; NULL: not kept
 */
struct build_id {
	struct build_id *next; /* owned */
	uint64_t ino;
	uint32_t dev;
	bool is_asked;
	bool is_known;
	bool is_written;
	bool is_mixed;
	uint32_t generation;
	struct kept_names *names;
	char id[BUILD_ID_CHARS];
};

struct build_ids {
	struct build_id *buckets[NR_BUCKETS]; /* owned */
	uint32_t nr;
	uint32_t nr_written;
	uint64_t nr_lost;
	bool keeps_names;
};

struct build_ids *build_ids_new(bool keeps_names)
{
	struct build_ids *ids = calloc(1, sizeof(*ids));

	if (ids)
		ids->keeps_names = keeps_names;
	return ids;
}

struct build_ids *build_ids_free(struct build_ids *ids)
{
	struct build_id *next;

	if (ids)
		build_id_reader_forget(ids);
	for (size_t i = 0; ids && i < NR_BUCKETS; i++)
		for (struct build_id *id = ids->buckets[i]; id; id = next) {
			next = id->next;
			kept_names_free(id->names);
			free(id);
		}
	free(ids);
	return NULL;
}

/* ---- files ---- */

static size_t bucket_of(uint32_t dev, uint64_t ino)
{
	return (ino ^ ino >> 10 ^ dev) % NR_BUCKETS;
}

static struct build_id *find_row(const struct build_ids *ids, uint32_t dev, uint64_t ino)
{
	for (struct build_id *id = ids->buckets[bucket_of(dev, ino)]; id; id = id->next)
		if (id->ino == ino && id->dev == dev)
			return id;
	return NULL;
}

/* The row of a file; NULL: there are too many, or no memory */
static struct build_id *row_of(struct build_ids *ids, uint32_t dev, uint64_t ino)
{
	struct build_id **bucket = ids ? &ids->buckets[bucket_of(dev, ino)] : NULL, *id;

	if (!ids || ids->nr == MAX_FILES)
		return NULL;
	id = find_row(ids, dev, ino);
	if (id)
		return id;
	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	*id = (struct build_id){.next = *bucket, .ino = ino, .dev = dev};
	*bucket = id;
	ids->nr++;
	return id;
}

/* Another file may have had the number of the file, so its names are not used. */
static void mix(struct build_id *id)
{
	id->is_mixed = true;
	id->names = kept_names_free(id->names);
}

static void take_names(struct build_ids *ids, struct build_id *id, const struct build_id_answer *answer)
{
	ids->nr_lost += answer->has_lost_names;
	if (!id || id->names || id->is_mixed)
		kept_names_free(answer->names);
	else
		id->names = answer->names;
}

/* The next process that has a file mapped is asked for one that could not be opened. */
static void take_answers(struct build_ids *ids)
{
	struct build_id_answer answer;

	while (build_id_reader_take(ids, &answer)) {
		struct build_id *id = row_of(ids, answer.dev, answer.ino);

		take_names(ids, id, &answer);
		if (!id || id->is_known)
			continue;
		id->is_known = answer.is_known;
		id->is_asked = answer.is_known || answer.is_unanswered;
		memcpy(id->id, answer.id, sizeof(id->id));
	}
}

/* Ask for what is not known of @id. @path: of the file, for the process that mapped it */
static void ask(struct build_ids *ids, struct build_id *id, const struct mapped_file *file, const char *path)
{
	if (id->is_known)
		return;
	if (id->is_asked)
		take_answers(ids);
	if (!id->is_asked)
		id->is_asked = build_id_reader_ask(ids, file, ids->keeps_names ? path : NULL);
}

void build_ids_note(struct build_ids *ids, const struct trace_start_map *map, const char *path)
{
	const struct mapped_file file = {
		.dev = map->dev, .ino = map->ino, .tgid = map->tgid, .start = map->start, .end = map->end};
	struct build_id *id = map->prot & PROT_EXEC ? row_of(ids, map->dev, map->ino) : NULL;

	if (id)
		ask(ids, id, &file, path);
}

bool build_ids_wait(struct build_ids *ids, uint64_t limit_ns)
{
	bool are_all = !ids || build_id_reader_wait(ids, limit_ns);

	if (ids)
		take_answers(ids);
	return are_all;
}

/*
 * A file system gives the number of a deleted file to a new one, with another generation. Without a
 * generation, two mappings may be of two files.
 */
static void note_generation(struct build_id *id, uint32_t generation)
{
	if (!id->is_asked)
		id->generation = generation;
	else if (!generation || id->generation != generation)
		mix(id);
}

void build_ids_note_code(struct build_ids *ids, const struct tracer_code_map *map)
{
	const struct mapped_file file = {.tgid = map->map.pid,
					 .dev = map->map.dev,
					 .start = map->map.start,
					 .end = map->map.end,
					 .ino = map->map.ino};
	struct build_id *id;

	if (map->map.exec || *map->path != '/')
		return;
	id = row_of(ids, map->map.dev, map->map.ino);
	if (!id)
		return;
	note_generation(id, map->generation);
	ask(ids, id, &file, map->path);
}

/* Adds to the row of @ids what only @known has. */
static void add(struct build_ids *ids, const struct build_id *known)
{
	struct build_id *id = known->is_known ? row_of(ids, known->dev, known->ino) : NULL;

	if (!id)
		return;
	if (known->is_mixed)
		mix(id);
	else if (!id->names && !id->is_mixed)
		id->names = kept_names_use(known->names);
	if (id->is_known)
		return;
	id->is_known = id->is_asked = true;
	id->generation = known->generation;
	memcpy(id->id, known->id, sizeof(id->id));
}

void build_ids_add(struct build_ids *ids, const struct build_ids *from)
{
	for (size_t i = 0; ids && from && i < NR_BUCKETS; i++)
		for (const struct build_id *known = from->buckets[i]; known; known = known->next)
			add(ids, known);
	if (ids && from)
		ids->nr_lost += from->nr_lost;
}

uint64_t build_ids_nr_lost(const struct build_ids *ids)
{
	return ids ? ids->nr_lost : 0;
}

bool build_ids_has_names(const struct build_ids *ids, uint32_t dev, uint64_t ino)
{
	const struct build_id *id = ids ? find_row(ids, dev, ino) : NULL;

	return id && id->names;
}

int build_ids_open_names(const struct build_ids *ids, uint32_t dev, uint64_t ino)
{
	const struct build_id *id = ids ? find_row(ids, dev, ino) : NULL;

	return id && id->names ? kept_names_open(id->names) : -ENOENT;
}

void build_ids_write(struct build_ids *ids, struct trace_writer *writer)
{
	char text[BUILD_ID_CHARS + 64];

	for (size_t i = 0; ids && i < NR_BUCKETS; i++)
		for (struct build_id *id = ids->buckets[i]; id; id = id->next) {
			if (!id->is_known || id->is_written)
				continue;
			snprintf(text, sizeof(text), "%" PRIu32 " %" PRIu64 " %s", id->dev, id->ino, id->id);
			id->is_written = !trace_writer_string(writer, TRACE_STRING_BUILD_ID, ids->nr_written, text);
			ids->nr_written += id->is_written;
		}
}
