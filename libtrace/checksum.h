/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CHECKSUM_H
#define LIBTRACE_CHECKSUM_H
/*
 * checksum.h - XXH3-64 for large data. It uses the widest vectors of the processor if libxxhash was
 * built with run-time dispatch.
 */
#include <stddef.h>
#include <stdint.h>
#include <xxhash.h>

#ifdef __x86_64__
XXH64_hash_t XXH3_64bits_dispatch(const void *data, size_t bytes) __attribute__((weak));
#endif

static inline uint64_t checksum_of(const void *data, size_t bytes)
{
#ifdef __x86_64__
	if (XXH3_64bits_dispatch)
		return XXH3_64bits_dispatch(data, bytes);
#endif
	return XXH3_64bits(data, bytes);
}

#endif
