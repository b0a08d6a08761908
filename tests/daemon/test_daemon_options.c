/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracedaemon's command line: every classic spelling, every long one, the refused ones, and the
 * documents that describe them. */
#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <trace/reader.h>
#include <unistd.h>

#include "message.h"
#include "control_steps.h"
#include "daemon_options.h"
#include "format_text.h"
#include "option_help.h"

#define WORDS_MAX 16

/* Parses a command line given as one string. Blanks separate its words, and '' is an empty word. */
static int parse(struct daemon_options *options, const char *line, struct trace_error *error)
{
	static char words[512];
	static char *argv[WORDS_MAX + 1];
	int argc = 0;

	snprintf(words, sizeof(words), "tracedaemon %s", line);
	for (char *word = strtok(words, " "); word && argc < WORDS_MAX; word = strtok(NULL, " "))
		argv[argc++] = strcmp(word, "''") ? word : word + 2;
	argv[argc] = NULL;
	return options_parse(options, argc, argv, error);
}

static struct daemon_options parsed(const char *line)
{
	struct daemon_options options;
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(parse(&options, line, &error), 0);
	if (error.code)
		fprintf(stderr, "%s: %s\n", line, error.message);
	return options;
}

static void refused(const char *line)
{
	struct daemon_options options;
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(parse(&options, line, &error), -EINVAL);
	CU_ASSERT(error.message[0]);
	if (error.code != -EINVAL)
		fprintf(stderr, "not refused: %s\n", line);
}

/* ---- spelling ---- */

static void a_time_to_keep_is_a_flight_recorder(void)
{
	CU_ASSERT(parsed("-k").tracer.overwrite);
	CU_ASSERT(parsed("-k").flight);
	CU_ASSERT_EQUAL(parsed("-k").keep.keep_ns, 0);
	CU_ASSERT_EQUAL(parsed("-k --keep=30s").keep.keep_ns, 30000000000);
	CU_ASSERT(parsed("--keep=30s").flight);
	CU_ASSERT(parsed("--keep 30s").session.background);
	CU_ASSERT_FALSE(parsed("--keep=30s").tracer.overwrite); /* the daemon takes all events out of the rings */
	CU_ASSERT_EQUAL(parsed("--keep=30s").keep.max_bytes, 256u << 20);
	CU_ASSERT_EQUAL(parsed("--keep=5m,64M").keep.keep_ns, 300000000000);
	CU_ASSERT_EQUAL(parsed("--keep=5m,64M").keep.max_bytes, 64u << 20);
	refused("--keep=");
	refused("--keep=0");
	refused("--keep=long");
	refused("--keep=30s,");
	refused("--keep=30s,64");
	refused("--keep=30s,64Q");
	refused("--keep=30s t.trace");
	refused("--keep=30s -j");
}

static void saves_on_triggers_are_chosen(void)
{
	struct daemon_options options = parsed("-k --save-on=wait:a>20ms --save-on loss -o stall.trace");

	CU_ASSERT_EQUAL(options.saves.nr_on, 2);
	CU_ASSERT_STRING_EQUAL(options.saves.on[0].name, "a");
	CU_ASSERT_STRING_EQUAL(options.saves.path, "stall.trace");
	CU_ASSERT_EQUAL(options.keep.keep_ns, 30000000000);
	CU_ASSERT_EQUAL(options.saves.after_ns, 1000000000);
	CU_ASSERT_EQUAL(options.saves.distance_ns, 10000000000);
	CU_ASSERT_EQUAL(options.saves.max_files, 10);
	options = parsed("--watch --keep=1m --save-after=0 --save-distance=1m --save-files=3");
	CU_ASSERT_EQUAL(options.saves.nr_on, 2); /* it has values of its own */
	CU_ASSERT_EQUAL(options.keep.keep_ns, 60000000000);
	CU_ASSERT_EQUAL(options.saves.after_ns, 0);
	CU_ASSERT_EQUAL(options.saves.distance_ns, 60000000000);
	CU_ASSERT_EQUAL(options.saves.max_files, 3);
	CU_ASSERT(options.flight);
	CU_ASSERT(options.saves.prints);
	CU_ASSERT_FALSE(options.session.background);
	refused("--save-on=loss t.trace");
	refused("-k --save-on=losses");
	refused("-k --save-on=loss --save-files=0");
	refused("-k --save-on=loss --save-after=soon");
	refused("-k --save-on=loss --save-distance=far");
	refused("--save-after=5s t.trace");
	refused("-k --save-files=3");
	refused("--watch -j");
}

