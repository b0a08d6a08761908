/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_daemon_reads.c - what tracectl and kgmon read, if the rest of it cannot be read. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "failing_stream.h"
#include "gcov_objects.h"
#include "gmon_counts.h"
#include "no_memory.h"
#include "unit.h"

static const char lines[] = "period 1000000\nmixed 0\nevents 0\nnot_counted 0\n";

static void a_part_of_the_counts_is_an_error(void)
{
	struct gmon_counts counts = {0};
	struct trace_error error = {0};
	int fd = memfd_create("counts", MFD_CLOEXEC);

	CU_ASSERT_EQUAL(write(fd, lines, strlen(lines)), (ssize_t)strlen(lines));
	CU_ASSERT_EQUAL(gmon_counts_read(&counts, fd, NULL), 0);
	gmon_counts_free(&counts);
	streams_fail_after(30);
	CU_ASSERT_EQUAL(gmon_counts_read(&counts, fd, &error), -EIO);
	CU_ASSERT_STRING_EQUAL(error.message, "the counts cannot be read: Input/output error");
	gmon_counts_free(&counts);
	streams_fail_after(0);
	close(fd);
}

static void a_part_of_the_mappings_is_an_error(void)
{
	struct gcov_object *objects;
	struct trace_error error = {0};
	struct gcov_missing missing;
	size_t nr;

	CU_ASSERT_EQUAL(gcov_objects_find(getpid(), &objects, &nr, &missing, NULL), 0);
	gcov_objects_free(objects, nr);
	streams_fail_after(200);
	CU_ASSERT_EQUAL(gcov_objects_find(getpid(), &objects, &nr, &missing, &error), -EIO);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "Input/output error"));
	streams_fail_after(0);
}

/* getline() has no memory for the first mapping: the process has no other ones, either. */
static void a_list_of_mappings_without_memory_is_no_end(void)
{
	struct gcov_object *objects;
	struct trace_error error = {0};
	struct gcov_missing missing;
	size_t nr;

	for (long at = 1; at < 4; at++) {
		int result;

		no_memory_at(at, true);
		result = gcov_objects_find(getpid(), &objects, &nr, &missing, &error);
		no_memory_at(0, false);
		CU_ASSERT_EQUAL(result, -ENOMEM);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_part_of_the_counts_is_an_error),
		CASE(a_part_of_the_mappings_is_an_error),
		CASE(a_list_of_mappings_without_memory_is_no_end),
		{NULL, NULL},
	};

	return unit_main("reads of tracectl and kgmon", cases, argc, argv);
}
