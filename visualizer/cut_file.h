/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CUT_FILE_H
#define VISUALIZER_CUT_FILE_H
/*
 * cut_file.h - a mapped file that another program cuts while this one reads it.
 *
 * libtrace looks at the size of the file before it reads a chunk. If the file is cut just after
 * that, or if the disk fails, the kernel sends SIGBUS. A report then ends with a line that says so;
 * a program that shows a trace for hours must not end by that.
 */

/**
 * cut_file_ends_program() - from now on, a missing part of a mapped file ends the program: a line
 * on stderr, exit status 1, no part of a report in the file of --output
 */
void cut_file_ends_program(void);

/**
 * cut_file_end() - end the program like that now. Allocates nothing, so that a signal handler may
 * call it
 */
void cut_file_end(void) __attribute__((noreturn));

/**
 * cut_file_reads_as_zeros() - from now on, a missing part of a mapped file is read as zeros, which
 * no checksum of a chunk allows
 */
void cut_file_reads_as_zeros(void);
#endif
