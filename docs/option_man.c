/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * option_man.c - the parts of a manual page that the table of options has
 *
 * The page has comments around each part:
 *
 *	.\" generated synopsis
 *	.\" generated options pid comm		the tag of a paragraph: "--pid=N, --comm=NAME"
 *	.\" generated letters f p		the same, of options that a personality adds
 *	.\" generated command halt
 *	.\" generated ignored			the options of old scripts, and why they are ignored
 *	.\" end
 *
 * An option is named by its long name, or by its letter. The texts below the tags are by hand.
 */
#include <errno.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "option_texts.h"

#define MAX_NAMES 256
#define BEGIN	  ".\\\" generated "
#define END	  ".\\\" end\n"

/** struct man_page - @shown: the options and verbs that the page has so far */
struct man_page {
	const struct option_program *program;
	const void *shown[MAX_NAMES];
	size_t nr_shown;
	bool is_wrong;
};

static void wrong(struct man_page *page, const char *what, const char *name)
{
	fprintf(stderr, "the manual of %s: %s %s\n", page->program->name, what, name);
	page->is_wrong = true;
}

/* Prints text in roff: each dash is one of a command, not a hyphen. */
static void print_roff(const char *text)
{
	for (; *text; text++) {
		if (*text == '-' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
}

static void print_font(char font, const char *text)
{
	printf("\\f%c", font);
	print_roff(text);
	fputs("\\fP", stdout);
}

/* The value after the last spelling of an option. */
static void print_value(const struct option_spec *spec)
{
	bool is_optional = spec->value != OPTION_VALUE && spec->value != OPTION_GLUED_VALUE;

	if (!spec->value_name)
		return;
	if (!spec->name && spec->value != OPTION_GLUED_VALUE)
		putchar(' ');
	fputs(is_optional ? "[" : "", stdout);
	fputs(spec->name ? "=" : "", stdout);
	print_font('I', spec->value_name);
	fputs(is_optional ? "]" : "", stdout);
}

static void print_spec(const struct option_spec *spec)
{
	char word[64];

	if (spec->letter) {
		snprintf(word, sizeof(word), "-%c", spec->letter);
		print_font('B', word);
	}
	if (spec->letter && spec->name)
		fputs(", ", stdout);
	if (spec->name) {
		snprintf(word, sizeof(word), "--%s", spec->name);
		print_font('B', word);
	}
	if (spec->other_name) {
		snprintf(word, sizeof(word), "--%s", spec->other_name);
		fputs(", ", stdout);
		print_font('B', word);
	}
	print_value(spec);
}

static const struct option_spec *find_spec(const struct option_program *program, const char *name)
{
	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];

		if (option_is_shown(spec) &&
		    (spec->name ? !strcmp(spec->name, name) : spec->letter == name[0] && !name[1]))
			return spec;
	}
	return NULL;
}

static void note_shown(struct man_page *page, const void *row)
{
	if (page->nr_shown < MAX_NAMES)
		page->shown[page->nr_shown++] = row;
}

/* An option that a personality of @program adds. */
static const struct option_spec *find_letter(const struct option_program *program, const char *name)
{
	const struct option_spec *spec = NULL;

	for (size_t i = 0; !spec && i < program->nr_personalities; i++)
		if (program->personalities[i].adds)
			spec = find_spec(program->personalities[i].program, name);
	return spec;
}

static void print_options(struct man_page *page,
			  const struct option_spec *(*find)(const struct option_program *program, const char *name),
			  char *names)
{
	const char *separator = "";

	puts(".TP");
	for (char *name = strtok(names, " \n"); name; name = strtok(NULL, " \n")) {
		const struct option_spec *spec = find(page->program, name);

		if (!spec) {
			wrong(page, "there is no option", name);
			continue;
		}
		fputs(separator, stdout);
		print_spec(spec);
		note_shown(page, spec);
		separator = ", ";
	}
	putchar('\n');
}

static void print_command(struct man_page *page, const char *name)
{
	for (size_t i = 0; i < page->program->nr_verbs; i++) {
		const struct option_verb *verb = &page->program->verbs[i];

		if (strcmp(verb->name, name))
			continue;
		puts(".TP");
		print_font('B', verb->name);
		if (verb->argument != VERB_ALONE) {
			fputs(verb_needs_argument(verb) ? " " : " [", stdout);
			print_font('I', verb->argument_name);
			fputs(verb_needs_argument(verb) ? "" : "]", stdout);
		}
		putchar('\n');
		note_shown(page, verb);
		return;
	}
	wrong(page, "there is no command", name);
}

