/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_UNWIND_CFI_H
#define TRACER_UNWIND_CFI_H
/*
 * unwind_cfi.h - the entries of .eh_frame: functions (FDE) with what they have in common (CIE), and
 * the instructions that describe them (DWARF 5, 6.4; LSB Core 4.1, 10.6). SECURITY: as in
 * unwind_table.h
 */
#include <stddef.h>
#include <stdint.h>
#include "unwind_elf.h"
#include "unwind_row.h"

/**
 * struct unwind_function - an FDE
 * @address, @bytes: of its code. @instructions, @end, @cie: places in .eh_frame
 */
struct unwind_function {
	uint64_t address;
	uint64_t bytes;
	uint32_t instructions;
	uint32_t end;
	uint32_t cie;
};

/** struct unwind_functions - owned list, sorted by address */
struct unwind_functions {
	struct unwind_function *list;
	uint32_t nr, room;
};

/**
 * unwind_cfi_list() - all functions of .eh_frame. Damaged entries are left out. Returns 0; -E2BIG;
 * -ENOMEM
 */
int unwind_cfi_list(const struct unwind_elf *elf, struct unwind_functions *ret_functions);
void unwind_functions_free(struct unwind_functions *functions);

/** unwind_row_fn - from @address on, in order; @row has no offset yet */
typedef void (*unwind_row_fn)(void *context, uint64_t address, struct unwind_row row);
/**
 * unwind_cfi_run() - call @fn for each row of a function. From an instruction on that is damaged or
 * not known, the rule is UNWIND_UNSUPPORTED.
 */
void unwind_cfi_run(const struct unwind_elf *elf, const struct unwind_function *function, unwind_row_fn fn,
		    void *context);

#endif
