/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracevisualizer.c - tracevisualizer: open the trace, run the analysis, print the chosen reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "clock_ns.h"
#include "charset.h"
#include "complain.h"
#include "diff_cause.h"
#include "checked_memory.h"
#include "cut_file.h"
#include "event_list.h"
#include "losses.h"
#include "no_process.h"
#include "number_text.h"
#include "pager.h"
#include "pass_progress.h"
#include "process_choice.h"
#include "same_name.h"
#include "nearby_traces.h"
#include "option_help.h"
#include "report_answer.h"
#include "path_choice.h"
#include "report_critical_path.h"
#include "report_diff.h"
#include "report_disks.h"
#include "report_file.h"
#include "report_html.h"
#include "report_json.h"
#include "profile_clients.h"
#include "profile_within.h"
#include "report_profile.h"
#include "report_profile_diff.h"
#include "wait_places.h"
#include "report_slowest.h"
#include "report_strace.h"
#include "report_summary.h"
#include "report_text.h"
#include "report_timeline.h"
#include "value_text.h"
#include "version.h"
#include "view_server.h"
#include "visualizer_options.h"

#define OUTPUT_BUFFER (1u << 16)

/* Messages may quote a file name with arbitrary bytes: four characters for each. */
#define LINE_BYTES (4 * sizeof(((struct trace_error *)0)->message))

static void warn(const char *message)
{
	char line[LINE_BYTES];

	fprintf(stderr, "tracevisualizer: warning: %s\n", text_name(message, line, sizeof(line)));
}

static double now(void)
{
	return (double)clock_monotonic_ns() * 1e-9;
}

/* -b: the time since the last call, and the event rate, if there are events. */
static void phase(const struct report *report, const char *name, double *since, uint64_t events)
{
	double at = now(), seconds = at - *since;

	*since = at;
	if (!report->options->reports.benchmark)
		return;
	fprintf(stderr, "%-10s %9.3f s", name, seconds);
	if (events && seconds > 0)
		fprintf(stderr, "  %.1f M events/s", (double)events / seconds / 1e6);
	fputs("\n", stderr);
}

static void warn_gaps(const struct trace *trace)
{
	struct losses losses = losses_of(trace);
	struct losses_text text;

	if (losses.overwritten)
		fprintf(stderr, "tracevisualizer: %s older event%s overwritten before the flight recorder was saved\n",
			number_count(losses.overwritten).s, losses.overwritten == 1 ? " was" : "s were");
	if (losses.gaps && !losses.lost)
		fprintf(stderr,
			"tracevisualizer: warning: events may have been lost in %zu gap%s (count unknown); the "
			"affected times are shown as unknown\n",
			losses.gaps, losses.gaps == 1 ? "" : "s");
	else if (losses.gaps)
		fprintf(stderr,
			"tracevisualizer: warning: %s %s lost in %zu gap%s; the affected times are shown as unknown\n",
			losses_text(trace, NULL, &text), losses.lost == 1 ? "was" : "were", losses.gaps,
			losses.gaps == 1 ? "" : "s");
}

static void warn_losses(const struct trace *trace)
{
	const struct trace_info *info = trace_get_info(trace);

	warn_gaps(trace);
	for (size_t i = 0; i < trace_nr_damages(trace) && i < MAX_WARNINGS; i++)
		warn(trace_get_damage(trace, i)->message);
	if (trace_nr_damages(trace) > MAX_WARNINGS)
		fprintf(stderr, "tracevisualizer: warning: %zu more damaged places like these\n",
			trace_nr_damages(trace) - MAX_WARNINGS);
	if (!info->clean_end)
		fputs("tracevisualizer: warning: the recording was not finished; the last events may be missing\n",
		      stderr);
}

/*
 * False if the size of a loss is unknown, or a program's accounting is impossible: then some events
 * may not be accounted for.
 */
static bool is_all_accounted_for(const struct trace *trace)
{
	return !losses_of(trace).is_minimum && !trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_DISTRUSTED);
}

static void show_verified(void *progress, uint64_t done, uint64_t of)
{
	work_progress_at(progress, done, of);
}