static void classic_spellings_are_understood(void)
{
	CU_ASSERT_EQUAL(parsed("-ts60 t").session.duration_ns, 60000000000);
	CU_ASSERT_EQUAL(parsed("-TS60 t").session.duration_ns, 60000000000);
	CU_ASSERT_EQUAL(parsed("-tu500000 t").session.duration_ns, 500000000);
	CU_ASSERT_EQUAL(parsed("-ts1 -tu500000 t").session.duration_ns, 1500000000);
	CU_ASSERT_EQUAL(parsed("-b1048576 t").tracer.subbuf_bytes, 1048576);
	CU_ASSERT_EQUAL(parsed("-B65536 t").tracer.subbuf_bytes, 65536);
	CU_ASSERT_EQUAL(parsed("-n4 t").tracer.nr_subbufs, 4);
	CU_ASSERT_EQUAL(parsed("-N8 t").tracer.nr_subbufs, 8);
	CU_ASSERT_EQUAL(parsed("-P123 t").tracer.filter_pid, 123);
	CU_ASSERT_EQUAL(parsed("-p123 t").tracer.filter_pid, 123);
	CU_ASSERT_EQUAL(parsed("-G12 t").tracer.filter_pgrp, 12);
	CU_ASSERT_EQUAL(parsed("-g0 t").tracer.filter_gid, 0);
	CU_ASSERT_EQUAL(parsed("-u0 t").tracer.filter_uid, 0);
	CU_ASSERT_EQUAL(parsed("-U1000 t").tracer.filter_uid, 1000);
	CU_ASSERT_EQUAL(parsed("-sd3 t").tracer.caller, TRACER_CALLER_DEPTH);
	CU_ASSERT_EQUAL(parsed("-SD3 t").tracer.caller_depth, 3);
	CU_ASSERT_EQUAL(parsed("-suc0000000 -sl8048000 t").tracer.caller, TRACER_CALLER_BOUNDS);
	CU_ASSERT_EQUAL(parsed("-suc0000000 -sl8048000 t").tracer.caller_upper, 0xc0000000);
	CU_ASSERT_EQUAL(parsed("-sl0x8048000 -suc0000000 t").tracer.caller_lower, 0x8048000);
	CU_ASSERT_EQUAL(parsed("t").tracer.caller, TRACER_CALLER_NONE);
	CU_ASSERT_EQUAL(parsed("t").tracer.filter_uid, -1);
	CU_ASSERT_EQUAL(parsed("t").tracer.filter_gid, -1);
	CU_ASSERT_EQUAL(parsed("-p").action, ACTION_PRINT_MASK);
	CU_ASSERT_EQUAL(parsed("-v").action, ACTION_STATUS);
	CU_ASSERT_EQUAL(parsed("-V").action, ACTION_STATUS); /* of old scripts */
	CU_ASSERT(parsed("-V").tells_version);
	CU_ASSERT_FALSE(parsed("-v").tells_version);
	CU_ASSERT_EQUAL(parsed("-m -eSCHED").action, ACTION_SET_MASK);
	CU_ASSERT_EQUAL(parsed("-j t").action, ACTION_SNAPSHOT);
	CU_ASSERT_EQUAL(parsed("-q").action, ACTION_STOP);
	CU_ASSERT(parsed("-k").tracer.overwrite);
	CU_ASSERT(parsed("-K").session.background);
	CU_ASSERT(select_has(parsed("-DSCHED t").selection.mask, TRACE_EV_sched_switch));
}

static void options_without_a_use_are_accepted(void)
{
	CU_ASSERT_STRING_EQUAL(parsed("-d -f -l -c -C -o t").output.path, "t");
	CU_ASSERT_STRING_EQUAL(parsed("-d -o -l t").output.path, "t");
	CU_ASSERT_STRING_EQUAL(parsed("-o /dev/tracer t").output.path, "t");
	CU_ASSERT_STRING_EQUAL(parsed("/dev/tracer ls").output.path, "ls"); /* an old script's name */
	CU_ASSERT_STRING_EQUAL(parsed("-ts1 -o t p").output.proc_path, "p");
}

static void long_spellings_are_understood(void)
{
	CU_ASSERT_EQUAL(parsed("--time 60s t").session.duration_ns, 60000000000);
	CU_ASSERT_EQUAL(parsed("--time=1.5m t").session.duration_ns, 90000000000);
	CU_ASSERT_EQUAL(parsed("-t 250ms t").session.duration_ns, 250000000);
	CU_ASSERT_EQUAL(parsed("--subbuf-size 1M t").tracer.subbuf_bytes, 1048576);
	CU_ASSERT_EQUAL(parsed("--subbufs 16 t").tracer.nr_subbufs, 16);
	CU_ASSERT_EQUAL(parsed("-q").action, ACTION_STOP);
	CU_ASSERT_EQUAL(parsed("-q /dev/tracer").action, ACTION_STOP);
	CU_ASSERT_EQUAL(parsed("--pid=5 --follow t").tracer.follow, true);
	CU_ASSERT_EQUAL(parsed("--flush 100 t").session.flush_ns, 100000000);
	CU_ASSERT_EQUAL(parsed("--flush 0 t").session.flush_ns, UINT64_MAX);
	CU_ASSERT_EQUAL(parsed("--level 19 t").session.level, 19);
	CU_ASSERT_STRING_EQUAL(parsed("--output t").output.path, "t");
	CU_ASSERT_STRING_EQUAL(parsed("--control /tmp/x t").session.control_path, "/tmp/x");
	CU_ASSERT(parsed("--background t").session.background);
	CU_ASSERT(parsed("--quiet t").session.quiet);
	CU_ASSERT(parsed("--overwrite").tracer.overwrite);
	CU_ASSERT_EQUAL(parsed("--help --bogus").action, ACTION_HELP);
	CU_ASSERT_EQUAL(parsed("--version").action, ACTION_VERSION);
	CU_ASSERT_EQUAL(parsed("--list").action, ACTION_LIST);
}

