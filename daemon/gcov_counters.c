/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gcov_counters.c - read libgcov's lists from the memory of a running process
 *
 * gcc puts one struct gcov_info into each object file, and a constructor links it into the list of
 * the program or library (gcc/libgcc/libgcov.h). Its layout depends on the compiler's version,
 * which is its first word; the versions here have one layout:
 *
 *   __gcov_root   list, ...
 *   gcov_info     version, next, stamp, checksum, path of the .gcda, a merge function for each kind
 *                 of counter (NULL: not used), number of functions, functions
 *   function      its gcov_info, ident, two checksums, then number and address of the counters of
 *                 each kind that is used, the arcs first
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "array_room.h"
#include "error_set.h"
#include "file_opener.h"
#include "gcov_counters.h"
#include "process_dump.h"

#define MIN_MAJOR     12
#define MAX_MAJOR     13
#define NR_KINDS      8 /* of counters, in these versions */
#define KIND_ARCS     0
#define MAX_UNITS     (1u << 18)
#define MAX_FUNCTIONS (1u << 20)
#define MAX_COUNTS    (1u << 24)
#define MAX_PATH      4096
#define MAX_BYTES     (256ull << 20) /* of all functions and counts of a process */

struct gcov_info_image {
	uint32_t version;
	uint64_t next;
	uint32_t stamp, checksum;
	uint64_t path;
	uint64_t merge[NR_KINDS];
	uint32_t nr_functions;
	uint64_t functions;
};

/* With the counters of the first kind; those of others follow. */
struct gcov_function_image {
	uint64_t info;
	uint32_t ident, line_checksum, graph_checksum, padding;
	uint32_t nr, more_padding;
	uint64_t counts;
};

/** struct gcov_memory - @units: what is read so far */
struct gcov_memory {
	struct file_opener *opener;
	pid_t pid;
	const char *object;
	struct gcov_units *units;
	struct trace_error *error;
};

static int damaged(const struct gcov_memory *memory)
{
	return error_set(memory->error, -EBADMSG, "%s in process %d: its lists of counters are damaged", memory->object,
			 (int)memory->pid);
}

/* ---- the process's memory ---- */

static int get(const struct gcov_memory *memory, void *into, uint64_t address, size_t bytes)
{
	int err = file_opener_memory(memory->opener, (uint32_t)memory->pid, address, into, bytes);

	if (!err)
		return 0;
	if (err == -EFAULT)
		return damaged(memory);
	return error_set(memory->error, err, "process %d: %s", (int)memory->pid, process_dump_why(err));
}

/*
 * SECURITY: lists of the process may have the same functions and counts again and again.
 */
static int take_bytes(const struct gcov_memory *memory, uint64_t nr, size_t bytes)
{
	memory->units->bytes += nr * bytes;
	if (memory->units->bytes <= MAX_BYTES)
		return 0;
	return error_set(memory->error, -EFBIG, "%s in process %d: its lists of counters take more than %llu MiB",
			 memory->object, (int)memory->pid, MAX_BYTES >> 20);
}

/* Page by page, as the memory behind the text may not be there. */
static int get_text(const struct gcov_memory *memory, uint64_t address, char **ret_text)
{
	char text[MAX_PATH];
	size_t used = 0;

	while (used < sizeof(text)) {
		size_t here = 256 - (address + used) % 256;
		int err;

		if (here > sizeof(text) - used)
			here = sizeof(text) - used;
		err = get(memory, text + used, address + used, here);
		if (err)
			return err;
		if (memchr(text + used, '\0', here)) {
			*ret_text = strdup(text);
			return *ret_text ? 0 : -ENOMEM;
		}
		used += here;
	}
	return damaged(memory);
}

/* ---- functions ---- */

/*
 * The arcs are the first kind of counters that a function has, if the unit uses that kind at all.
 */
static int get_function(const struct gcov_memory *memory, uint64_t address, uint64_t info, bool has_arcs,
			struct gcov_function *function)
{
	struct gcov_function_image image;
	int err = get(memory, &image, address, sizeof(image));

	if (err)
		return err;
	if (image.info != info) /* a function of several object files, which the linker took from another one */
		return 0;
	*function = (struct gcov_function){image.ident, image.line_checksum, image.graph_checksum,
					   has_arcs ? image.nr : 0, NULL};
	if (function->nr > MAX_COUNTS)
		return damaged(memory);
	err = take_bytes(memory, function->nr, sizeof(*function->counts));
	if (err)
		return err;
	function->counts = calloc(function->nr ? function->nr : 1, sizeof(*function->counts));
	if (!function->counts)
		return -ENOMEM;
	return function->nr ? get(memory, function->counts, image.counts, function->nr * sizeof(*function->counts)) : 0;
}

static int get_functions(const struct gcov_memory *memory, uint64_t info, const struct gcov_info_image *image,
			 struct gcov_unit *unit)
{
	uint64_t *addresses;
	int err;

