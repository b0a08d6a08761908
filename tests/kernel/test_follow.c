/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_follow.c - a filter that follows descendants, on the real kernel: which processes it
 * follows, which it must not mistake for followed ones, and which do not fit. */
#include "unit.h"

#include <linux/sched.h>
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <trace/tracer.h>
#include <unistd.h>
#include "spend.h"

#define NR_CALLS 1000
/* fewer bytes than these calls take in the rings, and more than all other events that pass the
 * filters */
#define CALLS_BYTES (16 * NR_CALLS)

static struct tracer *follow(pid_t pid)
{
	struct tracer_options options = {.size = sizeof(options),
					 .filter_pid = pid,
					 .follow = true,
					 .filter_uid = -1,
					 .filter_gid = -1,
					 .exclude_pid = 0x40000000};
	struct trace_error error = {0};
	struct tracer *tracer;

	options.mask[TRACE_EV_sys_enter / 64] |= 1ull << TRACE_EV_sys_enter % 64;
	options.mask[TRACE_EV_sys_exit / 64] |= 1ull << TRACE_EV_sys_exit % 64;
	tracer = tracer_new(&options, &error);
	if (tracer && tracer_start(tracer, &error))
		tracer = tracer_free(tracer);
	return tracer;
}

static uint64_t bytes_recorded(const struct tracer *tracer)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < tracer_nr_rings(tracer); i++) {
		const struct subbuf_ring *ring = &tracer_get_ring(tracer, i)->ring;
		uint64_t position = __atomic_load_n(&ring->control->position, __ATOMIC_RELAXED),
			 offset = position & SUBBUF_OFFSET_MASK;

		bytes += (position >> SUBBUF_OFFSET_BITS) * ring->subbuf_bytes +
			 (offset < ring->subbuf_bytes ? offset : ring->subbuf_bytes);
	}
	return bytes;
}

static void make_calls(void)
{
	for (int i = 0; i < NR_CALLS; i++)
		syscall(SYS_getppid);
}

static pid_t dead_child(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	waitpid(child, NULL, 0);
	return child;
}

/* Creates a child with a given number, which makes its calls after @after_ns. */
static bool calls_as(pid_t number, long long after_ns)
{
	struct clone_args args = {.exit_signal = SIGCHLD, .set_tid = (uint64_t)(uintptr_t)&number, .set_tid_size = 1};
	pid_t child = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	if (child == 0) {
		sleep_ns(after_ns);
		make_calls();
		_exit(0);
	}
	return child == number && waitpid(child, NULL, 0) == child;
}

/* The kernel reports late that a number is free, and the number may be in use again by then. */
static void a_number_that_is_used_again_at_once_is_followed(void)
{
	struct tracer *tracer = follow(getpid());
	uint64_t before;

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	for (int i = 0; i < 5; i++) {
		pid_t number = dead_child();

		before = bytes_recorded(tracer);
		CU_ASSERT(calls_as(number, 60 * MS));
		CU_ASSERT(bytes_recorded(tracer) - before > CALLS_BYTES);
	}
	tracer_free(tracer);
}

static void an_unrelated_process_with_a_followed_number_is_not(void)
{
	int numbers[2], go[2];
	struct tracer *tracer;
	uint64_t before;
	pid_t followed, number;

	CU_ASSERT_FATAL(pipe(numbers) == 0 && pipe(go) == 0);
	followed = fork();
	if (followed == 0) {
		close(go[1]);
		while (read(go[0], &number, 1) == 1) {
			number = dead_child();
			if (write(numbers[1], &number, sizeof(number)) < 0)
				break;
		}
		_exit(0);
	}
	close(go[0]);
	tracer = follow(followed);
	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	for (int i = 0; i < 5; i++) {
		CU_ASSERT_EQUAL(write(go[1], "", 1), 1);
		CU_ASSERT_EQUAL_FATAL(read(numbers[0], &number, sizeof(number)), (ssize_t)sizeof(number));
		before = bytes_recorded(tracer);
		CU_ASSERT(calls_as(number, 0));
		CU_ASSERT(bytes_recorded(tracer) - before < CALLS_BYTES);
	}
	close(go[1]);
	waitpid(followed, NULL, 0);
	tracer_free(tracer);
	close(numbers[0]);
	close(numbers[1]);
}

/**
 * struct family - a process with a child that makes calls for each byte that it reads, and reports
 * when they are made
 */
struct family {
	pid_t parent;
	int ask;
	int done;
};

static struct family family_begin(void)
{
	struct family family;
	int ask[2], done[2];
	char byte;

