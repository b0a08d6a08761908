/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * option_parse.c - the parser of all programs' command lines
 *
 * A spelling is looked for in this order: the options of the table, the habits, the abbreviations
 * of long names, and, for the error, the other programs and the most similar name.
 */
#include "option_parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "error_set.h"
#include "option_elsewhere.h"
#include "similar.h"

#define COMMANDS_BYTES 256

/**
 * struct option_line - the command line while it is read
 * @next, @end: the words that are not read yet
 * @before: the last verb
 * @has_word: a word was no option and no value, or an option says that the next one is a name
 * @personality: its options come first; NULL: none
 */
struct option_line {
	const struct option_program *program;
	void *into;
	char **next;
	char **end;
	const struct option_verb *before;
	bool has_word;
	const struct option_program *personality;
};

/* ---- finding ---- */

static const struct option_spec *find_letter(const struct option_program *program, char letter)
{
	for (size_t i = 0; i < program->nr_specs; i++)
		if (letter && (program->specs[i].letter == letter || program->specs[i].other_letter == letter))
			return &program->specs[i];
	return NULL;
}

static bool is_name(const char *name, const char *word, size_t chars)
{
	return name && strlen(name) == chars && !strncmp(name, word, chars);
}

static const struct option_spec *find_name(const struct option_program *program, const char *word, size_t chars)
{
	for (size_t i = 0; i < program->nr_specs; i++)
		if (is_name(program->specs[i].name, word, chars) || is_name(program->specs[i].other_name, word, chars))
			return &program->specs[i];
	return NULL;
}

static const struct option_spec *letter_of(const struct option_line *line, char letter)
{
	const struct option_spec *spec = line->personality ? find_letter(line->personality, letter) : NULL;

	return spec ? spec : find_letter(line->program, letter);
}

static const struct option_spec *name_of(const struct option_line *line, const char *word, size_t chars)
{
	const struct option_spec *spec = line->personality ? find_name(line->personality, word, chars) : NULL;

	return spec ? spec : find_name(line->program, word, chars);
}

static const struct option_habit *find_habit(const struct option_program *program, const char *typed, size_t chars)
{
	for (size_t i = 0; i < program->nr_habits; i++)
		if (is_name(program->habits[i].typed, typed, chars))
			return &program->habits[i];
	return NULL;
}

static const struct option_verb *find_verb(const struct option_program *program, const char *word)
{
	for (size_t i = 0; i < program->nr_verbs; i++)
		if (!strcmp(program->verbs[i].name, word))
			return &program->verbs[i];
	return NULL;
}

/* The option that a habit stands for; its @instead is "-t" or "--time". */
static const struct option_spec *find_instead(const struct option_program *program, const char *instead)
{
	return instead[1] == '-' ? find_name(program, instead + 2, strlen(instead + 2))
				 : find_letter(program, instead[1]);
}

static bool begins_so(const char *name, const char *word, size_t chars)
{
	return name && !strncmp(name, word, chars);
}

/* Finds the only option that begins with these characters. *@ret_other: a second one, or NULL */
static const struct option_spec *find_abbreviated(const struct option_program *program, const char *word, size_t chars,
						  const struct option_spec **ret_other)
{
	const struct option_spec *found = NULL;

	*ret_other = NULL;
	for (size_t i = 0; chars && i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];

		if (!spec->help || (!begins_so(spec->name, word, chars) && !begins_so(spec->other_name, word, chars)))
			continue;
		if (!found)
			found = spec;
		else if (!*ret_other)
			*ret_other = spec;
	}
	return found;
}

/* ---- errors ---- */

/* The habit of an option that is nearer than the name that was found so far; NULL: none is. */
static const struct option_habit *nearest_habit(const struct option_program *program, struct similar *best)
{
	const struct option_habit *nearest = NULL;

	for (size_t i = 0; i < program->nr_habits; i++) {
		const struct option_habit *habit = &program->habits[i];
		const char *before = best->name;

		if (strncmp(habit->typed, "--", 2) || (!habit->advice && !find_instead(program, habit->instead)))
			continue;
		similar_offer(best, habit->typed + 2);
		if (best->name != before)
			nearest = habit;
	}
	return nearest;
}

