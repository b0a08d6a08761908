/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscalls.c - system calls by number: their names (from the C library's headers, at build time)
 * and what to record for them */
#include "syscalls.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "config.h"
#include "syscall_names.h" /* generated: syscall_names[2][TRACER_NR_SYSCALLS] */
#include "loader.h"
#include "call_arguments.h"
#include "syscall_table.h"

/* The classes of calls that make descriptors, or change what a socket is connected to. */
static const unsigned int class_actions[NR_CALL_CLASSES] = {
	[CALL_ACCEPT] = SYSCALL_NEW_SOCKET, [CALL_BIND] = SYSCALL_ENDPOINTS,
	[CALL_CONNECT] = SYSCALL_ENDPOINTS, [CALL_EPOLL_WAIT] = SYSCALL_EPOLL,
	[CALL_EXEC] = SYSCALL_EXEC,	    [CALL_POLL] = SYSCALL_POLL,
	[CALL_FD_NEW] = SYSCALL_NEW_FD,	    [CALL_IOCTL] = SYSCALL_NEW_FD | SYSCALL_IOCTL,
	[CALL_OPEN] = SYSCALL_NEW_FD,	    [CALL_PIPE] = SYSCALL_PIPE,
	[CALL_SOCKET] = SYSCALL_NEW_SOCKET, [CALL_SOCKETCALL] = SYSCALL_SOCKETCALL,
	[CALL_SELECT] = SYSCALL_SELECT,	    [CALL_SOCKETPAIR] = SYSCALL_SOCKETPAIR,
	[CALL_URING_ENTER] = SYSCALL_RING,
};

/* Calls with effects of their own. */
static const struct {
	const char *name;
	unsigned int action;
} call_actions[] = {
	{"bpf", SYSCALL_BPF},
	{"futex_requeue", SYSCALL_MOVES},
	{"futex_waitv", SYSCALL_WAITV},
	/* messages can carry descriptors, too (SCM_RIGHTS) */
	{"recvmmsg", SYSCALL_MESSAGES},
	{"recvmmsg_time64", SYSCALL_MESSAGES},
	{"recvmsg", SYSCALL_RIGHTS},
	{"rename", SYSCALL_RENAME},
	{"renameat", SYSCALL_RENAME},
	{"renameat2", SYSCALL_RENAME},
	{"rmdir", SYSCALL_RENAME},
	{"sendmmsg", SYSCALL_SENDMMSG},
	{"sendmsg", SYSCALL_SENDMSG},
	{"sendto", SYSCALL_SENDTO},
	{"setgid", SYSCALL_IDS},
	{"setgid32", SYSCALL_IDS},
	{"setpgid", SYSCALL_IDS},
	{"setregid", SYSCALL_IDS},
	{"setregid32", SYSCALL_IDS},
	{"setresgid", SYSCALL_IDS},
	{"setresgid32", SYSCALL_IDS},
	{"setresuid", SYSCALL_IDS},
	{"setresuid32", SYSCALL_IDS},
	{"setreuid", SYSCALL_IDS},
	{"setreuid32", SYSCALL_IDS},
	{"setsid", SYSCALL_IDS},
	{"setuid", SYSCALL_IDS},
	{"setuid32", SYSCALL_IDS},
	{"unlinkat", SYSCALL_REMOVE},
};

static unsigned int action_of(const struct syscall_row *row)
{
	size_t nr = strlen(row->arguments), before_path = strcspn(row->arguments, "p");
	unsigned int action = nr == 0 ? SYSCALL_ARGS_0 : nr <= 3 ? SYSCALL_ARGS_3 : SYSCALL_ARGS_6;

	if (before_path < nr)
		action |= (unsigned int)(before_path + 1) << SYSCALL_PATH_SHIFT;
	if (before_path && before_path < nr && row->arguments[before_path - 1] == 'd')
		action |= SYSCALL_AT;
	action |= class_actions[row->class];
	if (nr < 2) /* the first select() of 32-bit programs has its arguments in memory */
		action &= ~SYSCALL_SELECT;
	for (size_t i = 0; i < sizeof(call_actions) / sizeof(call_actions[0]); i++)
		if (strcmp(row->name, call_actions[i].name) == 0)
			action |= call_actions[i].action;
	return action;
}

void tracer_syscall_actions(unsigned int actions[2][TRACER_NR_SYSCALLS], bool is_filtering)
{
	for (unsigned int abi = 0; abi < 2; abi++)
		for (unsigned int nr = 0; nr < TRACER_NR_SYSCALLS; nr++) {
			const char *name = tracer_syscall_name(abi ? TRACE_ABI_32 : TRACE_ABI_NATIVE, nr);
			const struct syscall_row *row = name ? syscall_row_find(name, abi) : NULL;

			actions[abi][nr] = row ? action_of(row) : SYSCALL_ARGS_6;
			if (!is_filtering)
				actions[abi][nr] &= ~SYSCALL_POLLS;
		}
}

_Static_assert((int)DATA_ONE == (int)COUNT_ONE && (int)DATA_OF_ARGUMENT == (int)COUNT_ARGUMENT &&
		       (int)DATA_BEHIND == (int)COUNT_BEHIND && (int)DATA_OF_RESULT == (int)COUNT_RESULT,
	       "the recorder counts as the table does");

static struct tracer_data_rule data_rule(const struct call_argument *argument)
{
	struct tracer_data_rule rule = {0};

	if (argument->kind != KIND_MEMORY)
		return rule;
	rule.when = (unsigned char)((argument->is_read ? DATA_AT_ENTRY : 0) |
				    (argument->is_written ? DATA_AT_EXIT : 0));
	rule.shape = argument->type == TYPE_str	    ? DATA_TEXT
		     : argument->type == TYPE_strs  ? DATA_TEXTS
		     : argument->type == TYPE_fdset ? DATA_BITS
						    : DATA_BYTES;
	rule.count = argument->count;
	rule.idx = argument->idx;
	rule.bytes = call_type_bytes(argument->type);
	return rule;
}

void tracer_data_rules(struct tracer_data_rule rules[TRACER_NR_SYSCALLS][TRACER_NR_ARGS])
{
	struct call_meaning call;

	for (unsigned int nr = 0; nr < TRACER_NR_SYSCALLS; nr++) {
		const char *name = tracer_syscall_name(TRACE_ABI_NATIVE, nr);

		if (!name || !call_meaning_make(name, false, &call))
			continue;
		for (unsigned int i = 0; i < call.nr_arguments; i++)
			rules[nr][i] = data_rule(&call.arguments[i]);
	}
}

const char *tracer_syscall_name(enum trace_abi abi, unsigned int nr)
{
	const char *name = nr < TRACER_NR_SYSCALLS ? syscall_names[abi == TRACE_ABI_32][nr] : NULL;

	return name ? name : syscall_name_of(nr); /* the kernel may be newer than the headers */
}
