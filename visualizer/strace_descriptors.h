/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_STRACE_DESCRIPTORS_H
#define VISUALIZER_STRACE_DESCRIPTORS_H
/* strace_descriptors.h - descriptors with what is behind them: -y and -yy */
#include "strace_values.h"

/** strace_put_fd() - "3", "3</etc/passwd>", "AT_FDCWD" */
void strace_put_fd(struct string *s, const struct strace_names *names, int fd);
/** strace_note_fds() - the call begins: keep what is behind its descriptors */
void strace_note_fds(const struct strace_names *names, struct strace_call *call);
/** strace_put_fd_of() - descriptor @fd with what was behind argument @idx when the call began */
void strace_put_fd_of(struct string *s, const struct strace_names *names, const struct strace_call *call,
		      unsigned int idx, int fd);
#endif
