/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_TRUTH_FILE_H
#define TESTS_TRUTH_FILE_H
/* truth_file.h - what a recorded program knows itself: lines "key value", for session_truth() */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static FILE *truth; /* the program opens it */

static inline void write_truth(const char *key, long long value)
{
	fprintf(truth, "%s %lld\n", key, value);
	fflush(truth);
}

/** need() - end the program if @ok is false, with the cause in errno */
static inline void need(bool ok, const char *what)
{
	if (!ok) {
		perror(what);
		exit(1);
	}
}
#endif
