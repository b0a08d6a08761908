/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kgmon_options.c - the letters of kgmon(8), for a running tracedaemon. */
#include <errno.h>

#include "control_steps.h"
#include "error_set.h"

static int add_begin(void *into, const char *value, struct trace_error *ret_error)
{
	return control_steps_add(into, (struct control_step){.verb = "begin"}, ret_error);
}

static int add_fine(void *into, const char *value, struct trace_error *ret_error)
{
	return control_steps_add(into, (struct control_step){.verb = "begin", .argument = "fine"}, ret_error);
}

static int add_halt(void *into, const char *value, struct trace_error *ret_error)
{
	return control_steps_add(into, (struct control_step){.verb = "halt"}, ret_error);
}

static int add_reset(void *into, const char *value, struct trace_error *ret_error)
{
	return control_steps_add(into, (struct control_step){.verb = "reset"}, ret_error);
}

static int add_dump(void *into, const char *value, struct trace_error *ret_error)
{
	if (value && !*value)
		return error_set(ret_error, -EINVAL, "-p: TRACE is empty; see kgmon --help");
	return control_steps_add(into, (struct control_step){.verb = value ? "dump" : "gmon", .argument = value},
				 ret_error);
}

static int set_control(void *into, const char *value, struct trace_error *ret_error)
{
	struct control_steps *steps = into;

	steps->control_path = value;
	return *value ? 0 : error_set(ret_error, -EINVAL, "--control: a path is missing; see kgmon --help");
}

static int set_help(void *into, const char *value, struct trace_error *ret_error)
{
	struct control_steps *steps = into;

	steps->help = true;
	return 0;
}

static int set_version(void *into, const char *value, struct trace_error *ret_error)
{
	struct control_steps *steps = into;

	steps->version = true;
	return 0;
}

static const struct option_spec specs[] = {
	{.heading = "Letters and options"},
	{.letter = 'b', .apply = add_begin, .help = "go on recording after -h (tracectl begin)"},
	{.letter = 'B', .apply = add_fine, .help = "the same, with 10 times as many samples"},
	{.letter = 'h', .apply = add_halt, .help = "record nothing until -b (tracectl halt)"},
	{.letter = 'p',
	 .value_name = "TRACE",
	 .value = OPTION_SEPARATE_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = add_dump,
	 .help = "write what was counted in the kernel to gmon.out, for gprof; with TRACE: save the flight recorder "
		 "there "
		 "(tracectl dump)"},
	{.letter = 'r', .apply = add_reset, .help = "count from now on; empty a flight recorder"},
	{.name = "control",
	 .value_name = "PATH",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = set_control,
	 .help = "the daemon's socket, as for tracectl"},
	{.name = "help", .apply = set_help, .help = "this text"},
	{.name = "version", .apply = set_version, .help = "the version"},
};

static const struct option_habit habits[] = {
	{"help", "--help", NULL},
	{"version", "--version", NULL},
	{"-v", "--version", NULL},
	{"-V", "--version", NULL},
};

static int take_word(void *into, char **words, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "%s is no letter of kgmon; words are for tracectl: see tracectl --help",
			 *words);
}

const struct option_program kgmon_program = {
	.name = "kgmon",
	.synopsis = "[-bBhr] [-p [TRACE]] [--control PATH]",
	.usage = "The letters of the BSD command, for a running tracedaemon. They can be\n"
		 "combined (-pr), and act in their order. Without one: is it recording?\n",
	.notes = "-h halts the recording, as it always did; help is --help.\n"
		 "Exit status: 0 done, 1 refused or no daemon, 2 usage. More: man kgmon\n",
	.specs = specs,
	.nr_specs = OPTION_COUNT_OF(specs),
	.habits = habits,
	.nr_habits = OPTION_COUNT_OF(habits),
	.take_word = take_word,
};
