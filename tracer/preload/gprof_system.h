/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_GPROF_SYSTEM_H
#define TRACER_PRELOAD_GPROF_SYSTEM_H
/*
 * gprof_system.h - system calls that change neither errno nor vector registers
 */
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline long gprof_call(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef __x86_64__
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#else
	return syscall(number, a, b, c, d, e, f);
#endif
}

/* Zeroed; pages that are not used take none. NULL: there is none */
static inline void *gprof_memory(size_t bytes)
{
	long at = gprof_call(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return at < 0 && at > -4096 ? NULL : (void *)at;
}
#endif
