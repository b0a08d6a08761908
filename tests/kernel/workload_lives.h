/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_WORKLOAD_LIVES_H
#define TESTS_WORKLOAD_LIVES_H
/* workload_lives.h - what the parts of workload_lives share */
#include <stdbool.h>
#include <sys/types.h>

/** struct storm - what all processes of it have mapped; made before the first of them */
struct storm {
	char folder[64];
	char program[80]; /* a copy of the program in @folder, with the set-uid bit of another user */
	char group[96];	  /* a control group of version 2; empty: none */
	char memory[96];  /* one with little memory, of version 1; empty: none */
};

extern struct storm storm;

/** chance() - a random number below @n, of the calling thread; chance_from() - begin with @seed */
unsigned int chance(unsigned int n);
void chance_from(unsigned long long seed);

void nap_us(unsigned int us);

/** fork_life() - as fork(), with a record for the child */
pid_t fork_life(void);

/** thread_life() - a thread with a record; it is not joined */
bool thread_life(void *(*run)(void *), void *data, int flags);

/** do_something() - some calls, of a few ms at most */
void do_something(void);

#endif
