/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_DETACH_H
#define TRACER_PROBE_DETACH_H
/* probe_detach.h - detach tracepoints of the kernel while the recorder does other things. */
#include <stddef.h>

/**
 * probe_detach_begin() - let another process close these links last
 * @fds: with room for one more; sorted here
 * The caller closes them afterwards, which takes no time any more, and then the result: the other
 * process waits for that.
 * Returns a descriptor, or -1 if there is no such process.
 */
int probe_detach_begin(int *fds, size_t nr);

#endif
