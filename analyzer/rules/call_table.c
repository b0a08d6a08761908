/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "call_table.h"

#include <string.h>

#define NONE NO_ARGUMENT

static const struct on_files all_calls[] = {
	{"read", {0, NONE}, 0},
	{"pread64", {0, NONE}, 0},
	{"readv", {0, NONE}, 0},
	{"preadv", {0, NONE}, 0},
	{"preadv2", {0, NONE}, 0},
	{"write", {0, NONE}, CALL_GIVES},
	{"pwrite64", {0, NONE}, CALL_GIVES},
	{"writev", {0, NONE}, CALL_GIVES},
	{"pwritev", {0, NONE}, CALL_GIVES},
	{"pwritev2", {0, NONE}, CALL_GIVES},
	{"recvfrom", {0, NONE}, 0},
	{"recvmsg", {0, NONE}, 0},
	{"recvmmsg", {0, NONE}, 0},
	{"sendto", {0, NONE}, CALL_GIVES},
	{"sendmsg", {0, NONE}, CALL_GIVES | CALL_PASSES},
	{"sendmmsg", {0, NONE}, CALL_GIVES | CALL_PASSES},
	{"connect", {0, NONE}, 0},
	{"flock", {0, NONE}, 0},
	{"fcntl", {0, NONE}, 0},
	{"fcntl64", {0, NONE}, 0},
	{"vmsplice", {0, NONE}, CALL_GIVES},
	{"ftruncate", {0, NONE}, 0},
	{"fsync", {0, NONE}, 0},
	{"lseek", {0, NONE}, 0},
	{"splice", {0, 2}, CALL_GIVES},
	{"copy_file_range", {0, 2}, CALL_GIVES},
	{"tee", {0, 1}, CALL_GIVES},
	{"sendfile", {0, 1}, CALL_GIVES},
	{"sendfile64", {0, 1}, CALL_GIVES},
	{"close", {0, NONE}, CALL_USES},
	{"dup", {0, NONE}, CALL_USES},
	{"dup2", {0, NONE}, CALL_USES},
	{"dup3", {0, NONE}, CALL_USES},
	{"shutdown", {0, NONE}, CALL_USES},
	{"ioctl", {0, NONE}, CALL_USES | CALL_IOCTL},
	{"socketcall", {NONE, NONE}, CALL_GIVES | CALL_PASSES},
	{"truncate", {NONE, NONE}, CALL_BY_PATH},
	{"truncate64", {NONE, NONE}, CALL_BY_PATH},
	{"chmod", {NONE, NONE}, CALL_BY_PATH},
	{"fchmodat", {NONE, NONE}, CALL_BY_PATH},
	{"fchmodat2", {NONE, NONE}, CALL_BY_PATH},
	{"chown", {NONE, NONE}, CALL_BY_PATH},
	{"lchown", {NONE, NONE}, CALL_BY_PATH},
	{"fchownat", {NONE, NONE}, CALL_BY_PATH},
	{"utime", {NONE, NONE}, CALL_BY_PATH},
	{"utimes", {NONE, NONE}, CALL_BY_PATH},
	{"utimensat", {NONE, NONE}, CALL_BY_PATH},
	{"setxattr", {NONE, NONE}, CALL_BY_PATH},
	{"lsetxattr", {NONE, NONE}, CALL_BY_PATH},
	{"removexattr", {NONE, NONE}, CALL_BY_PATH},
	{"lremovexattr", {NONE, NONE}, CALL_BY_PATH},
	{"shmat", {NONE, NONE}, CALL_ATTACHES},
	{"ipc", {NONE, NONE}, CALL_IPC_OF_32},
	/* futex_waitv() has several futexes, in the memory of the program */
	{"futex", {NONE, NONE}, CALL_ON_FUTEX | CALL_REQUEUES},
	{"futex_time64", {NONE, NONE}, CALL_ON_FUTEX | CALL_REQUEUES},
	{"futex_wait", {NONE, NONE}, CALL_ON_FUTEX},
	{"futex_requeue", {NONE, NONE}, CALL_REQUEUES}, /* its futexes are in the memory of the program */
};
#define NR_CALLS (sizeof(all_calls) / sizeof(all_calls[0]))

const struct on_files *call_table_find(struct call_table *table, const struct rules *rules,
				       const struct trace_sys_enter *enter)
{
	uint32_t nr = enter->nr & 0x3fffffff; /* __X32_SYSCALL_BIT */
	uint8_t *cached = nr < NR_CACHED_CALLS ? &table->cached[enter->abi == TRACE_ABI_32][nr] : NULL;
	const char *name;

	if (!cached)
		return NULL;
	if (!*cached) {
		*cached = 1;
		name = rules_entered_call(rules, enter);
		for (size_t i = 0; name && i < NR_CALLS; i++)
			if (strcmp(all_calls[i].name, name) == 0)
				*cached = (uint8_t)(i + 2);
	}
	return *cached > 1 ? &all_calls[*cached - 2] : NULL;
}
