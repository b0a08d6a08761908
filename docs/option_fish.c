/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* option_fish.c - the completion of a program for fish. */
#include <stdio.h>
#include <string.h>

#include "option_texts.h"

/* The parts that are the same for each program; @ is the name of its functions. */
static const char trace[] = "# The values of a kind that the trace on the command line has.\n"
			    "function @_trace\n"
			    "    for word in (commandline -op)[2..]\n"
			    "        if not string match -q -- '-*' $word; and test -f $word\n"
			    "            tracevisualizer --complete=$argv[1] $word 2>/dev/null\n"
			    "            return\n"
			    "        end\n"
			    "    end\n"
			    "end\n\n";

static const char events[] =
	"function @_events\n"
	"    set -l before (commandline -ct | string match -r '.*[,+-]|-[eED]' | string replace -r '^-[eED]' '')\n"
	"    printf \"$before%s\\n\" all default CORE (tracedaemon --list 2>/dev/null |\n"
	"        awk 'NR > 1 && $4 != \"always\" { print $1; print $2; if ($3 != \"-\") print $3 }' | sort -u)\n"
	"end\n\n";

static const char probes[] = "function @_probes\n"
			     "    set -l word (commandline -ct | string replace -r '^--[a-z-]+=' '')\n"
			     "    printf '%s\\n' usdt: kernel:\n"
			     "    switch $word\n"
			     "        case 'usdt:*'\n"
			     "            __fish_complete_suffix ''\n"
			     "        case '*:*'\n"
			     "            tracedaemon --list \"$word*\" 2>/dev/null | string replace -r ' .*' ''\n"
			     "    end\n"
			     "end\n\n";

static void print_template(const struct option_program *program, const char *text)
{
	for (; *text; text++) {
		if (*text == '@')
			printf("__%s", program->name);
		else
			putchar(*text);
	}
}

static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			putchar('\\');
		putchar(*text);
	}
	putchar('\'');
}

/* The offers for a value: -F files, -xa a list. */
static void print_value(const struct option_program *program, enum option_completion completes, const char *words,
			const char *exclusive)
{
	static const char *const values[] = {
		[COMPLETE_FOLDER] = "(__fish_complete_directories)",
		[COMPLETE_PID] = "(__fish_complete_pids)",
		[COMPLETE_USER] = "(__fish_complete_users)",
		[COMPLETE_GROUP] = "(__fish_complete_groups)",
		[COMPLETE_EVENTS] = "(@_events)",
		[COMPLETE_PROBE] = "(@_probes)",
		[COMPLETE_TRACE_EVENT] = "(@_trace event)",
		[COMPLETE_TRACE_PID] = "(@_trace pid)",
		[COMPLETE_TRACE_COMM] = "(@_trace comm)",
		[COMPLETE_TRACE_TASK] = "(@_trace task)",
		[COMPLETE_TRACE_CGROUP] = "(@_trace cgroup)",
		[COMPLETE_TRACE_INSTANCE] = "(@_trace instance)",
	};

	if (completes == COMPLETE_FILE || completes == COMPLETE_PROBE)
		fputs(*exclusive ? " -rF" : " -F", stdout);
	else
		fputs(exclusive, stdout);
	if (completes == COMPLETE_WORDS || completes == COMPLETE_PRELOAD)
		printf(" -a '%s'", words);
	else if (completes != COMPLETE_NOTHING && completes != COMPLETE_FILE) {
		fputs(" -a '", stdout);
		print_template(program, values[completes]);
		putchar('\'');
	}
}

/* @condition: "", or an option that must be on the line */
static void print_spec(const struct option_program *program, const struct option_spec *spec, const char *condition)
{
	bool needs = spec->value == OPTION_VALUE || spec->value == OPTION_OPTIONAL_VALUE ||
		     spec->value == OPTION_SEPARATE_VALUE;

	printf("complete -c %s", program->name);
	if (*condition)
		printf(" -n 'contains -- %s (commandline -op)'", condition);
	if (spec->letter)
		printf(" -s %c", spec->letter);
	if (spec->name)
		printf(" -l %s", spec->name);
	if (spec->other_name)
		printf(" -l %s", spec->other_name);
	if (spec->value != OPTION_NO_VALUE && spec->value_name)
		print_value(program, spec->completes, spec->words, needs ? " -x" : "");
	fputs(" -d ", stdout);
	print_quoted(spec->help);
	putchar('\n');
}

static void print_verbs(const struct option_program *program)
{
	printf("complete -c %s -f\n", program->name);
	for (size_t i = 0; i < program->nr_verbs; i++) {
		const struct option_verb *verb = &program->verbs[i];

		printf("complete -c %s -n __fish_use_subcommand -a %s -d ", program->name, verb->name);
		print_quoted(verb->help);
		putchar('\n');
		if (verb->argument == VERB_ALONE || verb->completes == COMPLETE_NOTHING)
			continue;
		printf("complete -c %s -n '__fish_seen_subcommand_from %s'", program->name, verb->name);
		print_value(program, verb->completes, NULL, "");
		putchar('\n');
	}
}

static void print_personality(const struct option_program *program, const struct option_personality *personality)
{
	const struct option_program *from = personality->program;

	for (size_t i = 0; i < from->nr_specs; i++)
		if (option_is_shown(&from->specs[i]))
			print_spec(program, &from->specs[i], personality->option);
}

void option_fish(const struct option_program *program)
{
	printf("# SPDX-License-Identifier: LGPL-2.1-or-later\n"
	       "# fish completion for %s, written by docs/option_texts.c: do not edit\n\n",
	       program->name);
	if (option_program_has(program, COMPLETE_TRACE_PID))
		print_template(program, trace);
	if (option_program_has(program, COMPLETE_EVENTS))
		print_template(program, events);
	if (option_program_has(program, COMPLETE_PROBE))
		print_template(program, probes);
	if (program->nr_verbs)
		print_verbs(program);
	for (size_t i = 0; i < program->nr_specs; i++)
		if (option_is_shown(&program->specs[i]))
			print_spec(program, &program->specs[i], "");
	for (size_t i = 0; i < program->nr_personalities; i++)
		print_personality(program, &program->personalities[i]);
}
