/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_E2E_SESSION_H
#define TESTS_E2E_SESSION_H
/*
 * e2e_session.h - shared by the end-to-end tests: record a program that measures itself, and read
 * the report of it.
 */
#include <jansson.h>

/**
 * struct session - a folder with a trace, the program's own truth (lines "key value"), and the
 * report
 */
struct session {
	char folder[64];
	char trace[96];
	char truth[96];
	long long stolen_before; /* reading of session_begin() */
	json_t *report;		 /* owned; the test loads it */
	json_t *process;	 /* of the program; borrowed from report */
	json_t *run_ns;		 /* owned; for session_clocks_apart_ns() */
};

/**
 * session_begin() - create a folder on a real file system (/tmp may be in memory); a fatal
 * assertion if that fails
 */
void session_begin(struct session *s);
void session_end(struct session *s);

/**
 * session_run() - run a shell command
 * Returns its exit status, or 128 + n for a signal.
 */
int session_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * session_load() - parse the output of tracevisualizer --json with these options
 * Returns NULL, and prints a line on stderr, if it is not JSON.
 */
json_t *session_load(const struct session *s, const char *options);

/**
 * session_truth() - the last value that the program wrote for this key, or -1
 */
long long session_truth(const struct session *s, const char *key);

/**
 * session_stolen_ns() - the time that a hypervisor took from all CPUs since session_begin(), in
 * ticks of 10 ms: /proc/stat
 * The kernel subtracts it from the CPU time of the running thread in its own clocks. The trace
 * cannot know it, and counts it as the thread's time.
 */
long long session_stolen_ns(const struct session *s);

/**
 * session_clocks_apart_ns() - how far the CPU time of the threads of @pid in the report is from
 * what the kernel counted for them at their end (exit_times)
 * The kernel's clock of a thread begins when the scheduler starts to choose it, and that of the
 * trace when it switches. A hypervisor that takes the CPU in between makes one longer, and which
 * of several threads has this time is not known. @pid began and ended in the recording.
 */
long long session_clocks_apart_ns(struct session *s, long long pid);

/* ---- reading reports ---- */

long long json_number(const json_t *object, const char *key); /* 0 if the key is missing */
const char *json_text(const json_t *object, const char *key); /* "" if the key is missing */
/**
 * json_process() - find the process of this id; NULL if there is none
 */
json_t *json_process(const json_t *report, long long pid);
/** json_with_pid() - find the first row of @array of the process @pid; NULL if there is none */
json_t *json_with_pid(const json_t *object, const char *array, long long pid);
/**
 * json_row() - find the row of @array with @key = @value; NULL if there is none
 */
json_t *json_row(const json_t *object, const char *array, const char *key, const char *value);

#endif
