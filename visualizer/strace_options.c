/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* strace_options.c - the options of strace(1), after --strace: their table and their values. */
#include "strace_options.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "error_set.h"
#include "visualizer_options.h"

#define MAX_COLUMN 1000
#define MAX_STRING (1 << 20)

static struct strace_choice *choice_of(void *into)
{
	return &((struct visualizer_options *)into)->strace;
}

static int wrong(const char *option, const char *value, const char *why, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "option %s: '%s' %s; see tracevisualizer --help", option, value, why);
}

#define SETTER(name, statement)                                                             \
	static int set_##name(void *into, const char *value, struct trace_error *ret_error) \
	{                                                                                   \
		struct strace_choice *choice = choice_of(into);                             \
                                                                                            \
		statement;                                                                  \
		return 0;                                                                   \
	}
SETTER(follow, choice->follow += choice->follow < 2)
SETTER(separate, choice->follow = 2)
SETTER(fds, choice->fds += choice->fds < 2)
SETTER(comms, choice->comms = true)
SETTER(time, choice->time += choice->time < TIME_EPOCH)
SETTER(relative, choice->relative = true)
SETTER(durations, choice->durations = true)
SETTER(summary_only, choice->summary = choice->summary_only = true)
SETTER(summary, choice->summary = true)
SETTER(wall, choice->wall = true)
SETTER(stacks, choice->stacks = true)
SETTER(numbers, choice->numbers = true)
SETTER(quiet, choice->quiet = true)
SETTER(nothing, (void)choice)
SETTER(successful, choice->statuses = STATUS_SUCCESSFUL)
SETTER(failed, choice->statuses = STATUS_FAILED)

static void add_word(struct strace_words *words, const char *word)
{
	size_t room = words->nr;

	words->at = memory_grow(words->at, words->nr, &room, sizeof(*words->at));
	words->at[words->nr++] = word;
}

static int parse_number(const char *option, const char *value, long max, long *ret_number,
			struct trace_error *ret_error)
{
	char *end;
	long number = strtol(value, &end, 10);

	if (*value < '0' || *value > '9' || *end || number > max)
		return wrong(option, value, "is not a number, or too large", ret_error);
	*ret_number = number;
	return 0;
}

static int set_indent(void *into, const char *value, struct trace_error *ret_error)
{
	return parse_number("-a", value, MAX_COLUMN, &choice_of(into)->indent, ret_error);
}

static int set_string(void *into, const char *value, struct trace_error *ret_error)
{
	return parse_number("-s", value, MAX_STRING, &choice_of(into)->string_bytes, ret_error);
}

static int set_output(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	if (!*value || options->output)
		return wrong("-o", value, *value ? "is a second output file" : "is not a file name", ret_error);
	options->output = value;
	return 0;
}

static int set_pids(void *into, const char *value, struct trace_error *ret_error)
{
	if (!*value || value[strspn(value, "0123456789, ")])
		return wrong("-p", value, "is not a list of process ids", ret_error);
	add_word(&choice_of(into)->pids, value);
	return 0;
}

static int set_path(void *into, const char *value, struct trace_error *ret_error)
{
	if (!*value)
		return wrong("-P", value, "is not a path", ret_error);
	add_word(&choice_of(into)->paths, value);
	return 0;
}

static int set_trace(void *into, const char *value, struct trace_error *ret_error)
{
	if (!*value)
		return wrong("-e trace", value, "is not a set of system calls", ret_error);
	choice_of(into)->trace = value;
	return 0;
}

static int set_signals(void *into, const char *value, struct trace_error *ret_error)
{
	if (!*value)
		return wrong("-e signal", value, "is not a set of signals", ret_error);
	choice_of(into)->signals = value;
	return 0;
}

/* Calls @take with each word between commas. */
static int each_word(void *into, const char *list, int (*take)(void *, const char *, struct trace_error *),
		     struct trace_error *ret_error)
{
	char word[48];
	int error = 0;

	for (const char *at = list; !error; at++) {
		size_t chars = strcspn(at, ",");

		snprintf(word, sizeof(word), "%.*s", (int)chars, at);
		error = take(into, word, ret_error);
		at += chars;
		if (!*at)
			break;
	}
	return error;
}

static int take_status(void *into, const char *word, struct trace_error *ret_error)
{
	static const struct {
		const char *name;
		uint8_t statuses;
	} names[] = {{"successful", STATUS_SUCCESSFUL},
		     {"failed", STATUS_FAILED},
		     {"unfinished", STATUS_UNFINISHED},
		     {"all", STATUS_SUCCESSFUL | STATUS_FAILED | STATUS_UNFINISHED},
		     {"detached", 0},
		     {"unavailable", 0}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(names[i].name, word)) {
			choice_of(into)->statuses |= names[i].statuses;
			return 0;
		}
	return wrong("-e status", word, "is not successful, failed, unfinished or all", ret_error);
}

