/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYSCALL_ARGS_H
#define LIBTRACE_SYSCALL_ARGS_H
/*
 * syscall_args.h - how many arguments each system call has.
 *
 * Records have room for three or six, and the registers that a call does not use hold what the program left there: it means
 * nothing, differs every time, and was 0.2 of 2.7 bytes per event. The packer writes 0 instead.
 */
#include <stdint.h>
#include <trace/events.h>
#include <trace/reader.h>

enum {
	SYSCALL_ARGS_NUMBERS = 512,
	SYSCALL_ARGS_MOST = 6,
};

/** struct syscall_args - by ABI and number; SYSCALL_ARGS_MOST when it is not known. One thread writes, others may read meanwhile */
struct syscall_args {
	uint8_t nr[2][SYSCALL_ARGS_NUMBERS];
};

void syscall_args_init(struct syscall_args *args);

/** syscall_args_name() - number @key of the ABI that @space stands for is called @name; other spaces are no business of ours */
void syscall_args_name(struct syscall_args *args, enum trace_string_space space, uint64_t key, const char *name);

/** syscall_args_of() - of the call whose number and ABI are in the first word of a sys_enter3 or sys_enter6 */
static inline unsigned int syscall_args_of(const struct syscall_args *args, uint64_t word)
{
	uint32_t nr = (uint32_t)word, abi = word >> 32 & 0xffff;

	return abi <= TRACE_ABI_32 && nr < SYSCALL_ARGS_NUMBERS ? __atomic_load_n(&args->nr[abi][nr], __ATOMIC_RELAXED) : SYSCALL_ARGS_MOST;
}

#endif
