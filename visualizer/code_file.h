/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_CODE_FILE_H
#define VISUALIZER_CODE_FILE_H
/*
 * code_file.h - opens the programs and sources that a trace names
 *
 * SECURITY: a trace can name any path, also one on a file system that another user serves and that
 * does not answer (file_opener.h).
 */
#include <trace/error.h>

/**
 * code_file_open() - open a regular file for reading, below @folder if it is there
 * @folder: NULL: none
 * Returns the descriptor, which the caller closes; or a negative errno, with the words of
 * code_file_why()
 */
int code_file_open(const char *folder, const char *path) TRACE_NODISCARD;

/** code_file_why() - why a file was not opened */
const char *code_file_why(int err);

#endif
