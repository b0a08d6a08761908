/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "option_help.h"

#include <string.h>

#define INDENT	    2
#define TEXT_COLUMN 27

/* Prints @text from @column on, continued at TEXT_COLUMN where a line is full. */
static void print_wrapped(FILE *out, const char *text, int column, int indent)
{
	while (*text) {
		int chars = (int)strcspn(text, " \n");

		if (column > indent && column + 1 + chars > OPTION_HELP_COLUMNS) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', out);
			column++;
		}
		column += fprintf(out, "%.*s", chars, text);
		text += chars;
		text += *text == ' ';
	}
	fputc('\n', out);
}

static void print_row(FILE *out, const char *left, const char *help)
{
	int column = fprintf(out, "%*s%s", INDENT, "", left);

	if (column >= TEXT_COLUMN) {
		fputc('\n', out);
		column = 0;
	}
	fprintf(out, "%*s", TEXT_COLUMN - column, "");
	print_wrapped(out, help, TEXT_COLUMN, TEXT_COLUMN);
}

void option_spelling(const struct option_spec *spec, char *text, size_t size)
{
	bool is_optional = spec->value != OPTION_VALUE && spec->value != OPTION_GLUED_VALUE;
	size_t used = 0;

	*text = '\0';
	if (spec->letter)
		used = (size_t)snprintf(text, size, "-%c", spec->letter);
	if (spec->name)
		used += (size_t)snprintf(text + used, size - used, "%s--%s", used ? ", " : "", spec->name);
	if (spec->other_name)
		used += (size_t)snprintf(text + used, size - used, ", --%s", spec->other_name);
	if (!spec->value_name)
		return;
	if (spec->name)
		snprintf(text + used, size - used, is_optional ? "[=%s]" : "=%s", spec->value_name);
	else
		snprintf(text + used, size - used, is_optional ? " [%s]" : " %s", spec->value_name);
}

static void print_options(FILE *out, const struct option_program *program, bool all)
{
	size_t nr_headings = 0;

	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];
		char left[96];

		if (spec->heading) {
			if (nr_headings++ && !all)
				return;
			fprintf(out, "\n%s:\n", spec->heading);
		} else if (spec->apply && spec->help) {
			snprintf(left, sizeof(left), "%s", spec->letter ? "" : "    ");
			option_spelling(spec, left + strlen(left), sizeof(left) - strlen(left));
			print_row(out, left, spec->help);
		}
	}
}

static void print_verbs(FILE *out, const struct option_program *program)
{
	if (program->nr_verbs)
		fputs("Commands:\n", out);
	for (size_t i = 0; i < program->nr_verbs; i++) {
		const struct option_verb *verb = &program->verbs[i];
		char left[96];

		snprintf(left, sizeof(left),
			 verb->argument == VERB_ALONE ? "%s"
			 : verb_needs_argument(verb)  ? "%s %s"
						      : "%s [%s]",
			 verb->name, verb->argument_name);
		print_row(out, left, verb->help);
	}
}

/* The letters that only old scripts use. */
static void print_old_letters(FILE *out, const struct option_program *program)
{
	char same[128] = "", ignored[128] = "";
	size_t nr_same = 0, nr_ignored = 0;

	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];

		if (spec->heading)
			continue;
		if (spec->other_letter)
			nr_same += (size_t)snprintf(same + nr_same, sizeof(same) - nr_same, " -%c", spec->other_letter);
		if (!spec->apply)
			nr_ignored += (size_t)snprintf(ignored + nr_ignored, sizeof(ignored) - nr_ignored, " -%c",
						       spec->letter);
	}
	if (nr_same || nr_ignored)
		fputs("\nFor old scripts:\n", out);
	if (nr_same)
		fprintf(out, " %s: as in lower case\n", same);
	if (nr_ignored)
		fprintf(out, " %s: without effect\n", ignored);
}

/* The forms of the command line, below each other. */
static void print_synopsis(FILE *out, const struct option_program *program)
{
	const char *before = "Usage: ";

	for (const char *text = program->synopsis; *text; before = "       ") {
		size_t chars = strcspn(text, "\n");

		fprintf(out, "%s%s %.*s\n", before, program->name, (int)chars, text);
		text += chars + (text[chars] == '\n');
	}
}

void option_help(FILE *out, const struct option_program *program, bool all)
{
	print_synopsis(out, program);
	fputs(program->usage, out);
	print_verbs(out, program);
	print_options(out, program, all);
	if (all)
		print_old_letters(out, program);
	fprintf(out, "\n%s", program->notes);
	if (!all)
		fprintf(out, "All options: %s --help\n", program->name);
}
