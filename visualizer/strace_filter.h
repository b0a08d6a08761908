/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_STRACE_FILTER_H
#define VISUALIZER_STRACE_FILTER_H
/* strace_filter.h - sets of system calls and of signals, as -e of strace(1) has them. */
#include "call_arguments.h"

/**
 * strace_set_wants() - is this call in the set?
 * @set: of -e trace=: "open,close", "%file", "/^sched/", "!futex"; NULL: all
 * Returns 1 or 0; -EINVAL for a regular expression that is none.
 */
int strace_set_wants(const char *set, const struct call_meaning *row);
/**
 * strace_set_check() - complain of a name that is no call and no class
 * Returns 0, or 2 after a line on stderr.
 */
int strace_set_check(const char *set);
/** strace_signal_wants() - is the signal in the set of -e signal=? @set: NULL: all */
bool strace_signal_wants(const char *set, unsigned int signal);
/** strace_signals_check() - as strace_set_check(), for signals */
int strace_signals_check(const char *set);
#endif
