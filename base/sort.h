/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_SORT_H
#define BASE_SORT_H
/*
 * sort.h - sorting whose result does not depend on how much memory there is.
 *
 * qsort() of the C library is stable as long as it gets memory for a copy, and orders equal rows otherwise when it gets none: two reports of one trace would
 * differ, and nobody would know why.
 */
#include <stdbool.h>
#include <stddef.h>

/** sort_stable() - as qsort_r(): equal elements stay in their order. False: out of memory, and nothing was moved. @array may be NULL if @nr is 0 */
bool sort_stable(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *, void *), void *data) __attribute__((warn_unused_result));
/** sort_rows() - the same, as qsort() */
bool sort_rows(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *)) __attribute__((warn_unused_result));
#endif
