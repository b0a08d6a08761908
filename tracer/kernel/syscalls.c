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

struct syscall_row {
	const char *name;
	const char *class;
	const char *arguments;
};

static const struct syscall_row rows[] = {
#define SYSCALL(name, class, arguments) {#name, #class, arguments},
#include <trace/syscalls.def>
#undef SYSCALL
};

/* The classes of calls that make descriptors, or change what a socket is connected to. */
static const struct {
	const char *class;
	unsigned int action;
} class_actions[] = {
	{"OPEN", SYSCALL_NEW_FD},	{"FD_NEW", SYSCALL_NEW_FD},
	{"PIPE", SYSCALL_PIPE},		{"SOCKET", SYSCALL_NEW_SOCKET},
	{"ACCEPT", SYSCALL_NEW_SOCKET}, {"SOCKETPAIR", SYSCALL_SOCKETPAIR},
	{"BIND", SYSCALL_ENDPOINTS},	{"CONNECT", SYSCALL_ENDPOINTS},
	{"URING_ENTER", SYSCALL_RING},	{"IOCTL", SYSCALL_NEW_FD | SYSCALL_IOCTL},
};

/* Messages can carry descriptors, too (SCM_RIGHTS). */
static unsigned int action_of_messages(const char *name)
{
	return strcmp(name, "recvmsg") == 0 ? SYSCALL_RIGHTS : strncmp(name, "recvmmsg", 8) == 0 ? SYSCALL_MESSAGES : 0;
}

/* The calls that change effective ids, of 32-bit programs also setuid32 and so on, or the group. */
static unsigned int action_of_ids(const char *name)
{
	static const char *const names[] = {"setuid",	 "setgid",    "setreuid", "setregid",
					    "setresuid", "setresgid", "setpgid",  "setsid"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);

		if (strncmp(name, names[i], length) == 0 && (!name[length] || strcmp(name + length, "32") == 0))
			return SYSCALL_IDS;
	}
	return 0;
}

static unsigned int action_of(const struct syscall_row *row)
{
	size_t nr = strlen(row->arguments), before_path = strcspn(row->arguments, "p");
	unsigned int action = nr == 0 ? SYSCALL_ARGS_0 : nr <= 3 ? SYSCALL_ARGS_3 : SYSCALL_ARGS_6;

	if (before_path < nr)
		action |= (unsigned int)((before_path + 1) << SYSCALL_PATH_SHIFT);
	for (size_t i = 0; i < sizeof(class_actions) / sizeof(class_actions[0]); i++)
		if (strcmp(row->class, class_actions[i].class) == 0)
			action |= class_actions[i].action;
	action |= action_of_messages(row->name) | action_of_ids(row->name);
	if (strcmp(row->name, "bpf") == 0)
		action |= SYSCALL_BPF;
	return action;
}

static const struct syscall_row *find_row(const char *name)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, name) == 0)
			return &rows[i];
	return NULL;
}

void tracer_syscall_actions(unsigned int actions[2][TRACER_NR_SYSCALLS])
{
	for (int abi = 0; abi < 2; abi++)
		for (int nr = 0; nr < TRACER_NR_SYSCALLS; nr++) {
			const char *name = syscall_names[abi][nr];
			const struct syscall_row *row = name ? find_row(name) : NULL;

			actions[abi][nr] = row ? action_of(row)
					       : SYSCALL_ARGS_6 |
							   (name ? action_of_messages(name) | action_of_ids(name) : 0);
			if (name && strcmp(name, "socketcall") == 0)
				actions[abi][nr] = SYSCALL_ARGS_3 | SYSCALL_SOCKETCALL;
		}
}

const char *tracer_syscall_name(enum trace_abi abi, unsigned int nr)
{
	return nr < TRACER_NR_SYSCALLS ? syscall_names[abi == TRACE_ABI_32][nr] : NULL;
}
