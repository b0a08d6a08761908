/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * malloc.c - libtracer-malloc.so: records a program's allocations by interposing malloc
 * and its like (LD_PRELOAD)
 *
 * The next allocator does the work: the C library's, or another one that the program has. To find
 * it we call dlsym(), which may itself allocate; that memory comes from an arena of ours and is
 * never freed.
 *
 * An allocation is recorded after it is done, a release before it is done. So a pointer's events
 * are in order, although another thread may get the same memory at once. This does not hold for
 * realloc(), which does both, with a result that is not known before: docs/PROBES.md says so.
 * Recording needs no memory and does not call these functions.
 */
#include <errno.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <trace/tracepoint.h>
#include "next.h"

/* ---- before the next allocator is known ---- */

#define ARENA_BYTES 65536
#define ARENA_ALIGN 16

static unsigned char arena[ARENA_BYTES] __attribute__((aligned(ARENA_ALIGN)));
static size_t arena_used;

/* This thread is inside dlsym(). Initial-exec: other models may allocate at the first access. */
static __thread bool in_dlsym __attribute__((tls_model("initial-exec")));

static bool in_arena(const void *pointer)
{
	return (const unsigned char *)pointer >= arena && (const unsigned char *)pointer < arena + ARENA_BYTES;
}

/* The size is stored before the memory, for realloc(). The arena is used
 * only once, so it is zeroed. */
static void *arena_take(size_t bytes)
{
	size_t whole = (bytes + 2 * ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1), at;

	if (bytes > ARENA_BYTES)
		return NULL;
	at = __atomic_fetch_add(&arena_used, whole, __ATOMIC_RELAXED);
	if (at > ARENA_BYTES || ARENA_BYTES - at < whole)
		return NULL;
	memcpy(arena + at, &bytes, sizeof(bytes));
	return arena + at + ARENA_ALIGN;
}

static size_t arena_bytes(const void *pointer)
{
	size_t bytes;

	memcpy(&bytes, (const unsigned char *)pointer - ARENA_ALIGN, sizeof(bytes));
	return bytes;
}

/* ---- the next allocator ---- */

#define FUNCTIONS(F) \
	F(malloc) F(free) F(calloc) F(realloc) F(posix_memalign) F(aligned_alloc) F(memalign) F(valloc) F(pvalloc)

#define MEMBER(name) __typeof__(&name) name;
static struct {
	FUNCTIONS(MEMBER)
} next;
static bool known;

static void find_next(void)
{
	in_dlsym = true;
#define FIND(name) next.name = (__typeof__(&name))dlsym(RTLD_NEXT, #name);
	FUNCTIONS(FIND)
	in_dlsym = false;
	__atomic_store_n(&known, true, __ATOMIC_RELEASE);
}

/* false: we are in the middle of finding it */
static inline bool ready(void)
{
	if (__builtin_expect(__atomic_load_n(&known, __ATOMIC_ACQUIRE), 1))
		return true;
	if (in_dlsym)
		return false;
	find_next();
	return true;
}

#define CALLER __builtin_return_address(0)

/* ---- allocations ---- */

PRELOAD_EXPORT void *malloc(size_t size)
{
	void *pointer, *caller = CALLER;

	if (!ready())
		return arena_take(size);
	pointer = next.malloc(size);
	tracepoint(malloc, malloc, size, pointer, caller);
	return pointer;
}

PRELOAD_EXPORT void *calloc(size_t count, size_t size)
{
	void *pointer, *caller = CALLER;
	size_t bytes;

	if (!ready())
		return __builtin_mul_overflow(count, size, &bytes) ? NULL : arena_take(bytes);
	pointer = next.calloc(count, size);
	tracepoint(malloc, calloc, count, size, pointer, caller);
	return pointer;
}

PRELOAD_EXPORT void free(void *pointer)
{
	void *caller = CALLER;

	if (in_arena(pointer) || !ready())
		return;
	if (pointer)
		tracepoint(malloc, free, pointer, caller);
	next.free(pointer);
}

static void *leave_arena(void *old, size_t size)
{
	size_t bytes = arena_bytes(old);
	void *pointer = ready() ? next.malloc(size) : arena_take(size);

	if (pointer)
		memcpy(pointer, old, bytes < size ? bytes : size);
	return pointer;
}

static inline void *resize(void *old, size_t size, void *caller)
{
	void *pointer;

	if (in_arena(old) || !ready())
		pointer = old ? leave_arena(old, size) : arena_take(size);
	else
		pointer = next.realloc(old, size);
	tracepoint(malloc, realloc, trace_field(old, (uintptr_t)old), size, pointer, caller);
	return pointer;
}

PRELOAD_EXPORT void *realloc(void *old, size_t size)
{
	return resize(old, size, CALLER);
}

PRELOAD_EXPORT void *reallocarray(void *old, size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return resize(old, bytes, CALLER);
}

/* ---- aligned ones: dlsym() does not need them ---- */

static inline void *aligned(void *pointer, size_t alignment, size_t size, void *caller)
{
	tracepoint(malloc, aligned, alignment, size, pointer, caller);
	return pointer;
}

PRELOAD_EXPORT int posix_memalign(void **ret_pointer, size_t alignment, size_t size)
{
	void *pointer = NULL, *caller = CALLER;
	int err = ready() && next.posix_memalign ? next.posix_memalign(&pointer, alignment, size) : ENOMEM;

	aligned(pointer, alignment, size, caller);
	if (!err)
		*ret_pointer = pointer;
	return err;
}

PRELOAD_EXPORT void *aligned_alloc(size_t alignment, size_t size)
{
	return aligned(ready() && next.aligned_alloc ? next.aligned_alloc(alignment, size) : NULL, alignment, size,
		       CALLER);
}

PRELOAD_EXPORT void *memalign(size_t alignment, size_t size)
{
	return aligned(ready() && next.memalign ? next.memalign(alignment, size) : NULL, alignment, size, CALLER);
}

PRELOAD_EXPORT void *valloc(size_t size)
{
	return aligned(ready() && next.valloc ? next.valloc(size) : NULL, 4096, size, CALLER);
}

PRELOAD_EXPORT void *pvalloc(size_t size)
{
	return aligned(ready() && next.pvalloc ? next.pvalloc(size) : NULL, 4096, size, CALLER);
}