static int verify(const struct report *report)
{
	struct work_progress progress = work_progress_begin("tracevisualizer: verification");
	struct string line = {0};
	struct losses_text lost;
	struct trace_error error = {0};
	int verified = trace_verify_watched(report->trace, show_verified, &progress, &error);

	progress_line_erase();
	if (verified < 0 || trace_analysis_verify(report->analysis, &error) < 0 ||
	    (report->servers && trace_servers_verify(report->servers, &error) < 0) ||
	    (report->user && trace_user_events_verify(report->user, &error) < 0) ||
	    (report->profile && trace_profile_verify(report->profile, &error) < 0))
		return complain_of_error(&error);
	string_addf(&line, "%s, and the times of %zu process%s and %zu CPU%s add up to the nanosecond",
		    is_all_accounted_for(report->trace) ? "verified: every event is accounted for"
							: "verified in part: every recorded event is accounted for, "
							  "but the number of lost events is uncertain",
		    trace_nr_processes(report->analysis), trace_nr_processes(report->analysis) == 1 ? "" : "es",
		    trace_nr_cpus(report->analysis), trace_nr_cpus(report->analysis) == 1 ? "" : "s");
	if (*losses_claim_words(report->trace).s)
		string_addf(&line, "; lost: %s", losses_text(report->trace, report->analysis, &lost));
	/* after JSON, the output would not be JSON */
	if (report->options->reports.json || report->options->reports.timeline || report->options->reports.list_json)
		fprintf(stderr, "%s\n", string_text(&line));
	else
		output_line(&report->output, "", "%s", string_text(&line));
	string_free(&line);
	return 0;
}

static int print(struct report *report)
{
	const struct visualizer_options *options = report->options;
	int error = 0;

	report_check_memory(report);
	if (options->reports.timeline)
		timeline_end(report);
	else if (options->reports.strace)
		error = strace_end(report);
	else if (options->reports.critical_path)
		error = report_critical_path(report);
	else if (options->reports.slowest)
		error = report_slowest(report, report->slowest);
	else if (options->reports.profile)
		error = report_profile(report);
	else if (options->reports.json)
		report_json(report);
	else if (options->reports.analyze)
		report_text(report);
	else if (options->reports.summary)
		report_summary(report);
	else if (options->reports.answer)
		report_answer(report);
	if (!error && options->reports.list && !options->reports.summary)
		error = report_list(report);
	if (error == -ENOMEM)
		memory_end();
	report_check_memory(report);
	return error;
}

/* The accounts of the window for reports of figures; other reports cut by themselves. */
static void choose_window(struct report *report, struct trace_analysis_options *asked)
{
	const struct report_choice *reports = &report->options->reports;

	report->is_windowed = (report->window.has_from || report->window.has_to) && !reports->critical_path &&
			      !reports->timeline && !reports->slowest;
	if (!report->is_windowed)
		return;
	asked->from_ns = report->window.from_ns;
	asked->to_ns = report->window.has_to ? report->window.to_ns : 0;
}

/* True if a chosen report needs a pass of the analysis. */
static bool needs_analysis(const struct visualizer_options *options)
{
	const struct report_choice *reports = &options->reports;

	return (reports->list && (options->processes.comm || options->processes.thread)) || reports->analyze ||
	       reports->json || reports->summary || reports->answer || reports->verify || reports->critical_path ||
	       reports->timeline || reports->slowest || reports->profile || reports->strace;
}

/* True if the trace may have samples: a recorder then names the functions of the kernel there. */
static bool has_samples(const struct trace *trace)
{
	return trace_string(trace, TRACE_STRING_KERNEL_CODE, 0) != NULL;
}

#define MAX_SHARES   (8u << 20) /* of the verification: 256 MB */
#define MAX_REQUESTS (1u << 20) /* the same: 144 MB */

/* True if the figures of all processes are written as JSON. */
static bool has_figures(const struct report_choice *reports)
{
	return reports->json && !reports->critical_path && !reports->slowest && !reports->profile;
}

