/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_ACCOUNTING_PACKED_H
#define ANALYZER_ACCOUNTING_PACKED_H
/* accounting_packed.h - the sums of dead threads, compressed; the complete sums of a thread */
#include <stdbool.h>
#include <stdint.h>

struct acct;
struct trace_analysis;
struct trace_figures;
struct trace_thread;

/**
 * acct_pack() - compress the tables of @thread, which is dead. Later additions go into new rows.
 */
void acct_pack(struct trace_analysis *a, struct trace_thread *thread);

/**
 * acct_of() - the sums of @thread, complete and unpacked
 * @scratch: zeros; the caller frees its tables with acct_clear(). A caller can iterate over the
 *   rows (table_next()), but not look them up.
 * Returns the thread's own or @scratch; NULL when out of memory.
 */
const struct acct *acct_of(const struct trace_analysis *a, const struct trace_thread *thread, struct acct *scratch);

/** acct_add() - add the tables of @acct to those of @sum; false: out of memory */
bool acct_add(struct acct *sum, const struct acct *acct);

void acct_clear(struct acct *acct);

/** figures_of() - sorted rows with names of @acct, of a thread or several; NULL: out of memory */
struct trace_figures *figures_of(const struct trace_analysis *a, const struct acct *acct, uint64_t elapsed);
#endif
