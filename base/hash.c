/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* hash.c - hashes of numbers and texts that a program cannot foresee. */
#ifndef XXH_INLINE_ALL
#define XXH_INLINE_ALL
#endif
#include "hash.h"

#include <string.h>
#include <xxhash.h>
#ifndef __wasm__
#include <sys/auxv.h>
#endif

uint64_t hash_factor = HASH_GOLDEN;
static uint64_t text_seed;

#ifndef __wasm__ /* has no source of random numbers; a flood of keys is one page's time */
/* The finalizer of SplitMix64: the kernel's random numbers are also the canary of the stack. */
static uint64_t mixed(uint64_t number)
{
	number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ULL;
	number = (number ^ number >> 27) * 0x94d049bb133111ebULL;
	return number ^ number >> 31;
}

static __attribute__((constructor)) void hashes_begin(void)
{
	uint64_t random[2];

	memcpy(random, (const void *)getauxval(AT_RANDOM), sizeof(random)); // NOLINT
	text_seed = mixed(random[0] ^ mixed(random[1]));
	hash_factor = mixed(random[1] ^ mixed(random[0])) | 1;
}
#endif

uint64_t text_hash(const char *text)
{
	return XXH3_64bits_withSeed(text, strlen(text), text_seed);
}