/* True if the first screen is all: it has neither times of calls nor waits for servers. */
static bool is_first_screen(const struct report_choice *reports)
{
	return reports->answer && !reports->analyze && !reports->json && !reports->verify;
}

/* The other analyses of the whole trace that the chosen reports show. */
static int analyze_more(struct report *report, struct trace_error *ret_error)
{
	const struct report_choice *reports = &report->options->reports;
	bool figures = has_figures(reports);
	bool with_user = reports->analyze || reports->answer || reports->verify || figures || reports->slowest,
	     with_servers = with_user && !reports->slowest && !report->is_windowed;

	if (with_servers)
		report->servers = trace_servers_new(report->trace, report->analysis, ret_error);
	if (report->servers && is_first_screen(reports) && trace_servers_without_waits(report->servers) < 0)
		memory_end();
	if (report->servers && reports->verify &&
	    (trace_servers_keep_shares(report->servers, MAX_SHARES) < 0 ||
	     trace_servers_keep_requests(report->servers, MAX_REQUESTS) < 0))
		memory_end();
	if (with_user && (report->servers || !with_servers))
		report->user = trace_user_events_new(report->trace, report->analysis, ret_error);
	if (with_user && !report->user)
		return complain_of_error(ret_error);
	if (reports->analyze || figures)
		report->disks = disk_figures_new(report->trace, report->analysis, &report->window);
	return 0;
}

/* True if a chosen report tells where in the code threads waited. */
static bool has_places(const struct report_choice *reports)
{
	return reports->analyze || reports->answer || has_figures(reports);
}

/* By what --by asks for beside threads and functions */
static void divide_profile(const struct report *report)
{
	const struct profile_by_choice *by = &report->options->profile.by;

	if (profile_by_has(by, BY_CPU))
		trace_profile_split_by_cpu(report->profile);
	if (report->clients &&
	    trace_profile_set_labels(report->profile, report->clients->labels, report->clients->nr) < 0)
		memory_end();
}

static int analyze(struct report *report, double *since)
{
	const struct visualizer_options *options = report->options;
	struct trace_analysis_options asked = {.size = sizeof(asked),
					       .verify = options->reports.verify,
					       .no_call_times = is_first_screen(&options->reports)};
	struct trace_error error = {0};
	int failed = 0;

	if (!needs_analysis(options))
		return 0;
	if (profile_is_within(options))
		failed = profile_within_new(report, &report->within);
	if (!failed && profile_by_has(&options->profile.by, BY_CLIENT))
		failed = profile_clients_new(report, &report->clients);
	if (failed)
		return failed;
	choose_window(report, &asked);
	report->analysis = trace_analysis_new(report->trace, &asked, &error);
	if (!report->analysis)
		return complain_of_error(&error);
	if (options->reports.critical_path)
		failed = critical_path_begin(report);
	if (failed)
		return failed;
	if (options->reports.answer || options->reports.slowest)
		answer_begin(report);
	failed = analyze_more(report, &error);
	if (failed)
		return failed;
	command_begin(&report->command, report->trace, report->analysis);
	if (options->reports.timeline)
		timeline_begin(report);
	if (options->reports.strace)
		failed = strace_begin(report);
	if (failed)
		return failed;
	if (options->reports.profile ||
	    ((options->reports.verify || has_places(&options->reports)) && has_samples(report->trace))) {
		report->profile = report->within ? trace_profile_new_within(report->analysis, report->within->spans,
									    report->within->nr, &error)
						 : trace_profile_new(report->analysis, &error);
		if (!report->profile)
			return complain_of_error(&error);
		divide_profile(report);
	}
	if (options->reports.slowest && slowest_begin(report->slowest, report) < 0)
		memory_end();
	if (!(options->reports.timeline || options->reports.strace) || /* they are written meanwhile */
	    pass_progress_of_file(report->file ? report_file_fd(report->file) : STDOUT_FILENO, "").what)
		pass_progress_watch(report->analysis, "tracevisualizer: analysis");
	if (trace_analysis_run(report->analysis, &error) < 0)
		return complain_of_error(&error);
	progress_line_erase();
	if (has_places(&options->reports))
		report->places = wait_places_new(report);
	phase(report, "analysis", since, trace_get_info(report->trace)->events);
	losses_warn_late(report->analysis);
	return 0;
}

