/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GMON_H
#define DAEMON_GMON_H
/*
 * gmon.h - kgmon -p: what the running daemon counted in the kernel, as gmon.out for gprof
 *
 *	gmon_counts.c	reads the counts, which the daemon writes (profile_counts.c)
 *	gmon_arcs.c	calls of functions
 *	gmon_file.c	gmon.out, and the functions for gprof -S
 */

/**
 * gmon_dump() - write gmon.out and gmon.syms in the current folder
 * Nothing is stopped or reset. Prints what there is, and what to type next.
 * Returns the exit status.
 */
int gmon_dump(const char *control_path);
#endif
