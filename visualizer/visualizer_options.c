/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* visualizer_options.c - the command line: its table, and the rules about what goes together. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/format.h>
#include <unistd.h>
#include "browser.h"
#include "complain.h"
#include "error_set.h"
#include "number_parse.h"
#include "option_elsewhere.h"
#include "option_parse.h"
#include "process_choice.h"
#include "visualizer_options.h"
#include "checked_memory.h"

#define MAX_PAGE_BYTES (4ull << 30)

/* @why: the rest of the sentence */
static int wrong(const char *option, const char *value, const char *why, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "option %s: '%s' %s; see tracevisualizer --help", option, value, why);
}

static int parse_number(const char *option, const char *text, int64_t max, int64_t *ret_number,
			struct trace_error *ret_error)
{
	char *end, why[64];
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	snprintf(why, sizeof(why), "is not a number from 0 to %lld", (long long)max);
	if (*text < '0' || *text > '9' || *end || errno || number > max)
		return wrong(option, text, why, ret_error);
	*ret_number = number;
	return 0;
}

static int append(const char *option, const char ***list, size_t *nr, const char *value, struct trace_error *ret_error)
{
	const char **bigger;

	if (!*value)
		return wrong(option, value, "is not the name of an event, a class or a category", ret_error);
	bigger = reallocarray(*list, *nr + 1, sizeof(*bigger));
	if (!bigger)
		memory_end();
	*list = bigger;
	(*list)[(*nr)++] = value;
	return 0;
}

#define FLAG(name, member)                                                                  \
	static int set_##name(void *into, const char *value, struct trace_error *ret_error) \
	{                                                                                   \
		struct visualizer_options *options = into;                                  \
                                                                                            \
		options->member = true;                                                     \
		return 0;                                                                   \
	}
FLAG(analyze, reports.analyze)
FLAG(list, reports.list)
FLAG(summary, reports.summary)
FLAG(json, reports.json)
FLAG(verify, reports.verify)
FLAG(benchmark, reports.benchmark)
FLAG(short_help, reports.short_help)
FLAG(all, rows.all)
FLAG(diff, reports.diff)
FLAG(strace, reports.strace)
FLAG(timeline, reports.timeline)
FLAG(view, reports.view)
FLAG(no_browser, no_browser)
FLAG(no_index, no_index)
FLAG(anonymous, anonymous)
FLAG(exact, exact)
FLAG(no_pager, no_pager)
FLAG(paths, events.paths)
FLAG(debuginfod, symbols.debuginfod)

static int set_critical_path(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	options->reports.critical_path = true;
	options->reports.critical_task = value;
	return value && !*value ? wrong("--critical-path", value, "is not a process, thread or name", ret_error) : 0;
}

/*
 * A second value is an error: the report would use the last one, and users would believe it used
 * both.
 */
static int second(const char *option, const char *value, struct trace_error *ret_error)
{
	return wrong(option, value, "is a second value; only one is allowed", ret_error);
}

/* Takes a text that may be given once; @why: the error if it is empty. */
static int take_text(const char *option, const char *value, const char *why, const char **member,
		     struct trace_error *ret_error)
{
	if (*member)
		return second(option, value, ret_error);
	*member = value;
	return *value ? 0 : wrong(option, value, why, ret_error);
}

static int set_cpu(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return options->events.cpu >= 0 ? second("--cpu", value, ret_error)
					: parse_number("--cpu", value, UINT16_MAX, &options->events.cpu, ret_error);
}

/* A number, or a name for @ret_name. */
static int parse_task(const char *option, const char *value, int64_t *ret_id, const char **ret_name,
		      struct trace_error *ret_error)
{
	if (value[strspn(value, "0123456789")] && *value != '-' && *value != ' ')
		return take_text(option, value, "is not a name", ret_name, ret_error);
	if (*ret_id >= 0)
		return second(option, value, ret_error);
	if (!value[strcspn(value, "0123456789")])
		return wrong(option, value, "is neither a number nor a name", ret_error);
	return parse_number(option, value, UINT32_MAX, ret_id, ret_error);
}

static int set_pid(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return parse_task("--pid", value, &options->processes.pid, &options->processes.comm, ret_error);
}

static int set_port(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int64_t port;
	int error = parse_number("--port", value, UINT16_MAX, &port, ret_error);

	if (!error)
		options->port = (uint16_t)port;
	return error;
}

static int set_html(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return take_text("--html", value, "is not a file name", &options->html, ret_error);
}

static int set_max_size(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	if (size_parse(value, MAX_PAGE_BYTES, &options->max_size) || !options->max_size)
		return wrong("--max-size", value, "is not a size such as 20M, at most 4G", ret_error);
	options->has_max_size = true;
	return 0;
}

static int set_tid(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return parse_task("--tid", value, &options->processes.tid, &options->processes.thread, ret_error);
}

static int set_comm(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return take_text("--comm", value, "is not a name", &options->processes.comm, ret_error);
}

static int set_slowest(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return take_text("--slowest", value, "is not the name of a scope, a system call or a command",
			 &options->reports.slowest, ret_error);
}

