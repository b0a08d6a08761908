/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_DESCRIPTOR_SWAPS_H
#define TESTS_DESCRIPTOR_SWAPS_H
/*
 * descriptor_swaps.h - shared by workload_swaps.c and test_e2e_swaps.c: the truth file is a struct
 * swaps.
 */
#include <stdint.h>

enum {
	SWAP_FIRST_FD = 20, /* the descriptors that change all the time */
	SWAP_FDS = 6,
	SWAP_FILES = 6, /* regular files, both ends of a pipe, and a socket */
	SWAP_REGULAR = 3,
	SWAP_PROCESSES = 2,  /* the second one has two threads */
	SWAP_MARKS = 100000, /* of each process */
	SWAP_WHENCE = 78,    /* lseek(-1, index of the mark, SWAP_WHENCE) is a mark */
};

struct swaps {
	struct {
		uint32_t pid;
		uint32_t nr_marks;
		uint64_t written[SWAP_REGULAR];	    /* bytes */
		uint64_t ino[SWAP_MARKS][SWAP_FDS]; /* 0: closed */
	} of[SWAP_PROCESSES];
	uint64_t ino[SWAP_FILES];
};
#endif