	if (image->nr_functions > MAX_FUNCTIONS)
		return damaged(memory);
	err = take_bytes(memory, image->nr_functions, sizeof(*unit->functions));
	if (err)
		return err;
	unit->functions = calloc(image->nr_functions + 1, sizeof(*unit->functions));
	addresses = calloc(image->nr_functions + 1, sizeof(*addresses));
	if (!unit->functions || !addresses) {
		free(addresses);
		return -ENOMEM;
	}
	unit->nr = image->nr_functions;
	err = unit->nr ? get(memory, addresses, image->functions, unit->nr * sizeof(*addresses)) : 0;
	for (uint32_t i = 0; i < unit->nr && !err; i++)
		if (addresses[i])
			err = get_function(memory, addresses[i], info, image->merge[KIND_ARCS], &unit->functions[i]);
	free(addresses);
	return err;
}

/* ---- units ---- */

/* "B22*": gcc 12.2; 'A' is no ten, 'B' one. */
static unsigned int major_of(uint32_t version)
{
	unsigned char tens = (unsigned char)(version >> 24), ones = (unsigned char)(version >> 16);

	return tens >= 'A' && ones >= '0' && ones <= '9' ? (tens - 'A') * 10u + (ones - '0') : 0;
}

static int check_version(const struct gcov_memory *memory, uint32_t version)
{
	unsigned int major = major_of(version);

	if (!major || major > 99)
		return damaged(memory);
	if (major >= MIN_MAJOR && major <= MAX_MAJOR)
		return 0;
	return error_set(memory->error, -ENOTSUP,
			 "%s: built by gcc %u, whose lists of counters are not known; those of gcc %d to %d are",
			 memory->object, major, MIN_MAJOR, MAX_MAJOR);
}

static int add_unit(const struct gcov_memory *memory, struct gcov_units *units, uint64_t info, uint64_t *ret_next)
{
	struct gcov_info_image image;
	struct gcov_unit *unit;
	int err;

	if (!array_room((void **)&units->units, units->nr, &units->room, sizeof(*units->units)))
		return -ENOMEM;
	err = get(memory, &image, info, sizeof(image));
	if (!err)
		err = check_version(memory, image.version);
	if (err)
		return err;
	unit = &units->units[units->nr++];
	*unit = (struct gcov_unit){.version = image.version, .stamp = image.stamp, .checksum = image.checksum};
	*ret_next = image.next;
	err = get_text(memory, image.path, &unit->path);
	return err ? err : get_functions(memory, info, &image, unit);
}

int gcov_units_read(struct gcov_units *units, pid_t pid, const char *object, uint64_t root,
		    struct trace_error *ret_error)
{
	struct file_opener opener = {0};
	struct gcov_memory memory = {&opener, pid, object, units, ret_error};
	uint64_t info = 0;
	int err = get(&memory, &info, root, sizeof(info));

	while (!err && info)
		err = units->nr < MAX_UNITS ? add_unit(&memory, units, info, &info) : damaged(&memory);
	file_opener_close(&opener);
	if (err == -ENOMEM)
		error_set(ret_error, err, "no memory for the counters of %s", object);
	return err;
}

/* ---- all ---- */

uint64_t gcov_unit_counts(const struct gcov_unit *unit)
{
	uint64_t nr = 0;

	for (uint32_t i = 0; i < unit->nr; i++)
		nr += unit->functions[i].nr;
	return nr;
}

void gcov_unit_free(struct gcov_unit *unit)
{
	for (uint32_t i = 0; i < unit->nr; i++)
		free(unit->functions[i].counts);
	free(unit->functions);
	free(unit->path);
	memset(unit, 0, sizeof(*unit));
}

void gcov_units_free(struct gcov_units *units)
{
	for (size_t i = 0; i < units->nr; i++)
		gcov_unit_free(&units->units[i]);
	free(units->units);
	memset(units, 0, sizeof(*units));
}

/*
 * Functions are in the compiler's order in both, and those of other object files are missing in
 * both.
 */
int gcov_unit_subtract(struct gcov_unit *unit, const struct gcov_unit *earlier)
{
	if (unit->stamp != earlier->stamp || unit->checksum != earlier->checksum || unit->nr != earlier->nr)
		return -ESTALE;
	for (uint32_t i = 0; i < unit->nr; i++) {
		struct gcov_function *function = &unit->functions[i];
		const struct gcov_function *before = &earlier->functions[i];

		if (!function->counts && !before->counts)
			continue;
		if (!function->counts || !before->counts || function->ident != before->ident ||
		    function->nr != before->nr || function->graph_checksum != before->graph_checksum)
			return -ESTALE;
		for (uint32_t k = 0; k < function->nr; k++) {
			if (function->counts[k] < before->counts[k])
				return -ERANGE;
			function->counts[k] -= before->counts[k];
		}
	}
	return 0;
}
