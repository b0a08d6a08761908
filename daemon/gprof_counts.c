/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof_counts.c - read the tables of libtracer-gprof.so from the memory of a running process
 *
 *   gprof_root    in the library, found by its name; it has the addresses of
 *   threads       a list, each with
 *   tables        of arcs, a list
 *   samples       cells for the code of the program
 *
 * The process adds to its tables meanwhile, and never moves or frees one. An arc is read after its
 * begin, or not at all; its count is that of a moment during the reading.
 */
#include "gprof_counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "file_opener.h"
#include "process_dump.h"
#include "read_end.h"

#define LIBRARY	      "/libtracer-gprof.so"
#define ROOT_ALIGN    16u
#define MAX_DATA      (1u << 20)  /* of a mapping of the library, in which its root may be */
#define MAX_LIBRARY   (64u << 20) /* of all its mappings */
#define MAX_THREADS   (1u << 18)
#define MAX_TABLES    64u	   /* of a thread */
#define MAX_ARCS      (1ull << 24) /* of a table, as in the library */
#define MAX_CELLS     (1ull << 28)
#define MAX_BYTES     (4ull << 30) /* of all tables and cells of a process */
#define ARCS_AT_ONCE  4096u
#define MAX_PERIOD_NS 1000000000u

/** struct gprof_process - @error: where sentences go. @bytes: read so far. @block: owned */
struct gprof_process {
	struct file_opener opener;
	pid_t pid;
	uint64_t bytes;
	struct gprof_arc *block;
	struct trace_error *error;
};

static int damaged(const struct gprof_process *process)
{
	return error_set(process->error, -EBADMSG, "process %d: its counts are damaged", (int)process->pid);
}

static int get(struct gprof_process *process, const void *address, void *into, size_t bytes)
{
	int err = file_opener_memory(&process->opener, (uint32_t)process->pid, (uintptr_t)address, into, bytes);

	if (!err)
		return 0;
	if (err == -EFAULT)
		return damaged(process);
	return error_set(process->error, err, "process %d: %s", (int)process->pid, process_dump_why(err));
}

static int take_bytes(struct gprof_process *process, uint64_t bytes)
{
	process->bytes += bytes;
	if (process->bytes <= MAX_BYTES)
		return 0;
	return error_set(process->error, -EFBIG, "process %d: its counts take more than %llu GiB", (int)process->pid,
			 MAX_BYTES >> 30);
}

/* ---- the root ---- */

/* Is it a mapping of the library's data? */
static bool parse_mapping(const char *line, uint64_t *ret_begin, size_t *ret_bytes)
{
	uint64_t begin, end;
	char rights[8];
	const char *path = strchr(line, '/'), *name = path ? strrchr(path, '/') : NULL;

	if (!name || strncmp(name, LIBRARY, strlen(LIBRARY)) != 0 ||
	    sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, rights) != 3 || rights[0] != 'r' ||
	    rights[2] == 'x' || end <= begin || end - begin > MAX_DATA)
		return false;
	*ret_begin = begin;
	*ret_bytes = (size_t)(end - begin);
	return true;
}

/*
 * A page between two parts of the file is mapped twice, and the loader changes the addresses in one
 * of them: in the other one they are those in the file. @library: where the first part is mapped
 */
static bool find_name(const char *data, size_t bytes, uint64_t library, struct gprof_root *ret_root)
{
	for (size_t at = 0; at + sizeof(*ret_root) <= bytes; at += ROOT_ALIGN) {
		if (memcmp(data + at, GPROF_ROOT, GPROF_ROOT_BYTES) != 0)
			continue;
		memcpy(ret_root, data + at, sizeof(*ret_root));
		if ((uintptr_t)ret_root->threads - library < MAX_LIBRARY)
			return true;
	}
	return false;
}

/* Returns 1 if it is in this mapping, 0 if not, or a negative errno. */
static int find_root_in(struct gprof_process *process, uint64_t begin, size_t bytes, uint64_t library,
			struct gprof_root *ret_root)
{
	char *data = malloc(bytes);
	int result = data ? get(process, (const void *)(uintptr_t)begin, data, bytes) : -ENOMEM;

	if (!result)
		result = find_name(data, bytes, library, ret_root);
	free(data);
	return result;
}

static int find_root(struct gprof_process *process, struct gprof_root *ret_root)
{
	FILE *maps = file_opener_text(&process->opener, (uint32_t)process->pid, "maps");
	char *line = NULL;
	uint64_t begin, library = 0;
	size_t room = 0, bytes;
	int found = 0;

	if (!maps) {
		found = -errno;
		return error_set(process->error, found == -ENOENT ? -ESRCH : found, "process %d: %s", (int)process->pid,
				 found == -ENOENT ? "there is no such process" : file_why(found));
	}
	while (!found && getline(&line, &room, maps) >= 0)
		if (parse_mapping(line, &begin, &bytes)) {
			library = library ? library : begin;
			found = find_root_in(process, begin, bytes, library, ret_root);
		}
	if (!found)
		found = read_lines_error(maps);
	free(line);
	fclose(maps);
	if (!found)
		found = error_set(process->error, -ENODATA,
				  "process %d does not count calls: begin it with tracedaemon --preload gprof TRACE -- "
				  "COMMAND",
				  (int)process->pid);
	return found < 0 ? found : 0;
}