/* One form: commands and options are bold, names of values italic. */
static void print_form(const char *text, size_t chars)
{
	static const char names[] = "abcdefghijklmnopqrstuvwxyz-/",
			  letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-",
			  values[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char word[64];

	while (chars) {
		size_t name = *text == '-' ? strspn(text, letters) : strspn(text, names),
		       value = name ? 0 : strspn(text, values),
		       step = name    ? name
			      : value ? value
				      : 1;

		snprintf(word, sizeof(word), "%.*s", (int)step, text);
		if (name || value)
			print_font(value ? 'I' : 'B', word);
		else
			fputs(word, stdout);
		text += step;
		chars -= step;
	}
}

static void print_synopsis(const struct option_program *program)
{
	for (const char *text = program->synopsis; *text;) {
		size_t chars = strcspn(text, "\n");

		if (text != program->synopsis)
			puts(".br");
		print_font('B', program->name);
		putchar(' ');
		print_form(text, chars);
		putchar('\n');
		text += chars + (text[chars] == '\n');
	}
}

static void print_ignored(const struct option_program *program)
{
	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];
		char letters[8];

		if (spec->heading || spec->apply)
			continue;
		snprintf(letters, sizeof(letters), spec->other_letter ? "-%c, -%c" : "-%c", spec->letter,
			 spec->other_letter);
		puts(".TP");
		print_font('B', letters);
		if (spec->value_name)
			print_font('I', spec->value_name);
		putchar('\n');
		printf("%c%s.\n", toupper((unsigned char)spec->help[0]), spec->help + 1);
	}
}

static void print_part(struct man_page *page, char *what)
{
	what[strcspn(what, "\n")] = '\0';
	if (!strncmp(what, "options ", 8))
		print_options(page, find_spec, what + 8);
	else if (!strncmp(what, "letters ", 8))
		print_options(page, find_letter, what + 8);
	else if (!strncmp(what, "command ", 8))
		print_command(page, what + 8);
	else if (!strcmp(what, "synopsis"))
		print_synopsis(page->program);
	else if (!strcmp(what, "ignored"))
		print_ignored(page->program);
	else
		wrong(page, "there is no part", what);
}

static bool is_shown(const struct man_page *page, const void *row)
{
	for (size_t i = 0; i < page->nr_shown; i++)
		if (page->shown[i] == row)
			return true;
	return false;
}

static void check_specs_are_shown(struct man_page *page, const struct option_program *program)
{
	char letter[2] = "";

	for (size_t i = 0; i < program->nr_specs; i++) {
		letter[0] = program->specs[i].letter;
		if (option_is_shown(&program->specs[i]) && !is_shown(page, &program->specs[i]))
			wrong(page, "it lacks the option", program->specs[i].name ? program->specs[i].name : letter);
	}
}

static void check_all_are_shown(struct man_page *page)
{
	const struct option_program *program = page->program;

	check_specs_are_shown(page, program);
	for (size_t i = 0; i < program->nr_personalities; i++)
		if (program->personalities[i].adds)
			check_specs_are_shown(page, program->personalities[i].program);
	for (size_t i = 0; i < program->nr_verbs; i++)
		if (!is_shown(page, &program->verbs[i]))
			wrong(page, "it lacks the command", program->verbs[i].name);
}

int option_man(const struct option_program *program)
{
	struct man_page page = {.program = program};
	char line[4096];
	bool is_part = false;

	while (fgets(line, sizeof(line), stdin)) {
		if (is_part && strcmp(line, END) != 0)
			continue;
		is_part = false;
		fputs(line, stdout);
		if (!strncmp(line, BEGIN, strlen(BEGIN))) {
			is_part = true;
			print_part(&page, line + strlen(BEGIN));
		}
	}
	if (ferror(stdin))
		wrong(&page, "it cannot be read", strerror(errno));
	if (is_part)
		wrong(&page, "a part has no", "end");
	check_all_are_shown(&page);
	return page.is_wrong;
}