/* Spellings of perf, strace and others mean here the same, where they have a meaning. */
static void habits_are_understood(void)
{
	CU_ASSERT_EQUAL(parsed("-p 123 t").tracer.filter_pid, 123);
	CU_ASSERT_STRING_EQUAL(parsed("-p 123 t").output.path, "t");
	CU_ASSERT_EQUAL(parsed("record -p 123 -o t -- ls").tracer.filter_pid, 123);
	CU_ASSERT_STRING_EQUAL(parsed("record -o t -- ls").output.path, "t");
	CU_ASSERT_STRING_EQUAL(parsed("-o t").output.path, "t");
	CU_ASSERT_EQUAL(parsed("--duration 5 t").session.duration_ns, 5000000000);
	CU_ASSERT_EQUAL(parsed("--duration=250ms t").session.duration_ns, 250000000);
	CU_ASSERT_EQUAL(parsed("-u root t").tracer.filter_uid, 0);
	CU_ASSERT_EQUAL(parsed("--uid=root t").tracer.filter_uid, 0);
	CU_ASSERT_EQUAL(parsed("-g root t").tracer.filter_gid, 0);
	CU_ASSERT_EQUAL(parsed("help").action, ACTION_HELP);
	CU_ASSERT_EQUAL(parsed("--quiet help").action, ACTION_HELP);
	CU_ASSERT_PTR_NULL(parsed("-k record").output.path);
	CU_ASSERT_STRING_EQUAL(parsed("-j snapshot").output.path, "snapshot");
	CU_ASSERT_STRING_EQUAL(parsed("-J record").output.path, "record");
	CU_ASSERT_EQUAL(parsed("-h").action, ACTION_SHORT_HELP);
	CU_ASSERT_EQUAL(parsed("--subbuf-s 64k t").tracer.subbuf_bytes, 65536);
	CU_ASSERT_EQUAL(parsed("--fol -P1 t").tracer.follow, true);
	CU_ASSERT(parsed("-dflk").tracer.overwrite);
}

static void advises(const char *line, const char *advice)
{
	struct daemon_options options;
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(parse(&options, line, &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, advice));
	if (!strstr(error.message, advice))
		fprintf(stderr, "%s: %s\n", line, error.message);
}

static void what_is_not_understood_is_answered_with_the_right_words(void)
{
	advises("--follwo t", "unknown option --follwo; did you mean --follow?");
	advises("--size 1M t", "did you mean --subbuf-size?");
	advises("--xyzzy t", "unknown option --xyzzy; see tracedaemon --help");
	advises("--fl 1 t", "--fl can be --flight-recorder or --flush");
	advises("-output t", "unknown option -output; did you mean --output?");
	advises("-Zk t", "unknown option -Z in -Zk");
	advises("ls", "ls is a command, and no file is named so: tracedaemon -- ls records while it runs");
	advises("t.trace ls -l", "tracedaemon t.trace -- ls -l records while it runs, ./ls is a file");
	advises("record -o t ls", "tracedaemon t -- ls records while it runs");
	advises("report t", "tracevisualizer -a TRACE");
	advises("status", "tracectl status");
	advises("-F 99 t", "--sample=1ms adds samples of the code");
	advises("--verbose t", "tracectl status");
	advises("--tid 5 t", "-P PID records a process with all its threads");
	advises("--comm=app t", "-P NAME records a process by its name");
	advises("-p app.py", "\"app.py\" is no process id: -P NAME or -P PID");
	advises("--quiet start", "start: tracedaemon TRACE records");
	advises("-t 5 stop", "stop: tracectl stop ends the recording");
	advises("--tiem=5 t", "unknown option --tiem; did you mean --time?");
	advises("-k --save-on=wiat:foo>5ms", "psi, loss; did you mean wait?");
	advises("--preload mallco t -- true", "separated by commas); did you mean malloc?");
	advises("-e shced t", "similar names: sched");
	advises("-t 1e3 t", "\"1e3\" is not a time from 1ns to 200 years");
	advises("-t 0x10 t", "\"0x10\" is not a time");
	advises("-t 99999999999999999999 t", "is not a time from 1ns to 200 years");
	advises("--keep=1e1", "\"1e1\" is not a time");
	advises("-P -1 t", "\"-1\" is not an id: give a number from 1 to 2147483647");
	advises("-q t", "-q writes no trace: leave out t, or save the flight recorder with -j");
	advises("-v t.trace", "-v writes no trace: leave out t.trace");
	advises("-m -e sched t", "-m writes no trace: leave out t");
	advises("t -- ''", "the command after -- is an empty word");
	advises("-e swich t", "similar names: sched_switch");
	advises("--flght t", "unknown option --flght; did you mean --flight-recorder?");
	advises("--duraton 5 t", "unknown option --duraton; did you mean --duration, which is --time here?");
	advises("--call-grpah", "unknown option --call-grpah; if it is --call-graph: --sample records the code");
	advises("--profile t", "unknown option --profile; tracevisualizer has it: see tracevisualizer --help");
	advises("-y t", "unknown option -y; tracevisualizer has it, --paths: see tracevisualizer --help");
	advises("-u no_such_user t", "\"no_such_user\" is no user of this machine");
	advises("-e", "-e: LIST is missing");
	advises("--user root t", "-u USER records the processes of a user");
}

