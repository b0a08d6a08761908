/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KERNEL_AS_IT_IS_H
#define TESTS_KERNEL_AS_IT_IS_H
/* as_it_is.h - a function that keeps its name, its code and its place in the chain of callers. */
#if defined(__has_attribute) && __has_attribute(noipa)
#define AS_IT_IS __attribute__((noinline, noipa))
#else
#define AS_IT_IS __attribute__((noinline))
#endif
#endif
