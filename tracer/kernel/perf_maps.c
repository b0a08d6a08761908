/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf_maps.c - a line is "START SIZE NAME", both numbers in hexadecimal. A program appends lines
 * and never changes one, so the last line with an address is right if code was moved.
 */
#include "perf_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trace/reader.h>
#include "regular.h"
#include "read_end.h"

#define NAME_BYTES     256
#define MAX_FILE_BYTES (256ll << 20)

/** struct generated - the function at an address. @bytes: 0: not known */
struct generated {
	uint64_t begin, bytes;
	char *name; /* owned */
};

/* ---- the file ---- */

/* The number of a process in its own namespace, which is in the name of the file. */
static uint32_t inner_number(uint32_t tgid)
{
	char path[32], line[256];
	uint32_t number = tgid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tgid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NSpid:", 6))
			number = (uint32_t)strtoul(strrchr(line, '\t') + 1, NULL, 10);
	return read_end(file) < 0 ? tgid : number;
}

static int open_in(const char *root, uint32_t number)
{
	int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), tmp, fd;
	char name[32];

	tmp = folder < 0 ? -1 : openat(folder, "tmp", O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (folder >= 0)
		close(folder);
	if (tmp < 0)
		return -1;
	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", number);
	fd = regular_open_at(tmp, name);
	close(tmp);
	return fd;
}

/*
 * SECURITY: in /tmp any user can make a file with the number of another's process. While the
 * process runs, its user is known.
 */
static bool is_owned(int fd, uint32_t tgid)
{
	struct stat file, process;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%" PRIu32, tgid);
	return fstat(fd, &file) == 0 && file.st_size <= MAX_FILE_BYTES &&
	       (!file.st_uid || stat(path, &process) < 0 || file.st_uid == process.st_uid);
}

/* The file of a process that has ended stays, unless it was in a container that is gone, too. */
static FILE *open_map(uint32_t tgid)
{
	char root[32];
	FILE *file;
	int fd;

	snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", tgid);
	fd = open_in(root, inner_number(tgid));
	if (fd < 0)
		fd = open_in("/", tgid);
	if (fd < 0)
		return NULL;
	file = is_owned(fd, tgid) ? fdopen(fd, "r") : NULL;
	if (!file)
		close(fd);
	return file;
}

/* ---- its lines ---- */

/* The first of @nr addresses that is not below @address. */
static size_t first_from(const struct walk_address *addresses, size_t nr, uint64_t address)
{
	size_t from = 0, to = nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (addresses[middle].address < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Returns false without memory. */
static bool take_line(const struct walk_address *addresses, size_t nr, char *line, struct generated *found)
{
	char *at;
	uint64_t begin = strtoull(line, &at, 16), bytes = *at == ' ' ? strtoull(at + 1, &at, 16) : 0;

	if (*at != ' ' || !bytes || !at[1])
		return true;
	for (unsigned char *c = (unsigned char *)at + 1; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			*c = '?';
	for (size_t i = first_from(addresses, nr, begin); i < nr && addresses[i].address - begin < bytes; i++) {
		char *name = strdup(at + 1);

		if (!name)
			return false;
		free(found[i].name);
		found[i] = (struct generated){begin, bytes, name};
	}
	return true;
}

static bool read_lines(FILE *file, const struct walk_address *addresses, size_t nr, struct generated *found)
{
	char line[NAME_BYTES + 64];
	bool is_complete = true, is_begin = true;

	while (is_complete && fgets(line, sizeof(line), file)) {
		size_t chars = strcspn(line, "\n");
		bool has_end = line[chars] == '\n';

		line[chars] = 0;
		if (is_begin)
			is_complete = take_line(addresses, nr, line, found);
		is_begin = has_end; /* the rest of a long line is no line */
	}
	return is_complete;
}

/* ---- all ---- */

static int emit_found(uint32_t tgid, const struct generated *found, size_t nr, uint64_t *number, tracer_string_fn emit,
		      void *context)
{
	const struct generated *before = NULL;
	char text[NAME_BYTES + 128];
	int result = 0;

	for (size_t i = 0; i < nr && !result; i++) {
		if (!found[i].name || (before && before->begin == found[i].begin && before->bytes == found[i].bytes))
			continue;
		before = &found[i];
		snprintf(text, sizeof(text), "%" PRIu32 " %" PRIx64 " %" PRIu64 " %s", tgid, before->begin,
			 before->bytes, before->name);
		result = emit(context, TRACE_STRING_PROGRAM_CODE, (*number)++, text);
	}
	return result;
}

static int emit_process(const struct walk_address *addresses, size_t nr, uint64_t *number, tracer_string_fn emit,
			void *context)
{
	struct generated *found = calloc(nr, sizeof(*found));
	FILE *file = found ? open_map(addresses->tgid) : NULL;
	int result = found ? 0 : -ENOMEM;

	if (file) {
		result = read_lines(file, addresses, nr, found) ? 0 : -ENOMEM;
		fclose(file);
	}
	if (!result)
		result = emit_found(addresses->tgid, found, nr, number, emit, context);
	for (size_t i = 0; found && i < nr; i++)
		free(found[i].name);
	free(found);
	return result;
}

int perf_maps_emit(const struct walk_address *addresses, size_t nr, tracer_string_fn emit, void *context)
{
	uint64_t number = 0;
	int result = 0;
	size_t of_process;

	for (size_t i = 0; i < nr && !result; i += of_process) {
		for (of_process = 1; i + of_process < nr && addresses[i + of_process].tgid == addresses[i].tgid;)
			of_process++;
		result = emit_process(addresses + i, of_process, &number, emit, context);
	}
	return result;
}
