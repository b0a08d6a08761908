/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The classic spelling appends a value to its letter (-ts60, -b1048576, -eSCHED); the next word can
 * be the value too. Two letters changed their meaning in classic versions, and both spellings work:
 * -p prints the mask, -pPID filters.
 */
#include "daemon_options.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "preload.h"
#include "format_text.h"

/* ---- values ---- */

static int apply_time(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	const char *number = value;
	uint64_t unit_ns = 0, count, time_ns;
	int err;

	if (*value == 's' || *value == 'S')
		unit_ns = 1000000000;
	else if (*value == 'u' || *value == 'U')
		unit_ns = 1000;
	if (unit_ns) {
		err = text_parse_number(++number, UINT64_MAX / 2 / unit_ns, &count);
		time_ns = err ? 0 : count * unit_ns;
	} else {
		err = text_parse_time(number, &time_ns);
	}
	if (err || !time_ns ||
	    __builtin_add_overflow(options->session.duration_ns, time_ns, &options->session.duration_ns))
		return error_set(ret_error, -EINVAL,
				 "\"%s\" is not a time greater than 0: give seconds (-ts60), microseconds (-tu500000), "
				 "or --time 60s, 1.5s, 500ms, 5m",
				 value);
	return 0;
}

static int apply_events(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	return select_add(&options->selection, value, ret_error);
}

static int apply_details(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	int err = select_add(&options->selection, value, ret_error);

	if (!err)
		message_note("-D%s records the event; details are always recorded", value);
	return err;
}

static int apply_subbuf_size(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t bytes;

	if (text_parse_size(value, 1u << 30, &bytes) || !bytes)
		return error_set(ret_error, -EINVAL,
				 "\"%s\" is not a size of sub-buffers: give bytes, -b1048576, or --subbuf-size 1M; "
				 "smaller sizes become 16k, larger ones 16M",
				 value);
	options->tracer.subbuf_bytes = (uint32_t)bytes;
	return 0;
}

static int apply_subbufs(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t count;

	if (text_parse_number(value, 65536, &count) || count < 2)
		return error_set(
			ret_error, -EINVAL,
			"\"%s\" is not a number of sub-buffers per CPU: give 2 to 256; larger numbers become 256",
			value);
	options->tracer.nr_subbufs = (uint32_t)count;
	return 0;
}

/*
 * Ids of processes, users and groups; -1 is the kernel's "no id". A second id is refused: only the
 * last one would be recorded, but the user would expect both.
 */
static int parse_id(const char *option, const char *value, bool second, uint64_t min, uint64_t max, uint64_t *ret_id,
		    struct trace_error *ret_error)
{
	if (second)
		return error_set(ret_error, -EINVAL, "%s %s is the second one: give only one%s", option, value,
				 strcmp(option, "--pid") ? "" : "; --follow adds its descendants");
	if (text_parse_number(value, max, ret_id) || *ret_id < min)
		return error_set(ret_error, -EINVAL, "%s: \"%s\" is not an id: give a number", option, value);
	return 0;
}

static int apply_pid(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t id;
	int err = parse_id("--pid", value, options->tracer.filter_pid, 1, INT_MAX, &id, ret_error);

	if (!err)
		options->tracer.filter_pid = (pid_t)id;
	return err;
}

static int apply_pgrp(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t id;
	int err = parse_id("--pgrp", value, options->tracer.filter_pgrp, 1, INT_MAX, &id, ret_error);

	if (!err)
		options->tracer.filter_pgrp = (pid_t)id;
	return err;
}

static int apply_uid(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t id;
	int err = parse_id("--uid", value, options->tracer.filter_uid >= 0, 0, UINT32_MAX - 1, &id, ret_error);

	if (!err)
		options->tracer.filter_uid = (int64_t)id;
	return err;
}

static int apply_gid(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t id;
	int err = parse_id("--gid", value, options->tracer.filter_gid >= 0, 0, UINT32_MAX - 1, &id, ret_error);

	if (!err)
		options->tracer.filter_gid = (int64_t)id;
	return err;
}

