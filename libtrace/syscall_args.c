/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall_args.c - the table of system calls with the meaning of each argument. */
#include "syscall_args.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include "syscall_table.h"

static_assert(offsetof(struct trace_sys_enter3, nr) == 0 && offsetof(struct trace_sys_enter3, abi) == 4,
	      "as syscall_args_of() has it");
static_assert(offsetof(struct trace_sys_enter6, nr) == 0 && offsetof(struct trace_sys_enter6, abi) == 4,
	      "as syscall_args_of() has it");

void syscall_args_init(struct syscall_args *args)
{
	for (size_t i = 0; i < SYSCALL_ARGS_NUMBERS; i++)
		args->forms[TRACE_ABI_NATIVE][i] = args->forms[TRACE_ABI_32][i] = syscall_args_all;
}

static struct syscall_form form_of(const char *arguments)
{
	struct syscall_form form = {.kept = 1};

	for (unsigned int word = 1; *arguments; arguments++, word++) {
		if (*arguments == 'a' || *arguments == 'p')
			form.addresses |= (uint8_t)(1 << word);
		else
			form.kept |= (uint8_t)(1 << word);
	}
	return form;
}

void syscall_args_name(struct syscall_args *args, enum trace_string_space space, uint64_t key, const char *name)
{
	const struct syscall_row *row;
	struct syscall_form *form, found;

	if ((space != TRACE_STRING_SYSCALL && space != TRACE_STRING_SYSCALL_32) || key >= SYSCALL_ARGS_NUMBERS)
		return;
	row = syscall_row_find(name, space == TRACE_STRING_SYSCALL_32);
	if (!row)
		return;
	form = &args->forms[space == TRACE_STRING_SYSCALL ? TRACE_ABI_NATIVE : TRACE_ABI_32][key];
	found = form_of(row->arguments);
	__atomic_store(form, &found, __ATOMIC_RELAXED);
}
