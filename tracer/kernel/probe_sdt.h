/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_SDT_H
#define TRACER_PROBE_SDT_H
/* probe_sdt.h - static probes: the notes of <sys/sdt.h>. */
#include <stdint.h>
#include <trace/error.h>

struct probe_elf;
struct probe_field;

/**
 * struct probe_sdt - a static probe; strings are valid during the call. @semaphore: its address, or
 * 0
 */
struct probe_sdt {
	const char *provider;
	const char *name;
	const char *arguments;
	uint64_t address;
	uint64_t semaphore;
};
typedef int (*probe_sdt_fn)(void *context, const struct probe_sdt *sdt);
int probe_sdt_each(struct probe_elf *elf, probe_sdt_fn visit, void *context);

/**
 * probe_sdt_argument() - parse the next operand of a note's arguments
 * @elf: for symbols in operands
 * @at: moved behind the operand
 * @address: of the probe
 * Returns 1, 0 at the end, or -EINVAL / -ENOTSUP (a vector register) with a message.
 */
int probe_sdt_argument(struct probe_elf *elf, const char **at, uint64_t address, struct probe_field *ret_field,
		       struct trace_error *ret_error);

#endif