/* The width is that of COLUMNS, else that of the terminal. A pipe has no width. */
static size_t output_width(int fd)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (width > 0 && width < 1 << 16)
		return (size_t)width;
	return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/*
 * Refuses to replace a trace, before the work begins: "tracevisualizer -a *.trace" must not
 * overwrite the third trace, or the one that it reads.
 */
static int check_output(const struct visualizer_options *options)
{
	const char *path = options->html ? options->html : options->output;

	if (!path || strcmp(path, "-") == 0 || !options_is_trace(path))
		return 0;
	return complain(1, "%s is a trace and is not replaced; remove it, or name another file", path);
}

static int open_output(struct report *report)
{
	static char buffer[OUTPUT_BUFFER]; /* in use until the program ends */
	const char *path = report->options->output;
	const char *term = getenv("TERM"), *no_colour = getenv("NO_COLOR");

	int fd = STDOUT_FILENO;

	report->output.out = stdout;
	if (path && strcmp(path, "-") != 0) {
		report->output.out = report_file_open(path, &report->file);
		if (!report->output.out)
			return complain(1, "%s cannot be written: %s", path, strerror(errno));
		fd = report_file_fd(report->file);
	}
	setvbuf(report->output.out, buffer, _IOFBF, sizeof(buffer));
	report->output.width = output_width(fd);
	charset_begin(report->output.width);
	report->output.colour = isatty(fd) && !(no_colour && *no_colour) && !(term && strcmp(term, "dumb") == 0);
	if (report->output.out == stdout && !report->options->no_pager && !report->options->reports.answer)
		pager_begin();
	return 0;
}

static int complain_of_output(const char *path, int cause)
{
	return complain(1, "%s could not be written completely: %s", path ? path : "standard output",
			strerror(cause ? cause : EIO));
}

static int flush_output(FILE *out, const char *path)
{
	bool failed = ferror(out);
	int cause = failed ? errno : 0;

	errno = 0;
	failed |= fflush(out) != 0; /* writes the rest again, and sets errno */
	return failed ? complain_of_output(path, errno ? errno : cause) : 0;
}

/*
 * @is_kept: the file is a result. Otherwise: a file without output keeps its old content; a file
 *   with a part of a result is emptied.
 */
static int close_output(struct report *report, bool is_kept)
{
	int result = 0;

	if (is_kept || report->output.out == stdout)
		result = flush_output(report->output.out, report->options->output);
	pager_end();
	errno = 0;
	if (report->output.out != stdout && report_file_close(report->output.out, report->file, is_kept) != 0 &&
	    !result)
		result = complain_of_output(report->options->output, errno);
	return result;
}

/* True for reports that may lack the chosen processes. A list of a number may be of a thread. */
static bool is_of_processes(const struct visualizer_options *options)
{
	return options->reports.timeline || options->reports.answer ||
	       (options->reports.list && (options->processes.comm || options->processes.thread)) ||
	       ((options->reports.analyze || options->reports.json) && !options->reports.critical_path &&
		!options->reports.slowest && !options->reports.profile);
}

/*
 * Freeing piece by piece takes a twentieth of the run time; at exit the kernel releases everything
 * at once. Builds with sanitizers free all, so that leaks are found.
 */
#ifndef LEAVES_MEMORY
#define LEAVES_MEMORY 0
#endif

static void release(struct report *report)
{
	timeline_free(report->timeline);
	trace_history_free(report->history);
	wait_places_free(report->places);
	trace_profile_free(report->profile);
	profile_within_free(report->within);
	profile_clients_free(report->clients);
	trace_servers_free(report->servers);
	trace_user_events_free(report->user);
	disk_figures_free(report->disks);
	slowest_end(report->slowest);
	command_end(&report->command);
	trace_analysis_free(report->analysis);
	trace_close((struct trace *)report->trace);
}

