/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_LIST_H
#define TRACER_PROBE_LIST_H
/* probe_list.h - lists what can be probed. */

/**
 * probe_kernel_missing() - the reason why kernel functions cannot be probed here (static string);
 * NULL: none known
 */
const char *probe_kernel_missing(void);

#endif
