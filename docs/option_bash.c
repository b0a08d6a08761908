/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* option_bash.c - the completion of a program for bash. */
#include <stdio.h>
#include <string.h>

#include "option_texts.h"

/* The parts that are the same for each program; @ is the name of its functions. */
static const char lines[] = "# Offers each line of stdin that begins with WORD; PREFIX is what was typed before WORD.\n"
			    "@_lines() # WORD PREFIX\n"
			    "{\n"
			    "	local line\n"
			    "	while IFS= read -r line; do\n"
			    "		line=${line%%$'\\t'*}\n"
			    "		[[ $line == \"$1\"* ]] && COMPREPLY+=(\"$2$(printf %q \"$line\")\")\n"
			    "	done\n"
			    "}\n\n";

static const char files[] = "@_files() # WORD\n"
			    "{\n"
			    "	COMPREPLY=($(compgen -f -- \"$1\"))\n"
			    "	compopt -o filenames\n"
			    "}\n\n";

static const char events[] =
	"# A list with commas and signs, of which the last item is completed.\n"
	"@_list() # WORD ITEM...\n"
	"{\n"
	"	local word=$1\n"
	"	shift\n"
	"	COMPREPLY=($(compgen -P \"${word%\"${word##*[,+-]}\"}\" -W \"$*\" -- \"${word##*[,+-]}\"))\n"
	"	compopt -o nospace\n"
	"}\n\n"
	"@_events() # WORD\n"
	"{\n"
	"	@_list \"$1\" all default CORE $(tracedaemon --list 2>/dev/null |\n"
	"		awk 'NR > 1 && $4 != \"always\" { print $1; print $2; if ($3 != \"-\") print $3 }' | sort -u)\n"
	"}\n\n";

static const char probes[] =
	"# FILE:FUNCTION, usdt:FILE, kernel:FUNCTION; readline splits the word at a colon, and replaces the last "
	"part.\n"
	"@_probes() # WORD\n"
	"{\n"
	"	case $1 in\n"
	"	usdt:*) COMPREPLY=($(compgen -f -- \"${1##*:}\")) ;;\n"
	"	*:*)\n"
	"		@_lines \"${1##*:}\" '' < <(tracedaemon --list \"$1*\" 2>/dev/null | sed 's/ .*//; s/.*://')\n"
	"		return\n"
	"		;;\n"
	"	*) COMPREPLY=($(compgen -W \"usdt: kernel:\" -- \"$1\") $(compgen -f -- \"$1\")) ;;\n"
	"	esac\n"
	"	compopt -o nospace -o filenames\n"
	"}\n\n";

static const char preload[] = "# A list with commas; readline splits the word at a colon, too.\n"
			      "@_preload() # WORD ITEM...\n"
			      "{\n"
			      "	local word=$1\n"
			      "	shift\n"
			      "	COMPREPLY=($(compgen -P \"${word%\"${word##*,}\"}\" -W \"$*\" -- \"${word##*,}\"))\n"
			      "	COMPREPLY=(\"${COMPREPLY[@]#\"${word%\"${word##*:}\"}\"}\")\n"
			      "	compopt -o nospace\n"
			      "}\n\n";

static const char trace[] =
	"# The values of a kind that the trace on the command line has.\n"
	"@_trace() # KIND WORD\n"
	"{\n"
	"	local i\n"
	"	for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do\n"
	"		[[ ${COMP_WORDS[i]} != -* && -f ${COMP_WORDS[i]} ]] || continue\n"
	"		@_lines \"$2\" '' < <(tracevisualizer --complete=\"$1\" \"${COMP_WORDS[i]}\" 2>/dev/null)\n"
	"		return\n"
	"	done\n"
	"}\n\n";

static const char begin[] = "@()\n"
			    "{\n"
			    "	local line=${COMP_LINE:0:COMP_POINT} word before i\n\n"
			    "	word=${line##*[[:blank:]]} line=${line%\"$word\"}\n"
			    "	before=${line%\"${line##*[![:blank:]]}\"} before=${before##*[[:blank:]]}\n"
			    "	COMPREPLY=()\n";

static const char rest_is_command[] =
	"	for ((i = 1; i < COMP_CWORD; i++)); do\n"
	"		if [[ ${COMP_WORDS[i]} == -- ]]; then # a command with its own completion\n"
	"			if declare -F _command_offset >/dev/null; then\n"
	"				_command_offset $((i + 1))\n"
	"			else\n"
	"				@_files \"$word\"\n"
	"			fi\n"
	"			return\n"
	"		fi\n"
	"	done\n";

static const char personality_words[] = "		case $word in\n"
					"		-*=*) @_files \"${word#*=}\" ;;\n"
					"		-*)\n"
					"			COMPREPLY=($(compgen -W \"";
