/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_PRELOAD_H
#define DAEMON_PRELOAD_H
/*
 * preload.h - libraries that trace the command itself, such as libtracer-malloc.so, loaded by
 * LD_PRELOAD
 */
#include <trace/error.h>

/**
 * preload_check() - do these comma-separated names stand for installed libraries? Returns 0 or a
 * negative errno: -EINVAL, -ENOENT
 */
int preload_check(const char *names, struct trace_error *ret_error);

/**
 * preload_begin() - put them in front of LD_PRELOAD, for a child to inherit; NULL @names: nothing
 * preload_end() restores the environment.
 */
int preload_begin(const char *names, struct trace_error *ret_error);
void preload_end(void);
#endif
