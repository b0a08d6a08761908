/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_STRACE_STRUCTS_H
#define VISUALIZER_STRACE_STRUCTS_H
/* strace_structs.h - the content of memory that a system call was given, as strace(1) shows it. */
#include "strace_values.h"

/**
 * strace_put_memory() - argument @idx, which is memory; its address if the content was not
 * recorded
 */
void strace_put_memory(struct string *s, const struct strace_names *names, const struct strace_call *call,
		       unsigned int idx);
/** strace_put_ready() - behind the result of poll() and its like: " ([{fd=3, revents=POLLIN}])" */
void strace_put_ready(struct string *s, const struct strace_call *call);
#endif
