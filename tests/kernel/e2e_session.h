/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_E2E_SESSION_H
#define TESTS_E2E_SESSION_H
/*
 * e2e_session.h - record a program that measures itself, and read the report of it: what the end-to-end tests share.
 */
#include <jansson.h>

/** struct session - a folder with a trace, the program's own truth ("key value" lines), and the report */
struct session {
	char folder[64];
	char trace[96];
	char truth[96];
	long long stolen_before; /* session_begin()'s reading */
	json_t *report;	 /* owned; the test loads it */
	json_t *process; /* of the program; borrowed from report */
};

/** session_begin() - a folder of its own on a real file system (/tmp may be memory); a fatal assertion if that fails */
void session_begin(struct session *s);
void session_end(struct session *s);

/** session_run() - a shell command; its exit status, 128 + n for a signal */
int session_run(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** session_load() - what tracevisualizer --json says with these options; NULL, and a line on stderr, if that is no JSON */
json_t *session_load(const struct session *s, const char *options);

/** session_truth() - what the program wrote last under this key; -1 if nothing */
long long session_truth(const struct session *s, const char *key);

/**
 * session_stolen_ns() - what a hypervisor took from all CPUs since session_begin(), in ticks of 10 ms: /proc/stat
 * The kernel takes it off the CPU time of whoever ran, on its own clocks; the trace cannot know, and calls it the thread's time.
 */
long long session_stolen_ns(const struct session *s);

/* ---- reading reports ---- */

long long json_number(const json_t *object, const char *key); /* 0 if it is not there */
const char *json_text(const json_t *object, const char *key); /* "" if it is not there */
/** json_process() - the process of this id; NULL if there is none */
json_t *json_process(const json_t *report, long long pid);
/** json_row() - the row of @array whose @key is @value; NULL if there is none */
json_t *json_row(const json_t *object, const char *array, const char *key, const char *value);

#endif
