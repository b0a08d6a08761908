/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_STRACE_VALUES_H
#define VISUALIZER_STRACE_VALUES_H
/*
 * strace_values.h - the arguments and results of a system call, as strace(1) shows them.
 *
 * A value that the table does not know stays a number. An address that was not recorded is "...",
 * and so is the content of memory of a recording without --args.
 */
#include <trace/analysis.h>
#include "call_arguments.h"
#include "checked_memory.h"
#include "strace_options.h"

/** struct call_memory - recorded content of an argument; @bytes NULL: none */
struct call_memory {
	uint8_t *bytes; /* owned */
	uint32_t nr_bytes;
	uint32_t whole_bytes; /* of which @nr_bytes were recorded */
};

/**
 * struct strace_call - a system call of a thread
 * @args: as recorded; @nr_args of them. @path: owned; NULL: not (yet) known
 * @read, @written: what the kernel read at the entry, and wrote until the exit
 * @ret, @has_ended: the result
 */
struct strace_call {
	const struct call_meaning *row;
	uint32_t nr;
	uint8_t nr_args;
	bool has_ended;
	bool is_32;
	uint64_t args[CALL_MAX_ARGUMENTS];
	int64_t ret;
	char *path;
	char *fd_names[CALL_MAX_ARGUMENTS]; /* owned; behind descriptors at the entry */
	uint64_t clone_flags;		    /* of the fork in it; UINT64_MAX: none */
	struct call_memory read[CALL_MAX_ARGUMENTS];
	struct call_memory written[CALL_MAX_ARGUMENTS];
};

/** struct strace_names - names of descriptors and processes: the state of @analysis now */
struct strace_names {
	const struct strace_choice *choice;
	struct trace_analysis *analysis;
	const struct trace_thread *thread;
};

/** strace_is_shown_later() - is argument @idx one that the kernel fills until the exit? */
bool strace_is_shown_later(const struct strace_call *call, unsigned int idx);
/**
 * strace_put_argument() - write argument @idx
 * Returns false for one that is not shown, because others say that it has no meaning.
 */
bool strace_put_argument(struct string *s, const struct strace_names *names, const struct strace_call *call,
			 unsigned int idx, bool is_first);
/** strace_put_result() - "3", "-1 ENOENT (No such file or directory)" */
void strace_put_result(struct string *s, const struct strace_names *names, const struct strace_call *call);
/** strace_put_pid() - "42", "42<bash>" */
void strace_put_pid(struct string *s, const struct strace_names *names, int64_t pid);
/** strace_put_text() - @bytes between quotes, with escapes; "..." behind it if there are more */
void strace_put_text(struct string *s, const void *bytes, size_t nr, size_t limit, bool is_cut);
/** strace_put_bits() - "O_RDONLY|O_CLOEXEC"; of a set of value_names.def */
void strace_put_bits(struct string *s, const char *set, uint64_t value);
/** strace_put_choice() - "SEEK_SET", or the number */
void strace_put_choice(struct string *s, const char *set, uint64_t value);
/** strace_put_signal() - "SIGTERM", "SIGRT_3" */
void strace_put_signal(struct string *s, uint64_t signal);
#endif
