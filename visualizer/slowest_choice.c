/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slowest_choice.c - the name of --slowest: its kind, the instances that the options choose, and
 * how sure their durations are.
 */
#include <stdlib.h>
#include <string.h>
#include "complain.h"
#include "number_text.h"
#include "process_choice.h"
#include "similar.h"
#include "sort.h"
#include "slowest_choice.h"
#include "value_text.h"

#define NAME_BYTES 256

static const struct {
	const char *word, *one, *many;
} kind_words[NR_INSTANCE_KINDS] = {
	[INSTANCE_SCOPE] = {"scope", "scope", "scopes"},
	[INSTANCE_CALL] = {"call", "system call", "system calls"},
	[INSTANCE_COMMAND] = {"command", "command", "commands"},
};

const char *instance_kind_word(enum instance_kind kind)
{
	return kind_words[kind].word;
}

void slowest_parse(struct slowest *s, const char *text)
{
	s->name = text;
	s->kinds = (1u << NR_INSTANCE_KINDS) - 1;
	for (enum instance_kind kind = 0; kind < NR_INSTANCE_KINDS; kind++) {
		size_t bytes = strlen(kind_words[kind].word);

		if (strncmp(text, kind_words[kind].word, bytes) != 0 || text[bytes] != ':' || !text[bytes + 1])
			continue;
		s->name = text + bytes + 1;
		s->kinds = 1u << kind;
	}
}

/* ---- no instance, or several kinds ---- */

static void offer_names(const struct slowest *s, struct similar *best, struct pointers *texts)
{
	const struct trace_analysis *analysis = s->report->analysis;

	for (size_t i = 0; s->kinds >> INSTANCE_COMMAND & 1 && i < trace_nr_processes(analysis); i++) {
		similar_offer(best, trace_process_title(trace_get_process(analysis, i)));
		similar_offer(best, trace_process_comm(trace_get_process(analysis, i)));
	}
	for (size_t i = 0; s->kinds >> INSTANCE_SCOPE & 1 && i < trace_nr_spans(s->report->user); i++)
		if (trace_get_span(s->report->user, i)->kind != TRACE_SPAN_BETWEEN)
			similar_offer(best, trace_get_span(s->report->user, i)->name);
	if (s->kinds >> INSTANCE_CALL & 1) {
		struct trace_figures *f = trace_system_figures(analysis);

		for (size_t i = 0; f && i < f->nr_syscalls_rows; i++) {
			pointers_add(texts, memory_copy(f->syscalls[i].name, strlen(f->syscalls[i].name)));
			similar_offer(best, texts->at[texts->nr - 1]);
		}
		trace_figures_free(f);
	}
}

static int complain_of_none(const struct slowest *s)
{
	struct similar best = {.wanted = s->name};
	struct pointers texts = {0};
	char name[NAME_BYTES], near[NAME_BYTES];
	int result;

	offer_names(s, &best, &texts);
	text_name(s->name, name, sizeof(name));
	if (best.name)
		result = complain(1, "this trace has no scope, system call or command %s; did you mean %s?", name,
				  text_name(best.name, near, sizeof(near)));
	else
		result = complain(1,
				  "this trace has no scope, system call or command %s; tracevisualizer -a lists those "
				  "that it has",
				  name);
	pointers_free_all(&texts);
	return result;
}

static int complain_of_kinds(const struct slowest *s, uint32_t found)
{
	struct string line = {0};
	char name[NAME_BYTES];
	int result;

	for (enum instance_kind kind = 0; kind < NR_INSTANCE_KINDS; kind++)
		if (found >> kind & 1)
			string_addf(&line, "%s%s:%s for %s %s", line.len ? ", or " : "", kind_words[kind].word,
				    text_name(s->name, name, sizeof(name)), number_count(s->lists[kind].nr).s,
				    s->lists[kind].nr == 1 ? kind_words[kind].one : kind_words[kind].many);
	result = complain(1, "%s has several meanings in this trace: type %s", text_name(s->name, name, sizeof(name)),
			  string_text(&line));
	string_free(&line);
	return result;
}

/* "checkout" alone may be shop:checkout and web:checkout. */
static int check_scopes(const struct slowest *s)
{
	const struct instance_list *list = &s->lists[INSTANCE_SCOPE];
	char first[NAME_BYTES], other[NAME_BYTES];

	for (size_t i = 1; i < list->nr_details; i++)
		if (strcmp(list->details[i].name, list->details[0].name) != 0)
			return complain(1, "several scopes have this name: type %s, or %s",
					text_name(list->details[0].name, first, sizeof(first)),
					text_name(list->details[i].name, other, sizeof(other)));
	return 0;
}

/* ---- doubts ---- */

/* The first break behind @ns */
static size_t break_after(const struct slowest *s, uint64_t ns)
{
	size_t i = 0;

	while (i < s->nr_breaks && s->breaks[i].to_ns <= ns)
		i++;
	return i;
}

/*
 * An instance may be several if a break lies inside: one of them had lasted from its begin to the
 * first break, and one from the last break to its end.
 */
static bool least_with_breaks(const struct slowest *s, struct instance *instance)
{
	uint64_t first = UINT64_MAX, last = 0, before, after;

	for (size_t i = break_after(s, instance->begin_ns); i < s->nr_breaks && s->breaks[i].from_ns < instance->end_ns;
	     i++) {
		first = s->breaks[i].from_ns < first ? s->breaks[i].from_ns : first;
		last = s->breaks[i].to_ns > last ? s->breaks[i].to_ns : last;
	}
	if (first == UINT64_MAX)
		return false;
	before = instance->has_begun && first > instance->begin_ns ? first - instance->begin_ns : 0;
	after = instance->has_ended && last < instance->end_ns ? instance->end_ns - last : 0;
	instance->least_ns = before > after ? before : after;
	return true;
}

