/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * program_title.c - finds the script among the arguments of an interpreter
 *
 * The options of an interpreter come before its script, and some take the next word as their value.
 * The table below has these; every other option is a word of its own. For example, in
 *
 *	/usr/bin/python3 -W ignore -u /srv/app.py --port 80
 *
 * -W takes "ignore", u is a flag, and the script is app.py.
 */
#include "program_title.h"

#include <stdio.h>
#include <string.h>
#include <trace/events.h>

#define COMM_LENGTH 15 /* TASK_COMM_LEN of the kernel without the NUL */

/**
 * struct interpreter - a program that runs a script
 * @name: a version may follow it, as in python3.11
 * @value: letters of options that take the rest of their word, or the next word; @glued: that take
 *     the rest of their word only; @code: whose value is the program's text; @module: a name of a
 *     module; @file: the script
 * @long_value: long options that take the next word, each between two blanks
 * @long_file: long options whose next word is the script
 * @is_java: long options have one dash, and the script is the name of a class
 */
struct interpreter {
	const char *name, *value, *glued, *code, *module, *file, *long_value, *long_file;
	bool is_java;
};

#define SHELL(shell)                                                                              \
	{                                                                                         \
		.name = shell, .value = "oO", .code = "c", .long_value = " --rcfile --init-file " \
	}
static const struct interpreter interpreters[] = {
	{.name = "python", .value = "WX", .code = "c", .module = "m", .long_value = " --check-hash-based-pycs "},
	{.name = "pypy", .value = "WX", .code = "c", .module = "m"},
	SHELL("sh"),
	SHELL("bash"),
	SHELL("dash"),
	SHELL("zsh"),
	SHELL("ksh"),
	{.name = "perl", .value = "I", .glued = "iMmFdxCDV", .code = "eE"},
	{.name = "ruby", .value = "IrCE", .glued = "xiFKTW", .code = "e"},
	{.name = "node",
	 .value = "rC",
	 .code = "ep",
	 .long_value = " --require --import --loader --experimental-loader --conditions "},
	{.name = "nodejs",
	 .value = "rC",
	 .code = "ep",
	 .long_value = " --require --import --loader --experimental-loader --conditions "},
	{.name = "php",
	 .value = "cdz",
	 .code = "rBRE",
	 .file = "f",
	 .long_value = " --php-ini --define ",
	 .long_file = " --file "},
	{.name = "lua", .value = "l", .code = "e"},
	{.name = "luajit", .value = "lj", .code = "e"},
	{.name = "Rscript", .code = "e"},
	{.name = "tclsh"},
	{.name = "wish"},
	{.name = "mono"},
	{.name = "dotnet"},
	{.name = "java",
	 .long_value =
		 " -cp -classpath --class-path -p --module-path --add-modules --add-opens --add-exports --add-reads "
		 "--limit-modules --upgrade-module-path --source ",
	 .long_file = " -jar -m --module ",
	 .is_java = true},
};

/* ---- words ---- */

struct word {
	const char *at;
	size_t bytes;
	bool is_cut; /* its end is missing */
};

/* Returns false after the last one. */
static bool next_word(const char **args, bool is_cut, struct word *ret_word)
{
	const char *end;

	if (!**args)
		return false;
	end = *args + strcspn(*args, (const char[]){TRACE_ARGS_SEPARATOR, 0});
	*ret_word = (struct word){*args, (size_t)(end - *args), is_cut && !*end};
	*args = *end ? end + 1 : end;
	return true;
}

static struct word base_name(struct word word)
{
	const char *slash = memrchr(word.at, '/', word.bytes);

	if (slash && slash + 1 < word.at + word.bytes) {
		word.bytes -= (size_t)(slash + 1 - word.at);
		word.at = slash + 1;
	}
	return word;
}

/* The name of a class without its package, as jps(1) shows it; a file keeps its ending. */
static struct word class_name(struct word word)
{
	const char *dot;

	word = base_name(word);
	if (word.bytes > 4 && (!memcmp(word.at + word.bytes - 4, ".jar", 4) ||
			       (word.bytes > 5 && !memcmp(word.at + word.bytes - 5, ".java", 5))))
		return word;
	dot = memrchr(word.at, '.', word.bytes);
	if (dot && dot + 1 < word.at + word.bytes) {
		word.bytes -= (size_t)(dot + 1 - word.at);
		word.at = dot + 1;
	}
	return word;
}

