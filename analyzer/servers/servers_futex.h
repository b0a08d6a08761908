/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_FUTEX_H
#define ANALYZER_SERVERS_SERVERS_FUTEX_H
/* servers_futex.h - the futexes at which a thread waited last */
#include <stdbool.h>
#include <stdint.h>

#define NR_RECENT_FUTEXES 4

/* the addresses of the latest NR_RECENT_FUTEXES futexes */
struct recent_futexes {
	uint64_t address[NR_RECENT_FUTEXES];
	uint8_t at; /* index of the next entry to overwrite */
};

/**
 * futexes_have() - true if @address, or one beside it, is among @futexes
 *
 * A glibc condition has two adjacent words, and waits at one or the other.
 */
bool futexes_have(const struct recent_futexes *futexes, uint64_t address);
void futexes_add(struct recent_futexes *futexes, uint64_t address);
#endif