static int set_cgroup(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return take_text("--cgroup", value, "is not the path of a control group", &options->processes.cgroup,
			 ret_error);
}

static int set_traced(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return append("--trace", &options->events.traced, &options->events.nr_traced, value, ret_error);
}

static int set_omitted(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return append("--omit", &options->events.omitted, &options->events.nr_omitted, value, ret_error);
}

static int set_symfs(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	struct stat status;

	options->symbols.folder = value;
	return stat(value, &status) == 0 && S_ISDIR(status.st_mode)
		       ? 0
		       : wrong("--symfs", value, "is not a folder", ret_error);
}

int options_set_from(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return time_choice_from(&options->window, value, ret_error);
}

int options_set_to(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return time_choice_to(&options->window, value, ret_error);
}

int options_set_help(void *into, const char *value, struct trace_error *ret_error)
{
	((struct visualizer_options *)into)->reports.help = true;
	return 0;
}

int options_set_version(void *into, const char *value, struct trace_error *ret_error)
{
	((struct visualizer_options *)into)->reports.version = true;
	return 0;
}

static int set_around(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return time_choice_around(&options->window, value, ret_error);
}

/* in the order of enum list_time */
#define LIST_TIMES "classic wall relative"

static int set_time(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int kind = option_word_index(LIST_TIMES, value);

	if (kind < 0)
		return option_wrong_word("--time", LIST_TIMES, value, ret_error);
	options->events.time = (enum list_time)kind;
	options->events.has_time = true;
	return 0;
}

static int set_forgotten(void *into, const char *value, struct trace_error *ret_error)
{
	static const struct {
		char letter;
		enum list_column column;
	} columns[] = {
		{'c', COLUMN_CPU}, {'t', COLUMN_TIME}, {'p', COLUMN_PID}, {'l', COLUMN_LENGTH}, {'s', COLUMN_TEXT}};
	struct visualizer_options *options = into;
	bool known = *value;

	for (const char *at = value; *at && known; at++) {
		known = false;
		for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
			if (columns[i].letter == *at) {
				options->events.hidden_columns |= columns[i].column;
				known = true;
			}
	}
	return known ? 0
		     : wrong("--forget", value,
			     "is not a column: c (CPU), t (time), p (PID), l (length) or s (description)", ret_error);
}

static int set_top(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int64_t top = 0;
	int err = parse_number("--top", value, 1 << 30, &top, ret_error);

	if (!err && !top) /* 0 means the default, which has no spelling here */
		err = wrong("--top", value, "is not a number of rows: 1 or more, or leave it out", ret_error);
	if (!err)
		options->rows.top = (long)top;
	return err;
}

/* in the order of enum sort_key */
#define SORT_KEYS "elapsed cpu user system wait wait-cpu pid name"

static int set_sort(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int key = option_word_index(SORT_KEYS, value);

	if (key < 0)
		return option_wrong_word("--sort", SORT_KEYS, value, ret_error);
	options->rows.sort = (enum sort_key)key;
	options->rows.sorted = true;
	return 0;
}

/* "10%" of the run of A, or a time: "50ms". */
static int set_fail_above(void *into, const char *value, struct trace_error *ret_error)
{
	struct fail_choice *fail = &((struct visualizer_options *)into)->fail;
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"%", 0}, {"s", 1e9}, {"ms", 1e6}, {"us", 1e3}, {"ns", 1}};
	char *end;
	double number = strtod(value, &end);

	if (fail->text)
		return second("--fail-above", value, ret_error);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (end != value && strcmp(end, units[i].unit) == 0 && number >= 0 && number < 1e9) {
			*fail = (struct fail_choice){.text = value};
			fail->share = i ? 0 : number / 100;
			fail->ns = (uint64_t)(number * units[i].ns);
			return 0;
		}
	return wrong("--fail-above", value, "is neither a share, 10%, nor a time, 50ms", ret_error);
}

static int set_sections(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	char name[16];

	for (const char *at = value; *at || at == value; at += strspn(at, ",")) {
		size_t bytes = strcspn(at, ",");
		int section;

		snprintf(name, sizeof(name), "%.*s", (int)bytes, at);
		section = option_word_index(SECTIONS, name);
		if (section < 0)
			return option_wrong_word("--section", SECTIONS, name, ret_error);
		options->sections |= 1u << section;
		at += bytes;
	}
	options->reports.analyze = true;
	return 0;
}

static int set_classic(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	options->sections |= 1u << SECTION_DETAILS;
	options->reports.analyze = true;
	return 0;
}

static int set_output(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	return take_text("--output", value, "is not a file name", &options->output, ret_error);
}

#define LINES_OF "lines=" /* --profile=lines=SOURCE */

/* One form of the profile; @value: its word */
static int set_form(void *into, const char *option, enum profile_form form, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	options->reports.profile = true;
	if (options->profile.has_form && options->profile.form != form)
		return error_set(ret_error, -EINVAL,
				 "option %s: another form of the profile is chosen already; see tracevisualizer --help",
				 option);
	options->profile.has_form = true;
	options->profile.form = form;
	return 0;
}