/* A habit is told with what it is here. */
static int offer_habit(const struct option_program *program, const char *wanted, const struct option_habit *habit,
		       struct trace_error *ret_error)
{
	if (habit->advice)
		return error_set(ret_error, -EINVAL, "unknown option --%s; if it is %s: %s", wanted, habit->typed,
				 habit->advice);
	return error_set(ret_error, -EINVAL, "unknown option --%s; did you mean %s, which is --%s here? See %s --help",
			 wanted, habit->typed, find_instead(program, habit->instead)->name, program->name);
}

static int unknown_long(const struct option_program *program, const char *word, size_t chars,
			struct trace_error *ret_error)
{
	const struct option_elsewhere *other = option_elsewhere_name(program, word, chars);
	char wanted[64];
	struct similar best = {.wanted = wanted};
	const struct option_habit *habit;

	snprintf(wanted, sizeof(wanted), "%.*s", (int)chars, word);
	if (other && *other->typed == '-')
		return error_set(ret_error, -EINVAL, "unknown option --%s; %s has it: see %s --help", wanted,
				 other->program, other->program);
	for (size_t i = 0; i < program->nr_specs; i++) {
		if (program->specs[i].help && program->specs[i].name)
			similar_offer(&best, program->specs[i].name);
		if (program->specs[i].help && program->specs[i].other_name)
			similar_offer(&best, program->specs[i].other_name);
	}
	habit = nearest_habit(program, &best);
	if (habit)
		return offer_habit(program, wanted, habit, ret_error);
	if (best.name)
		return error_set(ret_error, -EINVAL, "unknown option --%s; did you mean --%s? See %s --help", wanted,
				 best.name, program->name);
	return error_set(ret_error, -EINVAL, "unknown option --%s; see %s --help", wanted, program->name);
}

static int unknown_letter(const struct option_program *program, char letter, const char *word,
			  struct trace_error *ret_error)
{
	const struct option_elsewhere *other = option_elsewhere_letter(program, letter);

	if (other)
		return error_set(ret_error, -EINVAL, "unknown option -%c%s%s; %s has it, %s: see %s --help", letter,
				 word[2] ? " in " : "", word[2] ? word : "", other->program, other->typed,
				 other->program);
	if (word[2])
		return error_set(ret_error, -EINVAL, "unknown option -%c in %s; see %s --help", letter, word,
				 program->name);
	return error_set(ret_error, -EINVAL, "unknown option -%c; see %s --help", letter, program->name);
}

/* With all commands: there are few, and none is like @word. */
static int refuse_command(const struct option_program *program, const char *word, struct trace_error *ret_error)
{
	char list[COMMANDS_BYTES];
	size_t used = 0;

	*list = '\0';
	for (size_t i = 0; i < program->nr_verbs && used < sizeof(list); i++)
		used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", i ? ", " : "",
					 program->verbs[i].name);
	return error_set(ret_error, -EINVAL, "unknown command %s; the commands are %s: see %s --help", word, list,
			 program->name);
}

/* An unknown word after a verb was probably meant as its argument. */
static int unknown_verb(const struct option_line *line, const char *word, struct trace_error *ret_error)
{
	const struct option_program *program = line->program;
	const struct option_verb *before = line->before;
	struct similar best = {.wanted = word};

	if (before && before->argument_name)
		return error_set(ret_error, -EINVAL,
				 "%s takes %s only: %s is one word too many, and no command; see %s --help",
				 before->name, before->argument_name, word, program->name);
	if (before)
		return error_set(ret_error, -EINVAL,
				 "%s takes no argument: %s is one word too many, and no command; see %s --help",
				 before->name, word, program->name);
	for (size_t i = 0; i < program->nr_verbs; i++)
		similar_offer(&best, program->verbs[i].name);
	for (size_t i = 0; i < program->nr_habits; i++)
		if (program->habits[i].instead && *program->habits[i].typed != '-')
			similar_offer(&best, program->habits[i].typed);
	if (best.name)
		return error_set(ret_error, -EINVAL, "unknown command %s; did you mean %s? See %s --help", word,
				 best.name, program->name);
	return refuse_command(program, word, ret_error);
}

/* ---- options ---- */

static int apply(struct option_line *line, const struct option_spec *spec, const char *word, const char *value,
		 struct trace_error *ret_error)
{
	line->has_word |= spec->names_next;
	if (spec->apply)
		return spec->apply(line->into, value, ret_error);
	if (line->program->note_ignored)
		line->program->note_ignored(word, spec->help);
	return 0;
}

