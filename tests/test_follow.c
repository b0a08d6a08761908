/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_follow.c - a filter that follows descendants, on the real kernel: what becomes of those that there is no place for. */
#include "unit.h"

#include <sys/wait.h>
#include <time.h>
#include <trace/tracer.h>
#include <unistd.h>
#include "spend.h"

static void have_children(int nr)
{
	for (int i = 0; i < nr; i++) {
		pid_t child = fork();

		if (child == 0)
			_exit(0);
		CU_ASSERT_FATAL(child > 0);
		waitpid(child, NULL, 0);
	}
}

static void children_that_there_is_no_place_for_are_counted(void)
{
	struct tracer_options options = {.size = sizeof(options), .filter_pid = getpid(), .follow = true, .filter_uid = -1, .filter_gid = -1};
	struct tracer_unfollowed unfollowed;
	struct trace_error error = {0};
	struct tracer *tracer = tracer_new(&options, &error);
	uint64_t before_ns;
	int nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	CU_ASSERT_EQUAL_FATAL(tracer_start(tracer, &error), 0);
	have_children(2);
	tracer_get_unfollowed(tracer, &unfollowed);
	CU_ASSERT_EQUAL(unfollowed.processes, 0);
	while (tracer_follow(tracer, 0x40000000 + nr, &error) == 0) /* no such processes: nobody frees them */
		nr++;
	CU_ASSERT_EQUAL(nr, (int)unfollowed.most - 1);
	before_ns = (uint64_t)now_ns();
	have_children(3);
	tracer_get_unfollowed(tracer, &unfollowed);
	CU_ASSERT_EQUAL(unfollowed.processes, 3);
	CU_ASSERT(unfollowed.first_ns >= before_ns && unfollowed.first_ns <= (uint64_t)now_ns());
	tracer_free(tracer);
}

static const struct unit_case cases[] = {
	{"children_that_there_is_no_place_for_are_counted", children_that_there_is_no_place_for_are_counted},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("follow", cases, argc, argv);
}