static int set_lines(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int error = take_text("--lines", value, "is not a source file", &options->profile.source, ret_error);

	return error ? error : set_form(into, "--lines", PROFILE_LINES, ret_error);
}

static int set_profile(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int form;

	if (value && !strncmp(value, LINES_OF, strlen(LINES_OF)))
		return set_lines(into, value + strlen(LINES_OF), ret_error);
	form = option_word_index(PROFILE_FORMS, value ? value : "flat");
	if (value && (!strcmp(value, "readprofile") || !strcmp(value, "opreport"))) /* in an abbreviated option */
		return error_set(ret_error, -EINVAL, "write --profile=%s: the other options then are its own", value);
	if (form < 0)
		return option_wrong_word("--profile", PROFILE_FORMS, value, ret_error);
	options->reports.profile = options->profile.is_flat = true;
	return value ? set_form(into, "--profile", (enum profile_form)form, ret_error) : 0;
}

static int set_asm(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int error = take_text("--asm", value, "is not a function", &options->profile.code, ret_error);

	return error ? error : set_form(into, "--asm", PROFILE_ASM, ret_error);
}

static int set_callers(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int error = take_text("--callers", value, "is not a function", &options->profile.function, ret_error);

	return error ? error : set_form(into, "--callers", PROFILE_CALLERS, ret_error);
}

static int set_callees(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int error = take_text("--callees", value, "is not a function", &options->profile.function, ret_error);

	return error ? error : set_form(into, "--callees", PROFILE_CALLEES, ret_error);
}

static int add_key(struct profile_by_choice *by, const char *word, struct trace_error *ret_error)
{
	int key = option_word_index(PROFILE_KEYS, word);

	if (key < 0)
		return option_wrong_word("--by", PROFILE_KEYS, word, ret_error);
	if (profile_by_has(by, (enum profile_key)key))
		return error_set(ret_error, -EINVAL, "option --by: '%s' is given twice; see tracevisualizer --help",
				 word);
	by->keys[by->nr++] = (enum profile_key)key;
	return 0;
}

static int set_by(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	char word[16];

	for (const char *at = value; *at || at == value; at += strspn(at, ",")) {
		size_t bytes = strcspn(at, ",");
		int error;

		snprintf(word, sizeof(word), "%.*s", (int)bytes, at);
		error = add_key(&options->profile.by, word, ret_error);
		if (error)
			return error;
		at += bytes;
	}
	return set_form(into, "--by", PROFILE_BY, ret_error);
}

static int set_folded(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int part = option_word_index(PROFILE_PARTS, value ? value : "all");

	if (part < 0)
		return option_wrong_word("--folded", PROFILE_PARTS, value, ret_error);
	options->profile.part = (enum profile_part)part;
	return set_form(into, "--folded", PROFILE_FOLDED, ret_error);
}

static int set_flame(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	options->reports.profile = true;
	return take_text("--flame", value, "is not a file name", &options->profile.flame, ret_error);
}

static int set_scope(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	options->reports.profile = true;
	return take_text("--scope", value, "is not the name of a scope or request", &options->profile.scope, ret_error);
}

static int set_client(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	options->reports.profile = true;
	return take_text("--client", value, "is not a process or an address", &options->profile.client, ret_error);
}

static int set_pprof(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;

	options->reports.profile = true;
	return take_text("--pprof", value, "is not a file name", &options->profile.pprof, ret_error);
}

static int set_complete(void *into, const char *value, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int kind = option_word_index(COMPLETION_KINDS, value);

	if (kind < 0)
		return option_wrong_word("--complete", COMPLETION_KINDS, value, ret_error);
	options->reports.complete = true;
	options->reports.completion = (enum completion_kind)kind;
	return 0;
}

