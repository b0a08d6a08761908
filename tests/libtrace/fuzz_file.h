/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FUZZ_FILE_H
#define TESTS_FUZZ_FILE_H
#include <stdbool.h>
#include <trace/reader.h>

/** fuzz_behind_schema - the input is what comes behind the file header and the catalogue's schema; otherwise they are part of it */
extern const bool fuzz_behind_schema;

/** fuzz_trace() - what a target does with what could be opened; any contents, in a file whose checksums are right */
void fuzz_trace(const struct trace *trace);
#endif
