/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* servers_futex.c - the futexes at which a thread waited last */
#include "servers_futex.h"

bool futexes_have(const struct recent_futexes *futexes, uint64_t address)
{
	for (int i = 0; i < NR_RECENT_FUTEXES; i++)
		if (futexes->address[i] && futexes->address[i] + 4 - address <= 8)
			return true;
	return false;
}

void futexes_add(struct recent_futexes *futexes, uint64_t address)
{
	for (int i = 0; i < NR_RECENT_FUTEXES; i++)
		if (futexes->address[i] == address)
			return;
	futexes->address[futexes->at] = address;
	futexes->at = (uint8_t)((futexes->at + 1) % NR_RECENT_FUTEXES);
}
