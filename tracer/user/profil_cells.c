/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* profil_cells.c - which cell has an address, and adding ticks to it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include "profil_cells.h"

#define SCALE_ONE      0x10000 /* a byte of cells for a byte of code */
#define SCALE_ONE_CELL 2       /* one cell for all code */
#define MIN_SCALE      2       /* below it the region is not used */

/*
 * Copies between the program's memory at @address and @bytes of @ours. False: it is not there. A
 * process that may not use these calls gets the copy by loads and stores.
 */
static bool copy(uintptr_t address, void *ours, size_t bytes, bool write)
{
	struct iovec local = {ours, bytes}, remote = {(void *)address, bytes};
	ssize_t copied = write ? process_vm_writev(getpid(), &local, 1, &remote, 1, 0)
			       : process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	if (copied < 0 && (errno == EPERM || errno == ENOSYS)) {
		memcpy(write ? (void *)address : ours, write ? ours : (void *)address, bytes);
		return true;
	}
	return copied == (ssize_t)bytes;
}

static bool has_cells(const struct profil_region *region)
{
	return region->nr_cells > 0;
}

/* Are the first and the last cell writable? They keep their values. */
static bool can_write(const struct profil_region *region, unsigned int cell_bytes)
{
	uintptr_t ends[] = {region->cells, region->cells + (region->nr_cells - 1) * cell_bytes};
	uint64_t value;

	for (size_t i = 0; has_cells(region) && i < 2; i++)
		if (!copy(ends[i], &value, cell_bytes, false) || !copy(ends[i], &value, cell_bytes, true))
			return false;
	return true;
}

static int compare(const void *a, const void *b)
{
	const struct profil_region *left = a, *right = b;

	return left->begin < right->begin ? -1 : left->begin > right->begin;
}

int profil_cells_set(struct profil_cells *cells, const struct trace_prof *regions, size_t nr, unsigned int cell_bytes)
{
	int nr_used = 0;

	*cells = (struct profil_cells){.cell_bytes = cell_bytes};
	cells->regions = calloc(nr ? nr : 1, sizeof(*cells->regions));
	if (!cells->regions)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++) {
		struct profil_region region = {.begin = regions[i].pr_off,
					       .cells = (uintptr_t)regions[i].pr_base,
					       .nr_cells = regions[i].pr_size / cell_bytes,
					       .scale = regions[i].pr_scale};

		if (region.scale < MIN_SCALE || !has_cells(&region))
			continue;
		if (!can_write(&region, cell_bytes))
			goto unwritable;
		if (!region.begin && region.scale == SCALE_ONE_CELL)
			cells->outside = region;
		else
			cells->regions[cells->nr_regions++] = region;
		nr_used++;
	}
	qsort(cells->regions, cells->nr_regions, sizeof(*cells->regions), compare);
	return nr_used;
unwritable:
	profil_cells_clear(cells);
	return -EFAULT;
}

void profil_cells_clear(struct profil_cells *cells)
{
	free(cells->regions);
	cells->regions = NULL;
	cells->nr_regions = 0;
	cells->outside = (struct profil_region){0};
}

/* The region with the highest begin that is not above @address; of equal ones the last; or NULL */
static struct profil_region *region_of(struct profil_cells *cells, uint64_t address)
{
	size_t low = 0, high = cells->nr_regions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (cells->regions[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? &cells->regions[low - 1] : NULL;
}

/* The number of the cell of @address; it may be beyond the last one. */
static uint64_t cell_of(const struct profil_region *region, uint64_t address, unsigned int cell_bytes)
{
	unsigned __int128 scaled = (unsigned __int128)((address - region->begin) / cell_bytes) * region->scale;

	scaled /= SCALE_ONE;
	if (region->scale == SCALE_ONE_CELL)
		return 0;
	return scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
}

/* Adds to one cell; a cell that would overflow gets its maximum. */
static void add(struct profil_cells *cells, struct profil_region *region, uint64_t number, uint64_t ticks)
{
	uintptr_t at = region->cells + number * cells->cell_bytes;
	uint64_t max = UINT64_MAX >> (64 - 8 * cells->cell_bytes), value = 0, added;

	/* the cells are in the byte order of the machine, in which the low bytes come first */
	if (!copy(at, &value, cells->cell_bytes, false))
		goto gone;
	added = max - value < ticks ? max - value : ticks;
	value += added;
	if (added && !copy(at, &value, cells->cell_bytes, true))
		goto gone;
	cells->ticks += added;
	cells->full += ticks - added;
	return;
gone:
	region->nr_cells = 0;
	cells->faulted = true;
	cells->nowhere += ticks;
}

void profil_cells_add(struct profil_cells *cells, uint64_t address, uint64_t ticks)
{
	struct profil_region *region = region_of(cells, address);
	uint64_t number = region ? cell_of(region, address, cells->cell_bytes) : UINT64_MAX;

	if (region && number < region->nr_cells)
		add(cells, region, number, ticks);
	else if (has_cells(&cells->outside))
		add(cells, &cells->outside, 0, ticks);
	else
		cells->nowhere += ticks;
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "add() reads the low bytes of a cell first");