static const char personality_end[] = "\" -- \"$word\"))\n"
				      "			[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n"
				      "			;;\n"
				      "		*) @_files \"$word\" ;;\n"
				      "		esac\n"
				      "		return\n"
				      "	fi\n";

static const char values_first[] = "	# readline splits the word at =, and replaces only the part after it.\n"
				   "	if [[ $word == --*=* ]]; then\n"
				   "		@_value \"${word%%=*}=\" \"${word#*=}\"\n"
				   "		return\n"
				   "	fi\n"
				   "	@_value \"$before\" \"$word\" && return\n";

/* Prints @text with the name of the functions of @program for each @, but [@] is of the shell. */
static void print_template(const struct option_program *program, const char *text)
{
	for (char before = '\0'; *text; before = *text++) {
		if (*text == '@' && before != '[')
			printf("_%s", program->name);
		else
			putchar(*text);
	}
}

static void print_helpers(const struct option_program *program)
{
	print_template(program, files);
	if (option_program_has(program, COMPLETE_PROBE) || option_program_has(program, COMPLETE_TRACE_PID))
		print_template(program, lines);
	if (option_program_has(program, COMPLETE_EVENTS))
		print_template(program, events);
	if (option_program_has(program, COMPLETE_PROBE))
		print_template(program, probes);
	if (option_program_has(program, COMPLETE_PRELOAD))
		print_template(program, preload);
	if (option_program_has(program, COMPLETE_TRACE_PID))
		print_template(program, trace);
}

static void print_value(const struct option_program *program, enum option_completion completes, const char *words)
{
	static const char *const values[] = {
		[COMPLETE_NOTHING] = ":",
		[COMPLETE_FILE] = "@_files \"$2\"",
		[COMPLETE_FOLDER] = "COMPREPLY=($(compgen -d -- \"$2\"))",
		[COMPLETE_PID] = "COMPREPLY=($(compgen -W \"$(cd /proc && echo [0-9]*)\" -- \"$2\"))",
		[COMPLETE_USER] = "COMPREPLY=($(compgen -u -- \"$2\"))",
		[COMPLETE_GROUP] = "COMPREPLY=($(compgen -g -- \"$2\"))",
		[COMPLETE_EVENTS] = "@_events \"$2\"",
		[COMPLETE_PROBE] = "@_probes \"$2\"",
		[COMPLETE_TRACE_EVENT] = "@_trace event \"$2\"",
		[COMPLETE_TRACE_PID] = "@_trace pid \"$2\"",
		[COMPLETE_TRACE_COMM] = "@_trace comm \"$2\"",
		[COMPLETE_TRACE_TASK] = "@_trace task \"$2\"",
		[COMPLETE_TRACE_CGROUP] = "@_trace cgroup \"$2\"",
		[COMPLETE_TRACE_INSTANCE] = "@_trace instance \"$2\"",
	};

	if (completes == COMPLETE_WORDS)
		printf("COMPREPLY=($(compgen -W \"%s\" -- \"$2\"))", words ? words : "");
	else if (completes == COMPLETE_PRELOAD)
		printf("_%s_preload \"$2\" %s", program->name, words ? words : "");
	else
		print_template(program, values[completes]);
}

/* The spellings after which a value is the next word, and those with =. */
static void print_patterns(const struct option_spec *spec)
{
	bool is_next = spec->value != OPTION_EQUALS_VALUE;
	const char *separator = "";

	if (spec->letter && is_next) {
		printf("-%c", spec->letter);
		separator = " | ";
	}
	if (spec->other_letter && is_next) {
		printf("%s-%c", separator, spec->other_letter);
		separator = " | ";
	}
	if (spec->name && is_next) {
		printf("%s--%s", separator, spec->name);
		separator = " | ";
	}
	if (spec->name)
		printf("%s--%s=", separator, spec->name);
}

/* True in bash if the line has the option of a personality */
#define LINE_HAS "[[ \" $line\" == *\" %s \"* ]]"

/* @from: @program or one of its personalities */
static void print_value_cases(const struct option_program *program, const struct option_program *from)
{
	for (size_t i = 0; i < from->nr_specs; i++) {
		const struct option_spec *spec = &from->specs[i];

		if (!option_is_shown(spec) || spec->value == OPTION_NO_VALUE || spec->value == OPTION_NUMBER_VALUE)
			continue;
		fputs("	", stdout);
		print_patterns(spec);
		fputs(") ", stdout);
		print_value(program, spec->completes, spec->words);
		fputs(" ;;\n", stdout);
	}
}

/* The name of a personality's function: its option without the dashes */
static const char *personality_name(const struct option_personality *personality)
{
	return personality->option + 2;
}

static void print_values_of_personality(const struct option_program *program,
					const struct option_personality *personality)
{
	printf("# The same after %s.\n_%s_%s_value() # OPTION WORD\n{\n	case $1 in\n", personality->option,
	       program->name, personality_name(personality));
	print_value_cases(program, personality->program);
	fputs("	*) return 1 ;;\n	esac\n	return 0\n}\n\n", stdout);
}