/* A file name is any other word: what exists is a file, and so is a word with a dot or slash. */
static void a_word_that_reads_like_a_command_is_no_file_name(void)
{
	advises("rcord", "rcord: did you mean record? See tracedaemon --help; a file called rcord is ./rcord");
	advises("record reprt", "reprt: did you mean report?");
	advises("puase", "did you mean pause?");
	advises("begin", "begin: tracectl begin does that, see tracectl --help");
	advises("pause", "pause: tracectl halt does that");
	advises("analyze", "analyze: tracevisualizer --analyze does that");
	advises("background", "background: the option is --background; a file called background is ./background");
	advises("stat ls", "tracedaemon -- stat records a command");
	advises("attach 5", "-P PID records one process");
	advises("record -p", "-p: PID is missing");
	advises("record -o", "-o: TRACE is missing");
	advises("record -g -- ls", "--sample records the code with its callers");
	CU_ASSERT_EQUAL(parsed("record -g root t").tracer.filter_gid, 0);
	CU_ASSERT_STRING_EQUAL(parsed("./rcord").output.path, "./rcord");
	CU_ASSERT_STRING_EQUAL(parsed("-o rcord").output.path, "rcord");
	CU_ASSERT_STRING_EQUAL(parsed("record.1").output.path, "record.1");
	CU_ASSERT_STRING_EQUAL(parsed("reports2").output.path, "reports2");
	CU_ASSERT_STRING_EQUAL(parsed("output").output.path, "output");
	CU_ASSERT_STRING_EQUAL(parsed("t analyze").output.proc_path, "analyze");
	CU_ASSERT_STRING_EQUAL(parsed("/dev/tracer analyze proc").output.path, "analyze");
	CU_ASSERT_STRING_EQUAL(parsed("-j analyze").output.path, "analyze");
	CU_ASSERT(parsed("output").output.is_bare_word);
	CU_ASSERT_FALSE(parsed("output -- true").output.is_bare_word);
	CU_ASSERT_FALSE(parsed("-o output").output.is_bare_word);
	CU_ASSERT_FALSE(parsed("t.trace").output.is_bare_word);
	CU_ASSERT_FALSE(parsed("-").output.is_bare_word);
}

static void positionals_have_both_classic_forms(void)
{
	struct daemon_options options = parsed("-ts60 /dev/tracer trace1.trace trace1.proc");

	CU_ASSERT_STRING_EQUAL(options.output.path, "trace1.trace");
	CU_ASSERT_STRING_EQUAL(options.output.proc_path, "trace1.proc");
	options = parsed("trace1.trace trace1.proc");
	CU_ASSERT_STRING_EQUAL(options.output.path, "trace1.trace");
	CU_ASSERT_STRING_EQUAL(options.output.proc_path, "trace1.proc");
	options = parsed("/dev/tracer t");
	CU_ASSERT_STRING_EQUAL(options.output.path, "t");
	CU_ASSERT_PTR_NULL(options.output.proc_path);
	options = parsed("t -ts1");
	CU_ASSERT_STRING_EQUAL(options.output.path, "t");
	CU_ASSERT_EQUAL(options.session.duration_ns, 1000000000);
}

static void without_a_name_one_is_made_up(void)
{
	static struct daemon_options options;
	struct trace_error error;

	CU_ASSERT_EQUAL(parse(&options, "-ts1", &error), 0);
	CU_ASSERT(options.output.is_default_name);
	CU_ASSERT_PTR_NOT_NULL(strstr(options.output.path, "trace-20"));
	CU_ASSERT_PTR_NOT_NULL(strstr(options.output.path, ".trace"));
}

static void a_command_keeps_its_own_options(void)
{
	struct daemon_options options = parsed("-ts5 t -- make -j2 --help");

	CU_ASSERT_STRING_EQUAL(options.output.path, "t");
	CU_ASSERT_STRING_EQUAL(options.session.command[0], "make");
	CU_ASSERT_STRING_EQUAL(options.session.command[2], "--help");
	CU_ASSERT_PTR_NULL(options.session.command[3]);
	CU_ASSERT(!options.follow_command);
	CU_ASSERT(parsed("--follow t -- ls").follow_command);
	CU_ASSERT(!parsed("--follow -P1 t -- ls").follow_command);
}

