/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_FILE_H
#define VISUALIZER_REPORT_FILE_H
/*
 * report_file.h - the output file of a report. It has its name only when it is complete, so that a
 * program that is killed leaves no part of a report there. Without output an older file stays.
 *
 * A file that cannot be replaced is written in place: a pipe, a device, one with several names.
 */
#include <stdbool.h>
#include <stdio.h>

struct report_file;

/**
 * report_file_open() - open @path, which need not exist
 * Returns NULL, with errno, if it cannot be written. Only report_file_close() may close the stream.
 */
FILE *report_file_open(const char *path, struct report_file **ret_file);
/** report_file_fd() - the descriptor of the file */
int report_file_fd(const struct report_file *file);
/**
 * report_file_close() - close the file; returns the result of fclose()
 * @is_kept: true: the output is a result, even if empty. False: drop the output. A file that is
 *   written in place is removed if report_file_open() created it.
 */
int report_file_close(FILE *stream, struct report_file *file, bool is_kept);
/**
 * report_file_take_back() - undo the output, because the program ends without a result
 * A plain file that is written in place becomes empty, or is removed if report_file_open() created
 * it. The function uses async-signal-safe calls only.
 */
void report_file_take_back(void);
#endif
