/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_RULES_UNSEEN_FILES_H
#define ANALYZER_RULES_UNSEEN_FILES_H
/*
 * unseen_files.h - which processes may have files that no event told
 *
 * A descriptor that a program gets by a system call or by an opening request of io_uring is in the
 * trace, also if it came with a message (recvmsg, recvmmsg) or from another process (pidfd_getfd).
 * These ones are not:
 * - a request of io_uring received it (IORING_OP_RECVMSG)
 * - a ring passed it to another ring (IORING_OP_MSG_RING), or has it in its own table only
 * - a supervisor put it into the process (SECCOMP_IOCTL_NOTIF_ADDFD)
 * - another process with the same table of descriptors (CLONE_FILES) got it
 * - any other way: then a call on the descriptor succeeds, although its file is not known
 * A file in a message that is not received yet is in no table. The process that closes the socket
 * of that message closes the file, and never had it open.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/analysis.h>
#include <trace/events.h>

#include "call_table.h"
#include "hash_table.h"

struct unseen_files {
	struct hash_table had;	   /* processes, by address: each may have files that no event told */
	struct hash_table rings;   /* those that submitted requests of io_uring */
	struct hash_table passers; /* those that may have sent descriptors */
	struct hash_table tables;  /* of descriptors: the first process that had each */
	bool rings_pass;	   /* a ring may have files of another one, or files without a descriptor */
	bool is_supervised;	   /* a process may put files into another one */
	bool failed;		   /* memory is out */
};

/** unseen_note() - @process has, or may have, a file that no event told */
void unseen_note(struct unseen_files *u, const struct trace_process *process);
/** unseen_enter() - @process enters @call, with the arguments of @enter */
void unseen_enter(struct unseen_files *u, const struct trace_process *process, const struct on_files *call,
		  const struct trace_sys_enter6 *enter);
/** unseen_request() - @process submits a request of io_uring, or one completes (uring_open) */
void unseen_request(struct unseen_files *u, const struct trace_process *process, const struct trace_event *event);
/** unseen_table() - @process has the table @number of descriptors */
void unseen_table(struct unseen_files *u, const struct trace_process *process, uint64_t number);
/** unseen_has() - may @process have, or have had, a file that no event told? */
bool unseen_has(const struct unseen_files *u, const struct trace_process *process);
/** unseen_passes() - may @process have sent descriptors to another one? */
bool unseen_passes(const struct unseen_files *u, const struct trace_process *process);
void unseen_clear(struct unseen_files *u);
#endif