static void all_refused(const char *const *lines)
{
	for (; *lines; lines++)
		refused(*lines);
}

static void wrong_options_and_values_are_refused(void)
{
	static const char *const lines[] = {
		"-Z t",
		"--bogus t",
		"-ts",
		"-tsx t",
		"-ts-1 t",
		"-ts0 t",
		"-t5parsecs t",
		"-b t",
		"-b-1 t",
		"-b0 t",
		"-n1 t",
		"-n99999999 t",
		"-P0 t",
		"-P-1 t",
		"-Pabc t",
		"-u4294967295 t",
		"-g-1 t",
		"-sx1 t",
		"-sd t",
		"-sd512 t",
		"-suffffffffffffffff1 -sl0 t",
		"-su4g -sl0 t",
		"-sl4000 t",
		"-su4000 -sl4000 t",
		"-sd1 -su4000 -sl0 t",
		"-e",
		"-eNOPE t",
		"-esched,, t",
		"-e t",
		"--level 0 t",
		"--level 20 t",
		"--flush -1 t",
		"--flush t",
		"--quiet=1 t",
		"--control= t",
		"-ts99999999999999999999 t",
		NULL,
	};

	all_refused(lines);
}

static void actions_that_exclude_each_other_are_refused(void)
{
	static const char *const lines[] = {
		"-kq",
		"-m",
		"-p -v",
		"-p -m -esched",
		"-v -m -esched",
		"-j -p",
		"-j -v",
		"-j -q t",
		"-j -m -esched",
		"-q -p",
		"-q -v",
		"-q -m -esched",
		"-v --list",
		"-j -k",
		"-k -j t",
		"-k -q",
		"-q -k",
		"-k -m -esched",
		"-k -p",
		"-k -v",
		"-k --list",
		"-j --background t",
		"-q --background",
		"--background -m -esched",
		"--background -p",
		"--background -v",
		"--background --list",
		"-v -- ls",
		"--args --no-args t",
		"--no-args --args=64 t",
		"--args=0 t",
		"--args=4097 t",
		"--args=64x t",
		NULL,
	};

	all_refused(lines);
}

static void wrong_arguments_are_refused(void)
{
	static const char *const lines[] = {
		"a b c d",
		"t --",
		"--output a b",
		"--follow t",
		"- -- ls",
		"-k t",
		"-k -- ls",
		"--background -",
		"--background t -- ls",
		"''",
		"t ''",
		"--output ''",
		"--output a --output b",
		"t t",
		"- -",
		"t - -- ls",
		"--background t -",
		"-P1 -P2 t",
		"-p1 --pid=2 t",
		"-G1 -G2 t",
		"-u0 -u0 t",
		"-g0 -g1 t",
		"--preload malloc --preload pthread t -- ls",
		"--no-user -eshop:paid t",
		NULL,
	};

	all_refused(lines);
}

/* ---- selection ---- */

static void select_mask(const char *names, uint64_t ret_mask[TRACE_MASK_WORDS])
{
	struct selection selection = {0};
	struct trace_error error = {0};

	if (names)
		CU_ASSERT_EQUAL(select_add(&selection, names, &error), 0);
	if (error.code)
		fprintf(stderr, "%s: %s\n", names, error.message);
	select_finish(&selection, ret_mask);
}

static bool selects(const char *names, uint32_t id)
{
	uint64_t mask[TRACE_MASK_WORDS];

	select_mask(names, mask);
	return select_has(mask, id);
}

static void no_selection_means_the_defaults(void)
{
	const struct trace_event_type *type;

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		type = trace_catalogue_type(i);
		CU_ASSERT_EQUAL(selects(NULL, type->id), (type->flags & TRACE_EVENT_ON) != 0);
		CU_ASSERT_EQUAL(selects("default", type->id), (type->flags & TRACE_EVENT_ON) != 0);
		CU_ASSERT(selects("all", type->id));
	}
}

static void every_name_of_the_catalogue_selects_its_events(void)
{
	const struct trace_event_type *type;

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		type = trace_catalogue_type(i);
		if (type->category == TRACE_CATEGORY_TRACE || type->category == TRACE_CATEGORY_START)
			continue;
		CU_ASSERT(selects(type->name, type->id));
		CU_ASSERT(selects(trace_category_name(type->category), type->id));
		if (strcmp(type->classic, "NONE"))
			CU_ASSERT(selects(type->classic, type->id));
	}
}

static void classes_and_categories_differ_by_case(void)
{
	CU_ASSERT(!selects("SCHED", TRACE_EV_sched_waking));
	CU_ASSERT(selects("sched", TRACE_EV_sched_waking));
	CU_ASSERT(selects("PROCESS", TRACE_EV_sched_waking));
	CU_ASSERT(selects("CORE", TRACE_EV_sys_enter3));
	CU_ASSERT(selects("CORE", TRACE_EV_irq_exit));
	CU_ASSERT(!selects("CORE", TRACE_EV_softirq_entry));
}

