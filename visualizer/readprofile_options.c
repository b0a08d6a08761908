/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* readprofile_options.c - the command line of tracevisualizer --profile=readprofile: its table. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "readprofile.h"
#include "visualizer_options.h"

#define HELP_WORD "see tracevisualizer --profile=readprofile --help"

#define FLAG(name)                                                                          \
	static int set_##name(void *into, const char *value, struct trace_error *ret_error) \
	{                                                                                   \
		struct visualizer_options *options = into;                                  \
                                                                                            \
		options->readprofile.name = true;                                           \
		return 0;                                                                   \
	}
FLAG(all)
FLAG(bins)
FLAG(counters)
FLAG(info)
FLAG(verbose)
FLAG(no_auto)
FLAG(reset)

#define TEXT(name, option, what)                                                                                 \
	static int set_##name(void *into, const char *value, struct trace_error *ret_error)                      \
	{                                                                                                        \
		struct visualizer_options *options = into;                                                       \
                                                                                                                 \
		if (!*value || options->readprofile.name)                                                        \
			return error_set(ret_error, -EINVAL, "option %s: '%s' is %s; " HELP_WORD, option, value, \
					 *value ? "a second value; only one is allowed" : what);                 \
		options->readprofile.name = value;                                                               \
		return 0;                                                                                        \
	}
TEXT(map, "--mapfile", "not a file name")
TEXT(write, "--write", "not a file name")
TEXT(control, "--control", "not a path")
TEXT(counts, "--profile", "not a file name")

/* The option of the personality, or that of readprofile: a file of counts. */
static int set_profile(void *into, const char *value, struct trace_error *ret_error)
{
	return strcmp(value, "readprofile") ? set_counts(into, value, ret_error) : 0;
}

static int set_multiplier(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	char *end;
	long number = strtol(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || number < 1 || number > READPROFILE_MAX_MULTIPLIER)
		return error_set(ret_error, -EINVAL,
				 "option --multiplier: '%s' is not a number from 1 to %d; " HELP_WORD, value,
				 READPROFILE_MAX_MULTIPLIER);
	options->readprofile.multiplier = (int)number;
	return 0;
}

static const struct option_spec specs[] = {
	{.heading = "Options of readprofile"},
	{.letter = 'm',
	 .name = "mapfile",
	 .value_name = "MAP",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = set_map,
	 .help = "the functions of this System.map, or copy of /proc/kallsyms"},
	{.letter = 'p',
	 .name = "profile",
	 .value_name = "FILE",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = set_profile,
	 .help = "the counts of this copy of /proc/profile, instead of a trace"},
	{.letter = 'M',
	 .name = "multiplier",
	 .value_name = "N",
	 .value = OPTION_VALUE,
	 .apply = set_multiplier,
	 .help = "have the running recorder take N times as many samples"},
	{.letter = 'i', .name = "info", .apply = set_info, .help = "only the step between two counters, in bytes"},
	{.letter = 'v', .name = "verbose", .apply = set_verbose, .help = "also the addresses"},
	{.letter = 'a', .name = "all", .apply = set_all, .help = "also functions without a hit"},
	{.letter = 'b', .name = "histbin", .apply = set_bins, .help = "the counters of each function"},
	{.letter = 's',
	 .name = "counters",
	 .apply = set_counters,
	 .help = "the counters, with where they are in a function"},
	{.letter = 'r', .name = "reset", .apply = set_reset, .help = "have the running recorder count from now on"},
	{.letter = 'n',
	 .name = "no-auto",
	 .apply = set_no_auto,
	 .help = "with -p: the file has the order of bytes of this machine"},

	{.heading = "Other options"},
	{.name = "write",
	 .value_name = "FILE",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = set_write,
	 .help = "write the counts as /proc/profile has them, and FILE.map"},
	{.name = "from",
	 .value_name = "TIME",
	 .value = OPTION_VALUE,
	 .apply = options_set_from,
	 .help = "only samples from then on"},
	{.name = "to",
	 .value_name = "TIME",
	 .value = OPTION_VALUE,
	 .apply = options_set_to,
	 .help = "only samples until then"},
	{.name = "control",
	 .value_name = "PATH",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = set_control,
	 .help = "with -r and -M: the recorder's socket, as for tracectl"},
	{.letter = 'h', .name = "help", .apply = options_set_help, .help = "this text"},
	{.letter = 'V', .name = "version", .apply = options_set_version, .help = "the version"},
};

static int take_word(void *into, char **words, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	if (options->trace)
		return error_set(ret_error, -EINVAL, "argument %s is one too many: one trace; " HELP_WORD, *words);
	options->trace = *words;
	return **words ? 0 : error_set(ret_error, -EINVAL, "argument '' is not a file name; " HELP_WORD);
}

const struct option_program readprofile_program = {
	.name = "tracevisualizer --profile=readprofile",
	.synopsis = "[OPTION...] TRACE\n-p FILE [-m MAP]\n-r | -M N",
	.usage = "Where in the kernel the CPUs were, as readprofile(8) shows it: hits, function,\n"
		 "hits per byte. The trace is a recording with --sample.\n",
	.notes = "Exit status: 0 done, 1 failed, 2 usage.\nMore: man tracevisualizer-readprofile\n",
	.specs = specs,
	.nr_specs = OPTION_COUNT_OF(specs),
	.take_word = take_word,
};

static int is_incomplete(const struct visualizer_options *options, struct trace_error *ret_error)
{
	const struct readprofile_choice *choice = &options->readprofile;
	bool asks_recorder = choice->reset || choice->multiplier;

	if (asks_recorder && (options->trace || choice->counts))
		return error_set(ret_error, -EINVAL,
				 "-r and -M are for the running recorder: leave out the file; " HELP_WORD);
	if (options->trace && choice->counts)
		return error_set(ret_error, -EINVAL,
				 "-p has the counts of a file: leave out the trace, or -p; " HELP_WORD);
	if (!asks_recorder && !options->trace && !choice->counts)
		return error_set(ret_error, -EINVAL,
				 "no trace given: tracevisualizer --profile=readprofile TRACE, of a "
				 "recording with --sample; " HELP_WORD);
	if (choice->control && !asks_recorder)
		return error_set(ret_error, -EINVAL, "--control is for -r and -M; " HELP_WORD);
	if (choice->no_auto && !choice->counts)
		return error_set(ret_error, -EINVAL, "-n is for -p, the bytes of a trace have one order; " HELP_WORD);
	if (choice->counts && (options->window.from.text || options->window.to.text))
		return error_set(ret_error, -EINVAL, "--from and --to are for traces: counts have no time; " HELP_WORD);
	return 0;
}

int readprofile_options_check(const struct visualizer_options *options, struct trace_error *ret_error)
{
	return options->reports.help || options->reports.version ? 0 : is_incomplete(options, ret_error);
}
