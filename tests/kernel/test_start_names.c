/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_start_names.c - a process that ends before the start state is read leaves its name. Root
 * only; skipped (77) where the kernel cannot be recorded. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <trace/format.h>
#include <trace/tracer.h>
#include <unistd.h>

#include "unit.h"

#define NAME "gone early"

/* A child that lives until end_child(). */
static pid_t child_new(void)
{
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_NAME, NAME);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
}

static int ignore(void *context, const struct trace_record *record, size_t bytes, uint64_t ts_ns)
{
	(void)context, (void)record, (void)bytes, (void)ts_ns;
	return 0;
}

static bool names_in(const struct subbuf_header *header, uint32_t tid)
{
	const unsigned char *data = (const unsigned char *)header;

	for (uint32_t at = sizeof(*header); at < header->end;) {
		const struct trace_record *record = (const void *)(data + at);
		const struct trace_sched_comm *comm = (const void *)(record + 1);

		if (record->id == TRACE_EV_sched_comm && comm->tid == tid &&
		    strcmp((const char *)(comm + 1), NAME) == 0)
			return true;
		at += 8u * (record->words ? record->words : 1);
	}
	return false;
}

/* Is its name in a record? No other process has the child's number. Takes all records from the
 * rings. */
static bool left_a_name(struct tracer *tracer, pid_t child)
{
	const struct subbuf_header *header;
	bool found = false;

	for (size_t i = 0; i < tracer_nr_rings(tracer); i++) {
		const struct subbuf_ring *ring = &tracer_get_ring(tracer, i)->ring;

		subbuf_flush(ring);
		while ((header = subbuf_take(ring))) {
			found |= names_in(header, (uint32_t)child);
			subbuf_release(ring);
		}
	}
	return found;
}

static struct tracer *start(void)
{
	struct tracer_options options = {.size = sizeof(options), .filter_uid = -1, .filter_gid = -1};
	struct trace_error error;
	struct tracer *tracer = tracer_new(&options, &error);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	CU_ASSERT_EQUAL(tracer_start(tracer, &error), 0);
	return tracer;
}

static void a_process_that_ends_before_the_start_state_leaves_its_name(void)
{
	pid_t early = child_new(), late = child_new();
	struct tracer *tracer;
	struct trace_error error;

	usleep(20000); /* they have their names */
	tracer = start();
	end_child(early);
	CU_ASSERT(left_a_name(tracer, early));
	CU_ASSERT_EQUAL(tracer_start_state(tracer, ignore, NULL, &error), 0);
	end_child(late);
	CU_ASSERT(!left_a_name(tracer, late)); /* its state was read */
	tracer_free(tracer);
}

static const struct unit_case cases[] = {
	CASE(a_process_that_ends_before_the_start_state_leaves_its_name),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_start_names: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("start names", cases, argc, argv);
}
