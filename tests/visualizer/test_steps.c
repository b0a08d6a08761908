/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_steps.c - the cost of large traces, in steps instead of time.
 *
 * Terms. A step is one branch of the reader, the analysis or tracevisualizer. This program contains
 * all three, compiled so that each branch calls a counting function here.
 *
 * Rule. Each story is analyzed with n threads, files or chunks, with 2n and with 4n. If each object
 * costs the same, the steps added by the second doubling are twice those added by the first. If
 * each object is searched for among all others, they are four times as many.
 *
 * Example: with 100 steps per object and n = 1000, the three runs take 100,000, 200,000 and 400,000
 * steps. The doublings add 100,000 and 200,000, which is a factor of 2.
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <stdio.h>
#include <sys/stat.h>

#include "steps.h"

/* ---- stories ---- */

/* Each chunk is a stream of its own, begins before the first of them has ended, and brings a new
 * thread. */
static void tell_of_overlap(struct story *story, uint32_t nr)
{
	unsigned char records[128];

	thread(story, ONE, ONE, -1);
	for (uint32_t i = 0; i < nr; i++) {
		struct trace_source stream = {
			.records = records, .seq = 1, .stream = 1000 + i, .kind = TRACE_CHUNK_EVENTS};

		for (uint32_t k = 0; k < 2; k++)
			add(story, &stream, 2000 + 10 * (i + (uint64_t)k * nr), TRACE_EV_sched_switch,
			    &(struct trace_sched_switch){
				    .prev_tid = MANY + i + k * nr, .next_tid = MANY + 1 + i + k * nr, .next_prio = 120},
			    sizeof(struct trace_sched_switch), NULL);
		flush(story, &stream);
	}
	story->ns = 2000 + 20ull * nr;
}

static void chunks_may_overlap(void)
{
	each_costs_the_same_shown(tell_of_overlap, 4000);
}

static void fork_thread(struct story *story, uint32_t tid, uint32_t tgid)
{
	EVENT(story, 0, sched_fork, "thread", .parent_tid = ONE, .tid = tid, .tgid = tgid,
	      .clone_flags = tid == tgid ? 0 : CLONE_THREAD | CLONE_VM | CLONE_FILES);
}

/* Only the last of its threads is alive, and as many processes wait for its lock. */
static void tell_of_a_lock(struct story *story, uint32_t nr)
{
	thread(story, ONE, ONE, -1);
	run(story, 0, 0, ONE);
	EVENT(story, 0, sched_exit, NULL, .tid = ONE, .tgid = ONE);
	for (uint32_t i = 0; i < nr; i++) {
		fork_thread(story, MANY + i, ONE);
		if (i + 1 < nr)
			EVENT(story, 0, sched_free, NULL, .tid = MANY + i);
	}
	EVENT(story, 0, sched_switch, NULL, .prev_tid = ONE, .prev_state = TRACE_TASK_DEAD, .next_prio = 120);
	for (uint32_t i = 0; i < nr; i++) {
		thread(story, MANY + nr + i, MANY + nr + i, SYS_flock);
		add(story, &story->streams[START], 1000, TRACE_EV_end_wait,
		    &(struct trace_end_wait){.tid = MANY + nr + i, .nr = SYS_flock, .pid = ONE, .fd = -1},
		    sizeof(struct trace_end_wait), NULL);
	}
}

static void a_lock_s_holder_has_many_dead_threads(void)
{
	each_costs_the_same_shown(tell_of_a_lock, 1000); /* more than 10,000 processes: test_view_rows */
}

/* The command has many threads, and started as many processes. */
static void tell_of_a_family(struct story *story, uint32_t nr)
{
	trace_writer_string(story->writer, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "make");
	thread(story, ONE, ONE, -1);
	run(story, 0, 0, ONE);
	EVENT(story, 0, sched_exec, "/usr/bin/make", .tid = ONE, .old_tid = ONE);
	for (uint32_t i = 0; i < nr; i++) {
		fork_thread(story, MANY + i, ONE);
		fork_thread(story, MANY + nr + i, MANY + nr + i);
	}
}

static void a_command_has_threads_and_children(void)
{
	each_costs_the_same_shown(tell_of_a_family, 1000); /* more than 10,000 threads: test_view_rows */
}

/* Both have this many pipes open, none of which connects them. */
static void tell_of_pipes(struct story *story, uint32_t nr)
{
	thread(story, ONE, ONE, -1);
	thread(story, OTHER, OTHER, -1);
	for (uint32_t i = 0; i < nr; i++) {
		BEFORE(story, start_fd, "pipe:[1]", .tgid = ONE, .fd = (int)i, .dev = 9, .ino = MANY + i,
		       .mode = S_IFIFO | 0600);
		BEFORE(story, start_fd, "pipe:[2]", .tgid = OTHER, .fd = (int)i, .dev = 9, .ino = MANY + nr + i,
		       .mode = S_IFIFO | 0600);
	}
	run(story, 0, 0, ONE);
	enter(story, 0, SYS_poll, 1);
	run(story, 0, ONE, OTHER);
	enter(story, 0, SYS_exit_group, 0);
	EVENT(story, 0, sched_exit, NULL, .tid = OTHER, .tgid = OTHER, .group_dead = 1);
	EVENT(story, 0, sched_waking, NULL, .tid = ONE);
	run(story, 0, OTHER, ONE);
	leave(story, 0, 1);
}