/* clang-format off */
static const struct option_spec option_table[] = {
	{.heading = "Most used"},
	{.letter = 'a', .name = "analyze", .apply = set_analyze, .help = "where the time of every process went"},
	{.name = "critical-path", .value_name = "TASK", .value = OPTION_EQUALS_VALUE, .completes = COMPLETE_TRACE_TASK,
	 .apply = set_critical_path,
	 .help = "what a thread really waited for: PID, TID or name; the command without TASK"},
	{.letter = 'd', .name = "dump", .apply = set_list, .help = "one line for each event"},
	{.name = "diff", .apply = set_diff, .help = "compare two traces: tracevisualizer --diff A B"},
	{.letter = 'p', .name = "pid", .value_name = "PID", .value = OPTION_VALUE, .completes = COMPLETE_TRACE_PID,
	 .apply = set_pid, .help = "only this process, by number or name"},
	{.name = "comm", .value_name = "NAME", .value = OPTION_VALUE, .completes = COMPLETE_TRACE_COMM,
	 .apply = set_comm, .help = "only processes or threads of this name"},
	{.name = "all", .apply = set_all, .help = "all rows of each table"},
	{.name = "json", .apply = set_json, .help = "reports and lists (-d) as JSON"},
	{.letter = 'h', .apply = set_short_help, .help = "the most used options"},
	{.name = "help", .apply = options_set_help, .help = "all options"},

	{.heading = "Other reports"},
	{.name = "slowest", .value_name = "NAME", .value = OPTION_VALUE, .completes = COMPLETE_TRACE_INSTANCE,
	 .apply = set_slowest, .help = "the longest instances of a scope, a system call or a command"},
	{.name = "profile", .value_name = "FORM", .value = OPTION_EQUALS_VALUE, .completes = COMPLETE_WORDS,
	 .words = PROFILE_FORMS " readprofile opreport", .apply = set_profile,
	 .help = "the time by function, of a recording with --sample; also readprofile, opreport"},
	{.name = "lines", .value_name = "SOURCE", .value = OPTION_VALUE, .completes = COMPLETE_FILE, .apply = set_lines,
	 .help = "a source file with the time of each line"},
	{.name = "asm", .value_name = "FUNCTION", .value = OPTION_VALUE, .apply = set_asm,
	 .help = "the instructions of a function with the time of each"},
	{.name = "callers", .value_name = "FUNCTION", .value = OPTION_VALUE, .apply = set_callers,
	 .help = "the time in and under a function, by what called it"},
	{.name = "callees", .value_name = "FUNCTION", .value = OPTION_VALUE, .apply = set_callees,
	 .help = "the time in and under a function, by what it called"},
	{.name = "by", .value_name = "KEY,...", .value = OPTION_VALUE, .completes = COMPLETE_WORDS,
	 .words = PROFILE_KEYS, .apply = set_by,
	 .help = "the profile by program, file, CPU, client ..."},
	{.name = "folded", .value_name = "PART", .value = OPTION_EQUALS_VALUE, .completes = COMPLETE_WORDS,
	 .words = PROFILE_PARTS, .apply = set_folded,
	 .help = "a line for each stack: on, off, all, or wakers"},
	{.name = "flame", .value_name = "FILE", .value = OPTION_VALUE, .completes = COMPLETE_FILE, .apply = set_flame,
	 .help = "the profile as a flame graph, a page of its own"},
	{.name = "pprof", .value_name = "FILE", .value = OPTION_VALUE, .completes = COMPLETE_FILE, .apply = set_pprof,
	 .help = "the profile as a file for pprof"},
	{.name = "scope", .value_name = "NAME", .value = OPTION_VALUE, .apply = set_scope,
	 .help = "the profile of a scope or request of programs"},
	{.name = "client", .value_name = "NAME", .value = OPTION_VALUE, .apply = set_client,
	 .help = "the profile of what servers did for a client"},
	{.name = "strace", .apply = set_strace, .help = "the system calls as strace does: --strace --help"},
	{.letter = 's', .name = "summary", .apply = set_summary, .help = "times and numbers of events only"},
	{.name = "timeline", .apply = set_timeline, .help = "states over time, for ui.perfetto.dev"},
	{.name = "view", .apply = set_view, .help = "a page in the browser, of one trace or two"},
	{.name = "port", .value_name = "N", .value = OPTION_VALUE, .apply = set_port,
	 .help = "with --view: this port of 127.0.0.1"},
	{.name = "no-browser", .apply = set_no_browser, .help = "with --view: only print the address"},
	{.name = "no-index", .apply = set_no_index, .help = "with --view: neither read nor write TRACE.view"},
	{.name = "html", .value_name = "FILE", .value = OPTION_VALUE, .completes = COMPLETE_FILE, .apply = set_html,
	 .help = "the view as one file, which needs no network"},
	{.name = "anonymous", .apply = set_anonymous,
	 .help = "with --html: pseudonyms in place of names"},
	{.name = "max-size", .value_name = "SIZE", .value = OPTION_VALUE, .apply = set_max_size,
	 .help = "with --html: write no larger page than this; 20M"},
	{.name = "fail-above", .value_name = "LIMIT", .value = OPTION_VALUE, .apply = set_fail_above,
	 .help = "with --diff: exit with 1 if B ran longer by 10%, 50ms"},
	{.name = "verify", .apply = set_verify, .help = "check the trace and all its sums, to 1 ns"},

	{.heading = "Rows"},
	{.name = "tid", .value_name = "TID", .value = OPTION_VALUE, .apply = set_tid,
	 .help = "only this thread, or threads of a name"},
	{.name = "cgroup", .value_name = "PATH", .value = OPTION_VALUE, .completes = COMPLETE_TRACE_CGROUP,
	 .apply = set_cgroup, .help = "only processes of this control group"},
	{.name = "top", .value_name = "N", .value = OPTION_VALUE, .apply = set_top, .help = "N rows of each table"},
	{.name = "sort", .value_name = "KEY", .value = OPTION_VALUE, .completes = COMPLETE_WORDS, .words = SORT_KEYS,
	 .apply = set_sort, .help = SORT_KEYS},
	{.name = "section", .value_name = "NAME,...", .value = OPTION_VALUE, .completes = COMPLETE_WORDS,
	 .words = SECTIONS, .apply = set_sections, .help = "only these sections of -a: files,locks"},
	{.name = "classic", .apply = set_classic, .help = "only the pages of -a for each process"},
	{.name = "ns", .apply = set_exact, .help = "exact times, in ns"},
	{.name = "output", .value_name = "FILE", .value = OPTION_VALUE, .completes = COMPLETE_FILE,
	 .apply = set_output, .help = "write the report to FILE"},
	{.name = "no-pager", .apply = set_no_pager, .help = "no $TRACE_PAGER, $PAGER or less on a terminal"},

	{.heading = "Time and events, for lists (-d)"},
	{.name = "from", .value_name = "TIME", .value = OPTION_VALUE, .apply = options_set_from,
	 .help = "from 1.5s after the start, -5s before the end, or 23:06:41.5 by the wall clock"},
	{.name = "to", .value_name = "TIME", .value = OPTION_VALUE, .apply = options_set_to,
	 .help = "until then; as --from"},
	{.name = "around", .value_name = "TIME+-SPAN", .value = OPTION_VALUE, .apply = set_around,
	 .help = "both: 23:06:41+-100ms"},
	{.name = "time", .value_name = "KIND", .value = OPTION_VALUE, .completes = COMPLETE_WORDS,
	 .words = LIST_TIMES, .apply = set_time, .help = LIST_TIMES ": how -d shows times"},
	{.letter = 'c', .name = "cpu", .value_name = "N", .value = OPTION_VALUE, .apply = set_cpu,
	 .help = "only this CPU"},
	{.letter = 't', .name = "trace", .value_name = "NAME", .value = OPTION_VALUE,
	 .completes = COMPLETE_TRACE_EVENT, .apply = set_traced, .help = "only these events, classes, categories"},
	{.letter = 'o', .name = "omit", .value_name = "NAME", .value = OPTION_VALUE,
	 .completes = COMPLETE_TRACE_EVENT, .apply = set_omitted, .help = "all but these"},
	{.letter = 'y', .name = "paths", .apply = set_paths, .help = "paths of descriptors"},
	{.letter = 'f', .name = "forget", .value_name = "c|t|p|l|s", .value = OPTION_VALUE,
	 .completes = COMPLETE_WORDS, .words = "c t p l s", .apply = set_forgotten,
	 .help = "without CPU, time, PID, length, text"},
	{.name = "symfs", .value_name = "DIR", .value = OPTION_VALUE, .completes = COMPLETE_FOLDER,
	 .apply = set_symfs, .help = "names of functions from the files below DIR"},
	{.name = "debuginfod", .apply = set_debuginfod, .help = "names of functions also from debuginfod servers"},

	{.heading = "This program"},
	{.letter = 'b', .name = "benchmark", .apply = set_benchmark, .help = "time the phases of this program"},
	{.letter = 'V', .name = "version", .apply = options_set_version, .help = "the version"},
	{.name = "complete", .value_name = "KIND", .value = OPTION_VALUE, .apply = set_complete},
};

