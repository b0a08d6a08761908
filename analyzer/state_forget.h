/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FORGET_H
#define ANALYZER_STATE_FORGET_H
/* state_forget.h - release unused files and sockets */
#include <stdint.h>

struct trace_analysis;

/* When files and sockets are swept. */
struct sweep {
	uint32_t remaining; /* new files and sockets until the next sweep */
	uint32_t nr;
};

/** forget_unused() - release files and sockets that no process has and no caller used lately */
void forget_unused(struct trace_analysis *a);

/**
 * forget_opened() - drop the files of all descriptors and mappings
 *
 * They may have been closed and opened again without an event.
 */
void forget_opened(struct trace_analysis *a);
#endif
