/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_STORM_H
#define TESTS_STORM_H
/*
 * storm.h - programs that make random system calls of one kind for a time, for storms_verify
 *
 * 	STORM SECONDS SEED [OPERATION...]
 *
 * SEED, any number, chooses the operations and their times. The same seed makes the same choices;
 * the kernel decides what runs first. With names of operations, only these are made. All processes
 * of a storm end after SECONDS, or when SIGTERM comes, and before the program does. It writes files
 * to the current folder only.
 */
#include <stdbool.h>
#include <stdint.h>

/**
 * struct storm_operation - @run is called with a probability in proportion to @weight. A list ends
 * with a NULL name.
 */
struct storm_operation {
	const char *name;
	unsigned int weight;
	void (*run)(void);
};
#define OPERATION(weight, name)             \
	{                                   \
#name, weight, storm_##name \
	}

/**
 * struct storm - the storm of one program
 * @prepare: called before the first process begins; NULL: nothing to prepare
 * @begin: runs in the first process, and does not return
 * @clean: called after the last process has ended; NULL: nothing to clean
 */
struct storm {
	const struct storm_operation *operations;
	void (*prepare)(void);
	void (*begin)(void);
	void (*clean)(void);
};

/**
 * storm_main() - the main() of a storm; with odd seeds the program adopts the orphans of its storm
 * Returns the exit status: 0 after all processes have ended.
 */
int storm_main(const struct storm *storm, int argc, char **argv);

/* ---- choices, each thread's own ---- */

void storm_seed(uint64_t seed);
/**
 * storm_new_seed() - a seed for another thread or process
 */
uint64_t storm_new_seed(void);
uint32_t below(uint32_t end);
bool one_in(uint32_t nr);

/* ---- operations ---- */

/**
 * storm_operate() - make one operation
 */
void storm_operate(void);
/**
 * storm_chosen() - a bit for each operation that the command line allows; a program that this one
 * executes sets the same ones with storm_choose()
 */
uint64_t storm_chosen(void);
void storm_choose(const struct storm_operation *operations, uint64_t chosen);
void nap_us(uint32_t us);

#endif
