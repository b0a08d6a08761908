/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* option_zsh.c - the completion of a program for zsh. */
#include <stdio.h>
#include <string.h>

#include "option_texts.h"

/* The parts that are the same for each program; @ is the name of its functions. */
static const char trace[] =
	"# The values of a kind that the trace on the command line has; process ids with their names.\n"
	"@_trace() # KIND\n"
	"{\n"
	"	local word file\n"
	"	local -a values\n"
	"	for word in ${words[2,-1]}; do\n"
	"		file=${(Q)word}\n"
	"		[[ $file != -* && -f $file ]] && break\n"
	"		file=\n"
	"	done\n"
	"	[[ -n $file ]] || return 1\n"
	"	values=(${(f)\"$(_call_program $1 tracevisualizer --complete=$1 ${(q)file} 2>/dev/null)\"})\n"
	"	values=(${${values//:/\\\\:}/$'\\t'/:})\n"
	"	_describe -t $1 $1 values\n"
	"}\n\n";

static const char events[] =
	"@_events()\n"
	"{\n"
	"	local -a names\n"
	"	names=(all default CORE ${(f)\"$(_call_program events tracedaemon --list 2>/dev/null |\n"
	"		awk 'NR > 1 && $4 != \"always\" { print $1; print $2; if ($3 != \"-\") print $3 }' | sort "
	"-u)\"})\n"
	"	compset -P '*[,+-]'\n"
	"	compadd -S '' -a names\n"
	"}\n\n";

static const char probes[] =
	"@_probes()\n"
	"{\n"
	"	local -a names\n"
	"	if compset -P 'usdt:'; then\n"
	"		_files\n"
	"	elif [[ $PREFIX == *:* ]]; then\n"
	"		names=(${(f)\"$(_call_program functions tracedaemon --list ${(q)PREFIX}'\\*' 2>/dev/null |\n"
	"			sed 's/ .*//; s/.*://')\"})\n"
	"		compset -P '*:'\n"
	"		compadd -a names\n"
	"	else\n"
	"		compadd -S '' usdt: kernel:\n"
	"		_files\n"
	"	fi\n"
	"}\n\n";

static void print_template(const struct option_program *program, const char *text)
{
	for (; *text; text++) {
		if (*text == '@')
			printf("_%s", program->name);
		else
			putchar(*text);
	}
}

/* Prints a help text inside of '[...]'. */
static void print_text(const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else if (strchr("[]:\\", *text))
			printf("\\%c", *text);
		else
			putchar(*text);
	}
}

/* An action that begins with a blank is called as it is, without options for compadd. */
static void print_action(const struct option_program *program, enum option_completion completes, const char *words)
{
	static const char *const actions[] = {
		[COMPLETE_NOTHING] = " ",
		[COMPLETE_FILE] = "_files",
		[COMPLETE_FOLDER] = "_files -/",
		[COMPLETE_PID] = "_pids",
		[COMPLETE_USER] = "_users",
		[COMPLETE_GROUP] = "_groups",
		[COMPLETE_EVENTS] = "@_events",
		[COMPLETE_PROBE] = "@_probes",
		[COMPLETE_TRACE_EVENT] = " @_trace event",
		[COMPLETE_TRACE_PID] = " @_trace pid",
		[COMPLETE_TRACE_COMM] = " @_trace comm",
		[COMPLETE_TRACE_TASK] = " @_trace task",
		[COMPLETE_TRACE_CGROUP] = " @_trace cgroup",
		[COMPLETE_TRACE_INSTANCE] = " @_trace instance",
	};

	if (completes == COMPLETE_WORDS)
		printf("(%s)", words);
	else if (completes == COMPLETE_PRELOAD)
		fputs("_values -s , library ", stdout);
	else
		print_template(program, actions[completes]);
	if (completes == COMPLETE_PRELOAD)
		print_text(words);
}

