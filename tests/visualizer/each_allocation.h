/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_EACH_ALLOCATION_H
#define TESTS_EACH_ALLOCATION_H
/*
 * each_allocation.h - a program runs once; at each of its allocations, a child of it goes on
 * without that memory
 *
 * A program that is begun anew for its 10,000th allocation makes 9,999 others first. Here it makes
 * each of them once, and forks before each: the child's allocation fails, its output is judged when
 * it has ended, and then the program goes on. So a search takes a time that is proportional to the
 * number of allocations, and not to its square.
 *
 * A program that has another thread or another process has no copy of it in the child. Such
 * allocations are left to the caller (@nr_left). Allocations of other threads and of other
 * processes are left, too.
 */
#include <stdbool.h>
#include <stddef.h>

#define EACH_ALLOCATION_MOST_LEFT 16384

/** struct run - the output of a program; @status: from waitpid() */
struct run {
	int status;
	size_t bytes, error_bytes;
	char *text, *error_text;
};

/**
 * struct each_allocation - in memory that the program shares with its test
 * @first: the first allocation that fails
 * @once_step: from then on, each @once_step-th allocation fails once; 0: none
 * @forever_step: and each @forever_step-th one with all later ones; 0: none
 * @timeout_s: a child is killed after so many seconds
 * @out_fd: of a child; a memfd, like the program's own stdout
 * @error_fd: its stderr
 * @judge: called for each child; allocates no memory that it keeps
 * @nr_tried: children so far
 * @nr_left: allocations that were chosen, and at which the program could not be copied
 * @left: the first of them
 */
struct each_allocation {
	long first, once_step, forever_step;
	unsigned int timeout_s;
	int out_fd, error_fd;
	void (*judge)(const struct run *run, long at, bool and_after);
	long nr_tried, nr_left;
	long left[EACH_ALLOCATION_MOST_LEFT];
};

/**
 * each_allocation_begin() - fork at the allocations from now on, counted from 1
 * @each: stays until the program ends
 * Call in the program, which has one thread and no child.
 */
void each_allocation_begin(struct each_allocation *each);
/** each_allocation_end() - let the rest of the program run with all memory */
void each_allocation_end(void);
#endif
