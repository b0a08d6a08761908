/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_OPREPORT_H
#define VISUALIZER_OPREPORT_H
/*
 * opreport.h - tracevisualizer --profile=opreport: the samples of programs and the kernel, with the
 * options and the columns of opreport of oprofile
 *
 *	opreport_options.c	the command line
 *	opreport.c		images, symbols, details, callers and callees
 *	opreport_diff.c		two traces: { A } { B }
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "option_table.h"

struct report;
struct profile_rows;
struct profile_by_row;
struct visualizer_options;

/**
 * struct opreport_choice - the options that are not of all reports; strings are borrowed
 * @threshold: rows with less are left out, in percent. @excluded, @included: symbols, commas
 * between them; NULL: none, all
 */
struct opreport_choice {
	bool is_chosen;
	bool symbols, details, lines, callgraph, accumulated, alone, reverse, no_header;
	double threshold;
	const char *excluded, *included;
	unsigned int braces; /* of "{ A } { B }", so far */
};

/** opreport_program - the command line */
extern const struct option_program opreport_program;
/** opreport_options_check() - is it complete? Completes @options; -EINVAL with the reason */
int opreport_options_check(struct visualizer_options *options, struct trace_error *ret_error) TRACE_NODISCARD;

/** opreport_put() - the report of @rows by program, file and symbol */
void opreport_put(const struct report *report, const struct profile_rows *rows);
/** opreport_diff() - the symbols of the second of two traces, and how their samples changed */
void opreport_diff(const struct report *sides, const struct profile_rows *rows);

/* ---- for both ---- */

/** struct symbol_names - of one row, as opreport shows them */
struct symbol_names {
	const char *app, *image, *symbol;
};
struct symbol_names opreport_names(const struct profile_by_row *row);
/**
 * opreport_put_name() - write @name, without what a terminal would obey
 * @width: at least so many columns, and a blank; 0: the last one of its line
 */
void opreport_put_name(FILE *out, int width, const char *name);
/** opreport_shows() - is a row with these names in the report, by -x, -e and -i? */
bool opreport_shows(const struct opreport_choice *choice, const struct symbol_names *names);
#endif
