/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * option_texts.c - writes what users read about options outside of the programs, from the programs'
 * own tables: "option-texts PROGRAM bash|zsh|fish" prints a completion, "option-texts PROGRAM man"
 * copies a manual page from stdin and replaces its generated parts.
 */
#include "option_texts.h"

#include <stdio.h>
#include <string.h>

extern const struct option_program daemon_program, tracectl_program, kgmon_program, visualizer_program;

static const struct option_program *const programs[] = {
	&daemon_program,
	&tracectl_program,
	&kgmon_program,
	&visualizer_program,
};

static const struct option_program *find_program(const char *name)
{
	for (size_t i = 0; i < OPTION_COUNT_OF(programs); i++)
		if (!strcmp(programs[i]->name, name))
			return programs[i];
	return NULL;
}

bool option_program_has(const struct option_program *program, enum option_completion completes)
{
	for (size_t i = 0; i < program->nr_specs; i++)
		if (option_is_shown(&program->specs[i]) && program->specs[i].completes == completes)
			return true;
	for (size_t i = 0; i < program->nr_verbs; i++)
		if (program->verbs[i].completes == completes)
			return true;
	return false;
}

int main(int argc, char **argv)
{
	const struct option_program *program = argc == 3 ? find_program(argv[1]) : NULL;

	if (program && !strcmp(argv[2], "bash"))
		option_bash(program);
	else if (program && !strcmp(argv[2], "zsh"))
		option_zsh(program);
	else if (program && !strcmp(argv[2], "fish"))
		option_fish(program);
	else if (program && !strcmp(argv[2], "man"))
		return option_man(program);
	else
		program = NULL;
	if (!program)
		fputs("usage: option-texts PROGRAM bash|zsh|fish|man\n", stderr);
	return program ? 0 : 2;
}
