/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_PROFIL_CELLS_H
#define TRACER_USER_PROFIL_CELLS_H
/*
 * profil_cells.h - which cell has an address, and adding ticks to it
 *
 * The cells are the program's memory. It may unmap them while the profile is on, so they are read
 * and written by system calls, which return an error where a load would end the program.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/profil.h>

/** struct profil_region - cells of 2, 4 or 8 bytes */
struct profil_region {
	uintptr_t begin;
	uintptr_t cells;
	uint64_t nr_cells; /* 0: they cannot be written any more */
	uint64_t scale;
};

/**
 * struct profil_cells - @regions: owned; by address
 * @outside: the outside bin; no cells: there is none
 * @ticks, @nowhere, @full: ticks in cells, without a cell, not held by a full cell
 */
struct profil_cells {
	struct profil_region *regions;
	size_t nr_regions;
	struct profil_region outside;
	unsigned int cell_bytes;
	bool faulted;
	uint64_t ticks, nowhere, full;
};

/**
 * profil_cells_set() - the regions that have a scale of 2 or more
 * Returns how many there are, or -EFAULT, -ENOMEM.
 */
int profil_cells_set(struct profil_cells *cells, const struct trace_prof *regions, size_t nr, unsigned int cell_bytes);
void profil_cells_add(struct profil_cells *cells, uint64_t address, uint64_t ticks);
void profil_cells_clear(struct profil_cells *cells);
#endif