static bool is_number(const char *word)
{
	return *word && !word[strspn(word, "0123456789")];
}

/* The next word, if it is the value of @spec. */
static const char *take_next(struct option_line *line, const struct option_spec *spec)
{
	const char *next = line->next < line->end ? *line->next : NULL;
	bool is_value = false;

	switch (spec->value) {
	case OPTION_VALUE:
		is_value = true;
		break;
	case OPTION_OPTIONAL_VALUE:
	case OPTION_SEPARATE_VALUE:
		is_value = next && (*next != '-' || !next[1]);
		break;
	case OPTION_NUMBER_VALUE:
		is_value = next && is_number(next);
		break;
	case OPTION_NO_VALUE:
	case OPTION_EQUALS_VALUE:
	case OPTION_GLUED_VALUE:
		break;
	}
	if (!next || !is_value)
		return NULL;
	line->next++;
	return next;
}

/* @word: the option as typed, for errors. @value: NULL: it was not glued to the option */
static int apply_with_value(struct option_line *line, const struct option_spec *spec, const char *word,
			    const char *value, struct trace_error *ret_error)
{
	if (!value)
		value = take_next(line, spec);
	if (!value && (spec->value == OPTION_VALUE || spec->value == OPTION_GLUED_VALUE))
		return error_set(ret_error, -EINVAL, "%s: %s is missing; see %s --help", word, spec->value_name,
				 line->program->name);
	return apply(line, spec, word, value, ret_error);
}

/* A mistake in the value is told with the spelling that was typed, too. */
static int follow_habit(struct option_line *line, const struct option_habit *habit, const char *word, const char *value,
			struct trace_error *ret_error)
{
	struct trace_error error = {0};
	int err;

	if (!habit->instead)
		return error_set(ret_error, -EINVAL, "%s: %s", habit->typed, habit->advice);
	err = apply_with_value(line, find_instead(line->program, habit->instead), word, value, &error);
	if (err && !strstr(error.message, habit->typed))
		return error_set(ret_error, err, "%s stands for %s: %s", habit->typed, habit->instead, error.message);
	if (err && ret_error)
		*ret_error = error;
	return err;
}

static int parse_long(struct option_line *line, const char *word, struct trace_error *ret_error)
{
	const struct option_program *program = line->program;
	const char *name = word + 2, *equals = strchr(name, '='), *value = equals ? equals + 1 : NULL;
	size_t chars = equals ? (size_t)(equals - name) : strlen(name);
	const struct option_spec *spec = name_of(line, name, chars), *other;
	const struct option_habit *habit = spec ? NULL : find_habit(program, word, chars + 2);
	char shown[64];

	if (habit)
		return follow_habit(line, habit, habit->typed, value, ret_error);
	if (!spec) {
		spec = find_abbreviated(program, name, chars, &other);
		if (spec && other)
			return error_set(ret_error, -EINVAL, "--%.*s can be --%s or --%s; write more of it", (int)chars,
					 name, spec->name, other->name);
	}
	if (!spec)
		return unknown_long(program, name, chars, ret_error);
	snprintf(shown, sizeof(shown), "--%s", spec->name);
	if (value && spec->value == OPTION_NO_VALUE)
		return error_set(ret_error, -EINVAL, "%s takes no value", shown);
	return apply_with_value(line, spec, shown, value, ret_error);
}

/* The parser would read a long name with a single dash as letters. */
static int check_single_dash(const struct option_program *program, const char *word, struct trace_error *ret_error)
{
	size_t chars = strcspn(word + 1, "=");

	if (chars < 3 || !find_name(program, word + 1, chars))
		return 0;
	return error_set(ret_error, -EINVAL, "unknown option %s; did you mean -%s? See %s --help", word, word,
			 program->name);
}

