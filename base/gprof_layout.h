/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_GPROF_LAYOUT_H
#define BASE_GPROF_LAYOUT_H
/*
 * gprof_layout.h - the counts of libtracer-gprof.so in the memory of a program: the library adds to
 * them, and tracectl gprof reads them from outside
 *
 * An arc is an address that calls and an address in the function that it called. Each thread has
 * tables of its own, so that a count is one instruction without a lock. A thread that begins takes
 * the tables of one that has ended, with their counts.
 *
 * A table is never moved or freed: a thread with too many arcs in its table begins with a larger
 * one, where each arc begins at 0. So a signal handler that does this in the middle of a count does
 * no harm. A reader adds all tables.
 */
#include <stddef.h>
#include <stdint.h>

/** struct gprof_arc - @self: 0: the slot is free. Written last */
struct gprof_arc {
	uintptr_t from, self;
	uint64_t count;
	uint64_t spare;
};

/**
 * struct gprof_table - open addressing, the next slot after a collision; less than half full
 * @mask: of offsets into @arcs, in bytes. Known to gprof_arcs.c in assembler, and so is @arcs
 * @next: an older table of the thread
 */
struct gprof_table {
	uint64_t mask;
	struct gprof_table *next;
	uint64_t nr;
	uint64_t spare[5];
	struct gprof_arc arcs[];
};

/** struct gprof_thread - @tables: newest first; in lists of all threads and of those that ended */
struct gprof_thread {
	struct gprof_table *tables;
	struct gprof_thread *next, *next_free;
};

#define GPROF_CELL_BYTES 4u /* of a cell, and of the code for which it counts */

/** struct gprof_region - samples of the code from @from on; @cells: owned */
struct gprof_region {
	uintptr_t from, to;
	uint32_t *cells;
	size_t nr_cells;
};

/** struct gprof_code - the code of an object; @bias: what the loader added to its addresses */
struct gprof_code {
	uintptr_t begin, end, bias;
};

#define GPROF_ROOT_BYTES 32
#define GPROF_ROOT	 "trace toolkit: counts of gprof 1"

/**
 * struct gprof_root - where all of this is. In a page that the loader makes read-only
 * @name: GPROF_ROOT without its zero byte. The library's files have it at a multiple of 16 bytes
 */
struct gprof_root {
	char name[GPROF_ROOT_BYTES];
	struct gprof_thread *const *threads;
	const struct gprof_region *samples; /* of the program; nr_cells 0: none */
	const struct gprof_code *program;
	const uint64_t *period_ns; /* of a sample */
	const uint64_t *lost;	   /* counts for which there was no memory */
};
#endif
