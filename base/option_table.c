/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "option_table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "error_set.h"
#include "similar.h"

#define WORD_CHARS 32

/* Copies the next word of @words. Returns false at the end. */
static bool next_word(const char **words, char word[WORD_CHARS])
{
	size_t chars;

	*words += strspn(*words, " ");
	chars = strcspn(*words, " ");
	snprintf(word, WORD_CHARS, "%.*s", (int)chars, *words);
	*words += chars;
	return chars;
}

int option_word_index(const char *words, const char *word)
{
	char each[WORD_CHARS];

	for (int idx = 0; next_word(&words, each); idx++)
		if (!strcmp(each, word))
			return idx;
	return -1;
}

int option_wrong_word(const char *option, const char *words, const char *value, struct trace_error *ret_error)
{
	struct similar best = {.wanted = value};
	char each[WORD_CHARS], nearest[WORD_CHARS] = "";

	for (const char *rest = words; next_word(&rest, each);) {
		size_t before = best.distance;

		best.name = *nearest ? nearest : NULL;
		similar_offer(&best, each);
		if (best.name == each && (!*nearest || best.distance < before))
			memcpy(nearest, each, sizeof(nearest));
	}
	if (*nearest)
		return error_set(ret_error, -EINVAL, "%s: \"%s\" is none of its words; did you mean %s? All: %s",
				 option, value, nearest, words);
	return error_set(ret_error, -EINVAL, "%s: \"%s\" is none of its words (%s)", option, value, words);
}

const struct option_personality *option_personality_of(const struct option_program *program, char **argv)
{
	for (; program->nr_personalities && *argv && strcmp(*argv, "--") != 0; argv++)
		for (size_t i = 0; i < program->nr_personalities; i++)
			if (!strcmp(*argv, program->personalities[i].option))
				return &program->personalities[i];
	return NULL;
}

const struct option_program *option_program_of(const struct option_program *program, char **argv)
{
	const struct option_personality *personality = option_personality_of(program, argv);

	return personality && !personality->adds ? personality->program : program;
}