/* clang-format on */

static const struct option_habit habits[] = {
#include "visualizer_habits.def"
};

static int take_word(void *into, char **words, struct trace_error *ret_error)
{
	struct visualizer_options *options = into;
	int err = options->nr_words ? 0 : option_check_word(&visualizer_program, *words, ret_error);

	if (err)
		return err;
	if (options->nr_words < OPTIONS_MAX_WORDS)
		options->words[options->nr_words] = *words;
	options->nr_words++;
	return 0;
}

static const struct option_personality personalities[] = {
	{.option = "--profile=readprofile", .program = &readprofile_program},
	{.option = "--profile=opreport", .program = &opreport_program},
	{.option = "--strace", .program = &strace_letters, .adds = true},
};

const struct option_program visualizer_program = {
	.name = "tracevisualizer",
	.synopsis = "[OPTION...] TRACE [PROC] [OUT]\n"
		    "--diff [OPTION...] A B [OUT]",
	.usage = "Show where the time in a trace went.\n"
		 "  tracevisualizer t.trace                  the answer on one screen\n"
		 "  tracevisualizer -a t.trace               every process, and the machine\n"
		 "  tracevisualizer --critical-path t.trace  what the command waited for\n",
	.notes = "PROC is ignored. Exit status: 0 done, 1 failed, 2 usage.\nMore: man tracevisualizer\n",
	.specs = option_table,
	.nr_specs = OPTION_COUNT_OF(option_table),
	.habits = habits,
	.nr_habits = OPTION_COUNT_OF(habits),
	.take_word = take_word,
	.personalities = personalities,
	.nr_personalities = OPTION_COUNT_OF(personalities),
};

/* @word: the option or argument that is wrong */
static int complain_of_word(const char *kind, const char *word, const char *why)
{
	return complain(2, "%s %s %s; see tracevisualizer --help", kind, word, why);
}

bool options_is_trace(const char *path)
{
	char beginning[sizeof(TRACE_FILE_MAGIC) - 1];
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool is_trace = fd >= 0 && read(fd, beginning, sizeof(beginning)) == (ssize_t)sizeof(beginning) &&
			memcmp(beginning, TRACE_FILE_MAGIC, sizeof(beginning)) == 0;

	if (fd >= 0)
		close(fd);
	return is_trace;
}

