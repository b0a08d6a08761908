/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_SORT_H
#define BASE_SORT_H
/*
 * sort.h - sorting with a result that does not depend on the free memory.
 *
 * qsort() of the C library is stable as long as it can allocate a copy. Without that memory it
 * orders equal rows differently. Two reports of one trace would then differ without any visible
 * reason.
 */
#include <stdbool.h>
#include <stddef.h>

/**
 * sort_stable() - like qsort(), but @compare gets @data, and equal elements keep their order
 * @array: may be NULL if @nr is 0
 * Returns false when out of memory; then no element has moved.
 */
bool sort_stable(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *, void *), void *data)
	__attribute__((warn_unused_result));
/** sort_rows() - the same with the comparison function of qsort() */
bool sort_rows(void *array, size_t nr, size_t bytes, int (*compare)(const void *, const void *))
	__attribute__((warn_unused_result));
#endif
