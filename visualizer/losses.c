/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* losses.c - the events that are missing in a trace: their number, and the words about them. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <trace/saturate.h>
#include <unistd.h>
#include "checked_memory.h"
#include "complain.h"
#include "losses.h"
#include "number_text.h"
#include "report_file.h"
#include "value_text.h"

struct losses losses_of(const struct trace *trace)
{
	struct losses losses = {0};

	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		if (trace_gap_is_older(trace, gap)) {
			if (gap->cause == TRACE_GAP_OVERWRITTEN)
				losses.overwritten = trace_add_saturated(losses.overwritten, gap->lost);
			continue;
		}
		losses.gaps++;
		losses.lost = trace_add_saturated(losses.lost, gap->lost);
		losses.is_minimum |= !gap->lost;
	}
	return losses;
}

uint64_t losses_older(const struct trace *trace)
{
	const struct trace_info *info = trace_get_info(trace);
	struct trace_cursor_options options = {.size = sizeof(options),
					       .to_ns = info->complete_from_ns,
					       .no_lost = true};
	struct trace_cursor *cursor;
	const struct trace_event *event;
	uint64_t nr = 0;
	int error;

	if (info->complete_from_ns <= info->start_ns)
		return 0;
	cursor = pass_cursor(trace, &options);
	while ((event = trace_cursor_next(cursor)))
		nr += event->type->category != TRACE_CATEGORY_START;
	error = trace_cursor_end(cursor, NULL);
	if (error && error != -EBADMSG) /* events of a damaged chunk cannot be counted */
		memory_end();
	return nr;
}

uint64_t losses_lost(const struct trace *trace, const struct trace_analysis *analysis, size_t *ret_gaps)
{
	struct losses losses = losses_of(trace);
	size_t damages = analysis ? trace_analysis_nr_late_gaps(analysis) : 0;
	uint64_t start_lost = 0;

	for (size_t i = 0; i < damages; i++)
		losses.lost = trace_add_saturated(losses.lost, trace_analysis_get_late_gap(analysis, i)->lost);
	if (analysis && trace_analysis_start_damage(analysis, &start_lost))
		damages++;
	*ret_gaps = losses.gaps + damages;
	return trace_add_saturated(losses.lost, start_lost);
}

bool losses_claimed(const struct trace *trace, uint64_t *ret_nr)
{
	uint64_t nr = 0, lost = losses_of(trace).lost;

	*ret_nr = 0;
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		uint64_t claimed = trace_get_stream(trace, i)->claimed;

		if (claimed == TRACE_CLAIMED_UNKNOWN)
			return false;
		nr = trace_add_saturated(nr, claimed);
	}
	*ret_nr = nr < lost ? nr : lost; /* those before the begin of the report are not missing in it */
	return true;
}

void losses_json(struct json *json, const struct trace *trace, const struct trace_analysis *analysis)
{
	size_t gaps;
	uint64_t claimed;
	bool is_known = losses_claimed(trace, &claimed);

	json_u64(json, "lost", losses_lost(trace, analysis, &gaps));
	json_known(json, "claimed", claimed, is_known);
	json_u64(json, "gaps", gaps);
}

struct claim_text losses_claim_words(const struct trace *trace)
{
	uint64_t claimed;
	bool is_known = losses_claimed(trace, &claimed);

	return number_claimed(claimed, is_known || !losses_of(trace).lost);
}

void losses_warn_late(const struct trace_analysis *analysis)
{
	size_t nr = trace_analysis_nr_late_gaps(analysis);
	uint64_t lost = 0, start_lost;
	const char *start_damage = trace_analysis_start_damage(analysis, &start_lost);
	char line[4 * sizeof(((struct trace_error *)0)->message)];

	if (start_damage)
		fprintf(stderr, "tracevisualizer: warning: %s event%s of the start state cannot be read: %s\n",
			number_count(start_lost).s, start_lost == 1 ? "" : "s",
			text_name(start_damage, line, sizeof(line)));

	for (size_t i = 0; i < nr && i < MAX_WARNINGS; i++)
		fprintf(stderr,
			"tracevisualizer: warning: a damaged chunk of CPU %u loses %s event%s; the affected times are "
			"shown as unknown (details: --verify)\n",
			trace_analysis_get_late_gap(analysis, i)->cpu,
			number_count(trace_analysis_get_late_gap(analysis, i)->lost).s,
			trace_analysis_get_late_gap(analysis, i)->lost == 1 ? "" : "s");
	for (size_t i = MAX_WARNINGS; i < nr; i++)
		lost = trace_add_saturated(lost, trace_analysis_get_late_gap(analysis, i)->lost);
	if (lost)
		fprintf(stderr, "tracevisualizer: warning: %zu more damaged chunks lose %s events\n", nr - MAX_WARNINGS,
			number_count(lost).s);
}

const char *losses_text(const struct trace *trace, const struct trace_analysis *analysis, struct losses_text *text)
{
	size_t gaps;
	uint64_t lost = losses_lost(trace, analysis, &gaps);

	if (gaps && !lost)
		snprintf(text->bytes, sizeof(text->bytes), "an unknown number of events");
	else
		snprintf(text->bytes, sizeof(text->bytes), "%s%s event%s%s",
			 losses_of(trace).is_minimum ? "at least " : "", number_count(lost).s, lost == 1 ? "" : "s",
			 losses_claim_words(trace).s);
	return text->bytes;
}

void losses_sentence(struct string *s, const struct trace *trace, const struct trace_analysis *analysis)
{
	struct losses_text text;
	size_t gaps;
	uint64_t lost = losses_lost(trace, analysis, &gaps), overwritten = losses_of(trace).overwritten,
		 older = losses_older(trace);

	if (overwritten)
		string_addf(s,
			    " %s older event%s overwritten: the report covers the time for which the flight "
			    "recorder had the events of all CPUs.",
			    number_count(overwritten).s, overwritten == 1 ? " was" : "s were");
	if (older)
		string_addf(s, " Only -d shows the %s older event%s of some CPUs and of programs.",
			    number_count(older).s, older == 1 ? "" : "s");
	if (!gaps)
		return;
	losses_text(trace, analysis, &text);
	if (lost)
		string_addf(s, " %c%s %s lost: the affected times are unknown.", toupper((unsigned char)*text.bytes),
			    text.bytes + 1, lost == 1 ? "was" : "were");
	if (!lost)
		string_add(s, " Events may have been lost (count unknown): the affected times are unknown.");
}

/* Does not flush stdout: that could complete what looks like a whole report. */
static void __attribute__((noreturn)) end_program(const struct trace_error *error)
{
	report_file_take_back();
	complain_of_error(error);
	_exit(1);
}

struct trace_cursor *pass_cursor(const struct trace *trace, const struct trace_cursor_options *options)
{
	struct trace_error error = {0};
	struct trace_cursor *cursor = trace_cursor_new(trace, options, &error);

	if (!cursor && error.code == -ENOMEM)
		memory_end();
	if (!cursor)
		end_program(&error);
	return cursor;
}

void events_pass_end(struct trace_cursor *cursor, bool is_reported)
{
	struct trace_error error = {0};
	int ended = trace_cursor_end(cursor, &error);

	if (ended == -EBADMSG && !is_reported)
		fprintf(stderr, "tracevisualizer: warning: %s\n", error.message);
	else if (ended && ended != -EBADMSG)
		memory_end();
}
