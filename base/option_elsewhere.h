/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_OPTION_ELSEWHERE_H
#define BASE_OPTION_ELSEWHERE_H
/* option_elsewhere.h - options and commands that a user types to the wrong one of the programs. */
#include "option_table.h"

/**
 * struct option_elsewhere - a name that another program knows
 * @letter: 0: none
 * @typed: as that program wants it: "--profile", "halt"
 * @is_command: a word such as "halt", or an option without a value: typed without dashes it reads
 *   like a command
 */
struct option_elsewhere {
	const char *program;
	char letter;
	const char *name;
	const char *typed;
	bool is_command;
};

/**
 * option_elsewhere_name(), option_elsewhere_letter() - find a name, or a letter, of a program other
 * than @self. Returns NULL if they have none. kgmon has nothing that others lack, and is left out.
 */
const struct option_elsewhere *option_elsewhere_name(const struct option_program *self, const char *name, size_t chars);
const struct option_elsewhere *option_elsewhere_letter(const struct option_program *self, char letter);

/**
 * option_check_word() - refuse an argument that reads like a command, where a file name is expected
 * That are, exactly: the programs' commands and options without a value; with one typing error: the
 * commands. A name with a dot or slash is a file, and so is one that exists.
 * Returns 0, or -EINVAL with the words that do what the user probably wants.
 */
int option_check_word(const struct option_program *program, const char *word, struct trace_error *ret_error);
#endif
