/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* probe_code.c - turn registers, memory and types into recipes for the BPF program. */
#include "probe_code.h"

#include <stdbool.h>
#include <stdint.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"

/* ---- registers of x86-64: words of struct pt_regs ---- */

static const struct {
	const char *names[4]; /* of 8, 4, 2, 1 bytes */
	int word;
	int dwarf;
} registers[] = {
	{{"rax", "eax", "ax", "al"}, 10, 0},	  {{"rdx", "edx", "dx", "dl"}, 12, 1},
	{{"rcx", "ecx", "cx", "cl"}, 11, 2},	  {{"rbx", "ebx", "bx", "bl"}, 5, 3},
	{{"rsi", "esi", "si", "sil"}, 13, 4},	  {{"rdi", "edi", "di", "dil"}, 14, 5},
	{{"rbp", "ebp", "bp", "bpl"}, 4, 6},	  {{"rsp", "esp", "sp", "spl"}, 19, 7},
	{{"r8", "r8d", "r8w", "r8b"}, 9, 8},	  {{"r9", "r9d", "r9w", "r9b"}, 8, 9},
	{{"r10", "r10d", "r10w", "r10b"}, 7, 10}, {{"r11", "r11d", "r11w", "r11b"}, 6, 11},
	{{"r12", "r12d", "r12w", "r12b"}, 3, 12}, {{"r13", "r13d", "r13w", "r13b"}, 2, 13},
	{{"r14", "r14d", "r14w", "r14b"}, 1, 14}, {{"r15", "r15d", "r15w", "r15b"}, 0, 15},
	{{"rip", "eip", "ip", ""}, 16, 16},
};
#define NR_REGISTERS (sizeof(registers) / sizeof(registers[0]))

int probe_register(const char *name, size_t chars, int *ret_bytes)
{
	static const int bytes[] = {8, 4, 2, 1};

	for (size_t i = 0; i < NR_REGISTERS; i++)
		for (int width = 0; width < 4; width++)
			if (strlen(registers[i].names[width]) == chars && chars &&
			    !strncmp(registers[i].names[width], name, chars)) {
				*ret_bytes = bytes[width];
				return registers[i].word;
			}
	return -1;
}

int probe_register_dwarf(unsigned int number)
{
	for (size_t i = 0; i < NR_REGISTERS; i++)
		if (registers[i].dwarf == (int)number)
			return registers[i].word;
	return -1;
}

int probe_register_argument(unsigned int n)
{
	static const int words[] = {14, 13, 12, 11, 9, 8}; /* rdi, rsi, rdx, rcx, r8, r9: System V ABI */

	return n < sizeof(words) / sizeof(words[0]) ? words[n] : -1;
}

/* ---- widths ---- */

/*
 * The value is the low @bytes of what was computed or loaded. A source with fewer bits is extended
 * by its own signedness, as in C.
 */
static void set_width(struct probe_field *field, unsigned int bytes, bool is_signed)
{
	struct trace_probe_argument *argument = &field->argument;
	bool widens = field->source_bits && field->source_bits < 8 * bytes;
	unsigned int bits = widens ? field->source_bits : 8 * bytes, end = field->source_bit + bits;

	field->bytes = argument->field_bytes = (uint8_t)bytes;
	field->is_signed = is_signed;
	argument->load_bytes = end <= 8 ? 1 : end <= 16 ? 2 : end <= 32 ? 4 : 8;
	argument->is_signed = widens ? field->source_signed : is_signed;
	argument->shift_left = (uint8_t)(64 - end);
	argument->shift_right = (uint8_t)(64 - bits);
	argument->shape = TRACE_PROBE_VALUE;
	argument->max_bytes = 0;
}

static void set_reference(struct probe_field *field, enum trace_probe_shape shape, unsigned int max_bytes)
{
	set_width(field, 8, false);
	field->argument.shape = (uint8_t)shape;
	field->argument.max_bytes = (uint16_t)max_bytes;
	field->bytes = field->argument.field_bytes = 4;
	field->kind = shape == TRACE_PROBE_STRING ? TRACE_KIND_STRING : TRACE_KIND_BYTES;
}

