/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_ACCOUNTING_PACKED_H
#define ANALYZER_ACCOUNTING_PACKED_H
/* accounting_packed.h - the sums of dead threads, compressed; the complete sums of a thread */
#include <stdbool.h>

struct books;
struct trace_analysis;
struct trace_thread;

/**
 * books_pack() - compress the tables of @thread, which is dead. Later additions go into new rows.
 */
void books_pack(struct trace_analysis *a, struct trace_thread *thread);

/**
 * books_of() - the sums of @thread, complete and unpacked
 * @scratch: zeros; the caller frees its tables with books_clear(). A caller can iterate over the
 *   rows (table_next()), but not look them up.
 * Returns the thread's own or @scratch; NULL when out of memory.
 */
const struct books *books_of(const struct trace_analysis *a, const struct trace_thread *thread, struct books *scratch);

/** books_add() - add the tables of @books to those of @sum; false: out of memory */
bool books_add(struct books *sum, const struct books *books);

void books_clear(struct books *books);
#endif
