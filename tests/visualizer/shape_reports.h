/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_SHAPE_REPORTS_H
#define TESTS_SHAPE_REPORTS_H
/* shape_reports.h - everything that can be asked of a trace, within this process; whatever should never be said ends it. */
#include <stddef.h>
#include <stdint.h>

/**
 * shape_look() - the analysis (fuzz_analysis.c) and one report of the file in these @bytes at @data
 * @nr: which report, of as many as there are. The books must balance, JSON must be JSON whose figures add up as docs/JSON.md says, and no text may have
 *	control characters, which a terminal would obey.
 */
void shape_look(const unsigned char *data, size_t bytes, uint32_t nr);
/** shape_report() - what tracevisualizer says of the file at @path with these @options, up to a NULL. NULL: it fails; else the caller's */
char *shape_report(const char *path, const char *const *options);
#endif
