/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_probe_reads.c - a list of probes, if the rest of what it comes from cannot be read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/probes.h>
#include <unistd.h>
#include "failing_stream.h"
#include "unit.h"

/* The mappings of this process: some are listed, and then the read fails. */
static void a_part_of_a_process_is_an_error(void)
{
	struct trace_error error = {0};
	char target[32], *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	snprintf(target, sizeof(target), "usdt:%d", (int)getpid());
	CU_ASSERT(trace_probes_list(target, out, &error) >= 0 || error.code == -ENOENT);
	streams_fail_after(400);
	CU_ASSERT_EQUAL(trace_probes_list(target, out, &error), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "Input/output error"));
	streams_fail_after(0);
	fclose(out);
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_part_of_a_process_is_an_error),
		{NULL, NULL},
	};

	return unit_main("reads of lists of probes", cases, argc, argv);
}
