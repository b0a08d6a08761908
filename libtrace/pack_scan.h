/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACK_SCAN_H
#define LIBTRACE_PACK_SCAN_H
/* pack_scan.h - find the times, types and payloads of the records of a chunk. */
#include <stddef.h>
#include <stdint.h>

#include "packer.h"

/**
 * packer_scan() - find times, types and payloads of the records from packer->begin on that fit one
 * chunk
 */
void packer_scan(struct packer *packer);

/**
 * packer_tail_length() - bytes from the end of the fixed part of a program's record to the end of
 * the data its fields refer to
 * Returns -1 when a field refers to anything outside.
 */
int packer_tail_length(const struct user_slot *user, const unsigned char *payload, size_t bytes);

/* ---- lists of payloads, one for each type ---- */

static inline uint32_t *list_new(struct packer *packer)
{
	return packer->lists + (size_t)packer->nr_lists++ * LIST_ENTRIES + 1;
}

/* Start the next piece of the list; the piece that ends at @end is full. */
uint32_t *packer_list_go_on(struct packer *packer, uint32_t type_idx, uint32_t *end);

static inline void list_add(struct packer *packer, uint32_t type_idx, uint32_t payload)
{
	uint32_t *end = packer->list_ends[type_idx];

	*end++ = payload;
	if (__builtin_expect(!((uintptr_t)end % (LIST_ENTRIES * sizeof(*end))), 0))
		end = packer_list_go_on(packer, type_idx, end);
	packer->list_ends[type_idx] = end;
}

/* The number of entries in the last piece of the list. */
static inline size_t list_last(const struct packer *packer, uint32_t type_idx)
{
	return (uintptr_t)packer->list_ends[type_idx] / sizeof(uint32_t) % LIST_ENTRIES - 1;
}

#endif
