/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CLONES_H
#define LIBTRACE_CLONES_H
/*
 * clones.h - TRACE_CLONES before a function makes the compiler build it twice, for any processor and for those of the last ten years,
 * which count leading zeros, shift and add vectors in fewer instructions; the dynamic linker chooses. Worth it for loops over all events of a block.
 *
 * Only before static functions: what chooses would be exported with others.
 *
 * Sanitizers do not know functions that are chosen before their own start, nor does who counts steps (TRACE_STEPPED: tests/visualizer/test_steps.c).
 */
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__) && \
	!defined(TRACE_STEPPED)
#define TRACE_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define TRACE_CLONES
#endif

#endif
