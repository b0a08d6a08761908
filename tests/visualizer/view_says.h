/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_VIEW_SAYS_H
#define TESTS_VIEW_SAYS_H
/* view_says.h - the view's answer about a trace is that of the first screen. */

/**
 * view_says_the_same() - check that @screen, the report without options of the trace at @path, has
 * the sentences of the view, and the waits; for report_also
 */
void view_says_the_same(const char *path, const char *screen);
/** view_answer_of() - what the view of the trace answers to @question; the caller frees it */
char *view_answer_of(const char *path, const char *question);
#endif
