/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The classic spelling appends a value to its letter (-ts60, -b1048576, -eSCHED); the next word can
 * be the value too. Two letters changed their meaning in classic versions, and both spellings work:
 * -p prints the mask, -pPID filters.
 */
#include "daemon_options.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_word.h"
#include "message.h"
#include "number_parse.h"
#include "option_elsewhere.h"
#include "option_parse.h"
#include "options_check.h"
#include "preload.h"
#include "process_name.h"
#include "sample_event.h"
#include "sample_period.h"
#include "format_text.h"

/* ---- values ---- */

static int apply_time(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	const char *number = value;
	uint64_t unit_ns = 0, count, time_ns;
	int err;

	if (*value == 's' || *value == 'S')
		unit_ns = 1000000000;
	else if (*value == 'u' || *value == 'U')
		unit_ns = 1000;
	if (unit_ns) {
		err = number_parse(++number, UINT64_MAX / 2 / unit_ns, &count);
		time_ns = err ? 0 : count * unit_ns;
	} else {
		err = text_parse_time(number, &time_ns);
	}
	if (err || !time_ns ||
	    __builtin_add_overflow(options->session.duration_ns, time_ns, &options->session.duration_ns))
		return error_set(ret_error, -EINVAL,
				 "\"%s\" is not a time from 1ns to 200 years: give seconds (-ts60), microseconds "
				 "(-tu500000), or --time 60s, 1.5s, 500ms, 5m",
				 value);
	return 0;
}

static int apply_events(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	return select_add(&options->selection, value, ret_error);
}

static int apply_details(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	int err = select_add(&options->selection, value, ret_error);

	if (!err)
		message_note("-D%s records the event; details are always recorded", value);
	return err;
}

static int apply_subbuf_size(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t bytes;

	if (size_parse(value, 1u << 30, &bytes) || !bytes)
		return error_set(ret_error, -EINVAL,
				 "\"%s\" is not a size of sub-buffers from 16k to 16M: give bytes, -b1048576, or "
				 "--subbuf-size 1M",
				 value);
	options->tracer.subbuf_bytes = (uint32_t)bytes;
	return 0;
}

