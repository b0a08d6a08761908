/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * visualizer_options.c - the command line: one table with the letters, the long names, the values
 * and the help.
 *
 * Short options keep the spelling of the original: the value follows its letter directly (-c0,
 * -tSCHED). A long option takes its value after '=' or as the next word.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>
#include <unistd.h>
#include "complain.h"
#include "visualizer_options.h"
#include "checked_memory.h"

struct option_row {
	char letter; /* 0: none */
	const char *name;
	const char *value; /* name in the help; NULL: no value; "[=...]": optional */
	/* Returns NULL, or the error in the value. */
	const char *(*set)(struct visualizer_options *options, const char *value);
	const char *help;
};

static const char *parse_number(const char *text, int64_t max, int64_t *ret_number)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || number > max)
		return "is not a number in range";
	*ret_number = number;
	return NULL;
}

static const char *parse_seconds(const char *text, double *ret_seconds)
{
	char *end;
	double seconds = strtod(text, &end);

	if (!*text || *end || !(seconds >= 0 && seconds < 1e10))
		return "is not a time in seconds after the start of the trace";
	*ret_seconds = seconds;
	return NULL;
}

static const char *append(const char ***list, size_t *nr, const char *value)
{
	const char **bigger;

	if (!*value)
		return "is not the name of an event, a class or a category";
	bigger = reallocarray(*list, *nr + 1, sizeof(*bigger));
	if (!bigger)
		memory_end();
	*list = bigger;
	(*list)[(*nr)++] = value;
	return NULL;
}

#define FLAG(name, member)                                                                   \
	static const char *set_##name(struct visualizer_options *options, const char *value) \
	{                                                                                    \
		options->member = true;                                                      \
		return NULL;                                                                 \
	}
FLAG(analyze, reports.analyze)
FLAG(list, reports.list)
FLAG(summary, reports.summary)
FLAG(json, reports.json)
FLAG(verify, reports.verify)
FLAG(benchmark, reports.benchmark)
FLAG(help, reports.help)
FLAG(version, reports.version)
FLAG(all, rows.all)
FLAG(diff, reports.diff)
FLAG(timeline, reports.timeline)
FLAG(exact, exact)
FLAG(paths, events.paths)

static const char *set_critical_path(struct visualizer_options *options, const char *value)
{
	options->reports.critical_path = true;
	options->reports.critical_task = value;
	return value && !*value ? "is not a process, thread or name" : NULL;
}

/*
 * A second value is an error: the report would use the last one, and users would believe it used
 * both.
 */
#define SECOND "is a second value; only one is allowed"

static const char *set_cpu(struct visualizer_options *options, const char *value)
{
	return options->events.cpu >= 0 ? SECOND : parse_number(value, UINT16_MAX, &options->events.cpu);
}

static const char *set_pid(struct visualizer_options *options, const char *value)
{
	return options->processes.pid >= 0 ? SECOND : parse_number(value, UINT32_MAX, &options->processes.pid);
}

static const char *set_comm(struct visualizer_options *options, const char *value)
{
	if (options->processes.comm)
		return SECOND;
	options->processes.comm = value;
	return *value ? NULL : "is not a name";
}

static const char *set_cgroup(struct visualizer_options *options, const char *value)
{
	if (options->processes.cgroup)
		return SECOND;
	options->processes.cgroup = value;
	return *value ? NULL : "is not the path of a control group";
}

static const char *set_traced(struct visualizer_options *options, const char *value)
{
	return append(&options->events.traced, &options->events.nr_traced, value);
}

static const char *set_omitted(struct visualizer_options *options, const char *value)
{
	return append(&options->events.omitted, &options->events.nr_omitted, value);
}

static const char *set_symfs(struct visualizer_options *options, const char *value)
{
	if (!*value)
		return "is not a folder";
	options->symbols.folder = value;
	return NULL;
}

static const char *set_debuginfod(struct visualizer_options *options, const char *value)
{
	options->symbols.debuginfod = true;
	return NULL;
}

static const char *set_from(struct visualizer_options *options, const char *value)
{
	return parse_seconds(value, &options->window.from_s);
}

static const char *set_to(struct visualizer_options *options, const char *value)
{
	return parse_seconds(value, &options->window.to_s);
}

