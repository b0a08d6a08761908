/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_READPROFILE_H
#define VISUALIZER_READPROFILE_H
/*
 * readprofile.h - tracevisualizer --profile=readprofile: the hits of the kernel's functions, with
 * the options and the columns of readprofile(8)
 *
 *	readprofile_options.c	the command line
 *	readprofile_hits.c	hits of addresses, from the samples of a trace
 *	readprofile_file.c	from a copy of /proc/profile, and into one
 *	readprofile_rows.c	functions, with their hits
 *	readprofile.c		the report
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <trace/reader.h>
#include "kernel_symbols.h"
#include "option_table.h"

#define READPROFILE_MAX_MULTIPLIER 100
#define READPROFILE_RESET	   "profile reset" /* the mark in a trace: samples before it do not count */

/** struct readprofile_choice - the options that are not of all reports; strings are borrowed */
struct readprofile_choice {
	bool is_chosen;
	bool all, bins, counters, info, verbose, no_auto, reset;
	int multiplier;	    /* 0: not given */
	const char *map;    /* NULL: the names in the trace */
	const char *counts; /* a copy of /proc/profile; NULL: a trace */
	const char *write;
	const char *control;
};

/** readprofile_program - the command line */
extern const struct option_program readprofile_program;
struct visualizer_options;
/** readprofile_options_check() - is it complete? -EINVAL with the reason */
int readprofile_options_check(const struct visualizer_options *options, struct trace_error *ret_error) TRACE_NODISCARD;

/** readprofile() - the report, or the request to the recorder; returns the exit status */
int readprofile(const struct visualizer_options *options);

/* ---- hits ---- */

/** struct hit - so many samples were at one address, or in one step of a file */
struct hit {
	uint64_t address;
	uint64_t count;
};

/**
 * struct hits - by address, each once; zeroed: none
 * @step: bytes of each counter; @reset_ns: when it was reset last, 0: never
 * @nr_samples: all samples of timers that were read, in programs, too
 * @outside: of a file: hits outside of the kernel's own code
 */
struct hits {
	struct hit *hits; /* owned */
	size_t nr, room;
	uint64_t step;
	uint64_t reset_ns;
	uint64_t nr_samples;
	uint64_t outside;
};

void hits_add(struct hits *hits, uint64_t address, uint64_t count);
void hits_end(struct hits *hits); /* no more are added */
void hits_free(struct hits *hits);
/** hits_of_trace() - the samples in the kernel from @from_ns until before @to_ns; 0 or an error */
int hits_of_trace(struct hits *hits, const struct trace *trace, uint64_t from_ns, uint64_t to_ns,
		  struct trace_error *ret_error) TRACE_NODISCARD;

/* ---- functions ---- */

/**
 * struct kernel_row - a function; @count, of which the hits are hits[first] to before
 * hits[first + nr]
 */
struct kernel_row {
	uint64_t address, bytes;
	char *name; /* owned; "ext4_sync_file [ext4]" */
	uint64_t count;
	size_t first, nr;
};

/**
 * struct kernel_rows - by address. @begin, @end: of the kernel's own code; 0: not known
 * @unknown: hits in code without a name
 */
struct kernel_rows {
	struct kernel_row *rows; /* owned */
	size_t nr, room;
	uint64_t begin, end;
	uint64_t unknown;
};

/** rows_of_symbols() - all functions of @list, which is borrowed during the call */
void rows_of_symbols(struct kernel_rows *rows, const struct kernel_symbols *list);
/** rows_take() - add functions that @trace names where @rows has none: modules, BPF programs */
void rows_take(struct kernel_rows *rows, const struct trace *trace);
/** rows_count() - count @hits in their functions */
void rows_count(struct kernel_rows *rows, const struct hits *hits);
void rows_free(struct kernel_rows *rows);

/* ---- files ---- */

/**
 * hits_of_file() - the counters of a copy of /proc/profile, of the kernel's own code in @rows
 * @is_as_here: its bytes have the order of this machine; else the file tells
 */
int hits_of_file(struct hits *hits, const char *path, const struct kernel_rows *rows, bool is_as_here,
		 struct trace_error *ret_error);
/**
 * profile_file_write() - write the hits as /proc/profile has them, and "@path.map" with the
 * functions
 * As in /proc/profile, hits outside of the kernel's own code are in the last counter.
 * @ret_others: the number of those
 */
int profile_file_write(const char *path, const struct kernel_rows *rows, const struct hits *hits, uint64_t *ret_others,
		       struct trace_error *ret_error);
#endif