/* Addresses are hexadecimal, with or without 0x. */
static int parse_address(const char *text, uint64_t *ret_address)
{
	size_t digits;

	if (!strncmp(text, "0x", 2))
		text += 2;
	digits = strspn(text, "0123456789abcdefABCDEF");
	if (!digits || digits > 16 || text[digits])
		return -EINVAL;
	*ret_address = strtoull(text, NULL, 16);
	return 0;
}

/* The original has the upper bound before the lower one; here the order does not matter. */
static int apply_caller(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	struct tracer_options *tracer = &options->tracer;
	uint64_t number;
	bool is_depth = *value == 'd' || *value == 'D', is_lower = *value == 'l' || *value == 'L';
	enum tracer_caller caller = is_depth ? TRACER_CALLER_DEPTH : TRACER_CALLER_BOUNDS;

	if ((!is_depth && !is_lower && *value != 'u' && *value != 'U') ||
	    (is_depth ? text_parse_number(value + 1, 511, &number) : parse_address(value + 1, &number)))
		return error_set(
			ret_error, -EINVAL,
			"-s%s: give a depth of calls (-sd2), or two addresses in hexadecimal (-su402000 -sl401000)",
			value);
	if (tracer->caller && tracer->caller != caller)
		return error_set(ret_error, -EINVAL, "-sd and -su, -sl are two ways to choose a caller: give only one");
	tracer->caller = caller;
	if (is_depth)
		tracer->caller_depth = (uint32_t)number;
	else if (is_lower)
		tracer->caller_lower = number;
	else
		tracer->caller_upper = number;
	return 0;
}

static int apply_flush(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t ms;

	if (text_parse_number(value, 86400000, &ms))
		return error_set(ret_error, -EINVAL, "--flush: \"%s\" is not a number of milliseconds (0 = never)",
				 value);
	options->session.flush_ns = ms ? ms * 1000000 : UINT64_MAX;
	return 0;
}

static int apply_level(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	uint64_t level;

	if (text_parse_number(value, 19, &level) || !level)
		return error_set(ret_error, -EINVAL, "--level: \"%s\" is not a zstd level: 1 (fast) to 19 (small)",
				 value);
	options->session.level = (int)level;
	return 0;
}

static int named_twice(const char *one, const char *other, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "%s and %s: the trace is named twice; give one name", one, other);
}

static int apply_output(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	if (options->output.path)
		return named_twice(options->output.path, value, ret_error);
	options->output.path = value;
	return 0;
}

static int apply_probe(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	if (options->nr_probes == OPTIONS_MAX_PROBES)
		return error_set(ret_error, -EINVAL,
				 "--probe: at most %d; use a pattern for many functions: libc.so.6:'mem*'",
				 OPTIONS_MAX_PROBES);
	options->probes[options->nr_probes++] = value;
	return 0;
}

static int apply_preload(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	if (options->preload)
		return error_set(ret_error, -EINVAL, "--preload takes one list: --preload %s,%s", options->preload,
				 value);
	options->preload = value;
	return 0;
}

static int apply_control(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	if (!*value)
		return error_set(ret_error, -EINVAL, "--control: give the path of a socket");
	options->session.control_path = value;
	return 0;
}

/* ---- flags ---- */

static int apply_follow(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->tracer.follow = true;
	return 0;
}

static int apply_background(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->session.background = true;
	return 0;
}

/* A service manager wants a process that stays, also of a flight recorder. */
static int apply_foreground(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->session.foreground = true;
	return 0;
}

static int apply_user(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	if (!*value)
		return error_set(ret_error, -EINVAL, "--user: give the name of a user");
	options->session.command_user = value;
	return 0;
}

static int apply_no_user(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->selection.no_user = true;
	return 0;
}

static int apply_block_programs(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->session.block_programs = true;
	return 0;
}

static int apply_quiet(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->session.quiet = true;
	return 0;
}

static int apply_flight_recorder(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->tracer.overwrite = true;
	options->session.background = true; /* as in the classic: the command returns, the recorder keeps running */
	return 0;
}

static int set_action(struct daemon_options *options, enum action action, struct trace_error *ret_error)
{
	if (options->action != ACTION_RECORD && options->action != action)
		return error_set(ret_error, -EINVAL, "give only one of -m -p -v -j -q --list");
	options->action = action;
	return 0;
}

