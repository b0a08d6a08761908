/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * option_texts.c - writes what users read about options outside of the programs, from the programs'
 * own tables: "option-texts PROGRAM bash|zsh|fish" prints a completion, "option-texts PROGRAM man"
 * copies a manual page from stdin and replaces its generated parts. "option-texts all names" prints
 * the names of all programs' options and commands, by which each program knows those of the others.
 */
#include "option_texts.h"

#include <stdio.h>
#include <string.h>

extern const struct option_program daemon_program, tracectl_program, kgmon_program, visualizer_program,
	readprofile_program, opreport_program;

static const struct option_program *const programs[] = {
	&daemon_program,
	&tracectl_program,
	&kgmon_program,
	&visualizer_program,
};

/* They have manual pages; their options are in the completions of the programs that have them. */
static const struct option_program *const personalities[] = {&readprofile_program, &opreport_program};

static const struct option_program *find_program(const char *name)
{
	for (size_t i = 0; i < OPTION_COUNT_OF(personalities); i++)
		if (!strcmp(personalities[i]->name, name))
			return personalities[i];
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

static void print_name(const struct option_program *program, char letter, const char *name, const char *typed,
		       bool is_command)
{
	if (letter)
		printf("OPTION_NAME(\"%s\", '%c', \"%s\", \"%s\", %s)\n", program->name, letter, name, typed,
		       is_command ? "true" : "false");
	else
		printf("OPTION_NAME(\"%s\", 0, \"%s\", \"%s\", %s)\n", program->name, name, typed,
		       is_command ? "true" : "false");
}

/*
 * A word that is typed for an option without a value, a verb or a habit for a verb reads like a
 * command; the name of an option with a value is the name of a thing.
 */
static void print_names(const struct option_program *program)
{
	char typed[64];

	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];

		if (!option_is_shown(spec))
			continue;
		if (spec->name)
			snprintf(typed, sizeof(typed), "--%s", spec->name);
		else
			snprintf(typed, sizeof(typed), "-%c", spec->letter);
		print_name(program, spec->letter, spec->name ? spec->name : "", typed, spec->value == OPTION_NO_VALUE);
	}
	for (size_t i = 0; i < program->nr_verbs; i++)
		print_name(program, 0, program->verbs[i].name, program->verbs[i].name, true);
	for (size_t i = 0; i < program->nr_habits; i++) {
		const struct option_habit *habit = &program->habits[i];

		if (habit->instead && program->nr_verbs && *habit->typed != '-')
			print_name(program, 0, habit->typed, habit->instead, true);
		else if (habit->instead && !strncmp(habit->typed, "--", 2))
			print_name(program, 0, habit->typed + 2, habit->instead, false);
	}
}

static int print_all_names(void)
{
	puts("/* Generated from the programs' tables of options: cmake --build build/release --target docs */");
	for (size_t i = 0; i < OPTION_COUNT_OF(programs); i++)
		print_names(programs[i]);
	return 0;
}

int main(int argc, char **argv)
{
	const struct option_program *program = argc == 3 ? find_program(argv[1]) : NULL;

	if (argc == 3 && !strcmp(argv[1], "all") && !strcmp(argv[2], "names"))
		return print_all_names();
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
		fputs("usage: option-texts PROGRAM bash|zsh|fish|man, or all names\n", stderr);
	return program ? 0 : 2;
}
