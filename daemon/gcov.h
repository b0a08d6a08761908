/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GCOV_H
#define DAEMON_GCOV_H
/*
 * gcov.h - tracectl gcov: the execution counts of a program that runs, as files for gcov and lcov.
 */

/**
 * gcov_dump() - write the counts of process @pid_text below @folder
 * @folder: NULL: "gcov.PID"
 * @since: a folder of an earlier dump, whose counts are subtracted; NULL: none
 * Nothing is written before all counts have been read. Prints what there is, or why there is none.
 * Returns the exit status.
 */
int gcov_dump(const char *pid_text, const char *folder, const char *since);
#endif