/* Rejects options that exclude each other. */
static int check_together(const struct visualizer_options *options)
{
	if (options->window.span_ns && options->window.to.origin)
		return complain_of_word("option", "--around", "has both ends of the window; leave out --to");
	if (time_choice_is_backward(&options->window))
		return complain_of_word("option", "--from", "has to be before --to");
	/* the report is one JSON value, and lines behind it would make it none */
	if (options->reports.json && options->reports.list && !options->reports.summary &&
	    (options->reports.analyze || options->reports.critical_path))
		return complain_of_word("option", "--json", "writes events, or figures; leave out -d, or the report");
	if ((options->profile.along_path + (options->profile.scope != NULL) + (options->profile.client != NULL)) >
	    1 - options->reports.diff)
		return complain_of_word("option", "--profile",
					"is of one scope, client or critical path, and of one trace");
	if (options->reports.diff &&
	    (options->reports.list || options->reports.verify || options->reports.critical_path))
		return complain_of_word("option", "--diff", "cannot be combined with -d, --verify or --critical-path");
	if (options->reports.slowest &&
	    (options->reports.list || options->reports.analyze || options->reports.summary || options->reports.diff ||
	     options->reports.critical_path || options->reports.timeline || options->reports.verify))
		return complain_of_word("option", "--slowest", "cannot be combined with another report");
	if (options->reports.profile &&
	    (options->reports.list || options->reports.analyze || options->reports.summary ||
	     options->reports.timeline || options->reports.slowest))
		return complain_of_word("option", "--profile", "cannot be combined with another report");
	if (options->reports.strace &&
	    (options->reports.list || options->reports.analyze || options->reports.json || options->reports.summary ||
	     options->reports.critical_path || options->reports.diff || options->reports.timeline ||
	     options->reports.slowest || options->reports.profile || options->reports.verify || options->reports.view ||
	     options->html))
		return complain_of_word("option", "--strace", "cannot be combined with another report");
	if (options->reports.diff && (options->profile.has_form || options->profile.flame || options->profile.pprof))
		return complain_of_word("option", "--diff",
					"compares profiles by function: --profile --diff A B, without another form");
	if (options->reports.view &&
	    (options->reports.list || options->reports.analyze || options->reports.json || options->reports.summary ||
	     options->reports.critical_path || options->reports.diff || options->reports.timeline ||
	     options->reports.slowest || options->reports.profile || options->reports.verify || options->output))
		return complain_of_word("option", "--view", "is a page and cannot be combined with another report");
	if (options->html && (options->reports.list || options->reports.analyze || options->reports.json ||
			      options->reports.summary || options->reports.critical_path || options->reports.diff ||
			      options->reports.timeline || options->reports.slowest || options->reports.profile ||
			      options->reports.verify || options->reports.view || options->output))
		return complain_of_word("option", "--html",
					"writes its own file and cannot be combined with another report");
	if (options->reports.timeline &&
	    (options->reports.list || options->reports.analyze || options->reports.json || options->reports.summary ||
	     options->reports.critical_path || options->reports.diff))
		return complain_of_word("option", "--timeline",
					"writes its own file and cannot be combined with another report");
	return 0;
}

/* The habit that was typed and means @option, such as --limit for --top; NULL: none was. */
static const char *typed_instead(const char *option, char **argv)
{
	for (char **word = argv + 1; *word && strcmp(*word, "--") != 0; word++)
		for (size_t i = 0; i < OPTION_COUNT_OF(habits); i++) {
			size_t chars = strlen(habits[i].typed);

			if (habits[i].instead && strcmp(habits[i].instead, option) == 0 &&
			    strncmp(*word, habits[i].typed, chars) == 0 && (!(*word)[chars] || (*word)[chars] == '='))
				return habits[i].typed;
		}
	return NULL;
}

/*
 * Warns of options without effect on the chosen reports. A user would misread the report in the
 * belief that the option worked.
 */
