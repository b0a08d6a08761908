/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * build_ids.c - a table of the build ids of mapped files.
 *
 * The file is opened through /proc/PID/map_files, which leads to the very file that is mapped, also
 * if its path has another one now.
 */
#include "build_ids.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "build_id_reader.h"

#define NR_BUCKETS 1024
#define MAX_FILES  65536

/**
 * struct build_id - of one file; @id: in hexadecimal, "" if it has none
 * @is_asked: build_id_reader.h reads it, or its file system did not answer
 */
struct build_id {
	struct build_id *next; /* owned */
	uint64_t ino;
	uint32_t dev;
	bool is_asked;
	bool is_known;
	bool is_written;
	char id[BUILD_ID_CHARS];
};

struct build_ids {
	struct build_id *buckets[NR_BUCKETS]; /* owned */
	uint32_t nr;
	uint32_t nr_written;
};

struct build_ids *build_ids_new(void)
{
	return calloc(1, sizeof(struct build_ids));
}

struct build_ids *build_ids_free(struct build_ids *ids)
{
	struct build_id *next;

	if (ids)
		build_id_reader_forget(ids);
	for (size_t i = 0; ids && i < NR_BUCKETS; i++)
		for (struct build_id *id = ids->buckets[i]; id; id = next) {
			next = id->next;
			free(id);
		}
	free(ids);
	return NULL;
}

/* ---- files ---- */

/* The row of a file; NULL: there are too many, or no memory */
static struct build_id *row_of(struct build_ids *ids, uint32_t dev, uint64_t ino)
{
	struct build_id **bucket = ids ? &ids->buckets[(ino ^ ino >> 10 ^ dev) % NR_BUCKETS] : NULL, *id;

	if (!ids || ids->nr == MAX_FILES)
		return NULL;
	for (id = *bucket; id; id = id->next)
		if (id->ino == ino && id->dev == dev)
			return id;
	id = calloc(1, sizeof(*id));
	if (!id)
		return NULL;
	*id = (struct build_id){.next = *bucket, .ino = ino, .dev = dev};
	*bucket = id;
	ids->nr++;
	return id;
}

/* The next process that has a file mapped is asked for one that could not be opened. */
static void take_answers(struct build_ids *ids)
{
	struct build_id_answer answer;

	while (build_id_reader_take(ids, &answer)) {
		struct build_id *id = row_of(ids, answer.dev, answer.ino);

		if (!id || id->is_known)
			continue;
		id->is_known = answer.is_known;
		id->is_asked = answer.is_known || answer.is_unanswered;
		memcpy(id->id, answer.id, sizeof(id->id));
	}
}

void build_ids_note(struct build_ids *ids, const struct trace_start_map *map)
{
	const struct mapped_file file = {
		.dev = map->dev, .ino = map->ino, .tgid = map->tgid, .start = map->start, .end = map->end};
	struct build_id *id = map->prot & PROT_EXEC ? row_of(ids, map->dev, map->ino) : NULL;

	if (!id || id->is_known)
		return;
	if (id->is_asked)
		take_answers(ids);
	if (!id->is_asked)
		id->is_asked = build_id_reader_ask(ids, &file);
}

bool build_ids_wait(struct build_ids *ids, uint64_t limit_ns)
{
	bool are_all = !ids || build_id_reader_wait(ids, limit_ns);

	if (ids)
		take_answers(ids);
	return are_all;
}

void build_ids_note_code(struct build_ids *ids, const struct tracer_code_map *map)
{
	const struct trace_start_map noted = {.tgid = map->map.pid,
					      .dev = map->map.dev,
					      .start = map->map.start,
					      .end = map->map.end,
					      .ino = map->map.ino,
					      .prot = PROT_EXEC};

	if (!map->map.exec && *map->path == '/')
		build_ids_note(ids, &noted);
}

void build_ids_add(struct build_ids *ids, const struct build_ids *from)
{
	for (size_t i = 0; from && i < NR_BUCKETS; i++)
		for (const struct build_id *known = from->buckets[i]; known; known = known->next) {
			struct build_id *id = known->is_known ? row_of(ids, known->dev, known->ino) : NULL;

			if (!id || id->is_known)
				continue;
			id->is_known = id->is_asked = true;
			memcpy(id->id, known->id, sizeof(id->id));
		}
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
