/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_OPTION_TABLE_H
#define BASE_OPTION_TABLE_H
/*
 * option_table.h - the command line of a program, as a table
 *
 * One table drives the parser (option_parse.h), --help (option_help.h), the
 * completions of shells and parts of the manual page (docs/option_texts.c). An option is one row:
 *
 *	{.letter = 't', .name = "time", .value_name = "TIME", .value = OPTION_VALUE,
 *	 .apply = apply_time, .help = "record for this time: 60s, 500ms, 5m"},
 */
#include <stdbool.h>
#include <stddef.h>
#include <trace/error.h>

/** enum option_value - where the value of an option is; T is the letter, VALUE the value */
enum option_value {
	OPTION_NO_VALUE,
	OPTION_VALUE,	       /* -TVALUE, -T VALUE, --name=VALUE, --name VALUE */
	OPTION_OPTIONAL_VALUE, /* the same, but no next word that begins with a dash, except - */
	OPTION_SEPARATE_VALUE, /* as OPTION_OPTIONAL_VALUE, but a letter may follow: -TX is -T -X */
	OPTION_NUMBER_VALUE,   /* -TVALUE, --name=VALUE, or the next word if it is a number */
	OPTION_EQUALS_VALUE,   /* --name=VALUE */
	OPTION_GLUED_VALUE,    /* -TVALUE, and never without */
};

/** enum option_completion - the meaning of a value, for completion */
enum option_completion {
	COMPLETE_NOTHING,
	COMPLETE_WORDS, /* those of option_spec.words */
	COMPLETE_FILE,
	COMPLETE_FOLDER,
	COMPLETE_PID, /* of a process that runs */
	COMPLETE_USER,
	COMPLETE_GROUP,
	COMPLETE_EVENTS,      /* a list of events, categories and classes, with signs */
	COMPLETE_PROBE,	      /* FILE:FUNCTION, usdt:FILE, kernel:FUNCTION */
	COMPLETE_PRELOAD,     /* a list of option_spec.words */
	COMPLETE_TRACE_EVENT, /* of the trace on the command line, as the following ones */
	COMPLETE_TRACE_PID,
	COMPLETE_TRACE_COMM,
	COMPLETE_TRACE_TASK, /* a process id, thread id or name */
	COMPLETE_TRACE_CGROUP,
	COMPLETE_TRACE_INSTANCE, /* a scope, a system call or a command */
};

/**
 * struct option_spec - one option, or a heading
 * @heading: a title for the options that follow; the row has nothing else. Options under the first
 *   heading are the most used ones; -h prints only them.
 * @letter, @other_letter: 0: none. @name, @other_name: without the dashes, or NULL
 * @value_name: for --help
 * @words: separated by blanks, for COMPLETE_WORDS and COMPLETE_PRELOAD
 * @apply: gets the value (NULL if none); -EINVAL with the reason. NULL: the option is accepted for
 *   old scripts and ignored
 * @names_next: the next word that is no option is a name, and never a habit
 * @help: one sentence; for ignored options, why they are not needed any more. NULL: not in --help
 */
struct option_spec {
	const char *heading;
	char letter;
	char other_letter;
	const char *name;
	const char *other_name;
	const char *value_name;
	enum option_value value;
	bool names_next;
	enum option_completion completes;
	const char *words;
	int (*apply)(void *into, const char *value, struct trace_error *ret_error);
	const char *help;
};

/** enum verb_argument - the words that a verb takes */
enum verb_argument {
	VERB_ALONE,
	VERB_OPTIONAL, /* the next word, unless it begins with a dash; - is one */
	VERB_SIGNED,   /* the next word, whatever it begins with: -irq */
	VERB_TEXT,     /* all words that follow, at least one */
	VERB_PAIR,     /* the next word, and another one unless it begins with a dash */
};

/** struct option_verb - a command of a program such as "tracectl halt" */
struct option_verb {
	const char *name;
	enum verb_argument argument;
	const char *argument_name;
	enum option_completion completes;
	const char *help;
};

/**
 * struct option_habit - a spelling of other programs that users type here
 * @typed: as typed: "--duration", "-F", or a first word, "record"
 * @instead: the option or verb of this program that it means; "": the word has no meaning of its
 *   own and is skipped; NULL: it is an error
 * @advice: the error, which says what to type
 */
struct option_habit {
	const char *typed;
	const char *instead;
	const char *advice;
};

/**
 * struct option_personality - an option that gives the other options the meaning of another program
 * @option: as typed, in full: "--profile=readprofile". It counts wherever it is before "--"
 * @program: @adds: for its own --help, and without words
 * @adds: its options come before those of the first program, which stay; false: they replace them,
 *   and option_program_of() is whose command line it is
 */
struct option_personality {
	const char *option;
	const struct option_program *program;
	bool adds;
};

/**
 * struct option_program - the command line of one program
 * @synopsis: its forms, without its name, a line each, as in --help and the manual page
 * @usage: the lines of --help after them; @notes: its last lines
 * @take_word: an argument that is no option and no verb; @words begins with it and ends with NULL
 * @take_rest: the words after "--"; NULL: they are arguments
 * @take_verb: a verb and its @nr_words arguments
 * @note_ignored: print that an option is ignored; NULL: nothing is ignored
 */
struct option_program {
	const char *name;
	const char *synopsis;
	const char *usage;
	const char *notes;
	const struct option_spec *specs;
	size_t nr_specs;
	const struct option_verb *verbs;
	size_t nr_verbs;
	const struct option_habit *habits;
	size_t nr_habits;
	int (*take_word)(void *into, char **words, struct trace_error *ret_error);
	int (*take_rest)(void *into, char **words, struct trace_error *ret_error);
	int (*take_verb)(void *into, const struct option_verb *verb, char **words, size_t nr_words,
			 struct trace_error *ret_error);
	void (*note_ignored)(const char *word, const char *why);
	const struct option_personality *personalities;
	size_t nr_personalities;
};

/** option_personality_of() - the first personality on this command line; NULL: none */
const struct option_personality *option_personality_of(const struct option_program *program, char **argv);

/** option_program_of() - @program, or the one whose options replace its own on this command line */
const struct option_program *option_program_of(const struct option_program *program, char **argv);

/** verb_needs_argument() - true if the verb is an error without a word after it */
static inline bool verb_needs_argument(const struct option_verb *verb)
{
	return verb->argument == VERB_TEXT || verb->argument == VERB_PAIR;
}

#define OPTION_COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/**
 * option_word_index() - the place of @word in @words, which blanks separate; -1: it is none of them
 */
int option_word_index(const char *words, const char *word);
/**
 * option_wrong_word() - set the error for a value that is none of @words: "--sort: \"x\" is none of
 * its words (a b c)", or with the word that it was probably meant to be
 * Returns -EINVAL.
 */
int option_wrong_word(const char *option, const char *words, const char *value, struct trace_error *ret_error);
#endif
