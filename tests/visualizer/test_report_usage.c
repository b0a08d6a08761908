/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_usage.c - how tracevisualizer is called: wrong usage, options, files that cannot be
 * read or written */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include "report_case.h"
#include "unit.h"
#include "visualizer.h"

static void wrong_usage_is_one_line_and_status_2(void)
{
	static const struct {
		const char *arguments;
		const char *says;
	} wrong[] = {
		{"", "no trace given"},
		{"-Z t", "unknown option -Z; see tracevisualizer --help"},
		{"--nonsense t", "unknown option --nonsense; see tracevisualizer --help"},
		{"-c t", "'t' is not a number"},
		{"-c", "-c: N is missing"},
		{"-cx t", "'x' is not a number"},
		{"--sort=tallest t", "--sort: \"tallest\" is none of its words (elapsed cpu user"},
		{"--sort=elapse t", "did you mean elapsed?"},
		{"--sort=waitcpu t", "did you mean wait-cpu?"},
		{"--section=file t", "--section: \"file\" is none of its words; did you mean files? All: cpus "},
		{"--section=flies t", "did you mean files?"},
		{"--sort=cup t", "did you mean cpu?"},
		{"--viwe t", "unknown option --viwe; did you mean --view?"},
		{"--port=70000 --view t", "option --port: '70000' is not a number from 0 to 65535"},
		{"-d --symfs nowhere t", "option --symfs: 'nowhere' is not a folder"},
		{"-d --symfs /dev/null t", "'/dev/null' is not a folder"},
		{"--criticl t", "unknown option --criticl; did you mean --critical-path?"},
		{"--fial=10% t", "unknown option --fial; did you mean --fail-above?"},
		{"--browser t", "unknown option --browser; did you mean --no-browser?"},
		{"--limt=5 t", "unknown option --limt; did you mean --limit, which is --top here?"},
		{"--sample t", "unknown option --sample; tracedaemon has it: see tracedaemon --help"},
		{"-e t", "-e: -t EVENTS chooses events of a list"},
		{"--zzzzz t", "unknown option --zzzzz; see tracevisualizer --help"},
		{"--sort=elapsd t", "did you mean elapsed?"},
		{"reprt t", "reprt: did you mean report?"},
		{"halt t", "halt: tracectl halt does that, see tracectl --help"},
		{"--jsno t", "unknown option --jsno; did you mean --json?"},
		{"-p app.py --comm=b t", "option --comm: 'b' is a second value"},
		{"--tid= t", "option --tid: '' is neither a number nor a name"},
		{"-p -5 t", "option --pid: '-5' is not a number"},
		{"--section=files,x t", "--section: \"x\" is none of its words (cpus processes "},
		{"--section= t", "--section: \"\" is none of its words"},
		{"--critcal-path t", "unknown option --critcal-path; did you mean --critical-path?"},
		{"--t t", "--t can be --timeline or --tid"},
		{"record t", "record: tracedaemon TRACE records"},
		{"-v t", "-v: -V prints the version, and --all prints every row"},
		{"--verbose t", "--verbose: --all prints every row"},
		{"-a --tid=1 --tid 2 t", "'2' is a second value"},
		{"--csv t", "--csv: there is no CSV: --json has every figure"},
		{"--color=never t", "--color: titles are bold on a terminal"},
		{"--view --json t", "--view is a page and cannot be combined with another report"},
		{"--view -d t", "--view is a page"},
		{"-i t", "-i: the trace is an argument"},
		{"-a --top=0 t", "'0' is not a number of rows"},
		{"--pid", "--pid: PID is missing"},
		{"--json=1 t", "takes no value"},
		{"a b c d", "is one too many"},
		{"--diff a", "needs two traces"},
		{"-a a /nonexistent/out", "use --output /nonexistent/out"},
		{"-d --from=2 --to=1 t", "--from has to be before --to"},
		{"-a -d --json t", "option --json writes events, or figures; leave out -d, or the report"},
		{"--diff -d a b", "--diff cannot be combined with -d, --verify or --critical-path"},
		{"--diff --verify a b", "--diff cannot be combined with"},
		{"-a ''", "argument '' is not a file name"},
		{"--diff a ''", "argument '' is not a file name"},
		{"--comm= t", "'' is not a name"},
		{"--cgroup '' t", "'' is not the path of a control group"},
		{"--critical-path= t", "'' is not a process, thread or name"},
		{"--critical-path one t", "'one' is not a trace; to choose a task use --critical-path=one"},
		{"-d -c0 -c1 t", "'1' is a second value; only one is allowed"},
		{"-a -p1 --pid=2 t", "'2' is a second value"},
		{"-a --comm=a --comm b t", "'b' is a second value"},
		{"-a --cgroup=/a --cgroup=/b t", "'/b' is a second value"},
		{"-a --output=a --output b t", "'b' is a second value"},
		{"-a --output=a t /etc/passwd b", "argument b is a second output file; --output names one already"},
		{"-a --pid=' 5' t", "' 5' is not a number"},
	};

	for (size_t i = (size_t)unit_first(unit_step(3)); i < sizeof(wrong) / sizeof(wrong[0]);
	     i += (size_t)unit_step(3)) {
		char *text;

		CU_ASSERT_EQUAL(visualizer_run(wrong[i].arguments, &text), 2);
		contains(text, wrong[i].says);
		CU_ASSERT_PTR_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
}

/* Users forget the value of an option, and then the trace is the value. */
static void a_trace_as_the_value_of_an_option_is_named(void)
{
	static const char *const options[] = {"-p", "-a --comm", "--tid", "--html", "--slowest", "-a --output"};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		char *text;

		CU_ASSERT_EQUAL(run_on_trace(options[i], &text), 2);
		contains(text, "no trace given: --");
		contains(text, " took it as its value; give the value first\n");
		free(text);
	}
}

