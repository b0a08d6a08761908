/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* opreport_options.c - the command line of tracevisualizer --profile=opreport: its table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "opreport.h"
#include "visualizer_options.h"

#define HELP_WORD "see tracevisualizer --profile=opreport --help"
#define BRACES	  "{}{}"

#define FLAG(name)                                                                          \
	static int set_##name(void *into, const char *value, struct trace_error *ret_error) \
	{                                                                                   \
		struct visualizer_options *options = into;                                  \
                                                                                            \
		options->opreport.name = true;                                              \
		return 0;                                                                   \
	}
FLAG(symbols)
FLAG(details)
FLAG(lines)
FLAG(callgraph)
FLAG(accumulated)
FLAG(alone)
FLAG(reverse)
FLAG(no_header)

static int set_threshold(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	char *end;
	double percent = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%") != 0) || !(percent >= 0 && percent <= 100))
		return error_set(ret_error, -EINVAL, "option --threshold: '%s' is no percentage; " HELP_WORD, value);
	options->opreport.threshold = percent;
	return 0;
}

#define LIST(name, option)                                                                                       \
	static int set_##name(void *into, const char *value, struct trace_error *ret_error)                      \
	{                                                                                                        \
		struct visualizer_options *options = into;                                                       \
                                                                                                                 \
		if (!*value || options->opreport.name)                                                           \
			return error_set(ret_error, -EINVAL, "option " option ": '%s' is %s; " HELP_WORD, value, \
					 *value ? "a second list; put commas between symbols" : "no symbol");    \
		options->opreport.name = value;                                                                  \
		return 0;                                                                                        \
	}
LIST(excluded, "--exclude-symbols")
LIST(included, "--include-symbols")

/* The option of the personality itself. */
static int set_profile(void *into, const char *value, struct trace_error *ret_error)
{
	return strcmp(value, "opreport")
		       ? error_set(ret_error, -EINVAL, "option --profile: '%s' is another report", value)
		       : 0;
}

static int set_output(void *into, const char *value, struct trace_error *ret_error)
{
	((struct visualizer_options *)into)->output = value;
	return *value ? 0 : error_set(ret_error, -EINVAL, "option --output-file: '' is not a file name; " HELP_WORD);
}

static int set_symfs(void *into, const char *value, struct trace_error *ret_error)
{
	((struct visualizer_options *)into)->symbols.folder = value;
	return *value ? 0 : error_set(ret_error, -EINVAL, "option --root: '' is not a folder; " HELP_WORD);
}

static const struct option_spec specs[] = {
	{.heading = "Options of opreport"},
	{.letter = 'l',
	 .name = "symbols",
	 .apply = set_symbols,
	 .help = "a line for each symbol, not for each program"},
	{.letter = 'd', .name = "details", .apply = set_details, .help = "also the addresses in each symbol"},
	{.letter = 'g', .name = "debug-info", .apply = set_lines, .help = "also source lines"},
	{.letter = 'c', .name = "callgraph", .apply = set_callgraph, .help = "also callers and callees of each symbol"},
	{.letter = 'a', .name = "accumulated", .apply = set_accumulated, .help = "also sums from the first row on"},
	{.letter = 'x',
	 .name = "exclude-dependent",
	 .apply = set_alone,
	 .help = "only the code of programs themselves: no libraries, no kernel"},
	{.letter = 't',
	 .name = "threshold",
	 .value_name = "PERCENT",
	 .value = OPTION_VALUE,
	 .apply = set_threshold,
	 .help = "only rows with this much of all samples"},
	{.letter = 'e',
	 .name = "exclude-symbols",
	 .value_name = "NAME,...",
	 .value = OPTION_VALUE,
	 .apply = set_excluded,
	 .help = "without these symbols"},
	{.letter = 'i',
	 .name = "include-symbols",
	 .value_name = "NAME,...",
	 .value = OPTION_VALUE,
	 .apply = set_included,
	 .help = "only these symbols"},
	{.letter = 'r', .name = "reverse-sort", .apply = set_reverse, .help = "the fewest samples first"},
	{.letter = 'n', .name = "no-header", .apply = set_no_header, .help = "only rows"},
	{.letter = 'o',
	 .name = "output-file",
	 .value_name = "FILE",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = set_output,
	 .help = "write the report to FILE"},
	{.letter = 'R',
	 .name = "root",
	 .value_name = "DIR",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FOLDER,
	 .apply = set_symfs,
	 .help = "names of functions from the files below DIR"},

	{.heading = "Other options"},
	{.name = "profile", .value_name = "FORM", .value = OPTION_VALUE, .apply = set_profile},
	{.name = "from",
	 .value_name = "TIME",
	 .value = OPTION_VALUE,
	 .apply = options_set_from,
	 .help = "only from then on"},
	{.name = "to", .value_name = "TIME", .value = OPTION_VALUE, .apply = options_set_to, .help = "only until then"},
	{.letter = 'h', .name = "help", .apply = options_set_help, .help = "this text"},
	{.letter = 'v', .other_letter = 'V', .name = "version", .apply = options_set_version, .help = "the version"},
};