static bool word_is(struct word word, const char *text)
{
	return word.bytes == strlen(text) && !memcmp(word.at, text, word.bytes);
}

static bool is_listed(struct word word, const char *list)
{
	char between[64];

	if (!list || word.bytes + 3 > sizeof(between))
		return false;
	snprintf(between, sizeof(between), " %.*s ", (int)word.bytes, word.at);
	return strstr(list, between);
}

static bool has_letter(const char *letters, char letter)
{
	return letters && letter && strchr(letters, letter);
}

static const struct interpreter *interpreter_of(struct word program)
{
	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++) {
		size_t bytes = strlen(interpreters[i].name), version = bytes;

		if (program.bytes < bytes || memcmp(program.at, interpreters[i].name, bytes))
			continue;
		while (version < program.bytes && strchr("0123456789.-", program.at[version]))
			version++;
		if (version == program.bytes)
			return &interpreters[i];
	}
	return NULL;
}

bool program_is_interpreter(const char *name, size_t bytes)
{
	return interpreter_of((struct word){name, bytes, false});
}

/* ---- the script ---- */

/**
 * struct script - what an interpreter runs
 * @option: 0, or the letter before it: -m MODULE; for the text of a program there is no @name
 */
struct script {
	struct word name;
	char option;
};

enum option_means { OPTION_ALONE, OPTION_TAKES_WORD, OPTION_TEXT, OPTION_SCRIPT };

/* One option word; a value in the same word is in ret_script->name. */
static enum option_means read_option(const struct interpreter *how, struct word word, struct script *ret_script)
{
	if (how->is_java || (word.bytes > 2 && word.at[1] == '-'))
		return is_listed(word, how->long_file)	  ? OPTION_SCRIPT
		       : is_listed(word, how->long_value) ? OPTION_TAKES_WORD
							  : OPTION_ALONE;
	for (size_t i = 1; i < word.bytes; i++) {
		char letter = word.at[i];
		bool is_last = i + 1 == word.bytes;

		ret_script->option = letter;
		if (has_letter(how->code, letter))
			return OPTION_TEXT;
		if (has_letter(how->module, letter) || has_letter(how->file, letter)) {
			ret_script->option = has_letter(how->module, letter) ? letter : 0;
			ret_script->name = (struct word){word.at + i + 1, word.bytes - i - 1, word.is_cut};
			return OPTION_SCRIPT;
		}
		if (has_letter(how->value, letter))
			return is_last ? OPTION_TAKES_WORD : OPTION_ALONE;
		if (has_letter(how->glued, letter))
			return OPTION_ALONE;
	}
	return OPTION_ALONE;
}

/* Returns false if it runs none, or if none is in the arguments that are known. */
static bool find_script(const struct interpreter *how, const char *args, bool is_cut, struct script *ret_script)
{
	struct word word;

	while (next_word(&args, is_cut, &word)) {
		enum option_means means = OPTION_SCRIPT;
		struct script script = {{0}, 0};

		if (word_is(word, "-") || word.is_cut)
			return false;
		if (how->is_java && *word.at == '@')
			continue;
		if (word_is(word, "--")) {
			next_word(&args, is_cut, &script.name);
		} else if (*word.at == '-' || (*word.at == '+' && how->value && *how->value == 'o')) {
			means = read_option(how, word, &script);
			if (means == OPTION_TAKES_WORD || (means == OPTION_SCRIPT && !script.name.bytes))
				next_word(&args, is_cut, &script.name);
		} else {
			script.name = word;
		}
		if (means == OPTION_TEXT)
			script.name = (struct word){0};
		if (means < OPTION_TEXT)
			continue;
		if (!script.option)
			script.name = how->is_java ? class_name(script.name) : base_name(script.name);
		*ret_script = script;
		return means == OPTION_TEXT || (script.name.bytes && !script.name.is_cut);
	}
	return false;
}

/* ---- titles ---- */

/**
 * struct program_words - what the arguments say
 * @own: the title that the program wrote over its arguments, "postgres: writer"; no bytes: none
 */
