/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FILE_CASE_H
#define TESTS_FILE_CASE_H
/* file_case.h - a file that a report writes besides its text: --flame, --pprof. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include "report_case.h"

/** struct file_case - a file that a report wrote, and its text */
struct file_case {
	char path[64];
	char *text;
	size_t size;
};

/* The report writes nothing else. */
static inline struct file_case file_of(struct tb *tb, const char *option)
{
	struct file_case file = {.path = "/tmp/file_case_XXXXXX"};
	char options[128], *text;
	gzFile in;
	int fd = mkstemp(file.path), nr;

	close(fd);
	snprintf(options, sizeof(options), "%s=%s", option, file.path);
	text = report_of(tb, options);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	file.text = malloc(1 << 20);
	in = gzopen(file.path, "rb"); /* reads a plain file as it is */
	nr = gzread(in, file.text, (1 << 20) - 1);
	CU_ASSERT_FATAL(nr > 0);
	gzclose(in);
	file.size = (size_t)nr;
	file.text[nr] = 0;
	unlink(file.path);
	return file;
}

/* ---- files for pprof ---- */

static inline uint64_t varint(const unsigned char **at)
{
	uint64_t value = 0;

	for (unsigned int shift = 0;; shift += 7) {
		value |= (uint64_t)(**at & 127) << shift;
		if (!(*(*at)++ & 128))
			return value;
	}
}

/* A sample of profile.proto: its locations, and its first value */
static inline uint64_t sample_elapsed(const unsigned char *at, const unsigned char *end, size_t *ret_locations)
{
	uint64_t elapsed = 0;

	while (at < end) {
		uint64_t field = varint(&at), bytes = varint(&at);
		const unsigned char *stop = at + bytes, *value = at;

		CU_ASSERT_EQUAL(field & 7, 2);
		if (field >> 3 == 2)
			elapsed = varint(&value);
		for (; field >> 3 == 1 && value < stop; (*ret_locations)++)
			varint(&value);
		at = stop;
	}
	return elapsed;
}

/* The first values of all samples. */
static inline uint64_t pprof_elapsed(const struct file_case *file, size_t *ret_samples, size_t *ret_locations)
{
	const unsigned char *at = (const unsigned char *)file->text, *end = at + file->size;
	uint64_t elapsed = 0;

	while (at < end) {
		uint64_t field = varint(&at), value = varint(&at);

		if (field >> 3 == 2) {
			elapsed += sample_elapsed(at, at + value, ret_locations);
			(*ret_samples)++;
		}
		at += (field & 7) == 2 ? value : 0;
	}
	return elapsed;
}
#endif
