/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * web_memory.c - for WebAssembly: the memory that malloc() takes from the browser.
 *
 * The C library's sbrk() takes as much as malloc() wants, which are 64 KiB at most times. Each time
 * the browser makes an object for the new memory: a trace with ten million events needs 3,400 of
 * them, and a third of its pass is spent on them. This one takes more at once.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define PAGE_BYTES 65536u /* of WebAssembly */
#define STEP_PAGES 256u	  /* 16 MiB */

static uintptr_t end_of_memory(void)
{
	return (uintptr_t)__builtin_wasm_memory_size(0) * PAGE_BYTES;
}

static bool grow(uintptr_t pages)
{
	return __builtin_wasm_memory_grow(0, pages) != SIZE_MAX;
}

/* malloc() gives nothing back. */
void *sbrk(intptr_t bytes)
{
	static uintptr_t used;
	uintptr_t begin, pages;

	used = used ? used : end_of_memory();
	begin = used;
	if (bytes > 0 && (uintptr_t)bytes > end_of_memory() - used) {
		pages = ((uintptr_t)bytes - (end_of_memory() - used) + PAGE_BYTES - 1) / PAGE_BYTES;
		if (!(pages < STEP_PAGES && grow(STEP_PAGES)) && !grow(pages)) {
			errno = ENOMEM;
			return (void *)-1;
		}
	}
	used += bytes > 0 ? (uintptr_t)bytes : 0;
	return (void *)begin;
}