static int apply_subbufs(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t count;

	if (number_parse(value, 65536, &count) || count < 2)
		return error_set(ret_error, -EINVAL, "\"%s\" is not a number of sub-buffers per CPU: give 2 to 256",
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
	if (number_parse(value, max, ret_id) || *ret_id < min)
		return error_set(ret_error, -EINVAL,
				 "%s: \"%s\" is not an id: give a number from %" PRIu64 " to %" PRIu64, option, value,
				 min, max);
	return 0;
}

static int apply_pid(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t id;
	int err;

	if (!options->tracer.filter_pid && value[strspn(value, "+-0123456789")])
		return process_of_name(value, &options->tracer.filter_pid, ret_error);
	err = parse_id("--pid", value, options->tracer.filter_pid, 1, INT_MAX, &id, ret_error);

	if (!err)
		options->tracer.filter_pid = (pid_t)id;
	return err;
}

static int apply_no_args(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->tracer.no_args = true;
	return 0;
}

#define DATA_BYTES     256 /* of --args */
#define MAX_DATA_BYTES 1024

static int apply_args(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t bytes = DATA_BYTES;

	if (value && (number_parse(value, MAX_DATA_BYTES, &bytes) || !bytes))
		return error_set(ret_error, -EINVAL, "--args=%s: give a number of bytes from 1 to %d", value,
				 MAX_DATA_BYTES);
	options->tracer.data_bytes = (uint32_t)bytes;
	return 0;
}

static int apply_pgrp(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t id;
	int err = parse_id("--pgrp", value, options->tracer.filter_pgrp, 1, INT_MAX, &id, ret_error);

	if (!err)
		options->tracer.filter_pgrp = (pid_t)id;
	return err;
}

/* @kind: "user" or "group". @id: the number that belongs to the name @value, if @is_known */
static int take_name(const char *option, const char *kind, const char *value, bool is_known, uint64_t id,
		     int64_t *filter, struct trace_error *ret_error)
{
	if (*filter >= 0)
		return error_set(ret_error, -EINVAL, "%s %s is the second one: give only one", option, value);
	if (!is_known)
		return error_set(ret_error, -EINVAL, "%s: \"%s\" is no %s of this machine: give a name or a number",
				 option, value, kind);
	*filter = (int64_t)id;
	return 0;
}

static bool is_word(const char *value)
{
	return *value && !strchr("-0123456789", *value);
}

static int apply_uid(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	const struct passwd *user = is_word(value) ? getpwnam(value) : NULL;
	uint64_t id;
	int err;

	if (is_word(value))
		return take_name("--uid", "user", value, user, user ? user->pw_uid : 0, &options->tracer.filter_uid,
				 ret_error);
	err = parse_id("--uid", value, options->tracer.filter_uid >= 0, 0, UINT32_MAX - 1, &id, ret_error);
	if (!err)
		options->tracer.filter_uid = (int64_t)id;
	return err;
}

static int apply_gid(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	const struct group *group = is_word(value) ? getgrnam(value) : NULL;
	uint64_t id;
	int err;

	if (options->typed_record && !group)
		return error_set(ret_error, -EINVAL,
				 "-g chooses a group here, and \"%s\" is none: --sample records the code with its "
				 "callers, for tracevisualizer --profile",
				 value);
	if (is_word(value))
		return take_name("--gid", "group", value, group, group ? group->gr_gid : 0, &options->tracer.filter_gid,
				 ret_error);
	err = parse_id("--gid", value, options->tracer.filter_gid >= 0, 0, UINT32_MAX - 1, &id, ret_error);
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
static int apply_caller(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	struct tracer_options *tracer = &options->tracer;
	uint64_t number;
	bool is_depth = *value == 'd' || *value == 'D', is_lower = *value == 'l' || *value == 'L';
	enum tracer_caller caller = is_depth ? TRACER_CALLER_DEPTH : TRACER_CALLER_BOUNDS;

	if ((!is_depth && !is_lower && *value != 'u' && *value != 'U') ||
	    (is_depth ? number_parse(value + 1, 511, &number) : parse_address(value + 1, &number)))
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

static int apply_flush(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t ms;

	if (number_parse(value, 86400000, &ms))
		return error_set(ret_error, -EINVAL, "--flush: \"%s\" is not a number of milliseconds (0 = never)",
				 value);
	options->session.flush_ns = ms ? ms * 1000000 : UINT64_MAX;
	return 0;
}

static int apply_level(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t level;

	if (number_parse(value, 19, &level) || !level)
		return error_set(ret_error, -EINVAL, "--level: \"%s\" is not a zstd level: 1 (fast) to 19 (small)",
				 value);
	options->session.level = (int)level;
	return 0;
}

static bool is_device(const char *word)
{
	return !strncmp(word, "/dev/tracer", strlen("/dev/tracer"));
}

static int named_twice(const char *one, const char *other, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "%s and %s: the trace is named twice; give one name", one, other);
}

static int apply_output(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (options->output.path)
		return named_twice(options->output.path, value, ret_error);
	options->output.path = value;
	return 0;
}

/*
 * In old scripts -o has no value and no effect: it is followed by another option, by the device, or
 * by TRACE, which is then the value.
 */
static int apply_output_letter(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (!value && options->typed_record)
		return error_set(ret_error, -EINVAL, "-o: TRACE is missing; see tracedaemon --help");
	if (!value || is_device(value)) {
		message_note("-o is ignored: time stamps are nanoseconds of CLOCK_MONOTONIC");
		return 0;
	}
	options->output.is_after_letter = true;
	return apply_output(into, value, ret_error);
}

static int apply_probe(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (options->nr_probes == OPTIONS_MAX_PROBES)
		return error_set(ret_error, -EINVAL,
				 "--probe: at most %d; use a pattern for many functions: libc.so.6:'mem*'",
				 OPTIONS_MAX_PROBES);
	options->probes[options->nr_probes++] = value;
	return 0;
}

static int apply_preload(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (options->preload)
		return error_set(ret_error, -EINVAL, "--preload takes one list: --preload %s,%s", options->preload,
				 value);
	options->preload = value;
	return 0;
}

/* A number without a unit is a frequency elsewhere, so it is refused. */
static int apply_sample(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	uint64_t ns = samples_default_ns();

	if (value && strchr(value, ':'))
		return sample_event_take(value, &options->tracer, ret_error);
	if (value && (!value[strspn(value, "0123456789.")] || text_parse_time(value, &ns) || ns < SAMPLES_MIN_NS ||
		      ns > SAMPLES_MAX_NS))
		return error_set(ret_error, -EINVAL,
				 "--sample: \"%s\" is not a time between two samples of a CPU, from 20us to 1s: give "
				 "--sample, --sample=4ms or --sample=250us",
				 value);
	options->tracer.sample_event = NULL;
	options->tracer.sample_period = ns;
	return 0;
}

static int apply_control(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (!*value)
		return error_set(ret_error, -EINVAL, "--control: give the path of a socket");
	options->session.control_path = value;
	return 0;
}

/* ---- flags ---- */

/* The word of perf: the letters that follow mean what they mean there, or are errors. */
static int apply_record(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->typed_record = true;
	return 0;
}

static int apply_follow(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->tracer.follow = true;
	return 0;
}

static int apply_background(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->session.background = true;
	return 0;
}

/* A service manager wants a process that stays, also of a flight recorder. */
static int apply_foreground(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->session.foreground = true;
	return 0;
}

static int apply_user(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (!*value)
		return error_set(ret_error, -EINVAL, "--user: give the name of a user");
	options->session.command_user = value;
	return 0;
}

static int apply_no_user(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->selection.no_user = true;
	return 0;
}

static int apply_block_programs(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->session.block_programs = true;
	return 0;
}

static int apply_quiet(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->session.quiet = true;
	return 0;
}

static int apply_flight_recorder(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->flight = true;
	options->session.background = true; /* as in the classic: the recorder outlives the command */
	return 0;
}

#define KEEP_BYTES_MIN (1u << 20)
#define KEEP_BYTES     (256u << 20)

static int apply_keep(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	const char *comma = strchr(value, ',');
	char time[32];
	int err = comma && (size_t)(comma - value) >= sizeof(time) ? -EINVAL : 0;

	snprintf(time, sizeof(time), "%.*s", comma ? (int)(comma - value) : (int)sizeof(time) - 1, value);
	if (!err)
		err = text_parse_time(time, &options->keep.keep_ns);
	if (!err && comma)
		err = size_parse(comma + 1, 1ull << 40, &options->keep.max_bytes);
	if (err || !options->keep.keep_ns || (comma && options->keep.max_bytes < KEEP_BYTES_MIN))
		return error_set(
			ret_error, -EINVAL,
			"--keep: \"%s\" is not a time: give --keep=30s, 500ms or 5m; a limit of memory from 1M on "
			"may follow: --keep=30s,64M",
			value);
	return apply_flight_recorder(options, NULL, ret_error);
}

static int apply_save_on(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (options->saves.nr_on == SAVE_ON_MAX)
		return error_set(ret_error, -EINVAL, "--save-on: at most %d", SAVE_ON_MAX);
	return save_on_parse(value, &options->saves.on[options->saves.nr_on++], ret_error);
}

static int apply_save_after(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->saves_detail = "--save-after";
	if (text_parse_time(value, &options->saves.after_ns))
		return error_set(ret_error, -EINVAL, "--save-after: \"%s\" is not a time: give 1s, 500ms", value);
	return 0;
}

static int apply_save_distance(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->saves_detail = "--save-distance";
	if (text_parse_time(value, &options->saves.distance_ns))
		return error_set(ret_error, -EINVAL, "--save-distance: \"%s\" is not a time: give 10s, 5m", value);
	return 0;
}

static int apply_save_files(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->saves_detail = "--save-files";
	if (number_parse(value, UINT32_MAX, &options->saves.max_files) || !options->saves.max_files)
		return error_set(ret_error, -EINVAL, "--save-files: \"%s\" is not a number of files from 1 on", value);
	return 0;
}

static int apply_watch(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->saves.prints = true;
	options->session.foreground = true;
	return apply_flight_recorder(options, NULL, ret_error);
}

static int set_action(struct daemon_options *options, enum action action, struct trace_error *ret_error)
{
	if (options->action != ACTION_RECORD && options->action != action)
		return error_set(ret_error, -EINVAL, "give only one of -m -p -v -j -q --list");
	options->action = action;
	return 0;
}

#define ACTION_OPTION(function, wanted)                                                   \
	static int function(void *into, const char *value, struct trace_error *ret_error) \
	{                                                                                 \
		return set_action(into, wanted, ret_error);                               \
	}
ACTION_OPTION(apply_set_mask, ACTION_SET_MASK)
ACTION_OPTION(apply_status, ACTION_STATUS)

/* The letter of old scripts; elsewhere it is the version. */
static int apply_old_status(void *into, const char *value, struct trace_error *ret_error)
{
	((struct daemon_options *)into)->tells_version = true;
	return apply_status(into, value, ret_error);
}

ACTION_OPTION(apply_snapshot, ACTION_SNAPSHOT)
ACTION_OPTION(apply_stop, ACTION_STOP)

static int apply_list(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->list_target = value;
	return set_action(options, ACTION_LIST, ret_error);
}

static int apply_print_mask(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (value)
		return apply_pid(options, value, ret_error); /* as in version 0.9.5: -pPID */
	if (options->typed_record)
		return error_set(ret_error, -EINVAL,
				 "-p: PID is missing: record -p PID, or -P NAME, records one process");
	return set_action(options, ACTION_PRINT_MASK, ret_error);
}

/* -h, --help and --version take precedence over all other options. */
static int apply_short_help(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->action = ACTION_SHORT_HELP;
	return 0;
}

static int apply_help(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->action = ACTION_HELP;
	return 0;
}

static int apply_version(void *into, const char *value, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	options->action = ACTION_VERSION;
	return 0;
}

/* ---- the table ---- */

/* clang-format off */
static const struct option_spec option_table[] = {
	{.heading = "Most used"},
	{.letter = 't', .other_letter = 'T', .name = "time", .value_name = "TIME", .value = OPTION_VALUE,
	 .apply = apply_time, .help = "record for this time: 60s, 500ms, 5m; -ts60, -tu500000"},
	{.letter = 'o', .value_name = "TRACE", .value = OPTION_OPTIONAL_VALUE, .completes = COMPLETE_FILE,
	 .apply = apply_output_letter, .help = "the name of the trace, as the argument TRACE"},
	{.letter = 'P', .name = "pid", .value_name = "PID", .value = OPTION_VALUE, .completes = COMPLETE_PID,
	 .apply = apply_pid, .help = "only this process: its number, or the name of its program or script"},
	{.name = "follow", .apply = apply_follow,
	 .help = "also its descendants; without -P: COMMAND and its descendants"},
	{.letter = 'e', .other_letter = 'E', .name = "events", .value_name = "LIST", .value = OPTION_VALUE,
	 .completes = COMPLETE_EVENTS, .apply = apply_events,
	 .help = "record only these (-eSCHED, sched,fs), or change the default: +NAME,-NAME"},
	{.name = "probe", .value_name = "PROBE", .value = OPTION_VALUE, .completes = COMPLETE_PROBE,
	 .apply = apply_probe, .help = "calls in programs: libc.so.6:malloc, './prog:pay order->id', usdt:FILE"},
	{.name = "background", .apply = apply_background, .help = "return once recording runs; tracectl controls it"},
	{.letter = 'h', .apply = apply_short_help, .help = "the most used options"},
	{.name = "help", .apply = apply_help, .help = "all options"},

	{.heading = "What is recorded"},
	{.letter = 'u', .other_letter = 'U', .name = "uid", .value_name = "USER", .value = OPTION_VALUE,
	 .completes = COMPLETE_USER, .apply = apply_uid, .help = "only processes of this effective user"},
	{.letter = 'g', .name = "gid", .value_name = "GROUP", .value = OPTION_VALUE, .completes = COMPLETE_GROUP,
	 .apply = apply_gid, .help = "only processes of this effective group"},
	{.letter = 'G', .name = "pgrp", .value_name = "PGRP", .value = OPTION_VALUE, .completes = COMPLETE_PID,
	 .apply = apply_pgrp, .help = "only this process group"},
	{.name = "preload", .value_name = "LIST", .value = OPTION_VALUE, .completes = COMPLETE_PRELOAD,
	 .words = "malloc pthread pthread:all functions profil gprof gprof:times", .apply = apply_preload,
	 .help = "trace what COMMAND does: malloc, pthread, functions"},
	{.letter = 's', .other_letter = 'S', .value_name = "d|u|lVALUE", .value = OPTION_VALUE, .apply = apply_caller,
	 .help = "callers of system calls: at a depth, within bounds"},
	{.name = "sample", .value_name = "PERIOD", .value = OPTION_EQUALS_VALUE, .completes = COMPLETE_WORDS,
	 .words = "250us 1ms 4ms cycles:1000000", .apply = apply_sample,
	 .help = "samples of the code, for tracevisualizer --profile"},
	{.name = "user", .value_name = "NAME", .value = OPTION_VALUE, .completes = COMPLETE_USER,
	 .apply = apply_user, .help = "run COMMAND as this user; only root may"},
	{.name = "args", .value_name = "BYTES", .value = OPTION_EQUALS_VALUE, .apply = apply_args,
	 .help = "what arguments of calls point to (256), for --strace"},
	{.name = "no-args", .apply = apply_no_args, .help = "no arguments of programs: they may have secrets"},
	{.name = "no-user", .apply = apply_no_user, .help = "no events of programs (-e chooses some: 'shop:*')"},
	{.letter = 'D', .name = "details", .value_name = "NAME", .value = OPTION_VALUE,
	 .completes = COMPLETE_EVENTS, .apply = apply_details, .help = "as -e; details are always recorded"},

	{.heading = "Flight recorder, and a running daemon"},
	{.letter = 'k', .other_letter = 'K', .name = "flight-recorder", .other_name = "overwrite",
	 .apply = apply_flight_recorder,
	 .help = "keep the latest events in memory, in the background; -j saves"},
	{.name = "keep", .value_name = "TIME[,SIZE]", .value = OPTION_VALUE, .completes = COMPLETE_WORDS,
	 .words = "10s 30s 60s 5m 30s,64M", .apply = apply_keep,
	 .help = "-k, with the events of the last TIME, compressed, in at most SIZE (256M)"},
	{.name = "save-on", .value_name = "WHEN", .value = OPTION_VALUE, .completes = COMPLETE_WORDS,
	 .words = "wait wait: scope: call: event: signal:SIGUSR1 signal:SIGSEGV psi:io psi:cpu psi:memory loss",
	 .apply = apply_save_on, .help = "save by itself: wait>200ms, scope:pay>50ms, psi:io>200ms/2s ..."},
	{.name = "save-after", .value_name = "TIME", .value = OPTION_VALUE, .apply = apply_save_after,
	 .help = "the time from that moment to the save (1s)"},
	{.name = "save-distance", .value_name = "TIME", .value = OPTION_VALUE, .apply = apply_save_distance,
	 .help = "the least time from one such moment to the next (10s)"},
	{.name = "save-files", .value_name = "COUNT", .value = OPTION_VALUE, .apply = apply_save_files,
	 .help = "save so many files by itself, and no more (10)"},
	{.name = "watch", .apply = apply_watch,
	 .help = "-k in the foreground, with a line for each file"},
	{.name = "foreground", .apply = apply_foreground,
	 .help = "with -k: stay in the foreground, for service managers"},
	{.letter = 'j', .other_letter = 'J', .name = "snapshot", .names_next = true, .apply = apply_snapshot,
	 .help = "save the flight recorder's events to TRACE"},
	{.letter = 'q', .other_letter = 'Q', .name = "stop", .apply = apply_stop,
	 .help = "stop the flight recorder, or background recording"},
	{.letter = 'm', .other_letter = 'M', .name = "set-mask", .apply = apply_set_mask,
	 .help = "change the events of the running daemon to the -e list"},
	{.letter = 'p', .name = "print-mask", .value = OPTION_NUMBER_VALUE, .completes = COMPLETE_PID,
	 .apply = apply_print_mask, .help = "print the events of the running daemon"},
	{.letter = 'v', .name = "status", .apply = apply_status,
	 .help = "print the state of the running daemon"},
	{.letter = 'V', .apply = apply_old_status, .help = "as -v, and the version: --version prints only that"},
	{.name = "control", .value_name = "PATH", .value = OPTION_VALUE, .completes = COMPLETE_FILE,
	 .apply = apply_control, .help = "control socket (/run/tracedaemon/control)"},

	{.heading = "Buffers and files"},
	{.name = "output", .value_name = "TRACE", .value = OPTION_VALUE, .completes = COMPLETE_FILE,
	 .apply = apply_output, .help = "as -o"},
	{.letter = 'b', .other_letter = 'B', .name = "subbuf-size", .value_name = "BYTES", .value = OPTION_VALUE,
	 .completes = COMPLETE_WORDS, .words = "16k 64k 256k 512k 1M 4M 16M", .apply = apply_subbuf_size,
	 .help = "size of a sub-buffer: 16k to 16M, rounded down to 2^n (1M)"},
	{.letter = 'n', .other_letter = 'N', .name = "subbufs", .value_name = "COUNT", .value = OPTION_VALUE,
	 .apply = apply_subbufs, .help = "sub-buffers per CPU: 2 to 256, rounded down to 2^n (8)"},
	{.name = "flush", .value_name = "MS", .value = OPTION_VALUE, .apply = apply_flush,
	 .help = "write buffered events every MS ms; 0: never (1000 to 256000, by load)"},
	{.name = "level", .value_name = "LEVEL", .value = OPTION_VALUE, .completes = COMPLETE_WORDS,
	 .words = "1 3 9 19", .apply = apply_level, .help = "zstd level, 1 to 19 (about 1)"},
	{.name = "block-programs", .apply = apply_block_programs,
	 .help = "programs that allow it wait for free buffers instead of losing events"},

	{.heading = "Information"},
	{.name = "list", .value_name = "WHAT", .value = OPTION_OPTIONAL_VALUE, .completes = COMPLETE_PROBE,
	 .apply = apply_list, .help = "list all events, or places to probe: usdt:FILE, FILE:mem*"},
	{.name = "quiet", .apply = apply_quiet, .help = "only warnings and errors"},
	{.name = "version", .apply = apply_version, .help = "print the version"},

	{.name = "record", .apply = apply_record},

	/* accepted for old scripts, and ignored */
	{.letter = 'd', .help = "the default configuration is the default"},
	{.letter = 'f', .help = "buffering is always lock-free"},
	{.letter = 'l', .help = "buffering is always lock-free"},
	{.letter = 'c', .other_letter = 'C', .help = "the CPU of each event is always recorded"},
};

/* clang-format on */

static const struct option_habit habits[] = {
#include "daemon_habits.def"
};

const struct option_spec *options_table(size_t *ret_nr)
{
	*ret_nr = OPTION_COUNT_OF(option_table);
	return option_table;
}

/* ---- arguments ---- */

static int take_positionals(struct daemon_options *options, struct trace_error *ret_error)
{
	const char **words = options->words;
	size_t nr = options->nr_words;
	bool device = nr && is_device(words[0]);

	/*
	 * "t.trace make all" is meant as a command. Without this error the daemon would record
	 * until Ctrl-C, with "make" as the name of a file.
	 */
	if (nr == OPTIONS_MAX_WORDS && !device)
		return error_set(ret_error, -EINVAL, "%s: one argument too many; put a command after --: %s -- %s %s",
				 words[2], words[0], words[1], words[2]);
	if (device) {
		words++;
		nr--;
	}
	/* in old scripts -o has no value: the word after it is TRACE, and the next one PROC */
	if (nr == 1 && options->output.is_after_letter) {
		options->output.proc_path = words[0];
		return 0;
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

/* A name that could have been meant as something else: the daemon prints it. */
static bool is_bare_word(const struct daemon_options *options)
{
	const char *path = options->output.path;

	return path && options->nr_words && path == options->words[0] && !options->session.command &&
	       !strpbrk(path, "./-");
}

/* The words from @words on, for a shell: "make -j2". Cut at the end of @text. */
static void join_words(char **words, char *text, size_t size)
{
	size_t used = 0;
	char word[200];

	*text = '\0';
	for (; *words && used < size; words++) {
		const char *dash = **words == '-' ? "-" : ""; /* an option of the command, not a file */

		if (!text_shell(*words + strlen(dash), word, sizeof(word)))
			return;
		used += (size_t)snprintf(text + used, size - used, "%s%s%s", used ? " " : "", dash, word);
	}
}

/*
 * A command without "--" before it would be the name of the trace, or of the list of processes.
 * After the device, an old script names these two.
 */
static int check_command(const struct daemon_options *options, char **words, struct trace_error *ret_error)
{
	const char *trace = options->nr_words ? options->words[0] : options->output.path;
	char text[200], name[100] = "TRACE";

	if (!command_word(*words) || (options->nr_words && is_device(options->words[0])))
		return 0;
	join_words(words, text, sizeof(text));
	if (trace && !text_shell(trace, name, sizeof(name)))
		trace = NULL;
	return error_set(
		ret_error, -EINVAL,
		"%s is a command, and no file is named so: tracedaemon %s%s-- %s records while it runs, ./%s is a "
		"file",
		*words, trace ? name : "", trace ? " " : "", text, *words);
}

static int take_word(void *into, char **words, struct trace_error *ret_error)
{
	struct daemon_options *options = into;
	bool is_name = options->nr_words || options->output.path || options->action == ACTION_SNAPSHOT;
	int err = is_name ? 0 : option_check_word(&daemon_program, *words, ret_error);

	if (!err)
		err = check_command(options, words, ret_error);
	if (err)
		return err;
	if (options->nr_words == OPTIONS_MAX_WORDS)
		return error_set(ret_error, -EINVAL, "%s: one argument too many; put a command after --", *words);
	options->words[options->nr_words++] = *words;
	return 0;
}

static int take_command(void *into, char **words, struct trace_error *ret_error)
{
	struct daemon_options *options = into;

	if (!*words)
		return error_set(ret_error, -EINVAL, "a command is missing after --");
	if (!**words)
		return error_set(ret_error, -EINVAL, "the command after -- is an empty word");
	options->session.command = words;
	return 0;
}

static void note_ignored(const char *word, const char *why)
{
	message_note("%s is ignored: %s", word, why);
}

const struct option_program daemon_program = {
	.name = "tracedaemon",
	.synopsis = "[OPTION...] [TRACE [PROC]] [-- COMMAND [ARG...]]",
	.usage = "Record what every thread of this machine does and waits for.\n"
		 "  tracedaemon -t 60s t.trace          record for 60 s\n"
		 "  tracedaemon t.trace -- make -j2     record while a command runs\n",
	.notes = "TRACE - is stdout; without TRACE a name is made up.\n"
		 "Then: tracevisualizer -a TRACE. More: man tracedaemon\n",
	.specs = option_table,
	.nr_specs = OPTION_COUNT_OF(option_table),
	.habits = habits,
	.nr_habits = OPTION_COUNT_OF(habits),
	.take_word = take_word,
	.take_rest = take_command,
	.note_ignored = note_ignored,
};

int options_parse(struct daemon_options *ret_options, int argc, char **argv, struct trace_error *ret_error)
{
	struct daemon_options *options = ret_options;
	int err;

	*options = (struct daemon_options){.action = ACTION_RECORD, .keep.max_bytes = KEEP_BYTES};
	options->saves.after_ns = 1000000000;
	options->saves.distance_ns = 10000000000;
	options->saves.max_files = 10;
	options->tracer.size = sizeof(options->tracer);
	options->tracer.filter_uid = -1;
	options->tracer.filter_gid = -1;
	err = option_parse(&daemon_program, options, argc, argv, ret_error);
	if (options->action == ACTION_SHORT_HELP || options->action == ACTION_HELP || options->action == ACTION_VERSION)
		return 0;
	if (!err)
		err = take_positionals(options, ret_error);
	if (!err)
		err = options_check(options, ret_error);
	if (err)
		return err;
	if (options->session.foreground)
		options->session.background = false;
	options->follow_command = options->tracer.follow && !options->tracer.filter_pid;
	options->saves.path = options->output.path;
	options->output.is_bare_word = is_bare_word(options);
	options->tracer.overwrite = options->flight && !options->keep.keep_ns;
	if (!options->output.path && !options->flight)
		choose_path(options);
	return 0;
}
