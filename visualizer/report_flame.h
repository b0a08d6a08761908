/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_FLAME_H
#define VISUALIZER_REPORT_FLAME_H
/* report_flame.h - --flame: the contexts of a profile as a page of its own. */
#include "profile_rows.h"

/** report_flame() - write the page to @path. Returns 0, or 1 after a message */
int report_flame(const struct report *report, const struct profile_rows *rows, const char *path);
#endif