static void a_polling_and_an_exiting_process_have_many_files(void)
{
	each_costs_the_same_shown(tell_of_pipes, 2000);
}

/* All were running at the start, on as many CPUs, without any further event. */
static void tell_of_cpus(struct story *story, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++)
		BEFORE(story, start_thread, "busy", .tid = MANY + i, .tgid = MANY + i, .ppid = 1, .nr = -1,
		       .cpu = nr - 1 - i, .running = 1);
	story->streams[0].cpu = nr - 1;
	EVENT(story, 0, trace_heartbeat, NULL, .realtime_ns = 0);
}

static void threads_on_many_cpus_are_known_from_the_start(void)
{
	each_costs_the_same_shown(tell_of_cpus, 2000);
}

/* Each thread has the writing end of the next one's pipe, shares memory with another, and is the
 * child of the one before. All wait in @call, until the end. */
static void tell_of_waits(struct story *story, uint32_t nr, uint32_t call, uint64_t first)
{
	for (uint32_t i = 0; i < nr; i++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/shm/%u", i / 2);
		BEFORE(story, start_thread, "many", .tid = MANY + i, .tgid = MANY + i, .ppid = MANY + i - 1, .nr = -1,
		       .state = TRACE_TASK_INTERRUPTIBLE);
		BEFORE(story, start_fd, "pipe:[1]", .tgid = MANY + i, .fd = 3, .dev = 9, .ino = i,
		       .mode = S_IFIFO | 0600, .flags = O_RDONLY);
		BEFORE(story, start_fd, "pipe:[1]", .tgid = MANY + i, .fd = 4, .dev = 9, .ino = (i + 1) % nr,
		       .mode = S_IFIFO | 0600, .flags = O_WRONLY);
		/* a large table of descriptors */
		BEFORE(story, start_fd, "pipe:[2]", .tgid = MANY + i, .fd = 500, .dev = 9, .ino = nr,
		       .mode = S_IFIFO | 0600, .flags = O_RDONLY);
		BEFORE(story, start_map, path, .tgid = MANY + i, .dev = 1, .ino = i / 2, .start = 0x1000,
		       .end = 0x2000);
	}
	for (uint32_t i = 0; i < nr; i++) {
		run(story, 0, i ? MANY + i - 1 : 0, MANY + i);
		enter(story, 0, call, first);
	}
	run(story, 0, MANY + nr - 1, 0);
}

static void tell_of_reads(struct story *story, uint32_t nr)
{
	tell_of_waits(story, nr, SYS_read, 3);
}

static void tell_of_futexes(struct story *story, uint32_t nr)
{
	tell_of_waits(story, nr, SYS_futex, 0x1010);
}

static void tell_of_children(struct story *story, uint32_t nr)
{
	tell_of_waits(story, nr, SYS_wait4, (uint32_t)-1);
}

static void wait_targets_of_many_until_the_end_are_looked_up(void)
{
	each_costs_the_same_shown(tell_of_reads, 1000);
	each_costs_the_same_shown(tell_of_futexes, 1000);
	each_costs_the_same_shown(tell_of_children, 1000);
}

/* Adds as many threads that have read and are dead, and pipes, and then as many gaps, in which CPU
 * 1 was idle. */
static void tell_of_gaps(struct story *story, uint32_t nr)
{
	thread(story, ONE, ONE, SYS_poll);
	for (uint32_t i = 0; i < nr; i++) {
		thread(story, MANY + i, MANY + i, -1);
		BEFORE(story, start_fd, "pipe:[1]", .tgid = ONE, .fd = (int)i, .dev = 9, .ino = MANY + i,
		       .mode = S_IFIFO | 0600);
	}
	for (uint32_t i = 0; i < nr; i++) {
		run(story, 0, 0, MANY + i);
		enter(story, 0, SYS_read, 3);
		EVENT(story, 0, sched_exit, NULL, .tid = MANY + i, .tgid = MANY + i, .group_dead = 1);
		EVENT(story, 0, sched_switch, NULL, .prev_tid = MANY + i, .prev_state = TRACE_TASK_DEAD,
		      .next_prio = 120);
	}
	for (uint32_t i = 0; i < nr; i++) {
		for (int k = 0; k < 3; k++) /* the end of a gap, nothing, the begin of the next one */
			run(story, 1, 0, 0);
		flush(story, &story->streams[1]);
		story->streams[1].lost_total++;
	}
	run(story, 1, 0, 0);
}

static void a_gap_costs_only_what_it_invalidates(void)
{
	each_costs_the_same_shown(tell_of_gaps, 2000);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(chunks_may_overlap),
		CASE(a_lock_s_holder_has_many_dead_threads),
		CASE(a_command_has_threads_and_children),
		CASE(a_polling_and_an_exiting_process_have_many_files),
		CASE(threads_on_many_cpus_are_known_from_the_start),
		CASE(a_gap_costs_only_what_it_invalidates),
		CASE(wait_targets_of_many_until_the_end_are_looked_up),
		{NULL, NULL},
	};

	return unit_main("steps", cases, argc, argv);
}
