/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_instruction.c - the length of x86-64 instructions.
 *
 * A breakpoint inside an instruction turns it into another one, for each process that runs the
 * code. The kernel does not prevent this: it only checks that the bytes at the place could be an
 * instruction. So functions are walked from their beginning, as objdump does. Only lengths are
 * decoded: Intel SDM volume 2, chapter 2 (instruction format) and appendix A (opcode maps).
 */
#include "probe_instruction.h"

#include <stdbool.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "error_set.h"
#include "probe_elf.h"

/**
 * struct code - the rest of an instruction
 * @narrow: 16-bit operands (prefix 66)
 * @rex_w: 64-bit operands
 * @short_address: 32-bit addresses (prefix 67)
 */
struct code {
	const uint8_t *at;
	const uint8_t *end;
	bool narrow;
	bool rex_w;
	bool short_address;
};

enum { NO_MODRM = 1, IMM8 = 2, IMM_Z = 4, UNKNOWN = 8 };

static bool is_prefix(uint8_t byte)
{
	return memchr("\x66\x67\xf2\xf3\xf0\x2e\x36\x3e\x26\x64\x65", byte, 11);
}

/*
 * Shape of a one-byte opcode. Those with an immediate or without modrm are listed; the rest has
 * modrm only.
 */
static unsigned int shape_of_byte(uint8_t op)
{
	if (op < 0x40)
		return (op & 7) < 4 ? 0 : (op & 7) == 4 ? NO_MODRM | IMM8 : (op & 7) == 5 ? NO_MODRM | IMM_Z : UNKNOWN;
	if (op < 0x60 || (op >= 0x6c && op < 0x70) || (op >= 0x90 && op < 0xa0 && op != 0x9a) ||
	    (op >= 0xa4 && op < 0xb0 && op != 0xa8 && op != 0xa9))
		return NO_MODRM;
	if ((op >= 0x70 && op < 0x80) || (op >= 0xb0 && op < 0xb8) || (op >= 0xe0 && op < 0xe8))
		return NO_MODRM | IMM8;
	if (memchr("\x60\x61\x62\x82\x9a\xc4\xc5\xce\xd4\xd5\xd6\xea", op, 12))
		return UNKNOWN;
	if (memchr("\x68\xa9\xe8\xe9", op, 4))
		return NO_MODRM | IMM_Z;
	if (memchr("\x6a\xa8\xcd\xeb", op, 4))
		return NO_MODRM | IMM8;
	if (memchr("\x69\x81\xc7", op, 3))
		return IMM_Z;
	if (memchr("\x6b\x80\x83\xc0\xc1\xc6", op, 6))
		return IMM8;
	if (memchr("\xc3\xc9\xcb\xcc\xcf\xd7\xec\xed\xee\xef\xf1\xf4\xf5", op, 13) || (op >= 0xf8 && op < 0xfe))
		return NO_MODRM;
	return 0;
}

/* Shape of an opcode after 0f, or in the same map of VEX and EVEX. */
static unsigned int shape_of_0f(uint8_t op, bool vex)
{
	if (op == 0x77)
		return NO_MODRM;
	if ((op >= 0x70 && op <= 0x73) || op == 0xc2 || (op >= 0xc4 && op <= 0xc6))
		return IMM8;
	if (vex)
		return 0;
	if (op >= 0x80 && op < 0x90)
		return NO_MODRM | IMM_Z;
	if (memchr("\x05\x06\x07\x08\x09\x0b\x0e\xa0\xa1\xa2\xa8\xa9\xaa", op, 13) || (op >= 0x30 && op < 0x38) ||
	    (op >= 0xc8 && op < 0xd0))
		return NO_MODRM;
	if (memchr("\x0f\xa4\xac\xba", op, 4))
		return IMM8;
	return memchr("\x04\x0a\x0c\x24\x25\x26\x27\x39\x3b\x3c\x3d\x3e\x3f", op, 13) ? UNKNOWN : 0;
}

/*
 * @map: opcode map as numbered by VEX and EVEX: 1 is 0f, 2 is 0f 38, 3 is 0f 3a, 5 and 6 are half
 *       floats
 */
