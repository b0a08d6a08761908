/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_SLOWEST_PARTS_H
#define VISUALIZER_SLOWEST_PARTS_H
/* slowest_parts.h - where the time of the longest instances of --slowest went. */
#include <trace/error.h>
#include "slowest_find.h"

/**
 * struct instance_parts - the parts of the time from begin to end of an instance
 * They add up to it: @cpu_ns + @interrupted_ns + @wait_cpu_ns + @blocked_ns + @queued_ns +
 * @unseen_ns.
 * @waits: owned, and add up to @blocked_ns; the longest first. Their texts belong to the analysis
 *   of struct slowest_parts.
 * @queued_ns: no thread worked on the request. @unseen_ns: the thread's state is not known
 */
struct instance_parts {
	const struct instance *instance;
	uint64_t cpu_ns, interrupted_ns, wait_cpu_ns, blocked_ns, queued_ns, unseen_ns;
	struct trace_wait *waits;
	size_t nr_waits, room_waits;
};

/** struct slowest_parts - @at: owned; the parts of the first @nr instances */
struct slowest_parts {
	struct instance_parts *at;
	size_t nr;
	struct trace_analysis *analysis; /* owned; of its own pass */
};

/**
 * slowest_parts_find() - a second pass, for the first @nr instances that last at least some time
 * Returns 0, or -ENOMEM.
 */
int slowest_parts_find(const struct slowest *slowest, size_t nr, struct slowest_parts *ret_parts,
		       struct trace_error *ret_error) TRACE_NODISCARD;
void slowest_parts_free(struct slowest_parts *parts);
#endif
