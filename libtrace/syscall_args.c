/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "syscall_args.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

static const struct {
	const char *name;
	uint8_t nr_args;
} known[] = {
#define SYSCALL(name, class, nr_args, path_arg) { #name, nr_args },
#include <trace/syscalls.def>
#undef SYSCALL
};

static_assert(offsetof(struct trace_sys_enter3, nr) == 0 && offsetof(struct trace_sys_enter3, abi) == 4, "as syscall_args_of() has it");
static_assert(offsetof(struct trace_sys_enter6, nr) == 0 && offsetof(struct trace_sys_enter6, abi) == 4, "as syscall_args_of() has it");

void syscall_args_init(struct syscall_args *args)
{
	memset(args->nr, SYSCALL_ARGS_MOST, sizeof(args->nr));
}

void syscall_args_name(struct syscall_args *args, enum trace_string_space space, uint64_t key, const char *name)
{
	uint8_t *nr;

	if ((space != TRACE_STRING_SYSCALL && space != TRACE_STRING_SYSCALL_32) || key >= SYSCALL_ARGS_NUMBERS)
		return;
	nr = &args->nr[space == TRACE_STRING_SYSCALL ? TRACE_ABI_NATIVE : TRACE_ABI_32][key];
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (*known[i].name == *name && !strcmp(known[i].name, name))
			__atomic_store_n(nr, known[i].nr_args, __ATOMIC_RELAXED);
}