static void one_size_of_sys_enter_selects_all(void)
{
	CU_ASSERT(selects("sys_enter", TRACE_EV_sys_enter6));
	CU_ASSERT(selects("sys_enter3", TRACE_EV_sys_enter));
	CU_ASSERT(!selects("sys_enter", TRACE_EV_sys_exit));
	CU_ASSERT(!selects("sys_enter", TRACE_EV_sys_path));
}

static void signs_change_the_defaults(void)
{
	CU_ASSERT(!selects("-irq_entry", TRACE_EV_irq_entry));
	CU_ASSERT(selects("-irq_entry", TRACE_EV_sys_enter));
	CU_ASSERT(selects("+page_alloc", TRACE_EV_page_alloc));
	CU_ASSERT(selects("+page_alloc", TRACE_EV_sys_enter));
	CU_ASSERT(!selects("fs,-fs_open", TRACE_EV_fs_open));
	CU_ASSERT(!selects("fs,-fs_open", TRACE_EV_irq_entry));
	CU_ASSERT(selects("block_*", TRACE_EV_block_insert));
}

/* The words of the status select the same events, or are their number. */
static void changes_are_printed_as_an_argument(void)
{
	static const char *const names[] = {"default", "default,+page_alloc,-irq_entry", "default,-irq_entry"};
	uint64_t mask[TRACE_MASK_WORDS], again[TRACE_MASK_WORDS];
	char text[256];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		select_mask(names[i], mask);
		select_print_changes(mask, text, sizeof(text));
		select_mask(text, again);
		CU_ASSERT_EQUAL(strlen(text), strlen(names[i]));
		CU_ASSERT_EQUAL(memcmp(mask, again, sizeof(mask)), 0);
	}
	select_mask("sched,fs", mask);
	select_print_changes(mask, text, sizeof(text));
	CU_ASSERT(strtol(text, NULL, 10) > 20);
	CU_ASSERT_EQUAL(strspn(text, "0123456789"), strlen(text));
}

/* Records carry no pid: without these events the thread of a record would be unknown. */
static void the_owner_of_events_is_always_known(void)
{
	CU_ASSERT(selects("sys_enter", TRACE_EV_sched_switch));
	CU_ASSERT(selects("sys_enter", TRACE_EV_sched_fork));
	CU_ASSERT(!selects("sys_enter,-sched_switch", TRACE_EV_sched_switch));
	CU_ASSERT(selects("irq", TRACE_EV_trace_mask));
	CU_ASSERT(selects("irq", TRACE_EV_start_thread));
}

static void classes_that_are_always_on_are_accepted(void)
{
	static const char *const names[] = {"START", "CHMSK", "HEARTBEAT", "CSTM", "NEWEV"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CU_ASSERT(!selects(names[i], TRACE_EV_sys_enter));
}

static void an_unknown_name_suggests_similar_ones(void)
{
	struct selection selection = {0}, before;
	struct trace_error error;

	CU_ASSERT_EQUAL(select_add(&selection, "fs", &error), 0);
	before = selection;
	CU_ASSERT_EQUAL(select_add(&selection, "sched_swich", &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "sched_switch"));
	CU_ASSERT_EQUAL(select_add(&selection, "irq,trapp", &error), -EINVAL);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "similar names: trap"));
	CU_ASSERT_EQUAL(select_add(&selection, "waking", &error), -EINVAL); /* part of a name */
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "similar names: sched_waking"));
	CU_ASSERT_EQUAL(select_add(&selection, "nonsense", &error), -EINVAL);
	CU_ASSERT_PTR_NULL(strstr(error.message, "similar"));
	CU_ASSERT_EQUAL(memcmp(&selection, &before, sizeof(selection)), 0); /* failures leave it unchanged */
}

static bool wants_probe(const struct selection *selection, const char *name, const char *other)
{
	const char *const names[] = {name, other};

	return select_wants_probe(selection, names, 2);
}

static void a_probe_is_chosen_by_any_of_its_names(void)
{
	struct selection selection = {0};
	struct trace_error error;
	size_t at = 0;

	CU_ASSERT(wants_probe(&selection, "libc:malloc", "libc.so.6:malloc"));
	CU_ASSERT_EQUAL(select_add(&selection, "sched,libc.so.6:mal*,shop:*", &error), 0);
	CU_ASSERT(wants_probe(&selection, "libc:malloc", "libc.so.6:malloc"));
	CU_ASSERT(!wants_probe(&selection, "libc:free", "libc.so.6:free"));
	CU_ASSERT_EQUAL(select_add(&selection, "+libc:free,-libc:m*", &error), 0);
	CU_ASSERT(!wants_probe(&selection, "libc:malloc", "libc.so.6:malloc"));
	CU_ASSERT(wants_probe(&selection, "libc:free", "libc.so.6:free"));
	selection.no_user = true; /* a probe that the user asks for is no program event */
	CU_ASSERT(wants_probe(&selection, "libc:free", "libc.so.6:free"));
	CU_ASSERT(!select_wants_user(&selection, "libc:free"));
	select_note_probe(&selection, (const char *const[]){"libc:malloc", "libc.so.6:malloc"}, 2);
	CU_ASSERT_STRING_EQUAL(select_unmatched(&selection, &at)->pattern, "shop:*");
	CU_ASSERT_STRING_EQUAL(select_unmatched(&selection, &at)->pattern, "libc:free");
	CU_ASSERT_PTR_NULL(select_unmatched(&selection, &at));
}

