/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_PPROF_H
#define VISUALIZER_REPORT_PPROF_H
/* report_pprof.h - --pprof: the contexts of a profile as profile.proto of pprof, with gzip. */
#include "profile_rows.h"

/** report_pprof() - write the file @path. Returns 0, or 1 after a message */
int report_pprof(const struct report *report, const struct profile_rows *rows, const char *path);
#endif
