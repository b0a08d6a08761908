/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_REPORT_CASE_H
#define TESTS_REPORT_CASE_H
/* report_case.h - shared by the tests of tracevisualizer's reports: traces, and functions that run
 * it on them. */
#include "builder.h"
#include "unit.h"

/* Two trace files that exist while report_main() runs. */

/**
 * trace_path - 40 us: "one" reads a file; "t\"wo\x01\xff" writes to a pipe and is woken by no
 * recorded thread
 */
extern char trace_path[];
/**
 * story_path - 60 us: "one" again, with a slower read, a thread that waits for another's futex, and
 * a reader that waits for a writer
 */
extern char story_path[];

/**
 * report_main() - unit_main() after creating the two files
 */
int report_main(const char *suite, const struct unit_case *cases, int argc, char **argv);

/** run_on_trace() - visualizer_run() on trace_path */
int run_on_trace(const char *options, char **ret_text);
/**
 * report_of() - run the report on @tb and free @tb
 * Returns its output, owned by the caller.
 */
char *report_of(struct tb *tb, const char *options);
/**
 * report_also - called by report_of() with the file of a trace and its first screen; NULL: not
 */
extern void (*report_also)(const char *path, const char *screen);
/**
 * refusal_of() - report_of() for a report that exits with status 1
 */
char *refusal_of(struct tb *tb, const char *options);
/**
 * json_has() - check that @key of a JSON report equals @wanted
 * @wanted: with ' for each "; leaves out the name of the trace
 */
void json_has(const char *report, const char *key, const char *wanted);
/**
 * join_lines() - replace line breaks by blanks, so that a test finds a sentence wherever it was
 * wrapped
 */
void join_lines(char *text);
/**
 * widest_line() - the columns of the widest line on a terminal
 */
size_t widest_line(const char *text);

/* ---- traces that several tests use ---- */

/**
 * make_story_of() - write the trace of story_path with other names for its two processes
 * @path: as for mkstemp()
 */
void make_story_of(char *path, const char *one, const char *lock);
/**
 * make_named() - a command of 100 us
 * @sure: false: the begin of the command was lost with a damaged chunk, or another recorder made
 *   the trace, so that only its name identifies it
 */
struct tb *make_named(bool sure);
/**
 * make_masked() - process 10 runs for 3 us, until 5000 ns, and sleeps
 * @mask: the kernel events that the recording selected
 */
struct tb *make_masked(const uint64_t mask[TRACE_MASK_WORDS]);
/**
 * disk_story() - "one" reads a file of an overlay, which has no device, and vda serves the read;
 * "two" has written to another file, on vda's file system
 */
struct tb *disk_story(void);
#define VDA (254u << 20)
#endif
