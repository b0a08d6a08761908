/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * no_memory.c - preloaded into a program: its NO_MEMORY_AT-th allocation fails, and with
 * NO_MEMORY_AFTER all later ones fail too.
 *
 * The file NO_MEMORY_MARK is created when an allocation fails. Tests may link it instead:
 * no_memory.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "no_memory.h"

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t nr, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);

static long nr_allocations; /* atomically */
static long fails_at;	    /* 0: never */
static bool fails_after;
static bool (*before_each)(long nr);

static void __attribute__((constructor)) begin(void)
{
	const char *at = getenv("NO_MEMORY_AT");

	fails_at = at ? atol(at) : 0;
	fails_after = getenv("NO_MEMORY_AFTER");
	nr_allocations = 0; /* allocations of the loader and of getenv() do not count */
}

void no_memory_at(long nr, bool and_after)
{
	fails_at = nr;
	fails_after = and_after;
	__atomic_store_n(&nr_allocations, 0, __ATOMIC_RELAXED);
}

void no_memory_before_each(bool (*before)(long nr))
{
	before_each = before;
}

bool no_memory_struck(void)
{
	return fails_at && __atomic_load_n(&nr_allocations, __ATOMIC_RELAXED) >= fails_at;
}

long no_memory_nr(void)
{
	return __atomic_load_n(&nr_allocations, __ATOMIC_RELAXED);
}

/* In one thread: allocations of the function itself are neither counted nor told to it. */
static __thread bool is_deciding __attribute__((tls_model("initial-exec")));

static bool fails_before(long nr)
{
	bool result;

	is_deciding = true;
	result = before_each(nr);
	is_deciding = false;
	if (result)
		before_each = NULL;
	return result;
}

static bool fails(void)
{
	long nr = is_deciding ? 0 : __atomic_add_fetch(&nr_allocations, 1, __ATOMIC_RELAXED);
	int told;

	if (is_deciding)
		return false;
	if (before_each && fails_before(nr)) {
		errno = ENOMEM;
		return true;
	}
	if (!fails_at || (nr != fails_at && (!fails_after || nr < fails_at)))
		return false;
	told = nr == fails_at && getenv("NO_MEMORY_MARK")
		       ? open(getenv("NO_MEMORY_MARK"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)
		       : -1;
	if (told >= 0)
		close(told);
	errno = ENOMEM;
	return true;
}

#pragma GCC visibility push(default)
void *malloc(size_t bytes)
{
	return fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t nr, size_t bytes)
{
	return fails() ? NULL : __libc_calloc(nr, bytes);
}

void *realloc(void *old, size_t bytes)
{
	return fails() ? NULL : __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	return fails() ? NULL : __libc_memalign(alignment, bytes);
}

/* Mappings of files fail, too: they take address space, and the usual limit is that of address
 * space (ulimit -v). */
void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	return fails() ? MAP_FAILED : (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
	__attribute__((alias("mmap")));
#pragma GCC visibility pop
