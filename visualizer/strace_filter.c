/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "strace_filter.h"
#include <errno.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "complain.h"
#include "linux_names.h"
#include "similar.h"
#include "syscall_table.h"

#define WORD_CHARS 128

/* The classes of strace(1), with the letters of call_arguments.def. */
static const struct {
	const char *name;
	const char *letters;
} classes[] = {
	{"file", "f"},	{"desc", "d"},	 {"process", "p"}, {"network", "n"}, {"net", "n"},     {"signal", "s"},
	{"ipc", "i"},	{"memory", "m"}, {"creds", "c"},   {"pure", "u"},    {"clock", "k"},   {"stat", "S"},
	{"lstat", "L"}, {"fstat", "F"},	 {"%stat", "SLF"}, {"statfs", "A"},  {"fstatfs", "B"}, {"%statfs", "AB"},
};

/* The next word of a list with commas; a regular expression may have some. False at the end. */
static bool next_word(const char **list, char word[WORD_CHARS])
{
	const char *end = **list == '/' ? strchr(*list + 1, '/') : NULL;
	size_t chars = end ? (size_t)(end + 1 - *list) : strcspn(*list, ",");

	if (!**list)
		return false;
	snprintf(word, WORD_CHARS, "%.*s", (int)chars, *list);
	*list += chars;
	*list += **list == ',';
	return true;
}

static const char *letters_of(const char *word)
{
	const char *name = *word == '%' ? word + 1 : word;

	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (!strcmp(classes[i].name, name))
			return classes[i].letters;
	return NULL;
}

static int matches_pattern(const char *word, const char *name)
{
	char pattern[WORD_CHARS];
	regex_t regex;
	int found;

	snprintf(pattern, sizeof(pattern), "%.*s", (int)strcspn(word + 1, "/"), word + 1);
	if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return -EINVAL;
	found = !regexec(&regex, name, 0, NULL, 0);
	regfree(&regex);
	return found;
}

/* "?call" may not exist; "call@64" is a call of an ABI, and all traces have that one. */
static const char *plain_word(char *word)
{
	word[strcspn(word, "@")] = '\0';
	return *word == '?' ? word + 1 : word;
}

static int matches_word(char *word, const struct call_meaning *row)
{
	const char *letters;

	if (*word == '/')
		return matches_pattern(word, row->name);
	if (!strcmp(word, "all"))
		return 1;
	word = (char *)plain_word(word);
	letters = letters_of(word);
	return letters ? row->classes[strcspn(row->classes, letters)] != '\0' : !strcmp(word, row->name);
}

int strace_set_wants(const char *set, const struct call_meaning *row)
{
	bool is_negated = set && *set == '!';
	char word[WORD_CHARS];
	int found = 0;

	if (!set)
		return 1;
	for (const char *list = set + is_negated; !found && next_word(&list, word);)
		found = matches_word(word, row);
	return found < 0 ? found : found != is_negated;
}

static int complain_of_call(const char *word)
{
	struct similar best = {.wanted = word};
	const char *name;

	for (size_t i = 0; (name = call_meaning_name(i)); i++)
		similar_offer(&best, name);
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && *word == '%'; i++)
		similar_offer(&best, classes[i].name);
	if (best.name)
		return complain(2, "-e trace: '%s' is no system call; did you mean %s?", word, best.name);
	return complain(2, "-e trace: '%s' is no system call and no class such as %%file or %%network", word);
}

int strace_set_check(const char *set)
{
	const struct call_meaning any = {.name = "any", .classes = ""};
	char word[WORD_CHARS];

	if (!set)
		return 0;
	for (const char *list = set + (*set == '!'); next_word(&list, word);) {
		if (*word == '/' && (matches_pattern(word, any.name) < 0 || !strchr(word + 1, '/')))
			return complain(2, "-e trace: '%s' is not a regular expression between two /", word);
		if (*word == '/' || *word == '?' || !strcmp(word, "all") || !strcmp(word, "none") || letters_of(word))
			continue;
		if (!syscall_row_find(plain_word(word), true))
			return complain_of_call(word);
	}
	return 0;
}

/* "SIGCHLD", "CHLD" or "17"; 0: none */
static unsigned int signal_number(const char *word)
{
	const char *name = strncasecmp(word, "SIG", 3) ? word : word + 3;

	if (*name >= '1' && *name <= '9')
		return (unsigned int)strtoul(name, NULL, 10);
	for (unsigned int i = 1; i < 32; i++)
		if (!strcasecmp(linux_signal_name(i), name))
			return i;
	return 0;
}

bool strace_signal_wants(const char *set, unsigned int signal)
{
	bool is_negated = set && *set == '!', found = false;
	char word[WORD_CHARS];

	if (!set)
		return true;
	for (const char *list = set + is_negated; !found && next_word(&list, word);)
		found = !strcmp(word, "all") || signal_number(word) == signal;
	return found != is_negated;
}

int strace_signals_check(const char *set)
{
	char word[WORD_CHARS];

	if (!set)
		return 0;
	for (const char *list = set + (*set == '!'); next_word(&list, word);)
		if (strcmp(word, "all") && strcmp(word, "none") && !signal_number(word))
			return complain(2, "-e signal: '%s' is no signal", word);
	return 0;
}
