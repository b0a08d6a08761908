/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_USER_COUNTS_H
#define TESTS_USER_COUNTS_H
/* user_counts.h - shared by user_program and test_user_program: a page of counts that outlives the
 * program. */

#define USER_COUNTS_BYTES 4096
#define USER_SOAK_THREADS 3

/**
 * struct user_count - counts of one thread's events, in a cache line of their own: events begun,
 * and events done
 */
struct user_count {
	unsigned long long begun;
	unsigned long long done;
	unsigned long long pad[6];
};
#endif