/* ---- types ---- */

static int bad_type(const char *type, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL,
			 "\"%s\" is not a type: s8 to s64, u8 to u64, x8 to x64 (hexadecimal), f32, f64, ptr, bool, "
			 "char, string, string[64], bytes[16]",
			 type);
}

/* Parse "[N]" after string or bytes. */
static int parse_limit(const char *text, unsigned int *limit)
{
	char *end;
	unsigned long value;

	if (!*text)
		return 0;
	value = *text == '[' ? strtoul(text + 1, &end, 0) : 0;
	if (!value || value > TRACE_PROBE_MAX_STRING_BYTES || strcmp(end, "]"))
		return -EINVAL;
	*limit = (unsigned int)value;
	return 0;
}

static int number_type(const char *type, struct probe_field *field, struct trace_error *ret_error)
{
	char *end;
	unsigned long bits = strtoul(type + 1, &end, 10);
	bool is_float = *type == 'f';

	if (!strchr("suxf", *type) || !isdigit((unsigned char)type[1]) || *end ||
	    (bits != 64 && bits != 32 && (is_float || (bits != 16 && bits != 8))))
		return bad_type(type, ret_error);
	if (is_float && !field->argument.nr_loads)
		return error_set(ret_error, -ENOTSUP,
				 "%s: floating point values are in vector registers, which the kernel does not hand to "
				 "probes; record a value that is in memory",
				 type);
	if (is_float && field->source_bits && field->source_bits != bits)
		return error_set(ret_error, -EINVAL, "%s: the value has %d bits; choose a type of that size", type,
				 field->source_bits);
	set_width(field, (unsigned int)bits / 8, *type == 's');
	field->kind = is_float ? TRACE_KIND_FLOAT : *type == 'x' ? TRACE_KIND_HEX : TRACE_KIND_DEC;
	return 0;
}

int probe_code_type(const char *type, struct probe_field *field, struct trace_error *ret_error)
{
	unsigned int limit = TRACE_PROBE_STRING_BYTES;

	if (!strncmp(type, "string", 6)) {
		if (field->argument.shape == TRACE_PROBE_BYTES && field->argument.max_bytes < limit)
			limit = field->argument.max_bytes; /* a string in an array ends with the array at the latest */
		if (parse_limit(type + 6, &limit))
			return bad_type(type, ret_error);
		set_reference(field, TRACE_PROBE_STRING, limit);
	} else if (!strncmp(type, "bytes", 5)) {
		limit = 0;
		if (parse_limit(type + 5, &limit) || !limit)
			return bad_type(type, ret_error);
		set_reference(field, TRACE_PROBE_BYTES, limit);
	} else if (!strcmp(type, "ptr")) {
		set_width(field, 8, false);
		field->kind = TRACE_KIND_HEX;
	} else if (!strcmp(type, "bool") || !strcmp(type, "char")) {
		set_width(field, 1, false);
		field->kind = *type == 'b' ? TRACE_KIND_BOOL : TRACE_KIND_CHAR;
	} else {
		return number_type(type, field, ret_error);
	}
	return 0;
}

/* ---- expressions ---- */

static int parse_register(const char *text, const char *end, struct probe_field *field, struct trace_error *ret_error)
{
	int bytes, word = probe_register(text + 1, (size_t)(end - text) - 1, &bytes);

	if (word < 0)
		return error_set(ret_error, -EINVAL,
				 "%.*s: there is no such register; %%di, %%si, %%dx, %%cx, %%r8, %%r9 hold arguments, "
				 "%%ax results",
				 (int)(end - text), text);
	field->argument.start = TRACE_PROBE_REGISTER;
	field->argument.base = (uint8_t)word;
	set_width(field, bytes == 2 ? 8 : (unsigned int)bytes, false); /* in perf's syntax %di is the whole register */
	return 0;
}

static int parse_expression(const char *text, const char *end, bool at_return, struct probe_field *field,
			    struct trace_error *ret_error);

