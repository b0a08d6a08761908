/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_stacks_plugin.c - a library whose function is chosen when it is called first, to be
 * loaded by workload_stacks.cpp: the choice runs inside _dl_runtime_resolve() of glibc
 */
#define VISIBLE __attribute__((visibility("default")))

unsigned long leaf_bound(unsigned long seed);
VISIBLE unsigned long bound(unsigned long seed);
VISIBLE unsigned long call_bound(unsigned long seed);

typedef unsigned long (*bound_fn)(unsigned long seed);

static unsigned long return_seed(unsigned long seed)
{
	return seed;
}

/* Clang does not see that the attribute of bound() uses it. */
static __attribute__((used)) bound_fn choose_bound(void)
{
	volatile unsigned long seed = 0;

	for (int i = 0; i < 10; i++)
		seed = leaf_bound(seed);
	return return_seed;
}

unsigned long bound(unsigned long seed) __attribute__((ifunc("choose_bound")));

unsigned long call_bound(unsigned long seed)
{
	return bound(seed) + 1;
}
