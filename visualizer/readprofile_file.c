/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * readprofile_file.c - files as /proc/profile: 32-bit numbers, first the step in bytes, then a
 * counter for each step of the kernel's code, from _stext on
 *
 * readprofile(8) of util-linux counts the first counter of a function in the function before it. A
 * map beside a file that we write therefore has all addresses one step higher, but _stext and
 * _etext.
 */
#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "checked_memory.h"
#include "error_set.h"
#include "read_end.h"
#include "readprofile.h"
#include "whole_file.h"

#define MAX_STEP       65536	    /* the kernel's: 1 << 16 */
#define MAX_FILE_BYTES (128u << 20) /* of a written one: most of it are holes */
#define CHUNK	       16384

/* ---- reading ---- */

/* Returns 0 or a negative errno. */
static int add_counters(struct hits *hits, FILE *file, uint64_t begin, bool swaps, uint64_t *ret_nr)
{
	uint32_t counters[CHUNK];
	uint64_t number = 0;
	size_t got;
	int err;

	while ((got = fread(counters, sizeof(*counters), CHUNK, file)))
		for (size_t i = 0; i < got; i++, number++) {
			uint32_t count = swaps ? bswap_32(counters[i]) : counters[i];

			if (count)
				hits_add(hits, begin + number * hits->step, count);
			hits->nr_samples += count;
		}
	err = read_error(file);
	hits_end(hits);
	*ret_nr = number;
	return err;
}

/* The kernel counts in the last counter what is outside of its code. */
static void take_outside(struct hits *hits, uint64_t last)
{
	if (hits->nr && hits->hits[hits->nr - 1].address == last)
		hits->outside = hits->hits[--hits->nr].count;
}

static int read_counters(struct hits *hits, const char *path, FILE *file, const struct kernel_rows *rows, bool swaps,
			 struct trace_error *ret_error)
{
	uint64_t nr;
	int err = add_counters(hits, file, rows->begin, swaps, &nr);

	if (err)
		return error_set(ret_error, err, "%s: %s", path, strerror(-err));
	if (rows->end > rows->begin && nr != (rows->end - rows->begin) / hits->step)
		return error_set(ret_error, -ESTALE,
				 "%s: it has counters for %" PRIu64 " bytes of code, and the map has %" PRIu64
				 " bytes: it is of another kernel",
				 path, nr * hits->step, rows->end - rows->begin);
	take_outside(hits, rows->begin + (nr - 1) * hits->step);
	return 0;
}

int hits_of_file(struct hits *hits, const char *path, const struct kernel_rows *rows, bool is_as_here,
		 struct trace_error *ret_error)
{
	FILE *file = fopen(path, "re");
	uint32_t step;
	bool swaps = false;
	int err;

	if (!file && errno == ENOENT && !strcmp(path, "/proc/profile"))
		return error_set(
			ret_error, -ENOENT,
			"%s: this kernel does not profile: it does with profile=2 on its command line; or record "
			"with tracedaemon --sample",
			path);
	if (!file)
		return error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	err = fread(&step, sizeof(step), 1, file) == 1 ? 0 : -EBADMSG;
	if (!err && !is_as_here && (!step || step > MAX_STEP)) {
		step = bswap_32(step);
		swaps = true;
	}
	if (!err && (!step || step > MAX_STEP || (step & (step - 1))))
		err = -EBADMSG;
	hits->step = step;
	if (err)
		error_set(ret_error, err, "%s: it is no copy of /proc/profile: it begins with no step of 1 to %d bytes",
			  path, MAX_STEP);
	else
		err = read_counters(hits, path, file, rows, swaps, ret_error);
	fclose(file);
	return err;
}

/* ---- writing ---- */

static int put_counter(int fd, uint64_t number, uint64_t count)
{
	uint32_t stored = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;

	return pwrite(fd, &stored, sizeof(stored), (off_t)((number + 1) * sizeof(stored))) == sizeof(stored)
		       ? 0
		       : -(errno ? errno : ENOSPC);
}

/* The counters of steps that are hit; the rest of the file is a hole. */
static int put_counters(int fd, const struct kernel_rows *rows, const struct hits *hits, uint32_t step,
			uint64_t *ret_others)
{
	uint64_t nr = (rows->end - rows->begin) / step, others = 0;
	int err = ftruncate(fd, (off_t)((nr + 1) * sizeof(uint32_t))) < 0 ? -errno : 0;

	if (!err && pwrite(fd, &step, sizeof(step), 0) != sizeof(step))
		err = -(errno ? errno : ENOSPC);
	for (size_t i = 0; i < hits->nr && !err;) {
		uint64_t number = (hits->hits[i].address - rows->begin) / step, count = 0;
		bool is_inside = hits->hits[i].address >= rows->begin && number < nr - 1;

		do
			count += hits->hits[i++].count;
		while (is_inside && i < hits->nr && (hits->hits[i].address - rows->begin) / step == number);
		if (is_inside)
			err = put_counter(fd, number, count);
		else
			others += count;
	}
	*ret_others = others;
	return err || !others ? err : put_counter(fd, nr - 1, others);
}

/* Code of no known function is a function of its own: else the one before it would be longer. */
static void put_map(FILE *map, const struct kernel_rows *rows, uint32_t step)
{
	uint64_t end = rows->begin;

	fprintf(map, "%016x A " KERNEL_SYMBOLS_SHIFT "\n%016" PRIx64 " T _stext\n", step, rows->begin);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct kernel_row *row = &rows->rows[i];

		if (row->address < rows->begin || row->address >= rows->end)
			continue;
		if (row->address > end)
			fprintf(map, "%016" PRIx64 " t (others)\n", end + step);
		fprintf(map, "%016" PRIx64 " t %s\n", row->address + step, row->name);
		end = row->address + row->bytes;
	}
	if (end < rows->end)
		fprintf(map, "%016" PRIx64 " t (others)\n", end + step);
	fprintf(map, "%016" PRIx64 " T _etext\n", rows->end);
}

/* Counters of another map tell nothing, so both files have their names, or none has. */
static int write_both(const char *const names[2], const struct kernel_rows *rows, const struct hits *hits,
		      uint64_t *ret_others, struct trace_error *ret_error)
{
	uint32_t step = (uint32_t)hits->step;
	struct whole_file files[2];
	size_t idx = 1;
	int err;

	while ((rows->end - rows->begin) / step * sizeof(step) > MAX_FILE_BYTES)
		step *= 2;
	err = whole_files_open(files, names, 2, &idx);
	if (!err) {
		put_map(files[0].out, rows, step);
		errno = 0;
		err = put_counters(fileno(files[1].out), rows, hits, step, ret_others);
		err = whole_files_close(files, 2, err, &idx);
	}
	return err ? error_set(ret_error, err, "%s cannot be written: %s", names[idx], strerror(-err)) : 0;
}

int profile_file_write(const char *path, const struct kernel_rows *rows, const struct hits *hits, uint64_t *ret_others,
		       struct trace_error *ret_error)
{
	struct string map = {0};
	int err;

	if (!rows->begin || rows->end <= rows->begin)
		return error_set(ret_error, -ENODATA,
				 "%s: neither trace nor map tells where the kernel's code is (_stext, _etext): -m MAP",
				 path);
	string_addf(&map, "%s.map", path);
	err = write_both((const char *const[2]){string_text(&map), path}, rows, hits, ret_others, ret_error);
	string_free(&map);
	return err;
}
