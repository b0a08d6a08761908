/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz_shapes.c - libFuzzer target: traces with numbers and shapes that no recorder would write,
 * through the whole analysis and every report.
 *
 * 	fuzz_shapes                                    on generated stories (random_story.c)
 * 	TRACE_FUZZ_TRACES=folder fuzz_shapes           also on the traces in the folder
 * 	TRACE_FUZZ_FILE=file fuzz_shapes crash-...     writes the trace that caused the crash
 *
 * An input is not a file but a list of edits of a decoded trace (shape_edits.h): another number in
 * a field, an event with more words or none, a field at another offset, of another kind or name, a
 * chunk of another time or CPU, and so on. So every input gives a trace with correct checksums and
 * columns, and gets as deep as possible. shape_reports.h does the checks.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image.h"
#include "shape_edits.h"
#include "shape_reports.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

enum { MOST_BASES = 64, MOST_EDITS = 64 };

static struct base {
	unsigned char *data;
	size_t bytes;
} bases[MOST_BASES];
static size_t nr_bases;

/* ---- the traces that are edited ---- */

static void base_add(const void *data, size_t bytes)
{
	if (nr_bases == MOST_BASES)
		return;
	bases[nr_bases].data = malloc(bytes);
	memcpy(bases[nr_bases].data, data, bytes);
	bases[nr_bases++].bytes = bytes;
}

static void base_add_story(uint64_t seed, struct mood mood)
{
	struct tb *tb = random_story(seed, &mood);
	struct image image = image_new(tb, true);

	base_add(image.data, image.bytes);
	image_free(&image);
	tb_free(tb);
}

static void bases_recorded(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];

	while (dir && (entry = readdir(dir))) {
		size_t bytes, room = 16 << 20;
		unsigned char *data;
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		file = entry->d_type == DT_REG ? fopen(path, "re") : NULL;
		if (!file)
			continue;
		data = malloc(room);
		bytes = fread(data, 1, room, file);
		if (bytes > sizeof(struct trace_file_header) && memcmp(data, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES) == 0)
			base_add(data, bytes);
		free(data);
		fclose(file);
	}
	if (dir)
		closedir(dir);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	base_add_story(1, (struct mood){.noise = 30, .nr_tids = 12, .switches = 25, .sleeps = 50, .nr_events = 60});
	base_add_story(2, (struct mood){.noise = 10,
					.nr_tids = 12,
					.switches = 25,
					.sleeps = 50,
					.cuts = 2,
					.nr_events = 300,
					.losses = true,
					.programs = true});
	base_add_story(3, (struct mood){.noise = 100, .nr_tids = 8, .nr_events = 400});
	base_add_story(4, (struct mood){.noise = 5,
					.nr_tids = 20,
					.switches = 60,
					.sleeps = 30,
					.cuts = 1,
					.nr_events = 400,
					.streams = true,
					.programs = true,
					.moves = true});
	base_add_story(5, (struct mood){.noise = 20,
					.nr_tids = 12,
					.switches = 25,
					.sleeps = 50,
					.cuts = 3,
					.nr_events = 300,
					.losses = true,
					.masks = true,
					.streams = true});
	if (getenv("TRACE_FUZZ_TRACES"))
		bases_recorded(getenv("TRACE_FUZZ_TRACES"));
	return 0;
}

/* ---- inputs ---- */

static void keep(const char *path, const unsigned char *data, size_t bytes)
{
	FILE *file = path ? fopen(path, "we") : NULL;

	if (!file)
		return;
	fwrite(data, 1, bytes, file);
	fclose(file);
}

/* The first two bytes choose the trace and the report. Edits follow. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct reshape *r;
	unsigned char *file;
	size_t bytes;

	if (size < 2)
		return 0;
	r = reshape_new(bases[data[0] % nr_bases].data, bases[data[0] % nr_bases].bytes);
	for (size_t i = 0, at = 2; i < MOST_EDITS && at + sizeof(struct shape_edit) <= size;
	     i++, at += sizeof(struct shape_edit)) {
		struct shape_edit change;

		memcpy(&change, data + at, sizeof(change));
		shape_edit(r, &change);
	}
	file = reshape_put(r, &bytes);
	keep(getenv("TRACE_FUZZ_FILE"), file, bytes);
	shape_look(file, bytes, data[1]);
	free(file);
	reshape_free(r);
	return 0;
}

/* Adds, replaces or removes one edit; otherwise libFuzzer mutates the bytes. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	struct dice dice = {.state = seed};
	size_t nr = size > 2 ? (size - 2) / sizeof(struct shape_edit) : 0, at = below(&dice, nr + 1);
	struct shape_edit change = shape_edit_random(&dice);

	if (size < 2 || below(&dice, 4) == 0)
		return LLVMFuzzerMutate(data, size, max_size);
	if (below(&dice, 8) == 0)
		data[1] = (uint8_t)roll(&dice); /* another report */
	if (nr && below(&dice, 5) == 0) {
		memmove(data + 2 + at % nr * sizeof(change), data + 2 + (nr - 1) * sizeof(change), sizeof(change));
		return 2 + (nr - 1) * sizeof(change);
	}
	if (nr && below(&dice, 3) == 0)
		at %= nr;
	else
		at = nr;
	if (2 + (at + 1) * sizeof(change) > max_size)
		return LLVMFuzzerMutate(data, size, max_size);
	memcpy(data + 2 + at * sizeof(change), &change, sizeof(change));
	return 2 + (at == nr ? nr + 1 : nr) * sizeof(change);
}
