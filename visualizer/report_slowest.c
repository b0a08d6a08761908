/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_slowest.c - the longest instances of a scope, a system call or a command: when, how long,
 * which thread, what it waited for, and what to type for the books of that time.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "grid.h"
#include "number_text.h"
#include "process_choice.h"
#include "report_slowest.h"
#include "row_limit.h"
#include "slowest_cause.h"
#include "slowest_json.h"
#include "slowest_parts.h"
#include "value_text.h"

#define ROWS	   10
#define TEXT_BYTES 512

static const struct {
	const char *one, *many;
} doubt_words[NR_DOUBTS] = {
	[DOUBT_BEGIN] = {"its begin was not recorded", "without a recorded begin"},
	[DOUBT_END] = {"had not ended", "that had not ended when the recording did"},
	[DOUBT_BOTH] = {"longer than the recording", "longer than the recording"},
	[DOUBT_LOST_END] = {"its end was not recorded", "without a recorded end"},
	[DOUBT_LOSS] = {"events were lost meanwhile", "during which events were lost"},
};

static const char *name_of(const struct slowest *s)
{
	return s->kind == INSTANCE_SCOPE ? s->lists[INSTANCE_SCOPE].details[s->lists[INSTANCE_SCOPE].at[0].detail].name
					 : s->name;
}

static const char *noun(const struct slowest *s, bool many)
{
	const struct instance_list *list = &s->lists[s->kind];
	bool request = s->kind == INSTANCE_SCOPE && list->details[list->at[0].detail].is_request;

	switch (s->kind) {
	case INSTANCE_SCOPE:
		return request ? (many ? "requests" : "request") : many ? "scopes" : "scope";
	case INSTANCE_CALL:
		return many ? "calls" : "call";
	default:
		return many ? "runs" : "run";
	}
}

/* "fsync: 120 calls, median 1.20 ms, 99 % of them at most 20.10 ms, the longest 400.00 ms." */
static void put_numbers(const struct report *report, const struct slowest *s)
{
	const struct instance_numbers *n = &s->numbers;
	struct value_text p50, p99, max;
	char name[TEXT_BYTES];
	struct string line = {0};
	bool doubtful = false;

	text_name(name_of(s), name, sizeof(name));
	if (n->nr == 1)
		string_addf(&line, "%s: 1 %s of %s.", name, noun(s, false), text_ns(&report->output, n->max_ns, &max));
	else if (n->nr)
		string_addf(&line, "%s: %s %s, median %s, 99 %% of them at most %s, the longest %s.", name,
			    number_count(n->nr).s, noun(s, true), text_ns(&report->output, n->p50_ns, &p50),
			    text_ns(&report->output, n->p99_ns, &p99), text_ns(&report->output, n->max_ns, &max));
	else
		string_addf(&line, "%s: no %s with a certain begin and end;", name, noun(s, false));
	for (size_t i = DOUBT_NONE + 1; i < NR_DOUBTS; i++)
		if (n->nr_doubtful[i]) {
			string_addf(&line, "%s %s %s",
				    doubtful ? ","
				    : n->nr  ? " Not in these numbers:"
					     : "",
				    number_count(n->nr_doubtful[i]).s, doubt_words[i].many);
			doubtful = true;
		}
	if (doubtful)
		string_add(&line, ".");
	output_paragraph(&report->output, string_text(&line));
	string_free(&line);
}

/* "The longest: psql 13800 waited 78 % of its 136.10 ms for postgres 13892, which ..." */
static void put_cause(const struct report *report, const struct slowest *s, const struct instance_parts *longest)
{
	struct string verdict = {0}, line = {0};
	char *words;

	slowest_verdict_add(&verdict, report, s, longest);
	if (verdict.len) {
		string_addf(&line, "The longest: %s", string_text(&verdict));
		words = report->output.width ? text_cut_words(string_text(&line), report->output.width)
					     : string_take(&line);
		output_paragraph(&report->output, words);
		free(words);
	}
	string_free(&verdict);
	string_free(&line);
}

/* When it began, by the wall clock; without one, in seconds from the start of the trace */
static void put_begin(const struct report *report, struct grid *grid, uint64_t ns)
{
	const struct trace_info *info = trace_get_info(report->trace);
	uint64_t start = info->complete_from_ns;
	struct wall_text wall;
	char text[64];
	const char *day = wall_text(report->trace, ns, &wall), *time = strchr(day, ' ');

	if (time) {
		grid_text(grid, time + 1);
		return;
	}
	snprintf(text, sizeof(text), "%s%" PRIu64 ".%06" PRIu64 " s", ns < start ? "-" : "",
		 (ns < start ? start - ns : ns - start) / 1000000000u,
		 (ns < start ? start - ns : ns - start) % 1000000000u / 1000);
	grid_text(grid, text);
}

/* The threads of most programs have the name of their process, whose title says more. */
static const char *name_of_thread(const struct trace_process *process, const struct trace_thread *thread)
{
	const char *name = thread ? trace_thread_comm(thread) : "";

	return process && strcmp(name, trace_process_comm(process)) == 0 ? trace_process_title(process) : name;
}

/*
 * "python3 app.py (1234)", or a thread beside the first: "worker (1234, thread 1240)", without a
 * name of its own "python3 app.py (1234, thread 1241)"
 */
