/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* calls.c - system calls by number: name, class and flags. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "calls.h"
#include "state.h"

static const uint16_t class_flags[NR_CALL_CLASSES] = {
	[CALL_ACCEPT] = CALL_HAS_FD,
	[CALL_BIND] = CALL_HAS_FD,
	[CALL_CLOSE] = CALL_HAS_FD,
	[CALL_CLOSE_RANGE] = CALL_HAS_EFFECT,
	[CALL_CONNECT] = CALL_HAS_FD,
	[CALL_DUP] = CALL_HAS_FD | CALL_HAS_EFFECT,
	[CALL_DUP2] = CALL_HAS_FD | CALL_HAS_EFFECT,
	[CALL_EPOLL_CTL] = CALL_HAS_FD,
	[CALL_EPOLL_WAIT] = CALL_HAS_FD,
	[CALL_FCNTL] = CALL_HAS_FD | CALL_HAS_EFFECT,
	[CALL_FD_META] = CALL_HAS_FD,
	[CALL_FUTEX] = CALL_HAS_EFFECT,
	[CALL_GETDENTS] = CALL_HAS_FD,
	[CALL_INODE] = CALL_CHANGES_INODE,
	[CALL_IOCTL] = CALL_HAS_FD | CALL_HAS_EFFECT,
	[CALL_MMAP] = CALL_HAS_EFFECT,
	[CALL_MREMAP] = CALL_HAS_EFFECT,
	[CALL_MUNMAP] = CALL_HAS_EFFECT,
	[CALL_OPEN] = CALL_HAS_EFFECT,
	[CALL_READ] = CALL_HAS_FD | CALL_COUNTS_READ,
	[CALL_RECV] = CALL_HAS_FD | CALL_COUNTS_READ,
	[CALL_SEEK] = CALL_HAS_FD,
	[CALL_SEND] = CALL_HAS_FD | CALL_COUNTS_WRITTEN,
	[CALL_SENDFILE] = CALL_HAS_FD | CALL_HAS_EFFECT,
	[CALL_SHMAT] = CALL_HAS_EFFECT,
	[CALL_SPLICE] = CALL_HAS_FD | CALL_HAS_EFFECT,
	[CALL_SYNC] = CALL_HAS_FD,
	[CALL_UNSHARE] = CALL_HAS_EFFECT,
	[CALL_URING_ENTER] = CALL_HAS_FD,
	[CALL_WRITE] = CALL_HAS_FD | CALL_COUNTS_WRITTEN,
};

/* None of the arguments is of a kind that the analysis uses. */
#define NO_ARGUMENTS .second_fd = -1, .directory = -1, .bytes = -1, .flags_arg = -1

static uint8_t addresses_of(const char *arguments)
{
	uint8_t addresses = 0;

	for (unsigned int i = 0; arguments[i]; i++)
		if (arguments[i] == 'a' || arguments[i] == 'p')
			addresses |= (uint8_t)(1 << i);
	return addresses;
}

/* The directory where a path begins is the argument before it. */
static int8_t directory_of(const char *arguments)
{
	return (int8_t)syscall_argument(arguments, 'd', 0);
}

static void call_describe(struct call *call, const struct syscall_row *row)
{
	call->class = row->class;
	call->nr_args = (uint8_t)strlen(row->arguments);
	call->addresses = addresses_of(row->arguments);
	call->flags = class_flags[call->class];
	if (*row->arguments != 'f')
		call->flags &= (uint16_t)~CALL_HAS_FD;
	call->second_fd = (int8_t)syscall_argument(row->arguments, 'f', 1);
	call->directory = directory_of(row->arguments);
	call->bytes = (int8_t)syscall_argument(row->arguments, 'n', 0);
	call->flags_arg = (int8_t)syscall_argument(row->arguments, 'x', 0);
	if (call->directory >= 0)
		call->flags |= CALL_HAS_DIRECTORY;
	if (strcmp(row->name, "flock") == 0)
		call->flags |= CALL_IS_LOCK;
	if (strcmp(row->name, "ipc") == 0)
		call->flags |= CALL_HAS_EFFECT;
	if (strncmp(row->name, "recvmmsg", 8) == 0 || strcmp(row->name, "sendmmsg") == 0)
		call->flags |= CALL_MESSAGES;
	if (strcmp(row->name, "tee") == 0)
		call->flags |= CALL_KEEPS_DATA;
	if (strcmp(row->name, "restart_syscall") == 0)
		call->flags |= CALL_RESTARTS;
	if (strcmp(row->name, "rt_sigreturn") == 0 || strcmp(row->name, "sigreturn") == 0)
		call->flags |= CALL_ENDS_HANDLER;
	if (strcmp(row->name, "shutdown") == 0)
		call->flags |= CALL_SHUTS_DOWN;
}