static void options_without_effect_are_reported(void)
{
	static const struct {
		const char *options, *wanted;
	} cases[] = {
		{"-a -c0", "warning: --cpu has no effect here: it chooses a CPU for lists (-d)\n"},
		{"-tsched", "warning: --trace has no effect here: "},
		{"-a --time=wall", "warning: --time has no effect here: it chooses what lists (-d) show\n"},
		{"-a --from=0.00001", NULL},
		{"--json --section=cpus", "warning: --section has no effect here: it chooses parts of -a\n"},
		{"-s --pid=10", "warning: --pid has no effect here: "},
		{"-d --comm=one", NULL},
		{"-s --comm=one", "warning: --comm has no effect here: "},
		{"-d -s", "warning: -d has no effect here: -s leaves the list out\n"},
		{"-a --critical-path=one",
		 "warning: -a has no effect here: --critical-path and --diff are reports of their own\n"},
		{"-a --critical-path=one --comm=one", "warning: --comm has no effect here: "},
		{"-a -d -c0 --pid=10 --from=0.00001", NULL},
		{"--critical-path=one --from=0.00001", NULL},
		{"--timeline --from=0.00001 --to=0.00002 --pid=10 --comm=one", NULL},
		{"--timeline --top=1", "warning: --top has no effect here: "},
		{"--json --comm=one", NULL},
		{"-d --sort=pid", "warning: --sort has no effect here: "},
		{"-d --top=2", "warning: --top has no effect here: "},
		{"-d --limit=2", "warning: --limit (--top) has no effect here: "},
		{"-d --limit 2", "warning: --limit (--top) has no effect here: "},
		{"-a --json --top=1 --sort=name", NULL},
		{"-d -tsched -tSYS_ENTRY -osyscall -oSCHED -fc -ft", NULL},
		{"-a -d", NULL},
	};
	char *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(run_on_trace(cases[i].options, &text), 0);
		if (cases[i].wanted)
			contains(text, cases[i].wanted);
		else
			CU_ASSERT_PTR_NULL(strstr(text, "has no effect"));
		free(text);
	}
}