static unsigned int shape_of_map(unsigned int map, uint8_t op)
{
	static const unsigned int shapes[] = {UNKNOWN, 0, 0, IMM8, UNKNOWN, 0, 0, UNKNOWN};

	return map == 1 ? shape_of_0f(op, true) : map < sizeof(shapes) / sizeof(shapes[0]) ? shapes[map] : UNKNOWN;
}

/* Length of the modrm byte and what it implies: SIB byte and displacement; 0: cut off. */
static size_t modrm_bytes(const struct code *code)
{
	uint8_t mod, rm;
	size_t bytes = 1;
	bool based = true;

	if (code->at == code->end)
		return 0;
	mod = code->at[0] >> 6;
	rm = code->at[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) {
		if (code->end - code->at < 2)
			return 0;
		bytes++;
		rm = code->at[1] & 7;
	}
	based = mod || rm != 5;
	return bytes + (mod == 1 ? 1 : mod == 2 || !based ? 4 : 0);
}

static size_t bytes_z(const struct code *code)
{
	return code->narrow && !code->rex_w ? 2 : 4;
}

/* Immediates of unusual sizes. */
static size_t immediate_bytes(const struct code *code, uint8_t op)
{
	if (op >= 0xa0 && op <= 0xa3)
		return code->short_address ? 4 : 8;
	if (op >= 0xb8 && op <= 0xbf)
		return code->rex_w ? 8 : bytes_z(code);
	return op == 0xc2 || op == 0xca ? 2 : op == 0xc8 ? 3 : 0;
}

/* Skip what follows the opcode; false: unknown, or cut off. */
static bool skip_operands(struct code *code, unsigned int shape, size_t more)
{
	size_t bytes = more;

	if (shape & UNKNOWN)
		return false;
	if (!(shape & NO_MODRM)) {
		bytes = modrm_bytes(code);
		if (!bytes)
			return false;
		bytes += more;
	}
	bytes += (shape & IMM8 ? 1 : 0) + (shape & IMM_Z ? bytes_z(code) : 0);
	if (bytes > (size_t)(code->end - code->at))
		return false;
	code->at += bytes;
	return true;
}

static bool is_vex(uint8_t byte)
{
	return byte == 0xc4 || byte == 0xc5 || byte == 0x62;
}

static bool skip_vex(struct code *code, uint8_t op)
{
	size_t payload = op == 0x62 ? 3 : op == 0xc4 ? 2 : 1;
	unsigned int map;

	if ((size_t)(code->end - code->at) <= payload)
		return false;
	map = op == 0xc5 ? 1 : code->at[0] & (op == 0x62 ? 7 : 31);
	op = code->at[payload];
	code->at += payload + 1;
	return skip_operands(code, shape_of_map(map, op), 0);
}

static bool skip_0f(struct code *code)
{
	uint8_t op;

	if (code->at == code->end)
		return false;
	op = *code->at++;
	if (op != 0x38 && op != 0x3a)
		return skip_operands(code, shape_of_0f(op, false), 0);
	if (code->at == code->end)
		return false;
	code->at++;
	return skip_operands(code, op == 0x3a ? IMM8 : 0, 0);
}

static bool skip_byte_opcode(struct code *code, uint8_t op)
{
	/* in this group only test has an immediate */
	bool test = (op == 0xf6 || op == 0xf7) && code->at < code->end && !(code->at[0] & 0x30);
	size_t odd = immediate_bytes(code, op);

	if (op == 0xe8 || op == 0xe9)
		code->narrow = false; /* the distance of a jump always has 32 bits */
	if (odd)
		return skip_operands(code, NO_MODRM, odd);
	return skip_operands(code, test ? (op == 0xf6 ? IMM8 : IMM_Z) : shape_of_byte(op), 0);
}

size_t probe_instruction_bytes(const uint8_t *bytes, size_t size)
{
	struct code code = {.at = bytes, .end = bytes + size};
	bool known;
	uint8_t op;

	for (; code.at < code.end && is_prefix(*code.at); code.at++) {
		code.narrow |= *code.at == 0x66;
		code.short_address |= *code.at == 0x67;
	}
	if (code.at < code.end && (*code.at & 0xf0) == 0x40)
		code.rex_w = *code.at++ & 8;
	if (code.at == code.end)
		return 0;
	op = *code.at++;
	if (op == 0x0f)
		known = skip_0f(&code);
	else if (is_vex(op))
		known = skip_vex(&code, op);
	else
		known = skip_byte_opcode(&code, op);
	return known ? (size_t)(code.at - bytes) : 0;
}

