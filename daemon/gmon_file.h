/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_GMON_FILE_H
#define DAEMON_GMON_FILE_H
/*
 * gmon_file.h - gmon.out, the file that gprof reads, of the kernel, and a list of its functions for
 * gprof -S
 */
#include <stdio.h>
#include <trace/error.h>
#include "gmon_arcs.h"
#include "gmon_counts.h"
#include "kernel_symbols.h"

#define GMON_FILE "gmon.out"
#define GMON_LIST "gmon.syms"

/** struct gmon_numbers - what was written. @nameless: samples in code without a name */
struct gmon_numbers {
	uint64_t samples, nameless;
	size_t functions;
};

/**
 * gmon_file_write() - write @file, and the functions of it to @list
 * Counts above what a record holds are in several records, which gprof adds.
 * Returns 0, or -ENOMEM: a part is missing. Errors of the streams stay in them
 */
int TRACE_NODISCARD gmon_file_write(FILE *file, FILE *list, const struct gmon_counts *counts,
				    const struct gmon_arcs *arcs, const struct kernel_symbols *symbols,
				    struct gmon_numbers *ret_numbers);
/**
 * gmon_files_write() - the same to both files in the current folder
 * They have their names once both are complete: until then, and after an error, older ones stay.
 */
int TRACE_NODISCARD gmon_files_write(const struct gmon_counts *counts, const struct gmon_arcs *arcs,
				     const struct kernel_symbols *symbols, struct gmon_numbers *ret_numbers,
				     struct trace_error *ret_error);
#endif
