/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracectl: see docs/man/tracectl.1. It also accepts the letters of kgmon(8). */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "control_client.h"
#include "control.h"
#include "message.h"
#include "std_fds.h"
#include "version.h"

/**
 * struct verb - one command
 * @letter: kgmon's letter, or 0
 * @argument_name: NULL: takes none
 */
struct verb {
	const char *name;
	char letter;
	const char *argument_name;
	bool argument_needed;
	const char *help;
};

static const struct verb verbs[] = {
	{"status", 0, NULL, false, "what it records, since when, how much, and what was lost"},
	{"begin", 'b', NULL, false, "go on recording after halt"},
	{"halt", 'h', NULL, false, "record nothing until begin; the daemon stays"},
	{"dump", 'p', "TRACE", false, "save the flight recorder to TRACE; else: write all events so far to the disk"},
	{"reset", 'r', NULL, false, "flight recorder: drop what is in memory"},
	{"mask", 0, "EVENTS", false, "print, or change, the recorded events: sched,fs or +block,-irq"},
	{"mark", 0, "TEXT", true, "put a note into the trace"},
	{"stop", 0, NULL, false, "end the recording and the daemon"},
};

#define VERB_COUNT (sizeof(verbs) / sizeof(verbs[0]))

static void help(void)
{
	fputs("Usage: tracectl [--control PATH] [COMMAND [ARGUMENT]]\n"
	      "Control a running tracedaemon. Without a command: is it recording?\n\n",
	      stdout);
	for (size_t i = 0; i < VERB_COUNT; i++) {
		char left[32], letter[8] = "", argument[16] = "";

		if (verbs[i].letter)
			snprintf(letter, sizeof(letter), ", -%c", verbs[i].letter);
		if (verbs[i].argument_name)
			snprintf(argument, sizeof(argument), verbs[i].argument_needed ? " %s" : " [%s]",
				 verbs[i].argument_name);
		snprintf(left, sizeof(left), "%s%s%s", verbs[i].name, letter, argument);
		printf("  %-18s %s\n", left, verbs[i].help);
	}
	fputs("  --control PATH     the daemon's socket (" CONTROL_ROOT_PATH ",\n"
	      "                     without root $XDG_RUNTIME_DIR/tracedaemon/control)\n"
	      "  --help, --version  this text; the version\n"
	      "The letters of kgmon can be combined: tracectl -p -r\n",
	      stdout);
}

static const struct verb *find_verb(const char *word)
{
	for (size_t i = 0; i < VERB_COUNT; i++)
		if (!strcmp(word, verbs[i].name) ||
		    (word[0] == '-' && word[1] == verbs[i].letter && word[1] && !word[2]))
			return &verbs[i];
	return NULL;
}

static int perform(const char *control_path, const struct verb *verb, const char *argument)
{
	char line[CONTROL_REQUEST_BYTES];

	if (!strcmp(verb->name, "dump"))
		return control_client_dump(control_path, argument);
	if (snprintf(line, sizeof(line), "%s%s%s", verb->name, argument ? " " : "", argument ? argument : "") >=
	    (int)sizeof(line)) {
		message_error("%s: the argument is too long", verb->name);
		return 2;
	}
	return control_client_ask(control_path, line);
}

/*
 * Like kgmon without arguments, prints running, off or not there; here the exit status shows it as
 * well.
 */
static int show_state(const char *control_path)
{
	char answer[CONTROL_ANSWER_BYTES], other[CONTROL_PATH_BYTES + 16];
	struct trace_error error;

	if (control_ask(control_path, "status", -1, answer, &error)) {
		if (!control_path && control_other(other))
			message_note("another daemon runs: --control %s", other);
		puts("tracedaemon: not running");
		return 1;
	}
	puts(strstr(answer, ": halted,") ? "tracedaemon: halted" : "tracedaemon: recording");
	return 0;
}

/* All words after "mark" are its text, quoted or not. */
static void join_words(char *text, size_t size, int argc, char **argv)
{
	size_t used = 0;

	text[0] = '\0';
	for (int i = 0; i < argc && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "", argv[i]);
}