/* True if there is a report besides the line of --verify, which is not written if it fails. */
static bool has_report(const struct visualizer_options *options)
{
	return options->reports.analyze || options->reports.json || options->reports.list || options->reports.summary ||
	       options->reports.answer || options->reports.critical_path || options->reports.timeline ||
	       options->reports.slowest || options->reports.profile || options->reports.strace;
}

/* The view of a trace, or of two, or the page of --html. */
static int run_view(const struct trace *trace, const struct visualizer_options *options)
{
	struct trace *other = NULL;
	struct trace_error error = {0};
	int result;

	if (options->other_trace) {
		other = trace_open(options->other_trace, &error);
		if (!other)
			return complain_of_open(options->other_trace, &error);
		warn_losses(other);
	}
	result = options->html ? report_html(trace, other, options) : view_serve(trace, other, options);
	trace_close(other);
	return result;
}

/* A name that no task has chooses by the arguments. */
static void widen_choice(struct visualizer_options *options, const struct report *sides, int nr_sides)
{
	bool in_args = false;

	for (int side = 0; side < nr_sides; side++) {
		if (process_choice_is_known(&options->processes, sides[side].analysis))
			return;
		in_args |= process_choice_is_in_args(&options->processes, sides[side].analysis);
	}
	options->processes.in_args = in_args;
	for (int side = 0; side < nr_sides; side++)
		same_name_note(&sides[side]);
}

/*
 * A timeline is written during the pass. The names that choose what it shows are known only at the
 * end of another one.
 */
static int choose_timeline(struct visualizer_options *options, struct report *report)
{
	struct report before = {.options = options, .trace = report->trace};
	struct trace_error error = {0};
	int result = 0;

	if (!options->processes.comm && !options->processes.thread)
		return 0;
	before.analysis = trace_analysis_new(report->trace, NULL, &error);
	if (before.analysis)
		pass_progress_watch(before.analysis, "tracevisualizer: names");
	if (!before.analysis || trace_analysis_run(before.analysis, &error) < 0)
		result = complain_of_error(&error);
	progress_line_erase();
	if (!result) {
		widen_choice(options, &before, 1);
		timeline_choose(report, before.analysis);
	}
	trace_analysis_free(before.analysis);
	return result;
}

static int run(struct visualizer_options *options)
{
	static struct slowest slowest; /* large, and zeroed: in use until the program ends */
	struct report report = {.options = options, .output.exact = options->exact, .slowest = &slowest};
	struct trace_error error = {0};
	struct trace *trace;
	double since = now();
	bool is_empty, is_whole = false;
	int result;

	report.trace = trace = trace_open(options->trace, &error);
	if (!trace)
		return complain_of_open(options->trace, &error);
	phase(&report, "open", &since, 0);
	warn_losses(trace);
	result = time_window_of(trace, &options->window, &report.window);
	if (options->reports.view || options->html) {
		if (!result)
			result = run_view(trace, options);
		trace_close(trace);
		return result;
	}
	if (!result && options->reports.timeline)
		result = timeline_check(&report);
	if (!result && options->reports.timeline)
		result = choose_timeline(options, &report);
	if (!result && (options->reports.timeline || options->reports.strace))
		result = open_output(&report); /* the analysis writes it as it runs */
	if (!result)
		result = analyze(&report, &since);
	if (!result && report.analysis && !options->reports.timeline)
		widen_choice(options, &report, 1);
	if (!result && options->reports.slowest)
		result = slowest_choose(&slowest);
	is_empty = !result && is_of_processes(options) && report_finds_no_process(&report, 1);
	if (!result && !options->reports.timeline && !options->reports.strace)
		result = is_empty ? 1 : open_output(&report);
	if (!result) {
		result = print(&report);
		/* a timeline without processes is complete, but empty */
		is_whole = !result && !is_empty;
		if (!result && options->reports.verify)
			result = verify(&report);
		is_whole &= !result || has_report(options);
		phase(&report, "report", &since, options->reports.list ? trace_get_info(trace)->events : 0);
	}
	if (report.output.out && (close_output(&report, is_whole) || is_empty))
		result = 1;
	if (!LEAVES_MEMORY)
		release(&report);
	return result;
}

