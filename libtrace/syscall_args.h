/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYSCALL_ARGS_H
#define LIBTRACE_SYSCALL_ARGS_H
/*
 * syscall_args.h - which arguments of each system call are kept.
 *
 * Records have room for three or six, and the registers that a call does not use hold what the program left there: it means
 * nothing, differs every time, and was 0.2 of 2.7 bytes per event. The packer writes 0 instead. Nor is it of use where in its memory a program
 * has the text, the buffer or the struct that it hands over, which was 0.2 of 2.2 bytes: of those is kept whether there is one.
 */
#include <stdint.h>
#include <trace/events.h>
#include <trace/reader.h>

enum {
	SYSCALL_ARGS_NUMBERS = 512,
};

/** struct syscall_form - a bit for each word of a record, of which the first is number and ABI. @kept: as they are; @addresses: that there is one; the rest: 0 */
struct syscall_form {
	_Alignas(uint16_t) uint8_t kept; /* the two are loaded and stored as one */
	uint8_t addresses;
};

static const struct syscall_form syscall_args_all = { .kept = 0xff };

/** struct syscall_args - by ABI and number; syscall_args_all when it is not known. One thread writes, others may read meanwhile */
struct syscall_args {
	struct syscall_form forms[2][SYSCALL_ARGS_NUMBERS];
};

void syscall_args_init(struct syscall_args *args);

/** syscall_args_name() - number @key of the ABI that @space stands for is called @name; other spaces are no business of ours */
void syscall_args_name(struct syscall_args *args, enum trace_string_space space, uint64_t key, const char *name);

/** syscall_args_of() - of the call whose number and ABI are in the first word of a sys_enter3 or sys_enter6 */
static inline struct syscall_form syscall_args_of(const struct syscall_args *args, uint64_t word)
{
	uint32_t nr = (uint32_t)word, abi = word >> 32 & 0xffff;
	struct syscall_form form = syscall_args_all;

	if (abi <= TRACE_ABI_32 && nr < SYSCALL_ARGS_NUMBERS)
		__atomic_load(&args->forms[abi][nr], &form, __ATOMIC_RELAXED);
	return form;
}

#endif