static int set_statuses(void *into, const char *value, struct trace_error *ret_error)
{
	struct strace_choice *choice = choice_of(into);
	const char *list = *value == '!' ? value + 1 : value;
	int error;

	choice->statuses = 0;
	error = each_word(into, list, take_status, ret_error);
	if (*value == '!')
		choice->statuses ^= STATUS_SUCCESSFUL | STATUS_FAILED | STATUS_UNFINISHED;
	return error;
}

/* -e KEY=VALUE; without a key it is trace= */
static int set_expression(void *into, const char *value, struct trace_error *ret_error)
{
	static const struct {
		const char *key;
		int (*set)(void *into, const char *value, struct trace_error *ret_error); /* NULL: no effect here */
	} keys[] = {{"trace", set_trace},     {"t", set_trace},	  {"status", set_statuses}, {"signal", set_signals},
		    {"signals", set_signals}, {"s", set_signals}, {"quiet", set_quiet},	    {"q", set_quiet},
		    {"abbrev", NULL},	      {"a", NULL},	  {"verbose", NULL},	    {"v", NULL}};
	const char *equals = strchr(value, '=');
	size_t chars = equals ? (size_t)(equals - value) : 0;

	if (!equals)
		return set_trace(into, value, ret_error);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].key) == chars && !strncmp(keys[i].key, value, chars))
			return keys[i].set ? keys[i].set(into, equals + 1, ret_error) : 0;
	if (!strncmp(value, "inject=", 7) || !strncmp(value, "fault=", 6))
		return wrong("-e", value, "changes a running program; a trace is of one that ran", ret_error);
	return wrong("-e", value, "is not trace=SET, status=SET, signal=SET or quiet=SET", ret_error);
}

/* An abbreviation of strace(1), or a word of SUMMARY_COLUMNS; < 0: neither */
static int summary_word(const char *word)
{
	static const struct {
		const char *name;
		enum summary_column column;
	} others[] = {{"time", SUMMARY_TOTAL},	 {"time-total", SUMMARY_TOTAL}, {"time-min", SUMMARY_MIN},
		      {"shortest", SUMMARY_MIN}, {"time-max", SUMMARY_MAX},	{"longest", SUMMARY_MAX},
		      {"time-avg", SUMMARY_AVG}, {"count", SUMMARY_CALLS},	{"error", SUMMARY_ERRORS},
		      {"syscall", SUMMARY_NAME}, {"syscall-name", SUMMARY_NAME}};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (!strcmp(others[i].name, word))
			return others[i].column;
	return option_word_index(SUMMARY_COLUMNS, word);
}

static int set_sort(void *into, const char *value, struct trace_error *ret_error)
{
	struct strace_choice *choice = choice_of(into);
	int column = summary_word(value);

	if (!strcmp(value, "none"))
		column = NR_SUMMARY_COLUMNS;
	if (column < 0)
		return option_wrong_word("-S", SUMMARY_COLUMNS, value, ret_error);
	choice->sort = column == NR_SUMMARY_COLUMNS ? -1 : column;
	choice->is_sorted = true;
	return 0;
}

static int take_summary_column(void *into, const char *word, struct trace_error *ret_error)
{
	struct strace_choice *choice = choice_of(into);
	int column = summary_word(word);

	if (column < 0 || column == NR_SUMMARY_COLUMNS)
		return option_wrong_word("-U", SUMMARY_COLUMNS, word, ret_error);
	for (size_t i = 0; i < choice->nr_summary_columns; i++)
		if (choice->summary_columns[i] == column)
			return wrong("-U", word, "is there twice", ret_error);
	choice->summary_columns[choice->nr_summary_columns++] = (uint8_t)column;
	return 0;
}

static int set_summary_columns(void *into, const char *value, struct trace_error *ret_error)
{
	choice_of(into)->nr_summary_columns = 0;
	return each_word(into, value, take_summary_column, ret_error);
}

static int take_column(void *into, const char *word, struct trace_error *ret_error)
{
	int column = option_word_index(STRACE_COLUMNS, word);

	if (column < 0)
		return option_wrong_word("--add-columns", STRACE_COLUMNS, word, ret_error);
	choice_of(into)->columns |= (uint8_t)(1u << column);
	return 0;
}

static int set_columns(void *into, const char *value, struct trace_error *ret_error)
{
	return each_word(into, value, take_column, ret_error);
}