/*
 * The kernel emulates some instructions, and corrects the state after stepping others, by opcode.
 * It ignores that after a VEX or EVEX prefix the same byte is a different instruction (Linux 6.18,
 * arch/x86/kernel/uprobes.c: branch_setup_xol_ops(), arch_uprobe_analyze_insn()). It takes vpcmpeqb
 * for a jump and skips it, and vcmpps for a return. An instruction that it refuses by mistake does
 * no harm.
 */
static bool is_misread_vex(const uint8_t *bytes, size_t size)
{
	size_t at = size && *bytes == 0xc5 ? 2 : size && *bytes == 0xc4 ? 3 : 4;
	uint8_t op;

	if (size <= at || !is_vex(*bytes))
		return false;
	op = bytes[at];
	return (op & 0xf0) == 0x70 || memchr("\x90\x9d\xc2\xc3\xca\xcb\xe8\xe9\xeb", op, 9);
}

/*
 * syscall, sysenter, int. The kernel runs them in a page of its own, and the call returns there:
 * programs crash (Linux 6.18 in a virtual machine, --probe 'libc.so.6:getppid+5').
 */
static bool enters_kernel(const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes, *end = bytes + size;

	while (at < end && (is_prefix(*at) || (*at & 0xf0) == 0x40))
		at++;
	return end - at > 1 && (*at == 0xcd || (*at == 0x0f && (at[1] == 0x05 || at[1] == 0x34)));
}

bool probe_instruction_is_misread(const uint8_t *bytes, size_t size)
{
	return is_misread_vex(bytes, size) || enters_kernel(bytes, size);
}

bool probe_instruction_is_plain(const uint8_t *bytes, size_t size)
{
	const uint8_t *at = bytes, *end = bytes + size;

	while (at < end && *at != 0xf0 && (is_prefix(*at) || (*at & 0xf0) == 0x40))
		at++;
	if (at < end && *at == 0x0f)
		return end - at > 1 && at[1] >= 0x10 && (at[1] & 0xf8) != 0x20 && (at[1] & 0xf0) != 0x30;
	return at < end && !is_vex(*at) &&
	       !memchr("\x6c\x6d\x6e\x6f\xcc\xcd\xce\xcf\xe4\xe5\xe6\xe7\xec\xed\xee\xef\xf0\xf1\xf4\xfa\xfb", *at, 21);
}

/* ---- in a function of a file ---- */

struct enclosing_function {
	uint64_t address;
	uint64_t begin; /* begin of the last function at or before it; UINT64_MAX: none */
};

static int find_enclosing_function(void *context, const struct probe_symbol *symbol)
{
	struct enclosing_function *enclosing = context;

	if (symbol->address <= enclosing->address && enclosing->address - symbol->address < symbol->bytes &&
	    (enclosing->begin == UINT64_MAX || symbol->address > enclosing->begin))
		enclosing->begin = symbol->address;
	return 0;
}

int probe_instruction_check(struct probe_elf *elf, uint64_t address, struct trace_error *ret_error)
{
	struct enclosing_function enclosing = {.address = address, .begin = UINT64_MAX};
	uint64_t at, offset;
	uint8_t bytes[16]; /* 15 is the maximum */
	ssize_t got;
	size_t length;

	probe_elf_functions(elf, find_enclosing_function, &enclosing);
	for (at = enclosing.begin; at < address; at += length) {
		got = probe_elf_offset(elf, at, true, &offset) ? pread(elf->fd, bytes, sizeof(bytes), (off_t)offset)
							       : 0;
		length = got > 0 ? probe_instruction_bytes(bytes, (size_t)got) : 0;
		if (!length)
			return 0; /* data in the code, or a newer instruction: let the kernel decide */
		if (at + length > address)
			return error_set(
				ret_error, -EINVAL,
				"0x%llx is inside an instruction, and a probe there would break all programs that run "
				"it: the instruction begins at 0x%llx (+%llu), the next at 0x%llx (+%llu)",
				(unsigned long long)address, (unsigned long long)at,
				(unsigned long long)(at - enclosing.begin), (unsigned long long)(at + length),
				(unsigned long long)(at + length - enclosing.begin));
	}
	return 0;
}
