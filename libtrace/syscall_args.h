/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYSCALL_ARGS_H
#define LIBTRACE_SYSCALL_ARGS_H
/*
 * syscall_args.h - which arguments of each system call are kept.
 *
 * Records have room for three or six arguments. Registers that a call does not use hold leftovers
 * of the program: meaningless, different every time, and 0.2 of 2.7 bytes per event. The packer
 * stores 0 instead. The address of a text, buffer or struct in the program's memory is useless as
 * well (0.2 of 2.2 bytes per event); the packer stores only whether it is NULL.
 */
#include <stdint.h>
#include <trace/events.h>
#include <trace/reader.h>

enum {
	SYSCALL_ARGS_NUMBERS = 512,
};

/**
 * struct syscall_form - one bit for each word of a record; word 0 is number and ABI
 * @kept: stored unchanged
 * @addresses: stored as NULL or not NULL
 * Words in neither are stored as 0.
 */
struct syscall_form {
	_Alignas(uint16_t) uint8_t kept; /* both are loaded and stored together */
	uint8_t addresses;
};

static const struct syscall_form syscall_args_all = {.kept = 0xff};

/**
 * struct syscall_args - forms by ABI and number; syscall_args_all for an unknown call. One thread
 * writes while others may read
 */
struct syscall_args {
	struct syscall_form forms[2][SYSCALL_ARGS_NUMBERS];
};

void syscall_args_init(struct syscall_args *args);

/**
 * syscall_args_name() - call number @key of the ABI of string space @space is called @name; ignores
 * other spaces
 */
void syscall_args_name(struct syscall_args *args, enum trace_string_space space, uint64_t key, const char *name);

/**
 * syscall_args_of() - the form of the call in the first word (number and ABI) of a sys_enter3 or
 * sys_enter6
 */
static inline struct syscall_form syscall_args_of(const struct syscall_args *args, uint64_t word)
{
	uint32_t nr = (uint32_t)word, abi = word >> 32 & 0xffff;
	struct syscall_form form = syscall_args_all;

	if (abi <= TRACE_ABI_32 && nr < SYSCALL_ARGS_NUMBERS)
		__atomic_load(&args->forms[abi][nr], &form, __ATOMIC_RELAXED);
	return form;
}

#endif
