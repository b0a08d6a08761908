/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VISUALIZER_OPTIONS_H
#define VISUALIZER_VISUALIZER_OPTIONS_H
/* visualizer_options.h - the command line of tracevisualizer. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum sort_key { SORT_ELAPSED, SORT_CPU, SORT_USER, SORT_SYSTEM, SORT_WAIT, SORT_WAIT_CPU, SORT_PID, SORT_NAME };

enum list_column { COLUMN_CPU = 1, COLUMN_TIME = 2, COLUMN_PID = 4, COLUMN_LENGTH = 8, COLUMN_TEXT = 16 };

struct options {
	/* ---- reports ---- */
	bool analyze; /* -a */
	bool list;    /* -d */
	bool summary; /* -s */
	bool json;
	bool verify;
	bool critical_path;
	const char *critical_task; /* PID, TID or name; NULL: the recorded command */
	bool diff;
	bool timeline;
	bool benchmark; /* -b */
	bool help;
	bool version;
	/* ---- events and processes ---- */
	int64_t cpu; /* -1: all */
	int64_t pid; /* -1: all */
	const char *comm;
	const char *cgroup; /* path; NULL: all */
	const char **traced; /* owned array; -t */
	size_t nr_traced;
	const char **omitted; /* owned array; -o */
	size_t nr_omitted;
	bool paths; /* -y */
	double from_s;
	double to_s; /* < 0: to the end */
	/* ---- format ---- */
	unsigned int forgotten; /* enum list_column */
	long top;		/* 0: all */
	enum sort_key sort;
	bool sorted; /* --sort was given */
	bool all;
	bool exact; /* --ns */
	const char *output;
	/* positionals, borrowed from argv */
	const char *trace;
	const char *other; /* the second trace of --diff */
	const char *proc;
};

/**
 * options_parse() - parse the command line
 * Returns 0, or 2 after a message on stderr that names the error and the way out.
 */
int options_parse(struct options *options, int argc, char **argv);
void options_release(struct options *options);
void options_help(FILE *out);
/** options_is_trace() - true if the file begins with the magic of a trace */
bool options_is_trace(const char *path);
#endif