static const char *set_forgotten(struct visualizer_options *options, const char *value)
{
	static const struct {
		char letter;
		enum list_column column;
	} columns[] = {
		{'c', COLUMN_CPU}, {'t', COLUMN_TIME}, {'p', COLUMN_PID}, {'l', COLUMN_LENGTH}, {'s', COLUMN_TEXT}};
	bool known = *value;

	for (; *value && known; value++) {
		known = false;
		for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
			if (columns[i].letter == *value) {
				options->events.hidden_columns |= columns[i].column;
				known = true;
			}
	}
	return known ? NULL : "is not a column: c (CPU), t (time), p (PID), l (length) or s (description)";
}

static const char *set_top(struct visualizer_options *options, const char *value)
{
	int64_t top;
	const char *wrong = parse_number(value, 1 << 30, &top);

	if (!wrong && !top) /* 0 means the default, which has no spelling here */
		wrong = "is not a number of rows: 1 or more, or leave it out";
	if (!wrong)
		options->rows.top = (long)top;
	return wrong;
}

static const char *set_sort(struct visualizer_options *options, const char *value)
{
	static const char *const keys[] = {"elapsed", "cpu", "user", "system", "wait", "wait-cpu", "pid", "name"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], value) == 0) {
			options->rows.sort = (enum sort_key)i;
			options->rows.sorted = true;
			return NULL;
		}
	return "is not a key to sort by: elapsed, cpu, user, system, wait, wait-cpu, pid or name";
}

static const char *set_output(struct visualizer_options *options, const char *value)
{
	if (options->output)
		return SECOND;
	options->output = value;
	return *value ? NULL : "is not a file name";
}

