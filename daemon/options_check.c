/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* options_check.c - options of tracedaemon that are valid alone but not together. */
#include "options_check.h"

#include <errno.h>
#include <string.h>

#include "error_set.h"
#include "format_text.h"
#include "preload.h"

static bool is_stdout(const char *path)
{
	return path && !strcmp(path, "-");
}

/*
 * Names that are valid alone but not together. An empty name comes from a shell variable that is
 * not set.
 */
static int check_names(const struct daemon_options *options, struct trace_error *ret_error)
{
	const char *trace = options->output.path, *proc = options->output.proc_path;

	if (trace && !*trace)
		return error_set(ret_error, -EINVAL,
				 "the name of the trace is empty; give a name, or none to have one made up");
	if (proc && !*proc)
		return error_set(ret_error, -EINVAL, "the name of the list of processes is empty; leave it out");
	if (trace && proc && !strcmp(trace, proc))
		return error_set(ret_error, -EINVAL,
				 "%s: the trace and the list of processes cannot be the same file; leave out the list",
				 trace);
	if ((is_stdout(trace) || is_stdout(proc)) && options->session.command)
		return error_set(ret_error, -EINVAL, "the %s cannot go to stdout, which the command uses; name a file",
				 is_stdout(trace) ? "trace" : "list of processes");
	if ((is_stdout(trace) || is_stdout(proc)) && options->session.background)
		return error_set(ret_error, -EINVAL,
				 "a recording in the background cannot write to stdout; name a file");
	return 0;
}

static const char *action_letter(enum action action)
{
	static const char *const letters[] = {
		[ACTION_LIST] = "--list", [ACTION_PRINT_MASK] = "-p", [ACTION_SET_MASK] = "-m",
		[ACTION_STATUS] = "-v",	  [ACTION_SNAPSHOT] = "-j",   [ACTION_STOP] = "-q",
	};

	return letters[action];
}

/*
 * Refuse a recording option together with an action on a running daemon: it is unclear which of the
 * two the user wants.
 */
static int check_action(const struct daemon_options *options, struct trace_error *ret_error)
{
	const struct session_options *session = &options->session;

	if (options->action == ACTION_PRINT_MASK && options->output.path)
		return error_set(ret_error, -EINVAL,
				 "\"%s\" is no process id: -P NAME or -P PID records one process, -p alone prints the "
				 "events of the running daemon",
				 options->output.path);
	if (options->output.path && options->action != ACTION_SNAPSHOT)
		return error_set(ret_error, -EINVAL,
				 "%s writes no trace: leave out %s, or save the flight recorder with -j",
				 action_letter(options->action), options->output.path);
	if (session->background)
		return error_set(ret_error, -EINVAL, "%s begins a recording and %s does not: give only one of them",
				 options->flight ? "-k" : "--background", action_letter(options->action));
	if (options->selection.begun && options->action != ACTION_SET_MASK)
		return error_set(ret_error, -EINVAL,
				 "-e chooses the events of a new recording, and %s begins none: leave out -e; "
				 "tracevisualizer -d -t lists chosen events of a trace",
				 action_letter(options->action));
	if (session->duration_ns)
		return error_set(ret_error, -EINVAL,
				 "-t sets the duration of a new recording, and %s begins none: leave out -t",
				 action_letter(options->action));
	return session->command ? error_set(ret_error, -EINVAL, "only a recording can run a command") : 0;
}

/* A selected pattern of programs' events, unless a probe may match it. NULL: there is none. */
static const char *user_event_pattern(const struct daemon_options *options)
{
	const struct selection *selection = &options->selection;

	for (size_t i = 0; !options->nr_probes && !options->preload && i < selection->nr_user; i++)
		if (!selection->user[i].removes)
			return selection->user[i].pattern;
	return NULL;
}

#define KEEP_NS 30000000000ull

/* Saves by itself need a flight recorder that keeps a time. */
static int check_saves(struct daemon_options *options, struct trace_error *ret_error)
{
	static const char *const watched[] = {"wait>500ms", "loss"};

	if (options->saves.nr_on && !options->flight)
		return error_set(ret_error, -EINVAL,
				 "--save-on is for a flight recorder: give -k too, or --watch in the foreground");
	if (options->saves_detail && !options->saves.nr_on && !options->saves.prints)
		return error_set(ret_error, -EINVAL,
				 "%s is about files that a flight recorder saves by itself: give "
				 "--save-on=WHEN, too",
				 options->saves_detail);
	for (size_t i = 0; options->saves.prints && !options->saves.nr_on && i < OPTION_COUNT_OF(watched); i++)
		if (save_on_parse(watched[i], &options->saves.on[i], ret_error))
			return -EINVAL;
	if (options->saves.prints && !options->saves.nr_on)
		options->saves.nr_on = OPTION_COUNT_OF(watched);
	if (options->saves.nr_on && !options->keep.keep_ns)
		options->keep.keep_ns = KEEP_NS;
	return 0;
}

/* Options that are valid alone but not together. */
static int check_together(struct daemon_options *options, struct trace_error *ret_error)
{
	const struct session_options *session = &options->session;
	char word[200];
	int err = 0;

	if (options->action == ACTION_SET_MASK && !options->selection.begun)
		return error_set(ret_error, -EINVAL, "-m changes the events to the -e list: give at least one -e");
	if (options->selection.no_user && user_event_pattern(options))
		return error_set(
			ret_error, -EINVAL,
			"--no-user records no events of programs, and -e asks for \"%s\": leave out one of the two",
			user_event_pattern(options));
	if (session->command_user && !session->command)
		return error_set(ret_error, -EINVAL,
				 "--user needs a command to run: -- COMMAND [ARG...]; -u USER records "
				 "the processes of a user");
	if (options->preload && !session->command)
		return error_set(ret_error, -EINVAL, "--preload needs a command to trace: -- COMMAND [ARG...]");
	if (options->preload)
		err = preload_check(options->preload, ret_error);
	if (err)
		return err;
	if (options->action != ACTION_RECORD)
		return check_action(options, ret_error);
	err = check_saves(options, ret_error);
	if (err)
		return err;
	if (options->tracer.caller == TRACER_CALLER_BOUNDS &&
	    options->tracer.caller_upper <= options->tracer.caller_lower)
		return error_set(ret_error, -EINVAL,
				 "-su and -sl: the upper address must be greater than the lower one");
	if (options->tracer.data_bytes && options->tracer.no_args)
		return error_set(ret_error, -EINVAL, "--args records what --no-args leaves out: give only one");
	if (options->tracer.follow && !options->tracer.filter_pid && !session->command)
		return error_set(ret_error, -EINVAL, "--follow needs a process: give -PPID, or -- COMMAND");
	if (session->background && session->command)
		return error_set(ret_error, -EINVAL, "a command runs in the foreground: leave out %s",
				 options->flight ? "-k" : "--background");
	if (options->flight && options->output.path && !options->saves.nr_on)
		return error_set(ret_error, -EINVAL,
				 "-k keeps events in memory and writes no trace; save them later: tracedaemon -j %s",
				 text_shell(options->output.path, word, sizeof(word)) ? word : "TRACE");
	return 0;
}

int options_check(struct daemon_options *options, struct trace_error *ret_error)
{
	int err = check_together(options, ret_error);

	return err ? err : check_names(options, ret_error);
}
