/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENTS_STATUS_H
#define DAEMON_CLIENTS_STATUS_H
/* clients_status.h - what is known about the traced programs as a whole */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct clients_gone - what a flight recorder dropped of dead programs
 * @programs: the number of dropped programs; the last of them died at @ns
 * @overwritten, @lost: their events; @claimed: the part of @lost that only programs counted
 */
struct clients_gone {
	uint64_t programs;
	uint64_t overwritten;
	uint64_t lost;
	uint64_t claimed;
	uint64_t ns;
};

/**
 * struct clients_status - @programs: recorded now. @ever: recorded so far. @refused: programs that
 * were not taken. @cannot_join: programs cannot join now
 */
struct clients_status {
	size_t programs;
	size_t ever;
	size_t refused;
	bool cannot_join;
};
#endif
