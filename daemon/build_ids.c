/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * build_ids.c - a table of the build ids of mapped files.
 *
 * The file is opened through /proc/PID/map_files, which leads to the very file that is mapped, also
 * if its path has another one now.
 *
 * A file system gives the inode number of a deleted file to a new one. Its generation tells that:
 * each file has a row of its own, with the time of its first mapping.
 *
 * Example: a.out with inode 7 is mapped at 1 ms and deleted, and the next build, mapped at 5 ms,
 * has inode 7, too. The trace gets "DEV 7 ID" and "DEV 7 ID2 5000000".
 *
 * A file that is written over keeps number and generation. So a file that is mapped again is looked
 * at again, at most once a second: if its time of change or its size differs, it is read again.
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
#include "format_text.h"
#include "kept_names.h"

#define NR_BUCKETS 1024
#define MAX_FILES  65536
#define MAX_USES   16		 /* of one inode number */
#define CHECK_NS   1000000000ull /* between two looks at a file */

/**
 * struct build_id - of one file; @id: in hexadecimal, "" if it has none
 * @is_asked: build_id_reader.h reads it, or its file system did not answer
 * @generation: of the inode, as the kernel counts its uses; 0: not known. @is_mixed: the number was
 *     that of several files, or perhaps
 * @since_ns: when it was mapped first; 0: no other file had the number before
 * @stamp: when it was read; zeroed: not known. @checked_ns: the mapping at the last look
 * @is_told: the trace says that it was not read
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
	bool is_told;
	uint32_t generation;
	uint64_t since_ns;
	uint64_t checked_ns;
	struct file_stamp stamp;
	struct kept_names *names;
	char id[BUILD_ID_CHARS];
};

struct build_ids {
	struct build_id *buckets[NR_BUCKETS]; /* owned */
	uint32_t nr;
	uint32_t nr_written;
	uint64_t nr_lost;
	bool keeps_names;
	bool is_full; /* a file has no row */
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

static bool has_number(const struct build_id *id, uint32_t dev, uint64_t ino)
{
	return id->ino == ino && id->dev == dev;
}

/* The row of the latest file with the number. */
static struct build_id *find_row(const struct build_ids *ids, uint32_t dev, uint64_t ino)
{
	for (struct build_id *id = ids->buckets[bucket_of(dev, ino)]; id; id = id->next)
		if (has_number(id, dev, ino))
			return id;
	return NULL;
}

/* A row before those of the files that had the number earlier; NULL: too many, or no memory */
static struct build_id *new_row(struct build_ids *ids, uint32_t dev, uint64_t ino, uint64_t since_ns)
{
	struct build_id **at = &ids->buckets[bucket_of(dev, ino)], *id;

	id = ids->nr < MAX_FILES ? calloc(1, sizeof(*id)) : NULL;
	if (!id) {
		ids->is_full = true;
		return NULL;
	}
	while (*at && !(has_number(*at, dev, ino) && (*at)->since_ns <= since_ns))
		at = &(*at)->next;
	*id = (struct build_id){.next = *at, .ino = ino, .dev = dev, .since_ns = since_ns};
	*at = id;
	ids->nr++;
	return id;
}

/* The row of the latest file with the number; NULL: there are too many, or no memory */
static struct build_id *row_of(struct build_ids *ids, uint32_t dev, uint64_t ino)
{
	struct build_id *id = ids ? find_row(ids, dev, ino) : NULL;

	return id || !ids ? id : new_row(ids, dev, ino, 0);
}

/* The next earlier file with the number of @id; NULL: none */
static struct build_id *earlier(const struct build_id *id)
{
	for (struct build_id *next = id->next; next; next = next->next)
		if (has_number(next, id->dev, id->ino))
			return next;
	return NULL;
}

/* The row of the file that was asked for with @generation. */
static struct build_id *row_with(struct build_ids *ids, uint32_t dev, uint64_t ino, uint32_t generation)
{
	struct build_id *latest = row_of(ids, dev, ino);

	for (struct build_id *id = latest; id; id = earlier(id))
		if (id->generation == generation)
			return id;
	return latest;
}