static void print_values(const struct option_program *program)
{
	printf("# Offers the values of OPTION; 1: it takes none.\n_%s_value() # OPTION WORD\n{\n", program->name);
	for (size_t i = 0; i < program->nr_personalities; i++)
		if (program->personalities[i].adds)
			printf("	" LINE_HAS " && _%s_%s_value \"$@\" && return\n",
			       program->personalities[i].option, program->name,
			       personality_name(&program->personalities[i]));
	fputs("	case $1 in\n", stdout);
	print_value_cases(program, program);
	for (size_t i = 0; i < program->nr_verbs; i++)
		if (program->verbs[i].argument != VERB_ALONE) {
			printf("	%s) ", program->verbs[i].name);
			print_value(program, program->verbs[i].completes, NULL);
			fputs(" ;;\n", stdout);
		}
	fputs("	*) return 1 ;;\n	esac\n	return 0\n}\n\n", stdout);
	for (size_t i = 0; i < program->nr_personalities; i++)
		if (program->personalities[i].adds)
			print_values_of_personality(program, &program->personalities[i]);
}

/* -esched_sw: the value is attached to the letter. */
static void print_glued(const struct option_program *program)
{
	char letters[64];
	size_t nr = 0;

	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];

		if (!option_is_shown(spec) || spec->completes == COMPLETE_NOTHING ||
		    spec->value == OPTION_SEPARATE_VALUE || spec->value == OPTION_NUMBER_VALUE)
			continue;
		if (spec->letter)
			letters[nr++] = spec->letter;
		if (spec->other_letter)
			letters[nr++] = spec->other_letter;
	}
	letters[nr] = '\0';
	if (nr)
		printf("	-[%s]?*)\n		_%s_value \"${word:0:2}\" \"${word:2}\"\n"
		       "		COMPREPLY=(\"${COMPREPLY[@]/#/${word:0:2}}\")\n		;;\n",
		       letters, program->name);
}

/* All spellings of all options. */
static void print_spellings(const struct option_program *program)
{
	for (size_t i = 0; i < program->nr_specs; i++) {
		const struct option_spec *spec = &program->specs[i];
		const char *equals = spec->value == OPTION_VALUE ? "=" : "";

		if (!option_is_shown(spec))
			continue;
		if (spec->name)
			printf("--%s%s ", spec->name, equals);
		if (spec->other_name)
			printf("--%s%s ", spec->other_name, equals);
	}
	for (size_t i = 0; i < program->nr_specs; i++)
		if (option_is_shown(&program->specs[i]) && program->specs[i].letter)
			printf("-%c ", program->specs[i].letter);
}

/* Only the options of @personality count, which replaces all; files may be values of any. */
static void print_replacing(const struct option_program *program, const struct option_personality *personality)
{
	printf("	if " LINE_HAS "; then\n", personality->option);
	print_template(program, personality_words);
	print_spellings(personality->program);
	print_template(program, personality_end);
}

static void print_options(const struct option_program *program)
{
	fputs("	-*)\n		COMPREPLY=($(compgen -W \"", stdout);
	print_spellings(program);
	fputs("--\" -- \"$word\"))\n", stdout);
	for (size_t i = 0; i < program->nr_personalities; i++)
		if (program->personalities[i].adds) {
			printf("		" LINE_HAS " &&\n			COMPREPLY+=($(compgen -W \"",
			       program->personalities[i].option);
			print_spellings(program->personalities[i].program);
			fputs("\" -- \"$word\"))\n", stdout);
		}
	fputs("		[[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace\n		;;\n", stdout);
}

void option_bash(const struct option_program *program)
{
	printf("# SPDX-License-Identifier: LGPL-2.1-or-later\n"
	       "# bash completion for %s, written by docs/option_texts.c: do not edit\n\n",
	       program->name);
	print_helpers(program);
	print_values(program);
	print_template(program, begin);
	if (program->take_rest)
		print_template(program, rest_is_command);
	for (size_t i = 0; i < program->nr_personalities; i++)
		if (!program->personalities[i].adds)
			print_replacing(program, &program->personalities[i]);
	print_template(program, values_first);
	fputs("	case $word in\n", stdout);
	print_glued(program);
	print_options(program);
	fputs("	*) ", stdout);
	if (program->nr_verbs) {
		fputs("COMPREPLY=($(compgen -W \"", stdout);
		for (size_t i = 0; i < program->nr_verbs; i++)
			printf("%s%s", i ? " " : "", program->verbs[i].name);
		fputs("\" -- \"$word\")) ;;\n", stdout);
	} else {
		printf("_%s_files \"$word\" ;;\n", program->name);
	}
	printf("	esac\n}\ncomplete -F _%s %s\n", program->name, program->name);
}