/* A row with the text "" shares a line of the help with the row before it. */
static const struct option_row rows[] = {
	{'a', "analyze", NULL, set_analyze, "where the time of every process went"},
	{0, "json", NULL, set_json, "-a, --diff or --critical-path as JSON"},
	{'d', "dump", NULL, set_list, "one line per event; states for ui.perfetto.dev"},
	{0, "timeline", NULL, set_timeline, ""},
	{'s', "summary", NULL, set_summary, "times and numbers of events only (default)"},
	{0, "critical-path", "[=TASK]", set_critical_path, "waits of one thread: PID, TID, name, or command"},
	{0, "diff", NULL, set_diff, "compare two traces: tracevisualizer --diff A B"},
	{0, "verify", NULL, set_verify, "check the trace and all its sums, to 1 ns"},
	{0, "pid", "N", set_pid, "only this process; with -d also a thread id"},
	{'p', NULL, "N", set_pid, NULL},
	{0, "comm", "NAME", set_comm, "only processes of this name; of this control group"},
	{0, "cgroup", "PATH", set_cgroup, ""},
	{0, "top", "N", set_top, "N rows of each table; all rows"},
	{0, "all", NULL, set_all, ""},
	{0, "sort", "KEY", set_sort, "elapsed cpu user system wait wait-cpu pid name"},
	{0, "ns", NULL, set_exact, "exact times, in ns; write the report to FILE"},
	{0, "output", "FILE", set_output, ""},
	{'c', "cpu", "N", set_cpu, "-d: only this CPU"},
	{'t', "trace", "NAME", set_traced, "-d: only these events, classes, categories"},
	{'o', "omit", "NAME", set_omitted, "-d: all but these"},
	{0, "from", "S", set_from, "-d, --critical-path: seconds after the start"},
	{0, "to", "S", set_to, ""},
	{'y', "paths", NULL, set_paths, "-d: paths of descriptors"},
	{0, "symfs", "DIR", set_symfs, "-d: names of functions from DIR, a server"},
	{0, "debuginfod", NULL, set_debuginfod, ""},
	{'f', "forget", "c|t|p|l|s", set_forgotten, "-d: without CPU, time, PID, length, text"},
	{'b', "benchmark", NULL, set_benchmark, "time the phases of this program"},
	{'h', "help", NULL, set_help, "this text; the version"},
	{'V', "version", NULL, set_version, ""},
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static bool is_optional(const struct option_row *row)
{
	return row->value && row->value[0] == '[';
}

static size_t help_words(const struct option_row *row, char *words, size_t size)
{
	char letter[8] = "";

	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	return (size_t)snprintf(words, size, "%s--%s%s%s", letter, row->name,
				row->value && !is_optional(row) ? "=" : "", row->value ? row->value : "");
}

void options_help(FILE *out)
{
	fputs("Usage: tracevisualizer [OPTION]... TRACE [PROC] [OUT]    (TRACE may be -)\n", out);
	for (size_t i = 0; i < NR_ROWS; i++) {
		const char *help = rows[i].help;
		char words[64];
		size_t used;

		if (!help)
			continue;
		used = help_words(&rows[i], words, sizeof(words));
		for (size_t j = i + 1; j < NR_ROWS && (!rows[j].help || !*rows[j].help); j++) {
			if (!rows[j].help)
				continue;
			used += (size_t)snprintf(words + used, sizeof(words) - used, ", ");
			used += help_words(&rows[j], words + used, sizeof(words) - used);
			i = j;
		}
		fprintf(out, "  %-28s%s\n", words, help);
	}
	fputs("Letters take values without a blank: -c0, -p42 (as --pid). PROC is ignored.\n"
	      "Exit status: 0 done, 1 failed, 2 usage. More: man tracevisualizer\n",
	      out);
}

/* @word: the option or argument that is wrong */
static int complain_of_word(const char *kind, const char *word, const char *why)
{
	return complain(2, "%s %s %s; see tracevisualizer --help", kind, word, why);
}

static int apply(struct visualizer_options *options, const struct option_row *row, const char *shown, const char *value)
{
	const char *wrong = row->set(options, value);

	return wrong ? complain(2, "option %s: '%s' %s; see tracevisualizer --help", shown, value, wrong) : 0;
}

static int parse_letter(struct visualizer_options *options, const char *word)
{
	const char *at = word + 1;

	do {
		const struct option_row *row = NULL;

		for (size_t i = 0; i < NR_ROWS && !row; i++)
			if (rows[i].letter == *at)
				row = &rows[i];
		if (!row)
			return complain_of_word("option", word, "is not known");
		if (row->value)
			return at[1] ? apply(options, row, word, at + 1)
				     : complain_of_word("option", word, "needs its value attached, as in -c0");
		if (apply(options, row, word, ""))
			return 2;
	} while (*++at);
	return 0;
}

/* Sets *@ret_used to the number of words taken: 1, or 2 with the value. */
static int parse_long(struct visualizer_options *options, const char *word, const char *next, int *ret_used)
{
	const char *name = word + 2, *equals = strchr(name, '=');
	size_t bytes = equals ? (size_t)(equals - name) : strlen(name);
	const char *value = equals ? equals + 1 : next;

	for (size_t i = 0; i < NR_ROWS; i++) {
		if (!rows[i].name || strlen(rows[i].name) != bytes || memcmp(rows[i].name, name, bytes) != 0)
			continue;
		if (!rows[i].value && equals)
			return complain_of_word("option", word, "takes no value");
		if (is_optional(&rows[i]))
			return apply(options, &rows[i], word, equals ? value : NULL);
		if (rows[i].value && !value)
			return complain_of_word("option", word, "needs a value");
		*ret_used = rows[i].value && !equals ? 2 : 1;
		return apply(options, &rows[i], word, rows[i].value ? value : "");
	}
	return complain_of_word("option", word, "is not known");
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
	if (options->window.to_s >= 0 && options->window.from_s >= options->window.to_s)
		return complain_of_word("option", "--from", "has to be before --to");
	if (options->reports.diff &&
	    (options->reports.list || options->reports.verify || options->reports.critical_path))
		return complain_of_word("option", "--diff", "cannot be combined with -d, --verify or --critical-path");
	if (options->reports.timeline &&
	    (options->reports.list || options->reports.analyze || options->reports.json || options->reports.summary ||
	     options->reports.critical_path || options->reports.diff))
		return complain_of_word("option", "--timeline",
					"writes its own file and cannot be combined with another report");
	return 0;
}

/*
 * Warns of options without effect on the chosen reports. A user would misread the report in the
 * belief that the option worked.
 */
static void warn_without_effect(const struct visualizer_options *o)
{
	bool listed = o->reports.list && !o->reports.summary,
	     processes = o->reports.diff || ((o->reports.analyze || o->reports.json) && !o->reports.critical_path);
	bool timed = listed || o->reports.critical_path || o->reports.timeline;
	const struct {
		bool given, used;
		const char *option, *what;
	} choices[] = {
		{o->reports.analyze, !o->reports.critical_path && !o->reports.diff, "-a",
		 "--critical-path and --diff are reports of their own"},
		{o->reports.list, listed, "-d", "-s leaves the list out"},
		{o->rows.sorted, processes && !o->reports.diff, "--sort", "it orders processes for -a and --json"},
		{o->rows.top, processes || o->reports.critical_path, "--top",
		 "it chooses how many rows -a, --json, --diff and --critical-path have"},
		{o->events.cpu >= 0, listed, "--cpu", "it chooses a CPU for lists (-d)"},
		{o->events.nr_traced, listed, "--trace", "it chooses events for lists (-d)"},
		{o->events.nr_omitted, listed, "--omit", "it chooses events for lists (-d)"},
		{o->events.paths, listed, "--paths", "it chooses what lists (-d) show"},
		{o->events.hidden_columns, listed, "--forget", "it chooses what lists (-d) show"},
		{o->symbols.folder, listed, "--symfs", "it is for the names of functions in lists (-d)"},
		{o->symbols.debuginfod, listed, "--debuginfod", "it is for the names of functions in lists (-d)"},
		{o->window.from_s > 0, timed, "--from",
		 "it chooses a time for lists (-d), --critical-path and --timeline"},
		{o->window.to_s >= 0, timed, "--to",
		 "it chooses a time for lists (-d), --critical-path and --timeline"},
		{o->processes.pid >= 0, listed || processes || o->reports.timeline, "--pid",
		 "it chooses a process for -a, --json, --diff, --timeline and lists (-d)"},
		{o->processes.comm, processes || o->reports.timeline, "--comm",
		 "it chooses processes for -a, --json, --diff and --timeline"},
		{o->processes.cgroup, processes || o->reports.timeline, "--cgroup",
		 "it chooses processes for -a, --json, --diff and --timeline"},
	};

	for (size_t i = 0; i < sizeof(choices) / sizeof(choices[0]); i++)
		if (choices[i].given && !choices[i].used)
			fprintf(stderr, "tracevisualizer: warning: %s has no effect here: %s\n", choices[i].option,
				choices[i].what);
}

/*
 * The words are TRACE, TRACE PROC, or TRACE PROC OUT. A second word that is no file was meant as
 * the output: reject it rather than guess.
 */
static int take_positionals(struct visualizer_options *options, const char **words, int nr)
{
	if (options->reports.help || options->reports.version)
		return 0;
	if (!nr)
		return complain(2, "no trace given; tracevisualizer -a t.trace shows where the time went, "
				   "tracevisualizer --help lists all options");
	if (nr > 3)
		return complain_of_word("argument", words[3], "is one too many");
	for (int i = 0; i < nr; i++)
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
	options->proc = nr > 1 ? words[1] : NULL;
	if (options->proc && options->reports.critical_path && !options->reports.critical_task &&
	    access(words[0], F_OK) != 0)
		return complain(2, "'%s' is not a trace; to choose a task use --critical-path=%s", words[0], words[0]);
	if (options->proc && options_is_trace(options->proc))
		return complain(2, "'%s' is another trace; one at a time, or --diff %s %s", words[1], words[0],
				words[1]);
	if (nr == 2 && access(words[1], F_OK) != 0)
		return complain(2, "'%s' is not a process list; to write the report there use --output %s", words[1],
				words[1]);
	return 0;
}

int options_parse(struct visualizer_options *options, int argc, char **argv)
{
	const char *words[4] = {NULL};
	bool only_words = false;
	int nr = 0, error = 0;

	*options = (struct visualizer_options){.events.cpu = -1, .processes.pid = -1, .window.to_s = -1};
	for (int i = 1, used; i < argc && !error; i += used) {
		used = 1;
		if (!only_words && strcmp(argv[i], "--") == 0)
			only_words = true;
		else if (!only_words && strncmp(argv[i], "--", 2) == 0)
			error = parse_long(options, argv[i], i + 1 < argc ? argv[i + 1] : NULL, &used);
		else if (!only_words && argv[i][0] == '-' && argv[i][1])
			error = parse_letter(options, argv[i]);
		else if (nr < 4)
			words[nr++] = argv[i];
	}
	if (!error)
		error = take_positionals(options, words, nr);
	if (!error)
		error = check_together(options);
	if (!options->reports.analyze && !options->reports.list && !options->reports.json && !options->reports.verify &&
	    !options->reports.critical_path && !options->reports.diff && !options->reports.timeline)
		options->reports.summary = true;
	if (!error)
		warn_without_effect(options);
	return error;
}

void options_release(struct visualizer_options *options)
{
	free(options->events.traced);
	free(options->events.omitted);
}
