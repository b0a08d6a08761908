/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_SYSCALL_ARGUMENTS_H
#define BASE_SYSCALL_ARGUMENTS_H
/* syscall_arguments.h - what each argument of a system call is: <trace/syscalls.def> */
#include <stdbool.h>

/** syscall_arguments() - a letter for each argument; NULL: the table does not have the call */
const char *syscall_arguments(const char *name, bool is_32);
/** syscall_argument() - the index of the @nth argument (from 0) of that kind; -1: it has none */
int syscall_argument(const char *arguments, char kind, unsigned int nth);
#endif