static void call_learn(struct trace_analysis *a, enum trace_string_space space, unsigned int number)
{
	struct call *call = &a->calls[space == TRACE_STRING_SYSCALL_32 ? NR_CALLS + number : number];
	const char *name = trace_string(a->trace, space, number);
	const struct syscall_row *row;
	char text[32];

	call->nr_args = 6;
	call->second_fd = call->directory = call->bytes = call->flags_arg = -1;
	if (!name)
		name = syscall_name_of(number); /* the recorder's C library was older than its kernel */
	if (!name) {
		snprintf(text, sizeof(text), "syscall_%u", number);
		call->name = strings_intern(&a->strings, text);
		return;
	}
	call->name = strings_intern(&a->strings, name);
	row = syscall_row_find(name, space == TRACE_STRING_SYSCALL_32);
	if (row)
		call_describe(call, row);
}

void calls_prepare(struct trace_analysis *a)
{
	for (unsigned int i = 0; i < NR_CALLS; i++) {
		call_learn(a, TRACE_STRING_SYSCALL, i);
		call_learn(a, TRACE_STRING_SYSCALL_32, i);
	}
	a->calls[CALL_UNKNOWN] = (struct call){.name = strings_intern(&a->strings, TRACE_CALL_NOT_SEEN), NO_ARGUMENTS};
	a->calls[CALL_EXITING] = (struct call){.name = strings_intern(&a->strings, "exit"), NO_ARGUMENTS};
	a->calls[CALL_SIGNAL] = (struct call){.name = strings_intern(&a->strings, "signal"), NO_ARGUMENTS};
	a->calls[CALL_CORE_DUMP] = (struct call){.name = strings_intern(&a->strings, "core dump"), NO_ARGUMENTS};
	a->calls[CALL_TASK_WORK] = (struct call){.name = strings_intern(&a->strings, "task work"), NO_ARGUMENTS};
	a->calls[CALL_STOP] = (struct call){.name = strings_intern(&a->strings, "stop"), NO_ARGUMENTS};
}

#define X32_BIT 0x40000000u /* __X32_SYSCALL_BIT */

uint32_t call_idx(uint32_t nr, uint32_t abi)
{
	nr &= ~X32_BIT;
	if (nr >= NR_CALLS)
		return CALL_UNKNOWN;
	return abi == TRACE_ABI_32 ? NR_CALLS + nr : nr;
}

uint32_t call_get(struct trace_analysis *a, uint32_t nr, uint32_t abi)
{
	uint32_t idx = call_idx(nr, abi), i;
	char text[32];

	if (idx != CALL_UNKNOWN)
		return idx;
	for (i = 0; i < a->nr_strange_calls && a->strange_calls[i] != nr; i++)
		;
	if (i < a->nr_strange_calls || i == NR_STRANGE_CALLS)
		return CALL_STRANGE + (i < NR_STRANGE_CALLS ? i : i - 1);
	snprintf(text, sizeof(text), i < NR_STRANGE_CALLS - 1 ? "syscall_%d" : "syscall_(others)", (int32_t)nr);
	a->strange_calls[a->nr_strange_calls++] = nr;
	a->calls[CALL_STRANGE + i] =
		(struct call){.name = strings_intern(&a->strings, text), .nr_args = 6, NO_ARGUMENTS};
	return CALL_STRANGE + i;
}
