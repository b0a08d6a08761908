/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H
/*
 * pages.h - memory whose pages are there before it is used, or are large ones.
 *
 * A page that is touched for the first time costs 0.5 to 4 us, which may be more than all that is done with it. What is going to be used anyhow is cheaper
 * to have at once, and in large pages if the system gives them.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
/* since Linux 5.14; before, nothing happens, and pages come when they are touched */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

enum {
	PAGES_SMALL = 4096,
	PAGES_LARGE = 2 << 20,
};

/** pages_populate() - the whole pages within @bytes at @memory are there. Their content stays */
static inline void pages_populate(void *memory, size_t bytes)
{
	uintptr_t begin = ((uintptr_t)memory + PAGES_SMALL - 1) & ~(uintptr_t)(PAGES_SMALL - 1), end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGES_SMALL - 1);

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

/** pages_look_at() - @bytes of a mapped file, of which all is about to be read, are there: one request instead of a fault for each 64 KB */
static inline void pages_look_at(const void *data, size_t bytes)
{
	uintptr_t begin = (uintptr_t)data & ~(uintptr_t)(PAGES_SMALL - 1);

	madvise((void *)begin, (uintptr_t)data + bytes - begin, MADV_POPULATE_READ);
}

/** pages_large() - @bytes of memory for free(): of so many that they fill a large page in such pages, if the system gives them. NULL: there is none */
static inline void *pages_large(size_t bytes)
{
	size_t whole = (bytes + PAGES_LARGE - 1) & ~(size_t)(PAGES_LARGE - 1);
	void *memory;

	if (bytes < PAGES_LARGE)
		return malloc(bytes);
	memory = aligned_alloc(PAGES_LARGE, whole);
	if (memory)
		madvise(memory, whole, MADV_HUGEPAGE);
	return memory;
}

/** pages_ready() - at least @bytes of memory, ready, for free(). NULL: there is none */
static inline void *pages_ready(size_t bytes)
{
	size_t whole = (bytes + PAGES_LARGE - 1) & ~(size_t)(PAGES_LARGE - 1);
	void *memory = pages_large(whole);

	if (memory)
		madvise(memory, whole, MADV_POPULATE_WRITE);
	return memory;
}

#endif