static void warn_without_effect(const struct visualizer_options *o, char **argv)
{
	bool listed = o->reports.list && !o->reports.summary,
	     processes = o->reports.diff || ((o->reports.analyze || o->reports.json) && !o->reports.critical_path &&
					     !o->reports.slowest && !o->reports.profile);
	bool text = listed && !o->reports.list_json, names = text || o->reports.profile || o->reports.strace;
	bool choosable = processes || o->reports.answer || o->reports.timeline || o->reports.slowest ||
			 o->reports.profile;
	const struct {
		bool given, used;
		const char *option, *what;
	} choices[] = {
		{o->reports.analyze, !o->reports.critical_path && !o->reports.diff, "-a",
		 "--critical-path and --diff are reports of their own"},
		{o->reports.list, listed, "-d", "-s leaves the list out"},
		{o->port, o->reports.view, "--port", "it chooses where --view listens"},
		{o->no_browser, o->reports.view, "--no-browser", "it is for --view"},
		{o->no_index, o->reports.view, "--no-index", "it is for --view"},
		{o->anonymous, o->html, "--anonymous", "it is for --html"},
		{o->has_max_size, o->html, "--max-size", "it is for --html"},
		{o->fail.text, o->reports.diff, "--fail-above", "it compares two commands, for --diff"},
		{o->sections, o->reports.analyze && !o->reports.json && !o->reports.critical_path && !o->reports.diff,
		 "--section", "it chooses parts of -a"},
		{o->rows.sorted, processes && !o->reports.diff, "--sort", "it orders processes for -a and --json"},
		{o->rows.top, processes || o->reports.critical_path || o->reports.slowest || o->reports.profile,
		 "--top", "it chooses how many rows -a, --json, --diff, --slowest, --profile and --critical-path have"},
		{o->events.cpu >= 0, listed, "--cpu", "it chooses a CPU for lists (-d)"},
		{o->events.nr_traced, listed, "--trace", "it chooses events for lists (-d)"},
		{o->events.nr_omitted, listed, "--omit",
		 "it chooses events for lists (-d); --output FILE writes the report to a file"},
		{o->events.paths, text, "--paths", "it chooses what lists (-d) show"},
		{o->events.hidden_columns, text, "--forget", "it chooses what lists (-d) show"},
		{o->symbols.folder, names, "--symfs", "it is for the names of functions in lists (-d) and --profile"},
		{o->symbols.debuginfod, names, "--debuginfod",
		 "it is for the names of functions in lists (-d) and --profile"},
		{o->events.has_time, text, "--time", "it chooses what lists (-d) show"},
		{o->processes.pid >= 0, listed || choosable, "--pid",
		 "it chooses a process for -a, --json, --diff, --slowest, --profile, --timeline and lists (-d)"},
		{o->processes.tid >= 0, listed || choosable, "--tid",
		 "it chooses a thread for -a, --json, --diff, --slowest, --profile, --timeline and lists (-d)"},
		{o->processes.thread, listed || choosable, "--tid",
		 "it chooses threads for -a, --json, --diff, --slowest, --profile, --timeline and lists (-d)"},
		{o->processes.comm, listed || choosable, "--comm",
		 "it chooses processes for -a, --json, --diff, --slowest, --profile, --timeline and lists (-d)"},
		{o->processes.cgroup, choosable, "--cgroup",
		 "it chooses processes for -a, --json, --diff, --slowest, --profile and --timeline"},
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++) {
		const char *typed = typed_instead(choices[i].option, argv);

		if (choices[i].given && !choices[i].used)
			fprintf(stderr, "tracevisualizer: warning: %s%s%s%s has no effect here: %s\n",
				typed ? typed : choices[i].option, typed ? " (" : "", typed ? choices[i].option : "",
				typed ? ")" : "", choices[i].what);
	}
}

