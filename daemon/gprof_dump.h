/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GPROF_DUMP_H
#define DAEMON_GPROF_DUMP_H
/* gprof_dump.h - tracectl gprof: the calls of a program that runs, as a gmon.out. */

/**
 * gprof_dump() - write the counts of process @pid_text, which runs with libtracer-gprof.so, into
 * gmon.out in @folder
 * @folder: NULL: "gprof.PID"
 * Nothing is written before all counts have been read. Prints what there is, or why there is none.
 * Returns the exit status.
 */
int gprof_dump(const char *pid_text, const char *folder);
#endif