/* "archive:" was that of sample files which were copied; a trace is one file. */
static const char *file_of(const char *word)
{
	return strncmp(word, "archive:", strlen("archive:")) ? word : word + strlen("archive:");
}

static int take_word(void *into, char **words, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	struct opreport_choice *choice = &options->opreport;
	const char *word = file_of(*words), **file = choice->braces > 2 ? &options->other_trace : &options->trace;

	if (!strcmp(word, "{") || !strcmp(word, "}")) {
		if (choice->braces == strlen(BRACES) || *word != BRACES[choice->braces])
			return error_set(ret_error, -EINVAL, "the braces are not those of { A } { B }; " HELP_WORD);
		choice->braces++;
		return 0;
	}
	if (*file || choice->braces == 2 || choice->braces == strlen(BRACES))
		return error_set(ret_error, -EINVAL,
				 "argument %s is one too many: one trace, or { A } { B }; " HELP_WORD, *words);
	*file = word;
	return *word ? 0 : error_set(ret_error, -EINVAL, "argument '' is not a file name; " HELP_WORD);
}

const struct option_program opreport_program = {
	.name = "tracevisualizer --profile=opreport",
	.synopsis = "[OPTION...] TRACE\n[OPTION...] { TRACE } { TRACE }",
	.usage = "Where the CPUs were, as opreport of oprofile shows it: samples of each program,\n"
		 "or of each symbol (-l). The trace is a recording with --sample.\n",
	.notes = "Exit status: 0 done, 1 failed, 2 usage.\nMore: man tracevisualizer-opreport\n",
	.specs = specs,
	.nr_specs = OPTION_COUNT_OF(specs),
	.take_word = take_word,
};

static int is_incomplete(const struct visualizer_options *options, struct trace_error *ret_error)
{
	const struct opreport_choice *choice = &options->opreport;

	if (choice->braces && (choice->braces < strlen(BRACES) || !options->trace || !options->other_trace))
		return error_set(ret_error, -EINVAL, "two traces are compared as { A } { B }; " HELP_WORD);
	if (!options->trace)
		return error_set(ret_error, -EINVAL,
				 "no trace given: tracevisualizer --profile=opreport TRACE, of a recording with "
				 "--sample; " HELP_WORD);
	if (choice->braces && (choice->details || choice->callgraph || choice->accumulated))
		return error_set(ret_error, -EINVAL, "-d, -c and -a are for one trace; " HELP_WORD);
	if (choice->callgraph && choice->details)
		return error_set(ret_error, -EINVAL, "-c and -d exclude each other; " HELP_WORD);
	return 0;
}

static void add_key(struct profile_by_choice *by, enum profile_key key)
{
	by->keys[by->nr++] = key;
}

int opreport_options_check(struct visualizer_options *options, struct trace_error *ret_error)
{
	struct profile_by_choice *by = &options->profile.by;

	if (options->reports.help || options->reports.version)
		return 0;
	options->reports.profile = true;
	options->reports.diff = options->opreport.braces;
	options->profile.has_form = true;
	options->profile.form = PROFILE_BY;
	add_key(by, BY_EXE);
	add_key(by, BY_DSO);
	add_key(by, BY_SYMBOL);
	if (options->opreport.details)
		add_key(by, BY_ADDRESS);
	if (options->opreport.lines)
		add_key(by, BY_LINE);
	return is_incomplete(options, ret_error);
}