static int open_side(struct report *report, const char *path)
{
	struct trace_analysis_options asked = {.size = sizeof(asked)};
	struct trace_error error = {0};

	report->trace = trace_open(path, &error);
	if (!report->trace)
		return complain_of_open(path, &error);
	warn_losses(report->trace);
	if (time_window_of(report->trace, &report->options->window, &report->window))
		return 2;
	choose_window(report, &asked);
	report->analysis = trace_analysis_new(report->trace, &asked, &error);
	if (!report->analysis)
		return complain_of_error(&error);
	command_begin(&report->command, report->trace, report->analysis);
	if (!report->is_windowed) /* the cause is that of whole commands */
		diff_cause_begin(report);
	if (report->options->reports.profile) {
		report->profile = trace_profile_new(report->analysis, &error);
		if (!report->profile)
			memory_end();
	}
	pass_progress_watch(report->analysis, "tracevisualizer: analysis");
	if (trace_analysis_run(report->analysis, &error) < 0)
		return complain_of_error(&error);
	progress_line_erase();
	report_check_memory(report);
	losses_warn_late(report->analysis);
	return 0;
}

static int run_diff(struct visualizer_options *options)
{
	const struct report empty = {.options = options, .output.exact = options->exact};
	struct report sides[2] = {empty, empty};
	int result = open_side(&sides[0], options->trace);

	if (!result)
		result = open_side(&sides[1], options->other_trace);
	if (!result)
		widen_choice(options, sides, 2);
	if (!result)
		result = report_finds_no_process(sides, 2) ? 1 : open_output(&sides[0]);
	if (!result) {
		if (options->reports.profile)
			result = report_profile_diff(sides);
		else
			report_diff(sides);
		report_check_memory(&sides[0]);
		report_check_memory(&sides[1]);
		result = close_output(&sides[0], !result) ? 1 : result;
	}
	if (!result)
		result = diff_is_above(sides);
	for (int i = 0; i < 2; i++) {
		trace_history_free(sides[i].history);
		trace_profile_free(sides[i].profile);
		command_end(&sides[i].command);
		trace_analysis_free(sides[i].analysis);
		trace_close((struct trace *)sides[i].trace);
	}
	return result;
}

/*
 * Open stdin, stdout and stderr if they are closed. The next opened files would get their
 * descriptors: the report would go to the copy of the trace, and warnings into the report.
 * /dev/null is opened in the wrong direction, so that using it remains an error.
 */
static void occupy_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			/* the lowest free descriptor */
			open("/dev/null", (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_NOCTTY | O_CLOEXEC);
}

/* A server may have some hundred MiB for us: debuginfod-find says how far it is. */
static void show_downloads(const struct visualizer_options *options)
{
	if (options->symbols.debuginfod && isatty(STDERR_FILENO))
		setenv("DEBUGINFOD_PROGRESS", "1", 0);
}

/* Each personality has a help of its own. */
static const struct option_program *program_of_help(char **argv)
{
	const struct option_personality *personality = option_personality_of(&visualizer_program, argv);

	return personality ? personality->program : &visualizer_program;
}

int main(int argc, char **argv)
{
	struct visualizer_options options;
	int result;

	occupy_streams();
	/* writes above a file size limit fail like those to a full disk */
	signal(SIGXFSZ, SIG_IGN);
	cut_file_ends_program();
	result = visualizer_options_parse(&options, argc, argv);
	if (!result)
		show_downloads(&options);
	if (!result && (options.reports.short_help || options.reports.help))
		option_help(stdout, program_of_help(argv), options.reports.help);
	else if (!result && options.reports.version)
		printf("tracevisualizer %s\n", program_version());
	else if (!result && options.readprofile.is_chosen)
		result = readprofile(&options);
	else if (!result && options.reports.complete)
		result = completion_print(options.trace, options.reports.completion);
	else if (!result)
		result = check_output(&options) ? 1 : options.reports.diff ? run_diff(&options) : run(&options);
	if (!result &&
	    (options.reports.short_help || options.reports.help || options.reports.version || options.reports.complete))
		result = flush_output(stdout, NULL);
	visualizer_options_release(&options);
	return result;
}
