/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* calls.c - system calls by number: name, class and flags. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "calls.h"
#include "state.h"

static const struct {
	const char *name;
	uint8_t class;
	const char *arguments; /* in the form of syscalls.def */
} known_calls[] = {
#define SYSCALL(name, class, arguments) {#name, CALL_##class, arguments},
#include <trace/syscalls.def>
#undef SYSCALL
	/* 32-bit programs only: arch/x86/entry/syscalls/syscall_32.tbl of Linux 6.18 */
	{"_llseek", CALL_SEEK, "-----"},
	{"_newselect", CALL_SELECT, "-----"},
	{"clock_nanosleep_time64", CALL_SLEEP, "----"},
	{"fadvise64_64", CALL_SYNC, "------"},
	{"fcntl64", CALL_FCNTL, "---"},
	{"fstat64", CALL_FD_META, "--"},
	{"fstatat64", CALL_PATH, "----"},
	{"ftruncate64", CALL_SYNC, "---"},
	{"futex_time64", CALL_FUTEX, "------"},
	{"io_pgetevents_time64", CALL_AIO, "------"},
	{"ipc", CALL_IPC, "------"},
	{"lstat64", CALL_PATH, "--"},
	{"mmap2", CALL_MMAP, "------"},
	{"mq_timedreceive_time64", CALL_IPC, "-----"},
	{"mq_timedsend_time64", CALL_IPC, "-----"},
	{"ppoll_time64", CALL_POLL, "-----"},
	{"pselect6_time64", CALL_SELECT, "------"},
	{"recvmmsg_time64", CALL_RECV, "-----"},
	{"rt_sigtimedwait_time64", CALL_PAUSE, "----"},
	{"semtimedop_time64", CALL_IPC, "----"},
	{"sendfile64", CALL_SENDFILE, "----"},
	{"sigsuspend", CALL_PAUSE, "---"},
	{"socketcall", CALL_SOCKETCALL, "--"},
	{"stat64", CALL_PATH, "--"},
	{"truncate64", CALL_PATH, "---"},
	{"waitpid", CALL_WAIT, "---"},
};

static const uint8_t class_flags[NR_CALL_CLASSES] = {
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

#define NR_KNOWN (sizeof(known_calls) / sizeof(known_calls[0]))

static uint8_t addresses_of(const char *arguments)
{
	uint8_t addresses = 0;

	for (unsigned int i = 0; arguments[i]; i++)
		if (arguments[i] != '-')
			addresses |= (uint8_t)(1 << i);
	return addresses;
}

/* The known names were interned first and in order: a name's string number gives its row. */
static void call_learn(struct trace_analysis *a, struct call *call, const char *name, unsigned int number,
		       string_id first)
{
	char text[32];

	call->nr_args = 6;
	if (!name) {
		snprintf(text, sizeof(text), "syscall_%u", number);
		call->name = strings_intern(&a->strings, text);
		return;
	}
	call->name = strings_intern(&a->strings, name);
	if (call->name < first || call->name - first >= NR_KNOWN)
		return;
	call->class = known_calls[call->name - first].class;
	call->nr_args = (uint8_t)strlen(known_calls[call->name - first].arguments);
	call->addresses = addresses_of(known_calls[call->name - first].arguments);
	call->flags = class_flags[call->class];
	if (strcmp(name, "flock") == 0)
		call->flags |= CALL_IS_LOCK;
	if (strncmp(name, "recvmmsg", 8) == 0 || strcmp(name, "sendmmsg") == 0)
		call->flags |= CALL_MESSAGES;
}

void calls_prepare(struct trace_analysis *a)
{
	string_id first = strings_intern(&a->strings, known_calls[0].name);

	for (size_t i = 1; i < NR_KNOWN; i++)
		if (strings_intern(&a->strings, known_calls[i].name) != first + i)
			a->failed = -ENOMEM; /* the names are unique, so memory is out */
	for (unsigned int i = 0; i < NR_CALLS; i++) {
		call_learn(a, &a->calls[i], trace_string(a->trace, TRACE_STRING_SYSCALL, i), i, first);
		call_learn(a, &a->calls[NR_CALLS + i], trace_string(a->trace, TRACE_STRING_SYSCALL_32, i), i, first);
	}
	a->calls[CALL_UNKNOWN].name = strings_intern(&a->strings, TRACE_CALL_NOT_SEEN);
	a->calls[CALL_EXITING].name = strings_intern(&a->strings, "exit");
	a->calls[CALL_SIGNAL].name = strings_intern(&a->strings, "signal");
	a->calls[CALL_CORE_DUMP].name = strings_intern(&a->strings, "core dump");
	a->calls[CALL_TASK_WORK].name = strings_intern(&a->strings, "task work");
	a->calls[CALL_STOP].name = strings_intern(&a->strings, "stop");
}

uint32_t call_idx(uint32_t nr, uint32_t abi)
{
	nr &= 0x3fffffff; /* __X32_SYSCALL_BIT */
	if (nr >= NR_CALLS)
		return CALL_UNKNOWN;
	return abi == TRACE_ABI_32 ? NR_CALLS + nr : nr;
}
