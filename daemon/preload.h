/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PRELOAD_H
#define DAEMON_PRELOAD_H
/*
 * preload.h - libraries that a command gets, so that it traces what it does: libtracer-malloc.so and so on, by LD_PRELOAD.
 */
#include <trace/error.h>

/** preload_check() - are these names, separated by commas, libraries of ours? 0 or -EINVAL, -ENOENT */
int preload_check(const char *names, struct trace_error *ret_error);

/** preload_begin() - put them in front of LD_PRELOAD, for a child to inherit; NULL @names: nothing. preload_end() undoes it */
int preload_begin(const char *names, struct trace_error *ret_error);
void preload_end(void);
#endif