/* Load from @offset after the address that @field computes. */
static int add_load(struct probe_field *field, int64_t offset, struct trace_error *ret_error)
{
	struct trace_probe_argument *argument = &field->argument;

	if (argument->nr_loads == TRACE_PROBE_MAX_LOADS)
		return error_set(ret_error, -EINVAL, "an argument takes at most %d steps through memory",
				 TRACE_PROBE_MAX_LOADS);
	argument->offsets[argument->nr_loads++] += offset;
	return 0;
}

/* OFFSET(EXPRESSION) */
static int parse_memory(const char *text, const char *end, bool at_return, struct probe_field *field,
			struct trace_error *ret_error)
{
	char *inner;
	long long offset;
	int err, before = errno; /* probe_elf_end() asks for it */

	errno = 0;
	offset = strtoll(text, &inner, 0);
	if (errno || *inner != '(' || end[-1] != ')' || inner >= end)
		return error_set(ret_error, -EINVAL,
				 "%.*s: write memory as +8(%%sp), or +0(+16(%%di)) through a pointer",
				 (int)(end - text), text);
	errno = before;
	err = parse_expression(inner + 1, end - 1, at_return, field, ret_error);
	if (err > 0)
		return error_set(ret_error, -EINVAL, "%.*s: give a register or memory inside the parentheses",
				 (int)(end - text), text);
	if (!err)
		err = add_load(field, offset, ret_error);
	if (!err)
		set_width(field, 8, true);
	return err;
}

static int parse_argument(const char *digits, const char *end, bool at_return, struct probe_field *field,
			  struct trace_error *ret_error)
{
	char *rest;
	unsigned long number = strtoul(digits, &rest, 10);
	int word;

	if (rest != end || !number || number > 64)
		return error_set(ret_error, -EINVAL, "$arg%.*s: arguments are $arg1, $arg2 ...", (int)(end - digits),
				 digits);
	if (at_return)
		return error_set(ret_error, -EINVAL,
				 "$arg%lu: arguments are not available when a function returns; record them at its "
				 "entry, or both with %%scope",
				 number);
	word = probe_register_argument((unsigned int)number - 1);
	field->argument.start = TRACE_PROBE_REGISTER;
	field->argument.base = (uint8_t)(word < 0 ? PROBE_REGISTER_STACK : word);
	if (word < 0 && add_load(field, 8 * (int64_t)(number - 6), ret_error)) /* after the return address */
		return -EINVAL;
	set_width(field, 8, true);
	return 0;
}

/* Returns 0; 1: not one of these expressions; or a negative errno. */
static int parse_expression(const char *text, const char *end, bool at_return, struct probe_field *field,
			    struct trace_error *ret_error)
{
	size_t chars = (size_t)(end - text);

	if (*text == '%')
		return parse_register(text, end, field, ret_error);
	if (chars > 1 && (*text == '+' || *text == '-' || isdigit((unsigned char)*text)))
		return parse_memory(text, end, at_return, field, ret_error);
	if (chars > 4 && !strncmp(text, "$arg", 4) && isdigit((unsigned char)text[4]))
		return parse_argument(text + 4, end, at_return, field, ret_error);
	if (chars == 7 && !strncmp(text, "$retval", 7)) {
		if (!at_return)
			return error_set(ret_error, -EINVAL,
					 "$retval: the result is available only when the function returns; use "
					 "FUNCTION%%return");
		field->argument.start = TRACE_PROBE_REGISTER;
		field->argument.base = PROBE_REGISTER_RESULT;
		set_width(field, 8, true);
		return 0;
	}
	if (*text == '$' && strncmp(text, "$params", chars))
		return error_set(ret_error, -EINVAL, "%.*s: unknown variable; use $arg1, $arg2 ..., $retval or $params",
				 (int)chars, text);
	return 1;
}

int probe_code_expression(const char *text, bool at_return, struct probe_field *ret_field,
			  struct trace_error *ret_error)
{
	*ret_field = (struct probe_field){.kind = TRACE_KIND_DEC};
	return parse_expression(text, text + strlen(text), at_return, ret_field, ret_error);
}