#define ACTION_OPTION(function, wanted)                                                                       \
	static int function(struct daemon_options *options, const char *value, struct trace_error *ret_error) \
	{                                                                                                     \
		return set_action(options, wanted, ret_error);                                                \
	}
ACTION_OPTION(apply_set_mask, ACTION_SET_MASK)
ACTION_OPTION(apply_status, ACTION_STATUS)
ACTION_OPTION(apply_snapshot, ACTION_SNAPSHOT)
ACTION_OPTION(apply_stop, ACTION_STOP)

static int apply_list(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->list_target = value;
	return set_action(options, ACTION_LIST, ret_error);
}

static int apply_print_mask(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	if (value)
		return apply_pid(options, value, ret_error); /* as in version 0.9.5: -pPID */
	return set_action(options, ACTION_PRINT_MASK, ret_error);
}

/* --help and --version take precedence over all other options. */
static int apply_help(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->action = ACTION_HELP;
	return 0;
}

static int apply_version(struct daemon_options *options, const char *value, struct trace_error *ret_error)
{
	options->action = ACTION_VERSION;
	return 0;
}

/* ---- the table ---- */

/* clang-format off */
static const struct option_spec option_table[] = {
	{'t', 'T', "time", NULL, "TIME", OPTION_VALUE, apply_time,
	"record for this time: -ts60, -tu500000, or 60s, 500ms, 5m"},
	{'e', 'E', "events", NULL, "LIST", OPTION_VALUE, apply_events,
	"record only these (-eSCHED, sched,fs), or change the default: +NAME,-NAME"},
	{0, 0, "no-user", NULL, NULL, OPTION_NO_VALUE, apply_no_user,
	"no events of programs (-e chooses some: 'shop:*')"},
	{0, 0, "block-programs", NULL, NULL, OPTION_NO_VALUE, apply_block_programs,
	"programs that allow it wait for free buffers instead of losing events"},
	{'D', 0, "details", NULL, "NAME", OPTION_VALUE, apply_details, "as -e; details are always recorded"},
	{0, 0, "probe", NULL, "PROBE", OPTION_VALUE, apply_probe,
	"calls in programs: libc.so.6:malloc, './prog:pay order->id', usdt:FILE"},
	{0, 0, "preload", NULL, "LIST", OPTION_VALUE, apply_preload,
	"trace what COMMAND does: malloc, pthread, functions"},
	{0, 0, "user", NULL, "NAME", OPTION_VALUE, apply_user, "run COMMAND as this user; only root may"},
	{'P', 0, "pid", NULL, "PID", OPTION_VALUE, apply_pid, "only this process (-pPID works too)"},
	{0, 0, "follow", NULL, NULL, OPTION_NO_VALUE, apply_follow,
	"also its descendants; without -P: COMMAND and its descendants"},
	{'G', 0, "pgrp", NULL, "PGRP", OPTION_VALUE, apply_pgrp, "only this process group"},
	{'g', 0, "gid", NULL, "GID", OPTION_VALUE, apply_gid, "only processes of this effective group"},
	{'u', 'U', "uid", NULL, "UID", OPTION_VALUE, apply_uid, "only processes of this effective user"},
	{'b', 'B', "subbuf-size", NULL, "BYTES", OPTION_VALUE, apply_subbuf_size,
	"size of a sub-buffer: 16k to 16M, rounded down to 2^n (1M)"},
	{'n', 'N', "subbufs", NULL, "COUNT", OPTION_VALUE, apply_subbufs,
	"sub-buffers per CPU: 2 to 256, rounded down to 2^n (8)"},
	{'s', 'S', NULL, NULL, "d|u|lVALUE", OPTION_VALUE, apply_caller,
	"the caller of each system call: at a depth, or within bounds"},
	{0, 0, "flush", NULL, "MS", OPTION_VALUE, apply_flush,
	"write buffered events every MS ms; 0: never (1000 to 256000, by load)"},
	{0, 0, "level", NULL, "LEVEL", OPTION_VALUE, apply_level, "zstd level, 1 to 19 (about 1)"},
	{0, 0, "output", NULL, "TRACE", OPTION_VALUE, apply_output, "the name of the trace, as the argument TRACE"},
	{0, 0, "background", NULL, NULL, OPTION_NO_VALUE, apply_background,
	"return once recording runs; tracectl controls it"},
	{0, 0, "foreground", NULL, NULL, OPTION_NO_VALUE, apply_foreground,
	"with -k: stay in the foreground, for service managers"},
	{'k', 'K', "flight-recorder", "overwrite", NULL, OPTION_NO_VALUE, apply_flight_recorder,
	"keep the latest events in memory, in the background; -j saves"},
	{'j', 'J', "snapshot", NULL, NULL, OPTION_NO_VALUE, apply_snapshot,
	"save the flight recorder's events to TRACE"},
	{'q', 'Q', "stop", NULL, NULL, OPTION_NO_VALUE, apply_stop,
	"stop the flight recorder, or a recording in the background"},
	{'m', 'M', "set-mask", NULL, NULL, OPTION_NO_VALUE, apply_set_mask,
	"change the events of the running daemon to the -e list"},
	{'p', 0, "print-mask", NULL, NULL, OPTION_GLUED_VALUE, apply_print_mask,
	"print the events of the running daemon"},
	{'v', 'V', "status", NULL, NULL, OPTION_NO_VALUE, apply_status, "print the state of the running daemon"},
	{0, 0, "control", NULL, "PATH", OPTION_VALUE, apply_control, "control socket (/run/tracedaemon/control)"},
	{0, 0, "list", NULL, "WHAT", OPTION_OPTIONAL_VALUE, apply_list,
	"list all events, or places to probe: usdt:FILE, FILE:mem*"},
	{0, 0, "quiet", NULL, NULL, OPTION_NO_VALUE, apply_quiet, "only warnings and errors"},
	{'h', 0, "help", NULL, NULL, OPTION_NO_VALUE, apply_help, "this text"},
	{0, 0, "version", NULL, NULL, OPTION_NO_VALUE, apply_version, "print the version"},
	/* accepted for old scripts, and ignored */
	{'d', 0, NULL, NULL, NULL, OPTION_NO_VALUE, NULL, "the default configuration is the default"},
	{'f', 0, NULL, NULL, NULL, OPTION_NO_VALUE, NULL, "buffering is always lock-free"},
	{'l', 0, NULL, NULL, NULL, OPTION_NO_VALUE, NULL, "buffering is always lock-free"},
	{'c', 'C', NULL, NULL, NULL, OPTION_NO_VALUE, NULL, "the CPU of each event is always recorded"},
	{'o', 0, NULL, NULL, NULL, OPTION_NO_VALUE, NULL, "time stamps are nanoseconds of CLOCK_MONOTONIC"},
};