static void switching_on_and_off_takes_no_memory(void)
{
	struct selection selection = {0};
	struct trace_error error;

	CU_ASSERT_EQUAL(select_add(&selection, "-shop:*,+shop:paid", &error), 0);
	for (int i = 0; i < 100; i++) {
		CU_ASSERT_EQUAL(select_add(&selection, i % 2 ? "+bank:*" : "-bank:*", &error), 0);
		CU_ASSERT_EQUAL(select_add(&selection, i % 2 ? "-shop:*" : "+shop:*", &error), 0);
	}
	CU_ASSERT(!select_wants_user(&selection, "shop:paid")); /* the last word decides */
	CU_ASSERT(select_wants_user(&selection, "bank:open"));
	CU_ASSERT(select_wants_user(&selection, "other:event")); /* still all programs except the excluded ones */
}

/* ---- text ---- */

static void numbers_are_printed_with_units(void)
{
	CU_ASSERT_STRING_EQUAL(text_count(0).s, "0");
	CU_ASSERT_STRING_EQUAL(text_count(999).s, "999");
	CU_ASSERT_STRING_EQUAL(text_count(1234567).s, "1,234,567");
	CU_ASSERT_STRING_EQUAL(text_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
	CU_ASSERT_STRING_EQUAL(text_bytes(999).s, "999 B");
	CU_ASSERT_STRING_EQUAL(text_bytes(12345678).s, "11.8 MiB");
	CU_ASSERT_STRING_EQUAL(text_seconds(60000000000).s, "60.000 s");
	CU_ASSERT_STRING_EQUAL(text_seconds(125000000000).s, "2 min 05 s");
}

static void expect_word(const char *path, const char *expected)
{
	char word[64];

	CU_ASSERT(text_shell(path, word, sizeof(word)));
	CU_ASSERT_STRING_EQUAL(word, expected);
}

static void names_are_printed_as_a_shell_takes_them(void)
{
	char word[8] = "x";

	expect_word("/tmp/a-1_b.trace", "/tmp/a-1_b.trace");
	expect_word("-v.trace", "./-v.trace");
	expect_word("two words", "'two words'");
	expect_word("- -", "'./- -'");
	expect_word("~", "'~'");
	expect_word("a;b", "'a;b'");
	expect_word("it's", "'it'\\''s'");
	expect_word("a\\b", "'a\\b'");
	expect_word("a\nb'\\\033", "$'a\\012b\\'\\\\\\033'");
	expect_word("", "''");
	CU_ASSERT(text_shell("1234567", word, sizeof(word)));
	CU_ASSERT(!text_shell("12345678", word, sizeof(word)));
	CU_ASSERT_STRING_EQUAL(word, "");
	CU_ASSERT(!text_shell("a 2345", word, sizeof(word)));
	CU_ASSERT_STRING_EQUAL(word, "");
}

/* ---- what the documents say ---- */

static char *read_document(const char *path)
{
	char *text = calloc(1, 1 << 16), name[512];
	FILE *file;

	snprintf(name, sizeof(name), "%s/%s", TRACE_SOURCE, path);
	file = fopen(name, "re");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	CU_ASSERT(fread(text, 1, (1 << 16) - 1, file) > 0);
	fclose(file);
	return text;
}

static void expect_mentions(const char *path, const char *text, const char *wanted)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, wanted));
	if (!strstr(text, wanted))
		fprintf(stderr, "%s does not mention %s\n", path, wanted);
}

static void the_manual_knows_every_option(void)
{
	static const char path[] = "docs/man/tracedaemon.1";
	char *text = read_document(path), wanted[64];
	const struct option_spec *table;
	size_t nr;

	table = options_table(&nr);
	for (size_t i = 0; i < nr; i++) {
		for (int k = 0; k < 2; k++)
			if (k ? table[i].other_letter : table[i].letter) {
				snprintf(wanted, sizeof(wanted), "\\-%c", k ? table[i].other_letter : table[i].letter);
				expect_mentions(path, text, wanted);
			}
		for (int k = 0; k < 2; k++) {
			const char *name = k ? table[i].other_name : table[i].name, *from = name;
			size_t used = 4;

			if (!name || !table[i].help)
				continue;
			strcpy(wanted, "\\-\\-");
			for (; *from; from++) { /* roff requires each dash to be escaped */
				if (*from == '-')
					wanted[used++] = '\\';
				wanted[used++] = *from;
			}
			wanted[used] = '\0';
			expect_mentions(path, text, wanted);
		}
	}
	free(text);
}

