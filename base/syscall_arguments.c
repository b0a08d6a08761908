/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall_arguments.c - what each argument of a system call is */
#include "syscall_arguments.h"
#include "syscall_table.h"
#include <stddef.h>

const char *syscall_arguments(const char *name, bool is_32)
{
	const struct syscall_row *row = syscall_row_find(name, is_32);

	return row ? row->arguments : NULL;
}

int syscall_argument(const char *arguments, char kind, unsigned int nth)
{
	for (int i = 0; arguments[i]; i++)
		if (arguments[i] == kind && !nth--)
			return i;
	return -1;
}