/* clang-format on */

#define OPTION_COUNT (sizeof(option_table) / sizeof(option_table[0]))

const struct option_spec *options_table(size_t *ret_nr)
{
	*ret_nr = OPTION_COUNT;
	return option_table;
}

/* ---- parsing ---- */

static const struct option_spec *find_letter(char letter)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_table[i].letter == letter ||
		    (option_table[i].other_letter && option_table[i].other_letter == letter))
			return &option_table[i];
	return NULL;
}

static bool name_is(const char *name, const char *word, size_t chars)
{
	return name && strlen(name) == chars && !strncmp(name, word, chars);
}

static const struct option_spec *find_name(const char *word, size_t chars)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (name_is(option_table[i].name, word, chars) || name_is(option_table[i].other_name, word, chars))
			return &option_table[i];
	return NULL;
}

/* The words of the command line that are not parsed yet. */
struct option_words {
	char **next;
	char **end;
};

static int apply(struct daemon_options *options, const struct option_spec *spec, const char *word, const char *value,
		 struct trace_error *ret_error)
{
	if (!spec->apply) {
		message_note("%s is ignored: %s", word, spec->help);
		return 0;
	}
	return spec->apply(options, value, ret_error);
}

static int missing_value(const struct option_spec *spec, const char *word, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "%s: a value is missing (%s); try --help", word, spec->value_name);
}

