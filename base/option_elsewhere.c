/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "option_elsewhere.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "error_set.h"
#include "similar.h"

static const struct option_elsewhere names[] = {
#define OPTION_NAME(program, letter, name, typed, is_command) {program, letter, name, typed, is_command},
#include "option_names.def"
#undef OPTION_NAME
};

static bool is_other(const struct option_elsewhere *at, const struct option_program *self)
{
	return strcmp(at->program, self->name) != 0 && strcmp(at->program, "kgmon") != 0;
}

/* An option comes before a command of the same name. */
const struct option_elsewhere *option_elsewhere_name(const struct option_program *self, const char *name, size_t chars)
{
	const struct option_elsewhere *command = NULL;

	for (size_t i = 0; i < OPTION_COUNT_OF(names); i++) {
		if (!is_other(&names[i], self) || strlen(names[i].name) != chars ||
		    strncmp(names[i].name, name, chars) != 0)
			continue;
		if (*names[i].typed == '-')
			return &names[i];
		command = command ? command : &names[i];
	}
	return command;
}

const struct option_elsewhere *option_elsewhere_letter(const struct option_program *self, char letter)
{
	for (size_t i = 0; i < OPTION_COUNT_OF(names); i++)
		if (is_other(&names[i], self) && names[i].letter == letter)
			return &names[i];
	return NULL;
}

/* The option of @program, without a value, that has this name. */
static const struct option_spec *own_flag(const struct option_program *program, const char *word)
{
	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];

		if (spec->name && spec->help && spec->value == OPTION_NO_VALUE && !strcmp(spec->name, word))
			return spec;
	}
	return NULL;
}

#define TYPED_WRONGLY_MIN 5 /* a shorter word with an error is too often a name */

/* The command that @word is with one typing error; NULL: none. */
static const char *nearest_command(const struct option_program *program, const char *word)
{
	struct similar best = {.wanted = word};

	if (strlen(word) < TYPED_WRONGLY_MIN || strpbrk(word, "0123456789"))
		return NULL;
	for (size_t i = 0; i < program->nr_habits; i++)
		if (*program->habits[i].typed != '-')
			similar_offer(&best, program->habits[i].typed);
	for (size_t i = 0; i < OPTION_COUNT_OF(names); i++)
		if (is_other(&names[i], program) && *names[i].typed != '-')
			similar_offer(&best, names[i].name);
	return best.name && best.distance == 1 ? best.name : NULL;
}

int option_check_word(const struct option_program *program, const char *word, struct trace_error *ret_error)
{
	const struct option_spec *own;
	const struct option_elsewhere *other;
	const char *near;

	if (!*word || strpbrk(word, "./") || access(word, F_OK) == 0)
		return 0;
	own = own_flag(program, word);
	if (own)
		return error_set(ret_error, -EINVAL, "%s: the option is --%s; a file called %s is ./%s", word, word,
				 word, word);
	other = option_elsewhere_name(program, word, strlen(word));
	if (other && other->is_command)
		return error_set(ret_error, -EINVAL, "%s: %s %s does that, see %s --help; a file called %s is ./%s",
				 word, other->program, other->typed, other->program, word, word);
	near = nearest_command(program, word);
	return near ? error_set(ret_error, -EINVAL, "%s: did you mean %s? See %s --help; a file called %s is ./%s",
				word, near, program->name, word, word)
		    : 0;
}