static void doubt(const struct slowest *s, struct instance *instance, uint64_t end_ns)
{
	bool to_end = !instance->has_ended && instance->end_ns >= end_ns;

	instance->least_ns = instance->end_ns - instance->begin_ns;
	if (s->kind != INSTANCE_SCOPE && least_with_breaks(s, instance))
		instance->doubt = DOUBT_LOSS;
	else if (!instance->has_ended && !to_end)
		instance->doubt = DOUBT_LOST_END;
	else if (!instance->has_begun)
		instance->doubt = to_end ? DOUBT_BOTH : DOUBT_BEGIN;
	else
		instance->doubt = to_end ? DOUBT_END : DOUBT_NONE;
	/* a call whose exit is missing ended at some time before the next call */
	if (instance->doubt == DOUBT_LOST_END && s->kind == INSTANCE_CALL)
		instance->least_ns = 0;
}

/* ---- the choice ---- */

static bool is_chosen(const struct slowest *s, const struct instance *instance)
{
	const struct process_choice *choice = &s->report->options->processes;
	const struct trace_process *process = instance_process(s, instance);
	const struct time_window *window = &s->report->window;

	if (window->has_from && instance->end_ns < window->from_ns)
		return false;
	if (window->has_to && instance->begin_ns >= window->to_ns)
		return false;
	if (!has_process_choice(choice))
		return true;
	if (choice->tid >= 0 && s->kind != INSTANCE_COMMAND && instance_tid(s, instance) != (uint32_t)choice->tid)
		return false;
	if (!process)
		return !choice->comm && !choice->cgroup &&
		       (choice->pid < 0 || instance_pid(s, instance) == (uint32_t)choice->pid);
	return process_is_chosen(choice, process);
}

/* Those that are longer than the recording are mostly idle threads, and come last. */
static int by_least(const void *left, const void *right)
{
	const struct instance *l = left, *r = right;

	if ((l->doubt == DOUBT_BOTH) != (r->doubt == DOUBT_BOTH))
		return l->doubt == DOUBT_BOTH ? 1 : -1;
	if (l->least_ns != r->least_ns)
		return l->least_ns > r->least_ns ? -1 : 1;
	return l->begin_ns < r->begin_ns ? -1 : l->begin_ns > r->begin_ns;
}

/* The shortest of the sorted durations that at least @part of all do not exceed */
static uint64_t percentile(const uint64_t *sorted, size_t nr, size_t part, size_t of)
{
	size_t rank = (nr * part + of - 1) / of;

	return nr ? sorted[nr - (rank ? rank : 1)] : 0;
}

/* From the instances, the longest first */
static void numbers_of(struct slowest *s)
{
	const struct instance_list *list = &s->lists[s->kind];
	uint64_t *sorted = memory_take(list->nr + 1, sizeof(*sorted));
	struct instance_numbers *n = &s->numbers;

	for (size_t i = 0; i < list->nr; i++) {
		n->nr_doubtful[list->at[i].doubt]++;
		if (list->at[i].doubt != DOUBT_NONE)
			continue;
		sorted[n->nr++] = list->at[i].least_ns;
		n->sum_ns += list->at[i].least_ns;
	}
	if (n->nr) {
		n->max_ns = sorted[0];
		n->min_ns = sorted[n->nr - 1];
		n->p50_ns = percentile(sorted, n->nr, 50, 100);
		n->p99_ns = percentile(sorted, n->nr, 99, 100);
	}
	free(sorted);
}

static int complain_of_choice(const struct slowest *s, size_t before)
{
	char name[NAME_BYTES];
	bool window = s->report->window.has_from || s->report->window.has_to;

	return complain(1, "none of the %s %s %s of this trace is %s; leave out %s to see all", number_count(before).s,
			before == 1 ? kind_words[s->kind].one : kind_words[s->kind].many,
			text_name(s->name, name, sizeof(name)),
			window && has_process_choice(&s->report->options->processes) ? "of this process in this window"
			: window						     ? "in this window"
										     : "of this process",
			window ? "--from, --to, --pid and --comm" : "--pid, --comm and --cgroup");
}

int slowest_choose(struct slowest *s)
{
	uint64_t start, end;
	uint32_t found = 0;
	struct instance_list *list;
	size_t before;

	slowest_finish(s);
	report_check_memory(s->report); /* without memory the analysis has no scopes */
	for (enum instance_kind kind = 0; kind < NR_INSTANCE_KINDS; kind++)
		if (s->lists[kind].nr) {
			found |= 1u << kind;
			s->kind = kind;
		}
	if (!found)
		return complain_of_none(s);
	if (found & (found - 1))
		return complain_of_kinds(s, found);
	if (s->kind == INSTANCE_SCOPE && check_scopes(s))
		return 1;
	trace_analysis_window(s->report->analysis, &start, &end);
	list = &s->lists[s->kind];
	before = list->nr;
	list->nr = 0;
	for (size_t i = 0; i < before; i++)
		if (is_chosen(s, &list->at[i])) {
			doubt(s, &list->at[i], end);
			list->at[list->nr++] = list->at[i];
		}
	if (!list->nr)
		return complain_of_choice(s, before);
	if (!sort_rows(list->at, list->nr, sizeof(*list->at), by_least))
		memory_end();
	numbers_of(s);
	return 0;
}
