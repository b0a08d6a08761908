/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_FILE_H
#define VISUALIZER_REPORT_FILE_H
/* report_file.h - the file that a report is written to: what was there before is replaced when the first of it is written, and stays if there is nothing to tell. */
#include <stdbool.h>
#include <stdio.h>

struct output;

/** output_open() - @path, which need not exist. NULL, with errno: it cannot be written. The stream is for output_close() only to close */
FILE *output_open(const char *path, struct output **ret_output);
/** output_fd() - what is behind the stream */
int output_fd(const struct output *output);
/**
 * output_close() - @is_kept: what is there is a result, even if it is nothing; else what has not been written yet is dropped, with the file if it was made for it.
 * Returns what fclose() does
 */
int output_close(FILE *stream, struct output *output, bool is_kept);
/**
 * output_take_back() - the program ends now, and what was written is no result: an output that is a plain file becomes empty, or goes if it was made for it
 * Only calls that a signal handler may make, too.
 */
void output_take_back(void);
#endif
