/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H
#include <stdbool.h>
#include <trace/reader.h>

/**
 * fuzz_behind_schema - true: the input follows the file header and the catalogue's schema; false:
 * it includes the schema
 */
extern const bool fuzz_behind_schema;

/**
 * fuzz_trace() - what a target does with a trace that could be opened; any contents, with correct
 * checksums
 */
void fuzz_trace(const struct trace *trace);
#endif