struct program_words {
	struct word name, own;
	const struct interpreter *how; /* NULL: it is no interpreter, or its script is not known */
	struct script script;
};

static size_t colon_of(struct word word)
{
	const char *colon = memmem(word.at, word.bytes, ": ", 2);

	return colon && !memchr(word.at, '/', (size_t)(colon - word.at)) ? (size_t)(colon - word.at) : 0;
}

static struct program_words read_program(const char *args, bool is_cut)
{
	struct program_words program = {0};
	struct word word;

	if (!next_word(&args, is_cut, &word))
		return program;
	if (colon_of(word)) {
		program.own = word;
		program.name = (struct word){word.at, colon_of(word), false};
		return program;
	}
	if (word.is_cut)
		return program;
	if (word.bytes > 1 && *word.at == '-') /* a login shell */
		word = (struct word){word.at + 1, word.bytes - 1, false};
	program.name = base_name(word);
	program.how = interpreter_of(program.name);
	if (program.how && !find_script(program.how, args, is_cut, &program.script))
		program.how = NULL;
	return program;
}

/* Leaves no part of a UTF-8 character at the end. */
static void cut_title(char *title, size_t bytes)
{
	if (bytes < PROGRAM_TITLE_BYTES) {
		title[bytes] = 0;
		return;
	}
	bytes = PROGRAM_TITLE_BYTES - 1;
	while (bytes && ((unsigned char)title[bytes] & 0xc0) == 0x80)
		bytes--;
	title[bytes] = 0;
}

static size_t add_word(char *title, size_t used, const char *between, struct word word)
{
	for (; *between && used < PROGRAM_TITLE_BYTES; between++)
		title[used++] = *between;
	for (size_t i = 0; i < word.bytes && used < PROGRAM_TITLE_BYTES; i++)
		title[used++] = word.at[i];
	return used;
}

bool program_title(const char *args, bool is_cut, const char *comm, char title[PROGRAM_TITLE_BYTES])
{
	struct program_words program = read_program(args, is_cut);
	size_t used = 0, known = strlen(comm);
	char option[] = {' ', '-', program.script.option, 0};

	if (program.own.bytes) {
		used = add_word(title, used, "", program.own);
	} else if (program.how) {
		used = add_word(title, used, "", program.name);
		if (program.script.option)
			used = add_word(title, used, option, (struct word){0});
		if (program.script.name.bytes)
			used = add_word(title, used, " ", program.script.name);
	} else if (program.name.bytes && (!known || (known == COMM_LENGTH && program.name.bytes > known &&
						     !memcmp(program.name.at, comm, known)))) {
		used = add_word(title, used, "", program.name);
	} else {
		return false;
	}
	cut_title(title, used);
	return true;
}

bool program_is_called(const char *args, bool is_cut, const char *comm, const char *name)
{
	struct program_words program = read_program(args, is_cut);
	char title[PROGRAM_TITLE_BYTES];

	if (!*name)
		return false;
	if (!strncmp(comm, name, COMM_LENGTH) || (program.name.bytes && word_is(program.name, name)))
		return true;
	if (program.how && program.script.name.bytes && word_is(program.script.name, name))
		return true;
	return program_title(args, is_cut, comm, title) && !strcmp(title, name);
}

size_t program_names(const char *args, bool is_cut, const char *comm, char names[PROGRAM_NAMES][PROGRAM_TITLE_BYTES])
{
	struct program_words program = read_program(args, is_cut);
	struct word words[] = {program.name, program.how ? program.script.name : (struct word){0}};
	size_t nr = 0;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i].bytes && words[i].bytes < PROGRAM_TITLE_BYTES) {
			cut_title(names[nr], add_word(names[nr], 0, "", words[i]));
			nr++;
		}
	return nr + program_title(args, is_cut, comm, names[nr]);
}

/* True if @args continue with @part. */
static bool goes_on_with(const char *args, const char *part)
{
	for (; *part; args++, part++)
		if ((*args == TRACE_ARGS_SEPARATOR ? ' ' : *args) != *part)
			return false;
	return true;
}

bool program_args_have(const char *args, const char *part)
{
	for (; *part && *args; args++)
		if (goes_on_with(args, part))
			return true;
	return false;
}
