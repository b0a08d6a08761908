/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_CALL_ARGUMENTS_H
#define BASE_CALL_ARGUMENTS_H
/* call_arguments.h - the table call_arguments.def: what the arguments of system calls mean. */
#include <stdbool.h>
#include <stdint.h>
#include "value_names.h"

#define CALL_MAX_ARGUMENTS 6

/** enum call_kind - what an argument is */
enum call_kind {
	KIND_SIGNED,
	KIND_UNSIGNED,
	KIND_HEX,
	KIND_OCTAL,
	KIND_LONG,
	KIND_ADDRESS,
	KIND_FD,
	KIND_DIRECTORY,
	KIND_PID,
	KIND_SIGNAL,
	KIND_DEVICE,
	KIND_PATH,
	KIND_MODE,
	KIND_CHOICE, /* one of a set */
	KIND_BITS,   /* those of a set */
	KIND_MEMORY, /* enum call_type */
	KIND_OTHER_MEMORY,
	/* those that need another argument, or several sets */
	KIND_CLONE,
	KIND_FCNTL,
	KIND_FUTEX,
	KIND_PRCTL,
	KIND_SOCKOPT,
	KIND_SOCK_TYPE,
	KIND_SOCK_PROTOCOL,
	KIND_MMAP_FLAGS,
	KIND_MKNOD,
	KIND_STATX_FLAGS,
	KIND_IOCTL,
	KIND_IPC_KEY,
	KIND_IPC_FLAGS,
	KIND_IPC_COMMAND,
};

/** enum call_type - what memory is; CALL_TYPES has names, and the bytes of one element */
#define CALL_TYPES(T)      \
	T(str, 0)          \
	T(strs, 0)         \
	T(bytes, 1)        \
	T(sockaddr, 1)     \
	T(int, 4)          \
	T(uint, 4)         \
	T(int_list, 4)     \
	T(gid, 4)          \
	T(gid_one, 4)      \
	T(fds, 8)          \
	T(wstatus, 4)      \
	T(sigset, 8)       \
	T(timespec, 16)    \
	T(timeval, 16)     \
	T(timespecs, 32)   \
	T(timevals, 32)    \
	T(itimerval, 32)   \
	T(itimerspec, 32)  \
	T(sigaction, 32)   \
	T(siginfo, 48)     \
	T(stat, 144)       \
	T(statx, 256)      \
	T(statfs, 120)     \
	T(rlimit, 16)      \
	T(rusage, 144)     \
	T(iovec, 16)       \
	T(msghdr, 56)      \
	T(pollfd, 8)       \
	T(epoll_event, 12) \
	T(utsname, 390)    \
	T(sysinfo, 112)    \
	T(fdset, 0)        \
	T(cpuset, 1)       \
	T(clone_args, 1)   \
	T(open_how, 24)

enum call_type {
#define CALL_TYPE_NAME(name, bytes) TYPE_##name,
	CALL_TYPES(CALL_TYPE_NAME)
#undef CALL_TYPE_NAME
		NR_CALL_TYPES,
};

/** enum call_count - how many elements the memory has */
enum call_count {
	COUNT_ONE,
	COUNT_ARGUMENT, /* argument @idx */
	COUNT_BEHIND,	/* the int that argument @idx points to */
	COUNT_RESULT,
};

/**
 * struct call_argument - one argument
 * @set: of KIND_CHOICE and KIND_BITS. @type, @is_read, @is_written, @count, @idx: of KIND_MEMORY;
 * the kernel reads it, or writes it
 */
struct call_argument {
	uint8_t kind;
	uint8_t type;
	bool is_read;
	bool is_written;
	uint8_t count;
	uint8_t idx;
	const struct value_set *set;
};

/** struct call_meaning - a call; @result: 'D' and so on; @classes: as in call_arguments.def */
struct call_meaning {
	const char *name;
	const char *classes;
	char result;
	uint8_t nr_arguments;
	struct call_argument arguments[CALL_MAX_ARGUMENTS];
};

/**
 * call_meaning_make() - what is known of the call @name
 * A call that call_arguments.def lacks has what <trace/syscalls.def> tells; one that both lack has
 * six arguments. Returns false for a word in the table that is wrong: a bug.
 */
bool call_meaning_make(const char *name, bool is_32, struct call_meaning *ret_row);
/** call_meaning_name() - the name of row @idx of call_arguments.def; NULL past the last */
const char *call_meaning_name(size_t idx);
/** call_type_bytes() - of one element; 0: it ends where its content says */
unsigned int call_type_bytes(enum call_type type);
#endif