/* clang-format off */
static const struct option_spec table[] = {
	{.heading = "Letters of strace, after --strace"},
	{.letter = 'f', .name = "follow-forks", .apply = set_follow,
	 .help = "also what the process starts; -ff -o FILE: a file for each, FILE.PID"},
	{.name = "output-separately", .apply = set_separate, .help = "-ff"},
	{.letter = 'p', .name = "attach", .value_name = "PID,...", .value = OPTION_VALUE,
	 .completes = COMPLETE_TRACE_PID, .apply = set_pids, .help = "these processes; else the recorded command"},
	{.letter = 'e', .value_name = "EXPR", .value = OPTION_VALUE, .apply = set_expression,
	 .help = "trace=SET, status=SET, signal=SET; of SET: calls, %classes, /regex/, !SET"},
	{.name = "trace", .value_name = "SET", .value = OPTION_VALUE, .apply = set_trace, .help = "-e trace=SET"},
	{.name = "status", .value_name = "SET", .value = OPTION_VALUE, .apply = set_statuses,
	 .help = "-e status=SET: successful, failed, unfinished, all"},
	{.letter = 'P', .name = "trace-path", .value_name = "PATH", .value = OPTION_VALUE, .completes = COMPLETE_FILE,
	 .apply = set_path, .help = "only calls with this path, or a descriptor of it"},
	{.letter = 'z', .name = "successful-only", .apply = set_successful, .help = "only calls without an error"},
	{.letter = 'Z', .name = "failed-only", .apply = set_failed, .help = "only calls with an error"},
	{.letter = 'y', .name = "decode-fds", .apply = set_fds,
	 .help = "paths of descriptors; -yy: also ends of sockets"},
	{.letter = 'Y', .name = "decode-pids", .apply = set_comms, .help = "names of processes"},
	{.letter = 't', .name = "absolute-timestamps", .apply = set_time,
	 .help = "time of day; -tt: with us; -ttt: since 1970"},
	{.letter = 'r', .name = "relative-timestamps", .apply = set_relative, .help = "time since the previous call"},
	{.letter = 'T', .name = "syscall-times", .apply = set_durations, .help = "how long each call took"},
	{.name = "add-columns", .value_name = "NAME,...", .value = OPTION_VALUE, .completes = COMPLETE_WORDS,
	 .words = STRACE_COLUMNS, .apply = set_columns,
	 .help = STRACE_COLUMNS ": what strace cannot know, behind each call"},
	{.letter = 'k', .name = "stack-traces", .apply = set_stacks, .help = "the code that called (tracedaemon -sd0)"},
	{.letter = 'n', .name = "syscall-number", .apply = set_numbers, .help = "numbers of calls"},
	{.letter = 'c', .name = "summary-only", .apply = set_summary_only, .help = "only a table of the calls"},
	{.letter = 'C', .name = "summary", .apply = set_summary, .help = "the table after the calls"},
	{.letter = 'w', .name = "summary-wall-clock", .apply = set_wall, .help = "elapsed times there, not CPU times"},
	{.letter = 'S', .name = "summary-sort-by", .value_name = "COLUMN", .value = OPTION_VALUE,
	 .completes = COMPLETE_WORDS, .words = SUMMARY_COLUMNS, .apply = set_sort, .help = "its order"},
	{.letter = 'U', .name = "summary-columns", .value_name = "COLUMN,...", .value = OPTION_VALUE,
	 .completes = COMPLETE_WORDS, .words = SUMMARY_COLUMNS, .apply = set_summary_columns, .help = "its columns"},
	{.letter = 'a', .name = "columns", .value_name = "N", .value = OPTION_VALUE, .apply = set_indent,
	 .help = "results in column N; 40"},
	{.letter = 's', .name = "string-limit", .value_name = "BYTES", .value = OPTION_VALUE, .apply = set_string,
	 .help = "at most so much of a text; 32"},
	{.letter = 'v', .name = "no-abbrev", .apply = set_nothing,
	 .help = "no effect: structs are in their short form"},
	{.letter = 'q', .name = "quiet", .apply = set_quiet, .help = "no lines of exits"},
	{.letter = 'o', .value_name = "FILE", .value = OPTION_VALUE, .completes = COMPLETE_FILE, .apply = set_output,
	 .help = "write to FILE: --output FILE"},
};
/* clang-format on */

const struct option_program strace_letters = {
	.name = "tracevisualizer --strace",
	.synopsis = "[OPTION...] TRACE",
	.usage = "Show system calls as strace(1) does.\n",
	.notes = "The options of tracevisualizer --help stay, but for these letters.\nMore: man tracevisualizer\n",
	.specs = table,
	.nr_specs = OPTION_COUNT_OF(table),
};

void strace_choice_init(struct strace_choice *choice)
{
	*choice = (struct strace_choice){.indent = 40, .string_bytes = 32, .sort = SUMMARY_TOTAL};
}

void strace_choice_release(struct strace_choice *choice)
{
	free(choice->paths.at);
	free(choice->pids.at);
}