static void print_spelling(const struct option_program *program, const struct option_spec *spec, const char *spelling)
{
	bool is_optional = spec->value != OPTION_VALUE && spec->value != OPTION_GLUED_VALUE;
	bool is_long = spelling[1] == '-', has_value = spec->value != OPTION_NO_VALUE && spec->value_name;

	printf("	'%s", spelling);
	if (has_value && is_long)
		fputs(spec->value == OPTION_EQUALS_VALUE ? "=-" : "=", stdout);
	else if (has_value && spec->value != OPTION_EQUALS_VALUE && spec->value != OPTION_SEPARATE_VALUE)
		putchar('+');
	putchar('[');
	print_text(spec->help);
	putchar(']');
	if (has_value && (is_long || spec->value != OPTION_EQUALS_VALUE)) {
		fputs(is_optional ? "::" : ":", stdout);
		print_text(spec->value_name);
		putchar(':');
		print_action(program, spec->completes, spec->words);
	}
	fputs("'\n", stdout);
}

static bool has_letter(const struct option_program *program, char letter)
{
	for (size_t i = 0; program && i < program->nr_specs; i++)
		if (program->specs[i].letter == letter)
			return true;
	return false;
}

static bool has_name(const struct option_program *program, const char *name)
{
	for (size_t i = 0; program && i < program->nr_specs; i++)
		if (program->specs[i].name && !strcmp(program->specs[i].name, name))
			return true;
	return false;
}

/* @from: @program or one of its personalities. @before: its spellings are left out; NULL: none */
static void print_specs(const struct option_program *program, const struct option_program *from,
			const struct option_program *before)
{
	for (size_t i = 0; i < from->nr_specs; i++) {
		const struct option_spec *spec = &from->specs[i];
		char spelling[64];

		if (!option_is_shown(spec))
			continue;
		snprintf(spelling, sizeof(spelling), "-%c", spec->letter);
		if (spec->letter && !has_letter(before, spec->letter))
			print_spelling(program, spec, spelling);
		snprintf(spelling, sizeof(spelling), "--%s", spec->name ? spec->name : "");
		if (spec->name && !has_name(before, spec->name))
			print_spelling(program, spec, spelling);
		snprintf(spelling, sizeof(spelling), "--%s", spec->other_name ? spec->other_name : "");
		if (spec->other_name)
			print_spelling(program, spec, spelling);
	}
}

/* A word is a verb, or the argument of the verb before it. */
static void print_verbs(const struct option_program *program)
{
	printf("_%s_words()\n{\n	local -a verbs\n	case ${words[CURRENT-1]} in\n", program->name);
	for (size_t i = 0; i < program->nr_verbs; i++)
		if (program->verbs[i].argument != VERB_ALONE) {
			printf("	%s) ", program->verbs[i].name);
			if (program->verbs[i].completes == COMPLETE_NOTHING)
				printf("_message %s", program->verbs[i].argument_name);
			else
				print_action(program, program->verbs[i].completes, NULL);
			fputs("; return ;;\n", stdout);
		}
	fputs("	esac\n	verbs=(\n", stdout);
	for (size_t i = 0; i < program->nr_verbs; i++) {
		printf("	'%s:", program->verbs[i].name);
		print_text(program->verbs[i].help);
		fputs("'\n", stdout);
	}
	fputs("	)\n	_describe -t commands command verbs\n}\n\n", stdout);
}

void option_zsh(const struct option_program *program)
{
	printf("#compdef %s\n# SPDX-License-Identifier: LGPL-2.1-or-later\n"
	       "# zsh completion for %s, written by docs/option_texts.c: do not edit\n\n",
	       program->name, program->name);
	if (option_program_has(program, COMPLETE_TRACE_PID))
		print_template(program, trace);
	if (option_program_has(program, COMPLETE_EVENTS))
		print_template(program, events);
	if (option_program_has(program, COMPLETE_PROBE))
		print_template(program, probes);
	if (program->nr_verbs)
		print_verbs(program);
	fputs("local -a options\noptions=(\n", stdout);
	print_specs(program, program, NULL);
	for (size_t i = 0; i < program->nr_personalities; i++) {
		const struct option_personality *personality = &program->personalities[i];

		printf(")\n(( ${words[(I)%s]} )) && options=(\n", personality->option);
		print_specs(program, personality->program, NULL);
		if (personality->adds)
			print_specs(program, program, personality->program);
	}
	fputs(")\n_arguments -s $options ", stdout);
	if (program->take_rest)
		fputs("'(-)--[the command to run]:*:: :_normal' ", stdout);
	if (program->nr_verbs)
		printf("'*: :_%s_words'\n", program->name);
	else
		fputs("'*:file:_files'\n", stdout);
}
