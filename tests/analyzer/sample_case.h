/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SAMPLE_CASE_H
#define TESTS_SAMPLE_CASE_H
/* sample_case.h - samples in a built trace. */
#include <string.h>
#include "builder.h"

#define MAX_LIST 8

/** struct lists - return addresses, innermost first; @cut, @source, @certain: as in the event */
struct lists {
	uint64_t kernel[MAX_LIST], user[MAX_LIST];
	size_t nr_kernel, nr_user;
	uint8_t cut;
	uint8_t source;
	uint8_t certain;
};

static inline void add_sample(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, uint64_t ip,
			      const struct lists *lists)
{
	static const struct lists none;
	const struct lists *l = lists ? lists : &none;
	uint32_t at = sizeof(struct trace_sample), kernel = (uint32_t)(8 * l->nr_kernel),
		 user = (uint32_t)(8 * l->nr_user);
	struct {
		struct trace_sample sample;
		uint64_t addresses[2 * MAX_LIST];
	} payload = {.sample = {.tid = tid,
				.in_user = !(ip >> 63),
				.cut = l->cut,
				.source = l->source,
				.certain = l->certain,
				.kernel = at | kernel << 16,
				.user = (at + kernel) | user << 16,
				.ip = ip}};

	memcpy(payload.addresses, l->kernel, kernel);
	memcpy(payload.addresses + l->nr_kernel, l->user, user);
	tb_event(tb, cpu, ts_ns, TRACE_EV_sample, &payload, at + kernel + user, NULL);
}
#endif