/* The row of the file that has the number since @since_ns. */
static struct build_id *row_since(struct build_ids *ids, uint32_t dev, uint64_t ino, uint64_t since_ns)
{
	for (struct build_id *id = find_row(ids, dev, ino); id; id = earlier(id))
		if (id->since_ns == since_ns)
			return id;
	return new_row(ids, dev, ino, since_ns);
}

/* Another file may have had the number of the file, so its names are not used. */
static void mix(struct build_id *id)
{
	id->is_mixed = true;
	id->names = kept_names_free(id->names);
}

static struct build_id *next_use(struct build_ids *ids, struct build_id *id, uint32_t generation, uint64_t since_ns);

/* Without a build id, a file that was written later is another one. */
static bool is_same_build(const struct build_id *id, const struct build_id_answer *answer)
{
	if (*id->id || *answer->id)
		return strcmp(id->id, answer->id) == 0;
	return id->stamp.size_bytes == answer->stamp.size_bytes && id->stamp.modified_s == answer->stamp.modified_s &&
	       id->stamp.modified_ns == answer->stamp.modified_ns;
}

/* The row of the file in @answer: a new one if the file of @id was written over. */
static struct build_id *row_of_answer(struct build_ids *ids, struct build_id *id, const struct build_id_answer *answer)
{
	if (!id || !id->is_known || !answer->is_known || answer->is_same || !answer->ts_ns)
		return id;
	if (is_same_build(id, answer)) {
		id->stamp = answer->stamp;
		return id;
	}
	return next_use(ids, id, id->generation, answer->ts_ns);
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
		struct build_id *id = row_with(ids, answer.dev, answer.ino, answer.generation);

		id = row_of_answer(ids, id, &answer);
		take_names(ids, id, &answer);
		if (!id || id->is_known)
			continue;
		id->is_known = answer.is_known;
		id->is_asked = answer.is_known || answer.is_unanswered;
		id->stamp = answer.stamp;
		id->checked_ns = answer.ts_ns;
		memcpy(id->id, answer.id, sizeof(id->id));
	}
}

/* Look at a file again that is mapped again: it may have been written over. */
static void check(struct build_ids *ids, struct build_id *id, const struct mapped_file *file, const char *path)
{
	struct mapped_file again = *file;

	if (!file->ts_ns || file->ts_ns - id->checked_ns < CHECK_NS || file->ts_ns < id->checked_ns)
		return;
	take_answers(ids);
	id->checked_ns = file->ts_ns;
	again.stamp = id->stamp;
	again.generation = id->generation;
	build_id_reader_ask(ids, &again, ids->keeps_names ? path : NULL);
}