	CU_ASSERT_FATAL(pipe(ask) == 0 && pipe(done) == 0);
	family.parent = fork();
	if (family.parent == 0) {
		close(ask[1]);
		if (fork() == 0) {
			if (write(done[1], "", 1) == 1)
				while (read(ask[0], &byte, 1) == 1) {
					make_calls();
					if (write(done[1], "", 1) < 0)
						break;
				}
			_exit(0);
		}
		close(ask[0]);
		wait(NULL);
		_exit(0);
	}
	close(ask[0]);
	close(done[1]);
	family.ask = ask[1];
	family.done = done[0];
	CU_ASSERT_EQUAL(read(family.done, &byte, 1), 1); /* the child has started */
	return family;
}

/* The bytes that its calls add to the rings. */
static uint64_t family_calls(const struct family *family, const struct tracer *tracer)
{
	uint64_t before = bytes_recorded(tracer);
	char byte;

	CU_ASSERT_EQUAL(write(family->ask, "", 1), 1);
	CU_ASSERT_EQUAL(read(family->done, &byte, 1), 1);
	return bytes_recorded(tracer) - before;
}

static void family_end(const struct family *family)
{
	close(family->ask);
	waitpid(family->parent, NULL, 0);
	close(family->done);
}

static void existing_descendants_are_followed(void)
{
	struct family family = family_begin(), strangers = family_begin();
	struct tracer *tracer = follow(family.parent);

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	CU_ASSERT(family_calls(&family, tracer) > CALLS_BYTES);
	CU_ASSERT(family_calls(&strangers, tracer) < CALLS_BYTES);
	tracer_free(tracer);
	family_end(&strangers);
	family_end(&family);
}

/* In a pid namespace processes have other numbers than the kernel's own, which the BPF programs
 * see. */
static void follow_inside(void)
{
	struct tracer_options options = {
		.size = sizeof(options), .filter_uid = -1, .filter_gid = -1, .exclude_pid = getpid()};
	struct family family = family_begin();
	struct tracer *tracer = follow(family.parent);
	struct trace_error error = {0};
	uint64_t filtered = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(tracer);
	CU_ASSERT(family_calls(&family, tracer) > CALLS_BYTES);
	CU_ASSERT_EQUAL(tracer_follow(tracer, 4000000, &error), -ESRCH);
	tracer_free(tracer);
	family_end(&family);
	tracer = tracer_new(&options, &error);
	CU_ASSERT_FATAL(tracer && tracer_start(tracer, &error) == 0);
	make_calls();
	for (size_t i = 0; i < tracer_nr_rings(tracer); i++)
		filtered += tracer_get_ring(tracer, i)->ring.control->filtered;
	CU_ASSERT(filtered >= 2 * NR_CALLS); /* our own calls are filtered out */
	tracer_free(tracer);
	options.filter_pgrp = getpgrp() ? getpgrp() : 1;
	CU_ASSERT_PTR_NULL(tracer_new(&options, &error));
	CU_ASSERT_EQUAL(error.code, -ENOTSUP);
}

static void a_filter_in_a_namespace_of_processes_knows_its_numbers(void)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0) { /* the namespace applies to its children */
		if (unshare(CLONE_NEWPID))
			_exit(2);
		child = fork();
		if (child == 0) {
			follow_inside();
			_exit(CU_get_number_of_failures() ? 1 : 0);
		}
		waitpid(child, &status, 0);
		_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 3);
	}
	waitpid(child, &status, 0);
	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

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

static void children_that_do_not_fit_the_table_are_counted(void)
{
	struct tracer_options options = {
		.size = sizeof(options), .filter_pid = getpid(), .follow = true, .filter_uid = -1, .filter_gid = -1};
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
	/* no such processes, so these entries are never freed */
	while (tracer_follow(tracer, 0x40000000 + nr, &error) == 0)
		nr++;
	CU_ASSERT_EQUAL(nr, (int)unfollowed.max_processes - 1);
	before_ns = (uint64_t)now_ns();
	have_children(3);
	tracer_get_unfollowed(tracer, &unfollowed);
	CU_ASSERT_EQUAL(unfollowed.processes, 3);
	CU_ASSERT(unfollowed.first_ns >= before_ns && unfollowed.first_ns <= (uint64_t)now_ns());
	tracer_free(tracer);
}

static const struct unit_case cases[] = {
	{"a_number_that_is_used_again_at_once_is_followed", a_number_that_is_used_again_at_once_is_followed},
	{"an_unrelated_process_with_a_followed_number_is_not", an_unrelated_process_with_a_followed_number_is_not},
	{"existing_descendants_are_followed", existing_descendants_are_followed},
	{"a_filter_in_a_namespace_of_processes_knows_its_numbers",
	 a_filter_in_a_namespace_of_processes_knows_its_numbers},
	{"children_that_do_not_fit_the_table_are_counted", children_that_do_not_fit_the_table_are_counted},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("follow", cases, argc, argv);
}
