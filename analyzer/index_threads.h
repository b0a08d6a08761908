/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INDEX_THREADS_H
#define ANALYZER_INDEX_THREADS_H
/* index_threads.h - parts of the work to open an index, by several threads */
#include <stddef.h>

/** index_part_fn - does part @i; other threads do other parts meanwhile */
typedef void index_part_fn(void *data, size_t i);
/**
 * index_in_threads() - call @fn for each of @nr parts, in this thread and up to three others
 * Returns when all are done. Without memory for more threads, this one does all.
 */
void index_in_threads(index_part_fn *fn, void *data, size_t nr);
#endif
