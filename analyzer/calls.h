/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_CALLS_H
#define ANALYZER_CALLS_H
/* calls.h - system calls by number: name, class and flags. */
#include <stdint.h>
#include "hash_table.h"
#include "syscall_table.h"

struct trace_analysis;

#define NR_CALLS 1024u

enum call_flag {
	CALL_HAS_FD = 1,     /* the first argument is a descriptor */
	CALL_HAS_EFFECT = 2, /* its return changes files or memory: see syscall_effect() */
	CALL_COUNTS_READ = 4,
	CALL_COUNTS_WRITTEN = 8,
	CALL_IS_LOCK = 16,	   /* flock: waits for the holder of the lock, not for a disk */
	CALL_MESSAGES = 32,	   /* returns messages, not bytes */
	CALL_HAS_DIRECTORY = 128,  /* a path begins at a descriptor: call.directory */
	CALL_KEEPS_DATA = 64,	   /* tee: what it copies stays in the first file */
	CALL_RESTARTS = 256,	   /* restart_syscall(): continues the call that was interrupted */
	CALL_ENDS_HANDLER = 512,   /* rt_sigreturn(): the end of a signal handler */
	CALL_SHUTS_DOWN = 1024,	   /* shutdown() */
	CALL_CHANGES_INODE = 2048, /* chmod(), truncate(): takes the lock of the file that its path names */
};

struct call {
	string_id name;
	uint8_t class;
	uint16_t flags;
	uint8_t nr_args;   /* as the kernel defines it; further recorded arguments have no meaning */
	uint8_t addresses; /* one bit for each argument of which only is recorded whether it is an address */
	/* indices of arguments, by syscalls.def; -1: it has no such argument */
	int8_t second_fd; /* of the second descriptor */
	int8_t directory; /* of the descriptor of the directory where the path begins */
	int8_t bytes;	  /* of the number of bytes asked for */
	int8_t flags_arg;
};
#define CALL_UNKNOWN (2 * NR_CALLS) /* a call without a recorded entry */
/*
 * Calls with numbers that no call has: programs make them, too, such as -1. Each number has a row,
 * and the last row has all further ones.
 */
#define CALL_STRANGE	 (CALL_UNKNOWN + 1)
#define NR_STRANGE_CALLS 32u
/* No calls, but rows beside theirs: work of the kernel outside of calls (kernel_work.h). */
enum {
	CALL_EXITING = CALL_STRANGE + NR_STRANGE_CALLS,
	CALL_SIGNAL,
	CALL_CORE_DUMP,
	CALL_TASK_WORK,
	CALL_STOP,
	NR_CALL_ROWS
};

void calls_prepare(struct trace_analysis *a);
/** call_idx() - the row of a call; CALL_UNKNOWN for a strange number */
uint32_t call_idx(uint32_t nr, uint32_t abi);
/** call_get() - the same, also for a strange number */
uint32_t call_get(struct trace_analysis *a, uint32_t nr, uint32_t abi);
#endif
