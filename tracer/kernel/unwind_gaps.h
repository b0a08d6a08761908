/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_GAPS_H
#define TRACER_UNWIND_GAPS_H
/*
 * unwind_gaps.h - code between the functions that .eh_frame describes, whose bytes are known: the
 * begin and the end of each file that gcc's linker puts there, and the system call in clone().
 * SECURITY: as in unwind_table.h
 */
#include <stdint.h>
#include "unwind_cfi.h"

#define UNWIND_MAX_GAP	     4096	/* bytes that are searched */
#define UNWIND_AHEAD	     16		/* bytes behind them that tell what a piece is */
#define UNWIND_MAX_GAPS_CODE (4u << 20) /* bytes of a segment of code that is searched */

/**
 * unwind_gap_run() - call @fn for each row of the pieces that begin in @bytes of @code, which is at
 * @address; @ahead more can be read. A row of rule UNWIND_NONE ends each piece.
 */
void unwind_gap_run(const unsigned char *code, uint64_t bytes, uint64_t ahead, uint64_t address, unwind_row_fn fn,
		    void *context);

#endif