/* A report without any process would look valid to a script. With two traces, one of them has to
 * have the process. */
static void a_selection_that_matches_no_process_fails(void)
{
	static const struct {
		const char *options;
		int status;
	} cases[] = {
		{"--json --comm=absent", 1},
		{"--json --pid=4711", 1},
		{"--json --cgroup=/none", 1},
		{"-a --comm=absent", 1},
		{"-a -d --pid=4711", 1},
		{"--json --comm=one", 0},
		{"--json", 0},
		{"-a --pid=10", 0},
	};
	char arguments[256], *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		CU_ASSERT_EQUAL(run_on_trace(cases[i].options, &text), cases[i].status);
		CU_ASSERT_EQUAL(strncmp(text, "tracevisualizer: no process of this trace is ", 45) == 0,
				cases[i].status);
		CU_ASSERT(!cases[i].status || strchr(text, '\n') == text + strlen(text) - 1);
		free(text);
	}
	for (int status = 0; status < 2; status++) {
		/* 30 is in the second trace */
		snprintf(arguments, sizeof(arguments), "--diff %s %s %s", status ? "--comm=absent" : "--pid=30",
			 trace_path, story_path);
		CU_ASSERT_EQUAL(visualizer_run(arguments, &text), status);
		CU_ASSERT_EQUAL(strcmp(text, "tracevisualizer: no process of either trace is called absent; without "
					     "--pid, --tid, --comm and --cgroup all are listed\n") == 0,
				status);
		free(text);
	}
}

