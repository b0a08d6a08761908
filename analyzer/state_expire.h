/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_EXPIRE_H
#define ANALYZER_STATE_EXPIRE_H
/* state_expire.h - release unused files and sockets */
#include <stdint.h>

struct trace_analysis;

/* When files and sockets are swept. */
struct sweep {
	uint32_t remaining; /* new files and sockets until the next sweep */
	uint32_t nr;
};

/** expire_unused() - release files and sockets that no process has and no caller used lately */
void expire_unused(struct trace_analysis *a);
#endif
