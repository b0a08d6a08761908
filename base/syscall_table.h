/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_SYSCALL_TABLE_H
#define BASE_SYSCALL_TABLE_H
/* syscall_table.h - the table of system calls (<trace/syscalls.def>), by name. */
#include <stdbool.h>
#include <stdint.h>
#include "syscall_arguments.h"

/* the effect of a call on its thread's files, memory and waits */
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
	CALL_INODE,
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

struct syscall_row {
	const char *name;
	uint8_t class;	       /* enum call_class */
	const char *arguments; /* a letter for each: syscalls.def */
};

/**
 * syscall_row_find() - the row of a call
 * @is_32: it is a call of a 32-bit program
 *
 * Returns NULL if the table does not have it.
 */
const struct syscall_row *syscall_row_find(const char *name, bool is_32);

/**
 * syscall_name_of() - the name of a call with a number that is the same in all ABIs, and that the
 * headers of a C library may lack; NULL: there is none
 */
const char *syscall_name_of(uint64_t number);
#endif