/* Takes the argument of @verb from the @argc words after it. Returns the number of words taken. */
static int take_argument(const struct verb *verb, int argc, char **argv, char *text, size_t size)
{
	/* -irq removes an event, - is stdout; otherwise a dash begins kgmon's next letter */
	bool may_be_signed = !strcmp(verb->name, "mask") || (argc && !strcmp(argv[0], "-"));

	text[0] = '\0';
	if (!verb->argument_name || argc == 0 || (argv[0][0] == '-' && !may_be_signed && !verb->argument_needed))
		return 0;
	if (!strcmp(verb->name, "mark")) {
		join_words(text, size, argc, argv);
		return argc;
	}
	join_words(text, size, 1, argv);
	return 1;
}

/** struct tracectl_step - one verb of the command line. @argument: "": none */
struct tracectl_step {
	const struct verb *verb;
	char argument[CONTROL_REQUEST_BYTES];
};

/*
 * @word is unknown. After a command, @before, it was probably meant as an argument, unless it looks
 * like a letter.
 */
static void report_unknown(const struct verb *before, const char *word)
{
	if (!before || *word == '-')
		message_error("unknown command %s; try --help", word);
	else if (before->argument_name)
		message_error("%s takes %s only: %s is one word too many, and no command; try --help", before->name,
			      before->argument_name, word);
	else
		message_error("%s takes no argument: %s is one word too many, and no command; try --help", before->name,
			      word);
}

/*
 * Parses the next step, after @before. Returns its number of words; -1: wrong usage, with a
 * message.
 */
static int take_step(const struct verb *before, int argc, char **argv, struct tracectl_step *ret_step)
{
	int words;

	ret_step->verb = find_verb(argv[0]);
	if (!ret_step->verb) {
		report_unknown(before, argv[0]);
		return -1;
	}
	/* probably from an unset variable: without the argument the request would be another one */
	if (argc > 1 && !*argv[1] && ret_step->verb->argument_name) {
		message_error("%s: %s is empty; try --help", ret_step->verb->name, ret_step->verb->argument_name);
		return -1;
	}
	words = 1 + take_argument(ret_step->verb, argc - 1, argv + 1, ret_step->argument, sizeof(ret_step->argument));
	if (ret_step->verb->argument_needed && !*ret_step->argument) {
		message_error("%s: %s is missing; try --help", ret_step->verb->name, ret_step->verb->argument_name);
		return -1;
	}
	/* file names may contain line breaks */
	if (strcmp(ret_step->verb->name, "dump") && strpbrk(ret_step->argument, "\r\n")) {
		message_error("%s: give one line, without line breaks", ret_step->verb->name);
		return -1;
	}
	return words;
}

/*
 * Parses all words before the first command runs: a typing error after "stop" must not end the
 * recording.
 */
static int run_words(const char *control_path, int argc, char **argv)
{
	struct tracectl_step step = {.verb = NULL};
	int words, status = 0;

	for (int i = 0; i < argc; i += words) {
		words = take_step(step.verb, argc - i, argv + i, &step);
		if (words < 0)
			return 2;
	}
	for (int i = 0; i < argc && !status; i += words) {
		words = take_step(step.verb, argc - i, argv + i, &step);
		status = perform(control_path, step.verb, *step.argument ? step.argument : NULL);
	}
	return status;
}

int main(int argc, char **argv)
{
	const char *control_path = NULL;
	int at = 1;

	std_fds_occupy();
	message_init("tracectl", false);
	for (; at < argc && !strncmp(argv[at], "--", 2); at++) {
		if (!strcmp(argv[at], "--help")) {
			help();
			return message_end(0);
		}
		if (!strcmp(argv[at], "--version")) {
			printf("tracectl %s\n", program_version());
			return message_end(0);
		}
		if (!strncmp(argv[at], "--control=", 10) && argv[at][10])
			control_path = argv[at] + 10;
		else if (!strcmp(argv[at], "--control") && at + 1 < argc && *argv[at + 1])
			control_path = argv[++at];
		else {
			message_error(!strcmp(argv[at], "--control") || !strcmp(argv[at], "--control=")
					      ? "%s: a path is missing; try --help"
					      : "unknown option %s; try --help",
				      argv[at]);
			return 2;
		}
	}
	return message_end(at < argc ? run_words(control_path, argc - at, argv + at) : show_state(control_path));
}