static int parse_letters(struct option_line *line, const char *word, struct trace_error *ret_error)
{
	const struct option_program *program = line->program;
	int err = check_single_dash(program, word, ret_error);

	for (const char *at = word + 1; *at && !err; at++) {
		const struct option_spec *spec = letter_of(line, *at);
		char shown[3] = {'-', *at, '\0'};
		const struct option_habit *habit = spec ? NULL : find_habit(program, shown, 2);
		bool glues;

		if (habit && !habit->instead)
			return follow_habit(line, habit, shown, NULL, ret_error);
		if (habit)
			spec = find_instead(program, habit->instead);
		if (!spec)
			return unknown_letter(program, *at, word, ret_error);
		glues = spec->value != OPTION_NO_VALUE && spec->value != OPTION_SEPARATE_VALUE &&
			spec->value != OPTION_EQUALS_VALUE;
		if (glues && at[1])
			return apply(line, spec, word, at + 1, ret_error);
		err = at[1] ? apply(line, spec, shown, NULL, ret_error)
			    : apply_with_value(line, spec, shown, NULL, ret_error);
	}
	return err;
}

/* ---- words ---- */

/* The word at @at is there, and is no option. */
static bool is_plain(const struct option_line *line, char **at)
{
	return at < line->end && (**at != '-' || !(*at)[1]);
}

static size_t words_of_verb(const struct option_line *line, const struct option_verb *verb)
{
	if (line->next >= line->end || verb->argument == VERB_ALONE)
		return 0;
	if (verb->argument == VERB_TEXT)
		return (size_t)(line->end - line->next);
	if (verb->argument == VERB_SIGNED)
		return 1;
	if (!is_plain(line, line->next))
		return 0;
	return verb->argument == VERB_PAIR && is_plain(line, line->next + 1) ? 2 : 1;
}

static int parse_verb(struct option_line *line, const struct option_verb *verb, struct trace_error *ret_error)
{
	size_t nr_words = words_of_verb(line, verb);
	char **words = line->next;

	/* probably from an unset variable: without the argument the request would be another one */
	if (nr_words && !**words)
		return error_set(ret_error, -EINVAL, "%s: %s is empty; see %s --help", verb->name, verb->argument_name,
				 line->program->name);
	if (!nr_words && verb_needs_argument(verb))
		return error_set(ret_error, -EINVAL, "%s: %s is missing; see %s --help", verb->name,
				 verb->argument_name, line->program->name);
	line->next += nr_words;
	line->before = verb;
	return line->program->take_verb(line->into, verb, words, nr_words, ret_error);
}

/*
 * Where a word can be a file, a habit counts only as the first word that is no option ("tracedaemon
 * -j snapshot" names a trace), and if no file has its name.
 */
static const struct option_habit *habit_of_word(struct option_line *line, const char *word)
{
	bool is_first = !line->has_word;

	line->has_word = true;
	if (!line->program->nr_verbs && (!is_first || access(word, F_OK) == 0))
		return NULL;
	return find_habit(line->program, word, strlen(word));
}

static int parse_word(struct option_line *line, char *word, struct trace_error *ret_error)
{
	const struct option_program *program = line->program;
	const struct option_verb *verb = find_verb(program, word);
	const struct option_habit *habit = verb ? NULL : habit_of_word(line, word);

	if (habit && !habit->instead)
		return error_set(ret_error, -EINVAL, "%s: %s", word, habit->advice);
	if (habit && !*habit->instead)
		return 0;
	if (habit && *habit->instead == '-')
		return follow_habit(line, habit, word, NULL, ret_error);
	if (habit)
		verb = find_verb(program, habit->instead);
	if (verb)
		return parse_verb(line, verb, ret_error);
	if (program->nr_verbs)
		return unknown_verb(line, word, ret_error);
	return program->take_word(line->into, line->next - 1, ret_error);
}

int option_parse(const struct option_program *program, void *into, int argc, char **argv, struct trace_error *ret_error)
{
	struct option_line line = {program, into, argv + (argc > 0), argv + argc, NULL, false, NULL};
	const struct option_personality *personality = option_personality_of(program, line.next);
	bool only_words = false;
	int err = 0;

	line.personality = personality && personality->adds ? personality->program : NULL;
	while (!err && line.next < line.end) {
		char *word = *line.next++;

		if (only_words)
			err = program->take_word(into, line.next - 1, ret_error);
		else if (!strcmp(word, "--") && program->take_rest)
			return program->take_rest(into, line.next, ret_error);
		else if (!strcmp(word, "--"))
			only_words = !program->nr_verbs;
		else if (!strncmp(word, "--", 2))
			err = parse_long(&line, word, ret_error);
		else if (word[0] == '-' && word[1])
			err = parse_letters(&line, word, ret_error);
		else
			err = parse_word(&line, word, ret_error);
	}
	return err;
}
