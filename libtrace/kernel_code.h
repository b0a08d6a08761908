/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_KERNEL_CODE_H
#define LIBTRACE_KERNEL_CODE_H
/* kernel_code.h - the functions of the kernel that a trace names: TRACE_STRING_KERNEL_CODE */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/reader.h>

/** struct kernel_function - @file: "[kernel]", or "[module]" */
struct kernel_function {
	uint64_t address;
	uint64_t bytes;
	char *name;	  /* owned */
	const char *file; /* behind the name, in the same memory; or static */
};

/** struct kernel_code - zeroed: no function; sorted by address */
struct kernel_code {
	struct kernel_function *functions; /* owned */
	size_t nr;
};

/** kernel_code_read() - Returns 0 or -ENOMEM */
int kernel_code_read(struct kernel_code *code, const struct trace *trace) TRACE_NODISCARD;
/** kernel_code_find() - the function at @address, or NULL: not known */
const struct kernel_function *kernel_code_find(const struct kernel_code *code, uint64_t address);
/**
 * kernel_code_has() - is @address one of the kernel's? Its half of the addresses has the highest
 * bit
 */
static inline bool kernel_code_has(uint64_t address)
{
	return address >> 63;
}
void kernel_code_clear(struct kernel_code *code);
#endif
