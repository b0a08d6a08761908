/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * build_ids.c - read the build ids of mapped files.
 *
 * The file is opened through /proc/PID/map_files, which leads to the very file that is mapped, also
 * if its path has another one now.
 *
 * SECURITY: the file may belong to any user. This code copies at most MAX_HEADERS program headers
 * and MAX_NOTE_BYTES of each note, and follows no offset but through pread().
 */
#include "build_ids.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADERS    64
#define MAX_NOTE_BYTES 4096
#define MAX_ID_BYTES   64
#define NR_BUCKETS     1024
#define MAX_FILES      65536

/** struct build_id - of one file; @id: in hexadecimal, "" if it has none */
struct build_id {
	struct build_id *next; /* owned */
	uint64_t ino;
	uint32_t dev;
	bool is_known;
	bool is_written;
	char id[2 * MAX_ID_BYTES + 1];
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

	for (size_t i = 0; ids && i < NR_BUCKETS; i++)
		for (struct build_id *id = ids->buckets[i]; id; id = next) {
			next = id->next;
			free(id);
		}
	free(ids);
	return NULL;
}

/* ---- notes of an ELF file ---- */

static size_t padded(uint32_t bytes)
{
	return ((size_t)bytes + 3) & ~(size_t)3;
}

static void print_hex(const unsigned char *bits, uint32_t bytes, char *text)
{
	for (uint32_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", bits[i]);
}

static bool find_in_note(const unsigned char *note, size_t bytes, char id[static 2 * MAX_ID_BYTES + 1])
{
	Elf64_Nhdr head;

	while (bytes >= sizeof(head)) {
		const unsigned char *name = note + sizeof(head), *bits;
		size_t rest = bytes - sizeof(head);

		memcpy(&head, note, sizeof(head));
		if (padded(head.n_namesz) > rest || padded(head.n_descsz) > rest - padded(head.n_namesz))
			return false;
		bits = name + padded(head.n_namesz);
		if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == 4 && !memcmp(name, "GNU", 4) &&
		    head.n_descsz <= MAX_ID_BYTES) {
			print_hex(bits, head.n_descsz, id);
			return true;
		}
		note = bits + padded(head.n_descsz);
		bytes = rest - padded(head.n_namesz) - padded(head.n_descsz);
	}
	return false;
}

static bool find_in_segment(int fd, uint64_t offset, uint64_t size, char id[static 2 * MAX_ID_BYTES + 1])
{
	unsigned char note[MAX_NOTE_BYTES];
	ssize_t got;

	if (offset > INT64_MAX - MAX_NOTE_BYTES)
		return false;
	got = pread(fd, note, size < sizeof(note) ? size : sizeof(note), (off_t)offset);
	return got > 0 && find_in_note(note, (size_t)got, id);
}

static void read_id(int fd, char id[static 2 * MAX_ID_BYTES + 1])
{
	Elf64_Phdr headers[MAX_HEADERS];
	Elf64_Ehdr head;
	ssize_t got;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) || head.e_phentsize != sizeof(headers[0]) ||
	    head.e_phoff > INT64_MAX)
		return;
	got = pread(fd, headers, sizeof(headers), (off_t)head.e_phoff);
	for (size_t i = 0; got > 0 && i < head.e_phnum && i < (size_t)got / sizeof(headers[0]); i++)
		if (headers[i].p_type == PT_NOTE && find_in_segment(fd, headers[i].p_offset, headers[i].p_filesz, id))
			return;
}

/* ---- files ---- */

static bool is_elf64(int fd)
{
	unsigned char magic[EI_CLASS + 1];

	return pread(fd, magic, sizeof(magic), 0) == sizeof(magic) && !memcmp(magic, ELFMAG, SELFMAG) &&
	       magic[EI_CLASS] == ELFCLASS64;
}

static void read_mapped(struct build_id *id, const struct trace_start_map *map)
{
	struct stat status;
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/map_files/%" PRIx64 "-%" PRIx64, map->tgid, (uint64_t)map->start,
		 (uint64_t)map->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return;
	/* another process of that number, if the daemon is in a namespace of its own */
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == map->ino && is_elf64(fd)) {
		id->is_known = true;
		read_id(fd, id->id);
	}
	close(fd);
}

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

void build_ids_note(struct build_ids *ids, const struct trace_start_map *map)
{
	struct build_id *id = map->prot & PROT_EXEC ? row_of(ids, map->dev, map->ino) : NULL;

	if (id && !id->is_known)
		read_mapped(id, map);
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
			id->is_known = true;
			memcpy(id->id, known->id, sizeof(id->id));
		}
}

void build_ids_write(struct build_ids *ids, struct trace_writer *writer)
{
	char text[2 * MAX_ID_BYTES + 64];

	for (size_t i = 0; ids && i < NR_BUCKETS; i++)
		for (struct build_id *id = ids->buckets[i]; id; id = id->next) {
			if (!id->is_known || id->is_written)
				continue;
			snprintf(text, sizeof(text), "%" PRIu32 " %" PRIu64 " %s", id->dev, id->ino, id->id);
			id->is_written = !trace_writer_string(writer, TRACE_STRING_BUILD_ID, ids->nr_written, text);
			ids->nr_written += id->is_written;
		}
}
