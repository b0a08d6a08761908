/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_OPTION_HELP_H
#define BASE_OPTION_HELP_H
#include <stdio.h>

#include "option_table.h"

#define OPTION_HELP_COLUMNS 80

/**
 * option_help() - print the help of @program, at most 80 columns wide
 * @all: every option; otherwise those under the first heading, which fit a screen
 */
void option_help(FILE *out, const struct option_program *program, bool all);

/** option_spelling() - print an option with its value: "-t, --time=TIME" */
void option_spelling(const struct option_spec *spec, char *text, size_t size);
#endif
