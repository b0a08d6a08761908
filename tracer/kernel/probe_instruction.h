/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_INSTRUCTION_H
#define TRACER_PROBE_INSTRUCTION_H
/* probe_instruction.h - the instructions that a probe may replace. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

struct probe_elf;

/**
 * probe_instruction_bytes() - the length of the x86-64 instruction at @bytes; 0: cut off, or
 * unknown
 */
size_t probe_instruction_bytes(const uint8_t *bytes, size_t size);
/**
 * probe_instruction_is_misread() - would the kernel mistake the instruction for another one, or
 * does it enter the kernel? A breakpoint there would break the program
 */
bool probe_instruction_is_misread(const uint8_t *bytes, size_t size);
/** probe_instruction_is_plain() - can all kernels probe the instruction? They refuse some others */
bool probe_instruction_is_plain(const uint8_t *bytes, size_t size);
/**
 * probe_instruction_check() - -EINVAL: @address is inside an instruction of a function; 0: it is
 * not, as far as can be determined
 */
int probe_instruction_check(struct probe_elf *elf, uint64_t address, struct trace_error *ret_error);

#endif
