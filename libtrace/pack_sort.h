/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACK_SORT_H
#define LIBTRACE_PACK_SORT_H
/* pack_sort.h - sort the records of a chunk. */
#include <stdbool.h>

struct packer;

/** packer_sort() - sort the records of a chunk. Returns false when there is no memory */
bool packer_sort(struct packer *packer);

#endif