static int parse_long(struct daemon_options *options, const char *word, struct option_words *words,
		      struct trace_error *ret_error)
{
	size_t chars = strcspn(word + 2, "=");
	const struct option_spec *spec = find_name(word + 2, chars);
	const char *value = word[2 + chars] ? word + 2 + chars + 1 : NULL;

	if (!spec)
		return error_set(ret_error, -EINVAL, "unknown option %s; try --help", word);
	if (value && spec->value != OPTION_VALUE && spec->value != OPTION_OPTIONAL_VALUE)
		return error_set(ret_error, -EINVAL, "--%s takes no value", spec->name);
	if (!value && spec->value == OPTION_OPTIONAL_VALUE && words->next < words->end && **words->next != '-')
		value = *words->next++;
	if (!value && spec->value == OPTION_VALUE) {
		if (words->next == words->end)
			return missing_value(spec, word, ret_error);
		value = *words->next++;
	}
	return apply(options, spec, word, value, ret_error);
}

static int parse_short(struct daemon_options *options, const char *word, struct option_words *words,
		       struct trace_error *ret_error)
{
	const struct option_spec *spec = find_letter(word[1]);
	const char *value = word[2] ? word + 2 : NULL;

	if (!spec)
		return error_set(ret_error, -EINVAL, "unknown option -%c; try --help", word[1]);
	if (value && spec->value == OPTION_NO_VALUE)
		return error_set(ret_error, -EINVAL, "-%c takes no value (%s); give each option its own dash", word[1],
				 word);
	if (!value && spec->value == OPTION_VALUE) {
		/* An old script's bare -s must not swallow the name of the trace. */
		if (words->next == words->end || !spec->apply)
			return missing_value(spec, word, ret_error);
		value = *words->next++;
	}
	return apply(options, spec, word, value, ret_error);
}

#define POSITIONALS_MAX 3

static int take_positionals(struct daemon_options *options, char **words, size_t nr, struct trace_error *ret_error)
{
	bool device = nr && !strncmp(words[0], "/dev/tracer", strlen("/dev/tracer"));

	/*
	 * "t.trace make all" is meant as a command. Without this error the daemon would record
	 * until Ctrl-C, with "make" as the name of a file.
	 */
	if (nr == POSITIONALS_MAX && !device)
		return error_set(ret_error, -EINVAL, "%s: one argument too many; put a command after --: %s -- %s %s",
				 words[2], words[0], words[1], words[2]);
	if (device) {
		words++;
		nr--;
	}
	if (nr && options->output.path)
		return named_twice(options->output.path, words[0], ret_error);
	if (nr > 0)
		options->output.path = words[0];
	if (nr > 1)
		options->output.proc_path = words[1];
	return 0;
}

static void choose_path(struct daemon_options *options)
{
	options->default_name = text_trace_name();
	options->output.path = options->default_name.s;
	options->output.is_default_name = true;
}

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

	if (session->background)
		return error_set(ret_error, -EINVAL, "%s begins a recording and %s does not: give only one of them",
				 options->tracer.overwrite ? "-k" : "--background", action_letter(options->action));
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
		return error_set(ret_error, -EINVAL, "--user needs a command to run: -- COMMAND [ARG...]");
	if (options->preload && !session->command)
		return error_set(ret_error, -EINVAL, "--preload needs a command to trace: -- COMMAND [ARG...]");
	if (options->preload)
		err = preload_check(options->preload, ret_error);
	if (err)
		return err;
	if (options->action != ACTION_RECORD)
		return check_action(options, ret_error);
	if (options->tracer.caller == TRACER_CALLER_BOUNDS &&
	    options->tracer.caller_upper <= options->tracer.caller_lower)
		return error_set(ret_error, -EINVAL,
				 "-su and -sl: the upper address must be greater than the lower one");
	if (options->tracer.follow && !options->tracer.filter_pid && !session->command)
		return error_set(ret_error, -EINVAL, "--follow needs a process: give -PPID, or -- COMMAND");
	if (session->background && session->command)
		return error_set(ret_error, -EINVAL, "a command runs in the foreground: leave out %s",
				 options->tracer.overwrite ? "-k" : "--background");
	if (options->tracer.overwrite && options->output.path)
		return error_set(ret_error, -EINVAL,
				 "-k keeps events in memory and writes no trace; save them later: tracedaemon -j %s",
				 text_shell(options->output.path, word, sizeof(word)) ? word : "TRACE");
	return 0;
}