static void put_thread(const struct slowest *s, struct grid *grid, const struct instance *instance)
{
	const struct trace_process *process = instance_process(s, instance);
	uint32_t pid = instance_pid(s, instance), tid = instance_tid(s, instance);
	char name[TEXT_BYTES], text[TEXT_BYTES + 64];

	if (!tid || tid == pid || s->kind == INSTANCE_COMMAND) {
		grid_name(grid, text_process(process ? trace_process_title(process) : "", pid, text, sizeof(text)));
		return;
	}
	snprintf(text, sizeof(text), "%s (%u, thread %u)",
		 text_comm(name_of_thread(process, instance->thread), name, sizeof(name)), pid, tid);
	grid_text(grid, text);
}

/* The longest wait with its object and time */
static void put_main_wait(const struct report *report, const struct slowest *s, struct grid *grid,
			  const struct instance_parts *parts)
{
	struct string text = {0};

	slowest_main_wait_add(&text, report, s, parts);
	grid_text(grid, string_text(&text));
	string_free(&text);
}

static void put_row(const struct report *report, const struct slowest *s, struct grid *grid,
		    const struct instance_parts *parts)
{
	const struct instance *instance = parts->instance;
	struct value_text ns;
	char took[80];

	put_begin(report, grid, instance->begin_ns);
	snprintf(took, sizeof(took), "%s%s", instance->doubt ? ">= " : "",
		 text_ns(&report->output, instance->least_ns, &ns));
	grid_text(grid, took);
	grid_ns(grid, parts->cpu_ns);
	grid_ns(grid, parts->interrupted_ns);
	grid_ns(grid, parts->wait_cpu_ns);
	grid_ns(grid, parts->blocked_ns);
	grid_ns(grid, parts->queued_ns);
	grid_ns(grid, parts->unseen_ns);
	put_thread(s, grid, instance);
	put_main_wait(report, s, grid, parts);
	grid_text(grid, instance->doubt ? doubt_words[instance->doubt].one : "");
}

static void put_table(const struct report *report, const struct slowest *s, const struct slowest_parts *parts)
{
	static const struct grid_column columns[] = {{"began", GRID_RIGHT},    {"took", GRID_RIGHT},
						     {"CPU", GRID_OPTIONAL},   {"interrupted", GRID_RARE},
						     {"CPU wait", GRID_RARE},  {"blocked", GRID_RARE},
						     {"queued", GRID_RARE},    {"unknown", GRID_RARE},
						     {"thread", GRID_ELASTIC}, {"main wait", GRID_ELASTIC},
						     {"not exact", GRID_EXTRA}};
	struct grid *grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
	size_t left = s->lists[s->kind].nr - parts->nr;
	char rest[64];

	for (size_t i = 0; i < parts->nr; i++)
		put_row(report, s, grid, &parts->at[i]);
	snprintf(rest, sizeof(rest), "%s more: --top=N, --all", number_count(left).s);
	grid_end(grid, left ? rest : NULL);
}

/* A word of a command line, quoted if the shell would change it */
static void add_word(struct string *s, const char *word)
{
	if (!word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+,=:@%")]) {
		string_add(s, word);
		return;
	}
	string_add(s, "'");
	for (; *word; word++)
		if (*word == '\'')
			string_add(s, "'\\''");
		else
			string_addf(s, "%c", *word);
	string_add(s, "'");
}

static void add_time(struct string *s, const char *option, uint64_t ns)
{
	string_addf(s, " %s=%" PRIu64 ".%09" PRIu64 "s", option, ns / 1000000000u, ns % 1000000000u);
}

/* The command for the books of the longest one, whose window its options hold to the nanosecond. */
static void put_next(const struct report *report, const struct slowest *s, const struct instance *longest)
{
	uint64_t start = trace_get_info(report->trace)->complete_from_ns;
	struct string line = {0};

	if (longest->begin_ns < start || longest->end_ns == longest->begin_ns)
		return;
	string_add(&line, "tracevisualizer -a");
	add_time(&line, "--from", longest->begin_ns - start);
	add_time(&line, "--to", longest->end_ns - start);
	if (instance_process(s, longest))
		string_addf(&line, " --pid=%" PRIu32, instance_pid(s, longest));
	string_add(&line, " ");
	add_word(&line, report->options->trace);
	fprintf(report->output.out, "\nMore about the longest:\n  %s\n", string_text(&line));
	string_free(&line);
}

int report_slowest(const struct report *report, const struct slowest *s)
{
	size_t nr = s->lists[s->kind].nr, rows = row_limit_max(&report->options->rows, nr, ROWS);
	struct slowest_parts parts;
	int error = slowest_parts_find(s, rows < nr ? rows : nr, &parts, NULL);

	if (!error && report->options->reports.json) {
		slowest_json(report, s, &parts, name_of(s));
	} else if (!error) {
		put_numbers(report, s);
		if (parts.nr)
			put_cause(report, s, &parts.at[0]);
		if (parts.nr)
			put_table(report, s, &parts);
		if (parts.nr)
			put_next(report, s, parts.at[0].instance);
	}
	slowest_parts_free(&parts);
	return error ? -ENOMEM : 0;
}
