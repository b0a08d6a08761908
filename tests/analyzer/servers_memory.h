/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SERVERS_MEMORY_H
#define TESTS_SERVERS_MEMORY_H
/* servers_memory.h - measure the memory that a case of servers takes. */
#include <malloc.h>
#include "servers_case.h"

static inline size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Runs the case. Returns the bytes that the servers' part of the analysis holds at the end. */
static inline long long memory_of(struct case_of_servers *k)
{
	struct trace_error error = {0};
	size_t alone, together;

	k->c.trace = tb_open_trace(k->c.tb);
	alone = in_use();
	k->c.analysis = trace_analysis_new(k->c.trace, NULL, &error);
	CU_ASSERT_EQUAL(trace_analysis_run(k->c.analysis, &error), 0);
	alone = in_use() - alone;
	trace_analysis_free(k->c.analysis);
	together = in_use();
	k->c.analysis = trace_analysis_new(k->c.trace, NULL, &error);
	k->servers = trace_servers_new(k->c.trace, k->c.analysis, &error);
	CU_ASSERT_EQUAL(trace_analysis_run(k->c.analysis, &error), 0);
	together = in_use() - together;
	CU_ASSERT_EQUAL(trace_servers_verify(k->servers, &error), 0);
	return (long long)together - (long long)alone;
}

/* Limits the memory of the builder to one chunk of each CPU. */
static inline void cut_now_and_then(struct case_of_servers *k, uint32_t i)
{
	for (uint32_t cpu = 0; cpu < 4 && i % 5000 == 4999; cpu++)
		tb_cut(k->c.tb, cpu);
}
#endif