static int parse_words(struct daemon_options *options, struct option_words *words, struct trace_error *ret_error)
{
	char *positionals[POSITIONALS_MAX];
	size_t nr_positionals = 0;
	char *word;
	int err = 0;

	while (!err && words->next < words->end) {
		word = *words->next++;
		if (!strcmp(word, "--")) {
			if (words->next == words->end)
				return error_set(ret_error, -EINVAL, "a command is missing after --");
			options->session.command = words->next;
			break;
		}
		if (!strncmp(word, "--", 2))
			err = parse_long(options, word, words, ret_error);
		else if (word[0] == '-' && word[1])
			err = parse_short(options, word, words, ret_error);
		else if (nr_positionals == POSITIONALS_MAX)
			err = error_set(ret_error, -EINVAL, "%s: one argument too many; put a command after --", word);
		else
			positionals[nr_positionals++] = word;
	}
	return err ? err : take_positionals(options, positionals, nr_positionals, ret_error);
}

int options_parse(struct daemon_options *ret_options, int argc, char **argv, struct trace_error *ret_error)
{
	struct option_words words = {argv + (argc > 0), argv + argc};
	struct daemon_options *options = ret_options;
	int err;

	*options = (struct daemon_options){.action = ACTION_RECORD};
	options->tracer.size = sizeof(options->tracer);
	options->tracer.filter_uid = -1;
	options->tracer.filter_gid = -1;
	err = parse_words(options, &words, ret_error);
	if (options->action == ACTION_HELP || options->action == ACTION_VERSION)
		return 0;
	if (err)
		return err;
	err = check_together(options, ret_error);
	if (!err)
		err = check_names(options, ret_error);
	if (err)
		return err;
	if (options->session.foreground)
		options->session.background = false;
	options->follow_command = options->tracer.follow && !options->tracer.filter_pid;
	if (!options->output.path && !options->tracer.overwrite)
		choose_path(options);
	return 0;
}

/* ---- help ---- */

static void help_row(FILE *out, const struct option_spec *spec)
{
	char left[64];
	int used = 0;

	if (spec->letter)
		used = snprintf(left, sizeof(left), "-%c%s", spec->letter, spec->value_name ? spec->value_name : "");
	if (spec->name)
		used += snprintf(left + used, sizeof(left) - (size_t)used, "%s--%s", used ? ", " : "", spec->name);
	if (spec->name && spec->value_name && !spec->letter)
		snprintf(left + used, sizeof(left) - (size_t)used,
			 spec->value == OPTION_OPTIONAL_VALUE ? " [%s]" : " %s", spec->value_name);
	fprintf(out, "  %-24s %s\n", left, spec->help);
	if (spec->other_name)
		fprintf(out, "    --%-20s the same\n", spec->other_name);
}

void options_help(FILE *out)
{
	fputs("Usage: tracedaemon [OPTION...] [/dev/tracer] [TRACE [PROC]] [-- COMMAND [ARG...]]\n"
	      "Record what every thread of this machine does and waits for.\n"
	      "  tracedaemon -ts60 t.trace           record for 60 s\n"
	      "  tracedaemon t.trace -- make -j2     record while a command runs\n\n",
	      out);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_table[i].apply)
			help_row(out, &option_table[i]);
	fputs(" ", out);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (option_table[i].other_letter)
			fprintf(out, " -%c", option_table[i].other_letter);
	fputs("   same as in lower case, for old scripts\n ", out);
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (!option_table[i].apply)
			fprintf(out, " -%c", option_table[i].letter);
	fputs("        accepted for old scripts, without effect\n"
	      "TRACE - is stdout; without TRACE a name is made up. Then: tracevisualizer -a TRACE\n",
	      out);
}
