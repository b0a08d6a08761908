/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* peak_memory.c - malloc() and its relatives, which count: peak_memory.h. */
#include <malloc.h>
#include <stdbool.h>
#include <stdlib.h>

#include "peak_memory.h"

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t nr, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

static long now, peak; /* atomically */

void peak_memory_begin(void)
{
	__atomic_store_n(&now, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&peak, 0, __ATOMIC_RELAXED);
}

size_t peak_memory(void)
{
	return (size_t)__atomic_load_n(&peak, __ATOMIC_RELAXED);
}

size_t peak_memory_kept(void)
{
	long kept = __atomic_load_n(&now, __ATOMIC_RELAXED);

	return kept > 0 ? (size_t)kept : 0;
}

static void *count(void *memory)
{
	long more = (long)malloc_usable_size(memory), sum = __atomic_add_fetch(&now, more, __ATOMIC_RELAXED),
	     before = __atomic_load_n(&peak, __ATOMIC_RELAXED);

	while (sum > before &&
	       !__atomic_compare_exchange_n(&peak, &before, sum, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
	return memory;
}

static void forget(void *memory)
{
	__atomic_sub_fetch(&now, (long)malloc_usable_size(memory), __ATOMIC_RELAXED);
}

#pragma GCC visibility push(default)
void *malloc(size_t bytes)
{
	return count(__libc_malloc(bytes));
}

void *calloc(size_t nr, size_t bytes)
{
	return count(__libc_calloc(nr, bytes));
}

void *realloc(void *old, size_t bytes)
{
	size_t before = malloc_usable_size(old);
	void *memory = __libc_realloc(old, bytes);

	if (memory || !bytes)
		__atomic_sub_fetch(&now, (long)before, __ATOMIC_RELAXED);
	return count(memory);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return count(__libc_memalign(alignment, bytes));
}

void free(void *memory)
{
	forget(memory);
	__libc_free(memory);
}
#pragma GCC visibility pop
