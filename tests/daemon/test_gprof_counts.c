/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_gprof_counts.c - the counts in the memory of a process, also of one that wants to mislead
 *
 * The process is the test itself: it maps a file with the name of the library, and puts the tables
 * there. gprof_counts has real programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "gprof_counts.h"
#include "unit.h"

#define NR_ARCS 8u

/* a struct gprof_table with its arcs */
struct table {
	uint64_t mask;
	struct table *next;
	uint64_t spare[6];
	struct gprof_arc arcs[NR_ARCS];
};
_Static_assert(offsetof(struct table, arcs) == offsetof(struct gprof_table, arcs), "the same layout");

/* what the library has in its data */
struct image {
	struct gprof_root root;
	struct gprof_thread *threads;
	struct gprof_thread thread[2];
	struct table table[3];
	struct gprof_region samples;
	struct gprof_code program;
	uint64_t period_ns, lost;
	uint32_t cells[4];
};

static char folder[] = "/tmp/trace-gprof-XXXXXX";
static struct image *image;

static void map_library(void)
{
	char path[64];
	int fd;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/libtracer-gprof.so", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL_FATAL(ftruncate(fd, 65536), 0);
	image = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	CU_ASSERT_PTR_NOT_EQUAL_FATAL(image, MAP_FAILED);
	close(fd);
	unlink(path);
	rmdir(folder);
}

static struct gprof_table *head_of(struct table *table)
{
	return (struct gprof_table *)(void *)table;
}

static void set_table(struct table *table, struct table *next)
{
	table->mask = (NR_ARCS - 1) * sizeof(struct gprof_arc);
	table->next = next;
}

/* Two threads, the first one with two tables: 3 + 4 calls from 110 to 120, and 5 from 7 to 130. */
static void fill(void)
{
	memset(image, 0, sizeof(*image));
	memcpy(image->root.name, GPROF_ROOT, GPROF_ROOT_BYTES);
	image->root.threads = &image->threads;
	image->root.samples = &image->samples;
	image->root.program = &image->program;
	image->root.period_ns = &image->period_ns;
	image->root.lost = &image->lost;
	image->threads = &image->thread[0];
	image->thread[0] = (struct gprof_thread){.tables = head_of(&image->table[0]), .next = &image->thread[1]};
	image->thread[1] = (struct gprof_thread){.tables = head_of(&image->table[2])};
	set_table(&image->table[0], &image->table[1]);
	set_table(&image->table[1], NULL);
	set_table(&image->table[2], NULL);
	image->table[0].arcs[1] = (struct gprof_arc){.from = 110, .self = 120, .count = 3};
	image->table[1].arcs[7] = (struct gprof_arc){.from = 7, .self = 130, .count = 5};
	image->table[2].arcs[0] = (struct gprof_arc){.from = 110, .self = 120, .count = 4};
	image->table[2].arcs[3] = (struct gprof_arc){.from = 110, .self = 0, .count = 9}; /* not whole yet */
	image->samples = (struct gprof_region){.from = 100, .to = 116, .cells = image->cells, .nr_cells = 4};
	image->cells[2] = 6;
	image->program = (struct gprof_code){.begin = 100, .end = 140, .bias = 64};
	image->period_ns = 1000000;
	image->lost = 2;
}

static int read_own(struct gprof_counts *counts, struct trace_error *error)
{
	*error = (struct trace_error){0};
	return gprof_counts_read(getpid(), counts, error);
}

static void the_counts_of_all_tables_are_added(void)
{
	struct gprof_counts counts;
	struct trace_error error;

	fill();
	CU_ASSERT_EQUAL_FATAL(read_own(&counts, &error), 0);
	CU_ASSERT_EQUAL_FATAL(counts.arcs.nr, 2);
	CU_ASSERT(counts.arcs.arcs[0].from == 110 && counts.arcs.arcs[0].self == 120);
	CU_ASSERT_EQUAL(counts.arcs.arcs[0].count, 7);
	CU_ASSERT_EQUAL(counts.arcs.arcs[1].count, 5);
	CU_ASSERT_EQUAL(counts.samples.nr_cells, 4);
	CU_ASSERT_EQUAL(counts.samples.cells[2], 6);
	CU_ASSERT_EQUAL(counts.program.bias, 64);
	CU_ASSERT_EQUAL(counts.lost, 2);
	gprof_counts_free(&counts);
}

static void expect(int result, const char *text)
{
	struct gprof_counts counts;
	struct trace_error error;

	CU_ASSERT_EQUAL(read_own(&counts, &error), result);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, text));
	gprof_counts_free(&counts);
	fill();
}

static void damaged_counts_are_refused(void)
{
	fill();
	image->table[1].next = &image->table[0]; /* a circle */
	expect(-EBADMSG, "its counts are damaged");
	image->table[0].mask++;
	expect(-EBADMSG, "its counts are damaged");
	image->table[0].mask = 6 * sizeof(struct gprof_arc); /* no power of 2 */
	expect(-EBADMSG, "its counts are damaged");
	image->table[0].mask = UINT64_MAX - 31;
	expect(-EBADMSG, "its counts are damaged");
	image->thread[1].next = (struct gprof_thread *)16;
	expect(-EBADMSG, "its counts are damaged");
	image->samples.to++;
	expect(-EBADMSG, "its counts are damaged");
	image->samples.nr_cells = UINT64_MAX / 4;
	expect(-EBADMSG, "its counts are damaged");
	image->samples.cells = NULL;
	expect(-EBADMSG, "its counts are damaged");
	image->period_ns = 0;
	expect(-EBADMSG, "its counts are damaged");
}

/* The page is mapped twice, and the first mapping has addresses of the file. */
static void a_root_that_the_loader_has_not_changed_is_none(void)
{
	fill();
	image->root.threads = (struct gprof_thread *const *)0x8000;
	expect(-ENODATA, "does not count calls");
	image->root.name[0]++;
	expect(-ENODATA, "does not count calls");
}

static void a_process_without_counts_is_told(void)
{
	struct gprof_counts counts;
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(gprof_counts_read(0x7fffffff, &counts, &error), -ESRCH);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "there is no such process"));
	gprof_counts_free(&counts);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(map_library),
		CASE(the_counts_of_all_tables_are_added),
		CASE(damaged_counts_are_refused),
		CASE(a_root_that_the_loader_has_not_changed_is_none),
		CASE(a_process_without_counts_is_told),
		{NULL, NULL},
	};

	return unit_main("gprof_counts", cases, argc, argv);
}
