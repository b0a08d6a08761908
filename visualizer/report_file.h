/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_FILE_H
#define VISUALIZER_REPORT_FILE_H
/*
 * report_file.h - the output file of a report. The first write replaces its old content; without
 * output the file stays as it was.
 */
#include <stdbool.h>
#include <stdio.h>

struct output;

/**
 * output_open() - open @path, which need not exist
 * Returns NULL, with errno, if it cannot be written. Only output_close() may close the stream.
 */
FILE *output_open(const char *path, struct output **ret_output);
/** output_fd() - the descriptor of the file */
int output_fd(const struct output *output);
/**
 * output_close() - close the file; returns the result of fclose()
 * @is_kept: true: the output is a result, even if empty. False: drop buffered output, and remove
 *   the file if output_open() created it.
 */
int output_close(FILE *stream, struct output *output, bool is_kept);
/**
 * output_take_back() - undo the output, because the program ends without a result
 * A plain file becomes empty, or is removed if output_open() created it. Uses async-signal-safe
 * calls only.
 */
void output_take_back(void);
#endif
