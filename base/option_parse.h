/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_OPTION_PARSE_H
#define BASE_OPTION_PARSE_H
#include "option_table.h"

/**
 * option_parse() - read the command line of @program
 * @into: passed to the functions of the table. @argv: ends with NULL; strings are borrowed from it
 * Letters can be combined (-ad). A long name can be abbreviated while no other one begins so. A
 * spelling that is unknown is an error, which names the nearest known one.
 * Returns 0, or -EINVAL with one sentence; the program then exits with 2.
 */
int option_parse(const struct option_program *program, void *into, int argc, char **argv,
		 struct trace_error *ret_error);
#endif
