/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_REPORT_CASE_H
#define TESTS_REPORT_CASE_H
/* report_case.h - traces that tracevisualizer is run on, and the running: what the tests of its reports share. */
#include "builder.h"
#include "unit.h"

/* Two files, while report_main() runs. */

/** trace_path - "one" reads a file, "t\"wo\x01\xff" writes to a pipe and is woken by nobody; 40 microseconds */
extern char trace_path[];
/** story_path - "one" again, slower in its read; and a thread that waits for another's futex, a reader for a writer. 60 microseconds */
extern char story_path[];

/** report_main() - unit_main() with the two files */
int report_main(const char *suite, const struct unit_case *cases, int argc, char **argv);

/** run_on_trace() - visualizer_run() on trace_path */
int run_on_trace(const char *options, char **ret_text);
/** report_of() - what is printed of this trace, which is freed; the text is the caller's */
char *report_of(struct tb *tb, const char *options);
/** refusal_of() - the same where it ends with 1 */
char *refusal_of(struct tb *tb, const char *options);
/** json_has() - what a JSON report has under @key is all of @wanted, which has ' for each ", and not the name of the trace */
void json_has(const char *report, const char *key, const char *wanted);
/** join_lines() - for sentences, wherever the lines are broken */
void join_lines(char *text);
/** widest_line() - columns on a terminal */
size_t widest_line(const char *text);

/* ---- traces that several tests want ---- */

/** make_story_of() - the trace at story_path with other names of its two processes; @path: as of mkstemp() */
void make_story_of(char *path, const char *one, const char *lock);
/**
 * make_named() - a command of 100 us
 * @sure: false where its begin was lost with a damaged chunk, or another recorder made the trace: it is known by its name only.
 */
struct tb *make_named(bool sure);
/** make_masked() - process 10 runs for 3 us, until 5000, and sleeps; of the kernel's events only those of @mask may come */
struct tb *make_masked(const uint64_t mask[TRACE_MASK_WORDS]);
/** disk_story() - "one" reads a file of no device (an overlay) that vda served; "two" has written to another, on vda's file system */
struct tb *disk_story(void);
#define VDA (254u << 20)
#endif
