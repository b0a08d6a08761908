/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_USER_RESULTS_H
#define ANALYZER_USER_RESULTS_H
/* user_results.h - the rows that are made of the sums of programs. */
struct user_results;

/** user_results_free() - free the rows that were made of the sums */
struct user_results *user_results_free(struct user_results *results);

#endif