static void the_completion_knows_every_option(void)
{
	static const char path[] = "completions/bash/tracedaemon";
	char *text = read_document(path), wanted[64];
	const struct option_spec *table;
	size_t nr;

	table = options_table(&nr);
	for (size_t i = 0; i < nr; i++)
		for (int k = 0; k < 2; k++) {
			const char *name = k ? table[i].other_name : table[i].name;

			if (!name || !table[i].help)
				continue;
			snprintf(wanted, sizeof(wanted), "--%s", name);
			expect_mentions(path, text, wanted);
		}
	free(text);
}

static void help_text(const struct option_program *program, bool all, char *text, size_t size)
{
	FILE *out = fmemopen(text, size - 1, "w");

	option_help(out, program, all);
	fclose(out);
}

static void the_help_knows_every_option(void)
{
	char text[8192] = "", wanted[64];
	const struct option_spec *table;
	size_t nr;

	help_text(&daemon_program, true, text, sizeof(text));
	table = options_table(&nr);
	for (size_t i = 0; i < nr; i++)
		for (int k = 0; k < 2; k++) {
			char letter = k ? table[i].other_letter : table[i].letter;
			const char *name = k ? table[i].other_name : table[i].name;

			snprintf(wanted, sizeof(wanted), " -%c", letter);
			if (letter)
				expect_mentions("--help", text, wanted);
			snprintf(wanted, sizeof(wanted), " --%s", name ? name : "");
			if (name && table[i].help)
				expect_mentions("--help", text, wanted);
		}
}

/* -h fits a screen of 80 x 24; --help is as wide. tracectl and kgmon have one help, as -h. */
static void the_help_fits_a_screen(void)
{
	static const struct option_program *const programs[] = {&daemon_program, &tracectl_program, &kgmon_program};

	for (size_t i = 0; i < 2 * OPTION_COUNT_OF(programs); i++) {
		const struct option_program *program = programs[i / 2];
		bool all = i % 2;
		char text[8192] = "";
		size_t lines = 0;

		help_text(program, all, text, sizeof(text));
		for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1, lines++) {
			CU_ASSERT(end - at <= 80);
			if (end - at > 80)
				fprintf(stderr, "too long: %.*s\n", (int)(end - at), at);
		}
		CU_ASSERT(lines <= (all && program == &daemon_program ? 80 : 24));
	}
}

static const struct unit_case cases[] = {
	{"classic_spellings_are_understood", classic_spellings_are_understood},
	{"a_time_to_keep_is_a_flight_recorder", a_time_to_keep_is_a_flight_recorder},
	{"saves_on_triggers_are_chosen", saves_on_triggers_are_chosen},
	{"options_without_a_use_are_accepted", options_without_a_use_are_accepted},
	{"long_spellings_are_understood", long_spellings_are_understood},
	{"habits_are_understood", habits_are_understood},
	{"what_is_not_understood_is_answered_with_the_right_words",
	 what_is_not_understood_is_answered_with_the_right_words},
	{"a_word_that_reads_like_a_command_is_no_file_name", a_word_that_reads_like_a_command_is_no_file_name},
	{"positionals_have_both_classic_forms", positionals_have_both_classic_forms},
	{"without_a_name_one_is_made_up", without_a_name_one_is_made_up},
	{"a_command_keeps_its_own_options", a_command_keeps_its_own_options},
	{"wrong_options_and_values_are_refused", wrong_options_and_values_are_refused},
	{"actions_that_exclude_each_other_are_refused", actions_that_exclude_each_other_are_refused},
	{"wrong_arguments_are_refused", wrong_arguments_are_refused},
	{"no_selection_means_the_defaults", no_selection_means_the_defaults},
	{"every_name_of_the_catalogue_selects_its_events", every_name_of_the_catalogue_selects_its_events},
	{"classes_and_categories_differ_by_case", classes_and_categories_differ_by_case},
	{"one_size_of_sys_enter_selects_all", one_size_of_sys_enter_selects_all},
	{"signs_change_the_defaults", signs_change_the_defaults},
	{"changes_are_printed_as_an_argument", changes_are_printed_as_an_argument},
	{"the_owner_of_events_is_always_known", the_owner_of_events_is_always_known},
	{"classes_that_are_always_on_are_accepted", classes_that_are_always_on_are_accepted},
	{"an_unknown_name_suggests_similar_ones", an_unknown_name_suggests_similar_ones},
	{"a_probe_is_chosen_by_any_of_its_names", a_probe_is_chosen_by_any_of_its_names},
	{"switching_on_and_off_takes_no_memory", switching_on_and_off_takes_no_memory},
	{"numbers_are_printed_with_units", numbers_are_printed_with_units},
	{"names_are_printed_as_a_shell_takes_them", names_are_printed_as_a_shell_takes_them},
	{"the_manual_knows_every_option", the_manual_knows_every_option},
	{"the_completion_knows_every_option", the_completion_knows_every_option},
	{"the_help_knows_every_option", the_help_knows_every_option},
	{"the_help_fits_a_screen", the_help_fits_a_screen},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	message_init("tracedaemon", true);
	return unit_main("daemon options", cases, argc, argv);
}
