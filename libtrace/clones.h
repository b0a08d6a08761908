/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CLONES_H
#define LIBTRACE_CLONES_H
/*
 * clones.h - TRACE_CLONES before a function makes the compiler build it twice: for any processor,
 * and for those of the last ten years (x86-64-v3).
 *
 * Those count leading zeros, shift and add vectors in fewer instructions. The dynamic linker
 * chooses the version. This is worth it for loops over all events of a block.
 *
 * Use it for static functions only. For others the library would export the resolver.
 *
 * Sanitizers do not support resolvers that run before their own start. Neither does the test that
 * counts steps (TRACE_STEPPED: tests/visualizer/test_steps.c).
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && \
	!defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && !defined(TRACE_STEPPED)
#define TRACE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define TRACE_CLONES
#endif

#endif
