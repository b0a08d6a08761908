/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_LOSS_LEDGER_H
#define LIBTRACE_LOSS_LEDGER_H
/* loss_ledger.h - the streams and gaps of a trace, from the losses that its chunks report. */
struct loss_ledger;
struct trace;

/**
 * ledger_add_chunks() - add the chunks found since the last call to the loss ledger
 * Called for one part of the file at a time, while its entries are still in the CPU caches: those
 * of a large trace do not fit in them.
 */
int ledger_add_chunks(struct trace *trace);
void ledger_restart(struct trace *trace); /* restart from the first chunk */

/** ledger_load() - make streams and gaps from the loss ledger and the statistics chunk */
int ledger_load(struct trace *trace);
struct loss_ledger *ledger_new(void);
/** ledger_in_order() - refuse a chunk with a number before the last one, as a copy */
void ledger_in_order(struct loss_ledger *ledger);
struct loss_ledger *ledger_free(struct loss_ledger *ledger);

#endif