/* ---- arcs ---- */

static int read_arcs(struct gprof_process *process, const struct gprof_arc *arcs, uint64_t nr, struct gprof_arcs *into)
{
	for (uint64_t first = 0; first < nr; first += ARCS_AT_ONCE) {
		size_t here = nr - first < ARCS_AT_ONCE ? (size_t)(nr - first) : ARCS_AT_ONCE;
		int err = get(process, arcs + first, process->block, here * sizeof(*process->block));

		if (err)
			return err;
		for (size_t i = 0; i < here; i++)
			if (process->block[i].self && process->block[i].count)
				gprof_arcs_add(into, &process->block[i]);
	}
	return 0;
}

static int read_tables(struct gprof_process *process, const struct gprof_table *table, struct gprof_arcs *into)
{
	struct gprof_table head;
	int err = 0;

	for (unsigned int nr = 0; !err && table; nr++, table = head.next) {
		uint64_t nr_arcs;

		err = nr < MAX_TABLES ? get(process, table, &head, sizeof(head)) : damaged(process);
		if (err)
			break;
		nr_arcs = head.mask / sizeof(struct gprof_arc) + 1;
		if (head.mask % sizeof(struct gprof_arc) || nr_arcs > MAX_ARCS || (nr_arcs & (nr_arcs - 1)))
			return damaged(process);
		err = take_bytes(process, nr_arcs * sizeof(struct gprof_arc));
		if (!err)
			err = read_arcs(process, table->arcs, nr_arcs, into);
	}
	return err;
}

static int read_threads(struct gprof_process *process, const struct gprof_root *root, struct gprof_arcs *into)
{
	const struct gprof_thread *thread;
	struct gprof_thread copy;
	int err = get(process, root->threads, &thread, sizeof(thread));

	for (unsigned int nr = 0; !err && thread; nr++, thread = copy.next) {
		err = nr < MAX_THREADS ? get(process, thread, &copy, sizeof(copy)) : damaged(process);
		if (!err)
			err = read_tables(process, copy.tables, into);
	}
	return err;
}

/* ---- samples ---- */

static int read_samples(struct gprof_process *process, const struct gprof_root *root, struct gprof_region *ret)
{
	struct gprof_region region;
	int err = get(process, root->samples, &region, sizeof(region));

	if (err || !region.nr_cells)
		return err;
	if (region.nr_cells > MAX_CELLS || region.to < region.from ||
	    region.to - region.from != region.nr_cells * GPROF_CELL_BYTES)
		return damaged(process);
	err = take_bytes(process, region.nr_cells * GPROF_CELL_BYTES);
	if (err)
		return err;
	*ret = region;
	ret->cells = malloc(region.nr_cells * GPROF_CELL_BYTES);
	return ret->cells ? get(process, region.cells, ret->cells, region.nr_cells * GPROF_CELL_BYTES) : -ENOMEM;
}

static int read_all(struct gprof_process *process, struct gprof_counts *counts)
{
	struct gprof_root root = {0};
	int err = find_root(process, &root);

	if (!err)
		err = get(process, root.program, &counts->program, sizeof(counts->program));
	if (!err)
		err = get(process, root.period_ns, &counts->period_ns, sizeof(counts->period_ns));
	if (!err)
		err = get(process, root.lost, &counts->lost, sizeof(counts->lost));
	if (!err)
		err = read_samples(process, &root, &counts->samples);
	if (!err && counts->samples.nr_cells && (!counts->period_ns || counts->period_ns > MAX_PERIOD_NS))
		err = damaged(process);
	if (!err)
		err = read_threads(process, &root, &counts->arcs);
	return err ? err : gprof_arcs_end(&counts->arcs);
}

int gprof_counts_read(pid_t pid, struct gprof_counts *ret_counts, struct trace_error *ret_error)
{
	struct gprof_process process = {.pid = pid, .error = ret_error};
	int err;

	*ret_counts = (struct gprof_counts){0};
	process.block = calloc(ARCS_AT_ONCE, sizeof(*process.block));
	err = process.block ? read_all(&process, ret_counts) : -ENOMEM;
	file_opener_close(&process.opener);
	free(process.block);
	if (err == -ENOMEM)
		return error_set(ret_error, err, "process %d: no memory for its counts", (int)pid);
	return err;
}

void gprof_counts_free(struct gprof_counts *counts)
{
	free(counts->arcs.arcs);
	free(counts->samples.cells);
	*counts = (struct gprof_counts){0};
}
