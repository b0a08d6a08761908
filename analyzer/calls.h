/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_CALLS_H
#define ANALYZER_CALLS_H
/* calls.h - system calls by number: name, class and flags. */
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;

#define NR_CALLS 1024u

enum call_class {
	CALL_OTHER = 0,
	CALL_ACCEPT,
	CALL_AIO,
	CALL_BIND,
	CALL_BRK,
	CALL_CLOSE,
	CALL_CLOSE_RANGE,
	CALL_CONNECT,
	CALL_DUP,
	CALL_DUP2,
	CALL_EPOLL_CTL,
	CALL_EPOLL_WAIT,
	CALL_EXEC,
	CALL_EXIT,
	CALL_FCNTL,
	CALL_FD_META,
	CALL_FD_NEW,
	CALL_FORK,
	CALL_FUTEX,
	CALL_GETDENTS,
	CALL_IOCTL,
	CALL_IPC,
	CALL_KILL,
	CALL_MEMORY,
	CALL_MMAP,
	CALL_MREMAP,
	CALL_MSYNC,
	CALL_MUNMAP,
	CALL_OPEN,
	CALL_PATH,
	CALL_PAUSE,
	CALL_PIPE,
	CALL_POLL,
	CALL_PTRACE,
	CALL_READ,
	CALL_RECV,
	CALL_SEEK,
	CALL_SELECT,
	CALL_SEND,
	CALL_SENDFILE,
	CALL_SHMAT,
	CALL_SLEEP,
	CALL_SOCKET,
	CALL_SOCKETCALL,
	CALL_SOCKETPAIR,
	CALL_SPLICE,
	CALL_SYNC,
	CALL_SYNC_ALL,
	CALL_UNSHARE,
	CALL_URING_ENTER,
	CALL_WAIT,
	CALL_WRITE,
	CALL_YIELD,
	NR_CALL_CLASSES,
};

enum call_flag {
	CALL_HAS_FD = 1,     /* the first argument is a descriptor */
	CALL_HAS_EFFECT = 2, /* its return changes files or memory: see syscall_effect() */
	CALL_COUNTS_READ = 4,
	CALL_COUNTS_WRITTEN = 8,
	CALL_IS_LOCK = 16,  /* flock: waits for the holder of the lock, not for a disk */
	CALL_MESSAGES = 32, /* returns messages, not bytes */
};

struct call {
	string_id name;
	uint8_t class;
	uint8_t flags;
	uint8_t nr_args;   /* as the kernel defines it; further recorded arguments have no meaning */
	uint8_t addresses; /* one bit for each argument of which only is recorded whether it is an address */
};
#define CALL_UNKNOWN (2 * NR_CALLS) /* a call without a recorded entry */
/* No calls, but rows beside theirs: work of the kernel outside of calls (kernel_work.h). */
enum { CALL_EXITING = CALL_UNKNOWN + 1, CALL_SIGNAL, CALL_CORE_DUMP, CALL_TASK_WORK, CALL_STOP, NR_CALL_ROWS };

void calls_prepare(struct trace_analysis *a);
uint32_t call_idx(uint32_t nr, uint32_t abi);
#endif