/* Files that are opened would get the descriptors of closed standard streams. */
static void closed_standard_streams_are_not_reused_for_files(void)
{
	char arguments[512], path[64], *text;

	snprintf(arguments, sizeof(arguments),
		 "--version >/dev/null; cat %s | " TRACE_BIN "/tracevisualizer -a - 2>&1 >&-; exit $?; :",
		 trace_path); /* the shell does nothing after exit */
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	contains(text, "standard output could not be written completely: Bad file descriptor");
	free(text);
	snprintf(path, sizeof(path), "%s.out", trace_path);
	snprintf(arguments, sizeof(arguments), "--json --verify --output=%s %s <&- 2>&-; exit $?; :", path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	free(text);
	snprintf(arguments, sizeof(arguments), "grep -q verified %s", path);
	CU_ASSERT_NOT_EQUAL(system(arguments), 0);
	snprintf(arguments, sizeof(arguments), "grep -q trace-summary %s", path);
	CU_ASSERT_EQUAL(system(arguments), 0);
	unlink(path);
}

static bool has_text(const char *path, const char *text)
{
	char bytes[64] = "";
	FILE *file = fopen(path, "r");

	if (file && fread(bytes, 1, sizeof(bytes) - 1, file) == 0)
		bytes[0] = '\0';
	if (file)
		fclose(file);
	return file && strcmp(bytes, text) == 0;
}

/* A command without a report keeps the old file, and leaves no empty file behind. */
static void a_command_that_fails_leaves_the_old_file(void)
{
	static const char *const options[] = {
		"--critical-path=absent", "--critical-path --from=900", "-d -c99",	   "-d -tnothing",
		"-d --from=900",	  "--timeline --comm=absent",	"-a --comm=absent"};
	char path[64], arguments[512], *text;

	snprintf(path, sizeof(path), "%s.out", trace_path);
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		for (int there = 0; there < 2; there++) {
			snprintf(arguments, sizeof(arguments), "echo old > %s", path);
			CU_ASSERT(!there || system(arguments) == 0);
			snprintf(arguments, sizeof(arguments), "%s --output=%s %s", options[i], path, trace_path);
			CU_ASSERT_NOT_EQUAL(visualizer_run(arguments, &text), 0);
			CU_ASSERT(there ? has_text(path, "old\n") : access(path, F_OK) < 0);
			unlink(path);
			free(text);
		}
	snprintf(arguments, sizeof(arguments), "yes | head -100000 > %s", path); /* more than the new report */
	CU_ASSERT_EQUAL(system(arguments), 0);
	snprintf(arguments, sizeof(arguments), "--critical-path=one --json --output=%s %s", path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	free(text);
	snprintf(arguments, sizeof(arguments), "grep -q '^y$' %s", path);
	CU_ASSERT_NOT_EQUAL(system(arguments), 0);
	unlink(path);
}

/* For a file as well as for a pipe; its contents are copied to be mapped. */
static void a_size_limit_is_reported_like_a_full_disk(void)
{
	char arguments[512], *text;

	snprintf(arguments, sizeof(arguments),
		 "--version >/dev/null; ulimit -f 1; " TRACE_BIN
		 "/tracevisualizer -d --output=%s.out %s 2>&1; status=$?; rm %s.out; exit $status; :",
		 trace_path, story_path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	contains(text, ".out could not be written completely: File too large");
	free(text);
	snprintf(arguments, sizeof(arguments),
		 "--version >/dev/null; ulimit -f 1; cat %s | TMPDIR=/tmp " TRACE_BIN
		 "/tracevisualizer -a - 2>&1; exit $?; :",
		 story_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	contains(text, "standard input: cannot copy the trace to a temporary file: File too large; set TMPDIR to a "
		       "folder with room");
	free(text);
}

static void a_closed_input_is_not_reported_as_a_full_disk(void)
{
	char *text;

	CU_ASSERT_EQUAL(visualizer_run("-a - 2>&1 <&-; exit $?; :", &text), 1);
	contains(text, "standard input: cannot read the trace: Bad file descriptor\n");
	free(text);
}

/* -h fits a screen of 80 x 24; --help is as wide, and begins with the same. */
static void help_fits_a_screen(void)
{
	static const char *const spellings[] = {"-h", "--help", "help"};

	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		char *text;
		int lines = 0;

		CU_ASSERT_EQUAL(visualizer_run(spellings[i], &text), 0);
		for (const char *at = text; (at = strchr(at, '\n')); at++)
			lines++;
		CU_ASSERT(lines <= (i ? 80 : 24));
		for (const char *at = text, *end; (end = strchr(at, '\n')); at = end + 1)
			CU_ASSERT(end - at <= 80);
		CU_ASSERT_EQUAL(strstr(text, "--benchmark") != NULL, i > 0);
		free(text);
	}
}

/* Habits of other programs' users. */
static void habits_are_understood(void)
{
	static const struct {
		const char *words, *same;
	} habits[] = {
		{"-a -p 10", "-a --pid=10"},
		{"-a -P 10", "-a -p10"},
		{"report", "-a"},
		{"script -c 0", "-d -c0"},
		{"--limit 1 -a", "-a --top=1"},
		{"--anal", "--analyze"},
		{"--critical=one", "--critical-path=one"},
	};

	for (size_t i = (size_t)unit_first(unit_step(3)); i < sizeof(habits) / sizeof(habits[0]);
	     i += (size_t)unit_step(3)) {
		char *text, *same;

		CU_ASSERT_EQUAL(run_on_trace(habits[i].words, &text), 0);
		CU_ASSERT_EQUAL(run_on_trace(habits[i].same, &same), 0);
		CU_ASSERT_STRING_EQUAL(text, same);
		free(text);
		free(same);
	}
}

static void old_positionals_and_a_pipe_work(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "-a %s /etc/passwd %s.out", trace_path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	snprintf(arguments, sizeof(arguments), "%s.out", trace_path);
	CU_ASSERT_EQUAL(access(arguments, R_OK), 0);
	unlink(arguments);
	snprintf(arguments, sizeof(arguments), "--verify - < %s", trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "add up to the nanosecond");
	free(text);
}

static void failures_name_the_cause_and_status_is_1(void)
{
	char *text;

	CU_ASSERT_EQUAL(visualizer_run("-a /nonexistent/t.trace", &text), 1);
	contains(text, "/nonexistent/t.trace");
	free(text);
	CU_ASSERT_EQUAL(visualizer_run("-a /etc/passwd", &text), 1);
	contains(text, "/etc/passwd");
	free(text);
	CU_ASSERT_EQUAL(visualizer_run("-a /dev/zero", &text), 1); /* and not only when the disk is full */
	contains(text, "/dev/zero: is not a trace of this toolkit");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --output /nonexistent/out", &text), 1);
	contains(text, "/nonexistent/out cannot be written: No such file or directory");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-a --output /dev/full", &text), 1);
	contains(text, "/dev/full could not be written completely: No space left on device");
	free(text);
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(visualizer_run(i ? "--version 2>&1 >/dev/full; exit $?; :"
						 : "--help 2>&1 >/dev/full; exit $?; :",
					       &text),
				1);
		contains(text, "standard output could not be written completely: No space left on device");
		free(text);
	}
	CU_ASSERT_EQUAL(run_on_trace("-d -tNOSUCH", &text), 2);
	contains(text, "'NOSUCH' is not an event");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("-d -tsched_swich", &text), 2);
	contains(text, "'sched_swich' is not an event, class or category of this trace; did you mean sched_switch?\n");
	free(text);
}

/* A name of an event, a process or a call, beside the trace */
static void a_name_beside_the_trace_is_no_file(void)
{
	char arguments[256], *text;

	snprintf(arguments, sizeof(arguments), "sched_switch %s", trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 2);
	contains(text, "'sched_switch' is not a file; to list its events: -d -t sched_switch /tmp/");
	contains(text, "; a process: -p sched_switch; a call or scope: --slowest=sched_switch\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "%s fsync", trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 2);
	contains(text, "; a call or scope: --slowest=fsync; to write the report there: --output fsync\n");
	free(text);
}

/* "tracevisualizer -a *.trace" names two or three traces, and the third word would be the output
 * file. */
static void a_trace_is_never_written_over(void)
{
	char arguments[256], copy[64], *text;
	struct stat before, after;

	snprintf(copy, sizeof(copy), "%s.copy", trace_path);
	snprintf(arguments, sizeof(arguments), "cp %s %s", trace_path, copy);
	CU_ASSERT_EQUAL(system(arguments), 0);
	CU_ASSERT_EQUAL(stat(trace_path, &before), 0);
	snprintf(arguments, sizeof(arguments), "-d %s --output %s", trace_path, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	contains(text, "is a trace and is not replaced; remove it, or name another file\n");
	free(text);
	snprintf(arguments, sizeof(arguments), "-a %s %s", trace_path, copy);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 2);
	contains(text, "is another trace; one at a time, or --diff ");
	free(text);
	snprintf(arguments, sizeof(arguments), "-a %s /etc/passwd %s", copy, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	free(text);
	snprintf(arguments, sizeof(arguments), "--diff %s %s %s", copy, copy, trace_path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 1);
	free(text);
	CU_ASSERT_EQUAL(stat(trace_path, &after), 0);
	CU_ASSERT_EQUAL(after.st_size, before.st_size);
	unlink(copy);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(wrong_usage_is_one_line_and_status_2),
		CASE(a_trace_as_the_value_of_an_option_is_named),
		CASE(options_without_effect_are_reported),
		CASE(a_selection_that_matches_no_process_fails),
		CASE(closed_standard_streams_are_not_reused_for_files),
		CASE(failures_name_the_cause_and_status_is_1),
		CASE(a_name_beside_the_trace_is_no_file),
		CASE(a_trace_is_never_written_over),
		CASE(a_command_that_fails_leaves_the_old_file),
		CASE(a_size_limit_is_reported_like_a_full_disk),
		CASE(a_closed_input_is_not_reported_as_a_full_disk),
		CASE(help_fits_a_screen),
		CASE(habits_are_understood),
		CASE(old_positionals_and_a_pipe_work),
		{NULL, NULL},
	};

	return report_main("report_usage", cases, argc, argv);
}
