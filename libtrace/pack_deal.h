/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PACK_DEAL_H
#define LIBTRACE_PACK_DEAL_H
/* pack_deal.h - copy the payloads of a chunk to the lanes of their types. */
#include <stdbool.h>

struct packer;

/**
 * packer_deal() - copy the payloads to the lanes of their types. Returns false when there is no
 * memory
 */
bool packer_deal(struct packer *packer);

#endif
