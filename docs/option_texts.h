/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DOCS_OPTION_TEXTS_H
#define DOCS_OPTION_TEXTS_H
/* option_texts.h - completions and parts of manual pages, from the tables of options. */
#include "option_table.h"

/** option_bash(), option_zsh(), option_fish() - print the completion of @program for this shell */
void option_bash(const struct option_program *program);
void option_zsh(const struct option_program *program);
void option_fish(const struct option_program *program);

/**
 * option_man() - copy a manual page from stdin to stdout, with the parts that the table has
 * A part is between the comments "generated WHAT" and "end". Returns the exit status: 1 if an
 * option or verb of the table is in no part, or a part is unknown.
 */
int option_man(const struct option_program *program);

/** option_is_shown() - false for headings, hidden options and those of old scripts */
static inline bool option_is_shown(const struct option_spec *spec)
{
	return !spec->heading && spec->help && spec->apply;
}
/** option_program_has() - has @program a value of this kind, of an option or a verb? */
bool option_program_has(const struct option_program *program, enum option_completion completes);
#endif
