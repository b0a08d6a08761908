/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SHAPE_REPORTS_H
#define TESTS_SHAPE_REPORTS_H
/* shape_reports.h - run every report on a trace, within this process; an output that must never
 * appear ends the process. */
#include <stddef.h>
#include <stdint.h>

/**
 * shape_look() - run the analysis (fuzz_analysis.c) and one report of the file in these @bytes at
 * @data
 * @nr: number of the report, modulo their number
 * The accounting must add up, JSON must be valid with figures that add up as docs/JSON.md says, and
 * no text may have control characters, which a terminal would obey.
 */
void shape_look(const unsigned char *data, size_t bytes, uint32_t nr);
/**
 * shape_report() - run tracevisualizer on the file at @path with these @options, up to a NULL
 * Returns its output, owned by the caller; NULL if it fails.
 */
char *shape_report(const char *path, const char *const *options);
#endif
