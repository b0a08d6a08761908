/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_CODE_H
#define TRACER_PROBE_CODE_H
/* probe_code.h - turns the text of an argument into a recipe. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/probes.h>

/**
 * probe_register() - the word of struct pt_regs for a register name, and the width of the name; -1:
 * unknown
 */
int probe_register(const char *name, size_t chars, int *ret_bytes);
/** probe_register_dwarf() - the same for DWARF's register number */
int probe_register_dwarf(unsigned int number);
/**
 * probe_register_argument() - the register of the nth (from 0) integer argument; -1: it is on the
 * stack
 */
int probe_register_argument(unsigned int n);
#define PROBE_REGISTER_STACK  19
#define PROBE_REGISTER_RESULT 10

/**
 * struct probe_field - a recipe and the field that it fills, without its name
 * @source_bit, @source_bits: position and width of the value in what is computed or loaded,
 *                   independent of the recorded type; 0 bits: unknown, assume the width of that
 *                   type
 * @source_signed: is that value signed?
 */
struct probe_field {
	struct trace_probe_argument argument;
	uint8_t source_bit;
	uint8_t source_bits;
	bool source_signed;
	enum trace_field_kind kind;
	bool is_signed;
	uint8_t bytes;
};
/**
 * probe_code_expression() - parse registers, memory, $argN and $retval. Returns 0; 1: not such an
 * expression; or -EINVAL
 */
int probe_code_expression(const char *text, bool at_return, struct probe_field *ret_field,
			  struct trace_error *ret_error);
/** probe_code_type() - apply a type such as "u32" or "string[64]" to a field */
int probe_code_type(const char *type, struct probe_field *field, struct trace_error *ret_error);

#endif