/* Ask for what is not known of @id. @path: of the file, for the process that mapped it */
static void ask(struct build_ids *ids, struct build_id *id, const struct mapped_file *file, const char *path)
{
	if (id->is_known) {
		check(ids, id, file, path);
		return;
	}
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

static unsigned int nr_uses(const struct build_id *id)
{
	unsigned int nr = 0;

	for (; id; id = earlier(id))
		nr++;
	return nr;
}

/*
 * Another file has the number of @id from @since_ns on. The last one of very many is not read: what
 * follows may be of any of them.
 */
static struct build_id *next_use(struct build_ids *ids, struct build_id *id, uint32_t generation, uint64_t since_ns)
{
	unsigned int nr = nr_uses(id);
	struct build_id *next;

	mix(id);
	if (nr == MAX_USES)
		return id;
	next = new_row(ids, id->dev, id->ino, since_ns);
	if (!next)
		return NULL;
	next->is_mixed = true;
	next->generation = generation;
	next->is_asked = nr == MAX_USES - 1;
	return next;
}

/*
 * The row of the file that is mapped now. A new file has another generation than the one that had
 * its number before. Without a generation, two mappings may be of two files.
 */
static struct build_id *row_now(struct build_ids *ids, const struct tracer_code_map *map)
{
	struct build_id *id = row_of(ids, map->map.dev, map->map.ino);

	if (!id)
		return NULL;
	if (!id->is_asked && !id->generation)
		id->generation = map->generation;
	if (!map->generation && id->is_asked)
		mix(id);
	if (!map->generation || id->generation == map->generation)
		return id;
	return next_use(ids, id, map->generation, map->ts_ns);
}

void build_ids_note_code(struct build_ids *ids, const struct tracer_code_map *map)
{
	const struct mapped_file file = {.tgid = map->map.pid,
					 .dev = map->map.dev,
					 .generation = map->generation,
					 .start = map->map.start,
					 .end = map->map.end,
					 .ino = map->map.ino,
					 .ts_ns = map->ts_ns};
	struct build_id *id;

	if (map->map.exec || *map->path != '/')
		return;
	id = row_now(ids, map);
	if (!id)
		return;
	ask(ids, id, &file, map->path);
}

/* Adds to the row of @ids what only @known has. */
static void add(struct build_ids *ids, const struct build_id *known)
{
	struct build_id *id = known->is_known || known->since_ns
				      ? row_since(ids, known->dev, known->ino, known->since_ns)
				      : NULL;

	if (!id)
		return;
	if (known->is_mixed)
		mix(id);
	else if (!id->names && !id->is_mixed)
		id->names = kept_names_use(known->names);
	id->generation = id->generation ?: known->generation;
	if (id->is_known || !known->is_known)
		return;
	id->is_known = id->is_asked = true;
	id->stamp = known->stamp;
	id->checked_ns = known->checked_ns;
	memcpy(id->id, known->id, sizeof(id->id));
}

void build_ids_add(struct build_ids *ids, const struct build_ids *from)
{
	for (size_t i = 0; ids && from && i < NR_BUCKETS; i++)
		for (const struct build_id *known = from->buckets[i]; known; known = known->next)
			add(ids, known);
	if (ids && from) {
		ids->nr_lost += from->nr_lost;
		ids->is_full |= from->is_full;
	}
}

bool build_ids_describe_missing(const struct build_ids *ids, char *ret_text, size_t size)
{
	if (!ids || !ids->is_full)
		return false;
	snprintf(ret_text, size,
		 "build ids: programs have mapped more than %s files, or there was no memory; nothing tells which "
		 "builds of the others ran",
		 text_count(MAX_FILES).s);
	return true;
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

/* The file before it has the same build id, so the trace says it already. */
static bool is_like_earlier(const struct build_id *id)
{
	const struct build_id *before = earlier(id);

	return !id->is_told && before && before->is_known && !strcmp(id->id, before->id);
}

/*
 * It could not be read, and is another file than the one before. A file that was mapped before the
 * recording has no generation: the one that is mapped later is taken for the same.
 */
static bool is_unread(const struct build_id *id)
{
	const struct build_id *before = id->since_ns && !id->is_known ? earlier(id) : NULL;

	return before && before->generation;
}

static bool write_id(struct build_ids *ids, const struct build_id *id, struct trace_writer *writer)
{
	const char *value = !id->is_known ? "?" : id->since_ns && !*id->id ? "-" : id->id;
	char text[BUILD_ID_CHARS + 64];
	int chars = snprintf(text, sizeof(text), "%" PRIu32 " %" PRIu64 " %s", id->dev, id->ino, value);
	bool is_written;

	if (id->since_ns)
		snprintf(text + chars, sizeof(text) - (size_t)chars, " %" PRIu64, id->since_ns);
	is_written = !trace_writer_string(writer, TRACE_STRING_BUILD_ID, ids->nr_written, text);
	ids->nr_written += is_written;
	return is_written;
}

void build_ids_write(struct build_ids *ids, struct trace_writer *writer)
{
	for (size_t i = 0; ids && i < NR_BUCKETS; i++)
		for (struct build_id *id = ids->buckets[i]; id; id = id->next) {
			if (id->is_known && !id->is_written)
				id->is_written = is_like_earlier(id) || write_id(ids, id, writer);
			else if (!id->is_told && is_unread(id))
				id->is_told = write_id(ids, id, writer);
		}
}
