/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracectl_options.c - the commands and options of tracectl. */
#include <errno.h>

#include "control.h"
#include "control_steps.h"
#include "error_set.h"

static int set_control(void *into, const char *value, struct trace_error *ret_error)
{
	struct control_steps *steps = into;

	if (!*value)
		return error_set(ret_error, -EINVAL, "--control: a path is missing; see tracectl --help");
	steps->control_path = value;
	return 0;
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

static int set_since(void *into, const char *value, struct trace_error *ret_error)
{
	struct control_steps *steps = into;

	if (!*value)
		return error_set(ret_error, -EINVAL, "--since: a folder is missing; see tracectl --help");
	steps->since = value;
	return 0;
}

static int set_json(void *into, const char *value, struct trace_error *ret_error)
{
	struct control_steps *steps = into;

	steps->json = true;
	return 0;
}

static int take_verb(void *into, const struct option_verb *verb, char **words, size_t nr_words,
		     struct trace_error *ret_error)
{
	struct control_step step = {.verb = verb->name};

	if (nr_words) {
		step.argument = words[0];
		step.more = words + 1;
		step.nr_more = nr_words - 1;
	}
	return control_steps_add(into, step, ret_error);
}

static const struct option_verb verbs[] = {
	{"status", VERB_ALONE, NULL, COMPLETE_NOTHING, "what it records, since when, and what was lost"},
	{"halt", VERB_ALONE, NULL, COMPLETE_NOTHING, "record nothing until begin; the daemon stays"},
	{"begin", VERB_ALONE, NULL, COMPLETE_NOTHING, "go on recording after halt"},
	{"dump", VERB_OPTIONAL, "TRACE", COMPLETE_FILE, "save the flight recorder, or write all events to disk"},
	{"reset", VERB_ALONE, NULL, COMPLETE_NOTHING, "flight recorder: drop what is in memory"},
	{"mask", VERB_SIGNED, "EVENTS", COMPLETE_EVENTS, "print or change the events: sched,fs or +block,-irq"},
	{"mark", VERB_TEXT, "TEXT", COMPLETE_NOTHING, "put a note into the trace"},
	{"stop", VERB_ALONE, NULL, COMPLETE_NOTHING, "end the recording and the daemon"},
	{"profile", VERB_OPTIONAL, "HOW", COMPLETE_NOTHING, "counts of the kernel; reset; N times as many samples"},
	{"gcov", VERB_PAIR, "PID [DIR]", COMPLETE_PID, "the counts of a running program, for gcov and lcov"},
	{"gprof", VERB_PAIR, "PID [DIR]", COMPLETE_PID, "the calls of a running program, for gprof"},
};

static const struct option_spec specs[] = {
	{.heading = "Options"},
	{.name = "control",
	 .value_name = "PATH",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FILE,
	 .apply = set_control,
	 .help = "the daemon's socket; " CONTROL_ROOT_PATH},
	{.name = "since",
	 .value_name = "DIR",
	 .value = OPTION_VALUE,
	 .completes = COMPLETE_FOLDER,
	 .apply = set_since,
	 .help = "with gcov: only the counts since the dump in DIR"},
	{.name = "json", .apply = set_json, .help = "status as JSON: docs/JSON.md, trace-status/1"},
	{.letter = 'h', .name = "help", .apply = set_help, .help = "this text"},
	{.letter = 'V', .name = "version", .apply = set_version, .help = "the version"},
};

static const struct option_habit habits[] = {
	{"start", "begin", NULL},
	{"resume", "begin", NULL},
	{"continue", "begin", NULL},
	{"pause", "halt", NULL},
	{"snapshot", "dump", NULL},
	{"save", "dump", NULL},
	{"quit", "stop", NULL},
	{"help", "--help", NULL},
	{"version", "--version", NULL},
	{"record", NULL, "tracedaemon TRACE records; tracectl controls a daemon that runs"},
	{"report", NULL, "tracevisualizer TRACE shows where the time went; tracectl controls a daemon that runs"},
	{"script", NULL, "tracevisualizer -d TRACE lists the events; tracectl controls a daemon that runs"},
	{"top", NULL, "tracevisualizer -a --sort=cpu TRACE has the busiest processes first"},
	{"stat", NULL, "tracectl status asks the running daemon; tracevisualizer -s TRACE has the numbers of events"},
	{"kill", NULL, "tracectl stop ends the recording and the daemon"},
	{"list", NULL, "tracedaemon --list lists all events, tracectl mask those that are recorded"},
	{"sample", NULL,
	 "tracedaemon --sample TRACE records samples of the code; a recording that runs has them, or not"},
	{"create", NULL, "there is no session to make: tracedaemon --background TRACE records"},
	{"destroy", NULL, "there is no session: tracectl stop ends the recording and the daemon"},
	{"enable-event", NULL, "tracectl mask EVENTS chooses the events, +EVENTS adds some"},
	{"disable-event", NULL, "tracectl mask -EVENTS records some events no longer"},
	{"enable", NULL, "tracectl mask +EVENTS adds events; tracectl begin goes on after halt"},
	{"disable", NULL, "tracectl mask -EVENTS leaves events out; tracectl halt pauses the recording"},
	{"events", NULL, "tracectl mask prints the events that are recorded, tracedaemon --list all"},
	{"view", NULL, "tracevisualizer TRACE shows where the time went, tracevisualizer --view TRACE in the browser"},
	{"show", NULL, "tracectl status tells what is recorded; tracevisualizer -d TRACE lists the events"},
	{"info", NULL, "tracectl status tells what is recorded; tracevisualizer -s TRACE tells what a trace has"},
	{"clear", NULL, "tracectl reset empties a flight recorder; a file keeps its events"},
	{"extract", NULL, "tracectl dump TRACE saves a flight recorder"},
	{"track", NULL, "tracedaemon -P PID records one process; tracevisualizer -p PID chooses in a trace"},
	{"add-trigger", NULL, "tracedaemon --save-on=WHEN saves a flight recorder by itself"},
	{"regenerate", NULL, "a trace always has all that it needs to be read"},
	{"restart", NULL, "tracectl stop, then tracedaemon; tracectl halt and begin pause and go on"},
	{"reload", NULL, "tracectl stop, then tracedaemon with its new options; tracectl mask changes the events"},
	{"attach", NULL, "tracedaemon -P PID records one process, by its number or name"},
	{"-j", NULL, "tracectl status --json; tracevisualizer --json TRACE prints the figures of a trace"},
	{"--format", NULL, "tracectl status --json; tracevisualizer --json TRACE prints the figures of a trace"},
	{"-v", "--version", NULL},
	{"-b", NULL, "recording goes on by the word: tracectl begin (kgmon -b)"},
	{"-p", NULL, "a flight recorder is saved by the word: tracectl dump TRACE (kgmon -p TRACE)"},
	{"-r", NULL, "a flight recorder is reset by the word: tracectl reset (kgmon -r)"},
};

const struct option_program tracectl_program = {
	.name = "tracectl",
	.synopsis = "[OPTION...] [COMMAND [ARGUMENT]]...",
	.usage = "Control a running tracedaemon. Without a command: is it recording?\n",
	.notes = "Exit status: 0 done, 1 refused or no daemon, 2 usage. More: man tracectl\n",
	.specs = specs,
	.nr_specs = OPTION_COUNT_OF(specs),
	.verbs = verbs,
	.nr_verbs = OPTION_COUNT_OF(verbs),
	.habits = habits,
	.nr_habits = OPTION_COUNT_OF(habits),
	.take_verb = take_verb,
};
