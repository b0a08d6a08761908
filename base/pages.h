/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H
/*
 * pages.h - memory with pages that are mapped before their first use, or with large pages.
 *
 * The first access to a page costs 0.5 to 4 us, which may be more than all the work on it. If all
 * of the memory will be used, it is cheaper to map it at once, in large pages if the system has
 * them.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef MADV_POPULATE_WRITE
/*
 * Since Linux 5.14. On an older kernel the call fails without effect, and pages are mapped at their
 * first access.
 */
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

enum {
	PAGES_SMALL = 4096,
	PAGES_LARGE = 2 << 20,
};

/** pages_populate() - map the whole pages within @bytes at @memory. Their content stays */
static inline void pages_populate(void *memory, size_t bytes)
{
	uintptr_t begin = ((uintptr_t)memory + PAGES_SMALL - 1) & ~(uintptr_t)(PAGES_SMALL - 1),
		  end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(PAGES_SMALL - 1);

	if (begin < end)
		madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

/**
 * pages_look_at() - map the pages of @bytes of a mapped file that the caller is about to read
 * One request replaces one fault for each 64 KB.
 */
static inline void pages_look_at(const void *data, size_t bytes)
{
	uintptr_t begin = (uintptr_t)data & ~(uintptr_t)(PAGES_SMALL - 1);

	madvise((void *)begin, (uintptr_t)data + bytes - begin, MADV_POPULATE_READ);
}

/**
 * pages_large() - allocate @bytes, to be released with free(). NULL: out of memory
 * A size of PAGES_LARGE or more uses large pages if the system has them.
 */
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

/**
 * pages_unmapped() - the same, but no more than @bytes need: the last ones are small pages. Each is
 * mapped by its first use, or by pages_populate()
 */
static inline void *pages_unmapped(size_t bytes)
{
	size_t whole = (bytes + PAGES_LARGE - 1) & ~(size_t)(PAGES_LARGE - 1);
	void *memory = bytes < PAGES_LARGE ? malloc(bytes) : aligned_alloc(PAGES_LARGE, whole);

	if (memory && bytes >= PAGES_LARGE)
		madvise(memory, bytes & ~(size_t)(PAGES_LARGE - 1), MADV_HUGEPAGE);
	return memory;
}

/**
 * pages_ready() - allocate at least @bytes with all pages mapped, to be released with free(). NULL:
 * out of memory
 */
static inline void *pages_ready(size_t bytes)
{
	size_t whole = (bytes + PAGES_LARGE - 1) & ~(size_t)(PAGES_LARGE - 1);
	void *memory = pages_large(whole);

	if (memory)
		madvise(memory, whole, MADV_POPULATE_WRITE);
	return memory;
}

#endif