/* The option that has a trace as its value, which the user forgot to give; NULL: none. */
static const char *swallowed_by(const struct visualizer_options *o)
{
	const struct {
		const char *value, *option;
	} options[] = {
		{o->processes.comm, "--pid or --comm"},
		{o->processes.thread, "--tid"},
		{o->html, "--html"},
		{o->output, "--output"},
		{o->reports.slowest, "--slowest"},
		{o->profile.flame, "--flame"},
		{o->profile.pprof, "--pprof"},
		{o->profile.scope, "--scope"},
		{o->profile.client, "--client"},
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (options[i].value && options_is_trace(options[i].value))
			return options[i].option;
	return NULL;
}

/* A word beside the trace that is no file: of an event, a process or a call, before or after it. */
static int complain_of_name(const char *name, const char *trace, bool may_be_output)
{
	return complain(2,
			"'%s' is not a file; to list its events: -d -t %s %s; a process: -p %s; a call or scope: "
			"--slowest=%s%s%s",
			name, name, trace, name, name, may_be_output ? "; to write the report there: --output " : "",
			may_be_output ? name : "");
}

/* --profile FORM TRACE: the value of an option that needs none is a word of its own. */
static void take_form(struct visualizer_options *options, const char ***words, size_t *nr)
{
	int form = *nr > 1 && (*words)[0] ? option_word_index(PROFILE_FORMS, (*words)[0]) : -1;

	if (form < 0 || !options->profile.is_flat || options->profile.has_form || access((*words)[0], F_OK) == 0)
		return;
	options->profile.has_form = true;
	options->profile.form = (enum profile_form)form;
	++*words;
	--*nr;
}

/* --profile=lines SOURCE TRACE, or TRACE SOURCE; false: there is only one word */
static bool take_source(struct visualizer_options *options, const char ***words, size_t *nr)
{
	const char **first = *words;

	if (*nr < 2)
		return false;
	if (first[0] && first[1] && options_is_trace(first[0]) && !options_is_trace(first[1])) {
		options->profile.source = first[1];
		first[1] = first[0];
	} else {
		options->profile.source = first[0];
	}
	++*words;
	--*nr;
	return true;
}

/*
 * The words are TRACE, TRACE PROC, or TRACE PROC OUT. A second word that is no file was meant as
 * the output: reject it rather than guess.
 */
static int take_positionals(struct visualizer_options *options)
{
	const char **words = options->words;
	size_t nr = options->nr_words;

	if (options->reports.short_help || options->reports.help || options->reports.version)
		return 0;
	if (!nr && swallowed_by(options))
		return complain(2, "no trace given: %s took it as its value; give the value first",
				swallowed_by(options));
	take_form(options, &words, &nr);
	if (options->profile.form == PROFILE_LINES && !options->profile.source && !take_source(options, &words, &nr))
		return complain(2, "--profile=lines needs a source: tracevisualizer --profile=lines SOURCE TRACE");
	if (!nr)
		return complain(2, "no trace given; tracevisualizer t.trace shows where the time went, "
				   "tracevisualizer --help lists all options");
	if (nr > 3)
		return complain_of_word("argument", words[3], "is one too many");
	for (size_t i = 0; i < nr; i++)
		if (!*words[i])
			return complain_of_word("argument", "''", "is not a file name");
	options->trace = words[0];
	if (nr == 3 && options->output)
		return complain_of_word("argument", words[2], "is a second output file; --output names one already");
	if (nr == 3)
		options->output = words[2];
	if (options->reports.diff) {
		options->other_trace = words[1];
		return nr > 1 ? 0 : complain_of_word("option", "--diff", "needs two traces");
	}
	if ((options->reports.view || options->html) && nr == 2) {
		options->other_trace = words[1];
		return 0;
	}
	options->proc = nr > 1 ? words[1] : NULL;
	if (options->proc && options->reports.critical_path && !options->reports.critical_task &&
	    access(words[0], F_OK) != 0)
		return complain(2, "'%s' is not a trace; to choose a task use --critical-path=%s", words[0], words[0]);
	if (options->proc && access(words[0], F_OK) != 0 && options_is_trace(options->proc))
		return complain_of_name(words[0], words[1], false);
	if (nr == 2 && access(words[0], F_OK) == 0 && access(words[1], F_OK) != 0 && !strpbrk(words[1], "./"))
		return complain_of_name(words[1], words[0], true);
	if (options->proc && options_is_trace(options->proc))
		return complain(2,
				"'%s' is another trace; one at a time, or --diff %s %s, or --view or --html with both",
				words[1], words[0], words[1]);
	if (nr == 2 && access(words[1], F_OK) != 0)
		return complain(2, "'%s' is not a process list; to write the report there use --output %s", words[1],
				words[1]);
	return 0;
}

/* Without a report and a choice: a person at a screen with a browser gets the view. */
static bool opens_view(const struct visualizer_options *o)
{
	bool chooses = has_process_choice(&o->processes) || o->output || o->proc;

	return !chooses && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) && browser_can_open();
}

static int parse_readprofile(struct visualizer_options *options, int argc, char **argv)
{
	struct trace_error error = {0};

	options->readprofile.is_chosen = true;
	if (option_parse(&readprofile_program, options, argc, argv, &error) ||
	    readprofile_options_check(options, &error))
		return complain(2, "%s", error.message);
	return 0;
}

static int parse_opreport(struct visualizer_options *options, int argc, char **argv)
{
	struct trace_error error = {0};

	options->opreport.is_chosen = true;
	if (option_parse(&opreport_program, options, argc, argv, &error) || opreport_options_check(options, &error))
		return complain(2, "%s", error.message);
	return 0;
}

int visualizer_options_parse(struct visualizer_options *options, int argc, char **argv)
{
	struct trace_error wrong_word = {0};
	int error;

	*options = (struct visualizer_options){
		.events.cpu = -1, .processes.pid = -1, .processes.tid = -1, .max_size = 20u << 20};
	strace_choice_init(&options->strace);
	if (option_program_of(&visualizer_program, argv) == &readprofile_program)
		return parse_readprofile(options, argc, argv);
	if (option_program_of(&visualizer_program, argv) == &opreport_program)
		return parse_opreport(options, argc, argv);
	error = option_parse(&visualizer_program, options, argc, argv, &wrong_word)
			? complain(2, "%s", wrong_word.message)
			: take_positionals(options);
	if (!error && options->reports.strace && !option_personality_of(&visualizer_program, argv))
		error = complain(2, "write --strace in full: it gives other options their meaning of strace");
	/* --profile --critical-path is the profile of the path */
	options->profile.along_path = options->reports.profile && options->reports.critical_path;
	options->reports.critical_path = options->reports.critical_path && !options->profile.along_path;
	if (!error)
		error = check_together(options);
	if (!options->reports.analyze && !options->reports.list && !options->reports.json && !options->reports.verify &&
	    !options->reports.critical_path && !options->reports.diff && !options->reports.timeline &&
	    !options->reports.summary && !options->reports.slowest && !options->reports.profile &&
	    !options->reports.strace && !options->reports.view && !options->html)
		*(opens_view(options) ? &options->reports.view : &options->reports.answer) = true;
	if (options->reports.json && options->reports.list && !options->reports.summary) {
		options->reports.json = false;
		options->reports.list_json = true;
	}
	if (!error)
		warn_without_effect(options, argv);
	return error;
}

void visualizer_options_release(struct visualizer_options *options)
{
	free(options->events.traced);
	free(options->events.omitted);
	strace_choice_release(&options->strace);
}
